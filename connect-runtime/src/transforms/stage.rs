//! One step of a chain: a transformation, and the predicate that says which records it is applied to.

use connect_sdk::data::DataError;
use connect_sdk::erased::{DynPredicate, DynTransformation};
use connect_sdk::transform::ConnectRecord;

/// A transformation under its alias. Keeps the behaviour of Kafka's `TransformationStage`.
#[derive(Debug)]
#[allow(clippy::exhaustive_structs, reason = "whoever builds a chain writes its stages out whole")]
pub struct Stage {
    /// The alias under which the operator configured it.
    pub alias: String,
    /// Its class.
    pub class: &'static str,
    /// What is applied.
    pub transformation: Box<dyn DynTransformation>,
    /// To which records; to all if there is none.
    pub condition: Option<Condition>,
}

/// A predicate under its alias.
#[derive(Debug)]
#[allow(clippy::exhaustive_structs, reason = "whoever builds a chain writes its stages out whole")]
pub struct Condition {
    /// The alias under which the operator configured it.
    pub alias: String,
    /// Its class.
    pub class: &'static str,
    /// What is asked.
    pub predicate: Box<dyn DynPredicate>,
    /// Whether the transformation is applied to the records that are not meant.
    pub negate: bool,
}

impl Stage {
    /// The changed record, or the record itself if it is not meant; `None` drops it.
    ///
    /// # Errors
    /// What the predicate or the transformation says, with its alias and class.
    pub(super) fn apply(&mut self, record: ConnectRecord) -> Result<Option<ConnectRecord>, DataError> {
        if let Some(condition) = &mut self.condition {
            let Condition { alias, class, predicate, negate } = condition;
            let told = |error: DataError| error.in_plugin(class).seen_from(&format!("predicate `{alias}` ({class})"));
            let meant = predicate.test(&record).map_err(told)?;
            if meant == *negate {
                return Ok(Some(record));
            }
        }
        let (alias, class) = (&self.alias, self.class);
        let told = |error: DataError| error.in_plugin(class).seen_from(&format!("`{alias}` ({class})"));
        self.transformation.apply(record).map_err(told)
    }
}
