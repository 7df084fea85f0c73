//! Conversions of values: whatever is converted to whatever, nothing panics, and text is read again.
#![no_main]

use arbitrary::{Result, Unstructured};
use connect_fuzz::generate;
use connect_sdk::data::values::{
    convert_to_boolean, convert_to_byte, convert_to_date, convert_to_decimal, convert_to_double, convert_to_float,
    convert_to_integer, convert_to_list, convert_to_long, convert_to_map, convert_to_short, convert_to_string,
    convert_to_struct, convert_to_time, convert_to_timestamp, infer_schema, parse_string,
};
use connect_sdk::data::{Value, validate_kind, value_text};
use libfuzzer_sys::fuzz_target;

fn check(u: &mut Unstructured<'_>) -> Result<()> {
    let scale = u.int_in_range(-20..=20)?;
    let value = generate::value(u)?;
    let some = Some(&value);
    let _parts = (convert_to_boolean(some), convert_to_list(some), convert_to_map(some), convert_to_struct(some));
    let _integers = (convert_to_byte(some), convert_to_short(some), convert_to_integer(some), convert_to_long(some));
    let _floats = (convert_to_float(some), convert_to_double(some), convert_to_decimal(some, scale));
    let _times = (convert_to_date(some), convert_to_time(some), convert_to_timestamp(some));
    let _text = (value_text(&value), format!("{value:?}"));
    if let Some(schema) = infer_schema(&value) {
        validate_kind(&schema, some).expect("the schema is that of the value");
    }
    let text = convert_to_string(&value);
    let read = parse_string(&text).value;
    if let Value::Int8(_) | Value::Int16(_) | Value::Int32(_) | Value::Int64(_) | Value::Boolean(_) = value {
        let long = |value: Option<&Value>| convert_to_long(value).ok().flatten();
        assert_eq!(long(read.as_ref()), long(some), "{text}");
    }
    if let Some(read) = read {
        let _again = parse_string(&convert_to_string(&read));
    }
    Ok(())
}

fuzz_target!(|bytes: &[u8]| {
    let _end = check(&mut Unstructured::new(bytes));
});
