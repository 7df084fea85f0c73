//! Nothing that expansions name comes from the author's scope.
// with: -Anon_camel_case_types -Anon_upper_case_globals -Aunused_macros
#![no_implicit_prelude]
#![deny(warnings)]

mod core {}
mod std {}
mod alloc {}
mod connect_sdk {}
struct Vec;
struct String;
struct Box;
struct Send;
struct Sync;
enum Option {}
enum Result {}
trait Default {}
trait From {}
trait Into {}
trait Clone {}
trait ToString {}
trait Iterator {}
fn drop() {}
const Ok: () = ();
const Err: () = ();
const Some: () = ();
const None: () = ();
type str = ();
type u8 = ();
macro_rules! format { () => {} }
macro_rules! vec { () => {} }
macro_rules! panic { () => {} }
macro_rules! unreachable { () => {} }
macro_rules! concat { () => {} }
macro_rules! module_path { () => {} }
macro_rules! option_env { () => {} }
macro_rules! include_str { () => {} }
macro_rules! matches { () => {} }

#[derive(::connect_sdk::ConnectorConfig)]
#[config(check = whole)]
struct Settings {
    /// Where to read.
    path: ::std::path::PathBuf,
    /// How many at once.
    #[config(default = 100, range = 1..=10_000_000_000, importance = high, group = "Size", display_name = "Size")]
    size: i64,
    /// How long.
    #[config(default = ::std::time::Duration::from_millis(5), range = 1..)]
    pause: ::std::time::Duration,
    /// Which share.
    #[config(default = 1, range = 0.0..=1.0, check = share)]
    ratio: f64,
    /// Who.
    password: ::core::option::Option<::connect_sdk::config::Password>,
    /// How.
    #[config(default = Mode::ReadCommitted)]
    mode: Mode,
    /// What.
    #[config(default = "all", key = "what")]
    r#type: ::std::string::String,
    /// Names.
    #[config(default = ["a", "b"])]
    names: ::std::vec::Vec<::std::string::String>,
    /// Public.
    #[config(not_secret, default = "t")]
    token: ::std::string::String,
}
fn whole(_: &Settings) -> ::core::result::Result<(), &'static ::core::primitive::str> {
    ::core::result::Result::Ok(())
}
fn share(_: &f64) -> ::core::result::Result<(), &'static ::core::primitive::str> {
    ::core::result::Result::Ok(())
}
#[derive(::connect_sdk::ConnectorConfig)]
struct Empty {}
#[derive(::connect_sdk::ConfigEnum)]
enum Mode {
    ReadCommitted,
    #[config(rename = "all")]
    Everything,
}
#[derive(::connect_sdk::SourcePartition)]
struct Part {
    #[partition(rename = "filename")]
    name: ::std::string::String,
    shard: ::core::option::Option<i32>,
}
#[derive(::connect_sdk::SourceOffset)]
struct At {
    i: i64,
    #[offset(default = "x")]
    r#type: ::std::string::String,
    #[offset(default)]
    ratio: f32,
    #[offset(default = -1)]
    n: i8,
    note: ::core::option::Option<::std::string::String>,
}
#[derive(::connect_sdk::ConnectData)]
#[connect(name = "com.example.Order", version = 2)]
#[serde(rename_all = "camelCase")]
struct Order {
    order_id: i64,
    r#type: ::std::string::String,
    #[serde(default)]
    lines: ::std::vec::Vec<Line>,
    #[connect(scale = 2)]
    price: ::connect_sdk::data::Decimal,
    #[connect(skip)]
    cache: i32,
    pay: ::core::option::Option<Pay>,
    state: State,
    id: Id,
}
#[derive(::connect_sdk::ConnectData)]
struct Line {
    #[connect(rename = "unitPrice", default = 1.5)]
    price: f64,
    #[connect(default = "none")]
    note: ::std::string::String,
}
#[derive(::connect_sdk::ConnectData)]
enum Pay {
    Card(::std::string::String),
    Transfer { iban: ::std::string::String, #[connect(skip)] n: i32 },
    Cash,
}
#[derive(::connect_sdk::ConnectData)]
enum State {
    Open,
    Closed,
}
#[derive(::connect_sdk::ConnectData)]
struct Id(::std::string::String);
#[derive(::connect_sdk::ConnectData)]
struct Page<T> {
    items: ::std::vec::Vec<T>,
    #[connect(default)]
    next: ::core::option::Option<T>,
}

struct Nums {
    at: ::connect_sdk::source::Cursor<Part, At>,
}

/// Counts.
#[::connect_sdk::source_connector(
    name = "nums",
    java = "org.example.Nums",
    version = "1.0",
    exactly_once = unsupported(why = "an example"),
    transaction_boundaries = connector,
    on_commit = Hook,
)]
impl ::connect_sdk::source::Source for Nums {
    type Config = Settings;
    type Partition = Part;
    type Offset = At;

    async fn partitions(_: &Settings) -> ::connect_sdk::error::Result<::std::vec::Vec<Part>> {
        ::core::result::Result::Ok(::std::vec::Vec::new())
    }
    async fn open(
        _: &Settings,
        at: ::connect_sdk::source::Cursors<Part, At>,
    ) -> ::connect_sdk::error::Result<Self> {
        ::core::result::Result::Ok(Self { at: at.only()? })
    }
    async fn poll(&mut self, out: &mut ::connect_sdk::source::Batch<Self>) -> ::connect_sdk::error::Result<()> {
        out.emit_acked(
            &mut self.at,
            ::connect_sdk::source::Record::to("t"),
            At { i: 1, r#type: ::std::string::String::new(), ratio: 0.0, n: 0, note: ::core::option::Option::None },
            || {},
        );
        out.commit_transaction();
        ::core::result::Result::Ok(())
    }
}

struct Hook;

impl ::connect_sdk::source::CommitHook for Hook {
    type Source = Nums;

    async fn connect(_: &Settings, _: &::connect_sdk::task::OpenCx) -> ::connect_sdk::error::Result<Self> {
        ::core::result::Result::Ok(Self)
    }
    async fn committed(&mut self, _: ::connect_sdk::source::Committed<'_, Nums>) -> ::connect_sdk::error::Result<()> {
        ::core::result::Result::Ok(())
    }
}

struct Print;

/// Prints.
#[::connect_sdk::sink_connector(name = "print")]
impl ::connect_sdk::sink::DirectSink for Print {
    type Config = Settings;

    async fn open(_: &Settings, _: &::connect_sdk::task::OpenCx) -> ::connect_sdk::error::Result<Self> {
        ::core::result::Result::Ok(Self)
    }
    async fn put(
        &mut self,
        _: &[::connect_sdk::sink::SinkRecord],
        _: &mut ::connect_sdk::sink::PutCx,
    ) -> ::connect_sdk::error::Result<()> {
        ::core::result::Result::Ok(())
    }
}

struct Lines {
    held: ::std::vec::Vec<::connect_sdk::sink::SinkRecord>,
}

#[::connect_sdk::sink_connector(name = "lines")]
impl ::connect_sdk::sink::BufferedSink for Lines {
    type Config = Empty;

    async fn open(_: &Empty, _: &::connect_sdk::task::OpenCx) -> ::connect_sdk::error::Result<Self> {
        ::core::result::Result::Ok(Self { held: ::std::vec::Vec::new() })
    }
    async fn put(
        &mut self,
        records: ::std::vec::Vec<::connect_sdk::sink::SinkRecord>,
        _: &mut ::connect_sdk::sink::PutCx,
    ) -> ::connect_sdk::error::Result<()> {
        self.held = records;
        ::core::result::Result::Ok(())
    }
    async fn pre_commit<'c>(&mut self, at: ::connect_sdk::sink::PreCommit<'c>) -> ::connect_sdk::error::Result<::connect_sdk::sink::Safe<'c>> {
        ::core::result::Result::Ok(match at {
            ::connect_sdk::sink::PreCommit::Running(offsets) => offsets.except(&self.held),
            ::connect_sdk::sink::PreCommit::Closing(offsets) => offsets.redeliver(&self.held),
        })
    }
}

#[must_use]
pub fn plugins() -> ::connect_sdk::plugin::Plugins {
    ::connect_sdk::plugin::Plugins::new().source::<Nums>().sink::<Print>().sink::<Lines>()
}
