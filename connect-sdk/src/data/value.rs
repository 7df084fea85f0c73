//! `Value`: one value of the Connect data model. Null is not a value: it is the `None` of `Option<Value>`.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use bytes::Bytes;

use super::{Date, Decimal, Map, Schema, Struct, Text, Time, Timestamp, Type};

/// One value that is not null.
///
/// Clones are cheap: text and bytes share their buffer; lists, maps and structs are counted references. Equality is
/// Java's: NaN equals NaN, 0.0 differs from -0.0, a number never equals a number of another type.
///
/// ```
/// use connect_sdk::data::Value;
/// let value = Value::from("Rome");
/// assert_eq!(value.as_str(), Some("Rome"));
/// ```
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_enums, reason = "Kafka's types are settled, and who writes values out must handle all")]
pub enum Value {
    /// 8-bit integer.
    Int8(i8),
    /// 16-bit integer.
    Int16(i16),
    /// 32-bit integer.
    Int32(i32),
    /// 64-bit integer.
    Int64(i64),
    /// 32-bit floating point number.
    Float32(f32),
    /// 64-bit floating point number.
    Float64(f64),
    /// `true` or `false`.
    Boolean(bool),
    /// Text.
    String(Text),
    /// Bytes.
    Bytes(Bytes),
    /// A decimal number; its schema is `BYTES` named [`LogicalType::Decimal`](super::LogicalType::Decimal).
    Decimal(Decimal),
    /// A date; its schema is `INT32` named [`LogicalType::Date`](super::LogicalType::Date).
    Date(Date),
    /// A time of day; its schema is `INT32` named [`LogicalType::Time`](super::LogicalType::Time).
    Time(Time),
    /// An instant; its schema is `INT64` named [`LogicalType::Timestamp`](super::LogicalType::Timestamp).
    Timestamp(Timestamp),
    /// A list; elements may be null.
    Array(Arc<[Option<Self>]>),
    /// A map; keys and values may be null.
    Map(Map),
    /// A struct, which carries its schema.
    Struct(Struct),
}

impl Value {
    /// A list of these elements.
    pub fn array<I>(elements: I) -> Self
    where
        I: IntoIterator,
        I::Item: IntoValue,
    {
        Self::Array(elements.into_iter().map(IntoValue::into_value).collect())
    }

    /// The schema type that stores this value; for logical values the type below.
    #[must_use]
    pub fn kind(&self) -> Type {
        match self {
            Self::Int8(_) => Type::Int8,
            Self::Int16(_) => Type::Int16,
            Self::Int32(_) | Self::Date(_) | Self::Time(_) => Type::Int32,
            Self::Int64(_) | Self::Timestamp(_) => Type::Int64,
            Self::Float32(_) => Type::Float32,
            Self::Float64(_) => Type::Float64,
            Self::Boolean(_) => Type::Boolean,
            Self::String(_) => Type::String,
            Self::Bytes(_) | Self::Decimal(_) => Type::Bytes,
            Self::Array(_) => Type::Array,
            Self::Map(_) => Type::Map,
            Self::Struct(_) => Type::Struct,
        }
    }

    /// What messages call this kind of value: the schema type's name, or the logical type's.
    #[must_use]
    pub fn kind_name(&self) -> &'static str {
        match self {
            Self::Decimal(_) => "Decimal",
            Self::Date(_) => "Date",
            Self::Time(_) => "Time",
            Self::Timestamp(_) => "Timestamp",
            other => other.kind().name(),
        }
    }

    /// The text of a `String`.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        if let Self::String(text) = self { Some(text) } else { None }
    }

    /// The bytes of `Bytes`.
    #[must_use]
    pub fn as_bytes(&self) -> Option<&Bytes> {
        if let Self::Bytes(bytes) = self { Some(bytes) } else { None }
    }

    /// The truth value of a `Boolean`.
    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        if let Self::Boolean(value) = self { Some(*value) } else { None }
    }

    /// The number of an integer of any width; nothing for other types.
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        match *self {
            Self::Int8(value) => Some(value.into()),
            Self::Int16(value) => Some(value.into()),
            Self::Int32(value) => Some(value.into()),
            Self::Int64(value) => Some(value),
            _ => None,
        }
    }

    /// The number of a floating point value of either width; nothing for other types.
    #[must_use]
    pub fn as_f64(&self) -> Option<f64> {
        match *self {
            Self::Float32(value) => Some(value.into()),
            Self::Float64(value) => Some(value),
            _ => None,
        }
    }

    /// The elements of an `Array`.
    #[must_use]
    pub fn as_array(&self) -> Option<&[Option<Self>]> {
        if let Self::Array(elements) = self { Some(elements) } else { None }
    }

    /// The entries of a `Map`.
    #[must_use]
    pub fn as_map(&self) -> Option<&Map> {
        if let Self::Map(map) = self { Some(map) } else { None }
    }

    /// The struct of a `Struct`.
    #[must_use]
    pub fn as_struct(&self) -> Option<&Struct> {
        if let Self::Struct(value) = self { Some(value) } else { None }
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Int8(a), Self::Int8(b)) => a == b,
            (Self::Int16(a), Self::Int16(b)) => a == b,
            (Self::Int32(a), Self::Int32(b)) => a == b,
            (Self::Int64(a), Self::Int64(b)) => a == b,
            (Self::Float32(a), Self::Float32(b)) => float_bits((*a).into()) == float_bits((*b).into()),
            (Self::Float64(a), Self::Float64(b)) => float_bits(*a) == float_bits(*b),
            (Self::Boolean(a), Self::Boolean(b)) => a == b,
            (Self::String(a), Self::String(b)) => a == b,
            (Self::Bytes(a), Self::Bytes(b)) => a == b,
            (Self::Decimal(a), Self::Decimal(b)) => a == b,
            (Self::Date(a), Self::Date(b)) => a == b,
            (Self::Time(a), Self::Time(b)) => a == b,
            (Self::Timestamp(a), Self::Timestamp(b)) => a == b,
            (Self::Array(a), Self::Array(b)) => a == b,
            (Self::Map(a), Self::Map(b)) => a == b,
            (Self::Struct(a), Self::Struct(b)) => a == b,
            _ => false,
        }
    }
}

impl Eq for Value {}

impl Hash for Value {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::mem::discriminant(self).hash(state);
        match self {
            Self::Int8(value) => value.hash(state),
            Self::Int16(value) => value.hash(state),
            Self::Int32(value) => value.hash(state),
            Self::Int64(value) => value.hash(state),
            Self::Float32(value) => float_bits((*value).into()).hash(state),
            Self::Float64(value) => float_bits(*value).hash(state),
            Self::Boolean(value) => value.hash(state),
            Self::String(value) => value.hash(state),
            Self::Bytes(value) => value.hash(state),
            Self::Decimal(value) => value.hash(state),
            Self::Date(value) => value.hash(state),
            Self::Time(value) => value.hash(state),
            Self::Timestamp(value) => value.hash(state),
            Self::Array(value) => value.hash(state),
            Self::Map(value) => value.hash(state),
            Self::Struct(value) => value.hash(state),
        }
    }
}

// Java's Float.equals and Double.equals: by bits, all NaN alike.
fn float_bits(value: f64) -> u64 {
    if value.is_nan() { f64::NAN.to_bits() } else { value.to_bits() }
}

/// A value together with its schema; both may be missing.
///
/// A schema without a value is a null of that type; a value without a schema is schemaless data.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a pair, as its name says")]
pub struct SchemaAndValue {
    /// The schema; none for schemaless data.
    pub schema: Option<Schema>,
    /// The value; none is null.
    pub value: Option<Value>,
}

impl SchemaAndValue {
    /// Neither schema nor value: what a tombstone holds.
    pub const NULL: Self = Self { schema: None, value: None };

    /// A schema and a value that belongs to it; the two are not checked against each other.
    #[must_use]
    pub fn new(schema: Option<Schema>, value: Option<Value>) -> Self {
        Self { schema, value }
    }
}

/// What can be put where a value, or null, is expected.
///
/// Implemented for [`Value`], for the Rust types that hold one, for `Option` of them (`None` is null), and for `Vec`.
pub trait IntoValue {
    /// The value; none is null.
    fn into_value(self) -> Option<Value>;
}

impl<T: IntoValue> IntoValue for Option<T> {
    fn into_value(self) -> Option<Value> {
        self.and_then(IntoValue::into_value)
    }
}

impl<T: IntoValue> IntoValue for Vec<T> {
    fn into_value(self) -> Option<Value> {
        Some(Value::array(self))
    }
}

impl IntoValue for &Value {
    fn into_value(self) -> Option<Value> {
        Some(self.clone())
    }
}

impl IntoValue for Value {
    fn into_value(self) -> Option<Value> {
        Some(self)
    }
}

/// `From` and `IntoValue` for the types that are one variant each.
macro_rules! values_from {
    ($($type:ty => $variant:ident),* $(,)?) => {$(
        impl From<$type> for Value {
            fn from(value: $type) -> Self {
                Self::$variant(value.into())
            }
        }

        impl IntoValue for $type {
            fn into_value(self) -> Option<Value> {
                Some(self.into())
            }
        }
    )*};
}

values_from! {
    i8 => Int8, i16 => Int16, i32 => Int32, i64 => Int64, f32 => Float32, f64 => Float64, bool => Boolean,
    &str => String, &String => String, String => String, Text => String,
    Bytes => Bytes, &'static [u8] => Bytes, Vec<u8> => Bytes,
    Decimal => Decimal, Date => Date, Time => Time, Timestamp => Timestamp, Map => Map, Struct => Struct,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equality_is_javas() {
        assert_eq!(Value::from(f64::NAN), Value::from(-f64::NAN));
        assert_ne!(Value::from(0.0), Value::from(-0.0));
        assert_eq!(Value::from(f32::NAN), Value::from(f32::NAN));
        assert_ne!(Value::from(1i32), Value::from(1i64));
        assert_ne!(Value::from(Decimal::new(15, 1)), Value::from(Decimal::new(150, 2)));
    }

    #[test]
    fn clones_of_text_and_bytes_share_the_buffer() {
        let text = Value::from(Text::try_from(Bytes::from("a long text".to_owned())).unwrap());
        assert_eq!(text.as_str().unwrap().as_ptr(), text.clone().as_str().unwrap().as_ptr());
        let bytes = Value::from(vec![1u8, 2]);
        assert_eq!(bytes.as_bytes().unwrap().as_ptr(), bytes.clone().as_bytes().unwrap().as_ptr());
    }

    #[test]
    fn a_value_stays_small() {
        assert!(size_of::<Option<Value>>() <= 48, "{}", size_of::<Option<Value>>());
    }
}
