//! A reader of committed records that stays with a topic for a whole cycle, past a broker that goes away.

use std::time::{Duration, Instant};

use rdkafka::Message;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::message::Headers;
use rdkafka::{Offset, TopicPartitionList};

use super::check::Seen;
use crate::cluster::Cluster;
use crate::connectors::numbers::{LIFE_HEADER, parse};
use crate::unique;

/// Bounds one question to the broker.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);

/// What was read of one topic so far.
pub struct Observer {
    consumer: BaseConsumer,
    topic: String,
    partitions: i32,
    seen: Vec<Seen>,
    /// What is no record of the source.
    strange: Option<String>,
}

impl std::fmt::Debug for Observer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Observer").field("topic", &self.topic).field("seen", &self.seen.len()).finish_non_exhaustive()
    }
}

impl Observer {
    /// A reader of a topic from its start.
    pub fn new(cluster: &Cluster, topic: &str, partitions: i32) -> Self {
        let mut config = cluster.client_config();
        config.set("group.id", unique("observer")).set("enable.auto.commit", "false");
        config.set("isolation.level", "read_committed").set("fetch.wait.max.ms", "20");
        let consumer: BaseConsumer = config.create().expect("the client properties are valid");
        let mut list = TopicPartitionList::new();
        for partition in 0..partitions {
            list.add_partition_offset(topic, partition, Offset::Beginning).expect("the offset is valid");
        }
        consumer.assign(&list).expect("partitions can be assigned");
        Self { consumer, topic: topic.to_owned(), partitions, seen: Vec::new(), strange: None }
    }

    /// What was read, in the order of the topic's partitions.
    pub fn seen(&self) -> &[Seen] {
        &self.seen
    }

    /// Reads what comes within this time.
    ///
    /// # Errors
    /// A record that the source did not make.
    pub fn read_for(&mut self, time: Duration) -> Result<(), String> {
        let deadline = Instant::now() + time;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            // The broker may be away: then there is nothing to read.
            if let Some(Ok(message)) = self.consumer.poll(left) {
                let parsed = message.payload_view::<str>().and_then(Result::ok).and_then(parse);
                let life = message.headers().and_then(|headers| headers.iter().find(|h| h.key == LIFE_HEADER));
                let life = life.and_then(|header| {
                    let (process, life) = std::str::from_utf8(header.value?).ok()?.split_once('-')?;
                    Some((process.parse().ok()?, life.parse().ok()?))
                });
                match (parsed, life) {
                    (Some((series, number)), Some((process, life))) => {
                        self.seen.push(Seen { kafka_partition: message.partition(), series, number, process, life });
                    }
                    _ => {
                        let (partition, offset) = (message.partition(), message.offset());
                        self.strange
                            .get_or_insert(format!("{}-{partition}@{offset} is no record of the source", self.topic));
                    }
                }
            }
            if Instant::now() >= deadline {
                return self.strange.clone().map_or(Ok(()), Err);
            }
        }
    }

    /// Reads up to the present end of what is committed.
    ///
    /// # Errors
    /// As for [`Self::read_for`], or the end is not reached in time.
    pub fn read_to_end(&mut self, timeout: Duration) -> Result<(), String> {
        let deadline = Instant::now() + timeout;
        for partition in 0..self.partitions {
            // A reader of committed records is told their end, not that of open transactions.
            let end = loop {
                match self.consumer.fetch_watermarks(&self.topic, partition, REQUEST_TIMEOUT) {
                    Ok((_, end)) => break end,
                    Err(error) if Instant::now() > deadline => {
                        return Err(format!("no end of `{}`: {error}", self.topic));
                    }
                    Err(_) => self.read_for(Duration::from_millis(50))?,
                }
            };
            while self.position(partition) < end {
                if Instant::now() > deadline {
                    return Err(format!("the end {end} of `{}-{partition}` is not reached", self.topic));
                }
                self.read_for(Duration::from_millis(10))?;
            }
        }
        Ok(())
    }

    fn position(&self, partition: i32) -> i64 {
        let positions = self.consumer.position().ok();
        let offset = positions.and_then(|list| list.find_partition(&self.topic, partition).map(|p| p.offset()));
        match offset {
            Some(Offset::Offset(offset)) => offset,
            _ => 0,
        }
    }
}
