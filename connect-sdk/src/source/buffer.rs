//! The bytes of a batch: its own at first, shared once values are parts of it.

use bytes::Bytes;
use std::ops::Deref;

/// The bytes of a batch.
#[derive(Debug)]
pub(super) enum Buffer {
    /// While records are put in, and as long as nobody wants parts of it.
    Own(Vec<u8>),
    /// Once transformations get values that are slices of it.
    Shared(Bytes),
}

impl Default for Buffer {
    fn default() -> Self {
        Self::Own(Vec::new())
    }
}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Own(bytes) => bytes,
            Self::Shared(bytes) => bytes,
        }
    }
}

impl Buffer {
    /// To be changed; what is shared with others is copied first.
    pub(super) fn own(&mut self) -> &mut Vec<u8> {
        if let Self::Shared(bytes) = self {
            *self = Self::Own(std::mem::take(bytes).into());
        }
        match self {
            Self::Own(bytes) => bytes,
            Self::Shared(_) => unreachable!("it was made its own above"),
        }
    }

    /// From now on parts of it can be given away without a copy.
    pub(super) fn share(&mut self) {
        if let Self::Own(bytes) = self {
            *self = Self::Shared(std::mem::take(bytes).into());
        }
    }

    /// Its memory, for other contents; none if others have parts of it.
    pub(super) fn spent(self) -> Vec<u8> {
        match self {
            Self::Own(bytes) => bytes,
            Self::Shared(bytes) => bytes.try_into_mut().map_or_else(
                |_| Vec::new(),
                |mut bytes| {
                    bytes.clear();
                    bytes.into()
                },
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_comes_back_when_nobody_has_a_part_of_it() {
        let mut buffer = Buffer::default();
        buffer.own().extend_from_slice(b"some text");
        buffer.own().reserve(100);
        let (address, capacity) = (buffer.as_ptr(), buffer.own().capacity());
        buffer.share();
        let Buffer::Shared(bytes) = &buffer else { panic!("it is shared") };
        let part = bytes.slice(5..);
        assert_eq!((part.as_ptr(), &part[..]), (buffer[5..].as_ptr(), &b"text"[..]));
        drop(part);
        let spent = buffer.spent();
        assert_eq!((spent.as_ptr(), spent.len(), spent.capacity()), (address, 0, capacity));
    }

    #[test]
    fn who_has_a_part_keeps_it() {
        let mut buffer = Buffer::Own(b"some text".to_vec());
        buffer.share();
        let Buffer::Shared(bytes) = &buffer else { panic!("it is shared") };
        let part = bytes.slice(..4);
        buffer.own()[0] = b'S';
        assert_eq!((&buffer[..], &part[..]), (&b"Some text"[..], &b"some"[..]));
        let mut buffer = Buffer::Shared(part.clone());
        buffer.share();
        assert_eq!(buffer.spent().capacity(), 0);
        assert_eq!(&part[..], b"some");
    }
}
