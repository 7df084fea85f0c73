//! Properties files: no bytes make the parser panic, and what it has read is read again from what is written.
#![no_main]

use connect_sdk::java::properties::{load, render};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(properties) = load(bytes) else { return };
    let text = render(properties.iter().map(|(key, value)| (key.as_str(), value.as_str())));
    assert_eq!(load(text.as_bytes()).expect("what was written can be read"), properties);
});
