//! `Schema`: the type of a value and all that Kafka Connect knows about it.

use std::collections::HashMap;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, OnceLock};

use super::{DataError, Field, LogicalType, Struct, Text, Type, Value};
use crate::nearest::nearest;

/// The type of a value with its attributes: optional or required, name, version, documentation, parameters, default,
/// and the schemas of its parts.
///
/// A schema never changes; [`SchemaBuilder`](super::SchemaBuilder) makes one with more than a type. A clone costs nothing for the constants
/// here and one counted reference for others. Two schemas are equal when *all* their attributes are, documentation and
/// default included; the order of parameters does not matter.
///
/// ```
/// use connect_sdk::data::{Schema, SchemaBuilder, Type};
/// # fn main() -> Result<(), connect_sdk::data::DataError> {
/// let order = SchemaBuilder::struct_().field("id", Schema::int64()).field("note", Schema::optional_string()).build()?;
/// assert_eq!(order.field("note").map(|field| field.schema().kind()), Some(Type::String));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Schema(Repr);

#[derive(Clone)]
enum Repr {
    Constant(&'static SchemaData),
    Shared(Arc<SchemaData>),
}

/// The attributes, as the builder fills them.
#[derive(Clone)]
pub(super) struct Attributes {
    pub(super) kind: Type,
    pub(super) optional: bool,
    pub(super) name: Option<Text>,
    pub(super) logical: Option<LogicalType>,
    pub(super) version: Option<i32>,
    pub(super) doc: Option<Text>,
    pub(super) parameters: Vec<(String, String)>,
    pub(super) default: Option<Value>,
    pub(super) key: Option<Schema>,
    pub(super) element: Option<Schema>,
    pub(super) fields: Vec<Field>,
}

impl Attributes {
    pub(super) const fn new(kind: Type) -> Self {
        Self {
            kind,
            optional: false,
            name: None,
            logical: None,
            version: None,
            doc: None,
            parameters: Vec::new(),
            default: None,
            key: None,
            element: None,
            fields: Vec::new(),
        }
    }

    const fn logical(logical: LogicalType) -> Self {
        Self {
            kind: match logical {
                LogicalType::Decimal => Type::Bytes,
                LogicalType::Date | LogicalType::Time => Type::Int32,
                LogicalType::Timestamp => Type::Int64,
            },
            optional: false,
            name: Some(Text::from_static(logical.schema_name())),
            logical: Some(logical),
            version: Some(1),
            doc: None,
            parameters: Vec::new(),
            default: None,
            key: None,
            element: None,
            fields: Vec::new(),
        }
    }

    fn hash_code(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (self.kind, self.optional, &self.name, self.version, &self.doc).hash(&mut hasher);
        // The order of parameters does not count, and defaults seldom tell schemas apart.
        self.parameters.len().hash(&mut hasher);
        (&self.key, &self.element, &self.fields).hash(&mut hasher);
        hasher.finish()
    }

    fn same_but_default(&self, other: &Self) -> bool {
        self.kind == other.kind
            && self.optional == other.optional
            && self.name == other.name
            && self.version == other.version
            && self.doc == other.doc
            && self.same_parameters(other)
            && self.key == other.key
            && self.element == other.element
            && self.fields == other.fields
    }

    pub(super) fn same_parameters(&self, other: &Self) -> bool {
        self.parameters == other.parameters
            || self.parameters.len() == other.parameters.len()
                && self.parameters.iter().all(|pair| other.parameters.contains(pair))
    }
}

struct SchemaData {
    attributes: Attributes,
    /// Positions by name, for structs with many fields.
    by_name: Option<HashMap<Text, usize>>,
    /// Taken once, because schema caches ask for it for every record; 0 for constants, whose hash is made on demand.
    hash: u64,
    /// The same schema, but optional, once somebody has asked for it.
    optional_twin: OnceLock<Schema>,
}

/// Structs with fewer fields are searched one by one, which is faster than hashing the name.
const INDEXED_FROM: usize = 12;

/// The schemas of primitive and logical types without attributes: constants, so that a clone counts nothing.
macro_rules! constants {
    ($($(#[$doc:meta])* $name:ident, $optional:ident = $attributes:expr;)*) => {
        impl Schema {
            $(
                $(#[$doc])*
                #[must_use]
                pub fn $name() -> Self {
                    static SCHEMA: SchemaData = constant($attributes, false);
                    Self(Repr::Constant(&SCHEMA))
                }

                /// The optional variant of the schema of the same name without `optional_`.
                #[must_use]
                pub fn $optional() -> Self {
                    static SCHEMA: SchemaData = constant($attributes, true);
                    Self(Repr::Constant(&SCHEMA))
                }
            )*
        }
    };
}

const fn constant(mut attributes: Attributes, optional: bool) -> SchemaData {
    attributes.optional = optional;
    SchemaData { attributes, by_name: None, hash: 0, optional_twin: OnceLock::new() }
}

constants! {
    /// A required 8-bit integer.
    int8, optional_int8 = Attributes::new(Type::Int8);
    /// A required 16-bit integer.
    int16, optional_int16 = Attributes::new(Type::Int16);
    /// A required 32-bit integer.
    int32, optional_int32 = Attributes::new(Type::Int32);
    /// A required 64-bit integer.
    int64, optional_int64 = Attributes::new(Type::Int64);
    /// A required 32-bit floating point number.
    float32, optional_float32 = Attributes::new(Type::Float32);
    /// A required 64-bit floating point number.
    float64, optional_float64 = Attributes::new(Type::Float64);
    /// A required truth value.
    boolean, optional_boolean = Attributes::new(Type::Boolean);
    /// Required text.
    string, optional_string = Attributes::new(Type::String);
    /// Required bytes.
    bytes, optional_bytes = Attributes::new(Type::Bytes);
    /// A required [`Date`](super::Date).
    date, optional_date = Attributes::logical(LogicalType::Date);
    /// A required [`Time`](super::Time).
    time, optional_time = Attributes::logical(LogicalType::Time);
    /// A required [`Timestamp`](super::Timestamp).
    timestamp, optional_timestamp = Attributes::logical(LogicalType::Timestamp);
}

impl Schema {
    pub(super) fn from_attributes(mut attributes: Attributes) -> Self {
        attributes.fields.shrink_to_fit();
        let hash = attributes.hash_code();
        let by_name = (attributes.fields.len() >= INDEXED_FROM)
            .then(|| attributes.fields.iter().map(|field| (field.name_text().clone(), field.index())).collect());
        Self(Repr::Shared(Arc::new(SchemaData { attributes, by_name, hash, optional_twin: OnceLock::new() })))
    }

    /// A required list of elements of this schema.
    #[must_use]
    pub fn array(element: Self) -> Self {
        let mut attributes = Attributes::new(Type::Array);
        attributes.element = Some(element);
        Self::from_attributes(attributes)
    }

    /// A required map with keys and values of these schemas.
    #[must_use]
    pub fn map(key: Self, value: Self) -> Self {
        let mut attributes = Attributes::new(Type::Map);
        attributes.key = Some(key);
        attributes.element = Some(value);
        Self::from_attributes(attributes)
    }

    /// A required [`Decimal`](super::Decimal) with that many digits after the point.
    #[must_use]
    pub fn decimal(scale: i32) -> Self {
        let mut attributes = Attributes::logical(LogicalType::Decimal);
        attributes.parameters.push((DECIMAL_SCALE.to_owned(), scale.to_string()));
        Self::from_attributes(attributes)
    }

    /// A list or map whose parts have no common schema: only text that is parsed without a schema yields one.
    pub(super) fn loose(kind: Type, key: Option<Self>, element: Option<Self>) -> Self {
        let mut attributes = Attributes::new(kind);
        attributes.key = key;
        attributes.element = element;
        Self::from_attributes(attributes)
    }

    fn data(&self) -> &SchemaData {
        match &self.0 {
            Repr::Constant(data) => data,
            Repr::Shared(data) => data,
        }
    }

    pub(super) fn attributes(&self) -> &Attributes {
        &self.data().attributes
    }

    /// The type.
    #[must_use]
    pub fn kind(&self) -> Type {
        self.attributes().kind
    }

    /// Whether the value may be null.
    #[must_use]
    pub fn is_optional(&self) -> bool {
        self.attributes().optional
    }

    /// The schema's name.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.attributes().name.as_deref()
    }

    /// The schema's version.
    #[must_use]
    pub fn version(&self) -> Option<i32> {
        self.attributes().version
    }

    /// The schema's documentation.
    #[must_use]
    pub fn doc(&self) -> Option<&str> {
        self.attributes().doc.as_deref()
    }

    /// The parameters, name and value, in the order in which they were given.
    #[must_use]
    pub fn parameters(&self) -> &[(String, String)] {
        &self.attributes().parameters
    }

    /// The value of one parameter.
    #[must_use]
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters().iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The value that a reader takes for a null.
    #[must_use]
    pub fn default(&self) -> Option<&Value> {
        self.attributes().default.as_ref()
    }

    /// The fields of a struct, in order; empty for other types.
    #[must_use]
    pub fn fields(&self) -> &[Field] {
        &self.attributes().fields
    }

    /// The field with this name.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&Field> {
        let data = self.data();
        match &data.by_name {
            None => data.attributes.fields.iter().find(|field| field.name() == name),
            Some(by_name) => by_name.get(name).and_then(|&index| data.attributes.fields.get(index)),
        }
    }

    /// The field with this name.
    ///
    /// # Errors
    /// Fails, naming the nearest field, if the schema is no struct or has no such field.
    pub fn expect_field(&self, name: &str) -> Result<&Field, DataError> {
        self.field(name).ok_or_else(|| {
            if self.kind() != Type::Struct {
                return DataError::new(format!("{self} has no fields, so there is no field `{name}`"));
            }
            let hint = nearest(name, self.fields().iter().map(Field::name))
                .map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            DataError::new(format!("`{name}` is not a valid field name of {self}{hint}"))
        })
    }

    /// The schema of a map's keys; none for other types, and for a map whose keys have no common schema.
    #[must_use]
    pub fn key_schema(&self) -> Option<&Self> {
        self.attributes().key.as_ref()
    }

    /// The schema of a map's values or a list's elements; none for other types, and if they have no common schema.
    #[must_use]
    pub fn value_schema(&self) -> Option<&Self> {
        self.attributes().element.as_ref()
    }

    /// The logical type that the schema's name stands for, whatever its version.
    #[must_use]
    pub fn logical(&self) -> Option<LogicalType> {
        self.attributes().logical
    }

    /// The scale that a `Decimal` schema prescribes.
    ///
    /// # Errors
    /// Fails if the parameter `scale` is missing or is no 32-bit number.
    pub fn decimal_scale(&self) -> Result<i32, DataError> {
        let Some(scale) = self.parameter(DECIMAL_SCALE) else {
            return Err(DataError::new(format!("{self} lacks the parameter `{DECIMAL_SCALE}`")));
        };
        scale.parse().map_err(|_| {
            DataError::new(format!("parameter `{DECIMAL_SCALE}` of {self} is `{scale}`; it must be a number"))
        })
    }

    /// The same schema under another name, another version, or both; what is none stays as it is.
    ///
    /// A default that is a struct becomes a struct of the new schema.
    #[must_use]
    pub fn renamed(&self, name: Option<Text>, version: Option<i32>) -> Self {
        let mut attributes = self.attributes().clone();
        if let Some(name) = name {
            attributes.logical = LogicalType::from_schema_name(&name);
            attributes.name = Some(name);
        }
        attributes.version = version.or(attributes.version);
        if let Some(Value::Struct(default)) = attributes.default.take() {
            let bare = Self::from_attributes(attributes.clone());
            let values = default.entries().map(|(_, value)| value.cloned());
            attributes.default = Some(Value::Struct(Struct::from_checked(bare, values)));
        } else {
            attributes.default = self.default().cloned();
        }
        Self::from_attributes(attributes)
    }

    /// The same schema, but optional.
    #[must_use]
    pub fn to_optional(&self) -> Self {
        self.with_optional(true)
    }

    /// The same schema, but required.
    #[must_use]
    pub fn to_required(&self) -> Self {
        self.with_optional(false)
    }

    fn with_optional(&self, optional: bool) -> Self {
        if self.is_optional() == optional {
            return self.clone();
        }
        if let Repr::Constant(data) = self.0
            && let Some(constant) = constant_of(&data.attributes, optional)
        {
            return constant;
        }
        let make = || {
            let mut attributes = self.attributes().clone();
            attributes.optional = optional;
            Self::from_attributes(attributes)
        };
        match &self.0 {
            // `Option` of a struct asks for it with every record.
            Repr::Shared(data) if optional => data.optional_twin.get_or_init(make).clone(),
            _ => make(),
        }
    }

    /// Whether a struct with the schema `other` is a value of this schema: the schemas are equal, or differ only in
    /// that `other` lacks the default that this one has.
    ///
    /// The second is the case of a default that is a struct: it exists before the schema that it becomes part of.
    #[must_use]
    pub fn accepts_struct_of(&self, other: &Self) -> bool {
        self == other
            || self.default().is_some()
                && other.default().is_none()
                && self.attributes().same_but_default(other.attributes())
    }

    fn hash_code(&self) -> u64 {
        match &self.0 {
            Repr::Constant(data) => data.attributes.hash_code(),
            Repr::Shared(data) => data.hash,
        }
    }
}

/// The parameter of `Decimal` schemas that tells the scale.
pub(super) const DECIMAL_SCALE: &str = "scale";

fn constant_of(attributes: &Attributes, optional: bool) -> Option<Schema> {
    type Constant = fn() -> Schema;
    let pair: [Constant; 2] = match (attributes.logical, attributes.kind) {
        (Some(LogicalType::Date), _) => [Schema::date, Schema::optional_date],
        (Some(LogicalType::Time), _) => [Schema::time, Schema::optional_time],
        (Some(LogicalType::Timestamp), _) => [Schema::timestamp, Schema::optional_timestamp],
        (_, Type::Int8) => [Schema::int8, Schema::optional_int8],
        (_, Type::Int16) => [Schema::int16, Schema::optional_int16],
        (_, Type::Int32) => [Schema::int32, Schema::optional_int32],
        (_, Type::Int64) => [Schema::int64, Schema::optional_int64],
        (_, Type::Float32) => [Schema::float32, Schema::optional_float32],
        (_, Type::Float64) => [Schema::float64, Schema::optional_float64],
        (_, Type::Boolean) => [Schema::boolean, Schema::optional_boolean],
        (_, Type::String) => [Schema::string, Schema::optional_string],
        (_, Type::Bytes) => [Schema::bytes, Schema::optional_bytes],
        (_, Type::Array | Type::Map | Type::Struct) => return None,
    };
    Some(pair[usize::from(optional)]())
}

impl PartialEq for Schema {
    fn eq(&self, other: &Self) -> bool {
        if std::ptr::eq(self.data(), other.data()) {
            return true;
        }
        if let (Repr::Shared(a), Repr::Shared(b)) = (&self.0, &other.0)
            && a.hash != b.hash
        {
            return false;
        }
        let (a, b) = (self.attributes(), other.attributes());
        a.default == b.default && a.same_but_default(b)
    }
}

impl Eq for Schema {}

impl Hash for Schema {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash_code());
    }
}

/// As messages call it: `Schema{name:TYPE}`, or `Schema{TYPE}` if it has no name.
impl fmt::Display for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => write!(f, "Schema{{{name}:{}}}", self.kind()),
            None => write!(f, "Schema{{{}}}", self.kind()),
        }
    }
}

/// Only the attributes that are set.
impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let attributes = self.attributes();
        let mut out = f.debug_struct(attributes.kind.name());
        if attributes.optional {
            out.field("optional", &true);
        }
        for (label, text) in [("name", &attributes.name), ("doc", &attributes.doc)] {
            if let Some(text) = text {
                out.field(label, text);
            }
        }
        if let Some(version) = attributes.version {
            out.field("version", &version);
        }
        if !attributes.parameters.is_empty() {
            out.field("parameters", &attributes.parameters);
        }
        if let Some(default) = &attributes.default {
            out.field("default", default);
        }
        for (label, part) in [("key", &attributes.key), ("value", &attributes.element)] {
            if let Some(part) = part {
                out.field(label, part);
            }
        }
        for field in &attributes.fields {
            out.field(field.name(), field.schema());
        }
        out.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::SchemaBuilder;

    fn hash_of(schema: &Schema) -> u64 {
        let mut hasher = DefaultHasher::new();
        schema.hash(&mut hasher);
        hasher.finish()
    }

    #[test]
    fn a_constant_equals_what_a_builder_makes() {
        let built = SchemaBuilder::string().optional().build().unwrap();
        assert_eq!(built, Schema::optional_string());
        assert_eq!(hash_of(&built), hash_of(&Schema::optional_string()));
        assert_eq!(SchemaBuilder::timestamp().build().unwrap(), Schema::timestamp());
        assert_ne!(Schema::string(), Schema::optional_string());
        assert_eq!(Schema::date().to_optional(), Schema::optional_date());
        assert_eq!(Schema::decimal(2).to_optional().to_required(), Schema::decimal(2));
        assert_eq!(Schema::decimal(-3).decimal_scale(), Ok(-3));
    }

    #[test]
    fn the_order_of_parameters_does_not_count() {
        let make = |pairs: [(&str, &str); 2]| SchemaBuilder::int32().parameters(pairs).build().unwrap();
        let (a, b) = (make([("a", "1"), ("b", "2")]), make([("b", "2"), ("a", "1")]));
        assert_eq!(a, b);
        assert_eq!(hash_of(&a), hash_of(&b));
        assert_ne!(a, make([("a", "1"), ("b", "3")]));
    }

    #[test]
    fn many_fields_are_found_by_name_too() {
        let builder = (0..40).fold(SchemaBuilder::struct_(), |b, i| b.field(format!("f{i}"), Schema::int32()));
        let schema = builder.build().unwrap();
        assert_eq!(schema.field("f31").unwrap().index(), 31);
        assert!(schema.field("f40").is_none());
        let error = schema.expect_field("g31").unwrap_err();
        assert!(error.message().contains("did you mean `f31`?"), "{error}");
    }

    #[test]
    fn every_attribute_counts_for_equality() {
        let base = || SchemaBuilder::int32().name("n").version(1).doc("d");
        let schema = base().build().unwrap();
        assert_eq!(schema, base().build().unwrap());
        for other in [
            SchemaBuilder::int32().name("m").version(1).doc("d"),
            SchemaBuilder::int32().name("n").version(2).doc("d"),
            SchemaBuilder::int32().name("n").version(1),
            base().optional(),
            base().parameter("a", "b"),
            base().default_value(1i32),
            SchemaBuilder::int64().name("n").version(1).doc("d"),
        ] {
            assert_ne!(schema, other.build().unwrap());
        }
    }
}
