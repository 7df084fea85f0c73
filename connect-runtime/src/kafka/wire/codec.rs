//! Messages as bytes: which version of a request is spoken, how a request becomes a frame, and how an answer is read
//! without trusting a length in it.

use bytes::{Buf, Bytes, BytesMut, TryGetError};
use kafka_protocol::{
    messages::{ApiVersionsResponse, RequestHeader, ResponseHeader},
    protocol::{
        Decodable, HeaderVersion, Request, StrBytes, VersionRange, buf::ByteBuf, buf::NotEnoughBytesError,
        encode_request_header_into_buffer,
    },
};
use rdkafka::error::RDKafkaErrorCode as Code;

use crate::kafka::error::KafkaError;

/// The largest answer that is read, in bytes; a broker that announces a larger one is not believed.
pub(super) const RESPONSE_BYTES_MAX: usize = 8 * 1024 * 1024;
/// The smallest answer: a correlation id.
const RESPONSE_BYTES_MIN: usize = 4;
/// Elements that an array of an answer may claim to have although fewer bytes are left: tags of unknown fields have the
/// same form on the wire as lengths, and may be large.
const UNCHECKED_LENGTH_MAX: usize = 64 * 1024;

/// The bytes of the longest variable integer.
const VARINT_BYTES_MAX: usize = 5;

/// The first version of the request headers that carry tagged fields; since then lengths are variable integers.
const FLEXIBLE_REQUEST_HEADER: i16 = 2;

/// The versions of a request in which every length of the answer can be checked against the bytes that are left: those
/// that Kafka calls flexible, which brokers speak since 2.4.
pub(super) fn flexible_versions<R: Request>() -> VersionRange {
    let VersionRange { min, max } = R::VERSIONS;
    let first = (min..=max).find(|version| R::header_version(*version) >= FLEXIBLE_REQUEST_HEADER);
    VersionRange { min: first.unwrap_or(max + 1), max }
}

/// The highest version that both sides speak.
pub(super) fn negotiate(ours: VersionRange, theirs: VersionRange) -> Option<i16> {
    let both = ours.intersect(&theirs);
    (!both.is_empty()).then_some(both.max)
}

/// The versions of each request that a broker says it speaks.
pub(super) fn spoken_versions(answer: &ApiVersionsResponse) -> Vec<(i16, VersionRange)> {
    answer
        .api_keys
        .iter()
        .map(|api| (api.api_key, VersionRange { min: api.min_version, max: api.max_version }))
        .collect()
}

/// A request with its size, as it goes to a broker.
pub(super) fn encode<R: Request>(
    request: &R,
    version: i16,
    correlation_id: i32,
    client_id: &str,
) -> Result<BytesMut, KafkaError> {
    let header = RequestHeader::default()
        .with_request_api_key(R::KEY)
        .with_request_api_version(version)
        .with_correlation_id(correlation_id)
        .with_client_id(Some(StrBytes::from_string(client_id.to_owned())));
    let mut frame = BytesMut::zeroed(4);
    encode_request_header_into_buffer(&mut frame, &header)
        .and_then(|()| request.encode(&mut frame, version))
        .map_err(|error| unwritable(&error.to_string()))?;
    let size = i32::try_from(frame.len() - 4).map_err(|_| unwritable("it is larger than 2 GiB"))?;
    frame[..4].copy_from_slice(&size.to_be_bytes());
    Ok(frame)
}

fn unwritable(why: &str) -> KafkaError {
    KafkaError::coded(Code::InvalidRequest, "a request cannot be written", why)
}

/// The size of the answer that follows.
///
/// # Errors
/// It is no size that a broker's answer has.
pub(super) fn response_size(prefix: [u8; 4]) -> Result<usize, String> {
    let size = i32::from_be_bytes(prefix);
    match usize::try_from(size) {
        Ok(size) if (RESPONSE_BYTES_MIN..=RESPONSE_BYTES_MAX).contains(&size) => Ok(size),
        _ => Err(format!(
            "it announces an answer of {size} bytes; an answer has between {RESPONSE_BYTES_MIN} and {RESPONSE_BYTES_MAX} \
             bytes: is this a broker's listener with another `security.protocol`, or no broker at all?"
        )),
    }
}

/// The error code of an answer whose first field it is. That can be told even if the answer has another form than was
/// asked for: a broker that does not speak a version of ApiVersions answers in version 0.
pub(super) fn first_code(frame: &[u8]) -> Option<i16> {
    let code = frame.get(RESPONSE_BYTES_MIN..)?.first_chunk()?;
    Some(i16::from_be_bytes(*code))
}

/// Reads an answer, the size taken off.
///
/// # Errors
/// What is wrong with it: it is another request's, it is cut short, or a length in it is a lie.
pub(super) fn decode<R: Request>(frame: Bytes, version: i16, correlation_id: i32) -> Result<R::Response, String> {
    let header_version = <R::Response as HeaderVersion>::header_version(version);
    // Answers without variable integers that are asked for have no 32-bit integer but lengths.
    let flexible = R::header_version(version) >= FLEXIBLE_REQUEST_HEADER;
    let answered = frame.first_chunk().map(|bytes| i32::from_be_bytes(*bytes));
    if answered != Some(correlation_id) {
        let answered = answered.map_or_else(|| "none".to_owned(), |id| id.to_string());
        return Err(format!("it answers request {answered} in place of {correlation_id}"));
    }
    let mut buffer = Untrusted { bytes: frame, recent: [0; VARINT_BYTES_MAX], n_recent: 0, ints_are_lengths: false };
    ResponseHeader::decode(&mut buffer, header_version).map_err(|error| unreadable(&error))?;
    buffer.ints_are_lengths = !flexible;
    let answer = R::Response::decode(&mut buffer, version).map_err(|error| unreadable(&error))?;
    match buffer.remaining() {
        0 => Ok(answer),
        left => Err(format!("its answer has {left} bytes too many")),
    }
}

fn unreadable(error: &impl std::fmt::Display) -> String {
    format!("its answer cannot be read: {}", error.to_string().trim_end())
}

/// An answer under a decoder that makes room for as many elements as an array claims to have before it reads the first:
/// a length above what is left is refused here, as Kafka's own decoders do.
struct Untrusted {
    bytes: Bytes,
    /// The last bytes that may belong to one variable integer. Booleans come through the same door: which byte is the
    /// first of an integer is not known here, so every one of these is taken for it.
    recent: [u8; VARINT_BYTES_MAX],
    n_recent: usize,
    ints_are_lengths: bool,
}

impl Untrusted {
    fn check(&self, length: u64) -> Result<(), TryGetError> {
        let available = self.bytes.remaining();
        let requested = usize::try_from(length).unwrap_or(usize::MAX);
        if requested > available.max(UNCHECKED_LENGTH_MAX) {
            return Err(TryGetError { requested, available });
        }
        Ok(())
    }
}

impl Buf for Untrusted {
    fn remaining(&self) -> usize {
        self.bytes.remaining()
    }

    fn chunk(&self) -> &[u8] {
        self.bytes.chunk()
    }

    fn advance(&mut self, n: usize) {
        self.bytes.advance(n);
    }

    fn try_get_u8(&mut self) -> Result<u8, TryGetError> {
        let byte = self.bytes.try_get_u8()?;
        if self.n_recent == VARINT_BYTES_MAX {
            self.recent.rotate_left(1);
            self.n_recent -= 1;
        }
        self.recent[self.n_recent] = byte;
        self.n_recent += 1;
        let is_last = byte & 0x80 == 0;
        for start in 0..self.n_recent {
            let bytes = &self.recent[start..self.n_recent];
            if is_last || bytes.len() == VARINT_BYTES_MAX {
                let number = bytes.iter().rev().fold(0, |number, byte| number << 7 | u64::from(byte & 0x7f));
                // A length is sent as one more, so that 0 is null.
                self.check(number.saturating_sub(1))?;
            }
        }
        if is_last {
            self.n_recent = 0;
        }
        Ok(byte)
    }

    fn try_get_i32(&mut self) -> Result<i32, TryGetError> {
        let number = self.bytes.try_get_i32()?;
        if self.ints_are_lengths
            && let Ok(length) = u64::try_from(number)
        {
            self.check(length)?;
        }
        Ok(number)
    }
}

impl ByteBuf for Untrusted {
    fn peek_bytes(&mut self, range: std::ops::Range<usize>) -> Bytes {
        self.bytes.peek_bytes(range)
    }

    fn get_bytes(&mut self, size: usize) -> Bytes {
        self.bytes.get_bytes(size)
    }

    fn try_get_bytes(&mut self, size: usize) -> Result<Bytes, NotEnoughBytesError> {
        self.bytes.try_get_bytes(size)
    }
}

#[cfg(test)]
#[path = "codec/tests.rs"]
mod tests;
