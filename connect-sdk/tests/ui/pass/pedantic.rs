//! Expansions give no lint anything to say.
// clippy
#![deny(warnings, clippy::all, clippy::pedantic, missing_docs, missing_debug_implementations)]
#![deny(unused_qualifications, elided_lifetimes_in_paths, unreachable_pub, let_underscore_drop, unsafe_code)]
#![deny(clippy::unwrap_used, clippy::str_to_string, clippy::use_self, clippy::allow_attributes_without_reason)]
#![deny(clippy::large_futures, clippy::manual_let_else, clippy::missing_errors_doc)]
#![deny(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::panic, clippy::unreachable)]

use connect_sdk::data::Decimal;
use connect_sdk::prelude::*;
use std::path::PathBuf;
use std::time::Duration;

#[derive(ConnectorConfig)]
#[config(check = whole)]
struct Settings {
    /// Where to read.
    path: PathBuf,
    /// How many at once.
    #[config(default = 100, range = 1..=10_000_000_000, importance = high, group = "Size", display_name = "Size")]
    size: i64,
    /// How long.
    #[config(default = Duration::from_millis(5), range = 1..)]
    pause: Duration,
    /// Which share.
    #[config(default = 1, range = 0.0..=1.0, check = share)]
    ratio: f64,
    /// Who.
    password: Option<Password>,
    /// How.
    #[config(default = Mode::ReadCommitted)]
    mode: Mode,
    /// What.
    #[config(default = "all", key = "what")]
    r#type: String,
    /// Names.
    #[config(default = ["a", "b"])]
    names: Vec<String>,
    /// Public.
    #[config(not_secret, default = "t")]
    token: String,
}
fn whole(all: &Settings) -> Result<(), &'static str> {
    if all.names.is_empty() { Err("no names") } else { Ok(()) }
}
#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature of a check")]
fn share(share: &f64) -> Result<(), &'static str> {
    if share.is_nan() { Err("not a number") } else { Ok(()) }
}
#[derive(ConnectorConfig)]
struct Empty {}
#[derive(ConfigEnum)]
enum Mode {
    ReadCommitted,
    #[config(rename = "all")]
    Everything,
}
#[derive(SourcePartition)]
struct Part {
    #[partition(rename = "filename")]
    name: String,
    shard: Option<i32>,
}
#[derive(SourceOffset)]
struct At {
    i: i64,
    #[offset(default = "x")]
    r#type: String,
    #[offset(default)]
    ratio: f32,
    #[offset(default = -1)]
    n: i8,
    note: Option<String>,
}
#[derive(ConnectData)]
#[connect(name = "com.example.Order", version = 2)]
#[serde(rename_all = "camelCase")]
struct Sold {
    order_id: i64,
    r#type: String,
    #[serde(default)]
    lines: Vec<Line>,
    #[connect(scale = 2)]
    price: Decimal,
    #[connect(skip)]
    cache: i32,
    pay: Option<Pay>,
    state: State,
    id: Id,
}
#[derive(ConnectData)]
struct Line {
    #[connect(rename = "unitPrice", default = 1.5)]
    price: f64,
    #[connect(default = "none")]
    note: String,
}
#[derive(ConnectData)]
enum Pay {
    Card(String),
    Transfer { iban: String, #[connect(skip)] n: i32 },
    Cash,
}
#[derive(ConnectData)]
enum State {
    Open,
    Closed,
}
#[derive(ConnectData)]
struct Id(String);
#[derive(ConnectData)]
struct Page<T> {
    items: Vec<T>,
    #[connect(default)]
    next: Option<T>,
}

struct Nums {
    at: Cursor<Part, At>,
}

/// Counts.
#[source_connector(
    name = "nums",
    java = "org.example.Nums",
    version = "1.0",
    exactly_once = unsupported(why = "an example"),
    transaction_boundaries = connector,
    on_commit = Hook,
)]
impl Source for Nums {
    type Config = Settings;
    type Partition = Part;
    type Offset = At;

    async fn partitions(_: &Settings) -> Result<Vec<Part>> {
        Ok(Vec::new())
    }
    async fn open(
        _: &Settings,
        at: Cursors<Part, At>,
    ) -> Result<Self> {
        Ok(Self { at: at.only()? })
    }
    async fn poll(&mut self, out: &mut Batch<Self>) -> Result<()> {
        out.emit_acked(
            &mut self.at,
            Record::to("t"),
            At { i: 1, r#type: String::new(), ratio: 0.0, n: 0, note: None },
            || {},
        );
        out.commit_transaction();
        Ok(())
    }
}

struct Hook;

impl CommitHook for Hook {
    type Source = Nums;

    async fn connect(_: &Settings, _: &OpenCx) -> Result<Self> {
        Ok(Self)
    }
    async fn committed(&mut self, _: Committed<'_, Nums>) -> Result<()> {
        Ok(())
    }
}

struct Print;

/// Prints.
#[sink_connector(name = "print")]
impl DirectSink for Print {
    type Config = Settings;

    async fn open(_: &Settings, _: &OpenCx) -> Result<Self> {
        Ok(Self)
    }
    async fn put(
        &mut self,
        _: &[SinkRecord],
        _: &mut PutCx,
    ) -> Result<()> {
        Ok(())
    }
}

struct Lines {
    held: Vec<SinkRecord>,
}

#[sink_connector(name = "lines")]
impl BufferedSink for Lines {
    type Config = Empty;

    async fn open(_: &Empty, _: &OpenCx) -> Result<Self> {
        Ok(Self { held: Vec::new() })
    }
    async fn put(
        &mut self,
        records: Vec<SinkRecord>,
        _: &mut PutCx,
    ) -> Result<()> {
        self.held = records;
        Ok(())
    }
    async fn pre_commit<'c>(&mut self, at: PreCommit<'c>) -> Result<Safe<'c>> {
        Ok(match at {
            PreCommit::Running(offsets) => offsets.except(&self.held),
            PreCommit::Closing(offsets) => offsets.redeliver(&self.held),
        })
    }
}

#[must_use]
/// All.
pub fn plugins() -> Plugins {
    Plugins::new().source::<Nums>().sink::<Print>().sink::<Lines>()
}
