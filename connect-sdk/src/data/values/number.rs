//! Decimal numbers as text, as `BigDecimal` reads them, and what Java casts them to.

use crate::data::{BigInt, Decimal};

/// How many digits a number in a text has at most; longer ones are not taken as numbers.
///
/// Reading a number takes time with the square of its length.
pub const DIGITS_MAX: usize = 1000;

/// A number: the sign, the significant digits, and how many of them stand after the point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Number {
    negative: bool,
    /// ASCII digits without leading zeros; empty for zero.
    digits: String,
    scale: i32,
}

impl Number {
    /// Reads `[+-] digits [. digits] [e [+-] digits]`, with digits of any script and at least one before the exponent.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (negative, unsigned) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (mantissa, exponent) = match unsigned.find(['e', 'E']) {
            Some(at) => (&unsigned[..at], parse_exponent(&unsigned[at + 1..])?),
            None => (unsigned, 0),
        };
        let mut digits = String::new();
        let mut fraction = None;
        let mut any = false;
        for char in mantissa.chars() {
            if char == '.' && fraction.is_none() {
                fraction = Some(0i64);
                continue;
            }
            let digit = digit_value(char)?;
            any = true;
            fraction = fraction.map(|count| count + 1);
            if digit != 0 || !digits.is_empty() {
                digits.push(char::from(b'0' + digit));
            }
            if digits.len() > DIGITS_MAX {
                return None;
            }
        }
        let scale = i32::try_from(fraction.unwrap_or(0) - exponent).ok()?;
        any.then_some(Self { negative, digits, scale })
    }

    pub(super) fn to_decimal(&self) -> Decimal {
        let magnitude: BigInt =
            if self.digits.is_empty() { BigInt::ZERO } else { self.digits.parse().expect("ASCII digits are a number") };
        Decimal::new(if self.negative { -magnitude } else { magnitude }, self.scale)
    }

    pub(super) fn scale(&self) -> i32 {
        self.scale
    }

    /// How many digits stand before the point; zero or less if the number is below one.
    fn whole_digits(&self) -> i64 {
        i64::try_from(self.digits.len()).expect("bounded above") - i64::from(self.scale)
    }

    /// The number as an integer, if it is one and fits 64 bits.
    pub(super) fn exact_integer(&self) -> Option<i64> {
        let significant = self.digits.trim_end_matches('0');
        if significant.is_empty() {
            return Some(0);
        }
        let whole = usize::try_from(self.whole_digits()).ok()?;
        if !(significant.len()..=19).contains(&whole) {
            return None;
        }
        let sign = if self.negative { "-" } else { "" };
        format!("{sign}{significant:0<whole$}").parse().ok()
    }

    /// As Java's `BigDecimal.longValue`: the fraction is cut, then the upper bits; a large power of ten gives 0.
    pub(super) fn to_i64_wrapping(&self) -> i64 {
        let Ok(whole) = usize::try_from(self.whole_digits()) else { return 0 };
        if self.scale <= -64 {
            return 0;
        }
        let digits = self.digits.bytes().map(|digit| u64::from(digit - b'0')).chain(std::iter::repeat(0));
        let magnitude = digits.take(whole).fold(0u64, |sum, digit| sum.wrapping_mul(10).wrapping_add(digit));
        let signed = magnitude.cast_signed();
        if self.negative { signed.wrapping_neg() } else { signed }
    }

    /// The nearest 64-bit number; infinite beyond its range.
    pub(super) fn to_f64(&self) -> f64 {
        self.scientific().parse().expect("a number in scientific notation")
    }

    /// The nearest 32-bit number; infinite beyond its range.
    pub(super) fn to_f32(&self) -> f32 {
        self.scientific().parse().expect("a number in scientific notation")
    }

    fn scientific(&self) -> String {
        let sign = if self.negative { "-" } else { "" };
        format!("{sign}0{}e{}", self.digits, -i64::from(self.scale))
    }

    /// Whether both are the same number, whatever the scale.
    pub(super) fn equals(&self, other: &Self) -> bool {
        let (digits, other_digits) = (self.digits.trim_end_matches('0'), other.digits.trim_end_matches('0'));
        digits == other_digits
            && (digits.is_empty() || self.negative == other.negative && self.whole_digits() == other.whole_digits())
    }
}

impl From<&Decimal> for Number {
    fn from(decimal: &Decimal) -> Self {
        let digits = decimal.unscaled().magnitude().to_string();
        Self {
            negative: decimal.unscaled() < &BigInt::ZERO,
            digits: if digits == "0" { String::new() } else { digits },
            scale: decimal.scale(),
        }
    }
}

fn parse_exponent(text: &str) -> Option<i64> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let mut exponent = 0i64;
    for char in digits.chars() {
        exponent = exponent * 10 + i64::from(digit_value(char)?);
        // Ten digits are what Java reads; whether the scale fits is checked by the caller.
        if exponent > 9_999_999_999 {
            return None;
        }
    }
    (!digits.is_empty()).then_some(if negative { -exponent } else { exponent })
}

/// The zeros of the decimal digits of all scripts that fit 16 bits, which is what Java looks at.
const ZEROS: [u32; 37] = [
    0x0030, 0x0660, 0x06F0, 0x07C0, 0x0966, 0x09E6, 0x0A66, 0x0AE6, 0x0B66, 0x0BE6, 0x0C66, 0x0CE6, 0x0D66, 0x0DE6,
    0x0E50, 0x0ED0, 0x0F20, 0x1040, 0x1090, 0x17E0, 0x1810, 0x1946, 0x19D0, 0x1A80, 0x1A90, 0x1B50, 0x1BB0, 0x1C40,
    0x1C50, 0xA620, 0xA8D0, 0xA900, 0xA9D0, 0xA9F0, 0xAA50, 0xABF0, 0xFF10,
];

/// The value of a decimal digit of any script.
pub(super) fn digit_value(char: char) -> Option<u8> {
    let code = u32::from(char);
    let at = ZEROS.partition_point(|&zero| zero <= code).checked_sub(1)?;
    u8::try_from(code - ZEROS[at]).ok().filter(|digit| *digit <= 9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_big_decimal_reads_them() {
        for (text, unscaled, scale) in [
            ("5", 5, 0),
            ("-1.50", -150, 2),
            ("+.5", 5, 1),
            ("5.", 5, 0),
            ("1e3", 1, -3),
            ("1.5E-3", 15, 4),
            ("007", 7, 0),
            ("0.00", 0, 2),
            ("\u{661}\u{662}", 12, 0),
            ("1e0000000000003", 1, -3),
        ] {
            assert_eq!(
                Number::parse(text).map(|number| number.to_decimal()),
                Some(Decimal::new(unscaled, scale)),
                "{text}"
            );
        }
        for text in [
            "",
            "-",
            ".",
            "e5",
            "1e",
            "1e+",
            "1.2.3",
            "1_0",
            "0x1",
            "--1",
            "1 ",
            "NaN",
            "1e99999999999",
            "1e2147483649",
            "\u{2460}",
        ] {
            assert_eq!(Number::parse(text), None, "{text}");
        }
        assert_eq!(Number::parse(&"1".repeat(DIGITS_MAX + 1)), None);
    }

    #[test]
    fn exact_integers_are_found_whatever_their_notation() {
        for (text, integer) in [
            ("1.0", Some(1)),
            ("1e3", Some(1000)),
            ("-0.0", Some(0)),
            ("1.5", None),
            ("0.1", None),
            ("9223372036854775807", Some(i64::MAX)),
            ("-9223372036854775808.000", Some(i64::MIN)),
            ("9223372036854775808", None),
            ("1e19", None),
            ("1e2147483647", None),
            ("1e-2147483647", None),
            ("0e2147483647", Some(0)),
        ] {
            assert_eq!(Number::parse(text).unwrap().exact_integer(), integer, "{text}");
        }
    }

    #[test]
    fn casts_are_javas() {
        for (text, long) in [
            ("1.9", 1),
            ("-1.9", -1),
            ("0.5", 0),
            ("9223372036854775808", i64::MIN),
            ("18446744073709551617", 1),
            ("1e63", -9_223_372_036_854_775_808),
            ("1e64", 0),
            ("1e400", 0),
            ("1e-400", 0),
        ] {
            assert_eq!(Number::parse(text).unwrap().to_i64_wrapping(), long, "{text}");
        }
        assert_eq!(Number::parse("1e400").unwrap().to_f64(), f64::INFINITY);
        assert_eq!(Number::parse("-1e-2147483647").unwrap().to_f64(), -0.0);
        assert_eq!(Number::parse("3.4e39").unwrap().to_f32(), f32::INFINITY);
    }

    #[test]
    fn numbers_are_equal_whatever_their_scale() {
        let equal = |a: &str, b: &str| Number::parse(a).unwrap().equals(&Number::parse(b).unwrap());
        assert!(equal("1.50", "1.5") && equal("1e3", "1000") && equal("0", "-0.00") && equal("0.001", "1E-3"));
        assert!(!equal("1", "-1") && !equal("1", "10") && !equal("1.5", "1.51"));
    }
}
