//! The thread's books on its tasks: which records are under way, which were acknowledged since the last publication.

use std::sync::{Arc, Mutex};

use connect_sdk::{
    error::TaskError,
    task::ports::{Ack, ProduceBatch},
};

use super::{Mailbox, SPENT_BUFFER_BYTES_MAX, SPENT_BUFFERS_MAX, lock};
use crate::kafka::error::KafkaError;

/// Bits of a record's tag that hold its sequence number; those above hold the slot.
const SEQ_BITS: u32 = 40;
const SEQ_MASK: u64 = (1 << SEQ_BITS) - 1;

/// The tag of a record: it comes back with the delivery report.
pub(super) fn tag(slot: usize, seq: u64) -> usize {
    let seq = (seq & SEQ_MASK) as usize;
    (slot << SEQ_BITS) | seq
}

/// Slot and low bits of the sequence number of a tag.
pub(super) fn untag(tag: usize) -> (usize, u64) {
    (tag >> SEQ_BITS, tag as u64 & SEQ_MASK)
}

/// One task's books.
struct Slot {
    mailbox: Arc<Mutex<Mailbox>>,
    /// One past the last sequence number that was handed over; the low bits of a tag are completed from it.
    next_seq: u64,
    /// Records inside the client.
    n_under_way: u64,
    closed: bool,
    acks: Vec<Ack>,
}

/// All tasks of a producer.
#[derive(Default)]
pub(super) struct Slots {
    slots: Vec<Option<Slot>>,
    /// Slots with acknowledgements to publish.
    touched: Vec<usize>,
    /// The run of records that is being collected: slot, first sequence number, how many.
    run: Option<(usize, u64, u32)>,
    /// The first failure since it was last forgotten: a transaction with one is aborted.
    failure: Option<KafkaError>,
    /// What becomes of records is nobody's business: their transaction is being aborted.
    silent: bool,
}

impl Slots {
    pub(super) fn open(&mut self, slot: usize, mailbox: Arc<Mutex<Mailbox>>) {
        if self.slots.len() <= slot {
            self.slots.resize_with(slot + 1, || None);
        }
        self.slots[slot] = Some(Slot { mailbox, next_seq: 0, n_under_way: 0, closed: false, acks: Vec::new() });
    }

    /// Marks a slot as given up; true if its number is free at once.
    pub(super) fn close(&mut self, slot: usize) -> bool {
        let Some(open) = self.get(slot) else { return false };
        open.closed = true;
        open.n_under_way == 0 && self.slots[slot].take().is_some()
    }

    fn get(&mut self, slot: usize) -> Option<&mut Slot> {
        self.slots.get_mut(slot).and_then(Option::as_mut)
    }

    /// Records were handed to the client; `next_seq` follows the last of them.
    pub(super) fn handed_over(&mut self, slot: usize, n: usize, next_seq: u64) {
        if let Some(slot) = self.get(slot) {
            slot.n_under_way += n as u64;
            slot.next_seq = next_seq;
        }
    }

    /// Notes a delivery; answers the slot's number if it is free now.
    #[inline]
    pub(super) fn delivered(&mut self, slot: usize, low: u64) -> Option<usize> {
        let open = self.slots.get_mut(slot).and_then(Option::as_mut)?;
        open.n_under_way = open.n_under_way.saturating_sub(1);
        if open.closed {
            return self.free(slot);
        }
        if self.silent {
            return None;
        }
        let seq = complete(open.next_seq, low);
        match &mut self.run {
            Some((of, first, n)) if *of == slot && *first + u64::from(*n) == seq && *n < u32::MAX => *n += 1,
            _ => {
                self.end_run();
                self.run = Some((slot, seq, 1));
            }
        }
        None
    }

    /// Notes that a record was refused after it had been handed over; answers the slot's number if it is free now.
    pub(super) fn refused(&mut self, slot: usize, low: u64, error: impl FnOnce() -> KafkaError) -> Option<usize> {
        let open = self.get(slot)?;
        open.n_under_way = open.n_under_way.saturating_sub(1);
        if open.closed {
            return self.free(slot);
        }
        let seq = complete(open.next_seq, low);
        self.failed(slot, seq, error);
        None
    }

    /// Notes a record's failure, with others of the same cause if they follow each other.
    pub(super) fn failed(&mut self, slot: usize, seq: u64, error: impl FnOnce() -> KafkaError) {
        if self.silent {
            return;
        }
        self.end_run();
        let error = error();
        if self.failure.is_none() {
            self.failure = Some(error.clone());
        }
        let Some(open) = self.get(slot) else { return };
        if let Some(Ack::Failed { first, n, error: last }) = open.acks.last_mut()
            && *first + u64::from(*n) == seq
            && last.to_string() == error.to_string()
        {
            *n += 1;
            return;
        }
        let untouched = open.acks.is_empty();
        open.acks.push(Ack::Failed { first: seq, n: 1, error: Arc::new(TaskError::from(error)) });
        if untouched {
            self.touched.push(slot);
        }
    }

    /// The first failure of any record since [`Self::forget_failure`].
    pub(super) fn failure(&self) -> Option<KafkaError> {
        self.failure.clone()
    }

    /// What has failed so far says nothing about the records that follow.
    pub(super) fn forget_failure(&mut self) {
        self.failure = None;
    }

    /// From now on, or no longer, the fate of records is not told.
    pub(super) fn silence(&mut self, silent: bool) {
        self.publish();
        self.silent = silent;
        self.failure = None;
    }

    fn free(&mut self, slot: usize) -> Option<usize> {
        let free = self.get(slot).is_some_and(|slot| slot.n_under_way == 0);
        if free {
            self.slots[slot] = None;
        }
        free.then_some(slot)
    }

    fn end_run(&mut self) {
        let Some((slot, first, n)) = self.run.take() else { return };
        let Some(open) = self.get(slot) else { return };
        let untouched = open.acks.is_empty();
        open.acks.push(Ack::Delivered { first, n });
        if untouched {
            self.touched.push(slot);
        }
    }

    /// Tells the tasks what has become of their records: one lock and one wake-up for each of them.
    pub(super) fn publish(&mut self) {
        self.end_run();
        let Self { slots, touched, .. } = self;
        for slot in touched.drain(..) {
            let Some(slot) = slots.get_mut(slot).and_then(Option::as_mut) else { continue };
            let mut mailbox = lock(&slot.mailbox);
            mailbox.acks.append(&mut slot.acks);
            let waker = mailbox.acks_waker.take();
            drop(mailbox);
            if let Some(waker) = waker {
                waker.wake();
            }
        }
    }

    /// A batch is inside the client: its buffers go back to the task, which may send the next.
    pub(super) fn spent(&mut self, slot: usize, batch: ProduceBatch) {
        let Some(slot) = self.get(slot) else { return };
        let mut mailbox = lock(&slot.mailbox);
        mailbox.n_waiting = mailbox.n_waiting.saturating_sub(1);
        for mut buffer in batch.buffers {
            let room = buffer.capacity();
            if room > 0 && room <= SPENT_BUFFER_BYTES_MAX && mailbox.spent.len() < SPENT_BUFFERS_MAX {
                buffer.clear();
                mailbox.spent.push(buffer);
            }
        }
        let waker = mailbox.room_waker.take();
        drop(mailbox);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Tells one task that it cannot go on.
    pub(super) fn fail_one(&mut self, slot: usize, error: &KafkaError) {
        if let Some(slot) = self.get(slot) {
            fail(&slot.mailbox, error);
        }
    }

    /// Tells every task that the client has failed.
    ///
    /// Records that it refused in its last breath are not told: their task would take each for a bad record.
    pub(super) fn fail(&mut self, error: &KafkaError) {
        self.end_run();
        for slot in self.slots.iter_mut().flatten() {
            slot.acks.retain(|ack| matches!(ack, Ack::Delivered { .. }));
        }
        self.publish();
        for slot in self.slots.iter().flatten() {
            fail(&slot.mailbox, error);
        }
    }
}

/// Tells one task that the client has failed.
pub(super) fn fail(mailbox: &Mutex<Mailbox>, error: &KafkaError) {
    let mut mailbox = lock(mailbox);
    mailbox.failed = Some(error.clone());
    let wakers = [mailbox.acks_waker.take(), mailbox.room_waker.take()];
    drop(mailbox);
    wakers.into_iter().flatten().for_each(std::task::Waker::wake);
}

/// The sequence number below `next` whose low bits are `low`: fewer records than the bits can count are under way.
fn complete(next: u64, low: u64) -> u64 {
    let back = (next.wrapping_sub(low)) & SEQ_MASK;
    next.wrapping_sub(back)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_brings_the_whole_sequence_number_back() {
        for seq in [0, 1, SEQ_MASK - 1, SEQ_MASK, SEQ_MASK + 1, 5 * SEQ_MASK + 17] {
            let (slot, low) = untag(tag(77, seq));
            assert_eq!(slot, 77);
            for ahead in [1, 2, 1000, SEQ_MASK] {
                assert_eq!(complete(seq + ahead, low), seq, "{seq} {ahead}");
            }
        }
    }

    #[test]
    fn acknowledgements_are_joined_to_ranges_and_closed_slots_ignore_them() {
        let mut slots = Slots::default();
        let mailboxes = [Arc::default(), Arc::default()];
        slots.open(0, Arc::clone(&mailboxes[0]));
        slots.open(1, Arc::clone(&mailboxes[1]));
        slots.handed_over(0, 6, 6);
        slots.handed_over(1, 2, 2);
        for (slot, low) in [(0, 0), (0, 1), (0, 2), (1, 0), (0, 4)] {
            assert_eq!(slots.delivered(slot, low), None);
        }
        assert!(!slots.close(1), "a record of it is still under way");
        let cause = || KafkaError::new(crate::kafka::ErrorClass::Record, "no");
        assert_eq!(slots.refused(0, 5, cause), None);
        slots.publish();
        let acks: Vec<String> = lock(&mailboxes[0]).acks.iter().map(shown).collect();
        assert_eq!(acks, ["+0..3", "+4..5", "-5..6"]);
        assert_eq!(slots.delivered(1, 1), Some(1), "the last record of a closed slot frees its number");
        assert!(slots.slots[0].as_ref().is_some_and(|s| !s.closed) && slots.slots[1].as_ref().is_none_or(|s| s.closed));
    }

    #[test]
    fn what_a_failing_client_refuses_is_no_word_on_the_record() {
        let mut slots = Slots::default();
        let mailbox = Arc::default();
        slots.open(0, Arc::clone(&mailbox));
        slots.handed_over(0, 2, 2);
        assert_eq!(slots.delivered(0, 0), None);
        assert_eq!(slots.refused(0, 1, || KafkaError::new(crate::kafka::ErrorClass::Fatal, "purged")), None);
        slots.fail(&KafkaError::new(crate::kafka::ErrorClass::Fatal, "the client failed"));
        let acks: Vec<String> = lock(&mailbox).acks.iter().map(shown).collect();
        assert_eq!(acks, ["+0..1"]);
        assert!(lock(&mailbox).failed.is_some());
    }

    fn shown(ack: &Ack) -> String {
        match ack {
            Ack::Delivered { first, n } => format!("+{first}..{}", first + u64::from(*n)),
            Ack::Failed { first, n, .. } => format!("-{first}..{}", first + u64::from(*n)),
        }
    }
}
