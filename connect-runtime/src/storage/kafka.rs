//! `KafkaOffsetStore`: the offsets of source connectors in a compacted topic, in Kafka Connect's own form.

use super::{FileOffsetStore, OffsetBackingStore, OffsetEntries, OffsetKey, Stored, or_older};
use crate::{
    converters::json::offsets::{decode_offset, decode_offset_key, encode_offset, encode_offset_key},
    kafka::{Created, KafkaLog, LogClients, LogRecord, TopicAdmin, TopicSpec},
};
use connect_sdk::{
    erased::BoxFuture,
    error::{Result, TaskError},
    source::{OffsetMap, PartitionMap},
};
use std::{
    collections::HashMap,
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

/// The only `cleanup.policy` with which the newest offset of every partition is kept, and every older one may go.
const COMPACT: &str = "compact";
/// How long one attempt waits for a broker; there is another one as long as nobody ends the worker.
const BROKER_TIMEOUT: Duration = Duration::from_secs(60);

/// Pause between two attempts while a broker answers.
const RETRY_PAUSE: Duration = Duration::from_millis(100);
/// How long reading to the end of the topic may take before the log tells of it; it doubles each time.
const OPEN_TRANSACTION_MENTIONED: Duration = Duration::from_secs(5);
/// The log tells of every n-th failed attempt in a row.
const TRIES_UNMENTIONED: u32 = 30;

/// Source offsets in a topic (`offset.storage.topic`).
///
/// The whole topic is read at the start and followed afterwards. Keys are matched by meaning: Java writes maps in hash
/// order. Where a key is in the topic already, new offsets are written under the very same bytes, so that compaction keeps
/// one of them and Java workers go on finding it.
#[derive(Debug)]
pub(crate) struct KafkaOffsetStore {
    log: KafkaLog,
    table: Arc<Mutex<Table>>,
    /// Read where the topic has nothing: the file that the worker had before.
    file: Option<FileOffsetStore>,
}

/// What the topic holds.
#[derive(Debug, Default)]
struct Table {
    offsets: OffsetEntries,
    /// The bytes under which a key was seen last; kept when its offset is deleted.
    keys: HashMap<OffsetKey, Vec<u8>>,
}

/// The topic, as the configuration describes it.
#[derive(Debug, Clone)]
pub(crate) struct OffsetTopic {
    /// The configuration key that names it.
    pub(crate) key: &'static str,
    /// Its name and what it is made with where it is missing.
    pub(crate) spec: TopicSpec,
    pub(crate) clients: LogClients,
}

impl KafkaOffsetStore {
    /// Makes the topic where it is missing, and reads what is visible. Waits for a broker as long as it takes.
    ///
    /// # Errors
    /// The topic cannot be made or read, or is not a compacted one: whose offsets are there must not start, since they would
    /// be lost.
    pub(crate) async fn open(topic: OffsetTopic, file: Option<FileOffsetStore>) -> Result<Self> {
        let OffsetTopic { key, mut spec, clients } = topic;
        let name = spec.name.clone();
        // As in Kafka whatever the operator says: another policy loses offsets.
        spec.configs.retain(|(key, _)| key != "cleanup.policy");
        spec.configs.push(("cleanup.policy".to_owned(), COMPACT.to_owned()));
        let table = Arc::new(Mutex::new(Table::default()));
        let mut tries = 0u32;
        loop {
            let opened = Self::try_open(key, &spec, &clients, &table).await;
            match opened {
                Ok(log) => return Ok(Self { log, table, file }),
                Err(TaskError::Retriable { cause, .. }) => {
                    // Says by itself, at a growing interval, that no broker answers.
                    if clients.admin.wait_for_broker(BROKER_TIMEOUT).await.is_ok() {
                        // A topic that was made just now has no leader for a moment.
                        tries += 1;
                        if tries.is_multiple_of(TRIES_UNMENTIONED) {
                            tracing::warn!(topic = %name, error = %cause, "offsets topic cannot be opened yet; trying again");
                        }
                        tokio::time::sleep(RETRY_PAUSE).await;
                    }
                }
                Err(fatal) => return Err(fatal),
            }
        }
    }

    async fn try_open(
        key: &str,
        spec: &TopicSpec,
        clients: &LogClients,
        table: &Arc<Mutex<Table>>,
    ) -> Result<KafkaLog> {
        if clients.admin.create_topic(spec).await? == Created::New {
            tracing::info!(topic = %spec.name, "offsets topic created");
        }
        let policy = clients.admin.topic(&spec.name).await?.and_then(|info| info.cleanup_policy);
        if let Some(policy) = policy.filter(|p| p != COMPACT) {
            return Err(TaskError::fatal(format!(
                "topic `{}` (`{key}`) has `cleanup.policy` `{policy}`; it must be `{COMPACT}`, or offsets would be deleted",
                spec.name
            )));
        }
        *lock(table) = Table::default();
        let (own, name) = (Arc::clone(table), spec.name.clone());
        let on_record = Box::new(move |record: LogRecord<'_>| lock(&own).take(&name, record));
        Ok(KafkaLog::open(&spec.name, clients.clone(), on_record).await?)
    }
}

fn lock(table: &Mutex<Table>) -> MutexGuard<'_, Table> {
    table.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Table {
    /// Takes a record over; what no worker has written is passed over with a warning, as in Kafka.
    fn take(&mut self, topic: &str, record: LogRecord<'_>) {
        let Some(bytes) = record.key else { return };
        let (connector, partition) = match decode_offset_key(bytes) {
            Ok(key) => key,
            Err(error) => {
                tracing::warn!(topic, partition = record.partition, offset = record.offset, %error, "record of the offsets topic has no key of a source offset; passed over");
                return;
            }
        };
        let key = OffsetKey { connector, partition };
        self.keys.insert(key.clone(), bytes.to_vec());
        match record.value.map(decode_offset).transpose() {
            Ok(Some(Some(offset))) => drop(self.offsets.insert(key, offset)),
            Ok(_) => drop(self.offsets.remove(&key)),
            Err(error) => {
                tracing::warn!(topic, partition = record.partition, offset = record.offset, %error, "record of the offsets topic has no offset; passed over");
            }
        }
    }

    fn stored(&self, key: &OffsetKey) -> Stored {
        match self.offsets.get(key) {
            Some(offset) => Stored::Offset(offset.clone()),
            // A deleted offset stays deleted: the topic knows its key.
            None if self.keys.contains_key(key) => Stored::Deleted,
            None => Stored::Unknown,
        }
    }

    /// The bytes under which an offset is written.
    fn key_bytes(&self, key: &OffsetKey) -> Vec<u8> {
        let known = self.keys.get(key).cloned();
        known.unwrap_or_else(|| encode_offset_key(&key.connector, key.partition.as_ref()))
    }
}

impl KafkaOffsetStore {
    /// The topic's name.
    pub(crate) fn topic(&self) -> &str {
        self.log.topic()
    }

    /// Keys and values of the records that hold these offsets of a connector, for whoever writes them.
    pub(super) fn records(&self, connector: &str, offsets: &[(PartitionMap, OffsetMap)]) -> Vec<(Vec<u8>, Vec<u8>)> {
        let table = lock(&self.table);
        let record = |(partition, offset): &(PartitionMap, OffsetMap)| {
            (table.key_bytes(&OffsetKey::new(connector, Some(partition.clone()))), encode_offset(offset))
        };
        offsets.iter().map(record).collect()
    }

    /// Reads everything that is in the topic now. A committed offset may stand behind another producer's open transaction:
    /// that is waited for, and said at a growing interval.
    async fn read_to_end(&self) -> Result<()> {
        let mut reading = pin!(self.log.read_to_end());
        let mut mention = OPEN_TRANSACTION_MENTIONED;
        loop {
            if let Ok(read) = tokio::time::timeout(mention, &mut reading).await {
                return Ok(read?);
            }
            mention *= 2;
            tracing::warn!(
                topic = self.topic(),
                "the end of the offsets topic is not reached yet; records behind an open transaction can be read only when it ends, at the latest after its producer's `transaction.timeout.ms`"
            );
        }
    }
}

impl OffsetBackingStore for KafkaOffsetStore {
    fn load<'a>(&'a self, connector: &'a str, partitions: Vec<PartitionMap>) -> BoxFuture<'a, Result<Vec<Stored>>> {
        Box::pin(async move {
            self.read_to_end().await?;
            let found = {
                let table = lock(&self.table);
                partitions.iter().map(|p| table.stored(&OffsetKey::new(connector, Some(p.clone())))).collect()
            };
            match &self.file {
                Some(file) => or_older(found, file, connector, partitions).await,
                None => Ok(found),
            }
        })
    }

    fn store<'a>(
        &'a self,
        connector: &'a str,
        offsets: Vec<(PartitionMap, Option<OffsetMap>)>,
    ) -> BoxFuture<'a, Result<()>> {
        let records = {
            let table = lock(&self.table);
            let record = |(partition, offset): (PartitionMap, Option<OffsetMap>)| {
                let key = table.key_bytes(&OffsetKey::new(connector, Some(partition)));
                (key, offset.as_ref().map(encode_offset))
            };
            offsets.into_iter().map(record).collect()
        };
        Box::pin(self.log.write(records))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use connect_sdk::source::{FieldMap, FieldValue};

    fn record<'a>(key: &'a str, value: Option<&'a str>) -> LogRecord<'a> {
        LogRecord {
            partition: 0,
            offset: 0,
            key: Some(key.as_bytes()),
            value: value.map(str::as_bytes),
            timestamp: None,
        }
    }

    #[test]
    fn keys_are_matched_by_meaning_and_written_as_they_were_seen() {
        let mut table = Table::default();
        // Not the order that a map of these names has in Java: written by another client.
        let seen = r#"["c",{"b":1,"a":"x"}]"#;
        table.take("t", record(seen, Some(r#"{"n":7}"#)));
        let partition = FieldMap::new().with("a", FieldValue::Text("x".into())).with("b", FieldValue::Int(1));
        let key = OffsetKey::new("c", Some(partition));
        assert_eq!(table.offsets.get(&key), Some(&FieldMap::new().with("n", FieldValue::Int(7))));
        assert_eq!(table.key_bytes(&key), seen.as_bytes());
        table.take("t", record(seen, None));
        assert_eq!(table.offsets.get(&key), None);
        assert_eq!(table.key_bytes(&key), seen.as_bytes(), "a deleted key keeps its form");
    }

    #[test]
    fn what_is_no_offset_changes_nothing() {
        let mut table = Table::default();
        for (key, value) in
            [("c", "{}"), (r#"{"a":1}"#, "{}"), (r#"["c"]"#, "{}"), (r#"["c",{}]"#, "[1]"), ("\u{1}", "x")]
        {
            table.take("t", record(key, Some(value)));
        }
        assert!(table.offsets.is_empty());
    }
}
