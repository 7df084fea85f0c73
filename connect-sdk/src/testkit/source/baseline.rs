//! `Baseline`: what a source gives when nothing disturbs it.

use super::{
    fixture::Fixture,
    life::{Checked, Emitted, EmittedRecord, Subject},
    replay::first_run,
};
use crate::{erased::DynSourceConnector, source::PartitionMap};
use std::sync::Arc;

/// A source, and the output of a run on its whole input.
pub(in crate::testkit) struct Baseline {
    pub(in crate::testkit) subject: Subject,
    pub(super) emitted: Vec<Emitted>,
}

impl Baseline {
    /// Feeds the fixture's whole input and runs the source on it once, in real time.
    ///
    /// # Errors
    /// What is wrong with the fixture, or with the source even so.
    pub(in crate::testkit) fn new(connector: Arc<dyn DynSourceConnector>, fixture: &mut Fixture) -> Checked<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        let runtime = runtime.map_err(|error| format!("the test's runtime cannot be made: {error}"))?;
        runtime.block_on(Self::of(connector, fixture))
    }

    pub(super) async fn of(connector: Arc<dyn DynSourceConnector>, fixture: &mut Fixture) -> Checked<Self> {
        fixture.feed_all();
        let (subject, lived) = first_run(connector, fixture).await?;
        if let Some(expected) = fixture.n_records.filter(|n| *n != lived.n_records()) {
            return Err(format!(
                "the fixture promises {expected} records, but a whole run gives {}",
                lived.n_records()
            ));
        }
        if lived.n_records() == 0 {
            return Err("the fixture's input gives no record, so that nothing can be tested".to_owned());
        }
        Ok(Self { subject, emitted: lived.emitted })
    }

    /// The records of each source partition, in order.
    pub(in crate::testkit) fn by_slot(&self) -> Vec<(PartitionMap, Arc<[EmittedRecord]>)> {
        let records = |slot| self.emitted.iter().filter(move |e| e.slot == slot).filter_map(|e| e.record.clone());
        let slots = self.subject.partitions.iter().enumerate();
        slots.map(|(slot, partition)| (partition.clone(), records(slot).collect())).collect()
    }
}
