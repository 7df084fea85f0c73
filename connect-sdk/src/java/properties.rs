//! Java's `.properties` files.
//!
//! The rules are those of `java.util.Properties.load`, with two differences on purpose: a file is read as UTF-8 if it
//! is valid UTF-8, else as Latin-1, which is all that Java reads; and a mistake is told with its line.

use std::collections::BTreeMap;
use std::fmt;

/// A file that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PropertiesError {
    line: usize,
    message: String,
}

impl PropertiesError {
    /// The line of the mistake, counted from one.
    #[must_use]
    pub fn line(&self) -> usize {
        self.line
    }
}

impl fmt::Display for PropertiesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for PropertiesError {}

/// Reads a file. Of a key that stands there more than once, the last value holds.
///
/// # Errors
/// A `\u` escape without four hexadecimal digits, or one that is half of a character.
pub fn load(bytes: &[u8]) -> Result<BTreeMap<String, String>, PropertiesError> {
    match std::str::from_utf8(bytes) {
        Ok(text) => load_text(text.strip_prefix('\u{feff}').unwrap_or(text)),
        Err(_) => load_text(&bytes.iter().map(|byte| char::from(*byte)).collect::<String>()),
    }
}

/// Reads the text of a file.
///
/// # Errors
/// As [`load`].
pub fn load_text(text: &str) -> Result<BTreeMap<String, String>, PropertiesError> {
    let mut properties = BTreeMap::new();
    let mut lines = Lines { chars: text.chars().peekable(), line: 1, two_characters: false };
    while let Some((line, chars)) = lines.next_logical() {
        let (key, value) = split(&chars);
        properties.insert(unescape(key, line)?, unescape(value, line)?);
    }
    Ok(properties)
}

/// Writes properties so that [`load`] (and Java) reads the same ones: one a line, only ASCII.
#[must_use]
pub fn render<'a>(properties: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let mut out = String::new();
    for (key, value) in properties {
        escape(key, true, &mut out);
        out.push('=');
        escape(value, false, &mut out);
        out.push('\n');
    }
    out
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\u{c}')
}

/// The logical lines of a file: comments left out, continued lines joined, escapes still in place.
struct Lines<'a> {
    chars: std::iter::Peekable<std::str::Chars<'a>>,
    line: usize,
    /// Whether the last line end was `\r\n`.
    two_characters: bool,
}

impl Lines<'_> {
    /// The next character; `\r\n`, `\r` and `\n` are all one `\n`.
    fn next_char(&mut self) -> Option<char> {
        let c = self.chars.next()?;
        self.two_characters = false;
        if c == '\r' {
            self.two_characters = self.chars.next_if_eq(&'\n').is_some();
        }
        if matches!(c, '\r' | '\n') {
            self.line += 1;
            return Some('\n');
        }
        Some(c)
    }

    /// The number of the line where it starts, and its characters.
    fn next_logical(&mut self) -> Option<(usize, Vec<char>)> {
        let mut chars = Vec::new();
        let mut started = self.line;
        let mut skip_blanks = true;
        let mut continued = false;
        let mut escaping = false;
        loop {
            let Some(c) = self.next_char() else {
                if chars.is_empty() {
                    return None;
                }
                // A backslash at the very end continues nothing.
                if escaping {
                    chars.pop();
                }
                return Some((started, chars));
            };
            if skip_blanks {
                if is_blank(c) || (c == '\n' && !continued) {
                    continue;
                }
                skip_blanks = false;
                continued = false;
            }
            if chars.is_empty() {
                started = self.line;
                if c == '#' || c == '!' {
                    while self.next_char().is_some_and(|c| c != '\n') {}
                    skip_blanks = true;
                    continue;
                }
            }
            if c != '\n' {
                chars.push(c);
                escaping = c == '\\' && !escaping;
            } else if chars.is_empty() {
                skip_blanks = true;
            } else if escaping {
                chars.pop();
                (skip_blanks, continued, escaping) = (true, true, false);
                // As LineReader: a file that ends right behind the line end gives this line, even an empty one; the
                // second character of `\r\n` still counts as something that follows.
                if self.chars.peek().is_none() && !self.two_characters {
                    return Some((started, chars));
                }
            } else {
                return Some((started, chars));
            }
        }
    }
}

/// Key and value of a logical line, escapes still in place.
fn split(line: &[char]) -> (&[char], &[char]) {
    let mut escaping = false;
    let mut key_end = line.len();
    for (i, c) in line.iter().enumerate() {
        if !escaping && (matches!(c, '=' | ':') || is_blank(*c)) {
            key_end = i;
            break;
        }
        escaping = *c == '\\' && !escaping;
    }
    let mut rest = &line[key_end..];
    // Blanks, at most one separator, blanks: the separator is taken once.
    let mut separated = false;
    while let [c, tail @ ..] = rest {
        if !is_blank(*c) {
            if separated || !matches!(c, '=' | ':') {
                break;
            }
            separated = true;
        }
        rest = tail;
    }
    (&line[..key_end], rest)
}

fn unescape(chars: &[char], line: usize) -> Result<String, PropertiesError> {
    let wrong = |message: &str| PropertiesError { line, message: message.to_owned() };
    let mut out = String::with_capacity(chars.len());
    // The first half of a pair of `\u` escapes that make one character.
    let mut half: Option<u16> = None;
    let mut rest = chars;
    loop {
        let unit = match rest {
            ['\\', 'u', tail @ ..] => {
                let digits = tail.get(..4).ok_or(()).and_then(|digits| {
                    digits.iter().try_fold(0u16, |unit, c| {
                        let digit = c.to_digit(16).and_then(|digit| u16::try_from(digit).ok()).ok_or(())?;
                        Ok(unit << 4 | digit)
                    })
                });
                let unit = digits.map_err(|()| wrong("malformed `\\u` escape: four hexadecimal digits must follow"))?;
                rest = &tail[4..];
                Some(unit)
            }
            _ => None,
        };
        if let Some(unit) = unit {
            let units: Vec<u16> = half.take().into_iter().chain([unit]).collect();
            match char::decode_utf16(units.iter().copied()).collect::<Result<String, _>>() {
                Ok(text) => out.push_str(&text),
                Err(_) if units.len() == 1 && (0xd800..0xdc00).contains(&unit) => half = Some(unit),
                Err(_) => return Err(wrong("`\\u` escape is half of a surrogate pair")),
            }
            continue;
        }
        if half.is_some() {
            return Err(wrong("`\\u` escape is half of a surrogate pair"));
        }
        match rest {
            [] => return Ok(out),
            ['\\', c, tail @ ..] => {
                out.push(match c {
                    't' => '\t',
                    'n' => '\n',
                    'r' => '\r',
                    'f' => '\u{c}',
                    c => *c,
                });
                rest = tail;
            }
            [c, tail @ ..] => {
                out.push(*c);
                rest = tail;
            }
        }
    }
}

fn escape(text: &str, is_key: bool, out: &mut String) {
    for (i, c) in text.chars().enumerate() {
        match c {
            ' ' if is_key || i == 0 => out.push_str("\\ "),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\u{c}' => out.push_str("\\f"),
            '\\' | '=' | ':' | '#' | '!' => {
                out.push('\\');
                out.push(c);
            }
            ' '..='~' => out.push(c),
            c => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    out.push_str(&format!("\\u{unit:04X}"));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[(&str, &str)]) {
        let expected: BTreeMap<String, String> =
            expected.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        assert_eq!(load(text.as_bytes()), Ok(expected), "{text:?}");
    }

    #[test]
    fn lines_are_joined_and_split_as_java_does() {
        check("a = : b\nb:=c\r\nc d\rd", &[("a", ": b"), ("b", "=c"), ("c", "d"), ("d", "")]);
        check("a=one\\\r\n\t two\\\n\\\n three", &[("a", "onetwothree")]);
        check("a=x\n#c\\\n!d\n  b=y", &[("a", "x"), ("b", "y")]);
        check("a=1\\\n\nb=2", &[("a", "1"), ("b", "2")]);
        check("a\\ \\=\\:b=c\\qd\\", &[("a =:b", "cqd")]);
        check("=v\n\\\n", &[("", "")]);
        check("=v\n\\\r\n", &[("", "v")]);
        check("a=\\uD83D\\uDE00\\u00e9", &[("a", "\u{1f600}\u{e9}")]);
    }

    #[test]
    fn text_is_utf_8_or_else_latin_1() {
        check("\u{feff}a=\u{65e5}", &[("a", "\u{65e5}")]);
        assert_eq!(load(b"a=\xe9").unwrap()["a"], "\u{e9}");
    }

    #[test]
    fn a_malformed_escape_is_told_with_its_line() {
        assert_eq!(
            load(b"# x\n\na=1\nb=\\u12").unwrap_err().to_string(),
            "line 4: malformed `\\u` escape: four hexadecimal digits must follow"
        );
        assert_eq!(load(b"a=\\uD83Dx").unwrap_err().line(), 1);
    }

    proptest::proptest! {
        #[test]
        fn what_is_written_is_read_again(map in proptest::collection::btree_map(".{0,8}", ".{0,12}", 0..6)) {
            let text = render(map.iter().map(|(key, value)| (key.as_str(), value.as_str())));
            proptest::prop_assert!(text.is_ascii());
            proptest::prop_assert_eq!(load(text.as_bytes()), Ok(map));
        }

        #[test]
        fn no_file_panics(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..64)) {
            let _outcome = load(&bytes);
        }

        #[test]
        fn no_escape_panics(text in "[\\\\u0-9a-fD=: #!\n\r\t]{0,24}") {
            let _outcome = load(text.as_bytes());
        }
    }
}
