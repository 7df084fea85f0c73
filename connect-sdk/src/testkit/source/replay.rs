//! `replay`: kills a source everywhere, opens it again from the offsets alone, and compares what comes.

use super::{
    baseline::Baseline,
    checks,
    fixture::Fixture,
    life::{Checked, Emitted, EmittedRecord, Lived, Positions, ReplayReport, Subject, Until},
    loop_run,
};
use crate::{
    erased::{DynSourceConnector, SourceDescriptor},
    source::{BatchLimits, Mark, SourceConnector},
    testkit::Random,
};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

/// How long all checks of one source may take; what is not tried by then is left out.
const REPLAY_TIME_MAX: Duration = Duration::from_secs(60);
/// How many kill points of one kind are tried; of a longer input the first, the last and random ones in between.
pub(super) const KILL_POINTS_MAX: usize = 120;

/// Checks a source: wherever it is killed, a new one that knows nothing but the stored offsets goes on where the first
/// one was; whatever the batch sizes, whatever its commit hook was told, wherever its poll was dropped.
///
/// What `#[source_connector(replay_test = fixture)]` makes a test of. `fixture` is called a few times. Takes seconds.
///
/// # Panics
/// Panics with the kill point, the restored offset and the first record that differs.
pub fn replay<S: SourceConnector>(fixture: impl Fn() -> Fixture) {
    if let Err(text) = check_source::<S>(fixture) {
        panic!("`{}` breaks the promise of a source: {text}", S::META.name);
    }
}

/// As [`replay`], but says what was wrong instead of panicking.
///
/// # Errors
/// What was wrong.
pub fn check_source<S: SourceConnector>(fixture: impl Fn() -> Fixture) -> Result<ReplayReport, String> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(|error| format!("the test's runtime cannot be made: {error}"))?;
    runtime.block_on(async {
        let connector: Arc<dyn DynSourceConnector> = Arc::new(SourceDescriptor::<S>::new());
        let mut kit = Kit::new(connector.clone(), fixture()).await?;
        checks::the_same_again(&mut kit, &fixture).await?;
        checks::batch_sizes(&mut kit).await?;
        checks::stutter(&mut kit).await?;
        checks::kill_behind_each_record(&mut kit).await?;
        checks::partitions_fall_behind(&mut kit).await?;
        checks::drop_at_each_wait(&mut kit).await?;
        checks::hooks(&mut kit).await?;
        checks::transactions(&mut kit).await?;
        loop_run::graceful_stops(&mut kit).await?;
        checks::input_that_grows(&mut kit, fixture()).await?;
        Ok(ReplayReport { records: kit.n_records(), lives: kit.n_lives })
    })
}

/// A source, its fixture, and what one undisturbed run gave.
pub(super) struct Kit {
    pub(super) subject: Subject,
    pub(super) baseline: Vec<Emitted>,
    pub(super) n_lives: usize,
    /// Transactions' ends are compared, too. A task that may die within a transaction need not end it at the same place.
    pub(super) compares_marks: bool,
    started: Instant,
    _fixture: Fixture,
}

impl Kit {
    async fn new(connector: Arc<dyn DynSourceConnector>, mut fixture: Fixture) -> Checked<Self> {
        let Baseline { subject, emitted } = Baseline::of(connector, &mut fixture).await?;
        Ok(Self {
            subject,
            baseline: emitted,
            n_lives: 1,
            compares_marks: false,
            started: Instant::now(),
            _fixture: fixture,
        })
    }

    pub(super) fn n_slots(&self) -> usize {
        self.subject.partitions.len()
    }

    pub(super) fn start(&self) -> Positions {
        vec![None; self.n_slots()]
    }

    pub(super) fn n_records(&self) -> usize {
        self.baseline.iter().filter(|e| e.record.is_some()).count()
    }

    pub(super) fn is_late(&self) -> bool {
        self.started.elapsed() > REPLAY_TIME_MAX
    }

    /// Some numbers of `1..=n`: all, or so many that they can be tried.
    pub(super) fn points(n: usize, max: usize) -> Vec<usize> {
        if n <= max {
            return (1..=n).collect();
        }
        let mut random = Random::new(n as u64);
        let mut points: Vec<_> = (1..=max / 3).chain(n - max / 3..=n).collect();
        points.extend((0..max / 3).map(|_| 1 + random.below(n)));
        points.sort_unstable();
        points.dedup();
        points
    }

    pub(super) async fn live(&mut self, at: &Positions, limits: BatchLimits, until: Until) -> Checked<Lived> {
        self.n_lives += 1;
        self.subject.live(at, limits, until).await
    }

    /// The positions after the first `n` entries of the baseline, and how many records of each slot lie before them.
    pub(super) fn accepted_after(&self, n: usize) -> Accepted {
        Accepted::after(&self.baseline[..n.min(self.baseline.len())], self.start())
    }

    /// Runs a life from `at` to the end and compares it with the rest of the baseline.
    pub(super) async fn resume_and_compare(&mut self, at: &Accepted, when: &str) -> Checked {
        let left = self.n_records() - at.n_records.iter().sum::<usize>();
        let life = self.live(&at.positions, BatchLimits::default(), Until::Records(left)).await;
        let place = || format!("{when}, restored at {}", self.shown(&at.positions));
        match life {
            Ok(lived) => self.compare(&lived.emitted, &at.n_records, &place()),
            Err(text) => Err(format!("{}: the new task {text}", place())),
        }
    }

    /// Compares what came with the baseline behind the first `skip` records of each slot.
    pub(super) fn compare(&self, emitted: &[Emitted], skip: &[usize], when: &str) -> Checked {
        for slot in 0..self.n_slots() {
            let (expected, found) = (self.of_slot(&self.baseline, slot), self.of_slot(emitted, slot));
            let skip = skip[slot];
            for i in 0..expected.len().max(skip + found.len()).saturating_sub(skip) {
                let (expected, found) = (expected.get(skip + i), found.get(i));
                if expected != found {
                    let show = |e: Option<&(&EmittedRecord, Mark)>| {
                        e.map_or("nothing".to_owned(), |(record, mark)| match mark {
                            Mark::None => record.to_string(),
                            mark => format!("{record}, then the transaction's end ({mark:?})"),
                        })
                    };
                    return Err(format!(
                        "{when}: record {} of partition {} differs: expected {}; came {}",
                        skip + i + 1,
                        self.subject.partitions[slot],
                        show(expected),
                        show(found)
                    ));
                }
            }
        }
        Ok(())
    }

    fn of_slot<'a>(&self, emitted: &'a [Emitted], slot: usize) -> Vec<(&'a EmittedRecord, Mark)> {
        let mark = |e: &Emitted| if self.compares_marks { e.mark } else { Mark::None };
        emitted.iter().filter(|e| e.slot == slot).filter_map(|e| Some((e.record.as_ref()?, mark(e)))).collect()
    }

    pub(super) fn shown(&self, at: &Positions) -> String {
        let each = self.subject.partitions.iter().zip(at).map(|(partition, offset)| match offset {
            Some(offset) => format!("{partition} {offset}"),
            None => format!("{partition} (its start)"),
        });
        each.collect::<Vec<_>>().join(", ")
    }
}

/// The first run of a source on its fixture.
pub(super) async fn first_run(connector: Arc<dyn DynSourceConnector>, fixture: &Fixture) -> Checked<(Subject, Lived)> {
    let properties = fixture.properties.clone();
    connector.check(&properties).map_err(|errors| format!("the fixture's configuration is wrong: {errors}"))?;
    let partitions = connector.partitions(properties.clone()).await;
    let partitions = partitions.map_err(|error| format!("`partitions` failed: {}", error.chain()))?;
    if partitions.is_empty() {
        return Err("`partitions` names nothing to read, so that nothing can be tested".to_owned());
    }
    let subject = Subject { connector, properties, partitions, ignores_timestamps: fixture.ignores_timestamps };
    let until = fixture.n_records.map_or(Until::Quiet, Until::Records);
    let start = vec![None; subject.partitions.len()];
    let lived = subject.live(&start, BatchLimits::default(), until).await;
    let lived = lived.and_then(Lived::complete).map_err(|text| format!("the source, undisturbed, {text}"))?;
    if lived.equal_offsets {
        return Err(
            "two records in a row of one partition have the same offset: a task that is killed between them loses \
                    or repeats one; give each its own offset, or emit them as a group"
                .to_owned(),
        );
    }
    Ok((subject, lived))
}

/// What is stored at a moment.
#[derive(Debug, Clone)]
pub(super) struct Accepted {
    pub(super) positions: Positions,
    /// How many records of each slot lie before its position.
    pub(super) n_records: Vec<usize>,
}

impl Accepted {
    /// Everything in `emitted` is accepted; a group that is not whole is not.
    pub(super) fn after(emitted: &[Emitted], start: Positions) -> Self {
        let n_slots = start.len();
        let mut accepted = Self { positions: start, n_records: vec![0; n_slots] };
        let mut seen = vec![0; n_slots];
        for entry in emitted {
            seen[entry.slot] += usize::from(entry.record.is_some());
            if let Some(offset) = &entry.offset {
                accepted.positions[entry.slot] = Some(offset.clone());
                accepted.n_records[entry.slot] = seen[entry.slot];
            }
        }
        accepted
    }

    /// The slot's part of `other` instead of this one's.
    pub(super) fn with_slot(mut self, slot: usize, other: &Self) -> Self {
        self.positions[slot].clone_from(&other.positions[slot]);
        self.n_records[slot] = other.n_records[slot];
        self
    }
}
