//! Where configurations get values from that do not stand in them: `${provider:path:key}`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::config::ConfigError;

/// Looks up values for references in configurations, such as secrets in files.
///
/// Made once by the worker from `config.providers.<name>.param.*`, and asked whenever a worker's, a connector's or a
/// task's configuration is used: once for each path with all keys that are referred to. It may block for as long as
/// reading a local file takes.
pub trait ConfigProvider: fmt::Debug + Send + Sync + 'static {
    /// The values of `keys` under `path`, which is empty if the reference has none. A key without a value is left out;
    /// its reference then stays as it is.
    ///
    /// # Errors
    /// The path cannot be read at all; the configuration is refused.
    fn get(&self, path: &str, keys: &BTreeSet<String>) -> Result<BTreeMap<String, String>, ConfigError>;
}
