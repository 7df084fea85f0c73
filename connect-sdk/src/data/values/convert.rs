//! Conversions of values to a wanted type.

use std::sync::Arc;

use super::number::Number;
use super::parse::parse_text;
use crate::data::{DataError, Date, Decimal, Map, Struct, Time, Timestamp, Value, value_text};
use crate::java::number_text::double_text;

/// How much of a value an error shows.
const SHOWN_CHARS_MAX: usize = 100;

fn refused(value: &Value, wanted: &str) -> DataError {
    let text: String = value_text(value).chars().take(SHOWN_CHARS_MAX).collect();
    DataError::new(format!("`{text}` of type {} cannot be converted to {wanted}", value.kind_name()))
}

fn present<'a>(value: Option<&'a Value>, wanted: &str) -> Result<&'a Value, DataError> {
    value.ok_or_else(|| DataError::new(format!("null cannot be converted to {wanted}")))
}

/// The value as an integer of 64 bits, by Java's rules.
fn as_long(value: &Value, wanted: &str) -> Result<i64, DataError> {
    if let Some(number) = value.as_i64() {
        return Ok(number);
    }
    if let Some(number) = value.as_f64() {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "as Java: NaN is 0, what is too large becomes the largest"
        )]
        return Ok(number as i64);
    }
    match value {
        Value::Decimal(decimal) => Ok(Number::from(decimal).to_i64_wrapping()),
        Value::Date(date) => Ok(date.epoch_days().into()),
        Value::Time(time) => Ok(time.millis_of_day().into()),
        Value::Timestamp(timestamp) => Ok(timestamp.epoch_millis()),
        Value::String(text) => match Number::parse(text) {
            Some(number) => Ok(number.to_i64_wrapping()),
            None => Err(refused(value, wanted)),
        },
        _ => Err(refused(value, wanted)),
    }
}

/// The value as a floating point number of 64 bits, by Java's rules.
fn as_double(value: &Value, wanted: &str) -> Result<f64, DataError> {
    match value {
        Value::Float32(number) => Ok((*number).into()),
        Value::Float64(number) => Ok(*number),
        Value::Decimal(decimal) => Ok(Number::from(decimal).to_f64()),
        Value::String(text) => Number::parse(text).map(|number| number.to_f64()).ok_or_else(|| refused(value, wanted)),
        #[expect(clippy::cast_precision_loss, reason = "as Java casts")]
        other => as_long(other, wanted).map(|number| number as f64),
    }
}

/// Converts to a truth value; null stays null.
///
/// Text is true or false if it says so; any other text, and every number, is true if its integer part is not 0.
///
/// # Errors
/// Fails if the value is no truth value and no number.
pub fn convert_to_boolean(value: Option<&Value>) -> Result<Option<bool>, DataError> {
    let Some(value) = value else { return Ok(None) };
    if let Value::Boolean(value) = value {
        return Ok(Some(*value));
    }
    if let Value::String(text) = value
        && let Some(Value::Boolean(value)) = parse_text(text).value
    {
        return Ok(Some(value));
    }
    as_long(value, "a BOOLEAN").map(|number| Some(number != 0))
}

/// The conversions to numbers.
macro_rules! numbers {
    ($($name:ident -> $type:ty, $wanted:literal, $through:ident;)*) => {$(
        #[doc = concat!("Converts to ", $wanted, "; null stays null.")]
        ///
        /// Numbers are cast as Java casts, text is read as a decimal number and then cast; dates and times give their
        /// days or milliseconds.
        ///
        /// # Errors
        /// Fails if the value is no number, also if it is a truth value.
        pub fn $name(value: Option<&Value>) -> Result<Option<$type>, DataError> {
            let Some(value) = value else { return Ok(None) };
            #[allow(clippy::cast_possible_truncation, trivial_numeric_casts, reason = "as Java casts")]
            $through(value, $wanted).map(|number| Some(number as $type))
        }
    )*};
}

numbers! {
    convert_to_byte -> i8, "an INT8", as_long;
    convert_to_short -> i16, "an INT16", as_long;
    convert_to_integer -> i32, "an INT32", as_long;
    convert_to_long -> i64, "an INT64", as_long;
    convert_to_float -> f32, "a FLOAT32", as_double;
    convert_to_double -> f64, "a FLOAT64", as_double;
}

/// What text stands for; a value that is not text stands for itself.
fn parsed(value: &Value, wanted: &str) -> Result<Value, DataError> {
    match value {
        Value::String(text) => parse_text(text).value.ok_or_else(|| refused(value, wanted)),
        other => Ok(other.clone()),
    }
}

/// Converts to a list: a list itself, or text that is one. The elements are not converted.
///
/// # Errors
/// Fails if the value is null or is no list.
pub fn convert_to_list(value: Option<&Value>) -> Result<Arc<[Option<Value>]>, DataError> {
    let wanted = "an ARRAY";
    let value = present(value, wanted)?;
    match parsed(value, wanted)? {
        Value::Array(elements) => Ok(elements),
        _ => Err(refused(value, wanted)),
    }
}

/// Converts to a map: a map itself, or text that is one. Keys and values are not converted.
///
/// # Errors
/// Fails if the value is null or is no map.
pub fn convert_to_map(value: Option<&Value>) -> Result<Map, DataError> {
    let wanted = "a MAP";
    let value = present(value, wanted)?;
    match parsed(value, wanted)? {
        Value::Map(map) => Ok(map),
        _ => Err(refused(value, wanted)),
    }
}

/// Converts to a struct, which only a struct can be.
///
/// # Errors
/// Fails if the value is anything else.
pub fn convert_to_struct(value: Option<&Value>) -> Result<Struct, DataError> {
    let wanted = "a STRUCT";
    match present(value, wanted)? {
        Value::Struct(value) => Ok(value.clone()),
        other => Err(refused(other, wanted)),
    }
}

/// The value as days or milliseconds of 32 bits; the upper bits are cut, as Java does.
fn as_int(value: &Value, wanted: &str) -> Result<i32, DataError> {
    #[expect(clippy::cast_possible_truncation, reason = "as Java casts")]
    as_long(value, wanted).map(|number| number as i32)
}

/// Converts to a date: of an instant the day in UTC, of a number that many days since 1970, of text what it says.
///
/// # Errors
/// Fails if the value is null, a time of day, or nothing that can be read as a date.
pub fn convert_to_date(value: Option<&Value>) -> Result<Date, DataError> {
    let wanted = "a Date";
    let value = present(value, wanted)?;
    match parsed(value, wanted)? {
        Value::Date(date) => Ok(date),
        Value::Timestamp(timestamp) => timestamp.date().ok_or_else(|| refused(value, wanted)),
        Value::Time(_) => Err(refused(value, wanted)),
        other => as_int(&other, wanted).map(Date::from_epoch_days),
    }
}

/// Converts to a time of day: of an instant that in UTC, of a number that many milliseconds since midnight, of text
/// what it says.
///
/// # Errors
/// Fails if the value is null, a date, or nothing that can be read as a time of day.
pub fn convert_to_time(value: Option<&Value>) -> Result<Time, DataError> {
    let wanted = "a Time";
    let value = present(value, wanted)?;
    match parsed(value, wanted)? {
        Value::Time(time) => Ok(time),
        Value::Timestamp(timestamp) => Ok(timestamp.time()),
        Value::Date(_) => Err(refused(value, wanted)),
        other => Time::from_millis_of_day(as_int(&other, wanted)?),
    }
}

/// Converts to an instant: of a date its midnight in UTC, of a time of day that time of 1970-01-01, of a number that
/// many milliseconds since 1970, of text what it says.
///
/// # Errors
/// Fails if the value is null or nothing that can be read as an instant.
pub fn convert_to_timestamp(value: Option<&Value>) -> Result<Timestamp, DataError> {
    let wanted = "a Timestamp";
    let value = present(value, wanted)?;
    match parsed(value, wanted)? {
        Value::Timestamp(timestamp) => Ok(timestamp),
        Value::Date(date) => Ok(date.to_timestamp()),
        other => as_long(&other, wanted).map(Timestamp::from_epoch_millis),
    }
}

/// Converts to a decimal number. `scale` is that of bytes; numbers and text have their own.
///
/// A number becomes the decimal that its text says, so an integer 5 becomes 5.0.
///
/// # Errors
/// Fails if the value is null, is not finite, or is no number, bytes or text of a number.
pub fn convert_to_decimal(value: Option<&Value>, scale: i32) -> Result<Decimal, DataError> {
    let wanted = "a Decimal";
    let value = present(value, wanted)?;
    match value {
        Value::Decimal(decimal) => return Ok(decimal.clone()),
        Value::Bytes(bytes) => return Ok(Decimal::from_be_bytes(bytes, scale)),
        Value::String(text) => {
            return Number::parse(text).map(|number| number.to_decimal()).ok_or_else(|| refused(value, wanted));
        }
        _ => {}
    }
    let integer = value.as_i64();
    let double = match (integer, value.as_f64()) {
        #[expect(clippy::cast_precision_loss, reason = "looked at below")]
        (Some(integer), _) => integer as f64,
        (None, Some(double)) => double,
        (None, None) => return Err(refused(value, wanted)),
    };
    let number = Number::parse(&double_text(double)).ok_or_else(|| refused(value, wanted))?;
    match integer {
        // Where a double cannot hold the integer, it stands for itself.
        Some(integer) if number.exact_integer() != Some(integer) => Ok(Decimal::new(integer, 0)),
        _ => Ok(number.to_decimal()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_cast_as_java_casts() {
        let byte = |value: Value| convert_to_byte(Some(&value)).unwrap().unwrap();
        assert_eq!(byte(300.into()), 44);
        assert_eq!(byte("1.9".into()), 1);
        assert_eq!(byte(f64::NAN.into()), 0);
        assert_eq!(byte(1e20.into()), -1);
        assert_eq!(byte("1e400".into()), 0);
        assert_eq!(convert_to_float(Some(&"1e400".into())), Ok(Some(f32::INFINITY)));
        assert_eq!(convert_to_boolean(Some(&"0.5".into())), Ok(Some(false)));
        assert_eq!(convert_to_boolean(Some(&" true ".into())), Ok(Some(true)));
        assert_eq!(convert_to_long(None), Ok(None));
        convert_to_long(Some(&true.into())).unwrap_err();
        convert_to_long(Some(&" 5".into())).unwrap_err();
    }

    #[test]
    fn the_text_null_is_no_value() {
        let null = Value::from("null");
        convert_to_boolean(Some(&null)).unwrap_err();
        convert_to_list(Some(&null)).unwrap_err();
        convert_to_date(Some(&null)).unwrap_err();
    }

    #[test]
    fn dates_and_times_are_not_taken_for_one_another() {
        let (date, time) = (Value::from("2019-08-23"), Value::from("14:34:54.346Z"));
        assert_eq!(convert_to_date(Some(&date)), Ok(Date::from_epoch_days(18_131)));
        convert_to_time(Some(&date)).unwrap_err();
        convert_to_date(Some(&time)).unwrap_err();
        let instant = Value::from(Timestamp::from_epoch_millis(-1));
        assert_eq!(convert_to_date(Some(&instant)), Ok(Date::from_epoch_days(-1)));
        convert_to_time(Some(&(-1i64).into())).unwrap_err();
        convert_to_date(Some(&Timestamp::from_epoch_millis(i64::MAX).into())).unwrap_err();
    }

    #[test]
    fn decimals_are_exact() {
        let decimal = |value: Value| convert_to_decimal(Some(&value), 2);
        assert_eq!(decimal(5.into()), Ok(Decimal::new(50, 1)));
        assert_eq!(decimal(10_000_000.into()), Ok(Decimal::new(10, -6)));
        assert_eq!(decimal(9_007_199_254_740_993i64.into()), Ok(Decimal::new(9_007_199_254_740_993i64, 0)));
        assert_eq!(decimal(vec![1u8, 0].into()), Ok(Decimal::new(256, 2)));
        decimal(f64::NAN.into()).unwrap_err();
        decimal("x".into()).unwrap_err();
    }
}
