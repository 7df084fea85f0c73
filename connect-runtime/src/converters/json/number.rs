//! `Number`: a number of a JSON text, kept as text until the schema says what it is to become.

use connect_sdk::data::{BigInt, DataError, Decimal};

/// How many digits a decimal may get when it is brought to the scale of its schema.
const DECIMAL_DIGITS_MAX: usize = 10_000;

/// A number as it was written: `-007`, `1.50`, `1e3`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Number<'a> {
    text: &'a str,
    integral: bool,
}

impl<'a> Number<'a> {
    pub(super) fn new(text: &'a str, integral: bool) -> Self {
        Self { text, integral }
    }

    pub(super) fn text(self) -> &'a str {
        self.text
    }

    /// Whether it was written without point and exponent.
    pub(super) fn is_integral(self) -> bool {
        self.integral
    }

    /// Whether its scale is one that a decimal can have.
    pub(super) fn is_in_range(self) -> bool {
        self.integral || self.parts().is_some()
    }

    /// An integer that was written as one; none if it does not fit.
    pub(super) fn as_i64(self) -> Option<i64> {
        if self.integral { self.text.parse().ok() } else { None }
    }

    /// An integer, however it was written: `5.0` and `50e-1` are 5; none if digits would be lost.
    pub(super) fn to_i64(self) -> Option<i64> {
        if self.integral {
            return self.as_i64();
        }
        let decimal = self.to_decimal(0).ok()?;
        i64::try_from(decimal.unscaled()).ok()
    }

    pub(super) fn to_f64(self) -> f64 {
        // The grammar of JSON numbers is a part of what Rust parses, and too large means infinite in both.
        let value = self.text.parse().unwrap_or(f64::NAN);
        if self.integral && value == 0.0 { 0.0 } else { value }
    }

    pub(super) fn to_f32(self) -> f32 {
        let value = self.text.parse().unwrap_or(f32::NAN);
        if self.integral && value == 0.0 { 0.0 } else { value }
    }

    /// The sign, the digits before and behind the point, and the number of digits behind the point that the exponent
    /// leaves; none if that number is no 32-bit integer.
    fn parts(self) -> Option<(bool, &'a str, &'a str, i32)> {
        let (negative, text) = self.text.strip_prefix('-').map_or((false, self.text), |text| (true, text));
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let exponent: i32 = exponent.parse().ok()?;
        let scale = i64::try_from(fraction.len()).ok()? - i64::from(exponent);
        Some((negative, whole, fraction, i32::try_from(scale).ok()?))
    }

    /// The decimal with exactly this scale.
    ///
    /// # Errors
    /// Fails if digits other than zero would be lost, or if it would be absurdly long.
    pub(super) fn to_decimal(self, scale: i32) -> Result<Decimal, DataError> {
        let too_long = || DataError::new(format!("`{}` has too many digits for the scale {scale}", self.text));
        let (negative, whole, fraction, own) = self.parts().ok_or_else(too_long)?;
        let mut digits = String::with_capacity(self.text.len() + 1);
        if negative {
            digits.push('-');
        }
        digits.push_str(whole);
        digits.push_str(fraction);
        if !digits.bytes().any(|digit| matches!(digit, b'1'..=b'9')) {
            return Ok(Decimal::new(0, scale));
        }
        let missing = i64::from(scale) - i64::from(own);
        match usize::try_from(missing) {
            Ok(zeros) if zeros + digits.len() <= DECIMAL_DIGITS_MAX => digits.extend(std::iter::repeat_n('0', zeros)),
            Ok(_) => return Err(too_long()),
            Err(_) => {
                let surplus = usize::try_from(-missing).map_err(|_| too_long())?;
                let kept =
                    digits.len().checked_sub(surplus).filter(|&kept| digits[kept..].bytes().all(|digit| digit == b'0'));
                digits.truncate(kept.ok_or_else(|| {
                    DataError::new(format!(
                        "`{}` has more digits behind the point than the scale {scale} allows",
                        self.text
                    ))
                })?);
            }
        }
        let unscaled: BigInt = digits.parse().map_err(|_| too_long())?;
        Ok(Decimal::new(unscaled, scale))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Number<'_> {
        Number::new(text, !text.contains(['.', 'e', 'E']))
    }

    #[test]
    fn integers_may_be_written_in_other_ways() {
        for (text, value) in [
            ("5", Some(5)),
            ("007", Some(7)),
            ("-007", Some(-7)),
            ("5.0", Some(5)),
            ("50e-1", Some(5)),
            ("1e2", Some(100)),
            ("-0.0", Some(0)),
            ("0e999", Some(0)),
            ("9223372036854775807", Some(i64::MAX)),
            ("-9223372036854775808", Some(i64::MIN)),
            ("9223372036854775808", None),
            ("5.5", None),
            ("1e-1", None),
            ("1e19", None),
            ("1e2147483647", None),
            ("1e-2147483647", None),
        ] {
            assert_eq!(number(text).to_i64(), value, "{text}");
        }
    }

    #[test]
    fn decimals_are_brought_to_their_scale() {
        for (text, scale, unscaled) in [
            ("12", 2, Some(1200)),
            ("12.34", 2, Some(1234)),
            ("12.340", 2, Some(1234)),
            ("12.345", 2, None),
            ("-12.3", 2, Some(-1230)),
            ("1e5", 2, Some(10_000_000)),
            ("1200", -2, Some(12)),
            ("1250", -2, None),
            ("0.000", 2, Some(0)),
            ("-0.001", 2, None),
            ("0e2147483647", 2, Some(0)),
            ("1e2147483647", 0, None),
            ("1e-2147483646", 0, None),
            ("1", i32::MAX, None),
            ("1", i32::MIN, None),
        ] {
            let decimal = number(text).to_decimal(scale).ok();
            assert_eq!(decimal, unscaled.map(|unscaled: i64| Decimal::new(unscaled, scale)), "{text}");
        }
    }

    #[test]
    fn floats_keep_the_sign_of_zero_only_when_written_as_floats() {
        assert_eq!(number("-0").to_f64().to_bits(), 0.0f64.to_bits());
        assert_eq!(number("-0.0").to_f64().to_bits(), (-0.0f64).to_bits());
        assert!(number("1e400").to_f64().is_infinite());
        assert!(number("3.5e38").to_f32().is_infinite());
        assert_eq!(number("2.47032822920623273e-324").to_f64().to_bits(), 1);
    }
}
