//! Where a partition is read from: the committed offset, or the end that `auto.offset.reset` names.

use std::{
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use connect_sdk::sink::TopicPartition;
use tracing::warn;

use super::{Positions, worker::Worker};
use crate::kafka::{
    client_config::ClientConfig,
    error::{ErrorClass, KafkaError},
    ffi::{OFFSET_INVALID, Partitions},
};

/// How long one question for committed offsets or the ends of partitions may take.
const ASK_TIMEOUT: Duration = Duration::from_secs(5);
const ASK_PAUSE: Duration = Duration::from_millis(100);
/// librdkafka's words for a partition's ends.
const OFFSET_BEGINNING: i64 = -2;
const OFFSET_END: i64 = -1;

/// Where to begin without a committed offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reset {
    Beginning,
    End,
    Fail,
}

impl Reset {
    pub(super) fn of(config: &ClientConfig) -> Self {
        match config.native("auto.offset.reset") {
            Some("latest") => Self::End,
            Some("error") => Self::Fail,
            _ => Self::Beginning,
        }
    }
}

impl Worker {
    /// Where to read from: the committed offsets, or the ends that `auto.offset.reset` names. `None` if no broker tells
    /// it in time, or the consumer is being closed.
    pub(super) fn start_offsets(
        &mut self,
        partitions: &Partitions,
        deadline: Instant,
    ) -> Result<Option<Positions>, KafkaError> {
        loop {
            let timeout = ASK_TIMEOUT.min(deadline.saturating_duration_since(Instant::now()));
            match self.ask_start_offsets(partitions, timeout.max(ASK_PAUSE)) {
                Ok(offsets) => return Ok(Some(offsets)),
                Err(error) if error.class() != ErrorClass::Retriable => return Err(error),
                Err(error) => {
                    warn!(client = %self.id, error = %error, "start offsets cannot be had, trying again");
                }
            }
            self.carry_out_commands();
            if Instant::now() >= deadline || self.closing.is_some() {
                return Ok(None);
            }
            thread::park_timeout(ASK_PAUSE);
        }
    }

    fn ask_start_offsets(&self, partitions: &Partitions, timeout: Duration) -> Result<Positions, KafkaError> {
        let mut committed = Partitions::new();
        for entry in partitions.iter() {
            committed.add(entry.topic, entry.partition, OFFSET_INVALID);
        }
        let what = "committed offsets cannot be had";
        self.parts.client.committed(&mut committed, timeout).map_err(|code| KafkaError::coded(code, what, ""))?;
        let mut ends = Partitions::new();
        let mut start = Vec::with_capacity(partitions.len());
        for entry in committed.iter() {
            if let Some(code) = entry.error {
                return Err(KafkaError::coded(code, what, ""));
            }
            if entry.offset >= 0 {
                start.push((Arc::new(TopicPartition::new(entry.topic, entry.partition)), entry.offset));
                continue;
            }
            let end = match self.reset {
                Reset::Beginning => OFFSET_BEGINNING,
                Reset::End => OFFSET_END,
                Reset::Fail => {
                    let text = format!(
                        "the group has no committed offset for `{}-{}`, and `auto.offset.reset` is `none`",
                        entry.topic, entry.partition
                    );
                    return Err(KafkaError::new(ErrorClass::Fatal, text));
                }
            };
            ends.add(entry.topic, entry.partition, end);
        }
        if !ends.is_empty() {
            let what = "the ends of partitions cannot be had";
            self.parts
                .client
                .offsets_for_times(&mut ends, timeout)
                .map_err(|code| KafkaError::coded(code, what, ""))?;
            for entry in ends.iter() {
                match entry.error {
                    Some(code) => return Err(KafkaError::coded(code, what, "")),
                    None => start.push((Arc::new(TopicPartition::new(entry.topic, entry.partition)), entry.offset)),
                }
            }
        }
        Ok(start)
    }
}
