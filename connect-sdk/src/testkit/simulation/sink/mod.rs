//! Sinks in a simulated world.

mod connector;
mod consumer;
mod ledger;
mod world;

use self::world::World;
use super::{
    driver::{Driver, PATIENCE},
    journal::Journal,
    runs::{Runs, SimulationReport},
};
use crate::{
    erased::{DynSinkConnector, SinkDescriptor},
    sink::SinkConnector,
    testkit::SinkFixture,
};
use std::{fmt, ops::Range, sync::Arc, time::Duration};

/// How many disturbances a run has at most.
const DISTURBANCES_MAX: u64 = 40;

/// A simulation of a sink, made by [`simulate_sink`].
#[must_use = "nothing is simulated before `run` is called"]
pub struct SinkSimulation {
    connector: Arc<dyn DynSinkConnector>,
    fixture: Box<dyn Fn() -> SinkFixture>,
    runs: Runs,
    patience: Duration,
    each_once: bool,
}

impl fmt::Debug for SinkSimulation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SinkSimulation").field("sink", &self.connector.meta().type_name).finish_non_exhaustive()
    }
}

/// Runs a sink in the worker's own task loop, in many small worlds in which everything goes wrong: partitions are revoked
/// and lost at any moment, commits fail and are answered late, calls are slow and fail, tasks are paused, stopped and killed
/// at any point, and others go on in their place. Each world is drawn from a seed and is the same each time.
///
/// It checks that what is committed is in the target, that nothing is committed that the sink did not call safe, that
/// records come in order and none is passed over, that the last calls come in their order (`pre_commit`, `closed`, the
/// commit, and only then are partitions given up), and that a sink writes nothing of partitions that it gave up. `fixture`
/// is called for each world, and its target may be used by nothing else; it is the one of
/// [`sink_kit`](crate::testkit::sink_kit), which should pass before.
///
/// ```
/// # use connect_sdk::prelude::*;
/// # use connect_sdk::testkit::{SinkFixture, simulate_sink};
/// # use std::sync::{Arc, Mutex};
/// # #[derive(ConnectorConfig)]
/// # pub struct NoConfig {}
/// static WRITTEN: Mutex<Vec<String>> = Mutex::new(Vec::new());
///
/// pub struct Remember;
///
/// /// Remembers what it was given.
/// #[sink_connector(name = "remember")]
/// impl DirectSink for Remember {
///     // ..
/// #     type Config = NoConfig;
/// #     async fn open(_: &NoConfig, _: &OpenCx) -> Result<Self> { Ok(Self) }
/// #     async fn put(&mut self, records: &[SinkRecord], _: &mut PutCx) -> Result<()> {
/// #         let texts = records.iter().filter_map(|r| r.value()?.as_str().map(str::to_owned));
/// #         WRITTEN.lock().unwrap().extend(texts);
/// #         Ok(())
/// #     }
/// }
///
/// let target = || {
///     WRITTEN.lock().unwrap().clear();
///     SinkFixture::new([("name", "x")], || WRITTEN.lock().unwrap().clone())
/// };
/// simulate_sink::<Remember>(target).seeds(0..10).run();
/// ```
pub fn simulate_sink<S: SinkConnector>(fixture: impl Fn() -> SinkFixture + 'static) -> SinkSimulation {
    SinkSimulation {
        connector: Arc::new(SinkDescriptor::<S>::new()),
        fixture: Box::new(fixture),
        runs: Runs::new(S::META.name),
        patience: PATIENCE,
        each_once: false,
    }
}

impl SinkSimulation {
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

    /// For sinks that wait for nothing outside of the process but tokio's time: they are not waited for in real time.
    pub fn without_io(mut self) -> Self {
        self.patience = Duration::ZERO;
        self
    }

    /// For sinks that keep their offsets in the target: no committed record may be there twice.
    pub fn each_once(mut self) -> Self {
        self.each_once = true;
        self
    }

    /// Runs all worlds; then one for each point at which a short life of a task can die.
    ///
    /// # Panics
    /// Panics with the seed, the step, what was wrong, and the latest steps.
    pub fn run(self) -> SimulationReport {
        let name = self.connector.meta().name;
        self.check().unwrap_or_else(|text| panic!("`{name}` breaks the promise of a sink: {text}"))
    }

    /// As [`Self::run`], but says what was wrong instead of panicking.
    ///
    /// # Errors
    /// What was wrong.
    pub fn check(self) -> Result<SimulationReport, String> {
        let Self { connector, fixture, runs, patience, each_once } = self;
        let world = |seed| World::new(seed, connector.clone(), fixture(), patience);
        let of_seed = |seed: u64| -> Result<Journal, String> {
            Driver::runtime()?.block_on(async {
                let mut world = world(seed);
                for _ in 0..=seed % DISTURBANCES_MAX {
                    world.disturb().await?;
                }
                world.come_to_peace(each_once).await?;
                Ok(world.journal)
            })
        };
        let to_death = |n| -> Result<Vec<Journal>, String> {
            Driver::runtime()?.block_on(async {
                let mut world = world(0);
                let died = world.die_at(n, each_once).await?;
                Ok(died.then_some(world.journal).into_iter().collect())
            })
        };
        runs.all(of_seed, to_death)
    }
}
