//! JsonConverter: whatever value is written is read again, with and without schemas.
#![no_main]

use arbitrary::{Result, Unstructured};
use bytes::Bytes;
use connect_fuzz::{converter, generate, write};
use connect_sdk::data::SchemaAndValue;
use connect_sdk::source::PayloadRef;
use libfuzzer_sys::fuzz_target;

fn check(u: &mut Unstructured<'_>) -> Result<()> {
    let numeric = u.ratio(1, 2)?;
    let decimals = if numeric { "NUMERIC" } else { "BASE64" };
    if u.ratio(1, 4)? {
        // What has no schema loses its types, but not its text.
        let value = generate::value(u)?;
        let plain = converter("JsonConverter", &[("schemas.enable", "false"), ("decimal.format", decimals)]);
        let Ok(Some(once)) = write(&plain, PayloadRef::Value(None, Some(&value))) else { return Ok(()) };
        let read = plain.read("t", Some(&Bytes::from(once.clone()))).expect("what was written can be read");
        if let Some(value) = &read.value {
            let twice = write(&plain, PayloadRef::Value(None, Some(value))).expect("what was read can be written");
            let again = plain.read("t", twice.map(Bytes::from).as_ref()).expect("what was written can be read");
            assert_eq!(again, read);
        }
        return Ok(());
    }
    let schema = generate::schema(u)?;
    let value = generate::value_of(u, &schema)?;
    let settings = [("decimal.format", decimals), ("replace.null.with.default", "false")];
    let converter = converter("JsonConverter", &settings);
    let data = SchemaAndValue::new(Some(schema), value);
    let payload = || PayloadRef::Value(data.schema.as_ref(), data.value.as_ref());
    let Ok(written) = write(&converter, payload()) else { return Ok(()) };
    assert_eq!(write(&converter, payload()).as_ref(), Ok(&written), "what is remembered changes nothing");
    let read = converter.read("t", written.map(Bytes::from).as_ref()).expect("what was written can be read");
    assert_eq!(read, data);
    Ok(())
}

fuzz_target!(|bytes: &[u8]| {
    let _end = check(&mut Unstructured::new(bytes));
});
