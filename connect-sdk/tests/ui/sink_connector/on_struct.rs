//! The attribute stands on the struct.

use connect_sdk::prelude::*;
use given::Settings;

#[sink_connector(name = "print")]
struct Print; //~ ERROR stands on `impl DirectSink for ..` or `impl BufferedSink for ..`, not on `struct`
