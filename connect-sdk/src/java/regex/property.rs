//! Predefined classes and `\p{..}`: which characters they mean in Java.

use super::RegexError;
use super::class::Class;
use super::translate::Parser;

/// `\d \h \s \v \w`: of ASCII, unless `(?U)` asks for Unicode.
pub(super) fn predefined(letter: char, unicode: bool) -> Class {
    Class::new(match (letter, unicode) {
        ('d', false) => "0-9",
        ('d', true) => r"\p{Nd}",
        ('h', _) => r"\x{20}\t\x{a0}\x{1680}\x{180e}\x{2000}-\x{200a}\x{202f}\x{205f}\x{3000}",
        ('s', false) => r"\x{20}\t\n\x{b}\x{c}\r",
        ('s', true) => r"\p{White_Space}",
        ('v', _) => r"\n\x{b}\x{c}\r\x{85}\x{2028}\x{2029}",
        (_, false) => "a-zA-Z0-9_",
        (_, true) => r"\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}",
    })
}

/// The POSIX classes under `(?U)`.
fn unicode_posix(name: &str) -> Option<&'static str> {
    Some(match name.to_ascii_uppercase().as_str() {
        "ALPHA" => r"\p{Alphabetic}",
        "LOWER" => r"\p{Lowercase}",
        "UPPER" => r"\p{Uppercase}",
        "SPACE" => r"\p{White_Space}",
        "PUNCT" => r"\p{P}",
        "XDIGIT" => r"\p{Nd}\p{Hex_Digit}",
        "ALNUM" => r"\p{Alphabetic}\p{Nd}",
        "CNTRL" => r"\p{Cc}",
        "DIGIT" => r"\p{Nd}",
        "BLANK" => r"[\p{Zs}\t]",
        "GRAPH" => r"[^\p{White_Space}\p{Cc}\p{Cn}]",
        "PRINT" => r"[[^\p{White_Space}\p{Cc}\p{Cn}]\p{Zs}]",
        _ => return None,
    })
}

/// The properties of Java that are not general categories, without their `java` or `Is`.
fn named(name: &str, case_insensitive: bool) -> Option<&'static str> {
    Some(match name {
        "Lower" | "Upper" if case_insensitive => "a-zA-Z",
        "Lower" => "a-z",
        "Upper" => "A-Z",
        "ASCII" => r"\x{0}-\x{7f}",
        "Alpha" => "a-zA-Z",
        "Digit" => "0-9",
        "Alnum" => "0-9a-zA-Z",
        "Punct" => r"\x{21}-\x{2f}\x{3a}-\x{40}\x{5b}-\x{60}\x{7b}-\x{7e}",
        "Graph" => r"\x{21}-\x{7e}",
        "Print" => r"\x{20}-\x{7e}",
        "Blank" => r"\x{20}\t",
        "Cntrl" => r"\x{0}-\x{1f}\x{7f}",
        "XDigit" => "0-9a-fA-F",
        "Space" => r"\x{20}\t\n\x{b}\x{c}\r",
        "ALL" | "all" => r"\x{0}-\x{10ffff}",
        "L1" => r"\x{0}-\x{ff}",
        "LC" => r"\p{Lu}\p{Ll}\p{Lt}",
        "LD" => r"\p{L}\p{Nd}",
        "Lu" | "Ll" | "Lt" if case_insensitive => r"\p{Lu}\p{Ll}\p{Lt}",
        "javaLowerCase" | "javaUpperCase" | "javaTitleCase" if case_insensitive => r"\p{Lowercase}\p{Uppercase}\p{Lt}",
        "javaLowerCase" => r"\p{Lowercase}",
        "javaUpperCase" => r"\p{Uppercase}",
        "javaTitleCase" => r"\p{Lt}",
        "javaAlphabetic" => r"\p{Alphabetic}",
        "javaIdeographic" => r"\p{Ideographic}",
        "javaDigit" => r"\p{Nd}",
        "javaDefined" => r"[^\p{Cn}]",
        "javaLetter" => r"\p{L}",
        "javaLetterOrDigit" => r"\p{L}\p{Nd}",
        "javaSpaceChar" => r"\p{Z}",
        "javaWhitespace" => r"\t-\r\x{1c}-\x{1f}[\p{Z}&&[^\x{a0}\x{2007}\x{202f}]]",
        "javaISOControl" => r"\x{0}-\x{1f}\x{7f}-\x{9f}",
        _ => return None,
    })
}

/// The general categories, by the names that Java has for them.
const CATEGORIES: [&str; 37] = [
    "Cn", "Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Me", "Mc", "Nd", "Nl", "No", "Zs", "Zl", "Zp", "Cc", "Cf", "Co", "Pd",
    "Ps", "Pe", "Pc", "Po", "Sm", "Sc", "Sk", "So", "Pi", "Pf", "L", "M", "N", "Z", "C", "P", "S", "Cs",
];

/// A general category or one of Java's own names.
fn property(name: &str, case_insensitive: bool) -> Option<String> {
    if let Some(content) = named(name, case_insensitive) {
        return Some(content.to_owned());
    }
    // No text has half a surrogate pair.
    match name {
        "Cs" => Some(r"a&&b".to_owned()).map(|empty| format!("[{empty}]")),
        _ => CATEGORIES.contains(&name).then(|| format!("\\p{{{name}}}")),
    }
}

/// A binary property of Unicode, by Java's name for it.
fn unicode_property(name: &str, case_insensitive: bool) -> Option<&'static str> {
    Some(match name.to_ascii_uppercase().as_str() {
        "ALPHABETIC" => r"\p{Alphabetic}",
        "LETTER" => r"\p{L}",
        "IDEOGRAPHIC" => r"\p{Ideographic}",
        "LOWERCASE" | "UPPERCASE" | "TITLECASE" if case_insensitive => r"\p{Lowercase}\p{Uppercase}\p{Lt}",
        "LOWERCASE" => r"\p{Lowercase}",
        "UPPERCASE" => r"\p{Uppercase}",
        "TITLECASE" => r"\p{Lt}",
        "WHITE_SPACE" | "WHITESPACE" => r"\p{White_Space}",
        "CONTROL" => r"\p{Cc}",
        "PUNCTUATION" => r"\p{P}",
        "HEX_DIGIT" | "HEXDIGIT" => r"\p{Nd}\p{Hex_Digit}",
        "ASSIGNED" => r"[^\p{Cn}]",
        "NONCHARACTER_CODE_POINT" | "NONCHARACTERCODEPOINT" => r"\p{Noncharacter_Code_Point}",
        "DIGIT" => r"\p{Nd}",
        "ALNUM" => r"\p{Alphabetic}\p{Nd}",
        "BLANK" => r"[\p{Zs}\t]",
        "GRAPH" => r"[^\p{White_Space}\p{Cc}\p{Cn}]",
        "PRINT" => r"[[^\p{White_Space}\p{Cc}\p{Cn}]\p{Zs}]",
        "WORD" => r"\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}",
        "JOIN_CONTROL" | "JOINCONTROL" => r"\p{Join_Control}",
        _ => return None,
    })
}

/// A script; what regex-syntax does not know, Java is taken not to know either.
fn script(name: &str) -> Option<String> {
    let plain = name.chars().all(|c| c.is_ascii_alphabetic() || matches!(c, '_' | ' ' | '-'));
    let content = format!("\\p{{Script={name}}}");
    (plain && fancy_regex::Regex::new(&format!("[{content}]")).is_ok()).then_some(content)
}

impl Parser<'_> {
    /// `p{..}`, `P{..}`, `pL`; the cursor stands on the letter.
    pub(super) fn family(&mut self) -> Result<Class, RegexError> {
        let complement = self.at(self.cursor) == 'P';
        let name: String = if self.next() == '{' {
            let start = self.cursor + 1;
            let mut end = start;
            while end < start + 200 && self.at(end) != '}' && !self.is_past(end) {
                end += 1;
            }
            self.cursor = end + 1;
            if self.is_past(end) {
                return Err(self.error("Unclosed character family"));
            }
            if end == start {
                return Err(self.error("Empty character family"));
            }
            (start..end).map(|i| self.at(i)).collect()
        } else {
            let letter = self.at(self.cursor);
            self.cursor += 1;
            letter.to_string()
        };
        let insensitive = self.flags.case_insensitive;
        let content = if let Some((key, value)) = name.split_once('=') {
            let found = match key.to_ascii_lowercase().as_str() {
                "sc" | "script" => script(value),
                "gc" | "general_category" => property(value, insensitive),
                "blk" | "block" => return Err(self.unsupported("a Unicode block")),
                _ => None,
            };
            let key = key.to_ascii_lowercase();
            found.ok_or_else(|| self.error(&format!("Unknown Unicode property {{name=<{key}>, value=<{value}>}}")))?
        } else {
            let found = if name.starts_with("In") {
                return Err(self.unsupported("a Unicode block"));
            } else if let Some(bare) = name.strip_prefix("Is") {
                unicode_property(bare, insensitive)
                    .map(str::to_owned)
                    .or_else(|| property(bare, insensitive))
                    .or_else(|| script(bare))
            } else {
                let posix = if self.flags.unicode_classes { unicode_posix(&name) } else { None };
                posix.map(str::to_owned).or_else(|| property(&name, insensitive))
            };
            // Java shows the name without the prefix that it has looked at.
            let shown = name.strip_prefix("Is").unwrap_or(&name);
            found.ok_or_else(|| self.error(&format!("Unknown character property name {{{shown}}}")))?
        };
        let class = Class::new(content);
        Ok(if complement { class.negated() } else { class })
    }

    fn is_past(&self, index: usize) -> bool {
        index >= self.len()
    }
}
