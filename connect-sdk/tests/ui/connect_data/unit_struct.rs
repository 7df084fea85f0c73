//! A struct without fields.

use connect_sdk::prelude::*;

#[derive(ConnectData)]
struct Nothing; //~ ERROR a type without fields has no value to send
