//! The worker's own loop in the kit: kills, revocations, losses and stops, in real time.

use super::{
    kit::{Checked, Kit},
    number_converter::NumberConverter,
};
use crate::{
    erased::{BoxFuture, Properties},
    sink::TopicPartition,
    task::{
        Converters, TaskEnd, TaskInfo,
        ports::{Clock, TargetState},
        sink::{SinkSetup, SinkTaskConfig, run as run_task},
    },
    testkit::{MemoryGroup, RawRecord, Reports, Wishes},
};
use std::{
    sync::Arc,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};
use tokio::task::JoinHandle;

/// How long a life may take to put what there is.
const LIFE_LIMIT: Duration = Duration::from_secs(20);
/// How many records a partition gets for each life.
const PER_LIFE: u64 = 20;

/// How a life ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Kill,
    Revocation,
    Loss,
    Stop,
}

pub(super) async fn run(kit: &mut Kit) -> Checked {
    let partitions = kit.new_topics("kit-worker", 2);
    let group = MemoryGroup::new();
    group.batch_records_max(7);
    for (n, end) in [End::Kill, End::Revocation, End::Loss, End::Stop, End::Kill, End::Stop].into_iter().enumerate() {
        let when = format!("life {n} in the worker's loop, which ends with a {end:?}").to_lowercase();
        for partition in &partitions {
            append(kit, &group, partition);
        }
        one_life(kit, &group, &partitions, end).await.map_err(|text| format!("{when}: {text}"))?;
        // Whatever is committed is what the next life trusts.
        let target = kit.target().await;
        for partition in &partitions {
            if let Some(offset) = group.committed(partition) {
                kit.is_written(&format!("{when}: commit"), partition, offset, &target)?;
            }
        }
        if let Some(violation) = group.violations().first() {
            return Err(format!("{when}: the task {violation}"));
        }
    }
    Ok(())
}

fn append(kit: &mut Kit, group: &MemoryGroup, partition: &TopicPartition) {
    let before = kit.log.get(partition).map_or(0, Vec::len);
    kit.append(partition, PER_LIFE);
    for number in kit.log.get(partition).into_iter().flatten().skip(before) {
        group.append(partition, RawRecord::value(number.to_string()));
    }
}

async fn one_life(kit: &Kit, group: &MemoryGroup, partitions: &[TopicPartition], end: End) -> Checked {
    let (wishes, reports) = (Wishes::new(TargetState::Started), Reports::new());
    let consumer = group.join();
    group.assign(partitions);
    let converter = Arc::new(NumberConverter::of(kit));
    let interval = Properties::from([("offset.flush.interval.ms".to_owned(), "2".to_owned())]);
    let task = tokio::spawn(run_task(SinkSetup {
        connector: Arc::clone(&kit.connector),
        properties: kit.properties().clone(),
        task: TaskInfo { connector: "kit".to_owned(), index: 0, n_tasks: 1 },
        config: SinkTaskConfig::from_properties(&interval).map_err(|errors| errors.to_string())?,
        converters: Converters { key: converter.clone(), value: converter.clone(), header: converter },
        chain: None,
        dead_letters: None,
        consumer,
        commands: Box::new(wishes.clone()),
        clock: Arc::new(RealClock(Instant::now())),
        observer: Arc::new(reports.clone()),
    }));
    let until_idle = |task| wait(task, "everything is put", || group.is_idle() && reports.records().1 > 0);
    let task = until_idle(task).await?;
    match end {
        End::Kill => {
            task.abort();
            // Wait until it is gone: the sink is dropped with it.
            drop(task.await);
            return Ok(());
        }
        End::Revocation => group.revoke(&partitions[1..]),
        End::Loss => group.lose(&partitions[..1]),
        End::Stop => {}
    }
    let task = until_idle(task).await?;
    wishes.wish(TargetState::Stopped);
    match tokio::time::timeout(LIFE_LIMIT, task).await {
        Ok(Ok(TaskEnd::Stopped)) => Ok(()),
        Ok(Ok(TaskEnd::Failed(error))) => Err(format!("the task failed: {}", error.chain())),
        Ok(Err(panic)) => Err(format!("the task's loop panicked: {panic}")),
        Err(_) => Err(format!("the task did not stop within {} s", LIFE_LIMIT.as_secs())),
    }
}

/// Waits for a condition; the task must not end meanwhile.
async fn wait(
    task: JoinHandle<TaskEnd>,
    what: &str,
    mut condition: impl FnMut() -> bool,
) -> Checked<JoinHandle<TaskEnd>> {
    let deadline = Instant::now() + LIFE_LIMIT;
    while !condition() {
        if task.is_finished() {
            return match task.await {
                Ok(TaskEnd::Failed(error)) => Err(format!("the task failed: {}", error.chain())),
                other => Err(format!("the task ended by itself: {other:?}")),
            };
        }
        if Instant::now() > deadline {
            return Err(format!("{what}: still not after {} s", LIFE_LIMIT.as_secs()));
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    Ok(task)
}

/// The computer's time.
struct RealClock(Instant);

impl Clock for RealClock {
    #[allow(clippy::disallowed_methods, reason = "this is the clock that the kit's tasks are given")]
    fn now_ms(&self) -> i64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    }

    fn monotonic(&self) -> Duration {
        self.0.elapsed()
    }

    fn sleep_until(&self, until: Duration) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep_until((self.0 + until).into()))
    }
}
