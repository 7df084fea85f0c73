//! One cycle: does what its plan says, heals everything, waits for the end, and judges.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;
use std::time::{Duration, Instant};

use super::arena::Arena;
use super::plan::{Kind, Plan, Step, Subject, Which};
use super::subject::Connector;
use crate::standalone::Standalone;
use crate::worker::Worker;

/// A worker that was started has something to show within this time, also when it has to wait for others to be given up.
const PROGRESS_TIMEOUT: Duration = Duration::from_secs(40);
/// A worker that was told to kill itself at a step reaches it within this time, or the step does not come any more.
const CRASH_TIMEOUT: Duration = Duration::from_secs(6);
const FENCED_TIMEOUT: Duration = Duration::from_secs(20);
/// Everything is healed: the rest of the work takes no longer.
const COMPLETE_TIMEOUT: Duration = Duration::from_secs(60);
const STOP_TIMEOUT: Duration = Duration::from_secs(30);
const SIGKILL: i32 = 9;
/// A worker that was out of its group for too long says so, and its records come again.
const COMMIT_FAILED: &str = "the last commit of closing partitions failed";

/// What happened in a cycle, for the report.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Cycles.
    pub cycles: usize,
    /// Workers that were ended by SIGKILL.
    pub kills: usize,
    /// Of these by themselves, at a named step.
    pub crashes: usize,
    /// Workers that noticed that another one has their place.
    pub fenced: usize,
    /// Records that came more than once.
    pub doubled: usize,
}

/// A cycle on its way.
struct Cycle<'a> {
    arena: &'a mut Arena,
    plan: &'a Plan,
    connector: Connector,
    setups: [Standalone; 2],
    workers: [Option<Worker>; 2],
    progress_at_start: usize,
    tally: Tally,
}

/// Runs a cycle.
///
/// # Errors
/// What went wrong, with the plan and the place of the files, which are kept.
pub fn run(arena: &mut Arena, plan: &Plan) -> Result<Tally, String> {
    let made = catch_unwind(AssertUnwindSafe(|| Connector::new(arena, plan))).map_err(|panic| text_of(&*panic))?;
    let (connector, setups) = made;
    let mut cycle =
        Cycle { arena, plan, connector, setups, workers: [None, None], progress_at_start: 0, tally: Tally::default() };
    let result = catch_unwind(AssertUnwindSafe(|| cycle.play())).unwrap_or_else(|panic| Err(text_of(&*panic)));
    let Err(why) = result else {
        cycle.connector.clean_up(cycle.arena);
        return Ok(Tally { cycles: 1, ..cycle.tally });
    };
    // What runs is killed before anything is read, so that the files stay as they were.
    drop(std::mem::take(&mut cycle.workers));
    let mut kept = Vec::new();
    for setup in &mut cycle.setups {
        setup.keep();
        setup.write("plan.txt", plan.to_string());
        kept.push(setup.dir().display().to_string());
    }
    cycle.connector.dump(cycle.setups[0].dir());
    cycle.connector.fill_disk(false);
    if catch_unwind(AssertUnwindSafe(|| cycle.arena.renew())).is_err() {
        kept.push("(the broker does not come back)".to_owned());
    }
    let topic = cycle.connector.name();
    Err(format!("{why}\n{plan}\ntopic and connector `{topic}`; kept: {}", kept.join(", ")))
}

fn text_of(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_else(|| "a panic".to_owned())
}

impl Cycle<'_> {
    fn play(&mut self) -> Result<(), String> {
        for step in &self.plan.steps {
            self.step(*step).map_err(|why| format!("at {step:?}: {why}"))?;
        }
        self.complete()?;
        let mut stopped = None;
        let mut last_words = String::new();
        // Where nobody is fenced, a zombie may have stored its own offsets since.
        let two = matches!(self.plan.case.kind, Kind::Zombie | Kind::Twins);
        let is_last_to_store = !two || self.plan.case.subject != Subject::AtLeastOnce;
        for which in [0, 1] {
            let Some(mut worker) = self.workers[which].take() else { continue };
            if self.plan.shape.graceful_end {
                // Before it has started, a signal ends it as it ends every program.
                worker.wait_for_log("worker started", STOP_TIMEOUT);
                if which == self.plan.survivor && is_last_to_store {
                    stopped = Some(worker.pid());
                }
                worker.terminate();
                let code = worker.wait_for_code(STOP_TIMEOUT);
                if worker.log().contains(COMMIT_FAILED) {
                    stopped = None;
                }
                if code != 0 {
                    return Err(format!("worker {which} ended with exit status {code}"));
                }
                if stopped == Some(worker.pid()) {
                    last_words = worker.log();
                }
            } else {
                worker.kill9();
            }
        }
        self.tally.doubled = self.connector.check_end(self.arena, stopped)?;
        if stopped.is_some() {
            self.connector.check_counts(self.arena, &last_words)?;
        }
        Ok(())
    }

    fn step(&mut self, step: Step) -> Result<(), String> {
        match step {
            Step::Start(which) => self.start(which, None)?,
            Step::StartToCrash(which, name, times) => self.start(which, Some(&format!("{name}:{times}")))?,
            Step::Wait(ms) => pause(Duration::from_millis(ms)),
            Step::AwaitProgress => self.await_progress()?,
            Step::AwaitCrash(which) => self.await_crash(which)?,
            Step::Kill(which) => self.kill(which)?,
            Step::Freeze(which) => self.worker(which)?.freeze(),
            Step::Thaw(which) => self.worker(which)?.thaw(),
            Step::AwaitFenced(which) => self.await_fenced(which)?,
            Step::KillBroker => self.arena.kill_broker(),
            Step::RestartBroker => self.arena.restart_broker(),
            Step::Cut => self.arena.proxy.cut(),
            Step::Refuse => self.arena.proxy.refuse(),
            Step::Delay(ms) => self.arena.proxy.delay(Duration::from_millis(ms)),
            Step::Stall => self.arena.proxy.stall(),
            Step::Resume => self.arena.proxy.resume(),
            Step::FillDisk => self.connector.fill_disk(true),
            Step::FreeDisk => self.connector.fill_disk(false),
            Step::Change => self.connector.change(self.arena, &self.setups),
        }
        Ok(())
    }

    fn worker(&mut self, which: Which) -> Result<&mut Worker, String> {
        self.workers[which].as_mut().ok_or_else(|| format!("worker {which} does not run"))
    }

    fn start(&mut self, which: Which, crash: Option<&str>) -> Result<(), String> {
        let alone = self.workers.iter().all(Option::is_none);
        let stored = if alone { self.connector.stored(self.arena)? } else { None };
        self.progress_at_start = self.connector.progress()?;
        let worker = self.setups[which].start_with(crash.map(|crash| ("CONNECT_CRASH_POINT", crash)));
        self.connector.started(worker.pid(), stored);
        self.workers[which] = Some(worker);
        Ok(())
    }

    fn kill(&mut self, which: Which) -> Result<(), String> {
        let Some(mut worker) = self.workers[which].take() else { return Ok(()) };
        if let Some(status) = worker.ended() {
            return Err(format!("worker {which} has ended by itself: {status}"));
        }
        worker.kill9();
        self.tally.kills += 1;
        if self.workers.iter().all(Option::is_none) {
            self.connector.check_at_rest(self.arena)?;
        }
        Ok(())
    }

    fn await_progress(&mut self) -> Result<(), String> {
        let deadline = Instant::now() + PROGRESS_TIMEOUT;
        while self.connector.progress()? <= self.progress_at_start {
            if self.connector.is_complete() {
                return Ok(());
            }
            if Instant::now() > deadline {
                return Err(format!("no progress within {PROGRESS_TIMEOUT:?}"));
            }
        }
        Ok(())
    }

    fn await_crash(&mut self, which: Which) -> Result<(), String> {
        use std::os::unix::process::ExitStatusExt;
        let deadline = Instant::now() + CRASH_TIMEOUT;
        loop {
            self.connector.progress()?;
            let complete = self.connector.is_complete();
            if let Some(status) = self.worker(which)?.ended() {
                if status.signal() != Some(SIGKILL) {
                    return Err(format!("worker {which} has ended by itself: {status}"));
                }
                self.tally.kills += 1;
                self.tally.crashes += 1;
                self.workers[which] = None;
                return self.connector.check_at_rest(self.arena);
            }
            if complete || Instant::now() > deadline {
                return self.kill(which);
            }
        }
    }

    fn await_fenced(&mut self, which: Which) -> Result<(), String> {
        let deadline = Instant::now() + FENCED_TIMEOUT;
        loop {
            self.connector.progress()?;
            if is_fenced(&self.worker(which)?.log()) {
                self.tally.fenced += 1;
                return Ok(());
            }
            if self.connector.is_complete() {
                // A task that has nothing to write does not notice.
                return Ok(());
            }
            if Instant::now() > deadline {
                return Err(format!("worker {which} is not fenced within {FENCED_TIMEOUT:?}"));
            }
        }
    }

    /// Heals everything and waits for the last record.
    fn complete(&mut self) -> Result<(), String> {
        self.arena.heal();
        self.connector.fill_disk(false);
        let survivor = self.plan.survivor;
        if self.workers[survivor].is_none() {
            self.start(survivor, None)?;
        }
        let deadline = Instant::now() + COMPLETE_TIMEOUT;
        let mut next_look = Instant::now();
        loop {
            self.connector.progress()?;
            if Instant::now() < next_look {
                continue;
            }
            next_look = Instant::now() + Duration::from_millis(100);
            if self.connector.is_complete() {
                return Ok(());
            }
            let worker = self.worker(survivor)?;
            if let Some(status) = worker.ended() {
                return Err(format!("worker {survivor} has ended by itself: {status}"));
            }
            let log = worker.log();
            if log.contains("task failed") {
                // Of two that start together either may be the younger one.
                if self.plan.case.kind == Kind::Twins && is_fenced(&log) {
                    self.tally.fenced += 1;
                    self.kill(survivor)?;
                    self.start(survivor, None)?;
                    continue;
                }
                return Err(format!("a task of worker {survivor} has failed"));
            }
            if Instant::now() > deadline {
                return Err(format!("not every record is there within {COMPLETE_TIMEOUT:?}"));
            }
        }
    }
}

/// A task says why it has failed.
fn is_fenced(log: &str) -> bool {
    log.lines().any(|line| line.contains("task failed") && line.to_lowercase().contains("fenced"))
}

/// Lets time pass: what the plan is about.
fn pause(time: Duration) {
    let until = Instant::now() + time;
    while let Some(left) = until.checked_duration_since(Instant::now()).filter(|left| !left.is_zero()) {
        thread::park_timeout(left);
    }
}

impl Tally {
    /// Adds what happened in other cycles.
    pub fn add(&mut self, other: Self) {
        self.cycles += other.cycles;
        self.kills += other.kills;
        self.crashes += other.crashes;
        self.fenced += other.fenced;
        self.doubled += other.doubled;
    }
}
