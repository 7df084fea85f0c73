//! One life of a source without a worker: opened from offsets, polled, and dropped at a chosen moment.

use crate::{
    data::SchemaAndValue,
    erased::{DynSource, DynSourceConnector, Polled, Properties},
    source::{BatchLimits, EntryKind, FieldMap, Mark, OffsetMap, PartitionMap},
    task::{TaskInfo, guard::guard},
};
use std::{
    future::poll_fn,
    pin::Pin,
    sync::Arc,
    task::Poll,
    time::{Duration, Instant},
};

/// How long a source may give nothing while records are still expected.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long a source must give nothing before its input counts as read to the end.
const QUIET: Duration = Duration::from_millis(400);
/// The wait after a poll that gave nothing.
const EMPTY_POLL_WAIT: Duration = Duration::from_millis(2);
/// How many records a fixture may give.
const RECORDS_MAX: usize = 100_000;

/// What went wrong.
pub(in crate::testkit) type Checked<T = ()> = Result<T, String>;

/// How much [`check_source`](super::check_source) has tried.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReplayReport {
    /// Records of the whole input.
    pub records: usize,
    /// Lives of the source, all of them but the first run killed or compared.
    pub lives: usize,
}

/// A record that a source has emitted.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct EmittedRecord {
    /// The topic.
    pub topic: String,
    /// The partition in Kafka, if the source chose one.
    pub partition: Option<i32>,
    /// Milliseconds since 1970, if the source set a timestamp.
    pub timestamp: Option<i64>,
    /// The key.
    pub key: SchemaAndValue,
    /// The value.
    pub value: SchemaAndValue,
    /// The headers.
    pub headers: Vec<(String, SchemaAndValue)>,
}

impl EmittedRecord {
    /// The value, if it is text.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        self.value.value.as_ref().and_then(|value| value.as_str())
    }
}

impl std::fmt::Display for EmittedRecord {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let shown =
            |value: &SchemaAndValue| value.value.as_ref().map_or("null".to_owned(), |v| shorten(&format!("{v:?}")));
        write!(f, "topic `{}`, key {}, value {}", self.topic, shown(&self.key), shown(&self.value))?;
        if !self.headers.is_empty() {
            write!(f, ", {} headers", self.headers.len())?;
        }
        if let Some(timestamp) = self.timestamp {
            write!(f, ", timestamp {timestamp}")?;
        }
        Ok(())
    }
}

/// As much of a text as a message can hold.
fn shorten(text: &str) -> String {
    const CHARS_MAX: usize = 200;
    let mut shown: String = text.chars().take(CHARS_MAX).collect();
    if text.chars().nth(CHARS_MAX).is_some() {
        shown.push_str("..");
    }
    shown
}

/// One entry of a batch: a record, or an advance.
#[derive(Debug, Clone)]
pub(in crate::testkit) struct Emitted {
    pub(in crate::testkit) slot: usize,
    pub(in crate::testkit) record: Option<EmittedRecord>,
    /// The position after it; none within a group.
    pub(in crate::testkit) offset: Option<OffsetMap>,
    pub(super) mark: Mark,
}

/// Where a life starts: the offset of each partition.
pub(super) type Positions = Vec<Option<OffsetMap>>;

/// When a life is killed.
#[derive(Debug, Clone, Copy)]
pub(super) enum Until {
    /// Once it has emitted so many records (or more, in one poll), and given nothing more at once.
    Records(usize),
    /// Once it has emitted so many entries, in the middle of whatever it does then.
    Entries(usize),
    /// Once nothing has come for a while.
    Quiet,
}

/// A source and its partitions.
#[derive(Clone)]
pub(in crate::testkit) struct Subject {
    pub(in crate::testkit) connector: Arc<dyn DynSourceConnector>,
    pub(in crate::testkit) properties: Properties,
    pub(in crate::testkit) partitions: Vec<PartitionMap>,
    pub(super) ignores_timestamps: bool,
}

/// What one life has left behind.
#[derive(Debug, Default)]
pub(super) struct Lived {
    pub(super) emitted: Vec<Emitted>,
    /// How often it has waited.
    pub(super) n_waits: usize,
    /// It was dropped at a wait.
    pub(super) was_dropped: bool,
    /// It gave nothing more while more was expected.
    pub(super) fell_short: Option<String>,
    /// Two records in a row of one partition had the same offset.
    pub(super) equal_offsets: bool,
}

impl Lived {
    pub(super) fn n_records(&self) -> usize {
        self.emitted.iter().filter(|e| e.record.is_some()).count()
    }

    /// Refuses a life that fell short.
    pub(super) fn complete(self) -> Checked<Self> {
        self.fell_short.clone().map_or(Ok(self), Err)
    }

    fn short_of(mut self, until: Until) -> Self {
        let mut text = format!("gave {} records and then nothing for {} s", self.n_records(), PATIENCE.as_secs());
        if let Until::Records(n) | Until::Entries(n) = until {
            text.push_str(&format!(", but {n} were expected"));
        }
        self.fell_short = Some(text);
        self
    }
}

impl Subject {
    pub(super) fn task() -> TaskInfo {
        TaskInfo { connector: "replay".to_owned(), index: 0, n_tasks: 1 }
    }

    /// Opens the source at these positions, as they come back from a store.
    pub(super) async fn open(&self, at: &Positions, limits: BatchLimits) -> Checked<Box<dyn DynSource>> {
        let open = self.opening(at, limits);
        tokio::time::timeout(PATIENCE, open).await.map_err(|_| "`open` did not end".to_owned())?
    }

    async fn opening(&self, at: &Positions, limits: BatchLimits) -> Checked<Box<dyn DynSource>> {
        let assigned = self.partitions.iter().cloned().zip(at.iter().map(|o| o.as_ref().map(from_store))).collect();
        let (connector, properties) = (self.connector.clone(), self.properties.clone());
        let opened = guard("open", move || connector.open(properties, Self::task(), assigned, limits)).await;
        opened.map_err(|error| format!("`open` failed: {}", error.chain()))
    }

    /// Runs one life from these positions and kills it.
    pub(super) async fn live(&self, at: &Positions, limits: BatchLimits, until: Until) -> Checked<Lived> {
        self.live_with_waits(at, limits, until, usize::MAX).await
    }

    /// As [`Self::live`], and drops everything at the wait after `n_waits` waits.
    pub(super) async fn live_with_waits(
        &self,
        at: &Positions,
        limits: BatchLimits,
        until: Until,
        n_waits: usize,
    ) -> Checked<Lived> {
        let mut lived = Lived::default();
        let Some(source) = waiting(n_waits, &mut lived, self.open(at, limits)).await else { return Ok(lived) };
        let mut source = source?;
        let mut last_news = Instant::now();
        loop {
            let n_before = lived.emitted.len();
            let wanted = match until {
                Until::Entries(n) if lived.emitted.len() >= n => return Ok(lived),
                Until::Records(n) => lived.n_records() < n,
                Until::Entries(_) => true,
                Until::Quiet => false,
            };
            // What is expected is waited for. Of a source that has given everything one more poll must give nothing.
            let patience = match until {
                Until::Quiet => QUIET,
                _ if wanted => PATIENCE,
                Until::Records(_) | Until::Entries(_) => Duration::ZERO,
            };
            let left = patience.saturating_sub(last_news.elapsed());
            let mut equal = false;
            let polled = tokio::time::timeout(left, self.poll_once(&mut source, &mut equal));
            let Some(polled) = waiting(n_waits, &mut lived, polled).await else { return Ok(lived) };
            match polled {
                Ok(polled) => lived.emitted.extend(polled?),
                Err(_) => return Ok(if wanted { lived.short_of(until) } else { lived }),
            }
            lived.equal_offsets |= equal;
            if lived.emitted.len() > RECORDS_MAX {
                return Err(format!("the fixture gives more than {RECORDS_MAX} records; its input must be finite"));
            }
            if lived.emitted.len() > n_before {
                last_news = Instant::now();
                continue;
            }
            if !wanted && !matches!(until, Until::Quiet) {
                return Ok(lived);
            }
            if last_news.elapsed() >= patience {
                return Ok(if wanted { lived.short_of(until) } else { lived });
            }
            tokio::time::sleep(EMPTY_POLL_WAIT).await;
        }
    }

    /// One poll and what it has emitted.
    async fn poll_once(&self, source: &mut Box<dyn DynSource>, equal_offsets: &mut bool) -> Checked<Vec<Emitted>> {
        guard("poll", || source.poll()).await.map_err(|error| format!("`poll` failed: {}", error.chain()))?;
        let polled = source.take().map_err(|error| error.chain())?;
        *equal_offsets = polled.equal_offsets;
        Ok(self.emitted(&polled))
    }

    pub(in crate::testkit) fn emitted(&self, polled: &Polled) -> Vec<Emitted> {
        let raw = &polled.records;
        let records = raw.entries().iter().map(|entry| Emitted {
            slot: entry.slot as usize,
            record: (entry.kind == EntryKind::Record).then(|| EmittedRecord {
                topic: raw.topics()[entry.topic as usize].to_string(),
                partition: entry.partition,
                timestamp: entry.timestamp.filter(|_| !self.ignores_timestamps),
                key: raw.payload(entry.key).to_owned_value(),
                value: raw.payload(entry.value).to_owned_value(),
                headers: raw
                    .headers(entry.headers)
                    .map(|(name, value)| (name.to_owned(), raw.payload(value).to_owned_value()))
                    .collect(),
            }),
            offset: entry.offset.map(|index| polled.offsets.encode(index)),
            mark: entry.mark,
        });
        records.collect()
    }
}

/// The offset as a store gives it back: the same fields with the same values, in no particular order.
fn from_store(offset: &OffsetMap) -> OffsetMap {
    let mut fields: Vec<_> = offset.iter().collect();
    fields.reverse();
    let mut stored = FieldMap::with_capacity(fields.len());
    fields.into_iter().for_each(|(name, value)| stored.set(name.to_owned(), value.clone()));
    stored
}

/// Runs a future, counts its waits, and drops it at the wait after `n_waits` of them.
async fn waiting<T>(n_waits: usize, lived: &mut Lived, future: impl Future<Output = T>) -> Option<T> {
    let mut future = Box::pin(future);
    poll_fn(|cx| match Pin::new(&mut future).poll(cx) {
        Poll::Ready(value) => Poll::Ready(Some(value)),
        Poll::Pending if lived.n_waits >= n_waits => {
            lived.was_dropped = true;
            Poll::Ready(None)
        }
        Poll::Pending => {
            lived.n_waits += 1;
            Poll::Pending
        }
    })
    .await
}
