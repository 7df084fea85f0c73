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
    /// The offsets topic of an exactly-once task.
    forbidden: Option<String>,
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
        Self { forbidden: None, admin, creation, request_bytes_max }
    }

    /// Refuses records for this topic: a task that reads its offsets would wait for its own transaction.
    pub(crate) fn forbid(self, topic: Option<&str>) -> Self {
        Self { forbidden: topic.map(str::to_owned), ..self }
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
            if self.forbidden.as_deref() == Some(topic) {
                // Kafka's words, with the topic.
                return Err(TaskError::fatal(format!(
                    "Source tasks may not produce to their own offsets topics when exactly-once support is enabled: `{topic}`"
                )));
            }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kafka::KafkaError;
    use std::time::Duration;

    /// Every topic is there.
    struct Everything;

    impl TopicAdmin for Everything {
        fn create_topic<'a>(&'a self, _: &'a TopicSpec) -> BoxFuture<'a, Result<Created, KafkaError>> {
            Box::pin(async { Ok(Created::Existed) })
        }

        fn topic<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<Option<TopicInfo>, KafkaError>> {
            Box::pin(async { Ok(Some(TopicInfo { partitions: 1, max_message_bytes: None, cleanup_policy: None })) })
        }

        fn wait_for_broker(&self, _: Duration) -> BoxFuture<'_, Result<(), KafkaError>> {
            Box::pin(async { Ok(()) })
        }
    }

    #[tokio::test]
    async fn only_the_forbidden_topic_is_refused() {
        let topics = SourceTopics::new(Arc::new(Everything), Creation::LeftToBroker, 1000).forbid(Some("offsets"));
        let error = topics.ensure("offsets").await.unwrap_err();
        assert!(!error.is_retriable());
        let kafkas = "Source tasks may not produce to their own offsets topics when exactly-once support is enabled";
        assert!(error.to_string().starts_with(kafkas), "{error}");
        assert_eq!(topics.ensure("offsets2").await.unwrap(), TopicLimits { record_bytes_max: 1000 });
    }
}
