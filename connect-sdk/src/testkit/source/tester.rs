//! `SourceTester`: a source in a unit test, called as the worker calls it.

use super::{
    life::{Emitted, EmittedRecord, Positions, Subject},
    replay::Accepted,
};
use crate::{
    erased::{DynSource, DynSourceConnector, Properties, SourceDescriptor},
    error::Result,
    source::{BatchLimits, OffsetMap, PartitionMap, SourceConnector},
    task::guard::guard,
};
use std::{
    fmt,
    sync::Arc,
    time::{Duration, Instant},
};

/// How long [`SourceTester::poll_until`] waits for its records.
const PATIENCE: Duration = Duration::from_secs(10);
/// The wait after a poll that gave nothing.
const EMPTY_POLL_WAIT: Duration = Duration::from_millis(2);

/// A source in a unit test: open it, poll it, look at its records and offsets, start it again.
///
/// It has a runtime of its own, so its methods are plain functions; call them from a plain `#[test]`.
pub struct SourceTester {
    runtime: tokio::runtime::Runtime,
    subject: Subject,
    limits: BatchLimits,
    source: Option<Box<dyn DynSource>>,
    positions: Positions,
}

impl SourceTester {
    /// Reads the configuration, asks for the partitions, and opens the source at the beginning of all of them.
    ///
    /// # Errors
    /// What the configuration or the source says.
    ///
    /// # Panics
    /// If the system gives no threads.
    pub fn open<S: SourceConnector, K: Into<String>, V: Into<String>>(
        properties: impl IntoIterator<Item = (K, V)>,
    ) -> Result<Self> {
        let properties: Properties = properties.into_iter().map(|(k, v)| (k.into(), v.into())).collect();
        let connector: Arc<dyn DynSourceConnector> = Arc::new(SourceDescriptor::<S>::new());
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("a test can start a thread");
        let partitions = runtime.block_on(connector.partitions(properties.clone()))?;
        let positions = vec![None; partitions.len()];
        let subject = Subject { connector, properties, partitions, ignores_timestamps: false };
        let mut tester = Self { runtime, subject, limits: BatchLimits::default(), source: None, positions };
        tester.restart()?;
        Ok(tester)
    }

    /// Sets `batch.max.records`, from the next start on.
    pub fn batch_records_max(&mut self, records: usize) {
        self.limits.records = records;
    }

    /// The partitions that the source has named.
    #[must_use]
    pub fn partitions(&self) -> &[PartitionMap] {
        &self.subject.partitions
    }

    /// The position of each partition: all records that were polled count as accepted.
    #[must_use]
    pub fn offsets(&self) -> &[Option<OffsetMap>] {
        &self.positions
    }

    /// Sets the position from which the next start reads a partition.
    ///
    /// # Panics
    /// If there is no such partition.
    pub fn set_offset(&mut self, partition: usize, offset: Option<OffsetMap>) {
        self.positions[partition] = offset;
    }

    /// Drops the source, in the middle of whatever it does, and opens a new one at the positions.
    ///
    /// # Errors
    /// What `open` says.
    pub fn restart(&mut self) -> Result<()> {
        self.source = None;
        let assigned = self.subject.partitions.iter().cloned().zip(self.positions.iter().cloned()).collect();
        let (connector, properties, limits) =
            (self.subject.connector.clone(), self.subject.properties.clone(), self.limits);
        let open = guard("open", move || connector.open(properties, Subject::task(), assigned, limits));
        self.source = Some(self.runtime.block_on(open)?);
        Ok(())
    }

    /// One poll: its records, none if it gave nothing or had nothing within `patience`.
    ///
    /// A poll that is still waiting then is dropped, and the source is started again, as after a stop.
    ///
    /// # Errors
    /// What `poll` says; the source is gone then, and [`Self::restart`] makes a new one.
    pub fn poll_for(&mut self, patience: Duration) -> Result<Vec<EmittedRecord>> {
        let Some(mut source) = self.source.take() else { return self.restart().map(|()| Vec::new()) };
        let subject = self.subject.clone();
        let polled = self.runtime.block_on(async {
            let poll = guard("poll", || source.poll());
            tokio::time::timeout(patience, poll).await
        });
        let Ok(polled) = polled else { return self.restart().map(|()| Vec::new()) };
        polled?;
        let emitted = subject.emitted(&source.take()?);
        self.source = Some(source);
        self.positions = Accepted::after(&emitted, std::mem::take(&mut self.positions)).positions;
        Ok(emitted.into_iter().filter_map(|e: Emitted| e.record).collect())
    }

    /// Polls until there are at least `n` records.
    ///
    /// # Errors
    /// What `poll` says.
    ///
    /// # Panics
    /// If they have not come after ten seconds.
    pub fn poll_until(&mut self, n: usize) -> Result<Vec<EmittedRecord>> {
        let deadline = Instant::now() + PATIENCE;
        let mut records = Vec::new();
        while records.len() < n {
            let left = deadline.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "{} of {n} records came within {} s", records.len(), PATIENCE.as_secs());
            let polled = self.poll_for(left)?;
            if polled.is_empty() {
                self.runtime.block_on(tokio::time::sleep(EMPTY_POLL_WAIT));
            }
            records.extend(polled);
        }
        Ok(records)
    }

    /// Closes the source as a stop does.
    pub fn close(mut self) {
        if let Some(source) = self.source.take() {
            self.runtime.block_on(source.close());
        }
    }
}

impl fmt::Debug for SourceTester {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SourceTester").field("positions", &self.positions).finish_non_exhaustive()
    }
}

impl Drop for SourceTester {
    fn drop(&mut self) {
        // A source may own tokio's values, whose drop wants the runtime.
        let source = self.source.take();
        let _inside = self.runtime.enter();
        drop(source);
    }
}
