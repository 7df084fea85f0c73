//! `Text`: the string type of the data model, a slice of a shared buffer that clones without copying.

use std::borrow::{Borrow, Cow};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::str::Utf8Error;

use bytes::Bytes;
use bytestring::ByteString;

/// UTF-8 text with a cheap clone: a slice of a shared buffer, or of text that lives as long as the program.
///
/// It dereferences to `str`. A consumed record's text can share the buffer that the record came in.
///
/// ```
/// use connect_sdk::data::Text;
/// let city = Text::from_static("Rome");
/// assert_eq!(city.clone().to_uppercase(), "ROME");
/// ```
#[derive(Clone, Default)]
pub struct Text(ByteString);

impl Text {
    /// The empty text.
    #[must_use]
    pub const fn new() -> Self {
        Self(ByteString::new())
    }

    /// Text that lives as long as the program; nothing is copied or counted.
    #[must_use]
    pub const fn from_static(text: &'static str) -> Self {
        Self(ByteString::from_static(text))
    }

    /// The text as `str`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The text's UTF-8 bytes, sharing the same buffer.
    #[must_use]
    pub fn to_bytes(&self) -> Bytes {
        self.0.as_bytes().clone()
    }

    /// Gives up the text for its UTF-8 bytes, without copying.
    #[must_use]
    pub fn into_bytes(self) -> Bytes {
        self.0.into_bytes()
    }

    /// A part of this text that shares its buffer. A `part` that does not lie in this text is copied.
    #[must_use]
    pub fn slice_of(&self, part: &str) -> Self {
        let whole = self.as_str().as_bytes().as_ptr_range();
        let range = part.as_bytes().as_ptr_range();
        if whole.start <= range.start && range.end <= whole.end {
            Self(self.0.slice_ref(part))
        } else {
            Self::from(part)
        }
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for Text {
    fn as_ref(&self) -> &str {
        self
    }
}

impl AsRef<[u8]> for Text {
    fn as_ref(&self) -> &[u8] {
        self.as_bytes()
    }
}

impl Borrow<str> for Text {
    fn borrow(&self) -> &str {
        self
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Text {}

impl PartialEq<str> for Text {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for Text {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl PartialEq<Text> for str {
    fn eq(&self, other: &Text) -> bool {
        self == other.as_str()
    }
}

impl PartialEq<Text> for &str {
    fn eq(&self, other: &Text) -> bool {
        *self == other.as_str()
    }
}

impl PartialOrd for Text {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Text {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.as_str().cmp(other.as_str())
    }
}

// As `str` hashes, so that maps of texts can be asked with a `&str`.
impl Hash for Text {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self)
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self(ByteString::from(text))
    }
}

impl From<&String> for Text {
    fn from(text: &String) -> Self {
        Self(ByteString::from(text.as_str()))
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self(ByteString::from(text))
    }
}

impl From<Cow<'_, str>> for Text {
    fn from(text: Cow<'_, str>) -> Self {
        match text {
            Cow::Borrowed(text) => Self::from(text),
            Cow::Owned(text) => Self::from(text),
        }
    }
}

impl From<Text> for String {
    fn from(text: Text) -> Self {
        text.as_str().to_owned()
    }
}

impl TryFrom<Bytes> for Text {
    type Error = Utf8Error;

    fn try_from(bytes: Bytes) -> Result<Self, Utf8Error> {
        ByteString::try_from(bytes).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clone_and_a_slice_share_the_buffer() {
        let text = Text::try_from(Bytes::from("key=value".to_owned())).unwrap();
        let copy = text.clone();
        assert_eq!(copy.as_ptr(), text.as_ptr());
        let part = text.slice_of(&text[4..]);
        assert_eq!((part.as_str(), part.as_ptr()), ("value", text[4..].as_ptr()));
        assert_eq!(text.slice_of("elsewhere"), "elsewhere");
        assert_eq!(text.slice_of(&text[2..2]), "");
    }

    #[test]
    fn bytes_that_are_no_utf8_are_refused() {
        Text::try_from(Bytes::from_static(b"\xff")).unwrap_err();
    }
}
