//! JsonConverter: no bytes make it panic, and what it has read it writes so that it reads the same again.
#![no_main]

use bytes::Bytes;
use connect_fuzz::{converter, write};
use connect_sdk::source::PayloadRef;
use libfuzzer_sys::fuzz_target;

/// A schema for messages that have none.
const CONTENT: &str = r#"{"type":"struct","fields":[{"field":"a","type":"int32"},{"field":"b","type":"array",
    "items":{"type":"string","optional":true},"optional":true},{"field":"d","type":"bytes","optional":true,
    "name":"org.apache.kafka.connect.data.Decimal","parameters":{"scale":"2"}}]}"#;

fuzz_target!(|input: (u8, &[u8])| {
    let (choice, bytes) = input;
    let decimals = if choice & 1 == 0 { "NUMERIC" } else { "BASE64" };
    let nulls = if choice & 2 == 0 { "true" } else { "false" };
    let enable = if choice & 4 == 0 { "true" } else { "false" };
    let mut settings =
        vec![("schemas.enable", enable), ("decimal.format", decimals), ("replace.null.with.default", nulls)];
    if choice & 24 == 0 {
        settings.push(("schema.content", CONTENT));
        settings[0].1 = "true";
    }
    let converter = converter("JsonConverter", &settings);
    let bytes = Bytes::copy_from_slice(bytes);
    let Ok(read) = converter.read("t", Some(&bytes)) else { return };
    assert_eq!(converter.read("t", Some(&bytes)).as_ref(), Ok(&read), "what is remembered changes nothing");
    let Ok(written) = write(&converter, PayloadRef::Value(read.schema.as_ref(), read.value.as_ref())) else { return };
    // A schema that is set is not written, and a null with a default is written as the default.
    if settings.len() > 3 || nulls == "true" {
        return;
    }
    let again = converter.read("t", written.clone().map(Bytes::from).as_ref()).expect("what was written can be read");
    // As it is written: without schema, a number that is too large has become the text `Infinity`.
    let twice = write(&converter, PayloadRef::Value(again.schema.as_ref(), again.value.as_ref()));
    assert_eq!(twice, Ok(written));
});
