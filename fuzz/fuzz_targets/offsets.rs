//! Stored offsets: no key, value or file of a Java worker makes a reader panic, and what was stored is read again.
#![no_main]

use connect_fuzz::converters::json::offsets::{decode_offset, decode_offset_key, encode_offset, encode_offset_key};
use connect_fuzz::java_map_entries;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _entries = java_map_entries(bytes);
    // Behind the part that every file has.
    let mut file = JAVA_FILE.to_vec();
    file.extend_from_slice(bytes);
    let _entries = java_map_entries(&file);
    if let Ok((connector, partition)) = decode_offset_key(bytes) {
        let again = decode_offset_key(&encode_offset_key(&connector, partition.as_ref()));
        assert_eq!(again, Ok((connector, partition)));
    }
    if let Ok(Some(offset)) = decode_offset(bytes) {
        assert_eq!(decode_offset(&encode_offset(&offset)), Ok(Some(offset)));
    }
});

/// The beginning of a map that Java has written, up to the number of its entries.
const JAVA_FILE: &[u8] = b"\xac\xed\0\x05sr\0\x11java.util.HashMap\x05\x07\xda\xc1\xc3\x16`\xd1\x03\0\x02F\0\x0aloadFactorI\0\
    \x09thresholdxp?@\0\0\0\0\0\x0cw\x08\0\0\0\x10";
