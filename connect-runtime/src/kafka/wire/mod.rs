//! A small client of Kafka's protocol for what librdkafka cannot say: which transactional ids there are, who is in a
//! group, sending static members away. Records go through librdkafka only.
//!
//! `codec` turns messages into bytes, `connection` speaks to one broker, [`Cluster`] finds the broker that is to be asked;
//! `transactions` and `groups` are the requests; `assignment` reads what members of a group say to each other.

mod assignment;
mod cluster;
mod codec;
mod connection;
mod groups;
mod sasl;
mod scram;
mod settings;
mod tls;
mod transactions;

#[cfg(test)]
mod tests;

pub use cluster::Cluster;
pub use groups::{GroupInfo, GroupMember};
pub use transactions::TransactionalId;
