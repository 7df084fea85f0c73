//! Partitions that a member of a classic consumer group has, in the words of the group's leader.

use std::collections::BTreeMap;

use bytes::Buf;

/// Reads `ConsumerProtocolAssignment`; `None` if it is something else. No length in it is trusted: room is made for what
/// was read.
///
/// All versions begin alike, and what follows the partitions is the assignor's own.
pub(super) fn partitions(mut assignment: &[u8]) -> Option<BTreeMap<String, Vec<i32>>> {
    // A member that has not been given anything yet.
    if assignment.is_empty() {
        return Some(BTreeMap::new());
    }
    let _version = assignment.try_get_i16().ok()?;
    let mut assigned: BTreeMap<String, Vec<i32>> = BTreeMap::new();
    for _ in 0..assignment.try_get_i32().ok()? {
        let topic = text(&mut assignment)?;
        let of_topic = assigned.entry(topic).or_default();
        for _ in 0..assignment.try_get_i32().ok()? {
            of_topic.push(assignment.try_get_i32().ok()?);
        }
    }
    Some(assigned)
}

fn text(from: &mut &[u8]) -> Option<String> {
    let length = usize::try_from(from.try_get_i16().ok()?).ok()?;
    let (text, rest) = from.split_at_checked(length)?;
    *from = rest;
    String::from_utf8(text.to_vec()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use kafka_protocol::{
        messages::{ConsumerProtocolAssignment, TopicName, consumer_protocol_assignment::TopicPartition},
        protocol::{Encodable, StrBytes},
    };

    fn written(version: i16) -> Vec<u8> {
        let of = |topic: &'static str, partitions: &[i32]| {
            TopicPartition::default()
                .with_topic(TopicName(StrBytes::from_static_str(topic)))
                .with_partitions(partitions.to_vec())
        };
        let assignment = ConsumerProtocolAssignment::default().with_assigned_partitions(vec![
            of("ä", &[0, i32::MAX]),
            of("b", &[]),
            of("c", &[7]),
        ]);
        let mut bytes = version.to_be_bytes().to_vec();
        assignment.encode(&mut bytes, version).expect("it is written");
        bytes
    }

    #[test]
    fn every_version_is_read() {
        let expected = [("ä", vec![0, i32::MAX]), ("b", vec![]), ("c", vec![7])];
        for version in 0..=3 {
            let read = partitions(&written(version)).expect("it is an assignment");
            assert_eq!(read, expected.iter().map(|(t, p)| ((*t).to_owned(), p.clone())).collect(), "version {version}");
        }
        assert_eq!(partitions(&[]), Some(BTreeMap::new()));
    }

    #[test]
    fn what_is_cut_short_or_claims_too_much_is_no_assignment() {
        let whole = written(0);
        // Behind the partitions come four bytes of the assignor's.
        for length in 1..whole.len() - 4 {
            assert_eq!(partitions(&whole[..length]), None, "{length} bytes");
        }
        let mut claims = whole;
        claims[2..6].copy_from_slice(&i32::MAX.to_be_bytes());
        assert_eq!(partitions(&claims), None);
        claims[6..8].copy_from_slice(&(-1_i16).to_be_bytes());
        assert_eq!(partitions(&claims), None);
    }
}
