//! Goal: the reference names every key, with its default. Method: its pages are written again from the definitions and
//! compared; keys of our own are looked up in the text that is written by hand.
#![forbid(unsafe_code)]

use connect_sdk::config::own_keys::{
    BATCH_MAX_BYTES, BATCH_MAX_RECORDS, INFLIGHT_MAX_BYTES, INFLIGHT_MAX_RECORDS, PARTITIONS_REFRESH_INTERVAL_MS,
    PUT_RETRY_TIMEOUT_MS, TRANSACTION_BOUNDARY_MAX_BYTES, TRANSACTION_BOUNDARY_MAX_RECORDS,
};
use std::{fs, path::Path};

#[test]
fn every_key_of_our_own_is_in_the_reference_with_its_default() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let text = fs::read_to_string(root.join("docs/reference.md")).unwrap();
    for (key, default) in [
        BATCH_MAX_RECORDS,
        BATCH_MAX_BYTES,
        INFLIGHT_MAX_RECORDS,
        INFLIGHT_MAX_BYTES,
        PARTITIONS_REFRESH_INTERVAL_MS,
        PUT_RETRY_TIMEOUT_MS,
        TRANSACTION_BOUNDARY_MAX_BYTES,
        TRANSACTION_BOUNDARY_MAX_RECORDS,
    ] {
        assert!(
            text.contains(&format!("| `{key}` | {default} |")),
            "`{key}` with {default} is not in docs/reference.md"
        );
    }
}

#[test]
fn the_pages_of_the_reference_are_what_the_definitions_say() {
    let wrong = connect_tests::reference::differences();
    assert!(wrong.is_empty(), "{wrong:#?}; `cargo xtask docs` writes the pages anew");
}
