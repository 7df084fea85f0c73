//! What a cycle does, decided by its seed alone before anything is started.

use std::fmt;

use super::rng::Rng;
use super::rules::Rules;
use crate::connectors::numbers::mix;

/// What is tried to be broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// An exactly-once source.
    ExactlyOnce,
    /// A source whose records may come again after a crash.
    AtLeastOnce,
    /// A sink.
    Sink,
    /// An exactly-once source that says itself where its transactions end.
    Marked,
    /// An exactly-once source with transformations that drop some records and cannot take others, which go to a dead letter
    /// queue.
    Chained,
    /// A sink whose group has the protocol of KIP-848.
    NewGroup,
    /// A sink whose target keeps the offsets, so that each record is there once.
    Folder,
}

/// By what it is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// SIGKILL at any time.
    Kill,
    /// SIGKILL at a named step of the worker.
    Step,
    /// A worker that is frozen until it is given up, and thawed.
    Zombie,
    /// Two workers with the same tasks.
    Twins,
    /// The broker is killed and comes back.
    Broker,
    /// The connection is cut, refused, delayed or stalled.
    Network,
    /// The disk is full for a while.
    Disk,
    /// The topics are others when a worker comes back.
    Change,
}

/// What a change of topics is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// None.
    None,
    /// So many partitions more.
    Grow(u64),
    /// A second topic with so many partitions.
    Topic(u64),
}

/// Subject and kind together: the unit that `--only` chooses and that is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Case {
    /// What.
    pub subject: Subject,
    /// By what.
    pub kind: Kind,
}

/// One of the two workers that a cycle may have.
pub type Which = usize;

/// A step of a cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Starts a worker.
    Start(Which),
    /// Starts a worker that kills itself when it reaches this step for this time.
    StartToCrash(Which, &'static str, u64),
    /// Waits so many milliseconds.
    Wait(u64),
    /// Waits until there is more to see than when the last worker was started.
    AwaitProgress,
    /// Waits for the end of a worker that is to kill itself; kills it if that does not come.
    AwaitCrash(Which),
    /// SIGKILL.
    Kill(Which),
    /// SIGSTOP.
    Freeze(Which),
    /// SIGCONT.
    Thaw(Which),
    /// Waits until every task of a worker has failed because another one took its place.
    AwaitFenced(Which),
    /// SIGKILL for the broker.
    KillBroker,
    /// Starts the broker again.
    RestartBroker,
    /// Closes connections.
    Cut,
    /// Closes connections and refuses new ones.
    Refuse,
    /// Delays what is sent by so many milliseconds.
    Delay(u64),
    /// Holds back what is sent.
    Stall,
    /// Ends refusing, delaying and stalling.
    Resume,
    /// From now on nothing can be written to the store's disk.
    FillDisk,
    /// It can again.
    FreeDisk,
    /// Changes the topics, and the connector's file where it names them.
    Change,
}

/// What the connector under test is like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shape {
    /// Source partitions, or partitions of the sink's topic.
    pub partitions: u64,
    /// `tasks.max`.
    pub tasks: u64,
    /// `tasks.max` of the second worker.
    pub tasks_of_other: u64,
    /// Records of each partition.
    pub records: u64,
    /// Bytes of a record.
    pub record_bytes: u64,
    /// Records of each partition that come at a time.
    pub poll_records: u64,
    /// Milliseconds between them.
    pub pause_ms: u64,
    /// `group.records` of the source.
    pub group_records: u64,
    /// `fail.every.polls` of the source.
    pub fail_every_polls: u64,
    /// `transaction.boundary.interval.ms`; none is `transaction.boundary=poll`.
    pub boundary_ms: Option<u64>,
    /// Source offsets are in a topic rather than in a file.
    pub offsets_in_topic: bool,
    /// The sink's class.
    pub sink: &'static str,
    /// What becomes of a source's records.
    pub rules: Rules,
    /// How the sink's topics change.
    pub change: Change,
    /// The sink's topics are named by a pattern.
    pub by_regex: bool,
    /// The last worker is stopped in good order rather than killed.
    pub graceful_end: bool,
}

/// A cycle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The run's seed.
    pub seed: u64,
    /// The cycle's number in the run.
    pub number: u64,
    /// What is broken by what.
    pub case: Case,
    /// The connector.
    pub shape: Shape,
    /// What is done, before everything is healed and has to come to its end.
    pub steps: Vec<Step>,
    /// The worker that has to bring it to its end.
    pub survivor: Which,
}

/// How long transactions may take where a zombie is to be given up. Milliseconds.
pub const ZOMBIE_TRANSACTION_MS: u64 = 1_500;
/// How long a sink's group waits for a silent member. Milliseconds.
pub const SESSION_MS: u64 = 1_500;
/// The same where the group is to keep the places of the dead. Milliseconds.
pub const SESSION_LONG_MS: u64 = 30_000;
/// A crash is awaited at one of the first so many times that its step is reached.
const CRASH_TIMES_MAX: u64 = 6;
/// The longest time from a worker's start to its kill: about what it needs to start and to do its work. Milliseconds.
const LIFE_MS_MAX: u64 = 1_600;

/// The sink that operators use.
pub const FILE_STREAM_SINK: &str = "FileStreamSink";
/// The same with `directory`.
pub const FOLDER_SINK: &str = "FileStreamSink in a folder";

const TRANSACTION_STEPS: [&str; 6] =
    ["before-begin", "after-produce", "before-offsets", "after-offsets", "before-commit", "after-commit"];
const STORE_STEPS: [&str; 2] = ["before-store", "after-store"];
const SINK_STEPS: [&str; 2] = ["before-sink-commit", "after-sink-commit"];

impl Subject {
    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::ExactlyOnce, Self::AtLeastOnce, Self::Sink, Self::Marked, Self::Chained, Self::NewGroup, Self::Folder];

    /// True for sinks.
    pub fn is_sink(self) -> bool {
        matches!(self, Self::Sink | Self::NewGroup | Self::Folder)
    }

    /// True for sources whose records and offsets are in one transaction.
    pub fn is_transactional(self) -> bool {
        matches!(self, Self::ExactlyOnce | Self::Marked | Self::Chained)
    }
}

impl Case {
    /// Every case that makes sense.
    pub fn all() -> Vec<Self> {
        let kinds =
            [Kind::Kill, Kind::Step, Kind::Zombie, Kind::Twins, Kind::Broker, Kind::Network, Kind::Disk, Kind::Change];
        let all = Subject::ALL.into_iter().flat_map(|subject| kinds.map(|kind| Self { subject, kind }));
        let makes_sense = |case: &Self| match case.kind {
            // The offsets of an exactly-once source are in Kafka, on no disk of the worker; no file sink of the product can be
            // told that the disk is full.
            Kind::Disk => !case.subject.is_transactional() && case.subject != Subject::Folder,
            Kind::Change => case.subject.is_sink(),
            _ => true,
        };
        all.filter(makes_sense).collect()
    }

    /// One of each kind, and of the subjects that differ in little from another one what is their own: for the short form.
    pub fn short() -> Vec<Self> {
        let own = |case: &Self| match case.subject {
            Subject::ExactlyOnce | Subject::AtLeastOnce | Subject::Sink => true,
            // Only a death between a file's end and the commit shows that the names decide.
            Subject::Marked | Subject::Chained | Subject::Folder => case.kind == Kind::Step,
            Subject::NewGroup => case.kind == Kind::Kill,
        };
        Self::all().into_iter().filter(own).collect()
    }

    /// The cases whose name this is or begins with: `sink`, `sink-kill`; of all subjects: `kill`.
    pub fn named(name: &str) -> Vec<Self> {
        let is = |case: &Self| {
            let own = case.to_string();
            own == name || own.starts_with(&format!("{name}-")) || own.ends_with(&format!("-{name}"))
        };
        Self::all().into_iter().filter(is).collect()
    }

    /// How often it is drawn, against the others.
    fn weight(self) -> u64 {
        match self.kind {
            Kind::Kill | Kind::Step => 6,
            Kind::Network | Kind::Zombie | Kind::Twins | Kind::Disk | Kind::Change => 2,
            Kind::Broker => 1,
        }
    }
}

impl Plan {
    /// The cycle of this number, of one of these cases.
    pub fn new(seed: u64, number: u64, cases: &[Case]) -> Self {
        let own = mix(seed ^ mix(number));
        let mut bag = Vec::new();
        for case in cases {
            bag.extend((0..case.weight()).map(|_| *case));
        }
        let case = Rng::new(own).pick(&bag);
        // Only the case that was drawn decides further, so that `--only` with that case gives the same plan.
        let mut rng = Rng::new(own ^ mix(case.subject as u64 * 100 + case.kind as u64));
        let mut shape = Shape::new(case, &mut rng);
        let (steps, survivor) = steps(case, &mut rng);
        // Of two that start at the same time either may fence the other one's tasks. With other tasks in each of them some ids
        // are in one of them only, and both would write: configurations of one connector must not differ in this.
        if case.kind == Kind::Twins && case.subject.is_transactional() && !steps.contains(&Step::AwaitProgress) {
            shape.tasks_of_other = shape.tasks;
        }
        Self { seed, number, case, shape, steps, survivor }
    }

    /// True if workers come to the broker through the proxy.
    pub fn uses_proxy(&self) -> bool {
        self.steps.iter().any(|step| matches!(step, Step::Cut | Step::Refuse | Step::Delay(_) | Step::Stall))
    }
}

impl Shape {
    fn new(case: Case, rng: &mut Rng) -> Self {
        let partitions = rng.within(1..=4);
        let poll_records = rng.within(1..=30);
        let polls = rng.within(20..=80);
        let is_sink = case.subject.is_sink();
        let two = matches!(case.kind, Kind::Zombie | Kind::Twins);
        Self {
            partitions,
            tasks: rng.within(1..=3),
            tasks_of_other: rng.within(1..=3),
            records: poll_records * polls,
            record_bytes: rng.pick(&[20, 100, 1000]),
            poll_records,
            // The work takes about a second when nothing disturbs it.
            pause_ms: 1_000 / polls,
            group_records: if is_sink || rng.chance(60) { 1 } else { rng.within(2..=5) },
            fail_every_polls: if is_sink || rng.chance(70) { 0 } else { rng.within(10..=40) },
            boundary_ms: rng.chance(50).then(|| rng.within(20..=150)),
            offsets_in_topic: match case.kind {
                Kind::Disk => false,
                _ => case.subject.is_transactional() || two || rng.chance(30),
            },
            sink: match case.kind {
                _ if case.subject == Subject::Folder => FOLDER_SINK,
                // The test's own sinks can be told that the disk is full, and not any more.
                Kind::Disk => rng.pick(&["files", "slow"]),
                _ => rng.pick(&["files", FILE_STREAM_SINK, "slow"]),
            },
            graceful_end: rng.chance(75),
            rules: rules(case.subject, rng),
            change: match case.kind {
                Kind::Change if rng.chance(50) => Change::Grow(rng.within(1..=3)),
                Kind::Change => Change::Topic(rng.within(1..=3)),
                _ => Change::None,
            },
            by_regex: is_sink && rng.chance(30),
        }
    }
}

fn rules(subject: Subject, rng: &mut Rng) -> Rules {
    match subject {
        Subject::Marked => {
            Rules { block: rng.within(1..=40), abort_every: rng.pick(&[0, 2, 3, 5]), ..Rules::default() }
        }
        Subject::Chained => {
            Rules { drop_every: rng.pick(&[0, 2, 3, 7]), refuse_every: rng.pick(&[2, 5, 11]), ..Rules::default() }
        }
        _ => Rules::default(),
    }
}

fn steps(case: Case, rng: &mut Rng) -> (Vec<Step>, Which) {
    let mut steps = Vec::new();
    let mut survivor = 0;
    match case.kind {
        Kind::Kill => {
            far_away(rng, &mut steps);
            for _ in 0..rng.within(1..=3) {
                steps.extend([Step::Start(0), Step::Wait(rng.within(0..=LIFE_MS_MAX)), Step::Kill(0)]);
            }
        }
        Kind::Step => {
            far_away(rng, &mut steps);
            let names: &[&str] = match case.subject {
                Subject::AtLeastOnce => &STORE_STEPS,
                subject if subject.is_sink() => &SINK_STEPS,
                _ => &TRANSACTION_STEPS,
            };
            for _ in 0..rng.within(1..=3) {
                let times = rng.within(1..=CRASH_TIMES_MAX);
                steps.extend([Step::StartToCrash(0, rng.pick(names), times), Step::AwaitCrash(0)]);
            }
        }
        Kind::Zombie => survivor = zombie(case.subject, rng, &mut steps),
        Kind::Twins => {
            steps.push(Step::Start(0));
            let apart = rng.chance(70);
            if apart {
                steps.extend([Step::AwaitProgress, Step::Wait(rng.within(0..=400))]);
            } else {
                steps.push(Step::Wait(rng.within(0..=300)));
            }
            steps.push(Step::Start(1));
            if case.subject.is_transactional() && apart {
                steps.push(Step::AwaitFenced(0));
            } else {
                steps.extend([Step::Wait(rng.within(300..=1_500)), Step::Kill(0)]);
            }
            survivor = 1;
        }
        Kind::Broker => {
            steps.extend([Step::Start(0), Step::AwaitProgress, Step::Wait(rng.within(0..=500)), Step::KillBroker]);
            let worker_too = rng.chance(40);
            if worker_too {
                steps.extend([Step::Wait(rng.within(0..=500)), Step::Kill(0), Step::Start(0)]);
            }
            steps.extend([Step::Wait(rng.within(0..=1_000)), Step::RestartBroker]);
        }
        Kind::Network => {
            steps.extend([Step::Start(0), Step::Wait(rng.within(0..=900))]);
            for _ in 0..rng.within(1..=3) {
                match rng.within(0..=3) {
                    0 => steps.push(Step::Cut),
                    1 => steps.extend([Step::Refuse, Step::Wait(rng.within(100..=1_500)), Step::Resume]),
                    2 => steps.extend([
                        Step::Delay(rng.within(5..=150)),
                        Step::Wait(rng.within(300..=1_500)),
                        Step::Resume,
                    ]),
                    _ => steps.extend([Step::Stall, Step::Wait(rng.within(100..=2_000)), Step::Resume]),
                }
                steps.push(Step::Wait(rng.within(0..=400)));
                if rng.chance(25) {
                    steps.extend([Step::Kill(0), Step::Start(0), Step::Wait(rng.within(0..=LIFE_MS_MAX))]);
                }
            }
        }
        Kind::Disk => {
            steps.extend([Step::Start(0), Step::AwaitProgress, Step::Wait(rng.within(0..=400)), Step::FillDisk]);
            steps.push(Step::Wait(rng.within(100..=1_200)));
            if rng.chance(50) {
                steps.extend([Step::Kill(0), Step::Start(0), Step::Wait(rng.within(0..=LIFE_MS_MAX))]);
            }
            steps.push(Step::FreeDisk);
        }
        Kind::Change => {
            steps.extend([Step::Start(0), Step::AwaitProgress, Step::Wait(rng.within(0..=600)), Step::Kill(0)]);
            steps.extend([Step::Change, Step::Start(0), Step::Wait(rng.within(0..=LIFE_MS_MAX))]);
            if rng.chance(40) {
                steps.extend([Step::Kill(0), Step::Start(0)]);
            }
        }
    }
    (steps, survivor)
}

/// Sometimes the broker is far away, so that more is on its way at any time.
fn far_away(rng: &mut Rng, steps: &mut Vec<Step>) {
    if rng.chance(40) {
        steps.push(Step::Delay(rng.within(1..=60)));
    }
}

/// A frozen worker is thawed when another one has its place, or when it was given up and nobody has.
fn zombie(subject: Subject, rng: &mut Rng, steps: &mut Vec<Step>) -> Which {
    let given_up_ms = if subject.is_sink() { SESSION_MS } else { ZOMBIE_TRANSACTION_MS };
    let past = rng.within(given_up_ms + 700..=given_up_ms + 1_500);
    steps.extend([Step::Start(0), Step::AwaitProgress, Step::Wait(rng.within(0..=400)), Step::Freeze(0)]);
    if rng.chance(25) {
        // Nobody took its place. It may go on or fail; what it has left half done must be gone.
        steps.extend([Step::Wait(past), Step::Thaw(0), Step::Wait(rng.within(0..=600)), Step::Kill(0)]);
        return 0;
    }
    let early = rng.chance(50);
    steps.push(Step::Start(1));
    if early {
        steps.extend([Step::AwaitProgress, Step::Wait(rng.within(0..=300))]);
    } else {
        steps.extend([Step::Wait(past), Step::AwaitProgress]);
    }
    steps.push(Step::Thaw(0));
    if subject.is_transactional() {
        steps.push(Step::AwaitFenced(0));
    } else {
        steps.extend([Step::Wait(rng.within(200..=1_200)), Step::Kill(0)]);
    }
    1
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let subject = match self.subject {
            Subject::ExactlyOnce => "eos",
            Subject::AtLeastOnce => "alo",
            Subject::Sink => "sink",
            Subject::Marked => "marks",
            Subject::Chained => "chain",
            Subject::NewGroup => "kip848",
            Subject::Folder => "folder",
        };
        write!(f, "{subject}-{}", format!("{:?}", self.kind).to_lowercase())
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seed, number, case, shape, steps, survivor } = self;
        writeln!(f, "seed {seed}, cycle {number}: {case}")?;
        writeln!(f, "{shape:?}")?;
        for step in steps {
            writeln!(f, "  {step:?}")?;
        }
        writeln!(f, "  everything is healed; worker {survivor} comes to the end")?;
        write!(f, "again: cargo xtask chaos --seed {seed} --first {number} --cycles 1 --only {case}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_decides_a_plan_also_when_only_its_case_is_wished() {
        let all = Case::all();
        for number in 0..300 {
            let plan = Plan::new(7, number, &all);
            assert_eq!(plan, Plan::new(7, number, &[plan.case]));
            assert!(plan.shape.records > 0 && !plan.steps.is_empty());
        }
        assert_ne!(Plan::new(7, 1, &all), Plan::new(8, 1, &all));
    }

    #[test]
    fn the_short_form_has_every_subject_and_every_kind() {
        let short = Case::short();
        for case in Case::all() {
            assert!(short.iter().any(|other| other.subject == case.subject), "{case}");
            assert!(short.iter().any(|other| other.kind == case.kind), "{case}");
        }
    }

    #[test]
    fn every_case_is_drawn_and_can_be_named() {
        let all = Case::all();
        let drawn: Vec<Case> = (0..1000).map(|number| Plan::new(1, number, &all).case).collect();
        for case in &all {
            assert!(drawn.contains(case), "{case}");
            assert_eq!(Case::named(&case.to_string()), [*case]);
        }
        assert_eq!(Case::named("zombie").len(), Subject::ALL.len());
        assert_eq!(Case::named("eos").len(), 6);
        assert!(Case::named("nothing").is_empty());
    }
}
