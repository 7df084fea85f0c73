//! `ConnectData`: Rust types that are Connect values of a known schema.

mod numbers;
#[cfg(feature = "chrono")]
mod with_chrono;
#[cfg(feature = "rust_decimal")]
mod with_rust_decimal;
#[cfg(feature = "time")]
mod with_time;

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher, Hash};
use std::sync::Arc;

use bytes::Bytes;

use super::{DataError, Date, Map, Schema, Text, Time, Timestamp, Value};

/// A Rust type whose values are Connect values.
///
/// Implemented for numbers, text, bytes, logical types, `Option`, `Vec`, maps, and by `#[derive(ConnectData)]` for your
/// own structs and enums. `Option` makes a schema optional. Reading is strict about meaning and lenient about width: a
/// 64-bit integer is taken for an `i32` if the number fits, because JSON without schemas knows no other integers.
///
/// ```
/// use connect_sdk::data::{ConnectData, Schema, Value};
/// assert_eq!(Option::<i32>::schema(), Schema::optional_int32());
/// assert_eq!(i32::from_value(Some(&Value::from(7i64))), Ok(7));
/// assert!(i32::from_value(Some(&Value::from(7_000_000_000i64))).is_err());
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not Connect data",
    label = "no Connect schema belongs to this type",
    note = "for your own struct or enum: `#[derive(ConnectData)]`",
    note = "unsigned types other than `u16` and `u32` have no Connect type; for bytes use `Vec<u8>` or `Bytes`",
    note = "a decimal needs a scale: `#[connect(scale = 2)]` on the field; chrono, time and rust_decimal are features of connect-sdk"
)]
pub trait ConnectData: Sized {
    /// The schema of all values of this type.
    ///
    /// Called for every record: an implementation hands out clones of one schema instead of making new ones.
    fn schema() -> Schema;

    /// This value; none is null.
    fn to_value(&self) -> Option<Value>;

    /// Reads a value; none is null.
    ///
    /// # Errors
    /// Fails if the value is of another type, does not fit, or is null and the type is no `Option`. The error's path
    /// leads to the part that is wrong.
    fn from_value(value: Option<&Value>) -> Result<Self, DataError>;

    /// The text of a type that is nothing but text: a record then borrows it instead of making a value.
    #[doc(hidden)]
    fn as_text(&self) -> Option<&str> {
        None
    }

    /// The bytes of a type that is nothing but bytes.
    #[doc(hidden)]
    fn as_bytes(&self) -> Option<&[u8]> {
        None
    }
}

pub(super) fn present<'a>(value: Option<&'a Value>, expected: &str) -> Result<&'a Value, DataError> {
    value.ok_or_else(|| DataError::new(format!("the value is null or missing; expected {expected}")))
}

pub(super) fn unexpected(value: &Value, expected: &str) -> DataError {
    DataError::new(format!("the value is of type {}; expected {expected}", value.kind_name()))
}

/// Types that are one variant of `Value`.
macro_rules! plain {
    ($($type:ty = $schema:ident, $expected:literal, $pattern:pat => $get:expr $(, $borrow:ident -> $borrowed:ty)?;)*) => {$(
        impl ConnectData for $type {
            fn schema() -> Schema {
                Schema::$schema()
            }

            fn to_value(&self) -> Option<Value> {
                Some(Value::from(self.clone()))
            }

            fn from_value(value: Option<&Value>) -> Result<Self, DataError> {
                match present(value, $expected)? {
                    $pattern => Ok($get),
                    other => Err(unexpected(other, $expected)),
                }
            }

            $(fn $borrow(&self) -> Option<&$borrowed> {
                Some(self)
            })?
        }
    )*};
}

plain! {
    bool = boolean, "a BOOLEAN", Value::Boolean(value) => *value;
    String = string, "a STRING", Value::String(value) => value.as_str().to_owned(), as_text -> str;
    Text = string, "a STRING", Value::String(value) => value.clone(), as_text -> str;
    Bytes = bytes, "BYTES", Value::Bytes(value) => value.clone(), as_bytes -> [u8];
    Vec<u8> = bytes, "BYTES", Value::Bytes(value) => value.to_vec(), as_bytes -> [u8];
}

/// Logical types: read from themselves, or from the integer in which schemaless data carries them.
macro_rules! logical {
    ($($type:ident = $schema:ident, $expected:literal, $number:ty => $make:expr;)*) => {$(
        impl ConnectData for $type {
            fn schema() -> Schema {
                Schema::$schema()
            }

            fn to_value(&self) -> Option<Value> {
                Some(Value::from(*self))
            }

            fn from_value(value: Option<&Value>) -> Result<Self, DataError> {
                match present(value, $expected)? {
                    Value::$type(value) => Ok(*value),
                    number @ (Value::Int32(_) | Value::Int64(_)) => $make(<$number>::from_value(Some(number))?),
                    other => Err(unexpected(other, $expected)),
                }
            }
        }
    )*};
}

logical! {
    Date = date, "a Date", i32 => |days| Ok(Date::from_epoch_days(days));
    Time = time, "a Time", i32 => Time::from_millis_of_day;
    Timestamp = timestamp, "a Timestamp", i64 => |millis| Ok(Timestamp::from_epoch_millis(millis));
}

impl<T: ConnectData> ConnectData for Option<T> {
    fn schema() -> Schema {
        T::schema().to_optional()
    }

    fn to_value(&self) -> Option<Value> {
        self.as_ref().and_then(T::to_value).map(made_optional)
    }

    fn from_value(value: Option<&Value>) -> Result<Self, DataError> {
        match value {
            None => Ok(None),
            some => T::from_value(some).map(Some),
        }
    }
}

/// A value as one of the optional schema.
pub(super) fn made_optional(value: Value) -> Value {
    match value {
        Value::Struct(value) => Value::Struct(value.made_optional()),
        other => other,
    }
}

/// Types that only point to their content.
macro_rules! pointers {
    ($($pointer:ident),*) => {$(
        impl<T: ConnectData> ConnectData for $pointer<T> {
            fn schema() -> Schema {
                T::schema()
            }

            fn to_value(&self) -> Option<Value> {
                T::to_value(self)
            }

            fn from_value(value: Option<&Value>) -> Result<Self, DataError> {
                T::from_value(value).map($pointer::new)
            }
        }
    )*};
}

pointers!(Box, Arc);

impl<T: ConnectData> ConnectData for Vec<T> {
    fn schema() -> Schema {
        Schema::array(T::schema())
    }

    fn to_value(&self) -> Option<Value> {
        Some(Value::Array(self.iter().map(T::to_value).collect()))
    }

    fn from_value(value: Option<&Value>) -> Result<Self, DataError> {
        match present(value, "an ARRAY")? {
            Value::Array(elements) => elements
                .iter()
                .enumerate()
                .map(|(index, element)| T::from_value(element.as_ref()).map_err(|error| error.in_element(index)))
                .collect(),
            other => Err(unexpected(other, "an ARRAY")),
        }
    }
}

fn entries_from_value<K: ConnectData, V: ConnectData, M: FromIterator<(K, V)>>(
    value: Option<&Value>,
) -> Result<M, DataError> {
    let map = match present(value, "a MAP")? {
        Value::Map(map) => map,
        other => return Err(unexpected(other, "a MAP")),
    };
    map.iter()
        .map(|(key, value)| {
            let shown = || key.map_or_else(|| "null".into(), super::value_text);
            let read_key = K::from_value(key)
                .map_err(|error| DataError::new(format!("invalid key: {}", error.message())).in_entry(&shown()))?;
            Ok((read_key, V::from_value(value).map_err(|error| error.in_entry(&shown()))?))
        })
        .collect()
}

fn entries_to_value<'a, K: ConnectData + 'a, V: ConnectData + 'a>(
    entries: impl Iterator<Item = (&'a K, &'a V)>,
) -> Option<Value> {
    Some(Value::Map(entries.map(|(key, value)| (key.to_value(), value.to_value())).collect::<Map>()))
}

impl<K: ConnectData + Ord, V: ConnectData> ConnectData for BTreeMap<K, V> {
    fn schema() -> Schema {
        Schema::map(K::schema(), V::schema())
    }

    fn to_value(&self) -> Option<Value> {
        entries_to_value(self.iter())
    }

    fn from_value(value: Option<&Value>) -> Result<Self, DataError> {
        entries_from_value(value)
    }
}

impl<K, V, S> ConnectData for HashMap<K, V, S>
where
    K: ConnectData + Eq + Hash,
    V: ConnectData,
    S: BuildHasher + Default,
{
    fn schema() -> Schema {
        Schema::map(K::schema(), V::schema())
    }

    fn to_value(&self) -> Option<Value> {
        entries_to_value(self.iter())
    }

    fn from_value(value: Option<&Value>) -> Result<Self, DataError> {
        entries_from_value(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::validate_value;

    fn survives<T: ConnectData + PartialEq + std::fmt::Debug>(data: &T) {
        let value = data.to_value();
        validate_value(&T::schema(), value.as_ref()).unwrap();
        assert_eq!(&T::from_value(value.as_ref()).unwrap(), data);
    }

    #[test]
    fn data_survives_the_way_through_a_value() {
        survives(&true);
        survives(&"text".to_owned());
        survives(&vec![1u8, 2]);
        survives(&Some(Text::from("x")));
        survives(&None::<String>);
        survives(&vec![Some(1i64), None]);
        survives(&BTreeMap::from([("a".to_owned(), vec![1.5f32])]));
        survives(&HashMap::from([(1i32, Date::from_epoch_days(3))]));
        survives(&Box::new(Timestamp::from_epoch_millis(-5)));
        survives(&Time::MAX);
    }

    #[test]
    fn a_wrong_part_is_named() {
        let list = Value::array([Value::from("a"), Value::from(1i32)]);
        let error = Vec::<String>::from_value(Some(&list)).unwrap_err();
        assert_eq!(error.to_string(), "`[1]`: the value is of type INT32; expected a STRING");
        let map: Map = [("k", 1i32)].into_iter().collect();
        let error = BTreeMap::<String, bool>::from_value(Some(&map.into())).unwrap_err();
        assert_eq!(error.path(), "[\"k\"]");
        String::from_value(None).unwrap_err();
    }

    #[test]
    fn schemaless_data_carries_logical_types_as_integers() {
        assert_eq!(Date::from_value(Some(&3i64.into())), Ok(Date::from_epoch_days(3)));
        Date::from_value(Some(&i64::MAX.into())).unwrap_err();
        Time::from_value(Some(&(-1i64).into())).unwrap_err();
        Date::from_value(Some(&Timestamp::from_epoch_millis(0).into())).unwrap_err();
    }
}
