//! Bytes that were read and not yet emitted, cut into lines as Java cuts them: at `\n`, `\r\n` and a lone `\r`.

use std::borrow::Cow;

/// The unread rest of a file's last chunks.
#[derive(Debug, Default)]
pub(super) struct LineBuffer {
    bytes: Vec<u8>,
    /// First byte that was not emitted.
    start: usize,
    /// There is no terminator between `start` and here, so a long line is not searched again from its beginning.
    searched: usize,
}

/// A line without its terminator.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Line<'a> {
    pub(super) text: Cow<'a, str>,
    /// Bytes in the file, with the terminator.
    pub(super) len: usize,
    /// Some bytes were not UTF-8 and were replaced, as Java replaces them.
    pub(super) replaced: bool,
}

impl LineBuffer {
    /// The next whole line, if there is one.
    pub(super) fn next_line(&mut self) -> Option<Line<'_>> {
        let end = memchr::memchr2(b'\n', b'\r', &self.bytes[self.searched..]).map(|i| self.searched + i);
        let Some(end) = end else {
            self.searched = self.bytes.len();
            return None;
        };
        self.searched = end;
        let next = match (self.bytes[end], self.bytes.get(end + 1)) {
            (b'\n', _) => end + 1,
            (_, Some(b'\n')) => end + 2,
            (_, Some(_)) => end + 1,
            // Whether this `\r` is a whole terminator only the next byte can tell.
            (_, None) => return None,
        };
        let start = self.start;
        self.start = next;
        self.searched = next;
        Some(line(&self.bytes[start..end], next - start))
    }

    /// Everything that is left, as a last line without a terminator (or with a `\r` that nothing follows).
    pub(super) fn take_rest(&mut self) -> Option<Line<'_>> {
        let rest = &self.bytes[self.start..];
        if rest.is_empty() {
            return None;
        }
        self.start = self.bytes.len();
        self.searched = self.start;
        Some(line(rest.strip_suffix(b"\r").unwrap_or(rest), rest.len()))
    }

    /// Bytes that wait for the end of their line.
    pub(super) fn len(&self) -> usize {
        self.bytes.len() - self.start
    }

    /// Passes over `n` bytes, if they are there.
    pub(super) fn skip(&mut self, n: usize) {
        self.start = (self.start + n).min(self.bytes.len());
        self.searched = self.searched.max(self.start);
    }

    /// True if the bytes that wait begin with these.
    pub(super) fn starts_with(&self, prefix: &[u8]) -> bool {
        self.bytes[self.start..].starts_with(prefix)
    }

    /// Lends the memory for reading more behind what is left; give it back with [`Self::put_back`].
    pub(super) fn take_bytes(&mut self) -> Vec<u8> {
        self.bytes.drain(..self.start);
        self.searched -= self.start;
        self.start = 0;
        std::mem::take(&mut self.bytes)
    }

    /// Takes the memory back, with what was read.
    pub(super) fn put_back(&mut self, bytes: Vec<u8>) {
        self.bytes = bytes;
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.start = 0;
        self.searched = 0;
    }
}

fn line(bytes: &[u8], len: usize) -> Line<'_> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Line { text: Cow::Borrowed(text), len, replaced: false },
        Err(_) => Line { text: String::from_utf8_lossy(bytes), len, replaced: true },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds `input` in pieces of `piece` bytes; every line with its length, then the rest.
    fn cut(input: &[u8], piece: usize) -> (Vec<(String, usize)>, usize) {
        let mut buffer = LineBuffer::default();
        let mut lines = Vec::new();
        for part in input.chunks(piece) {
            let mut bytes = buffer.take_bytes();
            bytes.extend_from_slice(part);
            buffer.put_back(bytes);
            while let Some(line) = buffer.next_line() {
                lines.push((line.text.into_owned(), line.len));
            }
        }
        (lines, buffer.len())
    }

    #[test]
    fn lines_are_cut_alike_in_pieces_of_any_size() {
        type Lines = [(&'static str, usize)];
        let cases: [(&str, &Lines, usize); 7] = [
            ("a\nb\n", &[("a", 2), ("b", 2)], 0),
            ("a\r\nb\r\n", &[("a", 3), ("b", 3)], 0),
            ("a\rb\rc", &[("a", 2), ("b", 2)], 1),
            ("a\n\nb\n", &[("a", 2), ("", 1), ("b", 2)], 0),
            ("a\r\r\nb\n", &[("a", 2), ("", 2), ("b", 2)], 0),
            ("é1\nb\n", &[("é1", 4), ("b", 2)], 0),
            ("half", &[], 4),
        ];
        for (input, expected, rest) in cases {
            let expected: Vec<_> = expected.iter().map(|(t, n)| ((*t).to_owned(), *n)).collect();
            for piece in 1..=input.len() {
                assert_eq!(cut(input.as_bytes(), piece), (expected.clone(), rest), "{input:?} in pieces of {piece}");
            }
        }
    }

    #[test]
    fn a_carriage_return_at_the_end_waits_for_the_next_byte() {
        assert_eq!(cut(b"a\r", 2), (vec![], 2));
        assert_eq!(cut(b"a\r\n", 1), (vec![("a".to_owned(), 3)], 0));
    }

    #[test]
    fn the_rest_is_a_line_of_its_own() {
        let mut buffer = LineBuffer::default();
        buffer.put_back(b"x\ny\r".to_vec());
        assert_eq!(buffer.next_line().unwrap().text, "x");
        assert!(buffer.next_line().is_none());
        let rest = buffer.take_rest().unwrap();
        assert_eq!((rest.text.as_ref(), rest.len), ("y", 2));
        assert!(buffer.take_rest().is_none());
    }

    #[test]
    fn malformed_text_is_replaced_and_said() {
        let mut buffer = LineBuffer::default();
        buffer.put_back(b"a\xFFb\n".to_vec());
        let line = buffer.next_line().unwrap();
        assert_eq!((line.text.as_ref(), line.len, line.replaced), ("a\u{FFFD}b", 4, true));
    }
}
