//! The grammar of `java.util.regex.Pattern`, and what each construct becomes for `fancy-regex`.
//!
//! The parser keeps Java's cursor, because Java's messages tell where it stands.

use super::RegexError;
use super::class::Class;
use super::escape::Escape;

/// What ends a line for `.`, `^` and `$`, unless `(?d)` says that only the line feed does.
const LINE_ENDS: &str = r"\n\r\x{85}\x{2028}\x{2029}";
/// A group within a group within a group: how deep a pattern may go.
const DEPTH_MAX: usize = 100;

/// A pattern in the notation of `fancy-regex`.
pub(super) struct Translation {
    pub(super) text: String,
    /// How many capturing groups there are.
    pub(super) groups: usize,
    pub(super) names: Vec<(String, usize)>,
    /// Whether it refers to the match before, with `\G`.
    pub(super) last_match: bool,
}

pub(super) fn translate(pattern: &str) -> Result<Translation, RegexError> {
    let chars = without_quotes(pattern);
    // The first round only counts: a reference to a group that exists nowhere never matches (as no character is both
    // `a` and `b`).
    let counted = Parser::new(pattern, &chars, usize::MAX).run()?;
    Parser::new(pattern, &chars, counted.groups).run()
}

/// The pattern with `\Q..\E` turned into escapes of the single characters, as Java does before it parses.
fn without_quotes(pattern: &str) -> Vec<char> {
    let source: Vec<char> = pattern.chars().collect();
    let mut out = Vec::with_capacity(source.len());
    let (mut quoted, mut first) = (false, false);
    let mut i = 0;
    while i < source.len() {
        let (c, next) = (source[i], source.get(i + 1).copied());
        i += 1;
        if quoted {
            match c {
                '\\' if next == Some('E') => {
                    i += 1;
                    quoted = false;
                }
                c if c.is_ascii_digit() => {
                    // A digit must not continue an escape that stands before the quotation.
                    if first {
                        out.extend(['\\', 'x', '3']);
                    }
                    out.push(c);
                }
                c if c.is_ascii() && !c.is_ascii_alphabetic() => out.extend(['\\', c]),
                c => out.push(c),
            }
            first = false;
        } else if c == '\\' && next == Some('Q') {
            i += 1;
            (quoted, first) = (true, true);
        } else {
            out.push(c);
            if c == '\\'
                && let Some(next) = next
            {
                i += 1;
                out.push(next);
            }
        }
    }
    out
}

/// The embedded flags of a pattern.
#[derive(Clone, Copy, Default)]
pub(super) struct Flags {
    pub(super) case_insensitive: bool,
    pub(super) unicode_case: bool,
    pub(super) unicode_classes: bool,
    multiline: bool,
    dot_all: bool,
    unix_lines: bool,
    comments: bool,
}

pub(super) struct Parser<'a> {
    pattern: &'a str,
    pub(super) chars: &'a [char],
    pub(super) cursor: usize,
    pub(super) flags: Flags,
    pub(super) groups: usize,
    /// How many groups the whole pattern has.
    pub(super) groups_total: usize,
    pub(super) names: Vec<(String, usize)>,
    pub(super) depth: usize,
    pub(super) last_match: bool,
}

/// What Java's array of code points holds behind the pattern.
const END: char = '\0';

impl<'a> Parser<'a> {
    fn new(pattern: &'a str, chars: &'a [char], groups_total: usize) -> Self {
        Self {
            pattern,
            chars,
            cursor: 0,
            flags: Flags::default(),
            groups: 0,
            groups_total,
            names: Vec::new(),
            depth: 0,
            last_match: false,
        }
    }

    fn run(mut self) -> Result<Translation, RegexError> {
        let mut text = String::new();
        self.alternatives(&mut text)?;
        if self.cursor < self.chars.len() {
            return Err(self.error("Unmatched closing ')'"));
        }
        Ok(Translation { text, groups: self.groups, names: self.names, last_match: self.last_match })
    }

    // ---- Java's cursor ----

    pub(super) fn at(&self, index: usize) -> char {
        self.chars.get(index).copied().unwrap_or(END)
    }

    pub(super) fn len(&self) -> usize {
        self.chars.len()
    }

    pub(super) fn ended(&self) -> bool {
        self.cursor >= self.chars.len()
    }

    /// The present character; `(?x)` skips blanks and comments before it.
    pub(super) fn peek(&mut self) -> char {
        if self.flags.comments {
            while !self.ended() && (is_blank(self.at(self.cursor)) || self.at(self.cursor) == '#') {
                if self.at(self.cursor) == '#' {
                    while !self.ended() && !self.is_line_separator(self.at(self.cursor)) {
                        self.cursor += 1;
                    }
                } else {
                    self.cursor += 1;
                }
            }
        }
        self.at(self.cursor)
    }

    fn is_line_separator(&self, c: char) -> bool {
        if self.flags.unix_lines { c == '\n' } else { matches!(c, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}') }
    }

    /// Steps forward and looks.
    pub(super) fn next(&mut self) -> char {
        self.cursor += 1;
        self.peek()
    }

    /// Looks and steps over what it saw.
    pub(super) fn read(&mut self) -> char {
        let c = self.peek();
        self.cursor += 1;
        c
    }

    /// As [`Parser::read`], without skipping blanks.
    fn read_raw(&mut self) -> char {
        let c = self.at(self.cursor);
        self.cursor += 1;
        c
    }

    pub(super) fn error(&self, description: &str) -> RegexError {
        let index = self.cursor.checked_sub(1).map(|last| {
            let before = self.chars.get(..last.min(self.chars.len())).unwrap_or_default();
            before.iter().map(|c| c.len_utf16()).sum::<usize>() + last.saturating_sub(self.chars.len())
        });
        RegexError::syntax(description, self.pattern, index)
    }

    pub(super) fn unsupported(&self, what: &str) -> RegexError {
        self.error(&format!("{what} is not supported here"))
    }

    // ---- the grammar ----

    fn alternatives(&mut self, out: &mut String) -> Result<(), RegexError> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(self.unsupported("a group this deep in other groups"));
        }
        loop {
            self.sequence(out)?;
            if self.peek() != '|' || self.ended() {
                break;
            }
            self.cursor += 1;
            out.push('|');
        }
        self.depth -= 1;
        Ok(())
    }

    fn sequence(&mut self, out: &mut String) -> Result<(), RegexError> {
        loop {
            let c = self.peek();
            if self.ended() {
                return Ok(());
            }
            let (atom, is_anchor) = match c {
                '|' | ')' => return Ok(()),
                '(' => match self.group()? {
                    Some(group) => {
                        let is_anchor = ["(?=", "(?!", "(?<"].iter().any(|start| group.starts_with(start));
                        (group, is_anchor)
                    }
                    None => continue,
                },
                '[' => {
                    let class = self.class(true)?;
                    (self.class_text(&class), false)
                }
                '^' => {
                    self.cursor += 1;
                    (self.caret().to_owned(), true)
                }
                '$' => {
                    self.cursor += 1;
                    (self.dollar(self.flags.multiline).to_owned(), true)
                }
                '.' => {
                    self.cursor += 1;
                    let text = match (self.flags.dot_all, self.flags.unix_lines) {
                        (true, _) => "(?s:.)".to_owned(),
                        (false, true) => "[^\\n]".to_owned(),
                        (false, false) => format!("[^{LINE_ENDS}]"),
                    };
                    (text, false)
                }
                '?' | '*' | '+' => {
                    self.cursor += 1;
                    return Err(self.error(&format!("Dangling meta character '{c}'")));
                }
                // Java takes nothing as the atom, and the brace as its quantifier.
                '{' => (String::new(), true),
                '\\' => match self.at(self.cursor + 1) {
                    'p' | 'P' => {
                        self.cursor += 1;
                        let class = self.family()?;
                        (self.class_text(&class), false)
                    }
                    _ => match self.escape(false, false)? {
                        Escape::Char(c) => (self.literal(c), false),
                        Escape::Class(class) => (self.class_text(&class), false),
                        Escape::Anchor(text) => (text, true),
                        Escape::Other(text) => (text, false),
                    },
                },
                c => {
                    self.cursor += 1;
                    (self.literal(c), false)
                }
            };
            self.quantified(&atom, is_anchor, out)?;
        }
    }

    /// `^`.
    fn caret(&self) -> &'static str {
        match (self.flags.multiline, self.flags.unix_lines) {
            (false, _) => r"\A",
            (true, true) => r"(?:(?!\z)(?:\A|(?<=\n)))",
            // The end of the text starts no line, and nothing stands between a carriage return and its line feed.
            (true, false) => r"(?:(?!\z)(?:\A|(?<=[\n\x{85}\x{2028}\x{2029}])|(?<=\r)(?!\n)))",
        }
    }

    /// `$` and `\Z`.
    pub(super) fn dollar(&self, multiline: bool) -> &'static str {
        match (multiline, self.flags.unix_lines) {
            (false, true) => r"(?=\n?\z)",
            (false, false) => r"(?:(?=(?:\r\n?|[\x{85}\x{2028}\x{2029}])?\z)|(?<!\r)(?=\n\z))",
            (true, true) => r"(?=\n|\z)",
            (true, false) => r"(?:(?=[\r\x{85}\x{2028}\x{2029}]|\z)|(?<!\r)(?=\n))",
        }
    }

    fn literal(&self, c: char) -> String {
        let plain = escaped(c);
        if !self.flags.case_insensitive {
            plain
        } else if self.flags.unicode_case {
            format!("(?i:{plain})")
        } else if c.is_ascii_alphabetic() {
            format!("[{}{}]", c.to_ascii_lowercase(), c.to_ascii_uppercase())
        } else {
            plain
        }
    }

    fn class_text(&self, class: &Class) -> String {
        let text = class.text();
        if self.flags.case_insensitive && self.flags.unicode_case { format!("(?i:{text})") } else { text }
    }

    /// A group with its parentheses; nothing for flags such as `(?i)`, which hold until their group ends.
    fn group(&mut self) -> Result<Option<String>, RegexError> {
        let saved = self.flags;
        let mut out = String::new();
        if self.next() == '?' {
            let kind = self.at(self.cursor + 1);
            self.cursor += 2;
            match kind {
                ':' => out.push_str("(?:"),
                '=' => out.push_str("(?="),
                '!' => out.push_str("(?!"),
                '>' => out.push_str("(?>"),
                '<' => match self.read() {
                    '=' => out.push_str("(?<="),
                    '!' => out.push_str("(?<!"),
                    first => {
                        let name = self.group_name(first)?;
                        if self.names.iter().any(|(known, _)| *known == name) {
                            return Err(self.error(&format!("Named capturing group <{name}> is already defined")));
                        }
                        self.groups += 1;
                        self.names.push((name, self.groups));
                        out.push('(');
                    }
                },
                '$' | '@' => return Err(self.error("Unknown group type")),
                _ => {
                    self.cursor -= 1;
                    self.embedded_flags()?;
                    match self.read() {
                        ')' if self.cursor <= self.chars.len() => return Ok(None),
                        ':' => out.push_str("(?:"),
                        _ => return Err(self.error("Unknown inline modifier")),
                    }
                }
            }
        } else {
            self.groups += 1;
            out.push('(');
        }
        self.alternatives(&mut out)?;
        if self.read_raw_after_blanks() != ')' {
            return Err(self.error("Unclosed group"));
        }
        self.flags = saved;
        out.push(')');
        Ok(Some(out))
    }

    fn read_raw_after_blanks(&mut self) -> char {
        self.peek();
        self.read_raw()
    }

    fn embedded_flags(&mut self) -> Result<(), RegexError> {
        let mut on = true;
        let mut c = self.peek();
        loop {
            match c {
                'i' => self.flags.case_insensitive = on,
                'm' => self.flags.multiline = on,
                's' => self.flags.dot_all = on,
                'd' => self.flags.unix_lines = on,
                'u' => self.flags.unicode_case = on,
                'x' => self.flags.comments = on,
                'U' => {
                    self.flags.unicode_classes = on;
                    self.flags.unicode_case |= on;
                }
                'c' if on => return Err(self.unsupported("canonical equivalence")),
                '-' if on => on = false,
                _ => return Ok(()),
            }
            c = self.next();
        }
    }

    pub(super) fn group_name(&mut self, first: char) -> Result<String, RegexError> {
        if !first.is_ascii_alphabetic() {
            return Err(self.error("capturing group name does not start with a Latin letter"));
        }
        let mut name = String::from(first);
        loop {
            match self.read() {
                c if c.is_ascii_alphanumeric() => name.push(c),
                '>' => return Ok(name),
                _ => return Err(self.error("named capturing group is missing trailing '>'")),
            }
        }
    }

    /// Writes an atom with the quantifier that follows it.
    fn quantified(&mut self, atom: &str, is_anchor: bool, out: &mut String) -> Result<(), RegexError> {
        let c = self.peek();
        if self.ended() {
            out.push_str(atom);
            return Ok(());
        }
        let repetition = match c {
            '?' => "?".to_owned(),
            '*' => "*".to_owned(),
            '+' => "+".to_owned(),
            '{' => self.counted()?,
            _ => {
                out.push_str(atom);
                return Ok(());
            }
        };
        let atom = if atom.starts_with("(?") { &format!("(?:{atom})") } else { atom };
        let mode = self.next();
        let mode = Some(mode).filter(|mode| matches!(mode, '?' | '+') && !self.ended());
        self.cursor += usize::from(mode.is_some());
        if is_anchor {
            // Java lets a place be repeated, which is the same as asking once, or as not having to ask.
            match (repetition.starts_with(['?', '*']) || repetition.starts_with("{0"), mode) {
                (false, _) => out.push_str(atom),
                (true, Some('?')) => out.push_str(&format!("(?:|{atom})")),
                (true, _) => out.push_str(&format!("(?:{atom}|)")),
            }
            return Ok(());
        }
        match mode {
            Some('+') => out.push_str(&format!("(?>{atom}{repetition})")),
            Some(_) => out.push_str(&format!("{atom}{repetition}?")),
            None => out.push_str(&format!("{atom}{repetition}")),
        }
        Ok(())
    }

    /// `{n}`, `{n,}` or `{n,m}`; the cursor stands on the closing brace afterwards.
    fn counted(&mut self) -> Result<String, RegexError> {
        if !self.at(self.cursor + 1).is_ascii_digit() {
            self.cursor += 2;
            return Err(self.error("Illegal repetition"));
        }
        self.cursor += 1;
        let min = self.count()?;
        let mut text = format!("{{{min}");
        let mut max = Some(min);
        let mut c = self.read();
        if c == ',' {
            text.push(',');
            if self.peek().is_ascii_digit() {
                let limit = self.count()?;
                text.push_str(&limit.to_string());
                max = Some(limit);
            } else {
                max = None;
            }
            c = self.read();
        }
        if c != '}' || self.cursor > self.chars.len() {
            return Err(self.error("Unclosed counted closure"));
        }
        if max.is_some_and(|max| max < min) {
            return Err(self.error("Illegal repetition range"));
        }
        self.cursor -= 1;
        text.push('}');
        Ok(text)
    }

    fn count(&mut self) -> Result<u32, RegexError> {
        let mut count = 0u32;
        while let Some(digit) = self.peek().to_digit(10).filter(|_| !self.ended()) {
            self.cursor += 1;
            let longer = count.checked_mul(10).and_then(|n| n.checked_add(digit)).filter(|n| i32::try_from(*n).is_ok());
            count = longer.ok_or_else(|| self.error("Illegal repetition range"))?;
        }
        Ok(count)
    }
}

/// A character that stands for itself, inside and outside of classes.
pub(super) fn escaped(c: char) -> String {
    if c.is_ascii_alphanumeric() { c.to_string() } else { format!("\\x{{{:x}}}", u32::from(c)) }
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\u{b}' | '\u{c}' | '\r')
}
