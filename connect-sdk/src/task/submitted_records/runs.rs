//! `Runs`: the entries of a batch in order, neighbours that are alike joined into one.

use super::OnAck;

/// Stands for "no offset" in a [`Run`].
pub(super) const NO_OFFSET: u32 = u32::MAX;

/// Neighbouring entries of one source partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Run {
    /// Which source partition.
    pub(super) slot: u32,
    /// How many entries.
    pub(super) n: u32,
    /// Index of the first entry's offset, the others follow it; or [`NO_OFFSET`] for all.
    pub(super) offset: u32,
    /// Whether the entries are records that the producer gets.
    pub(super) sent: bool,
}

/// The entries of a batch: one run for a source partition that emits record after record.
#[derive(Debug, Default)]
pub(crate) struct Runs {
    runs: Vec<Run>,
    n_sent: u32,
}

impl Runs {
    /// Adds an entry; `sent` tells whether the producer gets a record for it.
    pub(crate) fn push(&mut self, slot: u32, offset: Option<u32>, sent: bool) {
        self.n_sent += u32::from(sent);
        let offset = offset.unwrap_or(NO_OFFSET);
        if let Some(last) = self.runs.last_mut() {
            let follows = if last.offset == NO_OFFSET { NO_OFFSET } else { last.offset + last.n };
            if last.slot == slot && last.sent == sent && follows == offset {
                last.n += 1;
                return;
            }
        }
        self.runs.push(Run { slot, n: 1, offset, sent });
    }

    /// How many records the producer gets.
    pub(crate) fn n_sent(&self) -> u32 {
        self.n_sent
    }

    /// True if there is no entry at all.
    pub(crate) fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// The source partition of the record with this sequence number within the batch, and the index of its offset, or of
    /// the group's that it belongs to.
    pub(crate) fn at(&self, seq: u32) -> (u32, Option<u32>) {
        let (mut first, mut slot) = (0, None);
        for run in &self.runs {
            let after = first + if run.sent { run.n } else { 0 };
            if slot.is_none() && run.sent && seq < after {
                slot = Some(run.slot);
                if run.offset != NO_OFFSET {
                    return (run.slot, Some(run.offset + seq - first));
                }
            } else if slot == Some(run.slot) && run.offset != NO_OFFSET {
                return (run.slot, Some(run.offset));
            }
            first = after;
        }
        (slot.unwrap_or_default(), None)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Run> {
        self.runs.iter()
    }

    /// Cuts off the record with this sequence number within the batch and every entry behind it.
    pub(crate) fn cut(&mut self, seq: u32) {
        let mut kept = Self::default();
        'all: for (run, offset) in self.each() {
            for i in 0..run.n {
                if run.sent && kept.n_sent == seq {
                    break 'all;
                }
                kept.push(run.slot, offset(i), run.sent);
            }
        }
        *self = kept;
    }

    /// Marks records as not sent, by their sequence numbers within the batch, which are in order.
    pub(crate) fn skip(&mut self, seqs: &[u32]) {
        let mut kept = Self::default();
        let mut skipped = seqs.iter().copied().peekable();
        let mut seq = 0;
        for (run, offset) in self.each() {
            for i in 0..run.n {
                let sent = run.sent && skipped.next_if_eq(&seq).is_none();
                seq += u32::from(run.sent);
                kept.push(run.slot, offset(i), sent);
            }
        }
        *self = kept;
    }

    /// Turns callbacks by entry into callbacks by sequence number; those of entries without a record are due.
    pub(super) fn by_sequence(&self, on_ack: Vec<(u32, OnAck)>, due: &mut Vec<OnAck>) -> Vec<(u32, Option<OnAck>)> {
        let mut callbacks = on_ack.into_iter().peekable();
        let mut by_seq = Vec::with_capacity(callbacks.len());
        let (mut entry, mut seq) = (0, 0);
        for run in &self.runs {
            if callbacks.peek().is_none() {
                break;
            }
            while let Some((at, f)) = callbacks.next_if(|(at, _)| *at < entry + run.n) {
                if run.sent {
                    by_seq.push((seq + at - entry, Some(f)));
                } else {
                    due.push(f);
                }
            }
            entry += run.n;
            if run.sent {
                seq += run.n;
            }
        }
        by_seq
    }

    fn each(&self) -> impl Iterator<Item = (&Run, impl Fn(u32) -> Option<u32>)> {
        self.runs.iter().map(|run| (run, |i| (run.offset != NO_OFFSET).then(|| run.offset + i)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(entries: &[(u32, Option<u32>, bool)]) -> Runs {
        let mut runs = Runs::default();
        entries.iter().for_each(|&(slot, offset, sent)| runs.push(slot, offset, sent));
        runs
    }

    #[test]
    fn a_plain_batch_is_one_run() {
        let plain = runs(&(0..2000).map(|i| (0, Some(i), true)).collect::<Vec<_>>());
        assert_eq!(plain.runs, [Run { slot: 0, n: 2000, offset: 0, sent: true }]);
        assert_eq!(plain.n_sent(), 2000);
    }

    #[test]
    fn entries_that_differ_are_told_apart() {
        let mixed = runs(&[
            (0, None, true),
            (0, None, true),
            (0, Some(0), true),
            (1, Some(1), true),
            (1, Some(2), false),
            (1, Some(3), false),
            (1, Some(5), false),
        ]);
        let lengths: Vec<_> = mixed.runs.iter().map(|r| r.n).collect();
        assert_eq!(lengths, [2, 1, 1, 2, 1]);
    }

    #[test]
    fn a_cut_keeps_what_comes_before_the_record() {
        let entries = [(0, Some(0), true), (0, Some(1), false), (0, Some(2), true), (0, Some(3), true)];
        let mut cut = runs(&entries);
        cut.cut(1);
        assert_eq!(cut.runs, runs(&entries[..2]).runs);
        cut.cut(0);
        assert!(cut.is_empty());
    }

    #[test]
    fn a_record_is_found_with_its_offset_or_that_of_its_group() {
        let runs = runs(&[
            (3, Some(0), true),
            (3, Some(1), false),
            (4, None, true),
            (5, Some(2), true),
            (4, Some(3), true),
            (4, None, true),
        ]);
        let found: Vec<_> = (0..5).map(|seq| runs.at(seq)).collect();
        assert_eq!(found, [(3, Some(0)), (4, Some(3)), (5, Some(2)), (4, Some(3)), (4, None)]);
    }

    #[test]
    fn skipped_records_keep_their_place() {
        let mut skipped = runs(&[(0, Some(0), true), (0, Some(1), false), (0, Some(2), true), (1, Some(3), true)]);
        skipped.skip(&[1]);
        assert_eq!(
            skipped.runs,
            runs(&[(0, Some(0), true), (0, Some(1), false), (0, Some(2), false), (1, Some(3), true)]).runs
        );
        assert_eq!(skipped.n_sent(), 2);
    }
}
