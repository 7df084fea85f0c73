//! The tests that expansions write name nothing from the author's scope either.
// with: --test -Anon_camel_case_types -Anon_upper_case_globals -Aunused_macros
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
#[partition(lock = "part.lock")]
struct Part {
    #[partition(rename = "filename")]
    name: ::std::string::String,
    shard: ::core::option::Option<i32>,
}
#[derive(::connect_sdk::SourceOffset)]
#[offset(lock = "at.lock")]
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
