//! Questions about topics and the cluster, and making topics. Requests wait for the broker on threads that may block.

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};

use connect_sdk::{erased::BoxFuture, sink::TopicPartition, task::ports::TopicLimits};
use rdkafka::error::RDKafkaErrorCode as Code;
use tracing::{info, warn};

use super::{
    client_config::{ClientConfig, put},
    client_events::EventThread,
    error::{ErrorClass, KafkaError},
    ffi::{Client, NewTopic, Partitions, Role},
};

/// How long one request may take.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);
/// How long one attempt to reach a broker may take.
const PROBE_TIMEOUT: Duration = Duration::from_secs(5);
/// The first pause between two attempts; it doubles each time.
const PROBE_PAUSE_FIRST: Duration = Duration::from_millis(100);
/// The longest pause.
const PROBE_PAUSE_MAX: Duration = Duration::from_secs(5);
/// How long an absent broker goes unmentioned, doubling each time it is mentioned.
const MENTION_FIRST: Duration = Duration::from_secs(2);
/// How long the news of a topic may take to reach the broker that is asked, and how often it is asked.
const SPREAD_TIMEOUT: Duration = Duration::from_secs(10);
const SPREAD_PAUSE: Duration = Duration::from_millis(10);
/// Bytes that a record costs beyond key, value and headers when it is alone in its batch, with room for many headers.
const RECORD_OVERHEAD: usize = 256;
/// librdkafka's word for a topic's end.
const OFFSET_END: i64 = -1;
const OFFSET_BEGINNING: i64 = -2;

/// A topic that is to be made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TopicSpec {
    /// Its name.
    pub name: String,
    /// How many partitions; `None`: the broker's default.
    pub partitions: Option<i32>,
    /// How many replicas; `None`: the broker's default.
    pub replication_factor: Option<i32>,
    /// Its configuration where it differs from the broker's.
    pub configs: Vec<(String, String)>,
}

/// What became of a topic that was to be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Created {
    /// It is new.
    New,
    /// It was there already; nothing was changed.
    Existed,
}

/// What is known of a topic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicInfo {
    /// How many partitions it has.
    pub partitions: usize,
    /// Its `max.message.bytes`, if the broker tells it.
    pub max_message_bytes: Option<usize>,
    /// Its `cleanup.policy`, if the broker tells it.
    pub cleanup_policy: Option<String>,
}

impl TopicInfo {
    /// The largest record, in bytes of key, value and headers, that a producer with this `max.request.size` gets into
    /// the topic.
    #[must_use]
    pub fn limits(&self, max_request_size: usize) -> TopicLimits {
        let topic = self.max_message_bytes.unwrap_or(usize::MAX).saturating_sub(RECORD_OVERHEAD);
        TopicLimits { record_bytes_max: topic.min(max_request_size) }
    }
}

/// Making topics and asking for them; `connect dev` has its own way of making them.
pub trait TopicAdmin: Send + Sync {
    /// Makes a topic, or finds that it is there.
    ///
    /// # Errors
    /// Retriable while no broker can be reached; fatal if the broker refuses the topic.
    fn create_topic<'a>(&'a self, spec: &'a TopicSpec) -> BoxFuture<'a, Result<Created, KafkaError>>;

    /// What is known of a topic; `None` if it does not exist.
    ///
    /// # Errors
    /// Retriable while no broker can be reached.
    fn topic<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Option<TopicInfo>, KafkaError>>;

    /// Waits until a broker answers; says once, and then at a growing interval, that none does.
    ///
    /// # Errors
    /// Retriable: none answered within `timeout`. Fatal: the login was refused.
    fn wait_for_broker(&self, timeout: Duration) -> BoxFuture<'_, Result<(), KafkaError>>;
}

/// An admin client.
#[derive(Debug, Clone)]
pub struct KafkaAdmin {
    client: Arc<Client>,
    events: Arc<EventThread>,
    bootstrap: Arc<str>,
}

impl KafkaAdmin {
    /// Starts a client; no broker is waited for.
    ///
    /// # Errors
    /// librdkafka refuses the configuration.
    pub fn new(config: &ClientConfig) -> Result<Self, KafkaError> {
        let mut entries = config.entries.clone();
        put(&mut entries, "allow.auto.create.topics", false);
        let client = Client::new(Role::Producer, &entries)
            .map_err(|error| KafkaError::native(&error, "cannot create an admin client"))?;
        let events = EventThread::start(&client, config)?;
        Ok(Self { client, events: Arc::new(events), bootstrap: config.bootstrap_servers().into() })
    }

    /// Runs `ask` where it may block. A client that fails meanwhile would be waited for in vain; the question is left then.
    async fn blocking<T: Send + 'static>(
        &self,
        ask: impl FnOnce(&Arc<Client>) -> Result<T, KafkaError> + Send + 'static,
    ) -> Result<T, KafkaError> {
        let client = Arc::clone(&self.client);
        let mut failure = self.events.failure();
        let mut asked = tokio::task::spawn_blocking(move || ask(&client));
        let answer = loop {
            tokio::select! {
                answer = &mut asked => break answer,
                Ok(()) = failure.changed() => {
                    if let Some(error) = failure.borrow_and_update().clone() {
                        return Err(error);
                    }
                }
            }
        };
        match answer {
            Ok(Ok(answer)) => {
                self.events.works();
                Ok(answer)
            }
            // Nobody could be asked: a client that has failed says better why.
            Ok(Err(error)) if error.class() == ErrorClass::Retriable => Err(failure.borrow().clone().unwrap_or(error)),
            Ok(Err(error)) => Err(error),
            Err(error) => Err(KafkaError::new(ErrorClass::Fatal, format!("a request to the broker ended: {error}"))),
        }
    }

    /// How many partitions a topic has; `None` if it does not exist.
    ///
    /// # Errors
    /// Retriable while no broker can be reached.
    pub async fn partitions(&self, name: &str) -> Result<Option<usize>, KafkaError> {
        let name = name.to_owned();
        self.blocking(move |client| {
            let what = format!("topic `{name}` cannot be looked up");
            let metadata = client
                .native()
                .fetch_metadata(Some(&name), REQUEST_TIMEOUT)
                .map_err(|error| KafkaError::native(&error, &what))?;
            let Some(topic) = metadata.topics().iter().find(|topic| topic.name() == name) else { return Ok(None) };
            match topic.error().map(Code::from) {
                None => Ok(Some(topic.partitions().len())),
                Some(Code::UnknownTopicOrPartition | Code::UnknownTopic) => Ok(None),
                Some(code) => Err(KafkaError::coded(code, &what, "")),
            }
        })
        .await
    }

    /// The names of all topics.
    ///
    /// # Errors
    /// Retriable while no broker can be reached.
    pub async fn topics(&self) -> Result<Vec<String>, KafkaError> {
        self.blocking(|client| topic_names(client, REQUEST_TIMEOUT)).await
    }

    /// The cluster's id, if the broker tells it.
    ///
    /// # Errors
    /// Retriable: no broker answered in time.
    pub async fn cluster_id(&self) -> Result<String, KafkaError> {
        self.blocking(|client| {
            client
                .native()
                .fetch_cluster_id(REQUEST_TIMEOUT)
                .ok_or_else(|| KafkaError::coded(Code::OperationTimedOut, "the cluster's id cannot be had", ""))
        })
        .await
    }

    /// One past the last offset of each partition; with `committed_only` as a reader of committed records sees it.
    ///
    /// # Errors
    /// Retriable while no broker can be reached or a partition has no leader.
    pub async fn end_offsets(
        &self,
        partitions: Vec<TopicPartition>,
        committed_only: bool,
    ) -> Result<BTreeMap<TopicPartition, i64>, KafkaError> {
        self.blocking(move |client| list_offsets(client, &partitions, OFFSET_END, committed_only)).await
    }

    /// The first offset of each partition that is still there.
    ///
    /// # Errors
    /// As [`Self::end_offsets`].
    pub async fn beginning_offsets(
        &self,
        partitions: Vec<TopicPartition>,
    ) -> Result<BTreeMap<TopicPartition, i64>, KafkaError> {
        self.blocking(move |client| list_offsets(client, &partitions, OFFSET_BEGINNING, false)).await
    }

    pub(super) async fn wait_until_reachable(&self, timeout: Duration) -> Result<(), KafkaError> {
        let start = Instant::now();
        let (mut pause, mut mention) = (PROBE_PAUSE_FIRST, MENTION_FIRST);
        let mut mentioned = false;
        loop {
            let left = timeout.saturating_sub(start.elapsed());
            let probe = PROBE_TIMEOUT.min(left).max(Duration::from_millis(1));
            let asked = self.blocking(move |client| topic_names(client, probe)).await;
            let Err(error) = asked else {
                if mentioned {
                    info!(bootstrap_servers = %self.bootstrap, "broker is reachable");
                }
                return Ok(());
            };
            if start.elapsed() >= timeout || error.class() == ErrorClass::Fatal {
                return Err(error);
            }
            if start.elapsed() >= mention {
                warn!(bootstrap_servers = %self.bootstrap, error = %error, "no broker can be reached, trying again");
                mentioned = true;
                mention = start.elapsed() * 2;
            }
            tokio::time::sleep(pause.min(timeout.saturating_sub(start.elapsed()))).await;
            pause = (pause * 2).min(PROBE_PAUSE_MAX);
        }
    }

    async fn request_topic(&self, spec: TopicSpec) -> Result<Created, KafkaError> {
        self.blocking(move |client| {
            let topic = NewTopic {
                name: &spec.name,
                partitions: spec.partitions.unwrap_or(-1),
                replication_factor: spec.replication_factor.unwrap_or(-1),
                configs: &spec.configs,
            };
            let what = format!("topic `{}` cannot be made", spec.name);
            let refused = |(code, why): (Code, String)| KafkaError::coded(code, &what, &why);
            let outcomes = client.create_topics(&[topic], REQUEST_TIMEOUT).map_err(refused)?;
            match outcomes.into_iter().find(|outcome| outcome.name == spec.name).map(|outcome| outcome.result) {
                Some(Ok(())) => Ok(Created::New),
                Some(Err((Code::TopicAlreadyExists, _))) => Ok(Created::Existed),
                Some(Err((code, why))) => {
                    let error = refused((code, why));
                    // A wrong number or setting stays wrong.
                    Err(if code == Code::InvalidArgument { error.fatal() } else { error })
                }
                None => Err(KafkaError::coded(Code::Fail, &what, "the broker's answer does not name it")),
            }
        })
        .await
    }

    /// The controller answers before every broker knows a new topic; who asks in between would hear that there is none.
    async fn wait_until_known(&self, name: &str) -> Result<(), KafkaError> {
        let start = Instant::now();
        while self.partitions(name).await?.is_none() && start.elapsed() < SPREAD_TIMEOUT {
            tokio::time::sleep(SPREAD_PAUSE).await;
        }
        Ok(())
    }

    async fn describe(&self, name: &str) -> Result<Vec<(String, String)>, KafkaError> {
        let name = name.to_owned();
        self.blocking(move |client| {
            client.describe_topic(&name, REQUEST_TIMEOUT).map_err(|(code, why)| {
                KafkaError::coded(code, &format!("configuration of topic `{name}` cannot be had"), &why)
            })
        })
        .await
    }
}

impl TopicAdmin for KafkaAdmin {
    fn create_topic<'a>(&'a self, spec: &'a TopicSpec) -> BoxFuture<'a, Result<Created, KafkaError>> {
        Box::pin(async move {
            let created = self.request_topic(spec.clone()).await?;
            self.wait_until_known(&spec.name).await?;
            Ok(created)
        })
    }

    fn topic<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Option<TopicInfo>, KafkaError>> {
        Box::pin(async move {
            let Some(partitions) = self.partitions(name).await? else { return Ok(None) };
            let configs = match self.describe(name).await {
                Ok(configs) => configs,
                // Reading configurations is a right of its own, which writing does not need.
                Err(error)
                    if matches!(
                        error.code(),
                        Some(Code::TopicAuthorizationFailed | Code::ClusterAuthorizationFailed)
                    ) =>
                {
                    Vec::new()
                }
                Err(error) => return Err(error),
            };
            let config = |key: &str| configs.iter().find(|(name, _)| name == key).map(|(_, value)| value.clone());
            Ok(Some(TopicInfo {
                partitions,
                max_message_bytes: config("max.message.bytes").and_then(|bytes| bytes.parse().ok()),
                cleanup_policy: config("cleanup.policy"),
            }))
        })
    }

    fn wait_for_broker(&self, timeout: Duration) -> BoxFuture<'_, Result<(), KafkaError>> {
        Box::pin(self.wait_until_reachable(timeout))
    }
}

/// The names of all topics; blocks.
pub(super) fn topic_names(client: &Client, timeout: Duration) -> Result<Vec<String>, KafkaError> {
    let metadata = client
        .native()
        .fetch_metadata(None, timeout)
        .map_err(|error| KafkaError::native(&error, "topics cannot be looked up"))?;
    Ok(metadata.topics().iter().filter(|topic| topic.error().is_none()).map(|topic| topic.name().to_owned()).collect())
}

fn list_offsets(
    client: &Arc<Client>,
    partitions: &[TopicPartition],
    which: i64,
    committed_only: bool,
) -> Result<BTreeMap<TopicPartition, i64>, KafkaError> {
    let mut offsets = BTreeMap::new();
    if partitions.is_empty() {
        return Ok(offsets);
    }
    let mut asked = Partitions::new();
    for partition in partitions {
        asked.add(&partition.topic, partition.partition, which);
    }
    let what = "offsets cannot be looked up";
    let answer = client
        .list_offsets(&asked, committed_only, REQUEST_TIMEOUT)
        .map_err(|(code, why)| KafkaError::coded(code, what, &why))?;
    for (topic, partition, offset) in answer {
        let partition = TopicPartition::new(topic, partition);
        let offset = offset
            .map_err(|code| KafkaError::coded(code, &format!("offsets of `{partition}` cannot be looked up"), ""))?;
        offsets.insert(partition, offset);
    }
    Ok(offsets)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smaller_limit_holds() {
        let topic = |max_message_bytes| TopicInfo { partitions: 1, max_message_bytes, cleanup_policy: None };
        assert_eq!(topic(None).limits(1000).record_bytes_max, 1000);
        assert_eq!(topic(Some(1_048_588)).limits(1_048_576).record_bytes_max, 1_048_588 - RECORD_OVERHEAD);
        assert_eq!(topic(Some(2_097_164)).limits(1_048_576).record_bytes_max, 1_048_576);
    }
}
