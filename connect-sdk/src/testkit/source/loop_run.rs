//! The worker's own loop in the kit: stops, pauses and kills of a task, on Kafka and offsets in memory.

use super::{life::Checked, replay::Kit};
use crate::{
    task::{
        Converters, TaskEnd,
        ports::TargetState,
        source::{SourcePorts, SourceProducer, SourceTask, SourceTaskConfig, SourceWorkerValues},
    },
    testkit::{MemoryKafka, MemoryOffsets, Produced, Reports, TextConverter, VirtualClock, Wishes},
};
use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};

/// How long one life may take.
const LIFE_LIMIT: Duration = Duration::from_secs(20);
/// Virtual time goes on by `STEP` each `TICK`.
const TICK: Duration = Duration::from_millis(1);
const STEP: Duration = Duration::from_millis(10);

/// A task that is stopped or paused again and again loses nothing and repeats nothing.
pub(super) async fn graceful_stops(kit: &mut Kit) -> Checked {
    let n = kit.n_records();
    let world = World::new();
    let ticking = tokio::spawn(world.clone().tick());
    let result = stops(kit, &world, n).await;
    ticking.abort();
    result
}

async fn stops(kit: &mut Kit, world: &World, n: usize) -> Checked {
    for life in 1..=4 {
        let when = format!("life {life} in the worker's loop, each ended by a stop");
        kit.n_lives += 1;
        // The last life comes to the end of the input.
        let goal = n * life / 4;
        world.live(kit, goal).await.map_err(|text| format!("{when}: {text}"))?;
    }
    let mut stopped = world.by_topic();
    let whole = World::new();
    let ticking = tokio::spawn(whole.clone().tick());
    let result = whole.live(kit, n).await;
    ticking.abort();
    result.map_err(|text| format!("a whole run in the worker's loop: {text}"))?;
    let mut expected = whole.by_topic();
    if kit.n_slots() > 1 {
        // Between partitions there is no order.
        let by_value =
            |records: &mut Vec<Produced>| records.sort_unstable_by(|a, b| (&a.key, &a.value).cmp(&(&b.key, &b.value)));
        stopped.values_mut().chain(expected.values_mut()).for_each(by_value);
    }
    for (topic, expected) in &expected {
        let found = stopped.get(topic).map_or(&[][..], Vec::as_slice);
        if let Some(i) = (0..expected.len().max(found.len())).find(|i| expected.get(*i) != found.get(*i)) {
            let show = |r: Option<&Produced>| r.map_or("nothing".to_owned(), Produced::text);
            return Err(format!(
                "stopped and started again in the worker's loop: record {} of topic `{topic}` differs: expected `{}`; \
                 came `{}`",
                i + 1,
                show(expected.get(i)),
                show(found.get(i))
            ));
        }
    }
    Ok(())
}

#[derive(Clone)]
struct World {
    clock: VirtualClock,
    kafka: MemoryKafka,
    offsets: MemoryOffsets,
}

impl World {
    fn new() -> Self {
        let clock = VirtualClock::new();
        Self { kafka: MemoryKafka::new(clock.clone(), 1), offsets: MemoryOffsets::new(clock.clone()), clock }
    }

    async fn tick(self) {
        loop {
            tokio::time::sleep(TICK).await;
            self.clock.advance(STEP);
        }
    }

    /// Runs a task until Kafka has `n_records`, then stops it.
    async fn live(&self, kit: &Kit, n_records: usize) -> Checked {
        let (wishes, reports) = (Wishes::new(TargetState::Started), Reports::new());
        let properties = kit.subject.properties.clone();
        let converter = Arc::new(TextConverter);
        let config = SourceTaskConfig::from_properties(&properties, SourceWorkerValues::default());
        let ports = SourcePorts {
            clock: Arc::new(self.clock.clone()),
            producer: SourceProducer::AtLeastOnce(self.kafka.producer()),
            topics: Arc::new(self.kafka.clone()),
            offsets: Arc::new(self.offsets.clone()),
            commands: Box::new(wishes.clone()),
            observer: Arc::new(reports.clone()),
            converters: Converters { key: converter.clone(), value: converter.clone(), header: converter },
            chain: None,
            dead_letters: None,
        };
        let task = SourceTask::new(
            super::life::Subject::task(),
            kit.subject.connector.clone(),
            properties,
            kit.subject.partitions.clone(),
            config.map_err(|errors| errors.to_string())?,
            ports,
        );
        let task = tokio::spawn(task.run());
        let deadline = Instant::now() + LIFE_LIMIT;
        while self.kafka.n_records() < n_records && !task.is_finished() {
            if Instant::now() > deadline {
                task.abort();
                return Err(format!(
                    "{} of {n_records} records after {} s",
                    self.kafka.n_records(),
                    LIFE_LIMIT.as_secs()
                ));
            }
            tokio::time::sleep(TICK).await;
        }
        wishes.wish(TargetState::Stopped);
        match tokio::time::timeout(LIFE_LIMIT, task).await {
            Ok(Ok(TaskEnd::Stopped)) => Ok(()),
            Ok(Ok(TaskEnd::Failed(error))) => Err(format!("the task failed: {}", error.chain())),
            Ok(Err(panic)) => Err(format!("the task's loop panicked: {panic}")),
            Err(_) => Err(format!("the task did not stop within {} s", LIFE_LIMIT.as_secs())),
        }
    }

    fn by_topic(&self) -> BTreeMap<String, Vec<Produced>> {
        let mut topics: BTreeMap<String, Vec<Produced>> = BTreeMap::new();
        for mut record in self.kafka.records() {
            record.timestamp = None;
            topics.entry(record.topic.clone()).or_default().push(record);
        }
        topics
    }
}
