//! An impl that is not compiled has no description either.
#![deny(warnings)]

use connect_sdk::prelude::*;

#[source_connector(name = "nums", exactly_once = supported, replay_test = fixture)]
#[cfg(any())]
impl Source for Nums {
    type Config = Settings;
}

#[cfg(any())]
#[sink_connector(name = "print")]
impl DirectSink for Print {}
