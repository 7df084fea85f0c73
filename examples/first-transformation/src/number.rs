//! A transformation with a memory: a type.

use connect_sdk::prelude::*;

/// The settings of [`Number`].
#[derive(Debug, ConnectorConfig)]
#[config(of = transformation)]
pub struct NumberConfig {
    /// The header that gets the number.
    header: String,
}

/// The transformation of one task.
#[derive(Debug)]
pub struct Number {
    header: Text,
    next: i64,
}

/// Numbers the records of a task, in a header.
#[transformation]
impl Transformation for Number {
    type Config = NumberConfig;

    fn new(config: NumberConfig) -> Result<Self, ConfigErrors> {
        Ok(Self { header: config.header.into(), next: 1 })
    }

    fn apply(&mut self, mut record: ConnectRecord) -> Result<Option<ConnectRecord>, DataError> {
        record.headers.add_long(self.header.clone(), self.next);
        self.next += 1;
        Ok(Some(record))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use connect_sdk::testkit::TransformationTester;

    #[test]
    fn records_are_numbered_in_their_order() {
        let mut tester = TransformationTester::open::<Number>(&[("header", "n")]).unwrap();
        let records = tester.apply_to_all([ConnectRecord::default(), ConnectRecord::default()]).unwrap();
        let number = |record: &ConnectRecord| record.headers.last_with_name("n")?.value()?.as_i64();
        assert_eq!(records.iter().map(number).collect::<Vec<_>>(), [Some(1), Some(2)]);
    }
}
