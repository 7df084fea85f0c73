//! Source partitions and offsets in the form that they have in the offsets topic: `["connector",{..}]` and `{..}`.
//!
//! Text of Java workers is read, and text that is written here is found by them: maps with several fields are written in
//! the order of a Java `HashMap`, since the bytes of a key are its identity there.

use bytes::Bytes;
use connect_sdk::data::{DataError, Map, Value};
use connect_sdk::java::hash_order::{DEFAULT_CAPACITY, sort_as_hash_map};
use connect_sdk::source::{FieldMap, FieldValue, OffsetMap, PartitionMap};

use super::read_schemaless;
use super::text::{write_double, write_integer, write_string};

/// The key under which the offset of a source partition is stored; Java allows a partition that is null.
#[must_use]
pub fn encode_offset_key(connector: &str, partition: Option<&PartitionMap>) -> Vec<u8> {
    let mut out = Vec::with_capacity(64);
    out.push(b'[');
    write_string(connector, &mut out);
    out.push(b',');
    match partition {
        Some(partition) => write_fields(partition, &mut out),
        None => out.extend_from_slice(b"null"),
    }
    out.push(b']');
    out
}

/// The value that is stored for a source partition.
#[must_use]
pub fn encode_offset(offset: &OffsetMap) -> Vec<u8> {
    let mut out = Vec::with_capacity(32);
    write_fields(offset, &mut out);
    out
}

/// The connector and the partition of a stored key; Java stores connectors with a partition that is null.
///
/// # Errors
/// The key is not a list of a text and an object of plain values: it was not written by a worker.
pub fn decode_offset_key(key: &[u8]) -> Result<(String, Option<PartitionMap>), DataError> {
    let wrong =
        || DataError::new("a key of the offsets topic is a list of two: the connector's name and its partition");
    let Some(Value::Array(parts)) = read_schemaless(&Bytes::copy_from_slice(key))? else { return Err(wrong()) };
    match &*parts {
        [Some(Value::String(connector)), partition] => Ok((connector.as_str().to_owned(), fields(partition.as_ref())?)),
        _ => Err(wrong()),
    }
}

/// A stored offset; none if it was stored as null.
///
/// # Errors
/// The value is not an object of plain values: it was not written by a worker.
pub fn decode_offset(value: &[u8]) -> Result<Option<OffsetMap>, DataError> {
    fields(read_schemaless(&Bytes::copy_from_slice(value))?.as_ref())
}

fn write_fields(fields: &FieldMap, out: &mut Vec<u8>) {
    let mut sorted: Vec<(&str, &FieldValue)> = fields.iter().collect();
    sort_as_hash_map(&mut sorted, DEFAULT_CAPACITY, |(name, _)| name);
    out.push(b'{');
    for (index, (name, value)) in sorted.into_iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write_string(name, out);
        out.push(b':');
        match value {
            FieldValue::Null => out.extend_from_slice(b"null"),
            FieldValue::Bool(value) => out.extend_from_slice(if *value { b"true" } else { b"false" }),
            FieldValue::Int(value) => write_integer(*value, out),
            FieldValue::Float(value) => write_double(*value, out),
            FieldValue::Text(text) => write_string(text, out),
        }
    }
    out.push(b'}');
}

fn fields(value: Option<&Value>) -> Result<Option<FieldMap>, DataError> {
    match value {
        None => Ok(None),
        Some(Value::Map(map)) => field_map(map).map(Some),
        Some(_) => Err(DataError::new("source partitions and offsets are objects")),
    }
}

fn field_map(map: &Map) -> Result<FieldMap, DataError> {
    let mut fields = FieldMap::with_capacity(map.len());
    for (name, value) in map.iter() {
        let name = name.and_then(Value::as_str).unwrap_or_default();
        let value = match value {
            None => FieldValue::Null,
            Some(Value::Boolean(value)) => FieldValue::Bool(*value),
            Some(Value::Int64(value)) => FieldValue::Int(*value),
            Some(Value::Float64(value)) => FieldValue::Float(*value),
            Some(Value::String(text)) => FieldValue::Text(text.as_str().to_owned()),
            Some(_) => {
                let error = DataError::new("lists and objects cannot be part of a source partition or offset");
                return Err(error.in_entry(name));
            }
        };
        fields.set(name.to_owned(), value);
    }
    Ok(fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: Vec<u8>) -> String {
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn the_form_is_javas() {
        let partition = FieldMap::new().with("filename", FieldValue::Text("a\"b.txt".into()));
        assert_eq!(
            text(encode_offset_key("local-file", Some(&partition))),
            r#"["local-file",{"filename":"a\"b.txt"}]"#
        );
        let offset = FieldMap::new()
            .with("one", FieldValue::Int(-1))
            .with("two", FieldValue::Float(1e10))
            .with("three", FieldValue::Bool(true))
            .with("four", FieldValue::Null)
            .with("five", FieldValue::Float(5.0));
        assert_eq!(text(encode_offset(&offset)), r#"{"four":null,"one":-1,"two":1.0E10,"three":true,"five":5.0}"#);
        assert_eq!(text(encode_offset(&FieldMap::new())), "{}");
    }

    #[test]
    fn what_was_encoded_is_decoded() {
        let partition =
            FieldMap::new().with("table", FieldValue::Text("é😀".into())).with("shard", FieldValue::Int(i64::MIN));
        let key = encode_offset_key("c", Some(&partition));
        assert_eq!(decode_offset_key(&key).unwrap(), ("c".to_owned(), Some(partition)));
        let offset = FieldMap::new().with("at", FieldValue::Float(-0.5)).with("none", FieldValue::Null);
        assert_eq!(decode_offset(&encode_offset(&offset)).unwrap(), Some(offset));
    }

    #[test]
    fn javas_null_partitions_and_offsets_are_read() {
        assert_eq!(decode_offset_key(br#"["c",null]"#).unwrap(), ("c".to_owned(), None));
        assert_eq!(decode_offset(b"null").unwrap(), None);
        assert_eq!(decode_offset(b"").unwrap(), None);
    }

    #[test]
    fn strange_keys_are_refused() {
        for key in [
            &b"\0"[..],
            b"i-am-not-json",
            b"",
            b"[]",
            br#"["c"]"#,
            b"[1,{}]",
            br#"["c","x"]"#,
            br#"["c",{},1]"#,
            br#"["c",{"a":[1]}]"#,
        ] {
            decode_offset_key(key).unwrap_err();
        }
        for value in [&b"5"[..], b"{", br#"{"a":{}}"#, br#"{"a":9223372036854775808}"#] {
            decode_offset(value).unwrap_err();
        }
    }
}
