//! The transformations of a task, one after the other.

use super::stage::Stage;
use connect_sdk::data::DataError;
use connect_sdk::erased::DynTransformation;
use connect_sdk::transform::ConnectRecord;

/// A chain of transformations; itself one. The first that drops a record ends its way.
#[derive(Debug, Default)]
pub struct Chain {
    stages: Vec<Stage>,
}

impl Chain {
    /// A chain of these stages, in this order.
    #[must_use]
    pub fn new(stages: Vec<Stage>) -> Self {
        Self { stages }
    }
}

impl DynTransformation for Chain {
    fn apply(&mut self, mut record: ConnectRecord) -> Result<Option<ConnectRecord>, DataError> {
        for stage in &mut self.stages {
            match stage.apply(record)? {
                Some(changed) => record = changed,
                None => return Ok(None),
            }
        }
        Ok(Some(record))
    }
}
