//! `SinkLife`: one opened sink with its offsets, called as a task calls it, but one step at a time.

use crate::{
    erased::{DynSink, DynSinkConnector, Properties},
    error::{Result, TaskError},
    sink::{CloseReason, PreCommit, PutAction, PutCx, Rejected, SinkRecord, TopicPartition},
    task::{
        OpenCx, TaskInfo,
        sink_offsets::{Positions, SinkOffsets},
    },
};
use std::{collections::BTreeMap, sync::Arc, time::Duration};

/// How long one call into a sink may take.
const CALL_LIMIT: Duration = Duration::from_secs(30);

/// What a sink called safe: the offsets that may be committed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SafeOffsets(BTreeMap<TopicPartition, i64>);

impl SafeOffsets {
    /// The offset of one partition; `None` if nothing of it may be committed.
    #[must_use]
    pub fn of(&self, topic: &str, partition: i32) -> Option<i64> {
        self.0.iter().find(|(p, _)| *p.topic == *topic && p.partition == partition).map(|(_, offset)| *offset)
    }

    /// All of them.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&TopicPartition, i64)> {
        self.0.iter().map(|(p, offset)| (p, *offset))
    }

    /// True if nothing may be committed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<Positions> for SafeOffsets {
    fn from(positions: Positions) -> Self {
        Self(positions.into_iter().map(|(p, offset)| (TopicPartition::clone(&p), offset)).collect())
    }
}

/// What a sink asked for during a put.
#[derive(Debug, Default)]
pub(super) struct Asked {
    pub(super) rejected: Vec<Rejected>,
    pub(super) actions: Vec<PutAction>,
}

/// One life of a sink.
pub(super) struct SinkLife {
    sink: Box<dyn DynSink>,
    pub(super) offsets: SinkOffsets,
    tolerant: bool,
}

/// Waits for a call, but not for ever.
async fn limited<T>(call: &str, future: impl Future<Output = Result<T>>) -> Result<T> {
    match tokio::time::timeout(CALL_LIMIT, future).await {
        Ok(result) => result,
        Err(_) => Err(TaskError::fatal(format!("`{call}` did not return within {} s", CALL_LIMIT.as_secs()))),
    }
}

impl SinkLife {
    pub(super) async fn open(
        connector: &dyn DynSinkConnector,
        properties: &Properties,
        tolerant: bool,
    ) -> Result<Self> {
        let task = TaskInfo { connector: connector.meta().name.to_owned(), index: 0, n_tasks: 1 };
        let sink = limited("open", connector.open(properties.clone(), OpenCx::new(task))).await?;
        Ok(Self { sink, offsets: SinkOffsets::new(), tolerant })
    }

    /// Gives partitions, which are read from these offsets on. Returns where the sink wants to start instead.
    pub(super) async fn assign(&mut self, partitions: &[(TopicPartition, i64)]) -> Result<SafeOffsets> {
        for (partition, offset) in partitions {
            self.offsets.assign(&Arc::new(partition.clone()), *offset);
        }
        let names: Vec<_> = partitions.iter().map(|(p, _)| p.clone()).collect();
        let start = limited("assigned", self.sink.assigned(&names)).await?;
        let mut wanted = SafeOffsets::default();
        for (partition, offset) in start.iter() {
            if !names.contains(partition) || offset < 0 {
                let text = format!(
                    "`assigned` answers the start offset {offset} for `{partition}`, which was not assigned now"
                );
                return Err(TaskError::fatal(text));
            }
            self.offsets.start_at(partition, offset);
            wanted.0.insert(partition.clone(), offset);
        }
        Ok(wanted)
    }

    /// Puts records; a sink that lends leaves them in `records`. With `Ok` they count as delivered.
    pub(super) async fn put(&mut self, records: &mut Vec<SinkRecord>) -> Result<Asked> {
        let reached: Vec<_> =
            records.iter().map(|r| (TopicPartition::new(r.topic(), r.partition()), r.offset() + 1)).collect();
        let mut cx = PutCx::new(self.tolerant);
        let result = limited("put", self.sink.put(records, &mut cx)).await;
        result?;
        for (partition, position) in reached {
            self.offsets.delivered(&partition, position);
        }
        let (rejected, actions) = cx.into_requests();
        Ok(Asked { rejected, actions })
    }

    /// A regular commit: what the sink calls safe.
    pub(super) async fn pre_commit(&mut self) -> Result<SafeOffsets> {
        let asked = self.offsets.offered();
        if asked.is_empty() {
            return Ok(SafeOffsets::default());
        }
        self.ask(PreCommit::running(asked.clone()), &asked, "all()").await
    }

    /// The last commit of partitions, without `closed`.
    pub(super) async fn pre_commit_closing(
        &mut self,
        partitions: &[TopicPartition],
        why: CloseReason,
    ) -> Result<SafeOffsets> {
        let shared: Vec<_> = partitions.iter().cloned().map(Arc::new).collect();
        let asked = self.offsets.offered_of(&shared);
        self.ask(PreCommit::closing(asked.clone(), why), &asked, "all_written()").await
    }

    async fn ask<'c>(&'c mut self, question: PreCommit<'c>, asked: &Positions, all: &str) -> Result<SafeOffsets> {
        let Self { sink, offsets, .. } = self;
        let answer = limited("pre_commit", sink.pre_commit(question)).await?;
        let (safe, claims_all) = answer.into_offsets();
        if claims_all && let Some(held) = offsets.still_held(asked, |_| 0) {
            return Err(TaskError::fatal(format!(
                "`pre_commit` answers `{all}`, but the sink still holds {} records of `{}`",
                held.records, held.partition
            )));
        }
        Ok(safe.into())
    }

    /// Tells that partitions are gone; they are forgotten.
    ///
    /// Of lost partitions it says which one the sink still holds records of afterwards.
    pub(super) async fn closed(&mut self, partitions: &[TopicPartition], why: CloseReason) -> Result<()> {
        limited("closed", self.sink.closed(partitions, why)).await?;
        let shared: Vec<_> = partitions.iter().cloned().map(Arc::new).collect();
        let asked = self.offsets.offered_of(&shared);
        let held = (why == CloseReason::Lost).then(|| self.offsets.still_held(&asked, |_| 0)).flatten();
        self.offsets.forget(&shared);
        held.map_or(Ok(()), |held| {
            Err(TaskError::fatal(format!(
                "after `closed(.., CloseReason::Lost)` the sink still holds {} records of `{}`: another task has them now, drop them",
                held.records, held.partition
            )))
        })
    }

    /// The partitions that it has.
    pub(super) fn partitions(&self) -> Vec<TopicPartition> {
        self.offsets.partitions().map(|p| TopicPartition::clone(p)).collect()
    }

    /// The end of a stopped task.
    pub(super) async fn close(self) -> Result<()> {
        limited("close", async {
            self.sink.close().await;
            Ok(())
        })
        .await
    }
}
