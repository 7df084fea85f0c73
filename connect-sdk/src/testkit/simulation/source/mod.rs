//! Sources in a simulated world.

mod connector;
mod ledger;
mod ports;
mod transactions;
mod world;

use self::world::World;
use super::{
    driver::{Driver, PATIENCE},
    journal::Journal,
    runs::{Runs, SimulationReport},
};
use crate::{
    erased::{DynSourceConnector, SourceDescriptor},
    source::{ExactlyOnce, SourceConnector},
    testkit::{
        Fixture,
        source::{Baseline, Checked},
    },
};
use std::{fmt, ops::Range, sync::Arc, time::Duration};

/// How many disturbances a run has at most.
const DISTURBANCES_MAX: u64 = 30;

/// A simulation of a source, made by [`simulate_source`].
#[must_use = "nothing is simulated before `run` is called"]
pub struct SourceSimulation {
    connector: Arc<dyn DynSourceConnector>,
    fixture: Box<dyn FnOnce() -> Fixture>,
    runs: Runs,
    patience: Duration,
}

impl fmt::Debug for SourceSimulation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SourceSimulation").field("source", &self.connector.meta().type_name).finish_non_exhaustive()
    }
}

/// Runs a source in the worker's own task loop, in many small worlds in which everything goes wrong: acknowledgements come
/// late, out of order and never, the offset store fails and hangs, calls fail, tasks are paused, stopped and killed at any
/// point. Each world is drawn from a seed and is the same each time. In every second world a source that supports it runs
/// exactly-once: its transactions are aborted, answered late and never, and two tasks run in one place.
///
/// It checks that no record is lost, that each partition's records come in order, that nothing is sent again that was
/// sent before the last stored offset, and that a good stop leaves nothing to be sent again; exactly-once, that every record
/// is seen once and together with its offset. `fixture` is the one of
/// [`replay`](crate::testkit::replay), which should pass before.
///
/// ```
/// # use connect_sdk::prelude::*;
/// # use connect_sdk::testkit::{Fixture, simulate_source};
/// # #[derive(ConnectorConfig)]
/// # pub struct CountConfig {
/// #     /// How far to count.
/// #     end: i64,
/// # }
/// # #[derive(Debug, Clone, PartialEq, SourcePartition)]
/// # pub struct Numbers { name: String }
/// # #[derive(Debug, Clone, PartialEq, SourceOffset)]
/// # pub struct At { n: i64 }
/// pub struct Count { at: Cursor<Numbers, At>, end: i64 }
///
/// /// Counts up to a number.
/// #[source_connector(name = "count", exactly_once = supported(untested = "this is an example"))]
/// impl Source for Count {
///     // ..
/// #     type Config = CountConfig;
/// #     type Partition = Numbers;
/// #     type Offset = At;
/// #     async fn partitions(_: &CountConfig) -> Result<Vec<Numbers>> { Ok(vec![Numbers { name: "n".to_owned() }]) }
/// #     async fn open(cfg: &CountConfig, at: Cursors<Numbers, At>) -> Result<Self> { Ok(Self { at: at.only()?, end: cfg.end }) }
/// #     async fn poll(&mut self, out: &mut Batch<Self>) -> Result<()> {
/// #         while !out.is_full() {
/// #             let n = self.at.offset().map_or(0, |at| at.n);
/// #             if n >= self.end { break }
/// #             out.emit(&mut self.at, Record::to("numbers").value(n.to_string()), At { n: n + 1 });
/// #         }
/// #         Ok(())
/// #     }
/// }
///
/// simulate_source::<Count>(|| Fixture::new().set("end", 20).records(20)).seeds(0..10).run();
/// ```
pub fn simulate_source<S: SourceConnector>(fixture: impl FnOnce() -> Fixture + 'static) -> SourceSimulation {
    SourceSimulation {
        connector: Arc::new(SourceDescriptor::<S>::new()),
        fixture: Box::new(fixture),
        runs: Runs::new(S::META.name),
        patience: PATIENCE,
    }
}

impl SourceSimulation {
    /// One world for each of these seeds; 0 to 49 unless this is called.
    ///
    /// The variable `CONNECT_SIM_SEEDS` asks for another number of them, `CONNECT_SIM_SEED` for a single one, the one that
    /// a message names.
    pub fn seeds(mut self, seeds: Range<u64>) -> Self {
        self.runs.seeds(seeds);
        self
    }

    /// Tries so many points of a short life of a task as its last one, instead of 400; 0 tries none.
    pub fn crash_points(mut self, max: u64) -> Self {
        self.runs.crash_points(max);
        self
    }

    /// For sources that wait for nothing outside of the process but tokio's time: they are not waited for in real time.
    pub fn without_io(mut self) -> Self {
        self.patience = Duration::ZERO;
        self
    }

    /// Runs all worlds; then one for each point at which a short life of a task can die.
    ///
    /// # Panics
    /// Panics with the seed, the step, what was wrong, and the latest steps.
    pub fn run(self) -> SimulationReport {
        let name = self.connector.meta().name;
        self.check().unwrap_or_else(|text| panic!("`{name}` breaks the promise of a source: {text}"))
    }

    /// As [`Self::run`], but says what was wrong instead of panicking.
    ///
    /// # Errors
    /// What was wrong.
    pub fn check(self) -> Result<SimulationReport, String> {
        let Self { connector, fixture, runs, patience } = self;
        let mut fixture = fixture();
        let supports_exactly_once = !matches!(connector.meta().exactly_once, ExactlyOnce::Unsupported(_));
        let baseline = Arc::new(Baseline::new(connector, &mut fixture)?);
        let of_seed = |seed: u64| -> Checked<Journal> {
            Driver::runtime()?.block_on(async {
                let exactly_once = supports_exactly_once && seed % 2 == 1;
                let mut world = World::new(seed, &baseline, patience, exactly_once);
                for _ in 0..=seed / 2 % DISTURBANCES_MAX {
                    world.disturb().await?;
                }
                world.come_to_peace().await?;
                Ok(world.journal)
            })
        };
        let to_death = |n| -> Checked<Vec<Journal>> {
            let mut journals = Vec::new();
            for exactly_once in if supports_exactly_once { &[false, true][..] } else { &[false] } {
                Driver::runtime()?.block_on(async {
                    let mut world = World::new(0, &baseline, patience, *exactly_once);
                    if world.die_at(n).await? {
                        journals.push(world.journal);
                    }
                    Checked::Ok(())
                })?;
            }
            Ok(journals)
        };
        runs.all(of_seed, to_death)
    }
}
