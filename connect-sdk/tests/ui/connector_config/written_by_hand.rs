//! The trait is implemented without the derive.

use connect_sdk::config::{ConfigDef, ConfigErrors};
use connect_sdk::prelude::*;
use std::collections::BTreeMap;

struct Settings;

impl ConnectorConfig for Settings { //~ ERROR missing: `__derived`
    fn config_def() -> ConfigDef {
        ConfigDef::new()
    }
    fn from_properties(_: &BTreeMap<String, String>) -> Result<Self, ConfigErrors> {
        Ok(Self)
    }
}
