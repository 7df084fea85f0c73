//! Which of the Unicode encodings a JSON text is in: UTF-8 as a rule, or UTF-16 and UTF-32, told by the first bytes.

use std::borrow::Cow;

use bytes::Bytes;
use connect_sdk::data::DataError;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Encoding {
    Utf8,
    Utf16 { big_endian: bool },
    Utf32 { big_endian: bool },
}

/// The text in UTF-8, without byte order mark; only text in another encoding is copied.
pub(super) fn to_utf8(bytes: &Bytes) -> Result<Cow<'_, Bytes>, DataError> {
    // A text of ASCII and UTF-8, which is nearly every one, is told by its first two bytes.
    if let [1..=0x7f, 1..=0x7f, ..] = bytes[..] {
        return Ok(Cow::Borrowed(bytes));
    }
    let (encoding, mark) = detect(bytes)?;
    let content = &bytes[mark..];
    match encoding {
        Encoding::Utf8 if mark == 0 => Ok(Cow::Borrowed(bytes)),
        Encoding::Utf8 => Ok(Cow::Owned(bytes.slice(mark..))),
        Encoding::Utf16 { big_endian } => {
            let (pairs, rest) = content.as_chunks::<2>();
            let unit = |pair: &[u8; 2]| if big_endian { u16::from_be_bytes(*pair) } else { u16::from_le_bytes(*pair) };
            let text: Result<String, _> = char::decode_utf16(pairs.iter().map(unit)).collect();
            text.ok().filter(|_| rest.is_empty()).ok_or_else(|| malformed("UTF-16"))
        }
        .map(|text| Cow::Owned(Bytes::from(text))),
        Encoding::Utf32 { big_endian } => {
            let (fours, rest) = content.as_chunks::<4>();
            let unit = |four: &[u8; 4]| if big_endian { u32::from_be_bytes(*four) } else { u32::from_le_bytes(*four) };
            let text: Option<String> = fours.iter().map(|four| char::from_u32(unit(four))).collect();
            text.filter(|_| rest.is_empty()).ok_or_else(|| malformed("UTF-32"))
        }
        .map(|text| Cow::Owned(Bytes::from(text))),
    }
}

fn malformed(name: &str) -> DataError {
    DataError::new(format!("invalid JSON: the text begins like {name}, but is not valid {name}"))
}

/// The encoding and the length of the byte order mark. A text of fewer than four bytes is not looked at for a mark.
fn detect(bytes: &[u8]) -> Result<(Encoding, usize), DataError> {
    Ok(match *bytes {
        [0x00, 0x00, 0xfe, 0xff, ..] => (Encoding::Utf32 { big_endian: true }, 4),
        [0xff, 0xfe, 0x00, 0x00, ..] => (Encoding::Utf32 { big_endian: false }, 4),
        [0xfe, 0xff, _, _, ..] => (Encoding::Utf16 { big_endian: true }, 2),
        [0xff, 0xfe, _, _, ..] => (Encoding::Utf16 { big_endian: false }, 2),
        [0xef, 0xbb, 0xbf, _, ..] => (Encoding::Utf8, 3),
        [0x00, 0x00, 0x00, _, ..] => (Encoding::Utf32 { big_endian: true }, 0),
        [_, 0x00, 0x00, 0x00, ..] => (Encoding::Utf32 { big_endian: false }, 0),
        [0x00, _, 0x00, 0x00, ..] | [0x00, 0x00, _, 0x00, ..] => {
            return Err(DataError::new("invalid JSON: UTF-32 with swapped halves is not supported"));
        }
        [0x00, _, ..] => (Encoding::Utf16 { big_endian: true }, 0),
        [_, 0x00, ..] => (Encoding::Utf16 { big_endian: false }, 0),
        _ => (Encoding::Utf8, 0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_encoding_is_told_with_and_without_mark() {
        let text = "[\"é😀\"]";
        let utf16 = |convert: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(convert).collect::<Vec<u8>>();
        let utf32 = |convert: fn(u32) -> [u8; 4]| text.chars().flat_map(|c| convert(u32::from(c))).collect::<Vec<u8>>();
        for (mark, encoded) in [
            (&b"\xef\xbb\xbf"[..], text.as_bytes().to_vec()),
            (b"\xfe\xff", utf16(u16::to_be_bytes)),
            (b"\xff\xfe", utf16(u16::to_le_bytes)),
            (b"\x00\x00\xfe\xff", utf32(u32::to_be_bytes)),
            (b"\xff\xfe\x00\x00", utf32(u32::to_le_bytes)),
        ] {
            for mark in [mark, b""] {
                let bytes = Bytes::from([mark, &encoded].concat());
                assert_eq!(&to_utf8(&bytes).unwrap()[..], text.as_bytes(), "{bytes:?}");
            }
        }
    }

    #[test]
    fn broken_text_is_refused() {
        for bytes in
            [&b"\xfe\xff\xd8\x00\x00\x31"[..], b"\x00[\x00", b"\x00\x00\x00[\x00\x11\x00\x00", b"\x00\x00[\x00\x00"]
        {
            let bytes = Bytes::from_static(bytes);
            to_utf8(&bytes).unwrap_err();
        }
    }

    #[test]
    fn short_texts_are_utf8_or_utf16() {
        for (bytes, text) in
            [(&b""[..], &b""[..]), (b"1", b"1"), (b" \x00", b" "), (b"\x001", b"1"), (b"\xef\xbb\xbf", b"\xef\xbb\xbf")]
        {
            assert_eq!(&to_utf8(&Bytes::from_static(bytes)).unwrap()[..], text);
        }
    }
}
