//! `SchemaBuilder`: makes schemas, one attribute after the other, with Kafka Connect's rules.

use super::schema::{Attributes, DECIMAL_SCALE};
use super::validate::validate_default;
use super::{DataError, Field, IntoValue, LogicalType, Schema, Text, Type};

/// Makes a [`Schema`].
///
/// A mistake, such as a field that is there twice, is remembered, and [`build`](Self::build) reports the first one.
/// Name, version, documentation, default, and whether the value is optional can be set once.
///
/// ```
/// use connect_sdk::data::{Schema, SchemaBuilder};
/// # fn main() -> Result<(), connect_sdk::data::DataError> {
/// let schema = SchemaBuilder::struct_()
///     .name("com.example.Order")
///     .field("id", Schema::int64())
///     .field("currency", SchemaBuilder::string().default_value("EUR").build()?)
///     .build()?;
/// assert_eq!(schema.fields().len(), 2);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[must_use = "a builder makes no schema until `build` is called"]
pub struct SchemaBuilder {
    attributes: Attributes,
    optional: Option<bool>,
    error: Option<DataError>,
}

/// One constructor for each type without parts.
macro_rules! primitives {
    ($($name:ident => $kind:ident),* $(,)?) => {$(
        #[doc = concat!("Starts a schema of type `", stringify!($kind), "`.")]
        pub fn $name() -> Self {
            Self::new(Type::$kind)
        }
    )*};
}

impl SchemaBuilder {
    primitives! {
        int8 => Int8, int16 => Int16, int32 => Int32, int64 => Int64, float32 => Float32, float64 => Float64,
        bool => Boolean, string => String, bytes => Bytes,
    }

    /// Starts a schema of this type. Lists and maps need [`array`](Self::array) and [`map`](Self::map), which take
    /// the schemas of their parts.
    pub fn new(kind: Type) -> Self {
        Self { attributes: Attributes::new(kind), optional: None, error: None }
    }

    /// Starts a struct schema without fields.
    pub fn struct_() -> Self {
        Self::new(Type::Struct)
    }

    /// Starts a list schema with elements of this schema.
    pub fn array(element: Schema) -> Self {
        let mut new = Self::new(Type::Array);
        new.attributes.element = Some(element);
        new
    }

    /// Starts a map schema with keys and values of these schemas.
    pub fn map(key: Schema, value: Schema) -> Self {
        let mut new = Self::new(Type::Map);
        new.attributes.key = Some(key);
        new.attributes.element = Some(value);
        new
    }

    /// Starts a schema of the logical type `Decimal` with that many digits after the point.
    pub fn decimal(scale: i32) -> Self {
        Self::logical(LogicalType::Decimal, Type::Bytes).parameter(DECIMAL_SCALE, scale.to_string())
    }

    /// Starts a schema of the logical type `Date`.
    pub fn date() -> Self {
        Self::logical(LogicalType::Date, Type::Int32)
    }

    /// Starts a schema of the logical type `Time`.
    pub fn time() -> Self {
        Self::logical(LogicalType::Time, Type::Int32)
    }

    /// Starts a schema of the logical type `Timestamp`.
    pub fn timestamp() -> Self {
        Self::logical(LogicalType::Timestamp, Type::Int64)
    }

    fn logical(logical: LogicalType, kind: Type) -> Self {
        Self::new(kind).name(Text::from_static(logical.schema_name())).version(1)
    }

    /// Starts from all attributes of an existing schema; each can be set again once.
    pub fn from_schema(schema: &Schema) -> Self {
        Self { attributes: schema.attributes().clone(), optional: None, error: None }
    }

    /// Allows null.
    pub fn optional(self) -> Self {
        self.set_optional(true)
    }

    /// Refuses null, which is what a schema does unless told otherwise.
    pub fn required(self) -> Self {
        self.set_optional(false)
    }

    fn set_optional(mut self, optional: bool) -> Self {
        match self.optional {
            Some(known) if known != optional => self.fail("is optional and required at once"),
            _ => {
                self.optional = Some(optional);
                self.attributes.optional = optional;
                self
            }
        }
    }

    /// Sets the name. The name of a [`LogicalType`] makes the values logical.
    pub fn name(mut self, name: impl Into<Text>) -> Self {
        let name = name.into();
        if self.attributes.name.as_ref().is_some_and(|known| *known != name) {
            return self.fail(format!("cannot be given the name `{name}`: it has one"));
        }
        self.attributes.logical = LogicalType::from_schema_name(&name);
        self.attributes.name = Some(name);
        self
    }

    /// Sets the version.
    pub fn version(mut self, version: i32) -> Self {
        if self.attributes.version.is_some_and(|known| known != version) {
            return self.fail(format!("cannot be given the version `{version}`: it has one"));
        }
        self.attributes.version = Some(version);
        self
    }

    /// Sets the documentation.
    pub fn doc(mut self, doc: impl Into<Text>) -> Self {
        let doc = doc.into();
        if self.attributes.doc.as_ref().is_some_and(|known| *known != doc) {
            return self.fail("cannot be given a documentation: it has one");
        }
        self.attributes.doc = Some(doc);
        self
    }

    /// Sets a parameter; one that is already there gets the new value.
    pub fn parameter(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        let (name, value) = (name.into(), value.into());
        match self.attributes.parameters.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) => *known = value,
            None => self.attributes.parameters.push((name, value)),
        }
        self
    }

    /// Sets several parameters.
    pub fn parameters<K: Into<String>, V: Into<String>>(self, all: impl IntoIterator<Item = (K, V)>) -> Self {
        all.into_iter().fold(self, |builder, (name, value)| builder.parameter(name, value))
    }

    /// Sets the value that readers take for a null.
    ///
    /// It is checked against what has been set so far: fields, name and [`optional`](Self::optional) come before.
    /// A struct may have been made on a schema that equals this one but for the default.
    pub fn default_value(mut self, value: impl IntoValue) -> Self {
        let value = value.into_value();
        if self.attributes.default.is_some() && self.attributes.default != value {
            return self.fail("cannot be given a default: it has one");
        }
        let so_far = Schema::from_attributes(self.attributes.clone());
        if let Err(error) = validate_default(&so_far, value.as_ref()) {
            return self.fail(format!("has an invalid default value: {error}"));
        }
        self.attributes.default = value;
        self
    }

    /// Adds a field at the end of a struct schema.
    pub fn field(mut self, name: impl Into<Text>, schema: Schema) -> Self {
        let name = name.into();
        if self.attributes.kind != Type::Struct {
            return self.fail(format!("is no struct and cannot have the field `{name}`"));
        }
        if name.is_empty() {
            return self.fail("has a field with an empty name");
        }
        if self.attributes.fields.iter().any(|field| field.name() == &*name) {
            return self.fail(format!("has two fields named `{name}`"));
        }
        let index = self.attributes.fields.len();
        self.attributes.fields.push(Field::new(name, index, schema));
        self
    }

    fn fail(mut self, what: impl AsRef<str>) -> Self {
        let subject = match &self.attributes.name {
            Some(name) => format!("schema `{name}` of type {}", self.attributes.kind),
            None => format!("schema of type {}", self.attributes.kind),
        };
        self.error.get_or_insert_with(|| DataError::new(format!("{subject} {}", what.as_ref())));
        self
    }

    /// Makes the schema.
    ///
    /// # Errors
    /// Reports the first mistake of the calls before, or a list or map without schemas for its parts.
    pub fn build(self) -> Result<Schema, DataError> {
        let parts = match self.attributes.kind {
            Type::Array => self.attributes.element.is_some(),
            Type::Map => self.attributes.key.is_some() && self.attributes.element.is_some(),
            _ => true,
        };
        let checked = if parts { self } else { self.fail("lacks the schema of its parts") };
        match checked.error {
            Some(error) => Err(error),
            None => Ok(Schema::from_attributes(checked.attributes)),
        }
    }
}

impl std::fmt::Debug for SchemaBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SchemaBuilder")
            .field("schema", &Schema::from_attributes(self.attributes.clone()))
            .field("error", &self.error)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Struct, Value};

    fn refused(builder: SchemaBuilder, part: &str) {
        let error = builder.build().unwrap_err();
        assert!(error.message().contains(part), "{error}");
    }

    #[test]
    fn attributes_are_set_once() {
        refused(SchemaBuilder::int32().optional().required(), "optional and required");
        refused(SchemaBuilder::int32().name("a").name("b"), "cannot be given the name `b`");
        refused(SchemaBuilder::int32().version(1).version(2), "version `2`");
        refused(SchemaBuilder::int32().doc("a").doc("b"), "documentation");
        refused(SchemaBuilder::int32().default_value(1i32).default_value(2i32), "default");
        SchemaBuilder::int32().name("a").name("a").optional().optional().build().unwrap();
    }

    #[test]
    fn fields_have_distinct_names() {
        refused(SchemaBuilder::struct_().field("a", Schema::int8()).field("a", Schema::int8()), "two fields named `a`");
        refused(SchemaBuilder::struct_().field("", Schema::int8()), "empty name");
        refused(SchemaBuilder::int8().field("a", Schema::int8()), "is no struct");
        refused(SchemaBuilder::new(Type::Map), "schema of its parts");
    }

    #[test]
    fn a_default_fits_the_schema() {
        refused(SchemaBuilder::int32().default_value("x"), "invalid default value");
        refused(SchemaBuilder::int32().default_value(None::<Value>), "invalid default value");
        SchemaBuilder::int32().optional().default_value(None::<Value>).build().unwrap();
        SchemaBuilder::array(Schema::int32()).default_value(Value::array([1i32])).build().unwrap();
    }

    #[test]
    fn a_struct_may_be_the_default_of_its_own_schema() {
        let bare = SchemaBuilder::struct_().field("x", Schema::int8()).build().unwrap();
        let mut value = Struct::new(bare.clone()).unwrap();
        value.put("x", 1i8).unwrap();
        let schema = SchemaBuilder::from_schema(&bare).default_value(value.clone()).build().unwrap();
        assert_eq!(schema.default(), Some(&Value::Struct(value.clone())));
        assert!(schema.accepts_struct_of(value.schema()));

        let other = SchemaBuilder::struct_().field("y", Schema::int8()).build().unwrap();
        refused(SchemaBuilder::from_schema(&other).default_value(value), "invalid default value");
    }
}
