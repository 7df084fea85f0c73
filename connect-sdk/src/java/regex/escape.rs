//! What stands behind a backslash.

use super::RegexError;
use super::class::Class;
use super::property;
use super::translate::Parser;

/// What an escape stands for.
pub(super) enum Escape {
    Char(char),
    /// A predefined class such as `\d`.
    Class(Class),
    /// A place and no characters, translated: `\b`, `\z`.
    Anchor(String),
    /// Anything else, translated: references, line ends.
    Other(String),
}

impl Parser<'_> {
    /// What stands behind a backslash; the cursor stands on the backslash.
    pub(super) fn escape(&mut self, in_class: bool, in_range: bool) -> Result<Escape, RegexError> {
        let c = self.at(self.cursor + 1);
        self.cursor += 2;
        let anchor = |text: &str| Ok(Escape::Anchor(text.to_owned()));
        match c {
            _ if self.cursor > self.chars.len() && in_class => return Err(self.error("Unclosed character class")),
            _ if self.cursor > self.chars.len() => {
                let nested = self.depth > 1;
                self.cursor += usize::from(nested);
                return Err(self.error(if nested { "Unclosed group" } else { "Unexpected internal error" }));
            }
            '0' => return self.octal().map(Escape::Char),
            '1'..='9' if !in_class => return Ok(Escape::Other(self.reference(c))),
            'A' if !in_class => return anchor(r"\A"),
            'G' if !in_class => {
                self.last_match = true;
                return anchor(r"\G");
            }
            'z' if !in_class => return anchor(r"\z"),
            'Z' if !in_class => return anchor(self.dollar(false)),
            'B' if !in_class => return Ok(Escape::Anchor(format!("(?!{})", self.word_boundary()))),
            'b' if !in_class && self.at(self.cursor) == '{' => return Err(self.unsupported("a grapheme boundary")),
            'b' if !in_class => return Ok(Escape::Anchor(self.word_boundary())),
            'R' if !in_class => {
                return Ok(Escape::Other(r"(?:\r\n|[\n\x{b}\x{c}\r\x{85}\x{2028}\x{2029}])".to_owned()));
            }
            'X' if !in_class => return Err(self.unsupported("a grapheme cluster")),
            'N' => return Err(self.unsupported("a character name")),
            'k' if !in_class => {
                if self.read() != '<' {
                    return Err(self.error("\\k is not followed by '<' for named capturing group"));
                }
                let first = self.read();
                let name = self.group_name(first)?;
                let Some((_, number)) = self.names.iter().find(|(known, _)| *known == name) else {
                    return Err(self.error(&format!("named capturing group <{name}> does not exist")));
                };
                return Ok(Escape::Other(self.reference_text(*number)));
            }
            'v' if in_range => return Ok(Escape::Char('\u{b}')),
            'd' | 'D' | 'h' | 'H' | 's' | 'S' | 'v' | 'V' | 'w' | 'W' => {
                let class = property::predefined(c.to_ascii_lowercase(), self.flags.unicode_classes);
                return Ok(Escape::Class(if c.is_ascii_uppercase() { class.negated() } else { class }));
            }
            'a' => return Ok(Escape::Char('\u{7}')),
            'e' => return Ok(Escape::Char('\u{1b}')),
            'f' => return Ok(Escape::Char('\u{c}')),
            'n' => return Ok(Escape::Char('\n')),
            'r' => return Ok(Escape::Char('\r')),
            't' => return Ok(Escape::Char('\t')),
            'c' if !self.ended() => {
                let code = u32::from(self.read()) ^ 64;
                return char::from_u32(code)
                    .map(Escape::Char)
                    .ok_or_else(|| self.error("Illegal control escape sequence"));
            }
            'c' => return Err(self.error("Illegal control escape sequence")),
            'u' => return self.unicode().map(Escape::Char),
            'x' => return self.hexadecimal().map(Escape::Char),
            c if c.is_ascii_alphanumeric() => {}
            c => return Ok(Escape::Char(c)),
        }
        Err(self.error("Illegal/unsupported escape sequence"))
    }

    /// Between a letter, digit or underscore and something else; Java takes the letters of all scripts.
    fn word_boundary(&self) -> String {
        let word = if self.flags.unicode_classes {
            r"[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}]"
        } else {
            r"[_\p{L}\p{Nd}]"
        };
        format!("(?:(?<={word})(?!{word})|(?<!{word})(?={word}))")
    }

    fn reference(&mut self, first: char) -> String {
        let mut number = first.to_digit(10).unwrap_or(0) as usize;
        while let Some(digit) = self.peek().to_digit(10).filter(|_| !self.ended()) {
            let longer = number * 10 + digit as usize;
            if longer > self.groups {
                break;
            }
            number = longer;
            self.cursor += 1;
        }
        self.reference_text(number)
    }

    fn reference_text(&self, number: usize) -> String {
        match () {
            () if number > self.groups_total => "[a&&b]".to_owned(),
            () if self.flags.case_insensitive => format!("(?i:\\{number})"),
            () => format!("(?:\\{number})"),
        }
    }

    fn octal(&mut self) -> Result<char, RegexError> {
        let mut value = 0;
        for position in 0..3 {
            let Some(digit) = self.peek().to_digit(8).filter(|_| !self.ended()) else { break };
            if position == 2 && value > 0o37 {
                break;
            }
            self.cursor += 1;
            value = value * 8 + digit;
            if position == 2 {
                return char::from_u32(value).ok_or_else(|| self.error("Illegal octal escape sequence"));
            }
        }
        if !self.at(self.cursor.saturating_sub(1)).is_digit(8) || self.at(self.cursor.saturating_sub(2)) == '\\' {
            self.cursor += 1;
            return Err(self.error("Illegal octal escape sequence"));
        }
        char::from_u32(value).ok_or_else(|| self.error("Illegal octal escape sequence"))
    }

    fn hex_digit(&mut self) -> Option<u32> {
        self.read().to_digit(16)
    }

    fn hexadecimal(&mut self) -> Result<char, RegexError> {
        if let Some(high) = self.hex_digit() {
            if let Some(low) = self.hex_digit() {
                return char::from_u32(high * 16 + low)
                    .ok_or_else(|| self.error("Illegal hexadecimal escape sequence"));
            }
        } else if self.at(self.cursor.saturating_sub(1)) == '{' && self.peek().is_ascii_hexdigit() {
            let mut code = 0;
            loop {
                let c = self.read();
                let Some(digit) = c.to_digit(16) else {
                    if c != '}' {
                        return Err(self.error("Unclosed hexadecimal escape sequence"));
                    }
                    break;
                };
                code = code * 16 + digit;
                if code > 0x10_ffff {
                    return Err(self.error("Hexadecimal codepoint is too big"));
                }
            }
            return char::from_u32(code).ok_or_else(|| self.unsupported("half of a surrogate pair"));
        }
        Err(self.error("Illegal hexadecimal escape sequence"))
    }

    fn unit(&mut self) -> Result<u32, RegexError> {
        let mut unit = 0;
        for _ in 0..4 {
            unit = unit * 16 + self.hex_digit().ok_or_else(|| self.error("Illegal Unicode escape sequence"))?;
        }
        Ok(unit)
    }

    fn unicode(&mut self) -> Result<char, RegexError> {
        let high = self.unit()?;
        if (0xd800..0xdc00).contains(&high) && self.at(self.cursor) == '\\' && self.at(self.cursor + 1) == 'u' {
            self.cursor += 2;
            let low = self.unit()?;
            if (0xdc00..0xe000).contains(&low) {
                let code = 0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00);
                return char::from_u32(code).ok_or_else(|| self.error("Illegal Unicode escape sequence"));
            }
        }
        char::from_u32(high).ok_or_else(|| self.unsupported("half of a surrogate pair"))
    }
}
