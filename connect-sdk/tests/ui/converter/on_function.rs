//! The attribute stands on a function.

use connect_sdk::prelude::*;

#[converter]
fn hex(bytes: &[u8]) -> String { //~ ERROR stands on `impl Converter for ..` or `impl HeaderConverter for ..`, not on `fn`
    String::new()
}
