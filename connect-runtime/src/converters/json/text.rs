//! Strings and numbers as Kafka Connect's JSON writes them, byte for byte: keys of compacted topics depend on it.

use connect_sdk::data::Decimal;
use connect_sdk::java::number_text::{self, decimal_text};

use super::scanner::special_bytes;

/// Appends a string in quotes.
///
/// Control characters are escaped, and characters beyond U+FFFF become two escapes; all others stand for themselves.
pub(super) fn write_string(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    let bytes = text.as_bytes();
    let mut done = 0;
    let mut at = 0;
    while let Some(next) = next_escaped(bytes, at) {
        out.extend_from_slice(&bytes[done..next]);
        let length = escape(text, next, out);
        done = next + length;
        at = done;
    }
    out.extend_from_slice(&bytes[done..]);
    out.push(b'"');
}

const HIGH: u64 = u64::from_ne_bytes([0x80; 8]);

/// The position, from `start` on, of the first byte that begins an escaped character.
fn next_escaped(bytes: &[u8], start: usize) -> Option<usize> {
    let (words, tail) = bytes[start..].as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        // Bytes from 0xF0 on, whose four highest bits are set, begin the characters beyond U+FFFF.
        let beyond = word & word << 1 & word << 2 & word << 3 & HIGH;
        let special = special_bytes(word) | beyond;
        if special != 0 {
            return Some(start + index * 8 + (special.trailing_zeros() / 8) as usize);
        }
    }
    let tail_start = start + words.len() * 8;
    let in_tail = tail.iter().position(|&byte| byte < 0x20 || byte == b'"' || byte == b'\\' || byte >= 0xF0)?;
    Some(tail_start + in_tail)
}

/// Appends the escape for the character at this position; tells how many bytes the character has.
fn escape(text: &str, at: usize, out: &mut Vec<u8>) -> usize {
    let byte = text.as_bytes()[at];
    let short = match byte {
        b'"' | b'\\' => byte,
        0x08 => b'b',
        0x0c => b'f',
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        _ => {
            let char = text[at..].chars().next().unwrap_or_default();
            for unit in char.encode_utf16(&mut [0; 2]) {
                out.extend_from_slice(b"\\u");
                out.extend([12, 8, 4, 0].map(|shift| HEX[usize::from(*unit >> shift & 15)]));
            }
            return char.len_utf8();
        }
    };
    out.extend_from_slice(&[b'\\', short]);
    1
}

const HEX: [u8; 16] = *b"0123456789ABCDEF";

/// Appends an integer.
pub(super) fn write_integer(value: i64, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// Appends a 64-bit number; the three that JSON does not have become strings.
pub(super) fn write_double(value: f64, out: &mut Vec<u8>) {
    quoted_unless(value.is_finite(), out, |out| number_text::write_double(value, out));
}

/// Appends a 32-bit number; the three that JSON does not have become strings.
pub(super) fn write_float(value: f32, out: &mut Vec<u8>) {
    quoted_unless(value.is_finite(), out, |out| number_text::write_float(value, out));
}

fn quoted_unless(finite: bool, out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    if finite {
        return write(out);
    }
    out.push(b'"');
    write(out);
    out.push(b'"');
}

/// Appends a decimal as a number.
pub(super) fn write_decimal(value: &Decimal, out: &mut Vec<u8>) {
    match (i64::try_from(value.unscaled()), value.scale()) {
        (Ok(unscaled), 0) => write_integer(unscaled, out),
        (Ok(unscaled), scale @ 1..=6) => {
            // Up to six digits behind the point there never is an exponent.
            let unit = 10u64.pow(scale.unsigned_abs());
            let magnitude = unscaled.unsigned_abs();
            if unscaled < 0 {
                out.push(b'-');
            }
            out.extend_from_slice(itoa::Buffer::new().format(magnitude / unit).as_bytes());
            // The unit in front keeps the leading zeros; its 1 makes room for the point.
            let start = out.len();
            out.extend_from_slice(itoa::Buffer::new().format(unit + magnitude % unit).as_bytes());
            out[start] = b'.';
        }
        _ => out.extend_from_slice(decimal_text(value).as_bytes()),
    }
}

/// Appends, in base64 and quotes, the bytes of a decimal's unscaled number.
pub(super) fn write_decimal_bytes(value: &Decimal, out: &mut Vec<u8>) {
    out.push(b'"');
    match i64::try_from(value.unscaled()) {
        Ok(unscaled) => {
            let bytes = unscaled.to_be_bytes();
            // The sign needs one bit: as many bytes at the front as repeat it are left out.
            let same = if unscaled < 0 { unscaled.leading_ones() } else { unscaled.leading_zeros() };
            super::base64::encode(&bytes[(same as usize - 1) / 8..], out);
        }
        Err(_) => super::base64::encode(&value.to_be_bytes(), out),
    }
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn string(text: &str) -> String {
        let mut out = Vec::new();
        write_string(text, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn strings_are_escaped_as_java_does() {
        for (text, json) in [
            ("plain", r#""plain""#),
            ("", r#""""#),
            ("a\"b\\c/", r#""a\"b\\c/""#),
            ("\u{8}\u{c}\n\r\t", r#""\b\f\n\r\t""#),
            ("\0\u{1f}\u{7f}", "\"\\u0000\\u001F\u{7f}\""),
            ("é日\u{2028}\u{ffff}", "\"é日\u{2028}\u{ffff}\""),
            ("😀x", r#""\uD83D\uDE00x""#),
            ("eight by\"tes and 😀 more\n", r#""eight by\"tes and \uD83D\uDE00 more\n""#),
        ] {
            assert_eq!(string(text), json);
        }
    }

    #[test]
    fn the_escaped_character_is_found_wherever_it_is() {
        for length in 0..40 {
            let plain = "é".repeat(length);
            assert_eq!(string(&format!("{plain}\n日本")), format!("\"{plain}\\n日本\""));
            let plain = "\u{7f}".repeat(length);
            assert_eq!(string(&format!("{plain}😀")), format!("\"{plain}\\uD83D\\uDE00\""));
        }
    }

    #[test]
    fn small_decimals_are_written_like_large_ones() {
        for unscaled in
            [0, 1, -1, 9, 10, 127, 128, 255, 256, -128, -129, 32767, -32768, 1_234_567, -1_234_567, i64::MAX, i64::MIN]
        {
            for scale in 0..=6 {
                let value = Decimal::new(unscaled, scale);
                let (mut fast, mut bytes, mut slow) = (Vec::new(), Vec::new(), vec![b'"']);
                write_decimal(&value, &mut fast);
                assert_eq!(String::from_utf8(fast).unwrap(), decimal_text(&value));
                write_decimal_bytes(&value, &mut bytes);
                super::super::base64::encode(&value.to_be_bytes(), &mut slow);
                slow.push(b'"');
                assert_eq!(bytes, slow, "{unscaled}");
            }
        }
    }
}
