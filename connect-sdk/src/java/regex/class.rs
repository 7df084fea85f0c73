//! Character classes: `[a-z&&[^b]]`, and the sets that classes are made of.

use super::RegexError;
use super::escape::Escape;
use super::translate::{Parser, escaped};

/// How deep classes may be nested.
const DEPTH_MAX: usize = 50;

/// A set of characters: what stands between the brackets in the notation of `fancy-regex`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Class(String);

impl Class {
    /// What stands between brackets.
    pub(super) fn new(content: impl Into<String>) -> Self {
        Self(content.into())
    }

    pub(super) fn text(&self) -> String {
        format!("[{}]", self.0)
    }

    #[must_use]
    pub(super) fn negated(&self) -> Self {
        Self(format!("[^{}]", self.0))
    }

    fn and(&self, other: &Self) -> Self {
        Self(format!("[[{}]&&[{}]]", self.0, other.0))
    }
}

/// The union of what a class has so far and something new.
fn union(so_far: Option<Class>, more: &Class) -> Class {
    match so_far {
        None => more.clone(),
        Some(Class(mut content)) => {
            content.push_str(&more.0);
            Class(content)
        }
    }
}

impl Parser<'_> {
    /// A class; the cursor stands on its bracket, or before the right side of an intersection that ends with the
    /// class around it (`consume` is false then, and the closing bracket is left).
    pub(super) fn class(&mut self, consume: bool) -> Result<Class, RegexError> {
        self.class_at(consume, 0)
    }

    fn class_at(&mut self, consume: bool, depth: usize) -> Result<Class, RegexError> {
        if depth > DEPTH_MAX {
            return Err(self.unsupported("a class this deep in other classes"));
        }
        let opened_at = self.cursor;
        let mut so_far: Option<Class> = None;
        let mut last: Option<Class> = None;
        let mut negated = false;
        let mut c = self.next();
        loop {
            if self.ended() {
                return Err(self.error("Unclosed character class"));
            }
            match c {
                '^' if consume && self.cursor == opened_at + 1 && self.at(opened_at) == '[' => {
                    c = self.next();
                    negated = true;
                    continue;
                }
                '[' => {
                    let inner = self.class_at(true, depth + 1)?;
                    so_far = Some(union(so_far, &inner));
                    last = Some(inner);
                    c = self.peek();
                    continue;
                }
                '&' if self.next() == '&' && !self.ended() => {
                    let mut right: Option<Class> = None;
                    c = self.next();
                    while c != ']' && c != '&' {
                        if self.ended() {
                            return Err(self.error("Unclosed character class"));
                        }
                        let part = if c == '[' {
                            self.class_at(true, depth + 1)?
                        } else {
                            self.cursor -= 1;
                            self.class_at(false, depth + 1)?
                        };
                        right = Some(union(right, &part));
                        c = self.peek();
                    }
                    // With nothing on the right, Java takes what stood last on the left once more.
                    let operand = right.or_else(|| last.clone());
                    let operand = operand.ok_or_else(|| self.error("Bad class syntax"))?;
                    so_far = Some(so_far.map_or_else(|| operand.clone(), |left| left.and(&operand)));
                    last = Some(operand);
                    continue;
                }
                // A single ampersand stands for itself; the look at what follows it is undone.
                '&' => self.cursor -= 1,
                ']' if so_far.is_some() => {
                    if consume {
                        self.cursor += 1;
                    }
                    break;
                }
                _ => {}
            }
            let item = self.range()?;
            so_far = Some(union(so_far, &item));
            last = Some(item);
            c = self.peek();
        }
        let class = so_far.unwrap_or_else(|| Class::new(""));
        Ok(if negated { class.negated() } else { class })
    }

    /// A character, a range of them, or an escape that stands for a set.
    fn range(&mut self) -> Result<Class, RegexError> {
        let mut first = self.peek();
        if first == '\\' {
            if matches!(self.at(self.cursor + 1), 'p' | 'P') {
                self.cursor += 1;
                return self.family();
            }
            let starts_range = self.at(self.cursor + 2) == '-';
            match self.escape(true, starts_range)? {
                Escape::Char(c) => first = c,
                Escape::Class(class) => return Ok(class),
                Escape::Anchor(_) | Escape::Other(_) => return Err(self.error("Illegal/unsupported escape sequence")),
            }
        } else {
            self.cursor += 1;
        }
        if self.peek() == '-' && !self.ended() {
            match self.at(self.cursor + 1) {
                '[' | ']' => {}
                _ => {
                    let mut last = self.next();
                    if last == '\\' {
                        last = match self.escape(true, true)? {
                            Escape::Char(c) => c,
                            _ => return Err(self.error("Illegal character range")),
                        };
                    } else {
                        self.cursor += 1;
                    }
                    if last < first {
                        return Err(self.error("Illegal character range"));
                    }
                    return Ok(self.span(first, last));
                }
            }
        }
        Ok(self.span(first, first))
    }

    /// The characters from one to another, with the other case of the ASCII letters among them under `(?i)`.
    fn span(&self, first: char, last: char) -> Class {
        let mut content = if first == last { escaped(first) } else { format!("{}-{}", escaped(first), escaped(last)) };
        if self.flags.case_insensitive {
            for (from, to, shift) in
                [('a', 'z', u8::to_ascii_uppercase as fn(&u8) -> u8), ('A', 'Z', u8::to_ascii_lowercase)]
            {
                let (low, high) = (first.max(from), last.min(to));
                if let (true, Ok(low), Ok(high)) = (low <= high, u8::try_from(low), u8::try_from(high)) {
                    content.push_str(&format!("{}-{}", char::from(shift(&low)), char::from(shift(&high))));
                }
            }
        }
        Class::new(content)
    }
}
