//! `DeadLetterTopics`: finds the topic of a dead letter queue, or makes it.

use crate::kafka::{Created, TopicAdmin, TopicInfo, TopicSpec};
use connect_sdk::{
    erased::BoxFuture,
    error::{Result, TaskError},
    task::ports::{TopicEnsurer, TopicLimits},
};
use std::sync::Arc;

/// As Kafka Connect makes it.
const PARTITIONS: i32 = 1;

/// Makes the topic of one connector's dead letter queue (`DeadLetterQueueReporter.createAndSetup`).
pub(crate) struct DeadLetterTopics {
    admin: Arc<dyn TopicAdmin>,
    replication_factor: i16,
    /// The producer's `max.request.size`, in bytes.
    request_bytes_max: usize,
}

impl std::fmt::Debug for DeadLetterTopics {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DeadLetterTopics").field("replication_factor", &self.replication_factor).finish_non_exhaustive()
    }
}

impl DeadLetterTopics {
    /// `replication_factor` is that of a topic that is missing; -1 is the broker's default.
    pub(crate) fn new(admin: Arc<dyn TopicAdmin>, replication_factor: i16, request_bytes_max: usize) -> Self {
        Self { admin, replication_factor, request_bytes_max }
    }

    async fn make(&self, topic: &str) -> Result<()> {
        let spec = TopicSpec {
            name: topic.to_owned(),
            partitions: Some(PARTITIONS),
            replication_factor: Some(i32::from(self.replication_factor)).filter(|n| *n != -1),
            configs: Vec::new(),
        };
        match self.admin.create_topic(&spec).await.map_err(TaskError::from) {
            Ok(Created::New) => tracing::info!(topic, "dead letter queue topic created"),
            Ok(_) => {}
            Err(TaskError::Fatal(cause)) => {
                return Err(TaskError::fatal(format!(
                    "the dead letter queue topic `{topic}` does not exist and cannot be made with {PARTITIONS} partition \
                     and `errors.deadletterqueue.topic.replication.factor`={} (at most the number of brokers): {cause}",
                    self.replication_factor
                )));
            }
            Err(retriable) => return Err(retriable),
        }
        Ok(())
    }
}

impl TopicEnsurer for DeadLetterTopics {
    fn ensure<'a>(&'a self, topic: &'a str) -> BoxFuture<'a, Result<TopicLimits>> {
        Box::pin(async move {
            if let Some(info) = self.admin.topic(topic).await? {
                return Ok(info.limits(self.request_bytes_max));
            }
            self.make(topic).await?;
            let unknown = TopicInfo { partitions: 0, max_message_bytes: None, cleanup_policy: None };
            Ok(self.admin.topic(topic).await?.unwrap_or(unknown).limits(self.request_bytes_max))
        })
    }
}
