//! Tests of sinks: [`sink_kit`] checks the promise of any sink, [`SinkTester`] calls one step by step.

mod kit;
mod life;
mod scenarios;
mod tester;
mod worker_run;

pub use kit::{SinkFixture, check_sink, sink_kit};
pub use life::SafeOffsets;
pub use tester::{SinkTester, TestRecord};
