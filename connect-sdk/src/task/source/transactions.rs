//! Exactly-once (KIP-618): records and the offsets of their source partitions in one transaction.
//!
//! A transaction begins with its first batch and ends where `transaction.boundary` says. Its end goes on beside the next
//! poll and its conversion; only the next hand-over waits for it. What was not committed is never seen: a life that ends
//! with a transaction which cannot be committed goes on from the last committed offsets.

use super::{
    super::{
        ports::{RecordProducer, TaskEvent, TransactionEnd, TransactionError, TransactionalProducer},
        submitted_records::{OnAck, Resolved},
        wait::Timer,
    },
    LifeEnd, SourceTask, TransactionBoundary,
    errors::context,
};
use crate::{
    error::TaskError,
    source::{Mark, OffsetMap},
};
use std::{
    fmt,
    future::poll_fn,
    task::{Context, Poll},
};

/// The way of a task's records into Kafka.
pub enum SourceProducer {
    /// Offsets are stored after their records: at least once.
    AtLeastOnce(Box<dyn RecordProducer>),
    /// Offsets are committed together with their records: exactly once.
    ExactlyOnce(Box<dyn TransactionalProducer>),
}

impl SourceProducer {
    /// What both can do.
    pub(super) fn records(&mut self) -> &mut dyn RecordProducer {
        match self {
            Self::AtLeastOnce(producer) => &mut **producer,
            Self::ExactlyOnce(producer) => &mut **producer,
        }
    }

    pub(super) fn transactions(&mut self) -> Option<&mut dyn TransactionalProducer> {
        match self {
            Self::AtLeastOnce(_) => None,
            Self::ExactlyOnce(producer) => Some(&mut **producer),
        }
    }
}

impl fmt::Debug for SourceProducer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AtLeastOnce(_) => "AtLeastOnce",
            Self::ExactlyOnce(_) => "ExactlyOnce",
        })
    }
}

/// Offsets by slot.
type Offsets = Vec<(u32, OffsetMap)>;

/// Where a task is with its transactions.
#[derive(Debug)]
enum State {
    /// None is open.
    Idle,
    /// Records were handed over.
    Open,
    /// It is being committed, with these offsets.
    Committing(Offsets),
    /// It is being aborted; these offsets, of records that are gone on purpose, are committed afterwards.
    Aborting(Offsets),
}

/// The transactions of an exactly-once task.
pub(super) struct Transactions {
    boundary: TransactionBoundary,
    state: State,
    /// The end of the interval, if the boundary is one.
    interval: Timer,
    /// Entries were handed over since the last commit began.
    has_news: bool,
    /// Of the open transaction, in records and bytes.
    size: (u64, u64),
    /// Acknowledged, and not yet committed: they count, and are told, when they are.
    acknowledged: Resolved,
    due: Vec<OnAck>,
    /// The last transaction failed, and none was committed since.
    failing: bool,
    /// A record of the open transaction was refused.
    is_spoilt: bool,
    /// The transaction was lost: the source goes back to the last committed offsets.
    lost: Option<TaskError>,
    /// The transactional id is this task's.
    started: bool,
}

impl fmt::Debug for Transactions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transactions").field("state", &self.state).finish_non_exhaustive()
    }
}

impl Transactions {
    /// `interval` is a new timer.
    pub(super) fn new(boundary: TransactionBoundary, interval: Timer) -> Self {
        Self {
            boundary,
            state: State::Idle,
            interval,
            has_news: false,
            size: (0, 0),
            acknowledged: Resolved::default(),
            due: Vec::new(),
            failing: false,
            is_spoilt: false,
            lost: None,
            started: false,
        }
    }

    fn is_open(&self) -> bool {
        matches!(self.state, State::Open)
    }

    /// True while the transaction is being ended.
    pub(super) fn is_ending(&self) -> bool {
        matches!(self.state, State::Committing(_) | State::Aborting(_))
    }

    fn is_aborting(&self) -> bool {
        matches!(self.state, State::Aborting(_))
    }

    /// Why the source has to go back, if it has.
    pub(super) fn take_lost(&mut self) -> Option<TaskError> {
        self.lost.take()
    }

    /// True if the last transaction failed: a good poll alone does not end the row of failures then.
    pub(super) fn is_failing(&self) -> bool {
        self.failing
    }

    /// Notes what is acknowledged; it counts when it is committed.
    pub(super) fn acknowledged(&mut self, resolved: Resolved, due: &mut Vec<OnAck>) {
        self.acknowledged.records += resolved.records;
        self.acknowledged.bytes += resolved.bytes;
        self.due.append(due);
    }

    /// Notes a refused record. Nothing but to abort is left of its transaction, whatever is tolerated.
    ///
    /// Answers the error if it is one that would come again.
    pub(super) fn refused(&mut self, error: TaskError) -> Option<TaskError> {
        // Aborting refuses whatever was still on its way.
        if self.is_aborting() {
            return None;
        }
        self.is_spoilt = true;
        if error.is_retriable() {
            self.failing = true;
            self.lost.get_or_insert(error);
            return None;
        }
        Some(error)
    }

    /// True if the transaction ends with the batch that was handed over last.
    fn ends_with_batch(&self) -> bool {
        match self.boundary {
            TransactionBoundary::Poll => self.is_open(),
            TransactionBoundary::Interval { records_max, bytes_max, .. } => {
                self.is_open() && (self.size.0 >= records_max || self.size.1 >= bytes_max)
            }
            TransactionBoundary::Connector => false,
        }
    }

    /// Starts to count the interval anew; called when a life begins.
    pub(super) fn begin_interval(&mut self) {
        if let TransactionBoundary::Interval { interval, .. } = self.boundary {
            self.interval.set(interval);
        }
    }

    /// Notes that a batch was handed over, or that only its offsets are to be.
    pub(super) fn handed_over(&mut self, records: u64, bytes: u64) {
        self.has_news = true;
        if records > 0 {
            self.state = State::Open;
            self.size = (self.size.0.saturating_add(records), self.size.1.saturating_add(bytes));
        }
    }

    /// True if connectors set the marks at which transactions end.
    pub(super) fn follow_marks(&self) -> bool {
        self.boundary == TransactionBoundary::Connector
    }
}

impl SourceTask {
    /// Takes the transactional id, once: older tasks with it are fenced before the offsets are read.
    pub(super) async fn start_transactions(&mut self) -> Result<(), LifeEnd> {
        if self.transactions.as_ref().is_none_or(|t| t.started) {
            return Ok(());
        }
        let started = self
            .step(|s, cx| s.producer.transactions().map_or(Poll::Ready(Ok(())), |producer| producer.poll_start(cx)))
            .await?;
        started.map_err(|error| LifeEnd::Failed(context("the transactional producer cannot be started", error)))?;
        if let Some(transactions) = &mut self.transactions {
            transactions.started = true;
        }
        Ok(())
    }

    /// Waits for the transaction that is being ended: a life begins at offsets that are known.
    pub(super) async fn await_transaction(&mut self) -> Result<(), LifeEnd> {
        self.step(|s, _| if s.transaction_is_ending() { Poll::Pending } else { Poll::Ready(()) }).await?;
        if let Some(transactions) = &mut self.transactions {
            transactions.begin_interval();
        }
        Ok(())
    }

    pub(super) fn transaction_is_ending(&self) -> bool {
        self.transactions.as_ref().is_some_and(Transactions::is_ending)
    }

    /// What goes on beside the steps of the loop: the end of the interval, and of the transaction.
    pub(super) fn move_transaction(&mut self, cx: &mut Context<'_>) {
        let Some(transactions) = &mut self.transactions else { return };
        while transactions.interval.poll(cx).is_ready() {
            transactions.begin_interval();
            if transactions.is_open() {
                self.begin_commit();
                break;
            }
        }
        while self.transaction_is_ending() && !self.producer_broken {
            let Some(producer) = self.producer.transactions() else { return };
            match producer.poll_end(cx) {
                Poll::Ready(result) => {
                    // The acknowledgements of its records may have come since the last look.
                    self.serve_acks(cx);
                    self.ended(result);
                }
                Poll::Pending => break,
            }
        }
    }

    /// Ends the transaction as the mark of the connector says.
    pub(super) fn at_mark(&mut self, mark: Mark) {
        match mark {
            Mark::None => {}
            Mark::Commit => self.begin_commit(),
            Mark::Abort => {
                self.records.take_submitted(&mut self.taken);
                let offsets = std::mem::take(&mut self.taken);
                self.begin_abort(offsets);
            }
        }
    }

    /// Ends the transaction if the boundary says so after a poll.
    pub(super) fn at_end_of_batch(&mut self) {
        if self.transactions.as_ref().is_some_and(Transactions::ends_with_batch) {
            self.begin_commit();
        }
    }

    /// Commits offsets that have come without records, if no transaction is open: every `offset.flush.interval.ms`.
    pub(super) fn commit_offsets_alone(&mut self) {
        let waits = |t: &Transactions| matches!(t.state, State::Idle) && t.has_news && !t.follow_marks();
        if self.transactions.as_ref().is_some_and(waits) {
            self.begin_commit();
        }
    }

    /// Starts to commit what was handed over; nothing is written if there is nothing new.
    fn begin_commit(&mut self) {
        let no_more = |t: &Transactions| t.is_ending() || t.is_spoilt;
        if self.transactions.as_ref().is_none_or(no_more) || self.producer_broken {
            return;
        }
        self.records.take_submitted(&mut self.taken);
        let offsets = std::mem::take(&mut self.taken);
        self.commit_with(offsets);
    }

    fn commit_with(&mut self, mut offsets: Offsets) {
        let (Some(transactions), Some(producer)) = (&mut self.transactions, self.producer.transactions()) else {
            return;
        };
        transactions.has_news = false;
        transactions.size = (0, 0);
        offsets.retain(|(slot, offset)| !self.committer.is_accepted(*slot, offset));
        if offsets.is_empty() && !transactions.is_open() {
            transactions.state = State::Idle;
            return;
        }
        let entries = offsets.iter().map(|(slot, o)| (self.committer.partition(*slot).clone(), o.clone())).collect();
        producer.end(TransactionEnd::Commit(entries));
        transactions.state = State::Committing(offsets);
    }

    /// Starts to abort; `then` is committed afterwards.
    fn begin_abort(&mut self, then: Offsets) {
        let (Some(transactions), Some(producer)) = (&mut self.transactions, self.producer.transactions()) else {
            return;
        };
        if self.producer_broken || transactions.is_ending() {
            return;
        }
        self.records.forget();
        transactions.is_spoilt = false;
        transactions.has_news = false;
        transactions.size = (0, 0);
        transactions.acknowledged = Resolved::default();
        if then.is_empty() {
            transactions.due.clear();
        }
        if transactions.is_open() {
            producer.end(TransactionEnd::Abort);
            transactions.state = State::Aborting(then);
        } else {
            self.commit_with(then);
        }
    }

    /// Takes note of how a transaction has ended.
    fn ended(&mut self, result: Result<(), TransactionError>) {
        let Some(transactions) = &mut self.transactions else { return };
        let state = std::mem::replace(&mut transactions.state, State::Idle);
        match (state, result) {
            (State::Committing(offsets), Ok(())) => {
                transactions.failing = false;
                let Resolved { records, bytes } = std::mem::take(&mut transactions.acknowledged);
                self.due.append(&mut transactions.due);
                if records > 0 || bytes > 0 {
                    self.observer.records_out(records, bytes);
                }
                self.observer.offsets_committed(true);
                self.committer.stored(offsets);
                self.source_works();
                self.call_due();
            }
            (State::Aborting(then), Ok(())) if !then.is_empty() => self.commit_with(then),
            (State::Aborting(_), Ok(())) => {}
            (State::Committing(_), Err(TransactionError::Abortable(error))) => {
                self.observer.offsets_committed(false);
                transactions.failing = true;
                transactions.lost.get_or_insert(context("a transaction was aborted", retriable(error)));
                transactions.state = State::Open;
                self.begin_abort(Vec::new());
            }
            (_, Err(TransactionError::Abortable(error) | TransactionError::Fatal(error))) => {
                self.observer.offsets_committed(false);
                self.producer_broken = true;
                self.failure.get_or_insert(error);
            }
            (State::Idle | State::Open, Ok(())) => {}
        }
    }

    /// The end of a life: what was handed over is committed, or taken back where it must not be.
    ///
    /// Waits for at most the time that a stop leaves; a transaction that has not ended by then is looked after by
    /// [`Self::await_transaction`] before another life begins.
    pub(super) async fn settle_transaction(&mut self, end: &LifeEnd) {
        let Some(transactions) = &mut self.transactions else { return };
        let complete = match end {
            // Whole polls only were handed over, or whatever the connector has not ended yet.
            LifeEnd::Changed(_) | LifeEnd::Retry(_) => !transactions.follow_marks() && !transactions.is_spoilt,
            LifeEnd::Failed(_) => false,
        };
        if !transactions.is_ending() {
            if complete && transactions.has_news {
                self.begin_commit();
            } else if !complete {
                self.begin_abort(Vec::new());
            }
        }
        let limit = self.settle_limit();
        self.wait.set(limit);
        let ended = poll_fn(|cx| {
            self.background(cx);
            if !self.transaction_is_ending() || self.producer_broken {
                return Poll::Ready(true);
            }
            self.wait.poll(cx).map(|()| false)
        })
        .await;
        if !ended {
            self.observer.event(TaskEvent::Warning(format!(
                "a transaction has not ended within {} ms; whether it was committed is known when the task goes on",
                limit.as_millis()
            )));
        }
    }

    /// Forgets what the last life has left in an open transaction, of which nothing may be committed any more.
    pub(super) fn abandon(&mut self) {
        self.tolerance.forget();
        match &mut self.transactions {
            None => self.records.abandon(),
            // Its offsets are taken; its acknowledgements are still counted.
            Some(t) if t.is_ending() => {}
            Some(t) => {
                // The life has gone back already: it is not lost once more.
                t.lost = None;
                self.records.forget();
            }
        }
    }
}

fn retriable(error: TaskError) -> TaskError {
    match error {
        TaskError::Fatal(cause) => TaskError::Retriable { cause, after: None },
        retriable => retriable,
    }
}
