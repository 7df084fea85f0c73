//! The small converters: no bytes and no value make one panic, and what one has read it writes as it was.
#![no_main]

use arbitrary::{Arbitrary as _, Result, Unstructured};
use bytes::Bytes;
use connect_fuzz::{converter, converters::classes, generate, header_converter, write};
use connect_sdk::data::SchemaAndValue;
use connect_sdk::source::PayloadRef;
use libfuzzer_sys::fuzz_target;

const CHARSETS: [&str; 8] =
    ["UTF-8", "ISO-8859-1", "US-ASCII", "UTF-16", "UTF-16LE", "windows-1252", "Shift_JIS", "GB18030"];

fn check(u: &mut Unstructured<'_>) -> Result<()> {
    let names: Vec<&str> = classes().iter().map(|class| class.class).collect();
    let name = *u.choose(&names)?;
    if u.ratio(1, 4)? {
        let headers = header_converter(name);
        let bytes = Bytes::from(Vec::<u8>::arbitrary(u)?);
        let _read = headers.read_header("t", "h", Some(&bytes));
        let (schema, value) = (generate::schema(u)?, generate::value(u)?);
        let _some = headers.write_header("t", "h", PayloadRef::Value(Some(&schema), Some(&value)), &mut Vec::new());
        let _some = headers.write_header("t", "h", PayloadRef::Value(None, Some(&value)), &mut Vec::new());
        return Ok(());
    }
    if name.ends_with("SimpleHeaderConverter") || name.ends_with("JsonConverter") {
        return Ok(());
    }
    let text = name.ends_with("StringConverter");
    let charset = if text { u.int_in_range(0..=CHARSETS.len())? } else { 0 };
    let any = String::arbitrary(u)?;
    let settings = [("converter.encoding", CHARSETS.get(charset).copied().unwrap_or(&any))];
    let converter = if text && charset == CHARSETS.len() {
        let class = classes().into_iter().find(|class| class.class == name).expect("it was chosen");
        let settings = connect_fuzz::settings(&settings);
        let made = class.converter.expect("it converts values")(&settings, connect_sdk::converter::ConverterKind::Key);
        let Ok(converter) = made else { return Ok(()) };
        converter
    } else {
        converter(name, if text { &settings } else { &[] })
    };
    if u.ratio(1, 2)? {
        let schema = generate::schema(u)?;
        let value = if u.ratio(1, 2)? { generate::value_of(u, &schema)? } else { Some(generate::value(u)?) };
        let _some = write(&converter, PayloadRef::Value(Some(&schema), value.as_ref()));
        let _some = write(&converter, PayloadRef::Value(None, value.as_ref()));
        return Ok(());
    }
    let bytes = Bytes::copy_from_slice(u.take_rest_bytes());
    let Ok(SchemaAndValue { schema, value }) = converter.read("t", Some(&bytes)) else { return Ok(()) };
    let written = write(&converter, PayloadRef::Value(schema.as_ref(), value.as_ref()));
    let written = written.expect("what was read can be written").expect("what was no null is none");
    let again = converter.read("t", Some(&Bytes::from(written.clone()))).expect("what was written can be read");
    if text {
        // Bytes that are no text were replaced, by U+FFFD, which a charset may lack too.
        let twice = write(&converter, PayloadRef::Value(None, again.value.as_ref()));
        assert_eq!(twice, Ok(Some(written)));
    } else {
        assert_eq!(written, bytes);
    }
    Ok(())
}

/// The rest of the bytes.
trait TakeRest<'a> {
    fn take_rest_bytes(&mut self) -> &'a [u8];
}

impl<'a> TakeRest<'a> for Unstructured<'a> {
    fn take_rest_bytes(&mut self) -> &'a [u8] {
        self.bytes(self.len()).unwrap_or_default()
    }
}

fuzz_target!(|bytes: &[u8]| {
    let _end = check(&mut Unstructured::new(bytes));
});
