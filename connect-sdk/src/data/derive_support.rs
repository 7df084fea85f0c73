//! What the code that `#[derive(ConnectData)]` writes calls; not for use by hand.
//!
//! How Rust types are mapped:
//!
//! * A struct is a `STRUCT` with one field for each of its own. It is read from a struct value, or from a map with text
//!   keys, which is what schemaless JSON gives; unknown fields are ignored, a missing one counts as null.
//! * An enum whose variants have no content is a `STRING` that holds the variant's name.
//! * Any other enum is a `STRUCT` with one optional field for each variant, of which exactly one is set. A variant
//!   without content is a `BOOLEAN` field that is true; one with a single unnamed field has that field's schema, made
//!   optional; one with named fields has a struct of them. A variant's content cannot be an `Option` itself.
//! * A decimal field has the scale of its attribute. A number that would lose digits at that scale keeps its own, and
//!   the converter refuses it: digits are never dropped silently.

use std::any::TypeId;
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::{Mutex, OnceLock, PoisonError};

use super::connect_data::{made_optional, present, unexpected};
use super::{ConnectData, DataError, Decimal, Schema, SchemaBuilder, Struct, Text, Value};
use crate::nearest::nearest;

thread_local! {
    /// The types whose schemas are being made on this thread, outermost first.
    static BEING_MADE: RefCell<Vec<&'static str>> = const { RefCell::new(Vec::new()) };
    static GENERIC: RefCell<HashMap<TypeId, Schema>> = RefCell::new(HashMap::new());
}

/// The schema of a type without parameters, made at the first call.
///
/// # Panics
/// Panics if the type contains itself: a Connect schema cannot. Panics if the builder reports a mistake, which the
/// derive has excluded.
#[must_use]
pub fn schema_once(cell: &'static OnceLock<Schema>, type_name: &'static str, build: fn() -> SchemaBuilder) -> Schema {
    // Not `get_or_init`: a type that contains itself would wait for itself there.
    if let Some(schema) = cell.get() {
        return schema.clone();
    }
    let made = make(type_name, build);
    cell.get_or_init(|| made).clone()
}

/// The schema of a type with parameters: one for each list of arguments.
///
/// # Panics
/// As [`schema_once`].
#[must_use]
pub fn schema_once_generic<T: 'static>(type_name: &'static str, build: fn() -> SchemaBuilder) -> Schema {
    static ALL: Mutex<Option<HashMap<TypeId, Schema>>> = Mutex::new(None);
    let id = TypeId::of::<T>();
    if let Some(schema) = GENERIC.with_borrow(|known| known.get(&id).cloned()) {
        return schema;
    }
    // One schema for all threads, so that comparing two of them is comparing pointers.
    let made = make(type_name, build);
    let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
    let schema = all.get_or_insert_default().entry(id).or_insert(made).clone();
    GENERIC.with_borrow_mut(|known| known.insert(id, schema.clone()));
    schema
}

fn make(type_name: &'static str, build: fn() -> SchemaBuilder) -> Schema {
    struct Leave;
    impl Drop for Leave {
        fn drop(&mut self) {
            BEING_MADE.with_borrow_mut(|types| types.pop());
        }
    }
    BEING_MADE.with_borrow_mut(|types| {
        assert!(!types.contains(&type_name), "`{type_name}` contains itself; a Connect schema cannot be recursive");
        types.push(type_name);
    });
    let _leave = Leave;
    build().build().unwrap_or_else(|error| panic!("the schema of `{type_name}` cannot be made: {error}"))
}

/// What the type of a field can do.
///
/// Generated code asks for it once for each field, at the field's type, and never again for the trait: a field of an
/// unsupported type is then one error, where it stands.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "for generated code alone")]
pub struct FieldType<T> {
    /// [`ConnectData::schema`].
    pub schema: fn() -> Schema,
    /// [`ConnectData::to_value`].
    pub to_value: fn(&T) -> Option<Value>,
    /// [`ConnectData::from_value`].
    pub from_value: fn(Option<&Value>) -> Result<T, DataError>,
    /// The text of a type that is nothing but text.
    pub as_text: fn(&T) -> Option<&str>,
    /// The bytes of a type that is nothing but bytes.
    pub as_bytes: fn(&T) -> Option<&[u8]>,
}

/// What the type of a field can do.
#[must_use]
pub const fn field_type<T: ConnectData>() -> FieldType<T> {
    FieldType {
        schema: T::schema,
        to_value: T::to_value,
        from_value: T::from_value,
        as_text: T::as_text,
        as_bytes: T::as_bytes,
    }
}

/// What the type of a decimal field with this scale can do.
#[must_use]
pub const fn decimal_type<T: DecimalField, const SCALE: i32>() -> FieldType<T> {
    FieldType {
        schema: || T::decimal_schema(SCALE),
        to_value: |value| value.to_decimal_value(SCALE),
        from_value: T::from_decimal_value,
        as_text: |_| None,
        as_bytes: |_| None,
    }
}

/// The value of a text.
#[must_use]
pub fn text_value(text: &'static str) -> Option<Value> {
    Some(Value::String(Text::from_static(text)))
}

/// The value of a derived struct; `values` stand in the order of the schema's fields and fit them.
#[must_use]
pub fn struct_value(schema: Schema, values: Vec<Option<Value>>) -> Option<Value> {
    Some(Value::Struct(Struct::from_checked(schema, values)))
}

/// The fields of a value that a derived struct is read from.
#[derive(Debug, Clone, Copy)]
pub struct Fields<'a>(&'a Value);

impl<'a> Fields<'a> {
    /// The fields of a struct or of a map with text keys.
    ///
    /// # Errors
    /// Fails if the value is null or anything else.
    pub fn of(value: Option<&'a Value>, type_name: &str) -> Result<Self, DataError> {
        let expected = format!("a STRUCT or MAP for `{type_name}`");
        match present(value, &expected)? {
            value @ (Value::Struct(_) | Value::Map(_)) => Ok(Self(value)),
            other => Err(unexpected(other, &expected)),
        }
    }

    fn find(self, name: &str) -> Option<&'a Value> {
        match self.0 {
            Value::Struct(value) => value.schema().field(name).and_then(|field| value.get_field(field)),
            Value::Map(map) => map.get_str(name).flatten(),
            _ => None,
        }
    }

    /// Reads one field; null and missing are the same.
    ///
    /// # Errors
    /// Fails, with the field's name in the path, if the value does not fit.
    pub fn read<T>(self, of_type: &FieldType<T>, name: &str) -> Result<T, DataError> {
        (of_type.from_value)(self.find(name)).map_err(|error| error.in_field(name))
    }

    /// Reads one field that may be missing or null, and then is what `default` gives.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn read_or<T>(self, of_type: &FieldType<T>, name: &str, default: impl FnOnce() -> T) -> Result<T, DataError> {
        match self.find(name) {
            None => Ok(default()),
            value => (of_type.from_value)(value).map_err(|error| error.in_field(name)),
        }
    }
}

/// Numbers that a decimal field can hold.
pub trait DecimalNumber: Sized {
    /// The number as it is.
    fn to_decimal(&self) -> Decimal;

    /// The number in this type.
    ///
    /// # Errors
    /// Fails if this type cannot hold it.
    fn from_decimal(value: &Decimal) -> Result<Self, DataError>;
}

impl DecimalNumber for Decimal {
    fn to_decimal(&self) -> Decimal {
        self.clone()
    }

    fn from_decimal(value: &Decimal) -> Result<Self, DataError> {
        Ok(value.clone())
    }
}

/// The types of a field with a scale: a decimal number, or an `Option` of one.
#[diagnostic::on_unimplemented(message = "`{Self}` is not a decimal, but its field has a `scale`")]
pub trait DecimalField: Sized {
    /// The schema with this scale.
    fn decimal_schema(scale: i32) -> Schema;

    /// The value with this scale, or with its own if digits would be lost.
    fn to_decimal_value(&self, scale: i32) -> Option<Value>;

    /// Reads a decimal or an integer.
    ///
    /// # Errors
    /// Fails if the value is something else or too large for the type.
    fn from_decimal_value(value: Option<&Value>) -> Result<Self, DataError>;
}

impl<T: DecimalNumber> DecimalField for T {
    fn decimal_schema(scale: i32) -> Schema {
        Schema::decimal(scale)
    }

    fn to_decimal_value(&self, scale: i32) -> Option<Value> {
        let decimal = self.to_decimal();
        Some(decimal.rescaled(scale).unwrap_or(decimal).into())
    }

    fn from_decimal_value(value: Option<&Value>) -> Result<Self, DataError> {
        match present(value, "a Decimal")? {
            Value::Decimal(decimal) => Self::from_decimal(decimal),
            other => match other.as_i64() {
                Some(number) => Self::from_decimal(&Decimal::new(number, 0)),
                None => Err(unexpected(other, "a Decimal")),
            },
        }
    }
}

impl<T: DecimalNumber> DecimalField for Option<T> {
    fn decimal_schema(scale: i32) -> Schema {
        Schema::decimal(scale).to_optional()
    }

    fn to_decimal_value(&self, scale: i32) -> Option<Value> {
        self.as_ref().and_then(|number| number.to_decimal_value(scale))
    }

    fn from_decimal_value(value: Option<&Value>) -> Result<Self, DataError> {
        match value {
            None => Ok(None),
            value => T::from_decimal_value(value).map(Some),
        }
    }
}

/// The position in `names` of the variant that a value names, for an enum without content.
///
/// # Errors
/// Fails, listing the names, if the value is no text or names no variant.
pub fn variant_from_text(value: Option<&Value>, type_name: &str, names: &[&str]) -> Result<usize, DataError> {
    let expected = format!("a STRING that names a variant of `{type_name}`");
    let value = present(value, &expected)?;
    let text = value.as_str().ok_or_else(|| unexpected(value, &expected))?;
    names.iter().position(|name| *name == text).ok_or_else(|| no_variant(text, type_name, names))
}

/// The value of variant `index` of an enum with content: the schema's field at that position is set, no other.
#[must_use]
pub fn variant_value(schema: Schema, index: usize, content: Option<Value>) -> Option<Value> {
    let mut values = vec![None; schema.fields().len()];
    values[index] = content.map(made_optional);
    struct_value(schema, values)
}

/// As [`variant_value`], for a variant with named fields.
#[must_use]
pub fn variant_struct_value(schema: Schema, index: usize, values: Vec<Option<Value>>) -> Option<Value> {
    let content = struct_value(schema.fields()[index].schema().clone(), values);
    variant_value(schema, index, content)
}

/// The schema of the content of a variant with named fields.
///
/// # Panics
/// Panics if the builder reports a mistake, which the derive has excluded.
#[must_use]
pub fn content_schema(builder: SchemaBuilder) -> Schema {
    let schema = builder.build().unwrap_or_else(|error| panic!("the schema of a variant cannot be made: {error}"));
    schema.to_optional()
}

/// What was read from the content of a variant; an error leads to the variant.
///
/// # Errors
/// That of `read`.
pub fn in_variant<T>(name: &str, read: Result<T, DataError>) -> Result<T, DataError> {
    read.map_err(|error| error.in_field(name))
}

/// The position in `names` of the variant that is set, and its content, for an enum with content.
///
/// # Errors
/// Fails if not exactly one variant is set, or if the value is no struct or map.
pub fn variant_from_fields<'a>(
    value: Option<&'a Value>,
    type_name: &str,
    names: &[&str],
) -> Result<(usize, &'a Value), DataError> {
    let fields = Fields::of(value, type_name)?;
    let mut set = names.iter().enumerate().filter_map(|(index, name)| Some((index, fields.find(name)?)));
    match (set.next(), set.next()) {
        (Some(one), None) => Ok(one),
        (Some((first, _)), Some((second, _))) => Err(DataError::new(format!(
            "two variants of `{type_name}` are set, `{}` and `{}`; exactly one must be",
            names[first], names[second]
        ))),
        (None, _) => {
            Err(DataError::new(format!("no variant of `{type_name}` is set; expected one of {}", list(names))))
        }
    }
}

fn no_variant(text: &str, type_name: &str, names: &[&str]) -> DataError {
    let hint =
        nearest(text, names.iter().copied()).map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
    let shown: String = text.chars().take(64).collect();
    DataError::new(format!("`{shown}` is no variant of `{type_name}`; expected one of {}{hint}", list(names)))
}

fn list(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Map;

    /// What the derive writes for `struct Line { price: Decimal (scale 2), note: Option<String>, count: i32 }`.
    #[derive(Debug, PartialEq)]
    struct Line {
        price: Decimal,
        note: Option<String>,
        count: i32,
    }

    impl ConnectData for Line {
        fn schema() -> Schema {
            static SCHEMA: OnceLock<Schema> = OnceLock::new();
            schema_once(&SCHEMA, "Line", || {
                SchemaBuilder::struct_()
                    .field("price", Decimal::decimal_schema(2))
                    .field("note", Option::<String>::schema())
                    .field("count", i32::schema())
            })
        }

        fn to_value(&self) -> Option<Value> {
            let values = vec![self.price.to_decimal_value(2), self.note.to_value(), self.count.to_value()];
            struct_value(Self::schema(), values)
        }

        fn from_value(value: Option<&Value>) -> Result<Self, DataError> {
            let fields = Fields::of(value, "Line")?;
            Ok(Self {
                price: fields.read(&decimal_type::<_, 2>(), "price")?,
                note: fields.read(&field_type(), "note")?,
                count: fields.read_or(&field_type(), "count", || 1)?,
            })
        }
    }

    #[test]
    fn a_struct_survives_and_its_parts_are_named_when_wrong() {
        let line = Line { price: Decimal::new(15, 1), note: None, count: 2 };
        let value = line.to_value();
        super::super::validate_value(&Line::schema(), value.as_ref()).unwrap();
        let read = Line::from_value(value.as_ref()).unwrap();
        assert_eq!(read, Line { price: Decimal::new(150, 2), ..line });

        let map: Map = [("price", Value::from(3i64)), ("count", Value::from("x"))].into_iter().collect();
        let lines = Value::array([map]);
        assert_eq!(Vec::<Line>::from_value(Some(&lines)).unwrap_err().path(), "[0].count");
    }

    #[test]
    fn schemaless_maps_are_read_and_defaults_fill_what_is_missing() {
        let map: Map = [("price", Value::from(3i64)), ("other", Value::from("x"))].into_iter().collect();
        let line = Line::from_value(Some(&map.into())).unwrap();
        assert_eq!(line, Line { price: Decimal::new(3, 0), note: None, count: 1 });
        assert_eq!(Line::from_value(Some(&Map::new().into())).unwrap_err().path(), "price");
        Line::from_value(Some(&"text".into())).unwrap_err();
    }

    #[test]
    fn digits_are_never_dropped() {
        assert_eq!(Decimal::new(1234, 3).to_decimal_value(2), Some(Decimal::new(1234, 3).into()));
    }

    #[test]
    #[should_panic(expected = "`Node` contains itself")]
    fn a_recursive_type_is_reported_instead_of_overflowing_the_stack() {
        struct Node;
        impl ConnectData for Node {
            fn schema() -> Schema {
                static SCHEMA: OnceLock<Schema> = OnceLock::new();
                schema_once(&SCHEMA, "Node", || SchemaBuilder::struct_().field("children", Vec::<Self>::schema()))
            }

            fn to_value(&self) -> Option<Value> {
                None
            }

            fn from_value(_: Option<&Value>) -> Result<Self, DataError> {
                Ok(Self)
            }
        }
        drop(Node::schema());
    }

    #[test]
    fn generic_types_have_one_schema_for_each_list_of_arguments() {
        fn of<T: ConnectData + 'static>() -> Schema {
            schema_once_generic::<Vec<T>>("Wrapper", || SchemaBuilder::struct_().field("inner", T::schema()))
        }
        assert_eq!(of::<i32>(), of::<i32>());
        assert_ne!(of::<i32>(), of::<i64>());
    }

    #[test]
    fn variants_are_found_by_name() {
        let names = ["Open", "Closed"];
        assert_eq!(variant_from_text(Some(&"Closed".into()), "State", &names), Ok(1));
        let error = variant_from_text(Some(&"closd".into()), "State", &names).unwrap_err();
        assert!(error.message().ends_with("did you mean `Closed`?"), "{error}");
        variant_from_text(None, "State", &names).unwrap_err();
    }

    #[test]
    fn exactly_one_variant_is_set() {
        let names = ["Card", "Cash"];
        let schema = SchemaBuilder::struct_()
            .field("Card", Schema::optional_string())
            .field("Cash", Schema::optional_boolean())
            .build()
            .unwrap();
        let value = variant_value(schema, 0, Some("1234".into())).unwrap();
        assert_eq!(variant_from_fields(Some(&value), "Pay", &names), Ok((0, &"1234".into())));
        let both: Map = [("Card", Value::from("1")), ("Cash", Value::from(true))].into_iter().collect();
        variant_from_fields(Some(&both.into()), "Pay", &names).unwrap_err();
        variant_from_fields(Some(&Map::new().into()), "Pay", &names).unwrap_err();
    }
}
