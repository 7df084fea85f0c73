//! Connectors for tests, written with the SDK's public API: a source whose records can be foretold, and sinks that do
//! what a test tells them.
//!
//! | class | what it does | keys (defaults) |
//! | --- | --- | --- |
//! | `numbers` | source: record `i` of partition `p` is [`numbers::value`]`(p, i)`, keyed `p`, with a header `life` | `topic`, `partitions` (1), `limit` (0: none), `record.bytes` (20), `poll.records` (100), `pause.ms` (0), `group.records` (1), `seed` (0), `fail.every.polls` (0: none), `drop.every`, `refuse.every` (0: none), `life.header` (true) |
//! | `marks` | source: the same records in transactions of its own, some of which it aborts | `topic`, `partitions` (1), `limit`, `record.bytes` (20), `poll.records` (100), `pause.ms` (0), `transaction.records` (1), `abort.every` (0: none), `life.header` (true) |
//! | `unrepeatable`, `untested` | sources of one record that promise less: not exactly-once, or not tested | `topic` |
//! | `files` | buffered sink: whole lines `offset value`, flushed to disk, in files of [`record_files`] | `dir`, `flush.records` (100), `flush.interval.ms` (0: none) |
//! | `slow` | direct sink: sleeps in `put`, then writes as `files` does | `dir`, `delay.ms` (100), `blocking` (false) |
//! | `keeper` | buffered sink that keeps every record and answers `pre_commit` as it is told, rightly or wrongly | `dir`, `running` (except), `closing` (write) |
//! | `stubborn` | direct sink: its first puts fail with a retriable error, then it writes as `files` does | `dir`, `failures` (3), `retry.after.ms` (1000) |
//! | `mortal` | buffered sink that keeps every record; the first task to meet a certain value fails | `dir`, `dies.of` (poison) |
//!
//! The binary `connect-test-worker` is a worker with these and the file connectors; [`Worker`](crate::Worker) starts it
//! where [`Standalone::test_worker`](crate::Standalone::test_worker) was called.

mod failing;
mod keeper;
mod marks;
pub mod numbers;
mod promises;
pub mod record_files;
mod sinks;

pub use failing::{Mortal, MortalConfig, Stubborn, StubbornConfig};
pub use keeper::{ClosingAnswer, Keeper, KeeperConfig, RunningAnswer};
pub use marks::{Marks, MarksConfig};
pub use numbers::{Numbers, NumbersConfig};
pub use promises::{Done, Only, PromiseConfig, Unrepeatable, Untested};
pub use sinks::{Files, FilesConfig, Slow, SlowConfig};

use connect_sdk::plugin::Plugins;

/// The connectors of this module and the file connectors.
pub fn plugins() -> Plugins {
    let files = Plugins::new().source::<file_connector::FileStreamSource>().sink::<file_connector::FileStreamSink>();
    let sources = files.source::<Numbers>().source::<Marks>().source::<Unrepeatable>().source::<Untested>();
    sources.sink::<Files>().sink::<Slow>().sink::<Keeper>().sink::<Stubborn>().sink::<Mortal>()
}
