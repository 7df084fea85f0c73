//! A source task's topics: found, or made by the connector's `topic.creation.*` rules or by the broker's defaults.

use crate::{
    config::TopicCreationRules,
    kafka::{Created, TopicAdmin, TopicInfo, TopicSpec},
};
use connect_sdk::{
    erased::BoxFuture,
    error::{Result, TaskError},
    task::ports::{TopicEnsurer, TopicLimits},
};
use std::sync::Arc;

/// Who makes a topic that is missing.
#[derive(Debug)]
pub(crate) enum Creation {
    /// The worker, by these rules (KIP-158).
    ByRules(Box<TopicCreationRules>),
    /// The worker, with the broker's defaults: the connector has no rules.
    ByBrokerDefaults,
    /// Nobody but the broker, if it creates topics by itself: `topic.creation.enable=false`.
    LeftToBroker,
}

/// The topics of one source task.
pub(crate) struct SourceTopics {
    admin: Arc<dyn TopicAdmin>,
    creation: Creation,
    /// The producer's `max.request.size`, in bytes.
    request_bytes_max: usize,
}

impl std::fmt::Debug for SourceTopics {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SourceTopics").field("creation", &self.creation).finish_non_exhaustive()
    }
}

impl SourceTopics {
    pub(crate) fn new(admin: Arc<dyn TopicAdmin>, creation: Creation, request_bytes_max: usize) -> Self {
        Self { admin, creation, request_bytes_max }
    }

    /// How the topic is made; `None` if the worker does not make topics.
    fn spec(&self, topic: &str) -> Result<Option<TopicSpec>> {
        let name = topic.to_owned();
        let rules = match &self.creation {
            Creation::LeftToBroker => return Ok(None),
            Creation::ByBrokerDefaults => return Ok(Some(TopicSpec { name, ..TopicSpec::default() })),
            Creation::ByRules(rules) => rules,
        };
        let group = rules
            .group(topic)
            .map_err(|e| TaskError::fatal(format!("no topic creation group can be found for topic `{topic}`: {e}")))?;
        tracing::info!(topic, group = group.name, "creating topic");
        Ok(Some(TopicSpec {
            name,
            partitions: Some(group.partitions).filter(|n| *n != -1),
            replication_factor: Some(i32::from(group.replication_factor)).filter(|n| *n != -1),
            configs: group.configs.iter().map(|(k, v)| (k.clone(), v.clone())).collect(),
        }))
    }
}

impl TopicEnsurer for SourceTopics {
    fn ensure<'a>(&'a self, topic: &'a str) -> BoxFuture<'a, Result<TopicLimits>> {
        Box::pin(async move {
            if let Some(info) = self.admin.topic(topic).await? {
                return Ok(info.limits(self.request_bytes_max));
            }
            let unknown = TopicInfo { partitions: 0, max_message_bytes: None, cleanup_policy: None };
            let Some(spec) = self.spec(topic)? else { return Ok(unknown.limits(self.request_bytes_max)) };
            if self.admin.create_topic(&spec).await? == Created::New {
                tracing::info!(topic, "topic created");
            }
            let info = self.admin.topic(topic).await?.unwrap_or(unknown);
            Ok(info.limits(self.request_bytes_max))
        })
    }
}
