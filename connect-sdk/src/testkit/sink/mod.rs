//! Tests of sinks: [`sink_kit`] checks the promise of any sink, [`SinkTester`] calls one step by step.

mod kit;
mod life;
mod number_converter;
mod scenarios;
mod tester;
mod worker_run;

pub(super) use kit::Kit;
pub use kit::{SinkFixture, check_sink, sink_kit};
pub use life::SafeOffsets;
pub(super) use number_converter::NumberConverter;
pub use tester::{SinkTester, TestRecord};
