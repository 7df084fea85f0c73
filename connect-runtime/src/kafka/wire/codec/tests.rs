//! Bytes that a broker would not send, and versions that two sides may have.

use kafka_protocol::{
    messages::{
        ApiVersionsRequest, DescribeGroupsRequest, DescribeGroupsResponse, FindCoordinatorRequest, LeaveGroupRequest,
        ListTransactionsRequest, MetadataRequest, SaslAuthenticateRequest, SaslHandshakeRequest, SaslHandshakeResponse,
        describe_groups_response::{DescribedGroup, DescribedGroupMember},
    },
    protocol::{Encodable, decode_request_header_from_buffer},
};
use proptest::prelude::*;

use super::*;

const CORRELATION_ID: i32 = 7;

#[test]
fn the_highest_version_that_both_sides_speak_is_chosen() {
    let range = |min, max| VersionRange { min, max };
    for (ours, theirs, want) in [
        (range(4, 6), range(0, 5), Some(5)),
        (range(4, 6), range(0, 9), Some(6)),
        (range(4, 6), range(6, 9), Some(6)),
        (range(4, 6), range(0, 3), None),
        (range(4, 6), range(7, 9), None),
        // A broker that names a range that is none.
        (range(4, 6), range(5, 4), None),
        (range(4, 6), range(i16::MAX, i16::MIN), None),
    ] {
        assert_eq!(negotiate(ours, theirs), want, "{ours} and {theirs}");
    }
}

#[test]
fn only_versions_whose_lengths_can_be_checked_are_spoken() {
    assert_eq!(flexible_versions::<MetadataRequest>().min, 9);
    assert_eq!(flexible_versions::<FindCoordinatorRequest>().min, 3);
    assert_eq!(flexible_versions::<DescribeGroupsRequest>().min, 5);
    assert_eq!(flexible_versions::<LeaveGroupRequest>().min, 4);
    assert_eq!(flexible_versions::<ListTransactionsRequest>().min, 0);
    assert!(flexible_versions::<SaslHandshakeRequest>().is_empty(), "it has none, and is sent as it is");
}

#[test]
fn a_request_is_framed_with_its_size_and_its_header() {
    let request = LeaveGroupRequest::default();
    let frame = encode(&request, 5, CORRELATION_ID, "me").unwrap();
    let size = u32::from_be_bytes(frame[..4].try_into().unwrap());
    assert_eq!(size as usize, frame.len() - 4);
    let mut rest = frame.freeze().slice(4..);
    let header = decode_request_header_from_buffer(&mut rest).unwrap();
    assert_eq!((header.request_api_key, header.request_api_version, header.correlation_id), (13, 5, CORRELATION_ID));
    assert_eq!(header.client_id.as_deref(), Some("me"));
    assert_eq!(LeaveGroupRequest::decode(&mut rest, 5).unwrap(), request);
    assert!(!rest.has_remaining());
}

#[test]
fn sizes_that_no_answer_has_are_refused() {
    let limit = i32::try_from(RESPONSE_BYTES_MAX).unwrap();
    for size in [4, 5, limit] {
        assert_eq!(response_size(size.to_be_bytes()), Ok(usize::try_from(size).unwrap()));
    }
    for size in [i32::MIN, -1, 0, 3, limit + 1, i32::MAX, i32::from_be_bytes(*b"HTTP")] {
        assert!(response_size(size.to_be_bytes()).is_err_and(|why| why.contains(&size.to_string())), "{size}");
    }
}

/// An answer with arrays in arrays, texts, bytes and numbers.
fn groups() -> DescribeGroupsResponse {
    let text = |text: &'static str| StrBytes::from_static_str(text);
    let member = DescribedGroupMember::default()
        .with_member_id(text("member-1"))
        .with_group_instance_id(Some(text("instance")))
        .with_member_assignment(Bytes::from(vec![0xff; 200]));
    let group =
        DescribedGroup::default().with_protocol_type(text("connect")).with_members(vec![member.clone(), member]);
    DescribeGroupsResponse::default().with_groups(vec![group])
}

fn frame(message: &impl Encodable, version: i16, header_version: i16) -> Vec<u8> {
    let mut bytes = BytesMut::new();
    ResponseHeader::default().with_correlation_id(CORRELATION_ID).encode(&mut bytes, header_version).unwrap();
    message.encode(&mut bytes, version).unwrap();
    bytes.to_vec()
}

fn read_groups(bytes: &[u8]) -> Result<DescribeGroupsResponse, String> {
    decode::<DescribeGroupsRequest>(Bytes::copy_from_slice(bytes), 5, CORRELATION_ID)
}

#[test]
fn an_answer_is_read_whole_or_not_at_all() {
    let bytes = frame(&groups(), 5, 1);
    assert_eq!(read_groups(&bytes), Ok(groups()));
    for size in 0..bytes.len() {
        assert!(read_groups(&bytes[..size]).is_err(), "cut after {size} bytes");
    }
    assert!(read_groups(&[&bytes[..], &[0]].concat()).is_err_and(|why| why.contains("1 bytes too many")));
    let other = decode::<DescribeGroupsRequest>(Bytes::from(bytes), 5, CORRELATION_ID + 1);
    assert!(other.is_err_and(|why| why.contains("answers request 7 in place of 8")));
}

/// Room for what these lengths claim would be hundreds of GiB, and to ask for it would end the process.
#[test]
fn a_length_that_is_a_lie_is_refused_wherever_it_stands() {
    let whole = frame(&groups(), 5, 1);
    for at in 4..whole.len() {
        for lie in [&[0xff, 0xff, 0xff, 0xff, 0x0f][..], &[0xff; 6], &[0x80, 0x80, 0x80, 0x80, 0x08]] {
            let mut bytes = whole.clone();
            bytes.splice(at..=at, lie.iter().copied());
            // What counts is that it comes back: some places are no lengths.
            drop(read_groups(&bytes));
        }
    }
    let mut lie = frame(&DescribeGroupsResponse::default(), 5, 1);
    let groups_at = lie.len() - 2;
    lie.splice(groups_at..=groups_at, [0xff, 0xff, 0xff, 0xff, 0x0f]);
    assert!(read_groups(&lie).is_err_and(|why| why.contains("cannot be read")));
}

#[test]
fn a_lie_is_found_behind_a_byte_that_is_no_part_of_it() {
    // A boolean that is neither 0 nor 1 looks like the first byte of an integer.
    let mut buffer = Untrusted {
        bytes: Bytes::from_static(&[0x80, 0x80, 0x80, 0x80, 0x80, 0x0f]),
        recent: [0; VARINT_BYTES_MAX],
        n_recent: 0,
        ints_are_lengths: false,
    };
    let read: Vec<bool> = (0..6).map(|_| buffer.try_get_u8().is_ok()).collect();
    assert_eq!(read, [true, true, true, true, true, false]);
}

#[test]
fn a_lie_in_an_answer_of_the_old_form_is_refused() {
    let known = SaslHandshakeResponse::default().with_mechanisms(vec![StrBytes::from_static_str("PLAIN")]);
    let mut bytes = frame(&known, 1, 0);
    let read = |bytes: &[u8]| decode::<SaslHandshakeRequest>(Bytes::copy_from_slice(bytes), 1, CORRELATION_ID);
    assert_eq!(read(&bytes), Ok(known));
    bytes[6..10].copy_from_slice(&i32::MAX.to_be_bytes());
    assert!(read(&bytes).is_err());
}

proptest! {
    #[test]
    fn no_bytes_make_a_decoder_panic(body in prop::collection::vec(any::<u8>(), 0..300), tail in 0_usize..8) {
        let mut bytes = CORRELATION_ID.to_be_bytes().to_vec();
        // Most answers begin with zeros: without them nearly all bytes fail at once.
        bytes.resize(bytes.len() + tail, 0);
        bytes.extend(body);
        let bytes = Bytes::from(bytes);
        drop(decode::<ApiVersionsRequest>(bytes.clone(), 3, CORRELATION_ID));
        drop(decode::<SaslHandshakeRequest>(bytes.clone(), 1, CORRELATION_ID));
        drop(decode::<SaslAuthenticateRequest>(bytes.clone(), 2, CORRELATION_ID));
        drop(decode::<MetadataRequest>(bytes.clone(), 12, CORRELATION_ID));
        drop(decode::<FindCoordinatorRequest>(bytes.clone(), 4, CORRELATION_ID));
        drop(decode::<ListTransactionsRequest>(bytes.clone(), 1, CORRELATION_ID));
        drop(decode::<DescribeGroupsRequest>(bytes.clone(), 5, CORRELATION_ID));
        drop(decode::<LeaveGroupRequest>(bytes, 5, CORRELATION_ID));
    }
}
