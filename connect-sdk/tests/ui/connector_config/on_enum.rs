//! A configuration is an enum.

use connect_sdk::prelude::*;

#[derive(ConnectorConfig)]
enum Settings { //~ ERROR `#[derive(ConfigEnum)]` goes on the enum
    Fast,
}
