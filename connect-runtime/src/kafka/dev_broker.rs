//! The development broker: librdkafka's mock cluster inside this process. Nothing is kept on disk, 5 MiB or 100,000
//! batches a partition are kept at all, and transactions isolate nothing.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use connect_sdk::erased::BoxFuture;
use rdkafka::error::RDKafkaErrorCode as Code;

use crate::config::ClientKind;

use super::{
    admin::{Created, KafkaAdmin, TopicAdmin, TopicInfo, TopicSpec},
    client_config::{ClientConfig, put},
    error::{ErrorClass, KafkaError},
    ffi::{Client, Role},
};

/// Bytes of one partition that the development broker keeps; older ones go.
pub const PARTITION_BYTES_MAX: u64 = 5 * 1024 * 1024;

/// A broker for development; it ends when it is dropped.
#[derive(Debug)]
pub struct DevBroker {
    client: Arc<Client>,
    bootstrap: String,
    topics: Mutex<BTreeMap<String, i32>>,
}

impl DevBroker {
    /// Starts a broker on a free port of the loopback interface.
    ///
    /// # Errors
    /// The system gives no port or thread.
    pub fn start() -> Result<Self, KafkaError> {
        Self::with_brokers(1)
    }

    /// Starts a cluster of several brokers.
    ///
    /// # Errors
    /// As [`Self::start`].
    pub fn with_brokers(n: u32) -> Result<Self, KafkaError> {
        let mut entries = BTreeMap::new();
        put(&mut entries, "test.mock.num.brokers", n);
        put(&mut entries, "client.id", "connect-dev-broker");
        let client = Client::new(Role::Producer, &entries)
            .map_err(|error| KafkaError::native(&error, "cannot start the development broker"))?;
        let cluster = client.native().mock_cluster();
        let bootstrap = cluster.map(|cluster| cluster.bootstrap_servers());
        let bootstrap = bootstrap
            .ok_or_else(|| KafkaError::new(ErrorClass::Fatal, "the client library has no development broker"))?;
        // The first member of a group would wait 3 s for others.
        client.set_mock_rebalance_delay(0);
        Ok(Self { client, bootstrap, topics: Mutex::default() })
    }

    /// `host:port` of every broker, for `bootstrap.servers`.
    #[must_use]
    pub fn bootstrap_servers(&self) -> &str {
        &self.bootstrap
    }

    /// Makes a topic; false if it was there.
    ///
    /// # Errors
    /// The name or the number of partitions is not usable.
    pub fn create_topic(&self, name: &str, partitions: i32) -> Result<bool, KafkaError> {
        let mut topics = self.topics.lock().unwrap_or_else(PoisonError::into_inner);
        if topics.contains_key(name) {
            return Ok(false);
        }
        let cluster = self.client.native().mock_cluster();
        let cluster = cluster.ok_or_else(|| KafkaError::new(ErrorClass::Fatal, "the development broker has ended"))?;
        match cluster.create_topic(name, partitions, 1) {
            Ok(()) => {
                topics.insert(name.to_owned(), partitions);
                Ok(true)
            }
            Err(error) if error.rdkafka_error_code() == Some(Code::TopicAlreadyExists) => Ok(false),
            Err(error) => Err(KafkaError::native(&error, &format!("topic `{name}` cannot be made"))),
        }
    }

    /// Runs `act` with the mock cluster, to inject faults.
    #[cfg(test)]
    pub(super) fn with_cluster<T>(
        &self,
        act: impl FnOnce(&rdkafka::mocking::MockCluster<'_, rdkafka::client::DefaultClientContext>) -> T,
    ) -> T {
        act(&self.client.native().mock_cluster().unwrap())
    }
}

/// Topics of a development broker: made through its handle, because it does not know the request.
#[derive(Debug)]
pub struct DevAdmin {
    broker: Arc<DevBroker>,
    admin: KafkaAdmin,
}

impl DevAdmin {
    /// Administers `broker`.
    ///
    /// # Errors
    /// As [`KafkaAdmin::new`].
    pub fn new(broker: Arc<DevBroker>) -> Result<Self, KafkaError> {
        let config = ClientConfig::builder(ClientKind::Admin)
            .set("bootstrap.servers", broker.bootstrap_servers())
            .set("client.id", "connect-dev-admin")
            .build()
            .map_err(|errors| KafkaError::new(ErrorClass::Fatal, errors.to_string()))?;
        Ok(Self { broker, admin: KafkaAdmin::new(&config.0)? })
    }
}

impl TopicAdmin for DevAdmin {
    fn create_topic<'a>(&'a self, spec: &'a TopicSpec) -> BoxFuture<'a, Result<Created, KafkaError>> {
        let made = self.broker.create_topic(&spec.name, spec.partitions.unwrap_or(1));
        Box::pin(async move { Ok(if made? { Created::New } else { Created::Existed }) })
    }

    fn topic<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Option<TopicInfo>, KafkaError>> {
        Box::pin(async move {
            let partitions = self.admin.partitions(name).await?;
            Ok(partitions.map(|partitions| TopicInfo { partitions, max_message_bytes: None, cleanup_policy: None }))
        })
    }

    fn wait_for_broker(&self, timeout: Duration) -> BoxFuture<'_, Result<(), KafkaError>> {
        Box::pin(self.admin.wait_until_reachable(timeout))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn topics_are_made_through_the_handle() {
        let broker = Arc::new(DevBroker::start().unwrap());
        let admin = DevAdmin::new(Arc::clone(&broker)).unwrap();
        admin.wait_for_broker(Duration::from_secs(10)).await.unwrap();
        assert!(admin.topic("orders").await.unwrap().is_none());
        let spec = TopicSpec { name: "orders".to_owned(), partitions: Some(3), ..TopicSpec::default() };
        assert_eq!(admin.create_topic(&spec).await.unwrap(), Created::New);
        assert_eq!(admin.create_topic(&spec).await.unwrap(), Created::Existed);
        assert_eq!(admin.topic("orders").await.unwrap().unwrap().partitions, 3);
    }
}
