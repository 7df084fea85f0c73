//! Values: no text makes it panic, and the text of a parsed value is a fixed point.
#![no_main]

use connect_sdk::data::values::{convert_to_string, parse_string};
use connect_sdk::data::validate_kind;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let parsed = parse_string(text);
    if let Some(schema) = &parsed.schema {
        validate_kind(schema, parsed.value.as_ref()).expect("the schema is that of the value");
    }
    let Some(value) = parsed.value else { return };
    let once = convert_to_string(&value);
    let Some(again) = parse_string(&once).value else { return };
    let twice = convert_to_string(&again);
    let Some(third) = parse_string(&twice).value else { return };
    assert_eq!(twice, convert_to_string(&third), "of {text:?}, then {once:?}");
});
