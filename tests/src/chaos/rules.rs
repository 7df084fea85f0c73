//! What becomes of each record on its way through a source and its chain of transformations: known beforehand, by the
//! record's number alone, so that a worker that was killed decides as the one before did.

/// Where a record ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// In the connector's topic.
    Sent,
    /// In the dead letter queue.
    Letter,
    /// A transformation drops it.
    Dropped,
    /// It belongs to a transaction that the source aborts.
    Aborted,
}

/// The rules of a source; 0 is never.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rules {
    /// Each so-manieth record is dropped.
    pub drop_every: u64,
    /// Each so-manieth record that is not dropped cannot be transformed.
    pub refuse_every: u64,
    /// So many records of a partition are a transaction.
    pub block: u64,
    /// Each so-manieth transaction of a partition is aborted.
    pub abort_every: u64,
}

impl Rules {
    /// Where the record of this number ends.
    pub fn fate(&self, number: i64) -> Fate {
        if is_nth(number, self.drop_every) {
            Fate::Dropped
        } else if is_nth(number, self.refuse_every) {
            Fate::Letter
        } else if self.block > 0 && is_nth(number / i64::try_from(self.block).unwrap_or(1), self.abort_every) {
            Fate::Aborted
        } else {
            Fate::Sent
        }
    }
}

/// True for the last of each `every` numbers, counted from 0.
pub fn is_nth(number: i64, every: u64) -> bool {
    i64::try_from(every).is_ok_and(|every| every > 0 && number % every == every - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_decides_where_a_record_ends() {
        let of = |rules: Rules| (0..8).map(|number| rules.fate(number)).collect::<Vec<_>>();
        use Fate::{Aborted, Dropped, Letter, Sent};
        assert_eq!(of(Rules::default()), [Sent; 8]);
        let chain = Rules { drop_every: 4, refuse_every: 3, ..Rules::default() };
        assert_eq!(of(chain), [Sent, Sent, Letter, Dropped, Sent, Letter, Sent, Dropped]);
        let marks = Rules { block: 2, abort_every: 2, ..Rules::default() };
        assert_eq!(of(marks), [Sent, Sent, Aborted, Aborted, Sent, Sent, Aborted, Aborted]);
    }
}
