//! The brokers of a cluster: found through the bootstrap list, known by id, connected to when they are asked something.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use kafka_protocol::{
    messages::{FindCoordinatorRequest, MetadataRequest, TopicName, metadata_request::MetadataRequestTopic},
    protocol::{Request, StrBytes},
};
use rdkafka::error::RDKafkaErrorCode as Code;
use tokio::{task::JoinSet, time::Instant};
use tracing::debug;

use super::{
    connection::Connection,
    settings::{Address, Settings},
};
use crate::kafka::{ClientConfig, ErrorClass, KafkaError};

/// How long a request is tried again, as Java's `default.api.timeout.ms`.
const CALL_TIMEOUT: Duration = Duration::from_secs(60);
/// Brokers that are asked at the same time.
const BROKERS_AT_ONCE: usize = 16;
/// Kafka's word for the coordinator of a group.
const KEY_TYPE_GROUP: i8 = 0;
/// The first version of FindCoordinator that takes several keys (KIP-699), and answers in another place.
const FIND_SEVERAL: i16 = 4;

/// A cluster, as a client without records sees it. It is for one owner at a time; connections are opened when they are
/// needed and kept. Dropping it closes them.
#[derive(Debug)]
pub struct Cluster {
    pub(super) settings: Arc<Settings>,
    /// Of the last answer of any broker.
    brokers: BTreeMap<i32, Address>,
    connections: BTreeMap<i32, Connection>,
    /// The connection through which the cluster was found: whose it is does not matter.
    first: Option<Connection>,
}

impl Cluster {
    /// Reads the settings, certificates and keys of `config`; nothing is connected yet. `config` is that of an admin
    /// client: Java's keys with security as all other clients have it.
    ///
    /// Files are read here, so this is for places where a short wait for a disk does no harm.
    ///
    /// # Errors
    /// Fatal: a store cannot be used, or the configuration asks for what only librdkafka has (such as
    /// `sasl.mechanism=GSSAPI`); the text names the key.
    pub fn new(config: &ClientConfig) -> Result<Self, KafkaError> {
        Ok(Self {
            settings: Arc::new(Settings::new(config)?),
            brokers: BTreeMap::new(),
            connections: BTreeMap::new(),
            first: None,
        })
    }

    /// Asks every broker the same, in the words of the version that it speaks, and gives all answers.
    pub(super) async fn ask_all<R>(
        &mut self,
        request: impl Fn(i16) -> R + Clone + Send + 'static,
    ) -> Result<Vec<R::Response>, KafkaError>
    where
        R: Request + Send + Sync + 'static,
        R::Response: Send,
    {
        self.refresh().await?;
        let mut waiting: Vec<(i32, Address)> = self.brokers.iter().map(|(id, to)| (*id, to.clone())).collect();
        let mut answers = Vec::with_capacity(waiting.len());
        let mut failed = None;
        while !waiting.is_empty() {
            let mut asked = JoinSet::new();
            for (id, address) in waiting.drain(..waiting.len().min(BROKERS_AT_ONCE)) {
                let (kept, settings, request) = (self.take(id, &address), Arc::clone(&self.settings), request.clone());
                asked.spawn(async move {
                    let mut connection = match kept {
                        Some(connection) => connection,
                        None => Connection::open(&settings, &address).await?,
                    };
                    let version = connection.version::<R>()?;
                    let answer = connection.call_at(&request(version), version).await?;
                    Ok::<_, KafkaError>((id, connection, answer))
                });
            }
            while let Some(ended) = asked.join_next().await {
                match ended {
                    Ok(Ok((id, connection, answer))) => {
                        self.connections.insert(id, connection);
                        answers.push(answer);
                    }
                    Ok(Err(error)) => failed = Some(error),
                    Err(error) => {
                        failed = Some(KafkaError::new(ErrorClass::Fatal, format!("a request ended: {error}")))
                    }
                }
            }
        }
        // What some brokers say is not what the cluster says.
        failed.map_or(Ok(answers), Err)
    }

    /// Asks the coordinator of a group, wherever it is now.
    pub(super) async fn ask_coordinator<R: Request>(
        &mut self,
        group: &str,
        request: &R,
    ) -> Result<R::Response, KafkaError> {
        let id = self.coordinator(group).await?;
        self.connection(id).await?.call(request).await
    }

    /// Finds the broker that keeps a group.
    async fn coordinator(&mut self, group: &str) -> Result<i32, KafkaError> {
        let connection = self.any().await?;
        let key = StrBytes::from_string(group.to_owned());
        let version = connection.version::<FindCoordinatorRequest>()?;
        let mut request = FindCoordinatorRequest::default();
        request.key_type = KEY_TYPE_GROUP;
        if version >= FIND_SEVERAL {
            request.coordinator_keys = vec![key];
        } else {
            request.key = key;
        }
        let answer = connection.call_at(&request, version).await?;
        let (code, why, id, host, port) = if version >= FIND_SEVERAL {
            let found = answer.coordinators.into_iter().next().ok_or_else(|| {
                KafkaError::coded(Code::BadMessage, &looked_up(group), "the broker's answer does not name it")
            })?;
            (found.error_code, found.error_message, found.node_id, found.host, found.port)
        } else {
            (answer.error_code, answer.error_message, answer.node_id, answer.host, answer.port)
        };
        if code != 0 {
            return Err(KafkaError::answered(code, &looked_up(group), why.as_deref().unwrap_or_default()));
        }
        let address = address(&host, port).ok_or_else(|| {
            KafkaError::coded(Code::BadMessage, &looked_up(group), &format!("`{host}:{port}` is no address"))
        })?;
        self.brokers.insert(id.0, address);
        Ok(id.0)
    }

    /// Learns which brokers there are.
    async fn refresh(&mut self) -> Result<(), KafkaError> {
        let connection = self.any().await?;
        let mut request = MetadataRequest::default();
        // No topics; none given would mean all.
        request.topics = Some(Vec::new());
        let answer = connection.call(&request).await?;
        if answer.error_code != 0 {
            return Err(KafkaError::answered(answer.error_code, "the brokers cannot be looked up", ""));
        }
        self.brokers = answer
            .brokers
            .iter()
            .filter_map(|broker| Some((broker.node_id.0, address(&broker.host, broker.port)?)))
            .collect();
        self.connections.retain(|id, connection| self.brokers.get(id) == Some(connection.address()));
        if self.brokers.is_empty() {
            return Err(KafkaError::coded(
                Code::BrokerNotAvailable,
                "the brokers cannot be looked up",
                "none is known",
            ));
        }
        Ok(())
    }

    /// How many partitions these topics have. Topics that are not there, or that one may not see, are left out.
    ///
    /// # Errors
    /// Retriable: no broker answered, after attempts for a minute. Fatal: no login.
    ///
    /// # Cancel safety
    /// Nothing is changed by asking: no topic is made.
    pub async fn partitions(&mut self, topics: &[String]) -> Result<BTreeMap<String, i32>, KafkaError> {
        let mut retry = Retry::new(&self.settings);
        loop {
            match retry.attempt(self.partitions_once(topics)).await {
                Ok(partitions) => return Ok(partitions),
                Err(error) => retry.after(error).await?,
            }
        }
    }

    async fn partitions_once(&mut self, topics: &[String]) -> Result<BTreeMap<String, i32>, KafkaError> {
        let of_topic = |topic: &String| {
            let mut request = MetadataRequestTopic::default();
            request.name = Some(TopicName(StrBytes::from_string(topic.clone())));
            request
        };
        let mut request = MetadataRequest::default();
        request.topics = Some(topics.iter().map(of_topic).collect());
        request.allow_auto_topic_creation = false;
        let answer = self.any().await?.call(&request).await?;
        let known = answer.topics.into_iter().filter(|topic| topic.error_code == 0);
        let counted = known.filter_map(|topic| {
            let n = i32::try_from(topic.partitions.len()).ok()?;
            Some((topic.name?.to_string(), n))
        });
        Ok(counted.collect())
    }

    /// A connection to whichever broker answers.
    async fn any(&mut self) -> Result<&mut Connection, KafkaError> {
        let kept = self.first.take_if(|connection| !connection.is_usable());
        drop(kept);
        if self.first.is_none() {
            let known = self.settings.bootstrap.iter().chain(self.brokers.values());
            let mut last = KafkaError::coded(Code::AllBrokersDown, "no broker can be reached", "");
            for address in known {
                match Connection::open(&self.settings, address).await {
                    Ok(connection) => {
                        self.first = Some(connection);
                        break;
                    }
                    // Wrong credentials or certificates are the same everywhere.
                    Err(error) if error.class() != ErrorClass::Retriable => return Err(error),
                    Err(error) => {
                        debug!(broker = %address, error = %error, "broker does not answer");
                        last = error;
                    }
                }
            }
            if self.first.is_none() {
                return Err(last);
            }
        }
        Ok(self.first.as_mut().expect("it was there or has been opened"))
    }

    /// The connection to a broker.
    async fn connection(&mut self, id: i32) -> Result<&mut Connection, KafkaError> {
        let address = self.brokers.get(&id).cloned().ok_or_else(|| {
            KafkaError::coded(Code::BrokerNotAvailable, &format!("broker {id} cannot be reached"), "it is not known")
        })?;
        let connection = match self.take(id, &address) {
            Some(connection) => connection,
            None => Connection::open(&self.settings, &address).await?,
        };
        Ok(self.connections.entry(id).insert_entry(connection).into_mut())
    }

    /// Takes a kept connection out, if it still leads to the broker.
    fn take(&mut self, id: i32, address: &Address) -> Option<Connection> {
        self.connections.remove(&id).filter(|connection| connection.is_usable() && connection.address() == address)
    }
}

fn looked_up(group: &str) -> String {
    format!("the coordinator of group `{group}` cannot be looked up")
}

fn address(host: &str, port: i32) -> Option<Address> {
    let port = u16::try_from(port).ok().filter(|port| *port > 0)?;
    (!host.is_empty()).then(|| Address { host: host.to_owned(), port })
}

/// When a failed request is tried again, and when that ends.
pub(super) struct Retry {
    deadline: Instant,
    pause: Duration,
    pause_max: Duration,
}

impl Retry {
    pub(super) fn new(settings: &Settings) -> Self {
        let deadline = Instant::now() + CALL_TIMEOUT;
        Self { deadline, pause: settings.retry_backoff, pause_max: settings.retry_backoff_max }
    }

    /// One attempt, which ends with the time of all attempts.
    pub(super) async fn attempt<T>(
        &self,
        attempt: impl Future<Output = Result<T, KafkaError>>,
    ) -> Result<T, KafkaError> {
        let late = |_| Err(KafkaError::coded(Code::RequestTimedOut, "no broker has answered in time", ""));
        tokio::time::timeout_at(self.deadline, attempt).await.unwrap_or_else(late)
    }

    /// Waits a little after a failure that may pass.
    ///
    /// # Errors
    /// The failure itself, if it does not pass or has lasted too long.
    pub(super) async fn after(&mut self, error: KafkaError) -> Result<(), KafkaError> {
        if error.class() != ErrorClass::Retriable || Instant::now() + self.pause > self.deadline {
            return Err(error);
        }
        debug!(error = %error, "request failed, trying again");
        tokio::time::sleep(self.pause).await;
        self.pause = (self.pause * 2).min(self.pause_max);
        Ok(())
    }
}
