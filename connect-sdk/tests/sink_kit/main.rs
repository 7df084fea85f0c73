//! Goal: the sink kit passes honest sinks and catches every cheat that it claims to catch. Method: a target in memory,
//! honest sinks of each kind, and twins of them that are broken in one place.
#![cfg(feature = "testkit")]

mod broken_buffered;
mod broken_direct;
mod honest;
mod target;
mod tester;

use connect_sdk::{
    sink::SinkConnector,
    testkit::{SinkFixture, check_sink},
};
use target::Target;

/// A fixture whose target nobody else uses.
fn fixture(target: &Target) -> SinkFixture {
    let read = target.clone();
    SinkFixture::new([("target", target.name())], move || read.entries())
}

/// The kit must find what is wrong with `S`, and say it like this.
#[track_caller]
fn must_catch<S: SinkConnector>(text: &str) {
    let found = check_sink::<S>(fixture(&Target::new()));
    match found {
        Ok(()) => panic!("`{}` is broken, and the kit did not notice", S::META.name),
        Err(error) => assert!(error.contains(text), "found something else than `{text}`: {error}"),
    }
}
