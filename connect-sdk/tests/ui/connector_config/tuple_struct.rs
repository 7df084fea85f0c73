//! A configuration without names.

use connect_sdk::prelude::*;

#[derive(ConnectorConfig)]
struct Settings(String); //~ ERROR each field is a key, so that it needs a name
