//! Tests of sources: [`replay`] checks the promise of any source, [`SourceTester`] calls one step by step.

mod baseline;
mod checks;
mod fixture;
mod life;
mod loop_run;
mod replay;
mod tester;

pub(super) use baseline::Baseline;
pub use fixture::Fixture;
pub(super) use life::{Checked, Emitted, Subject};
pub use life::{EmittedRecord, ReplayReport};
pub use replay::{check_source, replay};
pub use tester::SourceTester;
