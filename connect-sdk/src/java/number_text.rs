//! The text of floating point and decimal numbers as Java 17 writes it.
//!
//! Java before 19 does not always write the shortest text that reads back as the same number: `2.0E23` comes out as
//! `1.9999999999999998E23`. Text that is compared with what a Java worker wrote must follow, so the digits are developed
//! here by the same steps as in `Double.toString`.

use std::cmp::Ordering;

use num_bigint::{BigInt, BigUint};

use crate::data::Decimal;

/// The text of a 64-bit number, as `Double.toString`: `1.0E10`, `0.001`, `NaN`, `-Infinity`.
#[must_use]
pub fn double_text(value: f64) -> String {
    let mut out = Vec::with_capacity(TEXT_BYTES_MAX);
    write_double(value, &mut out);
    out.into_iter().map(char::from).collect()
}

/// The text of a 32-bit number, as `Float.toString`.
#[must_use]
pub fn float_text(value: f32) -> String {
    let mut out = Vec::with_capacity(TEXT_BYTES_MAX);
    write_float(value, &mut out);
    out.into_iter().map(char::from).collect()
}

/// Appends what [`double_text`] gives; nothing else is allocated, but for the largest and smallest numbers.
pub fn write_double(value: f64, out: &mut Vec<u8>) {
    let bits = value.to_bits();
    let fraction = bits & ((1 << 52) - 1);
    write_text(value, Parts::new(fraction, bits >> 52 & 0x7ff, 52, 1023), out);
}

/// Appends what [`float_text`] gives.
pub fn write_float(value: f32, out: &mut Vec<u8>) {
    let bits = value.to_bits();
    let fraction = u64::from(bits & ((1 << 23) - 1));
    write_text(value.into(), Parts::new(fraction, u64::from(bits >> 23 & 0xff), 23, 127), out);
}

/// The text of a decimal number, as `BigDecimal.toString`: `1.50`, `1E+3`, `1E-7`.
#[must_use]
pub fn decimal_text(value: &Decimal) -> String {
    let sign = if value.unscaled() < &BigInt::ZERO { "-" } else { "" };
    let digits = value.unscaled().magnitude().to_string();
    let scale = i64::from(value.scale());
    let length = i64::try_from(digits.len()).unwrap_or(i64::MAX);
    let exponent = length - 1 - scale;
    if scale == 0 {
        return format!("{sign}{digits}");
    }
    if scale > 0 && exponent >= -6 {
        return match usize::try_from(length - scale) {
            Ok(point) if point > 0 => format!("{sign}{}.{}", &digits[..point], &digits[point..]),
            // The point stands at most six places before the first digit.
            _ => format!("{sign}0.{}{digits}", "0".repeat(usize::try_from(scale - length).unwrap_or(0))),
        };
    }
    let (first, rest) = digits.split_at(1);
    let point = if rest.is_empty() { "" } else { "." };
    match exponent {
        0 => format!("{sign}{first}{point}{rest}"),
        _ => format!("{sign}{first}{point}{rest}E{exponent:+}"),
    }
}

/// A binary number taken apart: `mantissa` * 2^(`exponent` - 52), normalised so that bit 52 is set.
struct Parts {
    mantissa: u64,
    exponent: i32,
    /// How many bits of the mantissa carry information.
    precision: i32,
}

impl Parts {
    fn new(fraction: u64, biased: u64, width: i32, bias: i32) -> Option<Self> {
        let biased = i32::try_from(biased).expect("at most eleven bits");
        if biased == 0 && fraction == 0 {
            return None;
        }
        let aligned = fraction << (52 - width);
        Some(if biased == 0 {
            let shift = i32::try_from(aligned.leading_zeros()).expect("at most 64") - 11;
            Self { mantissa: aligned << shift, exponent: 1 - shift - bias, precision: width + 1 - shift }
        } else {
            Self { mantissa: aligned | 1 << 52, exponent: biased - bias, precision: width + 1 }
        })
    }
}

/// Room for the text of any number but decimals: sign, digits, point and exponent.
const TEXT_BYTES_MAX: usize = 28;
/// More digits than 64 bits can yield.
const DIGITS_MAX: usize = 26;

/// Decimal digits, as ASCII: the value is 0.d1d2d3.. * 10^`exponent`.
struct Digits {
    digits: [u8; DIGITS_MAX],
    length: usize,
    exponent: i32,
}

impl Digits {
    const fn new() -> Self {
        Self { digits: [b'0'; DIGITS_MAX], length: 0, exponent: 0 }
    }

    fn push(&mut self, digit: u8) {
        self.digits[self.length] = b'0' + digit;
        self.length += 1;
    }

    fn as_bytes(&self) -> &[u8] {
        &self.digits[..self.length]
    }
}

fn write_text(value: f64, parts: Option<Parts>, out: &mut Vec<u8>) {
    if value.is_nan() {
        return out.extend_from_slice(b"NaN");
    }
    if value.is_sign_negative() {
        out.push(b'-');
    }
    match parts {
        _ if value.is_infinite() => out.extend_from_slice(b"Infinity"),
        None => out.extend_from_slice(b"0.0"),
        Some(parts) => layout(&develop(&parts), out),
    }
}

fn layout(number: &Digits, out: &mut Vec<u8>) {
    let digits = number.as_bytes();
    let unless_empty = |digits: &mut dyn Iterator<Item = u8>, out: &mut Vec<u8>| {
        let start = out.len();
        out.extend(digits);
        if out.len() == start {
            out.push(b'0');
        }
    };
    match number.exponent {
        point @ 1..8 => {
            let whole = usize::try_from(point).expect("between 1 and 7");
            let mut padded =
                digits.iter().copied().chain(std::iter::repeat_n(b'0', whole.saturating_sub(digits.len())));
            out.extend(padded.by_ref().take(whole));
            out.push(b'.');
            unless_empty(&mut padded, out);
        }
        point @ -2..=0 => {
            out.extend_from_slice(b"0.");
            out.extend(std::iter::repeat_n(b'0', usize::try_from(-point).expect("between 0 and 2")));
            out.extend_from_slice(digits);
        }
        point => {
            out.push(digits[0]);
            out.push(b'.');
            unless_empty(&mut digits[1..].iter().copied(), out);
            out.push(b'E');
            write_exponent(point - 1, out);
        }
    }
}

/// An exponent has at most three digits.
fn write_exponent(exponent: i32, out: &mut Vec<u8>) {
    if exponent < 0 {
        out.push(b'-');
    }
    let magnitude = exponent.unsigned_abs();
    for unit in [100, 10, 1] {
        if magnitude >= unit || unit == 1 {
            out.push(b'0' + u8::try_from(magnitude / unit % 10).expect("one digit"));
        }
    }
}

/// How many bits 5^n has, for the n whose power fits 64 bits.
const BITS_OF_5: [i32; 27] =
    [0, 3, 5, 7, 10, 12, 14, 17, 19, 21, 24, 26, 28, 31, 33, 35, 38, 40, 42, 45, 47, 49, 52, 54, 56, 59, 61];

fn bits_of_5(power: i32) -> i32 {
    usize::try_from(power).ok().and_then(|power| BITS_OF_5.get(power).copied()).unwrap_or(power.saturating_mul(3))
}

fn develop(number: &Parts) -> Digits {
    let tail = i32::try_from(number.mantissa.trailing_zeros()).expect("at most 64");
    // Significant bits, and how many of them stand right of the binary point.
    let significant = 53 - tail;
    let tiny = (significant - number.exponent - 1).max(0);
    if tiny == 0 && (-21..=62).contains(&number.exponent) {
        return whole_number(number);
    }

    let mut point = estimate(number);
    let (b5, s5) = ((-point).max(0), point.max(0));
    let mut b2 = b5 + tiny + number.exponent;
    let mut s2 = s5 + tiny;
    let mut m2 = b2 - number.precision;
    b2 -= significant - 1;
    let common = b2.min(s2);
    b2 -= common;
    s2 -= common;
    m2 -= common;
    if significant == 1 {
        // Below a power of two the neighbours are half as far away.
        m2 -= 1;
    }
    if m2 < 0 {
        b2 -= m2;
        s2 -= m2;
        m2 = 0;
    }
    let bits = (significant + b2 + bits_of_5(b5)).max(s2 + 1 + bits_of_5(s5 + 1));
    let mantissa = number.mantissa >> tail;
    let mut digits = Digits::new();
    let up = if bits < 64 {
        let power = |five: i32, two: i32| 5i64.pow(five.unsigned_abs()) << two;
        let mantissa = i64::try_from(mantissa).expect("53 bits");
        let start = Narrow { b: mantissa * power(b5, b2), s: power(s5, s2), m: power(b5, m2), int: bits < 32 };
        generate(start, &mut point, &mut digits)
    } else if bits < 120 {
        let power = |five: i32, two: i32| 5u128.pow(five.unsigned_abs()) << two;
        let start = Middle { b: power(b5, b2) * u128::from(mantissa), s: power(s5, s2), m: power(b5, m2) };
        generate(start, &mut point, &mut digits)
    } else {
        let power = |five: i32, two: i32| BigUint::from(5u8).pow(five.unsigned_abs()) << two.unsigned_abs();
        generate(Wide { b: power(b5, b2) * mantissa, s: power(s5, s2), m: power(b5, m2) }, &mut point, &mut digits)
    };
    digits.exponent = point + 1;
    if up {
        round_up(&mut digits);
    }
    digits
}

/// What is left of a number, `b` / `s`, and how far away its neighbours are, `m` / `s`.
trait Remainder {
    /// Takes the next digit off; what is left and the distance grow by ten.
    fn take(&mut self) -> u8;
    /// Whether what is left may be dropped.
    fn low(&self) -> bool;
    /// Whether what is left may be rounded up.
    fn high(&self) -> bool;
    /// How twice of what is left compares to one digit.
    fn compare_to_half(&self) -> Ordering;
}

/// Java counts in `int` or `long` where numbers fit, but the distance may overflow, which shows in the last digit.
struct Narrow {
    b: i64,
    s: i64,
    m: i64,
    int: bool,
}

impl Narrow {
    fn wrap(&self, value: i64) -> i64 {
        #[expect(clippy::cast_possible_truncation, reason = "as Java's int arithmetic")]
        if self.int { i64::from(value as i32) } else { value }
    }
}

impl Remainder for Narrow {
    fn take(&mut self) -> u8 {
        let digit = self.b / self.s;
        self.b = 10 * (self.b % self.s);
        self.m = self.wrap(self.m.wrapping_mul(10));
        u8::try_from(digit).expect("one digit")
    }

    fn low(&self) -> bool {
        self.m <= 0 || self.b < self.m
    }

    fn high(&self) -> bool {
        self.m <= 0 || self.wrap(self.b.wrapping_add(self.m)) > 10 * self.s
    }

    fn compare_to_half(&self) -> Ordering {
        self.wrap((self.b << 1).wrapping_sub(10 * self.s)).cmp(&0)
    }
}

/// As [`Wide`], for numbers that fit.
struct Middle {
    b: u128,
    s: u128,
    m: u128,
}

impl Remainder for Middle {
    fn take(&mut self) -> u8 {
        let digit = self.b / self.s;
        self.b = self.b % self.s * 10;
        self.m *= 10;
        u8::try_from(digit).expect("one digit")
    }

    fn low(&self) -> bool {
        self.b < self.m
    }

    fn high(&self) -> bool {
        self.b + self.m >= self.s * 10
    }

    fn compare_to_half(&self) -> Ordering {
        (self.b * 2).cmp(&(self.s * 10))
    }
}

struct Wide {
    b: BigUint,
    s: BigUint,
    m: BigUint,
}

impl Remainder for Wide {
    fn take(&mut self) -> u8 {
        let digit = &self.b / &self.s;
        self.b = (&self.b % &self.s) * 10u8;
        self.m *= 10u8;
        u8::try_from(digit).expect("one digit")
    }

    fn low(&self) -> bool {
        self.b < self.m
    }

    fn high(&self) -> bool {
        &self.b + &self.m >= &self.s * 10u8
    }

    fn compare_to_half(&self) -> Ordering {
        (&self.b * 2u8).cmp(&(&self.s * 10u8))
    }
}

/// Takes digits until what is left is nearer to this number than its neighbours are; tells whether to round up.
fn generate(mut left: impl Remainder, point: &mut i32, digits: &mut Digits) -> bool {
    let first = left.take();
    let (mut low, mut high) = (left.low(), left.high());
    if first == 0 && !high {
        *point -= 1;
    } else {
        digits.push(first);
    }
    // A number that is written with an exponent has at least two digits, needed or not.
    if !(-3..8).contains(point) {
        low = false;
        high = false;
    }
    while !low && !high {
        digits.push(left.take());
        low = left.low();
        high = left.high();
    }
    high && (!low
        || match left.compare_to_half() {
            Ordering::Less => false,
            // A digit in ASCII is odd where its number is.
            Ordering::Equal => digits.as_bytes().last().is_some_and(|digit| digit % 2 == 1),
            Ordering::Greater => true,
        })
}

/// A number without fraction below 2^63: its own decimal digits, less those that its precision does not carry.
fn whole_number(number: &Parts) -> Digits {
    let mut value = if number.exponent >= 52 {
        number.mantissa << (number.exponent - 52)
    } else {
        number.mantissa >> (52 - number.exponent)
    };
    let mut exponent = 0;
    let spare_bits = number.exponent - number.precision - 1;
    if spare_bits > 1 {
        // As many digits as 2^spare_bits has, less one.
        let dropped = (1u64 << spare_bits).ilog10();
        let unit = 10u64.pow(dropped);
        let rest = value % unit;
        value /= unit;
        exponent += i32::try_from(dropped).expect("below 20");
        if rest >= unit / 2 && dropped > 0 {
            value += 1;
        }
    }
    while value.is_multiple_of(10) {
        value /= 10;
        exponent += 1;
    }
    let mut number = Digits::new();
    let mut unit = 10u64.pow(value.ilog10());
    while unit > 0 {
        number.push(u8::try_from(value / unit % 10).expect("one digit"));
        unit /= 10;
    }
    number.exponent = exponent + i32::try_from(number.length).expect("below 20");
    number
}

/// The factor that Java uses, which is not the nearest to the logarithm of 2.
#[expect(clippy::approx_constant, reason = "the estimate has to be Java's")]
const LOG10_2: f64 = 0.301029995663981;

/// The decimal exponent, or one more.
fn estimate(number: &Parts) -> i32 {
    let mantissa = f64::from_bits(1023 << 52 | number.mantissa & ((1 << 52) - 1));
    let estimate = (mantissa - 1.5) * 0.289529654 + 0.176091259 + f64::from(number.exponent) * LOG10_2;
    #[expect(clippy::cast_possible_truncation, reason = "exponents of doubles lie between -324 and 308")]
    let floor = estimate.floor() as i32;
    floor
}

fn round_up(number: &mut Digits) {
    let length = number.length;
    for digit in number.digits[..length].iter_mut().rev() {
        if *digit < b'9' {
            *digit += 1;
            return;
        }
        *digit = b'0';
    }
    number.exponent += 1;
    number.digits[0] = b'1';
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_read_as_java_writes_them() {
        for (value, text) in [
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (1.0, "1.0"),
            (100.0, "100.0"),
            (1e7, "1.0E7"),
            (9_999_999.0, "9999999.0"),
            (1e10, "1.0E10"),
            (0.001, "0.001"),
            (0.0001, "1.0E-4"),
            (0.1, "0.1"),
            (-1.5, "-1.5"),
            (std::f64::consts::PI, "3.141592653589793"),
            (123_456_789.125, "1.23456789125E8"),
            (1e23, "9.999999999999999E22"),
            (2e23, "1.9999999999999998E23"),
            (2.2250738585072014E-308, "2.2250738585072014E-308"),
            (f64::MIN_POSITIVE / 4.0, "5.562684646268003E-309"),
            (4.9e-324, "4.9E-324"),
            (f64::MAX, "1.7976931348623157E308"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "-Infinity"),
            (9_007_199_254_740_993.0, "9.007199254740992E15"),
        ] {
            assert_eq!(double_text(value), text);
            if value.is_finite() {
                assert_eq!(double_text(value).parse::<f64>().unwrap().to_bits(), value.to_bits());
            }
        }
    }

    #[test]
    fn floats_read_as_java_writes_them() {
        for (value, text) in [
            (0.1, "0.1"),
            (1.0, "1.0"),
            (1e10, "1.0E10"),
            (3.4028235e38, "3.4028235E38"),
            (1.4e-45, "1.4E-45"),
            (16_777_216.0, "1.6777216E7"),
            (123_456_790.0, "1.23456792E8"),
            (f32::INFINITY, "Infinity"),
            // Here Java's own arithmetic overflows; the nearest text ends in 6, and in 3.
            (f32::from_bits(0x6a71_17a3), "7.2865685E25"),
            (f32::from_bits(0xa608_f098), "-4.7510544E-16"),
        ] {
            assert_eq!(float_text(value), text);
        }
    }

    #[test]
    fn decimals_read_as_java_writes_them() {
        for (unscaled, scale, text) in [
            (150, 2, "1.50"),
            (-150, 2, "-1.50"),
            (5, 0, "5"),
            (5, 3, "0.005"),
            (0, 2, "0.00"),
            (1, -3, "1E+3"),
            (12, -3, "1.2E+4"),
            (1, 7, "1E-7"),
            (1, 6, "0.000001"),
            (-123, 10, "-1.23E-8"),
            (0, -2, "0E+2"),
        ] {
            assert_eq!(decimal_text(&Decimal::new(unscaled, scale)), text);
        }
    }
}
