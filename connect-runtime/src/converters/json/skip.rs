//! Passing over values that nobody needs: unknown members, and a payload that comes before its schema.

use connect_sdk::data::DataError;

use super::scanner::{LEVELS_MAX, Scanner, Token};

impl Scanner<'_> {
    /// Reads a whole value and keeps nothing of it; it is checked like one that is kept.
    pub(super) fn skip_value(&mut self) -> Result<(), DataError> {
        let mut objects = Levels::default();
        let outer = self.depth();
        loop {
            match self.token()? {
                Token::Array if !self.close_if_empty(b']') => {
                    objects.set(self.depth() - 1, false);
                    continue;
                }
                Token::Object if !self.close_if_empty(b'}') => {
                    objects.set(self.depth() - 1, true);
                    self.skip_name()?;
                    continue;
                }
                Token::Text(text) => {
                    self.to_str(&text)?;
                }
                _ => {}
            }
            loop {
                if self.depth() == outer {
                    return Ok(());
                }
                let in_object = objects.get(self.depth() - 1);
                if self.another(if in_object { b'}' } else { b']' })? {
                    if in_object {
                        self.skip_name()?;
                    }
                    break;
                }
            }
        }
    }

    fn skip_name(&mut self) -> Result<(), DataError> {
        let name = self.name()?;
        self.to_str(&name).map(|_| ())
    }
}

/// Which of the open levels are objects.
#[derive(Default)]
struct Levels([u64; LEVELS_MAX.div_ceil(64)]);

impl Levels {
    fn set(&mut self, level: usize, object: bool) {
        let bit = 1 << (level % 64);
        if object { self.0[level / 64] |= bit } else { self.0[level / 64] &= !bit }
    }

    fn get(&self, level: usize) -> bool {
        self.0[level / 64] >> (level % 64) & 1 == 1
    }
}

#[cfg(test)]
mod tests {
    use super::super::scanner::{DIGITS_MAX, NAME_BYTES_MAX};
    use super::*;

    fn skip(text: &str) -> Result<(), DataError> {
        let mut scanner = Scanner::new(text.as_bytes());
        scanner.skip_value()?;
        scanner.finish()
    }

    #[test]
    fn only_json_is_accepted() {
        for text in [
            "1",
            "-0",
            "007",
            "-007",
            "00.5",
            "1e5",
            "1E+05",
            "[]",
            "{ }",
            " [ 1 , 2 ] ",
            "{\"a\":{\"b\":[{}]}}",
            "\"\\/\"",
        ] {
            skip(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        }
        for text in [
            "",
            " ",
            "-",
            "- 1",
            "1.",
            ".5",
            "+1",
            "1e",
            "1e+",
            "1.e5",
            "0x1",
            "1]",
            "nul",
            "nullx",
            "null_",
            "tru",
            "NaN",
            "[1,]",
            "[,1]",
            "[1 2]",
            "[1}",
            "{\"a\":1,}",
            "{\"a\" 1}",
            "{a:1}",
            "{1:2}",
            "'a'",
            "\"a\tb\"",
            "\"\\x\"",
            "\"\\u12\"",
            "\"open",
            "/* */ 1",
            "1 2",
            "{}{}",
            "\u{a0}1",
            "[1]\0",
            "\"\\uD83D\"",
            "\"\\uD83D\\u0041\"",
            "\"\\uDE00\"",
            "\"\\u+123\"",
        ] {
            assert!(skip(text).is_err(), "{text}");
        }
    }

    #[test]
    fn limits_are_where_they_are_said_to_be() {
        let nested = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
        skip(&nested(LEVELS_MAX)).unwrap();
        skip(&nested(LEVELS_MAX + 1)).unwrap_err();
        let objects = |levels: usize| "{\"a\":".repeat(levels) + "1" + &"}".repeat(levels);
        skip(&objects(LEVELS_MAX)).unwrap();
        skip(&objects(LEVELS_MAX + 1)).unwrap_err();
        skip(&"[".repeat(1_000_000)).unwrap_err();
        skip(&"9".repeat(DIGITS_MAX)).unwrap();
        skip(&("000".to_owned() + &"9".repeat(DIGITS_MAX))).unwrap();
        skip(&"9".repeat(DIGITS_MAX + 1)).unwrap_err();
        skip(&format!("1.{}e1", "1".repeat(998))).unwrap();
        skip(&format!("1.{}e1", "1".repeat(999))).unwrap_err();
        let named = |length: usize| format!("{{\"{}\":1}}", "k".repeat(length));
        skip(&named(NAME_BYTES_MAX)).unwrap();
        skip(&named(NAME_BYTES_MAX + 1)).unwrap_err();
        skip("1e2147483647").unwrap();
        skip("1e2147483648").unwrap_err();
    }

    #[test]
    fn an_error_says_where_and_what() {
        let error = skip("[1 2]").unwrap_err().to_string();
        assert_eq!(error, "invalid JSON at byte 3: `2` stands where `,` or `]` is expected");
        let error = skip("[1").unwrap_err().to_string();
        assert_eq!(error, "invalid JSON at byte 2: the text ends where `,` or `]` is expected");
    }
}
