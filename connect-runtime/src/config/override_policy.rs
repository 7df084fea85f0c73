//! What connectors may override in their Kafka clients.

use std::collections::BTreeMap;

use connect_sdk::config::{ConfigError, ConfigType, ParsedValue};

/// The keys that the policy `Principal` lets connectors set.
const PRINCIPAL_KEYS: [&str; 3] = ["sasl.jaas.config", "sasl.mechanism", "security.protocol"];
/// The key that holds the list of the policy `Allowlist`.
const ALLOWLIST: &str = "connector.client.config.override.allowlist";

/// Which kind of Kafka client a configuration is for.
#[allow(clippy::exhaustive_enums, reason = "the three clients that connectors can have")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ClientKind {
    /// Writes records, for a source or into a dead letter queue.
    Producer,
    /// Reads records for a sink, or offsets.
    Consumer,
    /// Creates topics.
    Admin,
}

impl ClientKind {
    /// What keys of a connector's configuration for this client start with.
    #[must_use]
    pub fn override_prefix(self) -> &'static str {
        match self {
            Self::Producer => "producer.override.",
            Self::Consumer => "consumer.override.",
            Self::Admin => "admin.override.",
        }
    }

    /// What keys of the worker's configuration for this client start with.
    #[must_use]
    pub fn worker_prefix(self) -> &'static str {
        match self {
            Self::Producer => "producer.",
            Self::Consumer => "consumer.",
            Self::Admin => "admin.",
        }
    }
}

/// The worker's `connector.client.config.override.policy`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OverridePolicy {
    /// Everything may be overridden.
    #[default]
    All,
    /// Nothing may be overridden.
    None,
    /// The login may be overridden.
    Principal,
    /// What `connector.client.config.override.allowlist` lists may be overridden.
    Allowlist(Vec<String>),
}

impl OverridePolicy {
    /// Reads the policy out of a worker's properties: a name, or the Java class.
    ///
    /// # Errors
    /// There is no such policy.
    pub fn from_properties(properties: &BTreeMap<String, String>) -> Result<Self, ConfigError> {
        const KEY: &str = "connector.client.config.override.policy";
        let given = properties.get(KEY).map_or("All", |text| text.trim());
        let simple = given.rsplit('.').next().unwrap_or(given);
        match simple.strip_suffix("ConnectorClientConfigOverridePolicy").unwrap_or(simple) {
            "All" => Ok(Self::All),
            "None" => Ok(Self::None),
            "Principal" => Ok(Self::Principal),
            "Allowlist" => {
                let text = properties.get(ALLOWLIST).map(String::as_str);
                match ParsedValue::parse(ALLOWLIST, text, ConfigType::List)? {
                    ParsedValue::List(keys) => Ok(Self::Allowlist(keys)),
                    _ => Ok(Self::Allowlist(Vec::new())),
                }
            }
            _ => Err(ConfigError::invalid(KEY, &given.into(), "it must be one of: All, None, Principal, Allowlist")),
        }
    }

    /// The policy's name in messages.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::All => "All",
            Self::None => "None",
            Self::Principal => "Principal",
            Self::Allowlist(_) => "Allowlist",
        }
    }

    /// Whether a client's key, without its prefix, may be overridden.
    #[must_use]
    pub fn allows(&self, key: &str) -> bool {
        match self {
            Self::All => true,
            Self::None => false,
            Self::Principal => PRINCIPAL_KEYS.contains(&key),
            Self::Allowlist(keys) => keys.iter().any(|allowed| allowed == key),
        }
    }

    /// What a connector overrides though it may not, each on its whole key.
    #[must_use]
    pub fn violations<'a>(&self, client: ClientKind, keys: impl IntoIterator<Item = &'a str>) -> Vec<ConfigError> {
        let denied = |key: &'a str| {
            let bare = key.strip_prefix(client.override_prefix())?;
            let policy = self.name();
            (!self.allows(bare)).then(|| {
                let text = format!(
                    "The '{policy}' policy does not allow '{bare}' to be overridden in the connector configuration."
                );
                ConfigError::on(key, text)
            })
        };
        keys.into_iter().filter_map(denied).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_are_known_by_name_and_by_class() {
        let policy = |text: &str| {
            let key = "connector.client.config.override.policy".to_owned();
            OverridePolicy::from_properties(&BTreeMap::from([
                (key, text.to_owned()),
                (ALLOWLIST.to_owned(), "linger.ms, acks".to_owned()),
            ]))
        };
        assert_eq!(policy("None"), Ok(OverridePolicy::None));
        let java = "org.apache.kafka.connect.connector.policy.PrincipalConnectorClientConfigOverridePolicy";
        assert_eq!(policy(java), Ok(OverridePolicy::Principal));
        assert_eq!(policy("Allowlist"), Ok(OverridePolicy::Allowlist(vec!["linger.ms".to_owned(), "acks".to_owned()])));
        assert!(policy("Some").is_err());
    }

    #[test]
    fn what_a_policy_denies_is_told_by_key() {
        let keys = ["producer.override.acks", "producer.override.sasl.mechanism", "consumer.override.acks"];
        let denied = OverridePolicy::Principal.violations(ClientKind::Producer, keys);
        assert_eq!(denied.len(), 1);
        assert_eq!(denied[0].key(), Some("producer.override.acks"));
        assert_eq!(
            denied[0].message(),
            "The 'Principal' policy does not allow 'acks' to be overridden in the connector configuration."
        );
    }
}
