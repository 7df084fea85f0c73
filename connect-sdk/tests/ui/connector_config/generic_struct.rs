//! A configuration has a type parameter.

use connect_sdk::prelude::*;

#[derive(ConnectorConfig)]
struct Settings<T> { //~ ERROR a configuration cannot be generic
    /// Said.
    size: T,
}
