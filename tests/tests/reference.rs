//! Goal: the reference names every key of our own with its default. Method: the definitions are looked up in its text.
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
