//! A function and a type have one name.

use connect_sdk::prelude::*;

#[allow(non_camel_case_types)]
struct upper {}

#[transformation] //~ ERROR the name `upper` is defined multiple times
fn upper(record: ConnectRecord) -> ConnectRecord {
    record
}
