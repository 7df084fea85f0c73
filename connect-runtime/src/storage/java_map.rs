//! Reads the one Java-serialised object that Java's standalone worker writes: a `HashMap<byte[], byte[]>`.

use std::fmt;

/// Keys and values of the map, in the order of the stream; either may be null in Java.
pub(crate) type JavaEntries = Vec<(Option<Vec<u8>>, Option<Vec<u8>>)>;

/// The first four bytes of every Java object stream.
pub(crate) const MAGIC: [u8; 4] = [0xAC, 0xED, 0x00, 0x05];

/// More entries than this are taken for a damaged file.
const ENTRIES_MAX: u32 = 10_000_000;

const NULL: u8 = 0x70;
const REFERENCE: u8 = 0x71;
const CLASS_DESC: u8 = 0x72;
const OBJECT: u8 = 0x73;
const ARRAY: u8 = 0x75;
const BLOCK_DATA: u8 = 0x77;
const END_BLOCK_DATA: u8 = 0x78;
const FIRST_HANDLE: u32 = 0x007E_0000;

/// Why a stream cannot be read, with the byte where it became clear.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct JavaMapError {
    at: usize,
    why: String,
}

impl fmt::Display for JavaMapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not a Java-serialised `HashMap<byte[], byte[]>`: {} at byte {}", self.why, self.at)
    }
}

impl std::error::Error for JavaMapError {}

/// Reads the map of a whole stream.
///
/// # Errors
/// Anything but the one object that `FileOffsetBackingStore` writes.
pub(crate) fn read_java_map(stream: &[u8]) -> Result<JavaEntries, JavaMapError> {
    let mut reader = Reader { stream, at: 0, handles: Vec::new() };
    reader.expect_bytes(&MAGIC, "the stream header")?;
    reader.expect_bytes(&[OBJECT], "an object")?;
    reader.class_desc("java.util.HashMap")?;
    reader.handles.push(Handle::Other);
    // The fields `loadFactor` and `threshold`, which mean nothing here.
    reader.take(8)?;
    reader.expect_bytes(&[BLOCK_DATA, 8], "the map's size")?;
    reader.take(4)?;
    let n = reader.u32()?;
    if n > ENTRIES_MAX {
        return Err(reader.error(format!("{n} entries are announced; at most {ENTRIES_MAX} are read")));
    }
    let mut entries = Vec::new();
    for _ in 0..n {
        entries.push((reader.byte_array()?, reader.byte_array()?));
    }
    reader.expect_bytes(&[END_BLOCK_DATA], "the end of the map")?;
    Ok(entries)
}

/// What a back reference can mean.
enum Handle {
    /// The class `byte[]`.
    ByteArrayClass,
    /// A byte array, by its place.
    Bytes(usize, usize),
    Other,
}

struct Reader<'a> {
    stream: &'a [u8],
    at: usize,
    handles: Vec<Handle>,
}

impl<'a> Reader<'a> {
    fn error(&self, why: impl Into<String>) -> JavaMapError {
        JavaMapError { at: self.at, why: why.into() }
    }

    fn take(&mut self, n: usize) -> Result<&'a [u8], JavaMapError> {
        let rest = &self.stream[self.at..];
        if rest.len() < n {
            return Err(self.error("the file ends too early"));
        }
        self.at += n;
        Ok(&rest[..n])
    }

    fn expect_bytes(&mut self, expected: &[u8], what: &str) -> Result<(), JavaMapError> {
        if self.stream[self.at..].starts_with(expected) {
            self.at += expected.len();
            return Ok(());
        }
        Err(self.error(format!("{what} was expected")))
    }

    fn u32(&mut self) -> Result<u32, JavaMapError> {
        let bytes = self.take(4)?;
        Ok(bytes.iter().fold(0, |n, b| n << 8 | u32::from(*b)))
    }

    fn utf(&mut self) -> Result<&'a [u8], JavaMapError> {
        let len = self.take(2)?;
        self.take(usize::from(len[0]) << 8 | usize::from(len[1]))
    }

    /// A class description with this name, without annotations and without a superclass description.
    fn class_desc(&mut self, name: &str) -> Result<(), JavaMapError> {
        self.expect_bytes(&[CLASS_DESC], "a class description")?;
        let found = self.utf()?;
        if found != name.as_bytes() {
            return Err(self.error(format!(
                "an object of class `{}` was found instead of `{name}`",
                String::from_utf8_lossy(found)
            )));
        }
        self.take(8 + 1)?;
        self.handles.push(if name == "[B" { Handle::ByteArrayClass } else { Handle::Other });
        let n_fields = self.take(2)?;
        for _ in 0..usize::from(n_fields[0]) << 8 | usize::from(n_fields[1]) {
            let kind = self.take(1)?[0];
            self.utf()?;
            if matches!(kind, b'L' | b'[') {
                return Err(self.error("a field with an object was found in a class that has none"));
            }
        }
        self.expect_bytes(&[END_BLOCK_DATA, NULL], "the end of a class description")
    }

    fn reference(&mut self) -> Result<&Handle, JavaMapError> {
        let handle = self.u32()?;
        let index = handle.checked_sub(FIRST_HANDLE).map(|i| i as usize);
        if index.is_none_or(|i| i >= self.handles.len()) {
            return Err(self.error("a reference to nothing was found"));
        }
        Ok(&self.handles[index.expect("checked just above")])
    }

    fn byte_array(&mut self) -> Result<Option<Vec<u8>>, JavaMapError> {
        match self.take(1)?[0] {
            NULL => Ok(None),
            REFERENCE => match *self.reference()? {
                Handle::Bytes(start, end) => Ok(Some(self.stream[start..end].to_vec())),
                _ => Err(self.error("a reference to something else than a byte array was found")),
            },
            ARRAY => {
                if self.stream.get(self.at) == Some(&REFERENCE) {
                    self.at += 1;
                    if !matches!(self.reference()?, Handle::ByteArrayClass) {
                        return Err(self.error("an array of another class than `byte[]` was found"));
                    }
                } else {
                    self.class_desc("[B")?;
                }
                let len = self.u32()? as usize;
                let start = self.at;
                let bytes = self.take(len)?;
                self.handles.push(Handle::Bytes(start, start + len));
                Ok(Some(bytes.to_vec()))
            }
            other => Err(self.error(format!("a byte array was expected, not the mark {other:#04x}"))),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Writes the stream as `ObjectOutputStream` does.
    pub(crate) fn java_map(entries: &[(&[u8], &[u8])]) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        out.extend([OBJECT, CLASS_DESC, 0, 17]);
        out.extend(b"java.util.HashMap");
        out.extend([0x05, 0x07, 0xDA, 0xC1, 0xC3, 0x16, 0x60, 0xD1, 3, 0, 2]);
        out.extend(b"F\0\x0aloadFactorI\0\x09threshold");
        out.extend([END_BLOCK_DATA, NULL, 0x3F, 0x40, 0, 0, 0, 0, 0, 12, BLOCK_DATA, 8, 0, 0, 0, 16]);
        out.extend(u32::try_from(entries.len()).unwrap().to_be_bytes());
        let mut first = true;
        for array in entries.iter().flat_map(|(k, v)| [*k, *v]) {
            out.push(ARRAY);
            if first {
                out.extend([CLASS_DESC, 0, 2, b'[', b'B', 0xAC, 0xF3, 0x17, 0xF8, 6, 8, 0x54, 0xE0, 2, 0, 0]);
                out.extend([END_BLOCK_DATA, NULL]);
                first = false;
            } else {
                out.extend([REFERENCE, 0, 0x7E, 0, 2]);
            }
            out.extend(u32::try_from(array.len()).unwrap().to_be_bytes());
            out.extend(array);
        }
        out.push(END_BLOCK_DATA);
        out
    }

    #[test]
    fn a_map_is_read_entry_by_entry() {
        let entries: [(&[u8], &[u8]); 2] = [(b"k1", b"v1"), (b"key2", b"")];
        let read = read_java_map(&java_map(&entries)).unwrap();
        let expected: JavaEntries = entries.iter().map(|(k, v)| (Some(k.to_vec()), Some(v.to_vec()))).collect();
        assert_eq!(read, expected);
        assert_eq!(read_java_map(&java_map(&[])).unwrap(), vec![]);
    }

    #[test]
    fn every_shorter_stream_is_an_error_and_never_a_panic() {
        let whole = java_map(&[(b"k1", b"v1"), (b"key2", b"v")]);
        for n in 0..whole.len() {
            read_java_map(&whole[..n]).unwrap_err();
        }
    }

    #[test]
    fn another_object_is_named() {
        let mut stream = java_map(&[]);
        stream[8..25].copy_from_slice(b"java.util.HashSet");
        let error = read_java_map(&stream).unwrap_err().to_string();
        assert!(error.contains("`java.util.HashSet`"), "{error}");
    }

    #[test]
    fn a_huge_length_allocates_nothing() {
        let mut stream = java_map(&[(b"k1", b"v1")]);
        let at = stream.windows(2).rposition(|w| w == b"v1").unwrap() - 4;
        stream[at..at + 4].copy_from_slice(&u32::MAX.to_be_bytes());
        read_java_map(&stream).unwrap_err();
    }
}
