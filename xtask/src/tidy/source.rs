//! Rust files as the house rules see them: code without comments and texts, comments alone, and where the tests start.

use std::fs;
use std::path::Path;

use crate::error::{Context, Result};

/// A file's text in three views of equal length and equal lines.
#[derive(Debug)]
pub(super) struct SourceFile {
    /// From the root of the repository, with `/`.
    pub(super) path: String,
    pub(super) text: String,
    /// Comments and the insides of string and character literals are blanks.
    pub(super) code: String,
    /// Everything but comments is blanks.
    pub(super) comments: String,
}

impl SourceFile {
    pub(super) fn new(path: String, text: String) -> Self {
        let (code, comments) = split(&text);
        Self { path, text, code, comments }
    }

    /// Code that is part of the product: empty for a file of tests, and without the test module at the end of others.
    pub(super) fn product_code(&self) -> &str {
        &self.code[..self.tests_start()]
    }

    /// Code that is part of tests.
    pub(super) fn test_code(&self) -> &str {
        &self.code[self.tests_start()..]
    }

    fn tests_start(&self) -> usize {
        let is_tests = self.path.starts_with("tests/")
            || self.path.contains("/tests/")
            || self.path.contains("/benches/")
            || self.path.ends_with("/tests.rs");
        if is_tests { 0 } else { self.code.find("#[cfg(test)]\nmod ").unwrap_or(self.code.len()) }
    }

    /// `path:line` of a byte position in the file.
    pub(super) fn place(&self, position: usize) -> String {
        format!("{}:{}", self.path, 1 + self.text[..position].matches('\n').count())
    }

    /// `path:line` of a byte position in [`Self::test_code`].
    pub(super) fn test_place(&self, position: usize) -> String {
        self.place(self.tests_start() + position)
    }
}

/// Every file below `root` with this ending, sorted by path; hidden folders and build output are left out.
pub(super) fn files(root: &Path, ending: &str) -> Result<Vec<(String, String)>> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).context(|| format!("`{}` cannot be read", folder.display()))?;
        for entry in entries {
            let path = entry.context(|| format!("`{}` cannot be read", folder.display()))?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() {
                if !name.starts_with('.') && !path.join("CACHEDIR.TAG").exists() {
                    folders.push(path);
                }
            } else if name.ends_with(ending) {
                let text = fs::read_to_string(&path).context(|| format!("`{}` cannot be read", path.display()))?;
                let relative = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().replace('\\', "/");
                found.push((relative, text));
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Every Rust file below `root`.
pub(super) fn rust_files(root: &Path) -> Result<Vec<SourceFile>> {
    Ok(files(root, ".rs")?.into_iter().map(|(path, text)| SourceFile::new(path, text)).collect())
}

/// The identifiers of a piece of code with their byte positions.
pub(super) fn identifiers(code: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_part = |c: char| c == '_' || c.is_alphanumeric();
    let mut rest = 0;
    std::iter::from_fn(move || {
        let start = rest + code[rest..].find(is_part)?;
        let end = code[start..].find(|c| !is_part(c)).map_or(code.len(), |length| start + length);
        rest = end;
        Some((start, &code[start..end]))
    })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Code,
    Comment,
    Literal,
}

/// The two views of [`SourceFile`]. Blanks are one byte each, so that positions stay.
fn split(text: &str) -> (String, String) {
    let mut code = Vec::with_capacity(text.len());
    let mut comments = Vec::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let (kind, length) = next(rest, code.last().copied());
        let (piece, tail) = rest.split_at(length);
        for byte in piece.bytes() {
            let blank = if byte == b'\n' { b'\n' } else { b' ' };
            code.push(if kind == Kind::Code { byte } else { blank });
            comments.push(if kind == Kind::Comment { byte } else { blank });
        }
        rest = tail;
    }
    let whole = |bytes| String::from_utf8(bytes).expect("pieces are cut between characters, blanks are ASCII");
    (whole(code), whole(comments))
}

/// The kind and length of the piece at the start of `rest`; `before` is the last byte of code.
fn next(rest: &str, before: Option<u8>) -> (Kind, usize) {
    let bytes = rest.as_bytes();
    let in_word = before.is_some_and(|byte| byte == b'_' || byte.is_ascii_alphanumeric());
    match bytes[0] {
        b'/' if bytes.get(1) == Some(&b'/') => (Kind::Comment, rest.find('\n').unwrap_or(rest.len())),
        b'/' if bytes.get(1) == Some(&b'*') => (Kind::Comment, block_comment(bytes)),
        b'"' => (Kind::Literal, string(bytes)),
        b'r' | b'b' | b'c' if !in_word => match raw_string(rest) {
            Some(length) => (Kind::Literal, length),
            None => (Kind::Code, 1),
        },
        b'\'' => match character(rest) {
            Some(length) => (Kind::Literal, length),
            None => (Kind::Code, 1),
        },
        _ => (Kind::Code, rest.chars().next().map_or(1, char::len_utf8)),
    }
}

fn block_comment(bytes: &[u8]) -> usize {
    let mut depth = 0_usize;
    let mut position = 0;
    while position < bytes.len() {
        match &bytes[position..] {
            [b'/', b'*', ..] => (depth, position) = (depth + 1, position + 2),
            [b'*', b'/', ..] => (depth, position) = (depth - 1, position + 2),
            _ => position += 1,
        }
        if depth == 0 {
            break;
        }
    }
    position
}

fn string(bytes: &[u8]) -> usize {
    let mut position = 1;
    while position < bytes.len() {
        match bytes[position] {
            b'\\' => position += 2,
            b'"' => return position + 1,
            _ => position += 1,
        }
    }
    bytes.len()
}

/// `r"..."`, `r#"..."#`, also with `b` or `c` in front; none if no such literal starts here.
fn raw_string(rest: &str) -> Option<usize> {
    let after = rest.strip_prefix("br").or_else(|| rest.strip_prefix("cr")).or_else(|| rest.strip_prefix('r'))?;
    let n_hashes = after.len() - after.trim_start_matches('#').len();
    let body = after[n_hashes..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(n_hashes));
    let length = body.find(&end).map_or(body.len(), |at| at + end.len());
    Some(rest.len() - body.len() + length)
}

/// A character literal; none if the quote starts a lifetime.
fn character(rest: &str) -> Option<usize> {
    let inner = &rest[1..];
    if inner.starts_with('\\') {
        // The character after the backslash can be a quote itself.
        let end = inner.char_indices().skip(2).find(|(_, c)| *c == '\'')?.0;
        return Some(1 + end + 1);
    }
    let c = inner.chars().next()?;
    inner[c.len_utf8()..].starts_with('\'').then_some(1 + c.len_utf8() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_are_told_from_code() {
        for (text, code, comments) in [
            ("a // b\nc", "a     \nc", "  // b\n "),
            ("a /* b /* c */ d */ e", "a                   e", "  /* b /* c */ d */  "),
            ("f(\"// x\\\" y\") // z", "f(          )     ", "              // z"),
            ("r#\"a\" // b\"# c", "             c", "              "),
            ("br\"a\" for_r\"b\"", "      for_r   ", "              "),
            ("'\\'' '\"' 'a 'x'", "         'a    ", "               "),
            ("'\\u{1F}' é 'é'", "         é     ", "               "),
        ] {
            let found = split(text);
            assert_eq!((found.0.trim_end(), found.1.trim_end()), (code.trim_end(), comments.trim_end()), "{text}");
            assert_eq!(found.0.len(), text.len(), "{text}");
        }
    }

    #[test]
    fn the_test_module_at_the_end_is_no_product_code() {
        let file = SourceFile::new("a/src/b.rs".to_owned(), "fn a() {}\n#[cfg(test)]\nmod tests {}\n".to_owned());
        assert_eq!(file.product_code(), "fn a() {}\n");
        assert_eq!(file.test_place(0), "a/src/b.rs:2");
        let tests = SourceFile::new("a/tests/b.rs".to_owned(), "fn a() {}\n".to_owned());
        assert_eq!(tests.product_code(), "");
    }

    #[test]
    fn identifiers_are_whole_words() {
        let found: Vec<_> = identifiers("use tokio_util::a; tokio").collect();
        assert_eq!(found, [(0, "use"), (4, "tokio_util"), (16, "a"), (19, "tokio")]);
    }
}
