//! Java's regular expressions, as configurations of Kafka Connect contain them.
//!
//! A pattern is parsed by Java's grammar and rewritten for `fancy-regex`, construct by construct, so that what it
//! matches is what it matches in Java. The few constructs that cannot be rewritten are refused when the pattern is
//! compiled, never matched differently: canonical equivalence, Unicode blocks, grapheme clusters, character names.

mod class;
mod escape;
mod property;
mod translate;

use std::fmt;
use std::sync::OnceLock;

/// How often one search may step back before it is given up: about a tenth of a second.
const BACKTRACK_LIMIT: usize = 1_000_000;
/// How large the automaton of a pattern may grow, in bytes.
const PROGRAM_BYTES_MAX: usize = 10 << 20;

/// A compiled Java regular expression.
///
/// ```
/// use connect_sdk::java::regex::JavaRegex;
/// let topics = JavaRegex::new("orders-[a-z&&[^x]]++")?;
/// assert!(topics.matches("orders-eu")?);
/// assert!(!topics.matches("orders-eu-1")?);
/// # Ok::<(), connect_sdk::java::regex::RegexError>(())
/// ```
#[derive(Debug)]
pub struct JavaRegex {
    pattern: String,
    whole: fancy_regex::Regex,
    translated: String,
    groups: usize,
    names: Vec<(String, usize)>,
    last_match: bool,
    /// For searching inside a text; most patterns are only ever matched as a whole.
    part: OnceLock<fancy_regex::Regex>,
}

impl JavaRegex {
    /// Compiles a pattern.
    ///
    /// # Errors
    /// The pattern is wrong (with Java's words, the place and a caret below it), or it uses what cannot be rewritten.
    pub fn new(pattern: &str) -> Result<Self, RegexError> {
        let translation = translate::translate(pattern)?;
        let whole = compile(pattern, &format!("\\A(?:{})\\z", translation.text))?;
        Ok(Self {
            pattern: pattern.to_owned(),
            whole,
            translated: translation.text,
            groups: translation.groups,
            names: translation.names,
            last_match: translation.last_match,
            part: OnceLock::new(),
        })
    }

    /// The pattern as it was written.
    #[must_use]
    pub fn pattern(&self) -> &str {
        &self.pattern
    }

    /// Whether the whole text matches: Java's `Matcher.matches`.
    ///
    /// # Errors
    /// The search was given up after too many steps back.
    pub fn matches(&self, text: &str) -> Result<bool, RegexError> {
        self.whole.is_match(text).map_err(|error| self.given_up(&error))
    }

    /// Whether the text contains a match: Java's `Matcher.find`.
    ///
    /// # Errors
    /// The search was given up after too many steps back.
    pub fn find(&self, text: &str) -> Result<bool, RegexError> {
        self.part()?.is_match(text).map_err(|error| self.given_up(&error))
    }

    /// The text with its first match replaced: Java's `Matcher.replaceFirst`.
    ///
    /// # Errors
    /// The search was given up after too many steps back.
    pub fn replace_first(&self, text: &str, replacement: &Replacement) -> Result<String, RegexError> {
        self.replace(text, replacement, 1)
    }

    /// The text with every match replaced: Java's `Matcher.replaceAll`.
    ///
    /// # Errors
    /// The search was given up after too many steps back.
    pub fn replace_all(&self, text: &str, replacement: &Replacement) -> Result<String, RegexError> {
        self.replace(text, replacement, usize::MAX)
    }

    fn replace(&self, text: &str, replacement: &Replacement, limit: usize) -> Result<String, RegexError> {
        let mut out = String::with_capacity(text.len());
        let part = self.part()?;
        let (mut copied, mut search_from) = (0, 0);
        for _ in 0..limit {
            let captures = part.captures_from_pos(text, search_from).map_err(|error| self.given_up(&error))?;
            let Some((captures, found)) = captures.and_then(|captures| captures.get(0).map(|found| (captures, found)))
            else {
                break;
            };
            out.push_str(&text[copied..found.start()]);
            copied = found.end();
            for piece in &replacement.pieces {
                match piece {
                    Piece::Text(text) => out.push_str(text),
                    Piece::Group(n) => out.push_str(captures.get(*n).map_or("", |group| group.as_str())),
                }
            }
            // As in Java, an empty match may follow a match directly, and then the search goes on one character later.
            search_from = found.end();
            if found.start() == found.end() {
                let Some(skipped) = text[search_from..].chars().next() else { break };
                search_from += skipped.len_utf8();
            }
        }
        out.push_str(&text[copied..]);
        Ok(out)
    }

    /// Reads a replacement text for this pattern: `$1`, `${name}`, and a backslash before what is meant literally.
    ///
    /// # Errors
    /// The text names a group that the pattern does not have, or is cut short. Java finds this only when it replaces.
    pub fn replacement(&self, text: &str) -> Result<Replacement, RegexError> {
        let wrong = |why: String| RegexError { message: why };
        if self.last_match {
            return Err(wrong("`\\G` is not supported in a pattern that replaces".to_owned()));
        }
        let mut pieces = Vec::new();
        let mut literal = String::new();
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            match c {
                '\\' => {
                    literal.push(chars.next().ok_or_else(|| wrong("character to be escaped is missing".to_owned()))?);
                }
                '$' => {
                    let group = match chars.next() {
                        None => return Err(wrong("Illegal group reference: group index is missing".to_owned())),
                        Some('{') => {
                            let mut name = String::new();
                            while let Some(c) = chars.next_if(char::is_ascii_alphanumeric) {
                                name.push(c);
                            }
                            if name.is_empty() {
                                return Err(wrong("named capturing group has 0 length name".to_owned()));
                            }
                            if chars.next() != Some('}') {
                                return Err(wrong("named capturing group is missing trailing '}'".to_owned()));
                            }
                            if name.starts_with(|c: char| c.is_ascii_digit()) {
                                let text = format!("capturing group name {{{name}}} starts with digit character");
                                return Err(wrong(text));
                            }
                            let known = self.names.iter().find(|(known, _)| *known == name);
                            known.ok_or_else(|| wrong(format!("No group with name {{{name}}}")))?.1
                        }
                        Some(c) => {
                            let first = c.to_digit(10).filter(|_| c.is_ascii());
                            let mut number = first.ok_or_else(|| wrong("Illegal group reference".to_owned()))? as usize;
                            if number > self.groups {
                                return Err(wrong(format!("No group {number}")));
                            }
                            // More digits belong to the number as long as there is such a group.
                            while let Some(digit) = chars.peek().filter(|c| c.is_ascii()).and_then(|c| c.to_digit(10)) {
                                let longer = number * 10 + digit as usize;
                                if longer > self.groups {
                                    break;
                                }
                                number = longer;
                                chars.next();
                            }
                            number
                        }
                    };
                    if !literal.is_empty() {
                        pieces.push(Piece::Text(std::mem::take(&mut literal)));
                    }
                    pieces.push(Piece::Group(group));
                }
                c => literal.push(c),
            }
        }
        if !literal.is_empty() {
            pieces.push(Piece::Text(literal));
        }
        Ok(Replacement { pieces })
    }

    fn part(&self) -> Result<&fancy_regex::Regex, RegexError> {
        if let Some(part) = self.part.get() {
            return Ok(part);
        }
        let compiled = compile(&self.pattern, &self.translated)?;
        Ok(self.part.get_or_init(|| compiled))
    }

    fn given_up(&self, error: &fancy_regex::Error) -> RegexError {
        let pattern = &self.pattern;
        RegexError { message: format!("search for the regular expression `{pattern}` was given up: {error}") }
    }
}

fn compile(pattern: &str, translated: &str) -> Result<fancy_regex::Regex, RegexError> {
    fancy_regex::RegexBuilder::new(translated)
        .backtrack_limit(BACKTRACK_LIMIT)
        .delegate_size_limit(PROGRAM_BYTES_MAX)
        .build()
        .map_err(|error| RegexError { message: format!("regular expression is not supported: {error}\n{pattern}") })
}

/// A replacement text whose group references were resolved; made by [`JavaRegex::replacement`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replacement {
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Group(usize),
}

/// What is wrong with a regular expression or its replacement, or why a search was given up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegexError {
    message: String,
}

impl RegexError {
    /// A mistake in a pattern, in the form of Java's `PatternSyntaxException`; `index` counts UTF-16 units.
    fn syntax(description: &str, pattern: &str, index: Option<usize>) -> Self {
        let mut message = description.to_owned();
        if let Some(index) = index {
            message.push_str(&format!(" near index {index}"));
        }
        message.push('\n');
        message.push_str(pattern);
        let units: Vec<u16> = pattern.encode_utf16().collect();
        if let Some(before) = index.and_then(|index| units.get(..index).filter(|_| index < units.len())) {
            message.push('\n');
            message.extend(before.iter().map(|unit| if *unit == u16::from(b'\t') { '\t' } else { ' ' }));
            message.push('^');
        }
        Self { message }
    }
}

impl fmt::Display for RegexError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for RegexError {}

#[cfg(test)]
mod tests;
