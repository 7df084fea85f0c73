//! `Scanner`: pulls JSON tokens out of bytes, in the dialect that Kafka Connect's reader accepts.
//!
//! Numbers stay text, text stays a slice. Nothing here recurses, and every token has a limit.

use bytes::Bytes;
use connect_sdk::data::{DataError, Text};

use super::number::Number;

/// How deep lists and objects may be nested, an envelope included.
pub(crate) const LEVELS_MAX: usize = 1000;
/// How many digits a number may have; leading zeros do not count.
pub(crate) const DIGITS_MAX: usize = 1000;
/// How many bytes of UTF-8 the name of an object's member may have.
pub(crate) const NAME_BYTES_MAX: usize = 50_000;

/// The beginning of a value; of a list or an object only the opening bracket is consumed.
#[derive(Debug)]
pub(super) enum Token<'a> {
    Null,
    Boolean(bool),
    Number(Number<'a>),
    Text(RawText<'a>),
    Array,
    Object,
}

impl Token<'_> {
    /// What messages call it.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean(_) => "a boolean",
            Self::Number(_) => "a number",
            Self::Text(_) => "a string",
            Self::Array => "an array",
            Self::Object => "an object",
        }
    }
}

/// The content of a string.
#[derive(Debug)]
pub(super) enum RawText<'a> {
    /// Without escapes: the bytes of the input, not yet checked to be UTF-8.
    Plain(&'a [u8]),
    /// With its escapes undone.
    Unescaped(String),
}

impl RawText<'_> {
    pub(super) fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Plain(bytes) => bytes,
            Self::Unescaped(text) => text.as_bytes(),
        }
    }
}

/// A position in a JSON text.
#[derive(Debug, Clone)]
pub(super) struct Scanner<'a> {
    input: &'a [u8],
    /// The buffer that `input` is, if text may be sliced from it.
    shared: Option<&'a Bytes>,
    position: usize,
    depth: usize,
}

impl<'a> Scanner<'a> {
    /// Starts at the beginning of a buffer; text that it yields shares the buffer.
    pub(super) fn shared(bytes: &'a Bytes) -> Self {
        Self { input: bytes, shared: Some(bytes), position: 0, depth: 0 }
    }

    /// Starts at the beginning of bytes from which text is copied.
    pub(super) fn new(input: &'a [u8]) -> Self {
        Self { input, shared: None, position: 0, depth: 0 }
    }

    /// The same text at another position, where a value on this level begins.
    pub(super) fn at(&self, position: usize, depth: usize) -> Self {
        Self { position, depth, ..self.clone() }
    }

    pub(super) fn position(&self) -> usize {
        self.position
    }

    pub(super) fn depth(&self) -> usize {
        self.depth
    }

    /// The input from `start` to here.
    pub(super) fn since(&self, start: usize) -> &'a [u8] {
        &self.input[start..self.position]
    }

    /// The input that is left.
    pub(super) fn rest(&self) -> &'a [u8] {
        &self.input[self.position..]
    }

    /// Goes on behind the next `length` bytes, which the caller has seen in [`rest`](Self::rest).
    pub(super) fn advance(&mut self, length: usize) {
        self.position += length;
    }

    pub(super) fn error(&self, what: impl std::fmt::Display) -> DataError {
        DataError::new(format!("invalid JSON at byte {}: {what}", self.position))
    }

    fn unexpected(&self, wanted: &str) -> DataError {
        match self.input.get(self.position) {
            None => self.error(format_args!("the text ends where {wanted} is expected")),
            Some(&byte) if byte.is_ascii_graphic() => {
                self.error(format_args!("`{}` stands where {wanted} is expected", char::from(byte)))
            }
            Some(byte) => self.error(format_args!("the byte 0x{byte:02X} stands where {wanted} is expected")),
        }
    }

    pub(super) fn skip_blanks(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.input.get(self.position) {
            self.position += 1;
        }
    }

    /// Whether nothing but blanks is left.
    pub(super) fn is_blank(&mut self) -> bool {
        self.skip_blanks();
        self.position == self.input.len()
    }

    /// Checks that nothing but blanks is left.
    pub(super) fn finish(&mut self) -> Result<(), DataError> {
        if self.is_blank() { Ok(()) } else { Err(self.unexpected("the end of the text")) }
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.input.get(self.position) == Some(&byte);
        self.position += usize::from(found);
        found
    }

    /// Reads a value up to the point where its parts begin.
    // Inlined so that the token is matched where it is made, and not moved: a sixth of the time of reading a record.
    #[inline(always)]
    pub(super) fn token(&mut self) -> Result<Token<'a>, DataError> {
        self.skip_blanks();
        match self.input.get(self.position) {
            Some(b'"') => {
                self.position += 1;
                self.text().map(Token::Text)
            }
            Some(b'-' | b'0'..=b'9') => self.number().map(Token::Number),
            Some(b'{') => self.open(Token::Object),
            Some(b'[') => self.open(Token::Array),
            Some(b't') => self.word("true", Token::Boolean(true)),
            Some(b'f') => self.word("false", Token::Boolean(false)),
            Some(b'n') => self.word("null", Token::Null),
            _ => Err(self.unexpected("a value")),
        }
    }

    fn open(&mut self, token: Token<'a>) -> Result<Token<'a>, DataError> {
        if self.depth == LEVELS_MAX {
            return Err(self.error(format_args!("it is nested deeper than {LEVELS_MAX} levels")));
        }
        self.depth += 1;
        self.position += 1;
        Ok(token)
    }

    fn word(&mut self, word: &str, token: Token<'a>) -> Result<Token<'a>, DataError> {
        let rest = self.rest();
        let ends = |byte: &u8| !byte.is_ascii_alphanumeric() && *byte != b'_' && *byte != b'$';
        if rest.starts_with(word.as_bytes()) && rest.get(word.len()).is_none_or(ends) {
            self.position += word.len();
            Ok(token)
        } else {
            Err(self.unexpected("a value"))
        }
    }

    /// After an opening bracket: whether the list or object is empty, in which case it is closed.
    pub(super) fn close_if_empty(&mut self, close: u8) -> bool {
        self.skip_blanks();
        let closed = self.take(close);
        self.depth -= usize::from(closed);
        closed
    }

    /// After a part of a list or object: whether another one follows; if not, the bracket is closed.
    pub(super) fn another(&mut self, close: u8) -> Result<bool, DataError> {
        self.skip_blanks();
        if self.take(b',') {
            return Ok(true);
        }
        if self.take(close) {
            self.depth -= 1;
            return Ok(false);
        }
        Err(self.unexpected(if close == b']' { "`,` or `]`" } else { "`,` or `}`" }))
    }

    /// Reads the name of a member and the colon behind it.
    pub(super) fn name(&mut self) -> Result<RawText<'a>, DataError> {
        self.skip_blanks();
        if !self.take(b'"') {
            return Err(self.unexpected("the name of a member in double quotes"));
        }
        let name = self.text()?;
        if name.as_bytes().len() > NAME_BYTES_MAX {
            return Err(self.error(format_args!("the name of a member is longer than {NAME_BYTES_MAX} bytes")));
        }
        self.skip_blanks();
        if self.take(b':') { Ok(name) } else { Err(self.unexpected("`:`")) }
    }

    /// Reads a string behind its opening quote.
    fn text(&mut self) -> Result<RawText<'a>, DataError> {
        let start = self.position;
        self.position += plain_length(self.rest());
        if self.take(b'"') {
            return Ok(RawText::Plain(&self.input[start..self.position - 1]));
        }
        let mut content = self.since(start).to_vec();
        loop {
            match self.input.get(self.position) {
                Some(b'"') => {
                    self.position += 1;
                    break;
                }
                Some(b'\\') => {
                    self.position += 1;
                    let char = self.escape()?;
                    content.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
                }
                Some(byte) => {
                    return Err(
                        self.error(format_args!("the control character 0x{byte:02X} in a string is not escaped"))
                    );
                }
                None => return Err(self.unexpected("the closing quote of a string")),
            }
            let run = plain_length(self.rest());
            content.extend_from_slice(&self.rest()[..run]);
            self.position += run;
        }
        String::from_utf8(content).map(RawText::Unescaped).map_err(|_| self.not_utf8())
    }

    fn escape(&mut self) -> Result<char, DataError> {
        let Some(&byte) = self.input.get(self.position) else { return Err(self.unexpected("an escape")) };
        let char = match byte {
            b'"' | b'\\' | b'/' => char::from(byte),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => return self.unicode_escape(),
            _ => return Err(self.unexpected(r#"one of `"`, `\`, `/`, `b`, `f`, `n`, `r`, `t`, `u`"#)),
        };
        self.position += 1;
        Ok(char)
    }

    fn unicode_escape(&mut self) -> Result<char, DataError> {
        let first = self.unit()?;
        let second = match first {
            0xD800..=0xDBFF if self.rest().starts_with(b"\\u") => {
                self.position += 1;
                Some(self.unit()?)
            }
            _ => None,
        };
        // Java keeps half a pair in its text and fails when it is to be written; UTF-8 cannot hold one at all.
        let units = [first, second.unwrap_or_default()];
        let mut chars = char::decode_utf16(units.into_iter().take(1 + usize::from(second.is_some())));
        match (chars.next(), chars.next()) {
            (Some(Ok(char)), None) => Ok(char),
            _ => Err(self.error(format_args!("the surrogate `\\u{first:04X}` has no partner, so it is no character"))),
        }
    }

    fn unit(&mut self) -> Result<u16, DataError> {
        let digits = self.rest().get(1..5).filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        let unit = digits.and_then(|digits| u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        match unit {
            Some(unit) => {
                self.position += 5;
                Ok(unit)
            }
            None => Err(self.error("`\\u` is not followed by four hexadecimal digits")),
        }
    }

    fn digits(&mut self) -> usize {
        let count = self.rest().iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.position += count;
        count
    }

    fn number(&mut self) -> Result<Number<'a>, DataError> {
        let start = self.position;
        self.take(b'-');
        let zeros = self.rest().iter().take_while(|&&byte| byte == b'0').count();
        let whole = self.digits();
        if whole == 0 {
            return Err(self.unexpected("a digit"));
        }
        let mut significant = (whole - zeros).max(1);
        let mut integral = true;
        if self.take(b'.') {
            integral = false;
            significant += self.required_digits()?;
        }
        if let Some(b'e' | b'E') = self.input.get(self.position) {
            integral = false;
            self.position += 1;
            if !self.take(b'-') {
                self.take(b'+');
            }
            significant += self.required_digits()?;
        }
        if significant > DIGITS_MAX {
            return Err(self.error(format_args!("a number has more than {DIGITS_MAX} digits")));
        }
        let text = std::str::from_utf8(self.since(start)).expect("a number is made of ASCII");
        let number = Number::new(text, integral);
        if number.is_in_range() { Ok(number) } else { Err(self.error("the exponent of a number is out of range")) }
    }

    fn required_digits(&mut self) -> Result<usize, DataError> {
        match self.digits() {
            0 => Err(self.unexpected("a digit")),
            count => Ok(count),
        }
    }

    fn not_utf8(&self) -> DataError {
        self.error("the string that ends here is not UTF-8")
    }

    /// The text as a value, sharing the input's buffer where that is possible.
    pub(super) fn to_text(&self, raw: RawText<'a>) -> Result<Text, DataError> {
        match raw {
            RawText::Unescaped(text) => Ok(Text::from(text)),
            RawText::Plain([]) => Ok(Text::new()),
            RawText::Plain(bytes) => match self.shared {
                Some(shared) => Text::try_from(shared.slice_ref(bytes)).map_err(|_| self.not_utf8()),
                None => std::str::from_utf8(bytes).map(Text::from).map_err(|_| self.not_utf8()),
            },
        }
    }

    /// The text as `str`.
    pub(super) fn to_str<'r>(&self, raw: &'r RawText<'_>) -> Result<&'r str, DataError> {
        match raw {
            RawText::Unescaped(text) => Ok(text),
            RawText::Plain(bytes) => std::str::from_utf8(bytes).map_err(|_| self.not_utf8()),
        }
    }
}

const ONES: u64 = u64::from_ne_bytes([0x01; 8]);
const HIGH: u64 = u64::from_ne_bytes([0x80; 8]);

/// Marks, by their highest bit, the bytes of a word that a string cannot hold as they are: the quote, the backslash,
/// control characters. Marks above the lowest one may be false.
pub(super) fn special_bytes(word: u64) -> u64 {
    let zeros = |word: u64| word.wrapping_sub(ONES) & !word;
    let quotes = zeros(word ^ (ONES * b'"' as u64));
    let backslashes = zeros(word ^ (ONES * b'\\' as u64));
    let controls = word.wrapping_sub(ONES * 0x20) & !word;
    (quotes | backslashes | controls) & HIGH
}

/// How many bytes from the start on stand for themselves in a string.
fn plain_length(bytes: &[u8]) -> usize {
    let (words, tail) = bytes.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let special = special_bytes(u64::from_le_bytes(*word));
        if special != 0 {
            return index * 8 + (special.trailing_zeros() / 8) as usize;
        }
    }
    let rest = tail.iter().take_while(|&&byte| byte >= 0x20 && byte != b'"' && byte != b'\\').count();
    words.len() * 8 + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_run_is_found_wherever_it_is() {
        for length in 0..40 {
            for stop in *b"\"\\\x00\x1f\n" {
                let mut bytes = vec![b'a'; length];
                bytes.push(stop);
                bytes.extend([0xff, b'"', 0x20, 0x80, 0xc3, 0xa9, b'"', b'x', b'y']);
                assert_eq!(plain_length(&bytes), length, "0x{stop:02X} at {length}");
            }
            let plain = "\u{20}\u{21}\u{23}\u{5b}\u{5d}\u{7f}é😀".repeat(length);
            assert_eq!(plain_length(plain.as_bytes()), plain.len());
        }
    }

    #[test]
    fn text_shares_the_buffer_unless_it_has_escapes() {
        let bytes = Bytes::from_static(b"\"abc\" \"a\\u0062c\"");
        let mut scanner = Scanner::shared(&bytes);
        for shares in [true, false] {
            let Token::Text(raw) = scanner.token().unwrap() else { panic!("a string") };
            let text = scanner.to_text(raw).unwrap();
            assert_eq!(text, "abc");
            assert_eq!(bytes.as_ptr_range().contains(&text.as_ptr()), shares);
        }
    }
}
