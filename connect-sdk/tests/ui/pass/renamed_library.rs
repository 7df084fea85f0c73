//! The library has another name.
// as: my_sdk
#![deny(warnings)]

#[derive(my_sdk::ConnectorConfig)]
#[config(crate = my_sdk)]
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
    password: ::core::option::Option<my_sdk::config::Password>,
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
#[derive(my_sdk::ConnectorConfig)]
#[config(crate = my_sdk)]
struct Empty {}
#[derive(my_sdk::ConfigEnum)]
#[config(crate = my_sdk)]
enum Mode {
    ReadCommitted,
    #[config(rename = "all")]
    Everything,
}
#[derive(my_sdk::SourcePartition)]
#[partition(crate = my_sdk)]
struct Part {
    #[partition(rename = "filename")]
    name: ::std::string::String,
    shard: ::core::option::Option<i32>,
}
#[derive(my_sdk::SourceOffset)]
#[offset(crate = my_sdk)]
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
#[derive(my_sdk::ConnectData)]
#[connect(crate = my_sdk)]
#[connect(name = "com.example.Order", version = 2)]
#[serde(rename_all = "camelCase")]
struct Order {
    order_id: i64,
    r#type: ::std::string::String,
    #[serde(default)]
    lines: ::std::vec::Vec<Line>,
    #[connect(scale = 2)]
    price: my_sdk::data::Decimal,
    #[connect(skip)]
    cache: i32,
    pay: ::core::option::Option<Pay>,
    state: State,
    id: Id,
}
#[derive(my_sdk::ConnectData)]
#[connect(crate = my_sdk)]
struct Line {
    #[connect(rename = "unitPrice", default = 1.5)]
    price: f64,
    #[connect(default = "none")]
    note: ::std::string::String,
}
#[derive(my_sdk::ConnectData)]
#[connect(crate = my_sdk)]
enum Pay {
    Card(::std::string::String),
    Transfer { iban: ::std::string::String, #[connect(skip)] n: i32 },
    Cash,
}
#[derive(my_sdk::ConnectData)]
#[connect(crate = my_sdk)]
enum State {
    Open,
    Closed,
}
#[derive(my_sdk::ConnectData)]
#[connect(crate = my_sdk)]
struct Id(::std::string::String);
#[derive(my_sdk::ConnectData)]
#[connect(crate = my_sdk)]
struct Page<T> {
    items: ::std::vec::Vec<T>,
    #[connect(default)]
    next: ::core::option::Option<T>,
}

struct Nums {
    at: my_sdk::source::Cursor<Part, At>,
}

/// Counts.
#[my_sdk::source_connector(
    name = "nums",
    java = "org.example.Nums",
    version = "1.0",
    exactly_once = unsupported(why = "an example"),
    transaction_boundaries = connector,
    on_commit = Hook,
    crate = my_sdk,
)]
impl my_sdk::source::Source for Nums {
    type Config = Settings;
    type Partition = Part;
    type Offset = At;

    async fn partitions(_: &Settings) -> my_sdk::error::Result<::std::vec::Vec<Part>> {
        ::core::result::Result::Ok(::std::vec::Vec::new())
    }
    async fn open(
        _: &Settings,
        at: my_sdk::source::Cursors<Part, At>,
    ) -> my_sdk::error::Result<Self> {
        ::core::result::Result::Ok(Self { at: at.only()? })
    }
    async fn poll(&mut self, out: &mut my_sdk::source::Batch<Self>) -> my_sdk::error::Result<()> {
        out.emit_acked(
            &mut self.at,
            my_sdk::source::Record::to("t"),
            At { i: 1, r#type: ::std::string::String::new(), ratio: 0.0, n: 0, note: ::core::option::Option::None },
            || {},
        );
        out.commit_transaction();
        ::core::result::Result::Ok(())
    }
}

struct Hook;

impl my_sdk::source::CommitHook for Hook {
    type Source = Nums;

    async fn connect(_: &Settings, _: &my_sdk::task::OpenCx) -> my_sdk::error::Result<Self> {
        ::core::result::Result::Ok(Self)
    }
    async fn committed(&mut self, _: my_sdk::source::Committed<'_, Nums>) -> my_sdk::error::Result<()> {
        ::core::result::Result::Ok(())
    }
}

struct Print;

/// Prints.
#[my_sdk::sink_connector(name = "print", crate = my_sdk)]
impl my_sdk::sink::DirectSink for Print {
    type Config = Settings;

    async fn open(_: &Settings, _: &my_sdk::task::OpenCx) -> my_sdk::error::Result<Self> {
        ::core::result::Result::Ok(Self)
    }
    async fn put(
        &mut self,
        _: &[my_sdk::sink::SinkRecord],
        _: &mut my_sdk::sink::PutCx,
    ) -> my_sdk::error::Result<()> {
        ::core::result::Result::Ok(())
    }
}

struct Lines {
    held: ::std::vec::Vec<my_sdk::sink::SinkRecord>,
}

#[my_sdk::sink_connector(name = "lines", crate = my_sdk)]
impl my_sdk::sink::BufferedSink for Lines {
    type Config = Empty;

    async fn open(_: &Empty, _: &my_sdk::task::OpenCx) -> my_sdk::error::Result<Self> {
        ::core::result::Result::Ok(Self { held: ::std::vec::Vec::new() })
    }
    async fn put(
        &mut self,
        records: ::std::vec::Vec<my_sdk::sink::SinkRecord>,
        _: &mut my_sdk::sink::PutCx,
    ) -> my_sdk::error::Result<()> {
        self.held = records;
        ::core::result::Result::Ok(())
    }
    async fn pre_commit<'c>(&mut self, at: my_sdk::sink::PreCommit<'c>) -> my_sdk::error::Result<my_sdk::sink::Safe<'c>> {
        ::core::result::Result::Ok(match at {
            my_sdk::sink::PreCommit::Running(offsets) => offsets.except(&self.held),
            my_sdk::sink::PreCommit::Closing(offsets) => offsets.redeliver(&self.held),
        })
    }
}

#[must_use]
pub fn plugins() -> my_sdk::plugin::Plugins {
    my_sdk::plugin::Plugins::new().source::<Nums>().sink::<Print>().sink::<Lines>()
}
