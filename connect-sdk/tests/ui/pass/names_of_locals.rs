//! Fields have the names that expansions use inside.
#![deny(warnings)]
#![allow(non_upper_case_globals)]

use connect_sdk::prelude::*;

#[derive(ConnectorConfig)]
struct Settings {
    /// Said.
    #[config(key = "own.def")]
    __def: i32,
    /// Said.
    #[config(key = "own.reader")]
    __reader: i32,
    /// Said.
    #[config(key = "own.properties")]
    __properties: i32,
    /// Said.
    #[config(key = "own.value.0")]
    __value_0: i32,
    /// Said.
    #[config(key = "own.type.0")]
    __type_0: i32,
    /// Said.
    def: i32,
    /// Said.
    reader: i32,
    /// Said.
    properties: i32,
    /// Said.
    #[config(default = value)]
    value: i32,
    /// Said.
    cx: i32,
    /// Said.
    e: i32,
}
const value: i32 = 1;

#[derive(SourceOffset)]
struct At {
    __map: i64,
    __stored: i64,
    __other: i64,
    #[offset(default = stored)]
    map: i64,
    stored: i64,
    other: i64,
    e: i64,
}
const stored: i64 = 1;

#[derive(SourcePartition)]
struct Part {
    __map: i64,
    map: i64,
    stored: i64,
}

#[derive(ConnectData)]
struct Data {
    __fields: i64,
    __schema: i64,
    __value: i64,
    fields: i64,
    schema: i64,
    value: i64,
}

#[derive(ConfigEnum)]
enum Mode {
    Fast,
}
const text: i32 = 1;
const key: i32 = 1;

#[derive(ConnectData)]
enum Choice {
    One { __content_0: i64, schema: i64, value: i64 },
    Two(i64),
}
