//! `World`: topics, a consumer group and the tasks of one sink, and what happens to them in one run.

use super::{
    super::{driver::Driver, journal::Journal, mortal::Mortal, trouble::Trouble},
    connector::Simulated,
    consumer::{Caller, Consumer},
    ledger::Ledger,
};
use crate::{
    erased::{DynSinkConnector, Properties},
    error::TaskError,
    sink::TopicPartition,
    task::{
        Converters, TaskEnd, TaskInfo,
        ports::TargetState,
        sink::{SinkSetup, SinkTaskConfig, run as run_task},
    },
    testkit::{
        MemoryGroup, Random, RawRecord, Reports, Wishes,
        sink::{Kit, NumberConverter, SinkFixture},
        source::Checked,
    },
};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

/// How many tasks a sink has at most.
const TASKS_MAX: usize = 2;
/// How many partitions its topic has at most.
const PARTITIONS_MAX: usize = 3;
/// How long one of the last lives works in peace, in virtual time.
const PEACE: Duration = Duration::from_secs(20);
/// How many lives in peace a sink gets to write everything.
const PEACEFUL_LIVES_MAX: usize = 5;
/// How long a stop may take, in virtual time.
const STOP_MAX: Duration = Duration::from_secs(60);
/// What a consumer fails with.
const FENCED: &str = "the consumer was fenced, as the plan says";

pub(super) struct World {
    pub(super) journal: Journal,
    ledger: Ledger,
    random: Random,
    driver: Driver,
    kit: Kit,
    /// The member of each task.
    members: Vec<MemoryGroup>,
    trouble: Trouble,
    /// Who has each partition, or is about to get it.
    owners: BTreeMap<TopicPartition, Option<usize>>,
    tasks: Vec<Option<Running>>,
    /// Below it everything was seen in the target.
    verified: BTreeMap<TopicPartition, i64>,
    /// Records of partitions that were given up and are not in the target, with the number of that time.
    forbidden: BTreeMap<TopicPartition, (u64, Vec<String>)>,
    n_started: u64,
}

/// A task that was started.
struct Running {
    member: usize,
    life: Mortal,
    wishes: Wishes,
    end: End,
}

type End = Arc<Mutex<Option<Option<TaskEnd>>>>;

fn has_ended(end: &End) -> bool {
    end.lock().unwrap_or_else(PoisonError::into_inner).is_some()
}

impl World {
    /// A new world. Must be made inside of [`Driver::runtime`].
    pub(super) fn new(
        seed: u64,
        connector: Arc<dyn DynSinkConnector>,
        fixture: SinkFixture,
        patience: Duration,
    ) -> Self {
        let driver = Driver::new(seed, patience);
        let mut random = Random::new(seed ^ 0x5EED);
        let journal = Journal::new(driver.clock());
        let (n_tasks, n_partitions) = (1 + random.below(TASKS_MAX), 1 + random.below(PARTITIONS_MAX));
        let mut members = vec![MemoryGroup::new()];
        while members.len() < n_tasks {
            members.push(members[0].beside());
        }
        let numbers = 0..i32::try_from(n_partitions).unwrap_or(1);
        Self {
            ledger: Ledger::new(journal.clone()),
            trouble: Trouble::new(driver.clock(), seed),
            journal,
            kit: Kit::new(connector, fixture),
            tasks: members.iter().map(|_| None).collect(),
            members,
            owners: numbers.map(|n| (TopicPartition::new("simulated", n), None)).collect(),
            verified: BTreeMap::new(),
            forbidden: BTreeMap::new(),
            random,
            driver,
            n_started: 0,
        }
    }

    fn partitions(&self) -> Vec<TopicPartition> {
        self.owners.keys().cloned().collect()
    }

    /// Appends records to a partition.
    pub(super) fn append(&mut self, index: usize, n: u64) {
        let partition = self.partitions()[index].clone();
        for _ in 0..n {
            self.kit.append(&partition, 1);
            let number = self.kit.last(&partition).unwrap_or(0);
            self.members[0].append(&partition, RawRecord::value(number.to_string()));
        }
        self.journal
            .step(format!("{n} records are appended to {partition}, which has {} now", self.kit.end(&partition)));
    }

    /// Starts one of the tasks, unless it runs.
    pub(super) fn start(&mut self, index: usize) -> Checked {
        if self.tasks[index].is_some() {
            return Ok(());
        }
        self.n_started += 1;
        self.journal.step(format!("task {index} is started for the {}. time", self.n_started));
        let (life, wishes, member) = (Mortal::new(), Wishes::new(TargetState::Started), self.ledger.joins());
        let group = self.members[index].clone();
        group.forget_script();
        group.batch_records_max(1 + self.random.below(6));
        let caller = Caller {
            name: format!("task {index}, start {}:", self.n_started).into(),
            member,
            life: life.clone(),
            journal: self.journal.clone(),
            ledger: self.ledger.clone(),
        };
        let connector = Simulated {
            connector: self.kit.connector.clone(),
            caller: caller.clone(),
            calls: self.driver.calls(),
            trouble: self.trouble.clone(),
        };
        let interval = [1000, 1000, 200][self.random.below(3)];
        let mut properties: Properties = self.kit.properties().clone();
        properties.insert("offset.flush.interval.ms".to_owned(), interval.to_string());
        let converter = Arc::new(NumberConverter::of(&self.kit));
        let setup = SinkSetup {
            connector: Arc::new(connector),
            config: SinkTaskConfig::from_properties(&properties).map_err(|errors| errors.to_string())?,
            properties,
            task: TaskInfo {
                connector: "simulated".to_owned(),
                index: u32::try_from(index).unwrap_or(0),
                n_tasks: u32::try_from(self.tasks.len()).unwrap_or(1),
            },
            converters: Converters { key: converter.clone(), value: converter.clone(), header: converter },
            chain: None,
            dead_letters: None,
            consumer: Box::new(Consumer { caller, inner: group.join(), group }),
            commands: Box::new(wishes.clone()),
            clock: Arc::new(self.driver.clock()),
            observer: Arc::new(Reports::new()),
        };
        let end = End::default();
        let (ended, process) = (end.clone(), life.clone());
        self.driver.sim.spawn(async move {
            let result = process.run(run_task(setup)).await;
            *ended.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
        });
        self.tasks[index] = Some(Running { member, life, wishes, end });
        Ok(())
    }

    /// Lets everything run until `done` or for a while, and looks into the target whenever something was committed.
    async fn run_until(&mut self, time: Duration, done: impl Fn() -> bool) -> Checked<bool> {
        let until = self.driver.clock().now() + time;
        let mut is_done = false;
        while !is_done {
            let left = until.saturating_sub(self.driver.clock().now());
            let (journal, ledger) = (self.journal.clone(), self.ledger.clone());
            let stops = || done() || journal.is_violated() || ledger.has_news();
            if !self.driver.run_until(left, stops).await? {
                break;
            }
            self.look().await?;
            is_done = done();
        }
        self.look().await?;
        self.bury()?;
        Ok(is_done)
    }

    /// Lets everything run for a while.
    pub(super) async fn pass(&mut self, ms: u64) -> Checked {
        self.run_until(Duration::from_millis(ms), || false).await.map(drop)
    }

    /// What is committed must be in the target, and what was given up must not come into it.
    async fn look(&mut self) -> Checked {
        let (news, given_up) = (self.ledger.take_news(), self.ledger.given_up());
        let is_same = |(p, (number, _)): (&TopicPartition, &mut (u64, Vec<String>))| {
            given_up.get(p).is_some_and(|given_up| given_up.number == *number)
        };
        self.forbidden.retain(|p, entry| is_same((p, entry)));
        if !news.is_empty() || !given_up.is_empty() {
            let target = self.kit.target().await;
            let shows = |text: &str| target.iter().any(|entry| entry.contains(text));
            for (partition, offset) in news {
                let verified = self.verified.entry(partition.clone()).or_insert(0);
                for at in *verified..offset {
                    if let Some(text) = self.kit.text(&partition, at).filter(|text| !shows(text)) {
                        self.journal.violated(format!(
                            "{offset} of {partition} is committed, but record {at} (`{text}`) is not in the target, which \
                             has {} entries",
                            target.len()
                        ));
                    }
                }
                *verified = (*verified).max(offset);
            }
            for (partition, (_, texts)) in &self.forbidden {
                if let Some(text) = texts.iter().find(|text| shows(text)) {
                    self.journal.violated(format!(
                        "record `{text}` of {partition} is written, although the partition was given up and its records \
                         from there on are delivered to whoever gets it"
                    ));
                }
            }
            for (partition, given_up) in given_up {
                let missing = || self.kit.missing(&partition, given_up.from, &target);
                self.forbidden.entry(partition.clone()).or_insert_with(|| (given_up.number, missing()));
            }
        }
        for violation in self.members.iter().flat_map(MemoryGroup::violations) {
            self.journal.violated(format!("a task {violation}"));
        }
        self.journal.violation().map_or(Ok(()), Err)
    }

    /// Looks after tasks that have ended, and partitions that were given back.
    fn bury(&mut self) -> Checked {
        for partition in self.ledger.take_free() {
            self.owners.insert(partition, None);
        }
        for (index, place) in self.tasks.iter_mut().enumerate() {
            let end = place.as_ref().and_then(|task| task.end.lock().unwrap_or_else(PoisonError::into_inner).take());
            let (Some(end), Some(task)) = (end, place.as_ref()) else { continue };
            self.ledger.is_gone(task.member);
            *place = None;
            self.owners.values_mut().filter(|owner| **owner == Some(index)).for_each(|owner| *owner = None);
            match end {
                None => self.journal.step(format!("task {index} has died")),
                Some(TaskEnd::Stopped) => self.journal.step(format!("task {index} has stopped")),
                Some(TaskEnd::Failed(error)) if error.chain().contains(FENCED) => {
                    self.journal.step(format!("task {index} has failed: {}", error.chain()));
                    self.journal.saw("a consumer that failed");
                }
                Some(TaskEnd::Failed(error)) => {
                    self.journal.violated(format!("task {index} failed: {}", error.chain()));
                }
            }
        }
        self.journal.violation().map_or(Ok(()), Err)
    }

    /// Gives a partition that nobody has to a task that runs.
    pub(super) fn assign(&mut self, partition: usize, index: usize) {
        let partition = self.partitions()[partition].clone();
        if self.owners[&partition].is_none() && self.tasks[index].is_some() {
            self.journal.step(format!("{partition} is given to task {index}"));
            self.members[index].assign(std::slice::from_ref(&partition));
            self.owners.insert(partition, Some(index));
        }
    }

    /// Takes partitions from a task; it may make a last commit.
    pub(super) fn revoke(&mut self, index: usize, which: impl FnMut(&TopicPartition) -> bool) {
        let mut gone: Vec<_> = self.owned_by(index);
        gone.retain(which);
        if !gone.is_empty() {
            self.journal.step(format!("{} partitions are revoked from task {index}", gone.len()));
            self.members[index].revoke(&gone);
        }
    }

    /// Takes partitions from a task without asking.
    pub(super) fn lose(&mut self, index: usize, which: impl FnMut(&TopicPartition) -> bool) {
        let mut gone: Vec<_> = self.owned_by(index);
        gone.retain(which);
        if !gone.is_empty() {
            self.journal.step(format!("{} partitions are lost by task {index}", gone.len()));
            self.members[index].lose(&gone);
            self.owners.iter_mut().filter(|(p, _)| gone.contains(p)).for_each(|(_, owner)| *owner = None);
        }
    }

    fn owned_by(&self, index: usize) -> Vec<TopicPartition> {
        self.owners.iter().filter(|(_, owner)| **owner == Some(index)).map(|(p, _)| p.clone()).collect()
    }

    /// One disturbance, and some time.
    pub(super) async fn disturb(&mut self) -> Checked {
        let (index, n_partitions) = (self.random.below(self.tasks.len()), self.owners.len());
        if self.random.chance(60) {
            let (partition, n) = (self.random.below(n_partitions), 1 + self.random.below(4) as u64);
            self.append(partition, n);
        }
        let mut coin = self.random.clone();
        self.random.next_u64();
        match self.random.below(14) {
            0 => {
                if let Some(task) = &self.tasks[index] {
                    self.journal.step(format!("task {index} is killed"));
                    task.life.kill();
                }
            }
            1..3 => {
                let n = 1 + self.random.below(60) as u64;
                if let Some(task) = &self.tasks[index] {
                    task.life.dies_after(n);
                }
            }
            3 => self.stop(index).await?,
            4 => self.wish(index, TargetState::Paused),
            5 => self.wish(index, TargetState::Started),
            6..8 => self.revoke(index, |_| coin.chance(60)),
            8 => self.lose(index, |_| coin.chance(60)),
            9 => {
                let (fail, lose) = (self.random.below(3), self.random.below(3));
                self.journal
                    .step(format!("the next {fail} commits of task {index} fail, then {lose} answers are lost"));
                self.members[index].fail_commits(fail);
                self.members[index].lose_commit_answers(lose);
            }
            10 => {
                let hold = self.random.chance(60);
                self.journal.step(format!("results of commits are held back from task {index}: {hold}"));
                self.members[index].hold_commits(hold);
            }
            11..13 => {
                let delay = [0, 30, 400, 1500][self.random.below(4)];
                let percent = [0, 0, 10, 30][self.random.below(4)];
                self.journal.step(format!("calls take up to {delay} ms; {percent} of 100 fail"));
                self.trouble.set(Duration::from_millis(delay), percent);
            }
            _ => {
                if self.tasks[index].is_some() && self.random.chance(30) {
                    self.journal.step(format!("the consumer of task {index} fails"));
                    self.members[index].fail(TaskError::fatal(FENCED));
                }
            }
        }
        for index in 0..self.tasks.len() {
            if self.random.chance(70) {
                self.start(index)?;
            }
        }
        for partition in 0..n_partitions {
            let index = self.random.below(self.tasks.len());
            if self.random.chance(60) {
                self.assign(partition, index);
            }
        }
        let ms = self.random.below(1500) as u64;
        self.pass(ms).await
    }

    fn wish(&self, index: usize, target: TargetState) {
        if let Some(task) = &self.tasks[index] {
            self.journal.step(format!("task {index} is to be {target:?}"));
            task.wishes.wish(target);
        }
    }

    /// Stops a task and waits for its end.
    pub(super) async fn stop(&mut self, index: usize) -> Checked {
        let Some(task) = &self.tasks[index] else { return Ok(()) };
        self.journal.step(format!("task {index} is to stop"));
        task.wishes.wish(TargetState::Stopped);
        let end = task.end.clone();
        if !self.run_until(STOP_MAX, || has_ended(&end)).await? && self.tasks[index].is_some() {
            self.journal.violated(format!("task {index} has not stopped within {} s", STOP_MAX.as_secs()));
        }
        self.bury()
    }

    /// No more trouble: in the end everything is in the target, and committed unless the sink leaves it to others.
    pub(super) async fn come_to_peace(&mut self, each_once: bool) -> Checked {
        self.journal.step("peace");
        self.trouble.set(Duration::ZERO, 0);
        for member in &self.members {
            member.fail_commits(0);
            member.lose_commit_answers(0);
            member.hold_commits(false);
        }
        let mut reached = -1;
        for _ in 0..PEACEFUL_LIVES_MAX {
            for index in 0..self.tasks.len() {
                self.start(index)?;
                self.wish(index, TargetState::Started);
            }
            // Revocations that are under way end first; a task may still die of what was decided before.
            self.pass(1000).await?;
            for partition in 0..self.owners.len() {
                let index = self.random.below(self.tasks.len());
                self.assign(partition, index);
            }
            let ends: Vec<_> = self.partitions().iter().map(|p| (p.clone(), self.kit.end(p))).collect();
            let group = self.members[0].clone();
            let is_committed = move || ends.iter().all(|(p, end)| group.committed(p).unwrap_or(0) >= *end);
            let is_complete = self.run_until(PEACE, &is_committed).await?;
            for index in 0..self.tasks.len() {
                self.stop(index).await?;
            }
            let before = std::mem::replace(&mut reached, self.committed());
            if is_complete || is_committed() || reached == before {
                break;
            }
        }
        for partition in self.partitions() {
            if let Some(text) = self.ledger.missing(&partition, self.kit.end(&partition)) {
                self.journal.violated(format!("after some lives in peace {text}"));
            }
        }
        if each_once {
            self.count().await;
        }
        self.journal.violation().map_or(Ok(()), Err)
    }

    /// How far the group has come, over all partitions.
    fn committed(&self) -> i64 {
        self.owners.keys().filter_map(|p| self.members[0].committed(p)).sum()
    }

    /// Each committed record is in the target once.
    async fn count(&self) {
        let target = self.kit.target().await;
        for partition in self.partitions() {
            for at in 0..self.members[0].committed(&partition).unwrap_or(0) {
                let Some(text) = self.kit.text(&partition, at) else { continue };
                let n = target.iter().filter(|entry| entry.contains(&text)).count();
                if n != 1 {
                    self.journal.violated(format!("record {at} of {partition} (`{text}`) is {n} times in the target"));
                }
            }
        }
    }

    /// A short life with everything in it that a task does, which dies at its `n`-th point. False if it has fewer.
    pub(super) async fn die_at(&mut self, n: u64, each_once: bool) -> Checked<bool> {
        self.trouble.set(Duration::from_millis(20), 0);
        self.start(0)?;
        let life = self.tasks[0].as_ref().map(|task| task.life.clone()).unwrap_or_default();
        life.dies_after(n);
        let last = self.owners.len() - 1;
        let name = self.partitions()[last].clone();
        for partition in 0..=last {
            self.append(partition, 3);
            self.assign(partition, 0);
        }
        self.pass(1200).await?;
        self.append(last, 2);
        self.pass(100).await?;
        self.revoke(0, |p| *p == name);
        self.pass(300).await?;
        self.assign(last, 0);
        self.append(0, 2);
        self.pass(300).await?;
        self.lose(0, |p| *p == name);
        self.pass(100).await?;
        self.assign(last, 0);
        self.pass(1100).await?;
        self.append(0, 1);
        self.pass(50).await?;
        self.stop(0).await?;
        let died = life.is_dead();
        self.come_to_peace(each_once).await?;
        Ok(died)
    }
}
