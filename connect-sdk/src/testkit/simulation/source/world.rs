//! `World`: Kafka, an offset store and the tasks of one source, and what happens to them in one run.

use super::{
    super::{driver::Driver, journal::Journal, mortal::Mortal, trouble::Trouble},
    connector::Simulated,
    ledger::Ledger,
    ports::{Caller, Offsets, Producer, Topics},
    transactions::{Ghosts, Transactional},
};
use crate::{
    task::{
        Converters, TaskEnd, TaskInfo,
        ports::TargetState,
        source::{SourcePorts, SourceProducer, SourceTask, SourceTaskConfig, SourceWorkerValues, TransactionBoundary},
    },
    testkit::{
        FaultPlan, MemoryKafka, MemoryOffsets, Produced, Random, Reports, TextConverter, Wishes,
        source::{Baseline, Checked},
    },
};
use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

/// How many tasks a source has at most.
const TASKS_MAX: usize = 3;
/// How long a peaceful end may take, in virtual time.
const PEACE_MAX: Duration = Duration::from_secs(3600);
/// How long a stop may take, in virtual time.
const STOP_MAX: Duration = Duration::from_secs(60);
/// Acknowledgements that take longer than this may be given up by a stop.
const CALM_ACK_DELAY: Duration = Duration::from_secs(1);
/// What a record is refused with.
const REFUSED: &str = "refused, as the plan says";
/// What a task may fail with, because its world did that to it.
const ALLOWED: [&str; 4] =
    [REFUSED, "a record of the transaction was refused", "the transaction has expired", "fenced: "];

pub(super) struct World {
    pub(super) journal: Journal,
    pub(super) ledger: Ledger,
    random: Random,
    driver: Driver,
    kafka: MemoryKafka,
    store: MemoryOffsets,
    trouble: Trouble,
    baseline: Arc<Baseline>,
    /// The source partitions of each task.
    slots: Vec<Vec<usize>>,
    tasks: Vec<Option<Running>>,
    n_started: u64,
    /// Something keeps records or offsets from being accepted in time.
    is_troubled: bool,
    exactly_once: bool,
    ghosts: Ghosts,
    /// Tasks in whose place others were started, by mistake.
    zombies: Vec<Running>,
}

/// A task that was started.
struct Running {
    task: usize,
    life: Mortal,
    wishes: Wishes,
    end: Arc<Mutex<Option<Option<TaskEnd>>>>,
    /// Nothing has kept it from storing what it sent.
    is_calm: bool,
}

impl Running {
    fn take_end(&self) -> Option<Option<TaskEnd>> {
        self.end.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn has_ended(&self) -> bool {
        self.end.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }
}

impl World {
    /// A new world. Must be made inside of [`Driver::runtime`].
    pub(super) fn new(seed: u64, baseline: &Arc<Baseline>, patience: Duration, exactly_once: bool) -> Self {
        let driver = Driver::new(seed, patience);
        let mut random = Random::new(seed ^ 0x5EED);
        let clock = driver.clock();
        let journal = Journal::new(clock.clone());
        let n_slots = baseline.subject.partitions.len();
        let n_tasks = 1 + random.below(n_slots.min(TASKS_MAX));
        let slots: Vec<Vec<usize>> = (0..n_tasks).map(|task| (task..n_slots).step_by(n_tasks).collect()).collect();
        Self {
            ledger: Ledger::new(journal.clone(), baseline.by_slot(), exactly_once),
            journal,
            kafka: MemoryKafka::new(clock.clone(), seed),
            store: MemoryOffsets::new(clock.clone()),
            trouble: Trouble::new(clock, seed),
            baseline: baseline.clone(),
            tasks: slots.iter().map(|_| None).collect(),
            slots,
            random,
            driver,
            n_started: 0,
            is_troubled: false,
            exactly_once,
            ghosts: Ghosts::default(),
            zombies: Vec::new(),
        }
    }

    /// Starts one of the tasks, unless it runs.
    fn start(&mut self, index: usize) -> Checked {
        if self.tasks[index].is_some() {
            return Ok(());
        }
        self.n_started += 1;
        let (life, wishes) = (Mortal::new(), Wishes::new(TargetState::Started));
        let task = self.ledger.begins(&self.slots[index]);
        let caller = Caller {
            name: format!("task {index}, start {}:", self.n_started).into(),
            task,
            life: life.clone(),
            journal: self.journal.clone(),
            ledger: self.ledger.clone(),
        };
        let baseline = self.baseline.clone();
        let subject = &baseline.subject;
        let connector = Simulated {
            subject: subject.clone(),
            caller: caller.clone(),
            calls: self.driver.calls(),
            trouble: self.trouble.clone(),
        };
        let config = SourceTaskConfig::from_properties(&subject.properties, SourceWorkerValues::default());
        let mut config = config.map_err(|errors| errors.to_string())?;
        config.batch.records = 1 + self.random.below(5);
        config.inflight_records_max = 1 + self.random.below(20);
        config.retry_timeout = None;
        config.boundary = self.boundary();
        let converter = Arc::new(TextConverter);
        let producer = if self.exactly_once {
            let (id, arrives) = (format!("connect-simulated-{index}"), self.random.chance(50));
            let (caller, ghosts) = (caller.clone(), self.ghosts.clone());
            let producer = Transactional::new(caller, &self.kafka, &self.store, &id, ghosts, arrives);
            SourceProducer::ExactlyOnce(Box::new(producer))
        } else {
            SourceProducer::AtLeastOnce(Box::new(Producer::new(caller.clone(), &self.kafka)))
        };
        let ports = SourcePorts {
            clock: Arc::new(self.driver.clock()),
            producer,
            topics: Arc::new(Topics { caller: caller.clone(), kafka: self.kafka.clone() }),
            offsets: Arc::new(Offsets { caller, store: self.store.clone(), arrives: self.random.chance(50) }),
            commands: Box::new(wishes.clone()),
            observer: Arc::new(Reports::new()),
            converters: Converters { key: converter.clone(), value: converter.clone(), header: converter },
            chain: None,
            dead_letters: None,
        };
        let partitions = self.slots[index].iter().map(|slot| subject.partitions[*slot].clone()).collect();
        let info = TaskInfo {
            connector: "simulated".to_owned(),
            index: u32::try_from(index).unwrap_or(0),
            n_tasks: u32::try_from(self.slots.len()).unwrap_or(1),
        };
        let task_loop =
            SourceTask::new(info, Arc::new(connector), subject.properties.clone(), partitions, config, ports);
        let end = Arc::new(Mutex::new(None));
        let (ended, process) = (end.clone(), life.clone());
        self.driver.sim.spawn(async move {
            let result = process.run(task_loop.run()).await;
            *ended.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
        });
        self.journal.step(format!("task {index} is started for the {}. time", self.n_started));
        self.tasks[index] = Some(Running { task, life, wishes, end, is_calm: !self.is_troubled });
        Ok(())
    }

    fn boundary(&mut self) -> TransactionBoundary {
        if self.random.chance(50) {
            return TransactionBoundary::Poll;
        }
        TransactionBoundary::Interval {
            interval: Duration::from_millis(1 + self.random.below(600) as u64),
            records_max: 1 + self.random.below(12) as u64,
            bytes_max: 1 << 20,
        }
    }

    /// Lets everything run for a while.
    pub(super) async fn pass(&mut self, time: Duration) -> Checked {
        for ghost in self.ghosts.take() {
            self.driver.sim.spawn(ghost.haunt());
        }
        let journal = self.journal.clone();
        self.driver.run_until(time, || journal.is_violated()).await?;
        for task in self.tasks.iter_mut().flatten() {
            task.is_calm &= !self.is_troubled;
        }
        self.bury()
    }

    /// Looks after tasks that have ended by themselves.
    fn bury(&mut self) -> Checked {
        for (index, place) in self.tasks.iter_mut().enumerate() {
            let Some(end) = place.as_ref().and_then(Running::take_end) else { continue };
            *place = None;
            match end {
                None => self.journal.step(format!("task {index} has died")),
                Some(TaskEnd::Stopped) => self.journal.step(format!("task {index} has stopped")),
                Some(TaskEnd::Failed(error)) if ALLOWED.iter().any(|text| error.chain().contains(text)) => {
                    self.journal.step(format!("task {index} has failed: {}", error.chain()));
                    if error.chain().contains(REFUSED) {
                        self.journal.saw("a refused record");
                    }
                }
                Some(TaskEnd::Failed(error)) => {
                    self.journal.violated(format!("task {index} failed: {}", error.chain()));
                }
            }
        }
        for zombie in &self.zombies {
            if let Some(Some(TaskEnd::Failed(error))) = zombie.take_end()
                && error.chain().contains("fenced: ")
            {
                self.journal.step(format!("a zombie has failed: {}", error.chain()));
                self.journal.saw("a fenced task");
            }
        }
        self.journal.violation().map_or(Ok(()), Err)
    }

    /// Starts another process in the place of a task that runs, as two workers with the same configuration do.
    fn replace(&mut self, index: usize) -> Checked {
        if let Some(task) = self.tasks[index].take() {
            self.journal.step(format!("task {index} is started although it runs"));
            self.ledger.is_replaced(task.task);
            self.zombies.push(task);
            self.start(index)?;
        }
        Ok(())
    }

    /// One disturbance, and some time.
    pub(super) async fn disturb(&mut self) -> Checked {
        let index = self.random.below(self.tasks.len());
        match self.random.below(if self.exactly_once { 17 } else { 14 }) {
            0 => self.kill(index),
            1..3 => {
                let n = 1 + self.random.below(60) as u64;
                if let Some(task) = &self.tasks[index] {
                    task.life.dies_after(n);
                }
            }
            3..5 => self.stop(index).await?,
            5 => self.wish(index, TargetState::Paused),
            6 => self.wish(index, TargetState::Started),
            7 => self.delay_acks(),
            8 => {
                let hold = self.random.chance(50);
                self.journal.step(format!("acknowledgements are held back: {hold}"));
                self.kafka.plan(|plan| plan.hold_acks = hold);
            }
            9 => {
                let (stores, loads) = (self.random.below(4), self.random.below(3));
                self.journal.step(format!("the next {stores} stores and {loads} loads fail"));
                self.store.fail_next(u32::try_from(stores).unwrap_or(0));
                self.store.fail_next_loads(u32::try_from(loads).unwrap_or(0));
            }
            10 => {
                let (hangs, slow) = (self.random.chance(30), self.random.chance(50));
                self.journal.step(format!("the store hangs: {hangs}; is slow: {slow}"));
                self.store.hang(hangs);
                self.store.delay(Duration::from_millis(if slow { self.random.below(2000) as u64 } else { 0 }));
            }
            11 => {
                let delay = [0, 30, 400][self.random.below(3)];
                let percent = [0, 0, 10, 30][self.random.below(4)];
                self.journal.step(format!("calls take up to {delay} ms; {percent} of 100 fail"));
                self.trouble.set(Duration::from_millis(delay), percent);
            }
            12 => self.refuse_one(),
            14 => self.replace(index)?,
            15 => {
                let (n, is_fatal) = (self.random.below(3), self.random.chance(20));
                self.journal.step(format!("{n} transactions must be aborted; the next has expired: {is_fatal}"));
                self.kafka.plan(|plan| {
                    plan.abortable_commits = u32::try_from(n).unwrap_or(0);
                    plan.fatal_commit = is_fatal;
                });
            }
            16 => {
                let longest = [5, 300, 2500][self.random.below(3)];
                self.journal.step(format!("commits take up to {longest} ms"));
                self.kafka.plan(|plan| plan.commit_delay.1 = Duration::from_millis(longest));
            }
            _ => {
                let (queue, failures) = (1 + self.random.below(10), self.random.below(3));
                self.journal
                    .step(format!("the producer's queue holds {queue} records; {failures} topic look-ups fail"));
                self.kafka.plan(|plan| {
                    plan.queue_records_max = queue;
                    plan.topic_failures = u32::try_from(failures).unwrap_or(0);
                });
            }
        }
        self.see_trouble();
        for index in 0..self.tasks.len() {
            if self.random.chance(70) {
                self.start(index)?;
            }
        }
        let time = Duration::from_millis(self.random.below(1500) as u64);
        self.pass(time).await
    }

    pub(super) fn kill(&mut self, index: usize) {
        if let Some(task) = &self.tasks[index] {
            self.journal.step(format!("task {index} is killed"));
            task.life.kill();
        }
    }

    pub(super) fn wish(&mut self, index: usize, target: TargetState) {
        if let Some(task) = &self.tasks[index] {
            self.journal.step(format!("task {index} is to be {target:?}"));
            task.wishes.wish(target);
        }
    }

    fn delay_acks(&mut self) {
        let (longest, out_of_order) = ([5, 5, 900, 3000][self.random.below(4)], self.random.chance(60));
        self.journal.step(format!("acknowledgements take up to {longest} ms, out of order: {out_of_order}"));
        self.kafka.plan(|plan| {
            plan.ack_delay.1 = Duration::from_millis(longest);
            plan.out_of_order = out_of_order;
        });
    }

    fn refuse_one(&mut self) {
        self.journal.step("the next record is refused");
        let open = AtomicBool::new(true);
        let refuse = move |_: &Produced| open.swap(false, Ordering::Relaxed).then(|| REFUSED.to_owned());
        self.kafka.plan(|plan| plan.refuse = Some(Arc::new(refuse)));
    }

    /// Tasks of which something may be unstored when they stop are not calm any more.
    fn see_trouble(&mut self) {
        let mut slow = false;
        self.kafka.plan(|plan| {
            let is_slow = plan.ack_delay.1.max(plan.commit_delay.1) > CALM_ACK_DELAY;
            let fails = plan.refuse.is_some() || plan.abortable_commits > 0 || plan.fatal_commit;
            slow = plan.hold_acks || is_slow || fails;
        });
        self.is_troubled = slow || !self.store.works();
        for task in self.tasks.iter_mut().flatten() {
            task.is_calm &= !self.is_troubled;
        }
    }

    /// Stops a task and waits for its end: without trouble everything that it sent is stored then.
    pub(super) async fn stop(&mut self, index: usize) -> Checked {
        let Some(task) = &self.tasks[index] else { return Ok(()) };
        self.journal.step(format!("task {index} is to stop"));
        task.wishes.wish(TargetState::Stopped);
        let (journal, end) = (self.journal.clone(), task.end.clone());
        let ended = move || end.lock().unwrap_or_else(PoisonError::into_inner).is_some() || journal.is_violated();
        if !self.driver.run_until(STOP_MAX, ended).await? {
            self.journal.violated(format!("task {index} has not stopped within {} s", STOP_MAX.as_secs()));
        }
        if let Some(Running { task, is_calm: true, life, .. }) = self.tasks[index].as_ref().filter(|t| t.has_ended())
            && !life.is_dead()
            && let Some(text) = self.ledger.unstored(*task)
        {
            self.journal.violated(format!("task {index} was stopped in peace, and yet {text}"));
        }
        self.bury()
    }

    /// No more trouble: in the end everything has arrived and is stored.
    pub(super) async fn come_to_peace(&mut self) -> Checked {
        self.journal.step("peace");
        self.zombies.drain(..).for_each(|zombie| zombie.life.kill());
        self.kafka.plan(|plan| *plan = FaultPlan::default());
        self.store.fail_next(0);
        self.store.fail_next_loads(0);
        self.store.hang(false);
        self.store.delay(Duration::ZERO);
        self.trouble.set(Duration::ZERO, 0);
        self.see_trouble();
        for index in 0..self.tasks.len() {
            self.start(index)?;
            self.wish(index, TargetState::Started);
        }
        let mut left = PEACE_MAX;
        while !self.ledger.is_complete() && !left.is_zero() {
            let (ledger, journal) = (self.ledger.clone(), self.journal.clone());
            let tasks: Vec<_> = self.tasks.iter().flatten().map(|task| task.end.clone()).collect();
            let before = self.driver.clock().now();
            let done = move || {
                let ended = |end: &Arc<Mutex<Option<_>>>| end.lock().unwrap_or_else(PoisonError::into_inner).is_some();
                ledger.is_complete() || journal.is_violated() || tasks.iter().any(ended)
            };
            self.driver.run_until(left, done).await?;
            left = left.saturating_sub(self.driver.clock().now() - before);
            // One may still die of what was decided before.
            self.bury()?;
            for index in 0..self.tasks.len() {
                self.start(index)?;
            }
        }
        if let Some(text) = self.ledger.missing() {
            self.journal.violated(format!("after {} s of peace {text}", PEACE_MAX.as_secs()));
        }
        for index in 0..self.tasks.len() {
            self.stop(index).await?;
        }
        if self.ledger.n_repeated() > 0 {
            self.journal.saw("a record that was sent twice");
        }
        self.bury()
    }

    /// A short life with everything in it that a task does, which dies at its `n`-th point. False if it has fewer.
    pub(super) async fn die_at(&mut self, n: u64) -> Checked<bool> {
        self.trouble.set(Duration::from_millis(60), 0);
        self.kafka.plan(|plan| plan.out_of_order = true);
        self.start(0)?;
        let life = self.tasks[0].as_ref().map(|task| task.life.clone()).unwrap_or_default();
        life.dies_after(n);
        self.pass(Duration::from_millis(1200)).await?;
        self.wish(0, TargetState::Paused);
        self.pass(Duration::from_millis(300)).await?;
        self.wish(0, TargetState::Started);
        self.pass(Duration::from_millis(300)).await?;
        self.stop(0).await?;
        let died = life.is_dead();
        self.come_to_peace().await?;
        Ok(died)
    }
}
