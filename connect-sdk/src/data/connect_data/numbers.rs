//! `ConnectData` for numbers: of any width that holds the same number.

use super::{ConnectData, present, unexpected};
use crate::data::{DataError, Schema, Value};

fn does_not_fit(value: &Value, expected: &str) -> DataError {
    DataError::new(format!("`{}` does not fit {expected}", crate::data::value_text(value)))
}

macro_rules! integers {
    ($($type:ty as $stored:ty = $schema:ident, $expected:literal;)*) => {$(
        impl ConnectData for $type {
            fn schema() -> Schema {
                Schema::$schema()
            }

            fn to_value(&self) -> Option<Value> {
                Some(Value::from(<$stored>::from(*self)))
            }

            fn from_value(value: Option<&Value>) -> Result<Self, DataError> {
                let value = present(value, $expected)?;
                let number = match (value.as_i64(), value.as_f64()) {
                    (Some(number), _) => number,
                    (None, Some(number)) => whole(number).ok_or_else(|| does_not_fit(value, $expected))?,
                    (None, None) => return Err(unexpected(value, $expected)),
                };
                Self::try_from(number).map_err(|_| does_not_fit(value, $expected))
            }
        }
    )*};
}

integers! {
    i8 as i8 = int8, "an 8-bit integer";
    i16 as i16 = int16, "a 16-bit integer";
    i32 as i32 = int32, "a 32-bit integer";
    i64 as i64 = int64, "a 64-bit integer";
    u16 as i32 = int32, "an unsigned 16-bit integer";
    u32 as i64 = int64, "an unsigned 32-bit integer";
}

/// The integer that a floating point number is, if it is one.
fn whole(number: f64) -> Option<i64> {
    // 2^63 is the first number beyond; -2^63 is exact.
    let limit = 9_223_372_036_854_775_808.0;
    #[expect(clippy::cast_possible_truncation, reason = "the number has no fraction and lies within the bounds")]
    (number.fract() == 0.0 && (-limit..limit).contains(&number)).then_some(number as i64)
}

/// Every integer up to this size is an f64.
const EXACT_MAX: u64 = 1 << 53;

impl ConnectData for f64 {
    fn schema() -> Schema {
        Schema::float64()
    }

    fn to_value(&self) -> Option<Value> {
        Some(Value::Float64(*self))
    }

    fn from_value(value: Option<&Value>) -> Result<Self, DataError> {
        let value = present(value, "a number")?;
        match (value.as_f64(), value.as_i64()) {
            (Some(number), _) => Ok(number),
            #[expect(clippy::cast_precision_loss, reason = "integers of this size are exact")]
            (None, Some(number)) if number.unsigned_abs() <= EXACT_MAX => Ok(number as Self),
            (None, Some(_)) => Err(does_not_fit(value, "a 64-bit floating point number")),
            (None, None) => Err(unexpected(value, "a number")),
        }
    }
}

impl ConnectData for f32 {
    fn schema() -> Schema {
        Schema::float32()
    }

    fn to_value(&self) -> Option<Value> {
        Some(Value::Float32(*self))
    }

    /// A 64-bit number is rounded: schemaless JSON carries all fractions so, and what was an `f32` comes back as it was.
    fn from_value(value: Option<&Value>) -> Result<Self, DataError> {
        let number = f64::from_value(value)?;
        #[expect(clippy::cast_possible_truncation, reason = "rounding is what is wanted; overflow is looked at below")]
        let narrow = number as Self;
        if narrow.is_infinite() && number.is_finite() {
            return Err(DataError::new(format!("`{number:e}` does not fit a 32-bit floating point number")));
        }
        Ok(narrow)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_width_that_holds_the_number_will_do() {
        assert_eq!(i8::from_value(Some(&100i64.into())), Ok(100));
        assert_eq!(i64::from_value(Some(&1i8.into())), Ok(1));
        assert_eq!(u16::from_value(Some(&65_535i64.into())), Ok(65_535));
        assert_eq!(i32::from_value(Some(&5.0.into())), Ok(5));
        assert_eq!(f64::from_value(Some(&5i64.into())), Ok(5.0));
        assert_eq!(f32::from_value(Some(&f64::from(0.1f32).into())), Ok(0.1));
    }

    #[test]
    fn what_would_change_the_number_is_refused() {
        assert_eq!(
            i8::from_value(Some(&300i64.into())).unwrap_err().to_string(),
            "`300` does not fit an 8-bit integer"
        );
        u32::from_value(Some(&(-1i64).into())).unwrap_err();
        i32::from_value(Some(&5.5.into())).unwrap_err();
        i64::from_value(Some(&f64::NAN.into())).unwrap_err();
        i64::from_value(Some(&9_223_372_036_854_775_808.0.into())).unwrap_err();
        f64::from_value(Some(&i64::MAX.into())).unwrap_err();
        f32::from_value(Some(&1e300.into())).unwrap_err();
        i32::from_value(Some(&"5".into())).unwrap_err();
        i32::from_value(Some(&true.into())).unwrap_err();
    }
}
