//! The trait has another name.

use connect_sdk::prelude::*;
use given::Settings;

trait Sink {}
struct Print;

#[sink_connector(name = "print")]
impl Sink for Print {} //~ ERROR `DirectSink` writes in `put`, `BufferedSink` keeps records for later
