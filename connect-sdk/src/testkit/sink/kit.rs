//! `sink_kit`: whatever happens to a sink, what it called safe is in its target.

use super::{
    life::{SafeOffsets, SinkLife},
    scenarios, worker_run,
};
use crate::{
    data::{Schema, SchemaAndValue, Value},
    erased::{BoxFuture, DynSinkConnector, Properties, SinkDescriptor},
    sink::{PartitionTag, SinkConnector, SinkRecord, SinkRecordParts, TopicPartition},
};
use std::{collections::BTreeMap, sync::Arc};

type ReadTarget = Box<dyn Fn() -> BoxFuture<'static, Vec<String>> + Send + Sync>;
type MakeValue = Arc<dyn Fn(u64) -> (SchemaAndValue, String) + Send + Sync>;

/// What the kit needs to know of a sink: how to configure it, and how to see what is in its target.
///
/// ```
/// use connect_sdk::testkit::SinkFixture;
/// # use std::path::PathBuf;
/// # let path = PathBuf::from("/nowhere");
/// let read = path.clone();
/// let fixture = SinkFixture::new([("path", path.display().to_string())], move || {
///     let text = std::fs::read_to_string(&read).unwrap_or_default();
///     text.lines().map(str::to_owned).collect()
/// });
/// # let _ = fixture;
/// ```
#[must_use = "pass it to `sink_kit`"]
pub struct SinkFixture {
    properties: Properties,
    read_target: ReadTarget,
    value: MakeValue,
    bad: Option<SchemaAndValue>,
}

impl std::fmt::Debug for SinkFixture {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SinkFixture").field("properties", &self.properties).finish_non_exhaustive()
    }
}

impl SinkFixture {
    /// `read_target` gives what a reader of the target sees now: a text for each entry, in which the record's text
    /// stands (`record-000017`, unless [`Self::values`] makes others). It must not see what is only in the sink's memory.
    pub fn new<K: Into<String>, V: Into<String>>(
        properties: impl IntoIterator<Item = (K, V)>,
        read_target: impl Fn() -> Vec<String> + Send + Sync + 'static,
    ) -> Self {
        Self::new_async(properties, move || std::future::ready(read_target()))
    }

    /// As [`Self::new`], for targets that are read by asynchronous calls.
    pub fn new_async<K: Into<String>, V: Into<String>, F: Future<Output = Vec<String>> + Send + 'static>(
        properties: impl IntoIterator<Item = (K, V)>,
        read_target: impl Fn() -> F + Send + Sync + 'static,
    ) -> Self {
        Self {
            properties: properties.into_iter().map(|(k, v)| (k.into(), v.into())).collect(),
            read_target: Box::new(move || Box::pin(read_target())),
            value: Arc::new(|n| {
                let text = format!("record-{n:06}");
                (SchemaAndValue::new(Some(Schema::optional_string()), Some(Value::from(text.as_str()))), text)
            }),
            bad: None,
        }
    }

    /// Records of another form: for each number a value, and the text by which an entry of the target shows it. The
    /// text of one number must not be part of that of another.
    pub fn values(mut self, make: impl Fn(u64) -> (SchemaAndValue, String) + Send + Sync + 'static) -> Self {
        self.value = Arc::new(make);
        self
    }

    /// A value that the sink cannot write: the kit then checks that it is rejected, and that nothing else is.
    pub fn rejects(mut self, bad: SchemaAndValue) -> Self {
        self.bad = Some(bad);
        self
    }
}

/// Checks a sink: after every put what it calls safe is in the target, and so it is when it closes, is revoked, loses
/// partitions, is killed, or is opened again; and the worker's own loop comes to the same result.
///
/// One line in a test: `sink_kit::<MySink>(fixture())`. Takes a second or so; the target may be used by nothing else.
///
/// # Panics
/// Panics with what was wrong, and after which calls.
pub fn sink_kit<S: SinkConnector>(fixture: SinkFixture) {
    if let Err(text) = check_sink::<S>(fixture) {
        panic!("`{}` breaks the promise of a sink: {text}", S::META.name);
    }
}

/// As [`sink_kit`], but says what was wrong instead of panicking.
///
/// # Errors
/// What was wrong.
pub fn check_sink<S: SinkConnector>(fixture: SinkFixture) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(|error| format!("the test's runtime cannot be made: {error}"))?;
    runtime.block_on(async {
        let mut kit = Kit::new(Arc::new(SinkDescriptor::<S>::new()), fixture);
        scenarios::run_all(&mut kit).await?;
        worker_run::run(&mut kit).await
    })
}

/// The kit's topics, what was called safe of them, and the sink's target.
pub(in crate::testkit) struct Kit {
    pub(in crate::testkit) connector: Arc<dyn DynSinkConnector>,
    pub(super) fixture: SinkFixture,
    /// Counts records over all scenarios, so that none is mistaken for another.
    n_records: u64,
    pub(super) log: BTreeMap<TopicPartition, Vec<u64>>,
    pub(super) safe: BTreeMap<TopicPartition, i64>,
}

/// What went wrong.
pub(super) type Checked<T = ()> = Result<T, String>;

impl Kit {
    pub(in crate::testkit) fn new(connector: Arc<dyn DynSinkConnector>, fixture: SinkFixture) -> Self {
        Self { connector, fixture, n_records: 0, log: BTreeMap::new(), safe: BTreeMap::new() }
    }

    /// A value with the text that shows it.
    pub(super) fn value(&self, n: u64) -> (SchemaAndValue, String) {
        (self.fixture.value)(n)
    }

    pub(in crate::testkit) fn maker(&self) -> impl Fn(u64) -> SchemaAndValue + Send + Sync + 'static {
        let make = Arc::clone(&self.fixture.value);
        move |n| make(n).0
    }

    pub(in crate::testkit) fn properties(&self) -> &Properties {
        &self.fixture.properties
    }

    pub(super) fn bad(&self) -> Option<SchemaAndValue> {
        self.fixture.bad.clone()
    }

    pub(in crate::testkit) async fn target(&self) -> Vec<String> {
        (self.fixture.read_target)().await
    }

    /// New topics, which nobody has read.
    pub(super) fn new_topics(&mut self, topic: &str, n_partitions: i32) -> Vec<TopicPartition> {
        let partitions: Vec<_> = (0..n_partitions).map(|n| TopicPartition::new(topic, n)).collect();
        self.log = partitions.iter().map(|p| (p.clone(), Vec::new())).collect();
        self.safe.clear();
        partitions
    }

    /// Appends records to a partition.
    pub(in crate::testkit) fn append(&mut self, partition: &TopicPartition, n: u64) {
        let log = self.log.entry(partition.clone()).or_default();
        log.extend(self.n_records..self.n_records + n);
        self.n_records += n;
    }

    pub(in crate::testkit) fn end(&self, partition: &TopicPartition) -> i64 {
        self.log.get(partition).map_or(0, |log| i64::try_from(log.len()).unwrap_or(i64::MAX))
    }

    /// Where a task that begins now reads.
    pub(super) fn committed(&self, partition: &TopicPartition) -> i64 {
        self.safe.get(partition).copied().unwrap_or(0)
    }

    /// Up to `n` records of the partition that come next for this life.
    pub(super) fn records(&self, life: &SinkLife, partition: &TopicPartition, n: usize) -> Vec<SinkRecord> {
        let (Some(at), Some(tag)) = (life.offsets.position(partition), life.offsets.tag(partition)) else {
            return vec![];
        };
        let log = self.log.get(partition).map_or(&[][..], Vec::as_slice);
        let first = usize::try_from(at).unwrap_or(0).min(log.len());
        let coming = log.iter().enumerate().skip(first).take(n);
        coming.map(|(offset, number)| self.record(tag, offset, self.value(*number).0)).collect()
    }

    pub(super) fn record(&self, tag: &Arc<PartitionTag>, offset: usize, value: SchemaAndValue) -> SinkRecord {
        let offset = i64::try_from(offset).unwrap_or(i64::MAX);
        SinkRecord::from_parts(Arc::clone(tag), SinkRecordParts { offset, value, ..SinkRecordParts::default() })
    }

    /// Notes what was called safe: it must be in the target now, and never go back.
    pub(super) async fn is_safe(&mut self, when: &str, safe: &SafeOffsets) -> Checked {
        let target = self.target().await;
        for (partition, offset) in safe.iter() {
            self.is_written(when, partition, offset, &target)?;
            let before = self.safe.entry(partition.clone()).or_insert(0);
            if offset < *before {
                return Err(format!(
                    "{when}: offset {offset} of `{partition}` was called safe, but before it was {before}: it went back"
                ));
            }
            *before = offset;
        }
        Ok(())
    }

    /// Every record below `offset` is in the target.
    pub(super) fn is_written(&self, when: &str, partition: &TopicPartition, offset: i64, target: &[String]) -> Checked {
        let log = self.log.get(partition).map_or(&[][..], Vec::as_slice);
        let below = usize::try_from(offset).unwrap_or(0).min(log.len());
        for (at, number) in log[..below].iter().enumerate() {
            let text = self.value(*number).1;
            if !target.iter().any(|entry| entry.contains(&text)) {
                return Err(format!(
                    "{when}: offset {offset} of `{partition}` was called safe, but record {at} (`{text}`) is not in the target, \
                     which has {} entries",
                    target.len()
                ));
            }
        }
        Ok(())
    }

    /// The text by which the target shows a record.
    pub(in crate::testkit) fn text(&self, partition: &TopicPartition, offset: i64) -> Option<String> {
        let number = self.log.get(partition)?.get(usize::try_from(offset).ok()?)?;
        Some(self.value(*number).1)
    }

    /// The number of a partition's last record.
    pub(in crate::testkit) fn last(&self, partition: &TopicPartition) -> Option<u64> {
        self.log.get(partition)?.last().copied()
    }

    /// The texts of a partition's records from `offset` on that the target does not show.
    pub(in crate::testkit) fn missing(
        &self,
        partition: &TopicPartition,
        offset: i64,
        target: &[String],
    ) -> Vec<String> {
        let log = self.log.get(partition).map_or(&[][..], Vec::as_slice);
        let from = usize::try_from(offset).unwrap_or(0).min(log.len());
        let texts = log[from..].iter().map(|number| self.value(*number).1);
        texts.filter(|text| !target.iter().any(|entry| entry.contains(text))).collect()
    }
}
