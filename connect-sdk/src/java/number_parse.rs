//! Numbers as `Long.parseLong`, `Double.parseDouble` and `Float.parseFloat` read them.

/// Decimal digits with an optional sign, within 64 bits; every script's digits count, as in Java.
#[must_use]
pub fn parse_long(text: &str) -> Option<i64> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if digits.is_empty() {
        return None;
    }
    // Counted downwards, because the least number has no positive twin.
    let mut value = 0i64;
    for c in digits.chars() {
        value = value.checked_mul(10)?.checked_sub(i64::from(digit(c)?))?;
    }
    if negative { Some(value) } else { value.checked_neg() }
}

/// The zeros of Unicode's decimal digits in the basic plane: nine more digits follow each.
const ZEROS: [u32; 37] = [
    0x30, 0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xde6, 0xe50, 0xed0,
    0xf20, 0x1040, 0x1090, 0x17e0, 0x1810, 0x1946, 0x19d0, 0x1a80, 0x1a90, 0x1b50, 0x1bb0, 0x1c40, 0x1c50, 0xa620,
    0xa8d0, 0xa900, 0xa9d0, 0xa9f0, 0xaa50, 0xabf0, 0xff10,
];

fn digit(c: char) -> Option<u8> {
    let code = u32::from(c);
    ZEROS.iter().find_map(|zero| code.checked_sub(*zero).filter(|d| *d < 10)).and_then(|d| u8::try_from(d).ok())
}

/// As `Double.parseDouble`, on text without blanks around it.
#[must_use]
pub fn parse_double(text: &str) -> Option<f64> {
    parse(text, decimal, |double| double)
}

/// As `Float.parseFloat`, on text without blanks around it.
#[must_use]
pub fn parse_float(text: &str) -> Option<f32> {
    #[expect(clippy::cast_possible_truncation, reason = "what does not fit becomes infinite, as in Java")]
    parse(text, decimal, |double| double as f32)
}

/// `decimal` reads decimal digits, `narrow` makes the number of the rest: it is rounded once where it can be.
fn parse<F: std::ops::Neg<Output = F>>(text: &str, decimal: fn(&str) -> Option<F>, narrow: fn(f64) -> F) -> Option<F> {
    let (negative, unsigned) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let magnitude = match unsigned {
        "NaN" => narrow(f64::NAN),
        "Infinity" => narrow(f64::INFINITY),
        _ => {
            let bare = unsigned.strip_suffix(['d', 'D', 'f', 'F']);
            if let Some(hex) = unsigned.strip_prefix("0x").or_else(|| unsigned.strip_prefix("0X")) {
                narrow(hex_double(hex.strip_suffix(['d', 'D', 'f', 'F']).unwrap_or(hex))?)
            } else {
                decimal(bare.unwrap_or(unsigned))?
            }
        }
    };
    Some(if negative { -magnitude } else { magnitude })
}

fn decimal<F: std::str::FromStr>(text: &str) -> Option<F> {
    let plain = text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E' | b'+' | b'-'));
    if !plain || !text.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return None;
    }
    text.parse().ok()
}

/// Digits of a hexadecimal floating point number, `1.8p3`, with the prefix taken off.
fn hex_double(text: &str) -> Option<f64> {
    let (mantissa, exponent) = text.split_once(['p', 'P'])?;
    let sign_less = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    if sign_less.is_empty() || !sign_less.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    // Beyond this the result is zero or infinite whatever the mantissa, within the length that a value may have.
    let mut exponent = exponent.parse::<i64>().unwrap_or(if exponent.starts_with('-') { -1 << 40 } else { 1 << 40 });
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let mut bits = 0u128;
    for (after_point, c) in whole.chars().map(|c| (false, c)).chain(fraction.chars().map(|c| (true, c))) {
        let digit = u128::from(c.to_digit(16)?);
        if bits >> 120 == 0 {
            bits = bits << 4 | digit;
            exponent -= if after_point { 4 } else { 0 };
        } else {
            // The digits beyond 120 bits only decide how to round.
            bits |= u128::from(digit != 0);
            exponent += if after_point { 0 } else { 4 };
        }
    }
    Some(scale(bits, exponent))
}

/// `bits * 2^exponent`, rounded once to the nearest even.
fn scale(bits: u128, exponent: i64) -> f64 {
    if bits == 0 {
        return 0.0;
    }
    let length = i64::from(128 - bits.leading_zeros());
    let top = length + exponent;
    if top > 1024 {
        return f64::INFINITY;
    }
    // A normal number keeps 53 bits, one below 2^-1022 as many as stand above 2^-1074.
    let keep = if top >= -1021 { 53 } else { top + 1074 };
    if keep < 0 {
        return 0.0;
    }
    let drop = length - keep;
    let (mut kept, mut exponent) = (bits, exponent);
    if drop > 0 {
        let drop = u32::try_from(drop).unwrap_or(128);
        kept = bits.checked_shr(drop).unwrap_or(0);
        let rest = if drop >= 128 { bits } else { bits & ((1u128 << drop) - 1) };
        let half = 1u128 << (drop - 1).min(127);
        if rest > half || (rest == half && kept & 1 == 1) {
            kept += 1;
        }
        exponent += i64::from(drop);
    }
    // At most 54 bits are left, and the two factors are exact powers of two: nothing is rounded again.
    #[allow(clippy::cast_precision_loss, reason = "at most 54 bits, the last of them zero when there are 54")]
    let value = kept as f64;
    let half = i32::try_from(exponent / 2).unwrap_or(0);
    let other = i32::try_from(exponent - exponent / 2).unwrap_or(0);
    value * 2f64.powi(half) * 2f64.powi(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_read_as_java_reads_them() {
        for (text, expected) in [
            ("-9223372036854775808", Some(i64::MIN)),
            ("9223372036854775808", None),
            ("+7", Some(7)),
            ("\u{661}\u{662}", Some(12)),
            ("", None),
            ("+", None),
            ("--1", None),
            ("1_0", None),
        ] {
            assert_eq!(parse_long(text), expected, "{text}");
        }
    }

    #[test]
    fn doubles_are_read_as_java_reads_them() {
        for (text, expected) in [
            ("1e3", Some(1000.0)),
            (".5", Some(0.5)),
            ("1.", Some(1.0)),
            ("1d", Some(1.0)),
            ("-1F", Some(-1.0)),
            ("0x1p3", Some(8.0)),
            ("0x.8p1", Some(1.0)),
            ("0x1.fffffffffffffp1023", Some(f64::MAX)),
            ("0x1p-1074", Some(5e-324)),
            ("0x1p-1075", Some(0.0)),
            ("0x1.8p-1075", Some(5e-324)),
            ("0x1p1024", Some(f64::INFINITY)),
            ("1e400", Some(f64::INFINITY)),
            ("-Infinity", Some(f64::NEG_INFINITY)),
            ("inf", None),
            ("nan", None),
            (".", None),
            ("1,5", None),
            ("0x1", None),
            ("e5", None),
        ] {
            assert_eq!(parse_double(text), expected, "{text}");
        }
        // Rounded once: by way of a double it would be 16777216.
        assert_eq!(parse_float("16777217.0000001"), Some(16_777_218.0));
        assert_eq!(parse_float("0x1p3"), Some(8.0));
        assert_eq!(parse_float("-1e39"), Some(f32::NEG_INFINITY));
        assert_eq!(parse_float(" 1"), None);
    }
}
