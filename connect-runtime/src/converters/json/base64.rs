//! Base64 as Kafka Connect's JSON has it: the standard alphabet with padding.

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{GeneralPurpose, GeneralPurposeConfig};
use connect_sdk::data::DataError;

/// Bits behind the last byte are not looked at, as in Java.
const ENGINE: GeneralPurpose =
    GeneralPurpose::new(&STANDARD, GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true));

/// Appends the text of these bytes.
pub(super) fn encode(bytes: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    let length = bytes.len().div_ceil(3) * 4;
    out.resize(start + length, 0);
    let written = ENGINE.encode_slice(bytes, &mut out[start..]);
    debug_assert_eq!(written.ok(), Some(length), "base64 with padding has four characters for three bytes");
}

/// The bytes of a text; blanks between groups of four are skipped.
pub(super) fn decode(text: &str) -> Result<Vec<u8>, DataError> {
    ENGINE.decode(text).or_else(|error| {
        let mut groups = Groups { text: text.as_bytes(), out: Vec::with_capacity(text.len() / 4 * 3) };
        match groups.run() {
            Some(()) => Ok(groups.out),
            None => Err(DataError::new(format!("the text is not base64: {error}"))),
        }
    })
}

/// The slow path: groups one by one, blanks in front of each, padding in any of them.
struct Groups<'a> {
    text: &'a [u8],
    out: Vec<u8>,
}

impl Groups<'_> {
    fn run(&mut self) -> Option<()> {
        loop {
            self.text = self.text.trim_ascii_start();
            let Some((group, rest)) = self.text.split_at_checked(4) else {
                return self.text.is_empty().then_some(());
            };
            ENGINE.decode_vec(group, &mut self.out).ok()?;
            self.text = rest;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_java_accepts_is_accepted() {
        for (text, bytes) in [
            ("", &b""[..]),
            ("AAH+", b"\x00\x01\xfe"),
            ("AAH+\n", b"\x00\x01\xfe"),
            (" AAH+ AAH+", b"\x00\x01\xfe\x00\x01\xfe"),
            ("AB==", b"\x00"),
            ("AA==AA==", b"\x00\x00"),
        ] {
            assert_eq!(decode(text).unwrap(), bytes, "{text:?}");
        }
        for text in ["AA", "AA=", "A", "AA\nH+", "-_-_", "=AAA", "A=AA", "AA=A", "é", "AAH+A"] {
            decode(text).unwrap_err();
        }
    }

    #[test]
    fn encoding_appends() {
        let mut out = b"x".to_vec();
        encode(b"\x00\x01\xfe\xff", &mut out);
        assert_eq!(out, b"xAAH+/w==");
        encode(b"", &mut out);
        assert_eq!(out, b"xAAH+/w==");
    }
}
