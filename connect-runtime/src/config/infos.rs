//! The answer to a validation request, in the form of Kafka Connect's REST API.

use connect_sdk::config::{ConfigKey, ConfigValueReport};
use serde::Serialize;

/// What validation says about the configuration of a connector.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ConfigInfos {
    /// The class of the connector, as it was given.
    pub name: String,
    /// How many mistakes there are.
    pub error_count: usize,
    /// The groups of keys, in the order of forms.
    pub groups: Vec<String>,
    /// The keys.
    pub configs: Vec<ConfigInfo>,
}

/// What validation says about one key.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ConfigInfo {
    /// What the key is; absent for a key that nobody defines.
    pub definition: Option<ConfigKeyInfo>,
    /// What was made of its value.
    pub value: Option<ConfigValueInfo>,
}

/// A key, with everything as text.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ConfigKeyInfo {
    /// The key.
    pub name: String,
    /// Its type.
    #[serde(rename = "type")]
    pub config_type: String,
    /// Whether it must be set.
    pub required: bool,
    /// Its default.
    pub default_value: Option<String>,
    /// How much operators should care.
    pub importance: String,
    /// What it means.
    pub documentation: String,
    /// Its group.
    pub group: Option<String>,
    /// Its place in the group, -1 if it has none.
    pub order_in_group: i32,
    /// The width of its field.
    pub width: String,
    /// The title of its field.
    pub display_name: String,
    /// The keys whose meaning depends on it.
    pub dependents: Vec<String>,
}

/// The value of a key, as text.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ConfigValueInfo {
    /// The key.
    pub name: String,
    /// Its value; `[hidden]` for a secret, absent if it could not be read.
    pub value: Option<String>,
    /// What would make sense.
    pub recommended_values: Vec<String>,
    /// What is wrong.
    pub errors: Vec<String>,
    /// Whether a form should show it.
    pub visible: bool,
}

impl From<&ConfigKey> for ConfigKeyInfo {
    fn from(key: &ConfigKey) -> Self {
        Self {
            name: key.name().to_owned(),
            config_type: key.config_type().to_string(),
            required: key.is_required(),
            default_value: key.default_value().and_then(connect_sdk::config::ParsedValue::text),
            importance: key.importance_level().to_string(),
            documentation: key.documentation().to_owned(),
            group: key.group_name().map(str::to_owned),
            order_in_group: key.order_in_group(),
            width: key.field_width().to_string(),
            display_name: key.title().to_owned(),
            dependents: key.dependent_keys().to_vec(),
        }
    }
}

impl From<&ConfigValueReport> for ConfigValueInfo {
    fn from(report: &ConfigValueReport) -> Self {
        Self {
            name: report.name.clone(),
            value: report.text(),
            recommended_values: report.recommended.iter().filter_map(connect_sdk::config::ParsedValue::text).collect(),
            errors: report.errors.clone(),
            visible: report.visible,
        }
    }
}
