//! Kafka clients behind the ports of the task loops: the only place that names rdkafka. Each client has a thread of its
//! own, so that nothing of librdkafka's blocks an async task.

mod admin;
mod client_config;
mod client_events;
pub mod client_ids;
mod client_keys;
mod client_security;
mod consumer;
mod dev_broker;
mod error;
mod ffi;
mod jaas;
mod log;
mod oauth;
mod producer;
mod wire;

pub use crate::config::ClientKind;
pub use admin::{Created, KafkaAdmin, TopicAdmin, TopicInfo, TopicSpec};
pub use client_config::{ClientConfig, ClientConfigBuilder};
pub use client_keys::client_config_def;
pub use consumer::{Subscription, TaskConsumer};
pub use dev_broker::{DevAdmin, DevBroker, PARTITION_BYTES_MAX};
pub use error::{ErrorClass, KafkaError, record_too_large};
pub use log::{KafkaLog, LogClients, LogRecord};
pub use producer::{OffsetRecords, ProducerPool, TaskProducer, TransactionalTaskProducer, fence};
pub use wire::{Cluster, GroupInfo, GroupMember, TransactionalId};
