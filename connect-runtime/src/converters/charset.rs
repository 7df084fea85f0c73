//! Charsets by their Java names: text from bytes and bytes from text, as `String` does it in Java.
//!
//! The Unicode encodings and the charsets of one byte a character are Java's to the letter. The East Asian ones come from
//! the encoding standard of the web, whose tables know some characters more.

use std::borrow::Cow;
use std::collections::HashMap;

use bytes::Bytes;
use connect_sdk::data::Text;
use encoding_rs::{EncoderResult, Encoding};

const REPLACEMENT: char = char::REPLACEMENT_CHARACTER;

/// A way to write text as bytes.
#[derive(Debug)]
pub(super) enum Charset {
    Utf8,
    Utf16(Wide),
    Utf32(Wide),
    SingleByte(Box<SingleByte>),
    MultiByte(&'static Encoding),
}

/// The order of bytes in an encoding with units of several bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wide {
    big_endian: bool,
    /// A byte order mark is written in front of text that is not empty.
    writes_mark: bool,
    reads: Marks,
}

/// Which byte order marks are taken as such when bytes are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Marks {
    None,
    Own,
    Both,
}

const fn wide(big_endian: bool, writes_mark: bool, reads: Marks) -> Wide {
    Wide { big_endian, writes_mark, reads }
}

impl Charset {
    /// The charset with this name or alias, in any case.
    pub(super) fn for_name(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        Some(match name.as_str() {
            "utf-8" | "utf8" | "unicode-1-1-utf-8" => Self::Utf8,
            "utf-16" | "utf_16" | "utf16" | "unicode" | "unicodebig" => Self::Utf16(wide(true, true, Marks::Both)),
            "utf-16be" | "utf_16be" | "iso-10646-ucs-2" | "x-utf-16be" | "unicodebigunmarked" => {
                Self::Utf16(wide(true, false, Marks::None))
            }
            "utf-16le" | "utf_16le" | "x-utf-16le" | "unicodelittleunmarked" => {
                Self::Utf16(wide(false, false, Marks::None))
            }
            "x-utf-16le-bom" | "unicodelittle" => Self::Utf16(wide(false, true, Marks::Both)),
            "utf-32" | "utf_32" | "utf32" | "iso-10646-ucs-4" => Self::Utf32(wide(true, false, Marks::Both)),
            "utf-32be" | "utf_32be" | "x-utf-32be" => Self::Utf32(wide(true, false, Marks::Own)),
            "utf-32le" | "utf_32le" | "x-utf-32le" => Self::Utf32(wide(false, false, Marks::Own)),
            "x-utf-32be-bom" | "utf_32be_bom" | "utf-32be-bom" => Self::Utf32(wide(true, true, Marks::Own)),
            "x-utf-32le-bom" | "utf_32le_bom" | "utf-32le-bom" => Self::Utf32(wide(false, true, Marks::Own)),
            _ => match SingleByte::for_name(&name) {
                Some(table) => Self::SingleByte(Box::new(table)),
                None => Self::MultiByte(multi_byte(&name)?),
            },
        })
    }

    pub(super) fn is_utf8(&self) -> bool {
        matches!(self, Self::Utf8)
    }

    /// Appends text; a character that the charset lacks becomes `?`.
    pub(super) fn encode(&self, text: &str, out: &mut Vec<u8>) {
        match self {
            Self::Utf8 => out.extend_from_slice(text.as_bytes()),
            Self::Utf16(wide) => {
                let mark = if wide.writes_mark && !text.is_empty() { Some(0xFEFF) } else { None };
                for unit in mark.into_iter().chain(text.encode_utf16()) {
                    out.extend(if wide.big_endian { unit.to_be_bytes() } else { unit.to_le_bytes() });
                }
            }
            Self::Utf32(wide) => {
                let mark = if wide.writes_mark && !text.is_empty() { Some(0xFEFF) } else { None };
                for unit in mark.into_iter().chain(text.chars().map(u32::from)) {
                    out.extend(if wide.big_endian { unit.to_be_bytes() } else { unit.to_le_bytes() });
                }
            }
            Self::SingleByte(table) => table.encode(text, out),
            Self::MultiByte(encoding) => encode_multi_byte(encoding, text, out),
        }
    }

    /// The text of these bytes; what is not valid becomes U+FFFD. UTF-8 is not copied.
    pub(super) fn decode(&self, bytes: &Bytes) -> Text {
        match self {
            Self::Utf8 => utf8_text(bytes),
            Self::Utf16(wide) => decode_utf16(*wide, bytes),
            Self::Utf32(wide) => decode_utf32(*wide, bytes),
            Self::SingleByte(table) => table.decode(bytes),
            Self::MultiByte(encoding) => match encoding.decode_without_bom_handling(bytes) {
                // Nothing was converted: the bytes are ASCII.
                (Cow::Borrowed(_), false) => utf8_text(bytes),
                (text, _) => Text::from(text),
            },
        }
    }
}

/// The text of bytes in UTF-8, sharing their buffer; what is not valid becomes U+FFFD.
///
/// Half a surrogate pair, three bytes, becomes one U+FFFD as in Java, not three.
pub(super) fn utf8_text(bytes: &Bytes) -> Text {
    if let Ok(text) = Text::try_from(bytes.clone()) {
        return text;
    }
    let mut out = String::with_capacity(bytes.len() + 8);
    let mut rest = &bytes[..];
    while !rest.is_empty() {
        let (valid, invalid) = match std::str::from_utf8(rest) {
            Ok(text) => (text, 0),
            Err(error) => {
                let bad = &rest[error.valid_up_to()..];
                let text = std::str::from_utf8(&rest[..error.valid_up_to()]).unwrap_or_default();
                let length = match *bad {
                    [0xED, 0xA0..=0xBF, 0x80..=0xBF, ..] => 3,
                    [0xED, 0xA0..=0xBF] => 2,
                    _ => error.error_len().unwrap_or(bad.len()),
                };
                (text, length)
            }
        };
        out.push_str(valid);
        if invalid > 0 {
            out.push(REPLACEMENT);
        }
        rest = &rest[valid.len() + invalid..];
    }
    Text::from(out)
}

/// The byte order and what is left behind the byte order mark.
fn behind_mark<'a>(wide: Wide, bytes: &'a [u8], big: &[u8], little: &[u8]) -> (bool, &'a [u8]) {
    for (mark, big_endian) in [(big, true), (little, false)] {
        let counts = wide.reads == Marks::Both || wide.reads == Marks::Own && wide.big_endian == big_endian;
        if let Some(rest) = bytes.strip_prefix(mark).filter(|_| counts) {
            return (big_endian, rest);
        }
    }
    (wide.big_endian, bytes)
}

fn decode_utf16(wide: Wide, bytes: &[u8]) -> Text {
    let (big_endian, content) = behind_mark(wide, bytes, &[0xFE, 0xFF], &[0xFF, 0xFE]);
    let (pairs, odd) = content.as_chunks::<2>();
    let mut units =
        pairs.iter().map(|pair| if big_endian { u16::from_be_bytes(*pair) } else { u16::from_le_bytes(*pair) });
    let mut out = String::with_capacity(content.len());
    let mut cut_off = !odd.is_empty();
    while let Some(unit) = units.next() {
        let char = match unit {
            // A high surrogate takes the unit behind it along, whether it fits or not.
            0xD800..=0xDBFF => {
                let low = units.next();
                cut_off &= low.is_some();
                low.and_then(|low| char::decode_utf16([unit, low]).next()?.ok())
            }
            unit => char::from_u32(unit.into()),
        };
        out.push(char.unwrap_or(REPLACEMENT));
    }
    if cut_off {
        out.push(REPLACEMENT);
    }
    Text::from(out)
}

fn decode_utf32(wide: Wide, bytes: &[u8]) -> Text {
    let (big_endian, content) = behind_mark(wide, bytes, &[0, 0, 0xFE, 0xFF], &[0xFF, 0xFE, 0, 0]);
    let (fours, odd) = content.as_chunks::<4>();
    let unit = |four: &[u8; 4]| if big_endian { u32::from_be_bytes(*four) } else { u32::from_le_bytes(*four) };
    let mut out: String = fours.iter().map(|four| char::from_u32(unit(four)).unwrap_or(REPLACEMENT)).collect();
    if !odd.is_empty() {
        out.push(REPLACEMENT);
    }
    Text::from(out)
}

/// A charset of one byte a character, whose lower half is ASCII.
#[derive(Debug)]
pub(super) struct SingleByte {
    chars: [char; 256],
    bytes: HashMap<char, u8>,
}

impl SingleByte {
    fn for_name(name: &str) -> Option<Self> {
        Some(match name {
            "us-ascii" | "ascii" | "ascii7" | "iso646-us" | "iso_646.irv:1991" | "iso_646.irv:1983"
            | "ansi_x3.4-1968" | "ansi_x3.4-1986" | "iso-ir-6" | "us" | "ibm367" | "cp367" | "csascii" | "default"
            | "646" => Self::new(|byte| byte.is_ascii().then(|| char::from(byte))),
            "iso-8859-1" | "iso8859_1" | "iso8859-1" | "iso_8859-1" | "iso_8859-1:1987" | "iso_8859_1" | "8859_1"
            | "iso-ir-100" | "latin1" | "l1" | "ibm819" | "ibm-819" | "cp819" | "819" | "csisolatin1" => {
                Self::new(|byte| Some(char::from(byte)))
            }
            "iso-8859-9" | "iso8859_9" | "iso8859-9" | "iso_8859-9" | "8859_9" | "latin5" | "l5" | "iso-ir-148"
            | "iso_8859-9:1989" | "ibm920" | "ibm-920" | "cp920" | "920" | "csisolatin5" => Self::new(|byte| {
                Some(match byte {
                    0xD0 => 'Ğ',
                    0xDD => 'İ',
                    0xDE => 'Ş',
                    0xF0 => 'ğ',
                    0xFD => 'ı',
                    0xFE => 'ş',
                    _ => char::from(byte),
                })
            }),
            "tis-620" | "tis620" | "tis620.2533" => Self::new(|byte| match byte {
                0xA0 => Some('\u{A0}'),
                _ => thai(byte),
            }),
            "iso-8859-11" | "iso8859_11" | "x-iso-8859-11" => Self::new(|byte| match byte {
                0x80..=0xA0 => Some(char::from(byte)),
                _ => thai(byte),
            }),
            _ => {
                let encoding =
                    Encoding::for_label(java_label(name).as_bytes()).filter(|encoding| is_single_byte(encoding))?;
                let controls = !encoding.name().starts_with("windows");
                Self::new(|byte| {
                    if let Some((.., javas)) =
                        JAVAS_OWN.iter().find(|(of, at, _)| *of == encoding.name() && *at == byte)
                    {
                        return *javas;
                    }
                    let (text, failed) = encoding.decode_without_bom_handling(std::slice::from_ref(&byte));
                    let char = text.chars().next()?;
                    // Where the web puts control characters Java has nothing.
                    (!failed && (controls || !('\u{80}'..='\u{9F}').contains(&char))).then_some(char)
                })
            }
        })
    }

    fn new(char_of: impl Fn(u8) -> Option<char>) -> Self {
        let mut chars = [REPLACEMENT; 256];
        let mut bytes = HashMap::new();
        for byte in 0..=u8::MAX {
            if let Some(char) = char_of(byte) {
                chars[usize::from(byte)] = char;
                bytes.entry(char).or_insert(byte);
            }
        }
        Self { chars, bytes }
    }

    fn encode(&self, text: &str, out: &mut Vec<u8>) {
        if text.is_ascii() {
            out.extend_from_slice(text.as_bytes());
        } else {
            out.extend(text.chars().map(|char| self.bytes.get(&char).copied().unwrap_or(b'?')));
        }
    }

    fn decode(&self, bytes: &Bytes) -> Text {
        if bytes.is_ascii() {
            return utf8_text(bytes);
        }
        Text::from(bytes.iter().map(|byte| self.chars[usize::from(*byte)]).collect::<String>())
    }
}

/// Bytes for which Java and the web have different characters.
const JAVAS_OWN: [(&str, u8, Option<char>); 6] = [
    ("windows-1255", 0xCA, None),
    ("KOI8-U", 0xAE, Some('╝')),
    ("KOI8-U", 0xBE, Some('╬')),
    ("x-mac-cyrillic", 0xA2, Some('¢')),
    ("x-mac-cyrillic", 0xB6, Some('∂')),
    ("x-mac-cyrillic", 0xFF, Some('¤')),
];

fn thai(byte: u8) -> Option<char> {
    match byte {
        0..=0x7F => Some(char::from(byte)),
        0xA1..=0xDA | 0xDF..=0xFB => char::from_u32(0x0E01 + u32::from(byte) - 0xA1),
        _ => None,
    }
}

fn is_single_byte(encoding: &'static Encoding) -> bool {
    encoding.is_single_byte() && encoding != encoding_rs::X_USER_DEFINED
}

fn multi_byte(name: &str) -> Option<&'static Encoding> {
    let encoding = Encoding::for_label(java_label(name).as_bytes())?;
    let known = !encoding.is_single_byte()
        && ![encoding_rs::REPLACEMENT, encoding_rs::UTF_8, encoding_rs::UTF_16BE, encoding_rs::UTF_16LE]
            .contains(&encoding);
    known.then_some(encoding)
}

/// The web's name for a charset that Java knows under another one.
fn java_label(name: &str) -> String {
    let renamed = match name {
        "sjis" | "shift-jis" | "x-sjis" | "shift_jis" | "ms932" | "windows-932" => "shift_jis",
        "eucjp" | "euc_jp" | "eucjis" => "euc-jp",
        "jis" | "iso2022jp" => "iso-2022-jp",
        "euc_kr" | "ks_c_5601-1987" | "ksc5601" | "ms949" | "x-windows-949" | "windows949" => "euc-kr",
        "euc_cn" | "euccn" | "euc-cn" | "gb2312-1980" | "gb2312-80" => "gb2312",
        "ms936" | "cp936" | "windows-936" => "gbk",
        "gb18030-2000" => "gb18030",
        "big5_hkscs" | "big5hk" | "big5-hkscs:unicode3.0" => "big5-hkscs",
        "ms950" | "x-windows-950" => "big5",
        "macroman" | "x-macroman" => "macintosh",
        "maccyrillic" | "x-maccyrillic" => "x-mac-cyrillic",
        "koi8_r" => "koi8-r",
        "koi8_u" => "koi8-u",
        "ms874" | "cp874" | "x-windows-874" => "windows-874",
        name => {
            // Java writes `ISO8859_15` and `8859_15` for ISO-8859-15, and `Cp1252` for windows-1252.
            let part = name.strip_prefix("iso8859_").or_else(|| name.strip_prefix("8859_"));
            return part.map_or_else(|| name.to_owned(), |part| format!("iso-8859-{part}"));
        }
    };
    renamed.to_owned()
}

fn encode_multi_byte(encoding: &'static Encoding, text: &str, out: &mut Vec<u8>) {
    if encoding != encoding_rs::GBK {
        return encode_part(encoding, text, out);
    }
    for (index, part) in text.split('€').enumerate() {
        if index > 0 {
            // The web's single byte for the euro sign is unknown to Java.
            out.extend_from_slice(&[0xA2, 0xE3]);
        }
        encode_part(encoding, part, out);
    }
}

fn encode_part(encoding: &'static Encoding, text: &str, out: &mut Vec<u8>) {
    let mut encoder = encoding.new_encoder();
    let mut rest = text;
    loop {
        let room = encoder.max_buffer_length_from_utf8_without_replacement(rest.len()).unwrap_or(rest.len() * 4 + 16);
        let start = out.len();
        out.resize(start + room, 0);
        let (result, read, written) = encoder.encode_from_utf8_without_replacement(rest, &mut out[start..], true);
        out.truncate(start + written);
        rest = &rest[read..];
        match result {
            EncoderResult::InputEmpty => return,
            EncoderResult::Unmappable(_) => out.push(b'?'),
            EncoderResult::OutputFull => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encode(name: &str, text: &str) -> Vec<u8> {
        let mut out = Vec::new();
        Charset::for_name(name).unwrap().encode(text, &mut out);
        out
    }

    fn decode(name: &str, bytes: &[u8]) -> String {
        Charset::for_name(name).unwrap().decode(&Bytes::copy_from_slice(bytes)).as_str().to_owned()
    }

    #[test]
    fn byte_order_marks_are_javas() {
        assert_eq!(encode("UTF-16", "a"), b"\xfe\xff\0a");
        assert_eq!(encode("UTF-16", ""), b"");
        assert_eq!(encode("UTF-16LE", "a"), b"a\0");
        assert_eq!(encode("x-UTF-16LE-BOM", "a"), b"\xff\xfea\0");
        assert_eq!(encode("UTF-32", "a"), b"\0\0\0a");
        assert_eq!(encode("X-UTF-32LE-BOM", "a"), b"\xff\xfe\0\0a\0\0\0");
        for (name, bytes, text) in [
            ("UTF-16", &b"\xff\xfea\0"[..], "a"),
            ("UTF-16", b"\0a", "a"),
            ("UTF-16", b"\xfe\xff\xfe\xff\0a", "\u{feff}a"),
            ("UTF-16BE", b"\xfe\xff\0a", "\u{feff}a"),
            ("x-UTF-16LE-BOM", b"\xfe\xff\0a", "a"),
            ("UTF-32BE", b"\0\0\xfe\xff\0\0\0a", "a"),
            ("UTF-32BE", b"\xff\xfe\0\0", "\u{fffd}"),
            ("UTF-8", b"\xef\xbb\xbfa", "\u{feff}a"),
        ] {
            assert_eq!(decode(name, bytes), text, "{name} {bytes:?}");
        }
    }

    #[test]
    fn invalid_bytes_are_replaced_as_often_as_in_java() {
        for (name, bytes, text) in [
            ("UTF-8", &b"\xed\xa0\x80x"[..], "\u{fffd}x"),
            ("UTF-8", b"\xed\xa0\xbd\xed\xb8\x80", "\u{fffd}\u{fffd}"),
            ("UTF-8", b"\xed\xa0", "\u{fffd}"),
            ("UTF-8", b"\xf0\x9f\x98A", "\u{fffd}A"),
            ("UTF-8", b"\xe0\x80\x80", "\u{fffd}\u{fffd}\u{fffd}"),
            ("UTF-8", b"a\xffb", "a\u{fffd}b"),
            ("UTF-16BE", b"\xd8\x00\x00a", "\u{fffd}"),
            ("UTF-16BE", b"\xdc\x00\x00a", "\u{fffd}a"),
            ("UTF-16BE", b"\xd8\x00\x00", "\u{fffd}"),
            ("UTF-16BE", b"\0ab", "a\u{fffd}"),
        ] {
            assert_eq!(decode(name, bytes), text, "{name} {bytes:?}");
        }
    }

    #[test]
    fn latin_1_is_not_windows_1252() {
        assert_eq!(decode("ISO-8859-1", b"\x80\xe9"), "\u{80}é");
        assert_eq!(decode("windows-1252", b"\x80\x81\xe9"), "€\u{fffd}é");
        assert_eq!(encode("latin1", "é€\u{81}😀"), b"\xe9?\x81?");
        assert_eq!(encode("Cp1252", "é€\u{81}😀"), b"\xe9\x80??");
        assert_eq!(encode("ASCII", "é"), b"?");
        assert_eq!(encode("ISO8859_15", "€"), b"\xa4");
        assert_eq!(encode("ISO-8859-9", "ğÐ"), b"\xf0?");
    }

    #[test]
    fn characters_of_several_bytes_are_converted() {
        assert_eq!(encode("Shift_JIS", "日é本"), b"\x93\xfa?\x96\x7b");
        assert_eq!(decode("EUC-JP", b"\xc6\xfc\xcb\xdc"), "日本");
        assert_eq!(encode("GB18030", "😀"), b"\x94\x39\xfc\x36");
        assert_eq!(decode("GBK", b"plain"), "plain");
        assert_eq!(encode("GBK", "a€€b"), b"a\xa2\xe3\xa2\xe3b");
        assert_eq!(decode("GBK", b"\xa2\xe3"), "€");
    }

    #[test]
    fn unknown_names_are_unknown() {
        for name in ["no-such", "", "UTF_8", "replacement", "x-user-defined", "IBM037"] {
            assert!(Charset::for_name(name).is_none(), "{name}");
        }
    }
}
