//! The loop of a sink task: records in, offsets out, over the ports of a worker or of the testkit.
//!
//! One task owns one sink. Events of the consumer, wishes of the herder, and time are served one at a time; while a call
//! into the sink runs, what the consumer says is kept. The order of calls at the end of an assignment is always:
//! `pre_commit(Closing)`, `closed`, the commit, and only then are the partitions given up.

mod commit;
mod config;
mod convert;
mod dead_letters;
mod delivery;
mod inbox;
mod partitions;
mod pauses;
mod retry;
#[cfg(test)]
mod tests;

pub use config::SinkTaskConfig;

use self::{
    dead_letters::DeadLetters,
    delivery::{Converting, Delivery},
    inbox::Inbox,
    pauses::Pauses,
    retry::Trouble,
};
use super::{
    Converters, OpenCx, TaskEnd, TaskInfo,
    errors::{ErrorReporter, Retries},
    guard::{Guarded, dispose, guard, is_panic},
    ports::{Clock, Commands, ConsumerEvent, RecordConsumer, SinkDeadLetters, TargetState, TaskEvent, TaskObserver},
    sink_offsets::SinkOffsets,
    wait::{Streak, Timer, give_way},
};
use crate::{
    erased::{DynSink, DynSinkConnector, DynTransformation, Properties},
    error::{Result, TaskError},
    sink::{CloseReason, SinkRecord},
};
use std::{
    future::poll_fn,
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

/// Everything that a sink task needs.
pub struct SinkSetup {
    /// The connector.
    pub connector: Arc<dyn DynSinkConnector>,
    /// Its configuration.
    pub properties: Properties,
    /// Which task this is.
    pub task: TaskInfo,
    /// The loop's settings.
    pub config: SinkTaskConfig,
    /// The converters.
    pub converters: Converters,
    /// The transformations, if there are any. Whatever they change, offsets are those of the topic that was read.
    pub chain: Option<Box<dyn DynTransformation>>,
    /// The dead letter queue, if there is one.
    pub dead_letters: Option<SinkDeadLetters>,
    /// A member of the sink's consumer group.
    pub consumer: Box<dyn RecordConsumer>,
    /// The herder's wishes.
    pub commands: Box<dyn Commands>,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Whom to tell.
    pub observer: Arc<dyn TaskObserver>,
}

impl std::fmt::Debug for SinkSetup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SinkSetup").field("task", &self.task).field("config", &self.config).finish_non_exhaustive()
    }
}

/// Runs a sink task until it is stopped or fails.
///
/// Both ends make a last commit of what the sink has written and leave the group, within
/// [`SinkTaskConfig::graceful_timeout`]. A panic of the connector is a failure, after which the sink is not asked again.
///
/// # Cancel safety
/// Dropping it drops the sink where it stands; nothing more is committed, so records may be delivered again.
pub async fn run(setup: SinkSetup) -> TaskEnd {
    let mut task = SinkLoop::new(setup);
    let mut end = task.serve().await;
    if end.as_ref().is_err_and(is_panic) {
        // Its state is unknown: what it would call written now cannot be believed.
        let _dropped = task.discard_sink();
    }
    let last = task.finish_in_time().await;
    if end.is_ok() {
        end = last;
    }
    // The end of the task must not depend on how its sink takes being dropped.
    let _dropped = task.discard_sink();
    task.errors.end();
    match end {
        Ok(()) => TaskEnd::Stopped,
        Err(error) => TaskEnd::Failed(error),
    }
}

/// Where a task is with its sink.
enum Life {
    /// There is none. It is opened at this moment, unless the task is paused.
    Closed { open_at: Duration },
    /// It is being opened.
    Opening(Guarded<'static, Box<dyn DynSink>>),
    /// It works.
    Open(Box<dyn DynSink>),
}

/// What a task waits for.
enum Wake {
    Target(TargetState),
    Opened(Result<Box<dyn DynSink>>),
    Event(ConsumerEvent),
    Time,
}

struct SinkLoop {
    connector: Arc<dyn DynSinkConnector>,
    properties: Properties,
    task: TaskInfo,
    config: SinkTaskConfig,
    converters: Converters,
    chain: Option<Box<dyn DynTransformation>>,
    commands: Box<dyn Commands>,
    clock: Arc<dyn Clock>,
    observer: Arc<dyn TaskObserver>,
    inbox: Inbox,
    target: TargetState,
    timer: Timer,
    life: Life,
    offsets: SinkOffsets,
    pauses: Pauses,
    trouble: Trouble,
    /// The records of a failed put that are to be lent again.
    again: Option<Delivery>,
    /// A batch with a record that is to be converted again.
    converting: Option<Converting>,
    retries: Retries,
    /// Records in a row that had to be converted again.
    slow_conversions: Streak,
    errors: ErrorReporter,
    dead_letters: Option<DeadLetters>,
    /// An emptied vector that the next batch may use.
    spare: Vec<SinkRecord>,
    commit_requested: bool,
    next_commit: Duration,
    commit_since: Duration,
    next_put: Duration,
}

impl SinkLoop {
    fn new(setup: SinkSetup) -> Self {
        let SinkSetup { connector, properties, task, config, converters, chain, dead_letters, .. } = setup;
        let SinkSetup { consumer, commands, clock, observer, .. } = setup;
        let now = clock.monotonic();
        let inbox = Inbox::new(consumer, connector.meta().type_name, Arc::clone(&clock), Arc::clone(&observer));
        Self {
            // The waits of two tasks, or of two lives of one, differ.
            retries: Retries::new(&config.errors, clock.now_ms().unsigned_abs() ^ u64::from(task.index)),
            slow_conversions: Streak::default(),
            errors: ErrorReporter::new(&task, config.errors, Arc::clone(&clock), Arc::clone(&observer)),
            dead_letters: dead_letters.map(|port| DeadLetters::new(port, task.clone())),
            converting: None,
            connector,
            properties,
            task,
            trouble: Trouble::new(&config),
            config,
            converters,
            chain,
            target: commands.target(),
            commands,
            timer: Timer::new(Arc::clone(&clock)),
            clock,
            inbox,
            observer,
            life: Life::Closed { open_at: now },
            offsets: SinkOffsets::new(),
            pauses: Pauses::default(),
            again: None,
            spare: Vec::new(),
            commit_requested: false,
            next_commit: now,
            commit_since: now,
            next_put: now,
        }
    }

    /// Serves until the task is stopped.
    async fn serve(&mut self) -> Result<()> {
        if self.target == TargetState::Paused {
            self.observer.event(TaskEvent::Paused);
        }
        if !self.ensure_dead_letter_topic().await? {
            return Ok(());
        }
        while self.target != TargetState::Stopped {
            self.do_what_is_due().await?;
            match self.next().await? {
                Wake::Target(target) => self.turn_to(target),
                Wake::Opened(result) => self.opened(result).await?,
                Wake::Event(event) => self.on_event(event).await?,
                Wake::Time => {}
            }
        }
        Ok(())
    }

    async fn on_event(&mut self, event: ConsumerEvent) -> Result<()> {
        match event {
            ConsumerEvent::Records(batch) => {
                self.on_records(batch).await?;
                give_way().await;
                Ok(())
            }
            ConsumerEvent::Assigned(partitions) => self.on_assigned(partitions).await,
            ConsumerEvent::Revoked(partitions) => self.on_revoked(partitions).await,
            ConsumerEvent::Lost(partitions) => self.on_lost(&partitions).await,
            ConsumerEvent::Committed { number, result } => {
                self.on_committed(number, result);
                Ok(())
            }
        }
    }

    fn turn_to(&mut self, target: TargetState) {
        self.target = target;
        match target {
            TargetState::Paused => {
                self.commit_requested = true;
                self.observer.event(TaskEvent::Paused);
            }
            TargetState::Started if matches!(self.life, Life::Open(_)) => self.observer.event(TaskEvent::Running),
            TargetState::Started => {}
            TargetState::Stopped => return,
        }
        self.tell_pauses();
    }

    /// Does everything whose time has come.
    async fn do_what_is_due(&mut self) -> Result<()> {
        if self.inbox.has_loss() {
            // That comes first: another task may be at work on these partitions already.
            return Ok(());
        }
        let now = self.clock.monotonic();
        if self.offsets.is_committing() && now >= self.commit_since.saturating_add(self.config.offset_flush_timeout) {
            self.commit_is_late();
        }
        match &self.life {
            Life::Closed { open_at } if now >= *open_at && self.target == TargetState::Started => self.start_opening(),
            Life::Closed { .. } | Life::Opening(_) => return Ok(()),
            Life::Open(_) => {}
        }
        if self.converting.as_ref().is_some_and(|c| now >= c.at) && self.target == TargetState::Started {
            self.convert_again().await?;
            // What came of it may have ended this life.
            return Ok(());
        }
        match &self.again {
            Some(delivery) if now >= delivery.at => self.put_again().await?,
            None if now >= self.next_put => self.put(Delivery::empty()).await?,
            _ => {}
        }
        if self.inbox.has_loss() {
            return Ok(());
        }
        if self.wants_commit() && (self.commit_requested || now >= self.next_commit) {
            self.commit().await?;
        }
        Ok(())
    }

    /// True if a commit could be made now.
    fn wants_commit(&self) -> bool {
        matches!(self.life, Life::Open(_)) && !self.offsets.is_committing()
    }

    /// The next moment at which [`Self::do_what_is_due`] has something to do.
    fn due_at(&self) -> Option<Duration> {
        let late =
            self.offsets.is_committing().then(|| self.commit_since.saturating_add(self.config.offset_flush_timeout));
        let work = match &self.life {
            Life::Closed { open_at } => (self.target == TargetState::Started).then_some(*open_at),
            Life::Opening(_) => None,
            Life::Open(_) => {
                let put = self.again.as_ref().map_or(self.next_put, |delivery| delivery.at);
                let converting = self.converting.as_ref().filter(|_| self.target == TargetState::Started);
                let put = converting.map_or(put, |converting| converting.at.min(put));
                Some(if self.wants_commit() { put.min(self.next_commit) } else { put })
            }
        };
        [late, work].into_iter().flatten().min()
    }

    /// Waits for the next thing to do.
    async fn next(&mut self) -> Result<Wake> {
        match self.due_at() {
            Some(at) => self.timer.set(at.saturating_sub(self.clock.monotonic())),
            None => self.timer.clear(),
        }
        poll_fn(|cx| self.poll_next(cx)).await
    }

    /// Wishes come before records, so that a busy topic does not keep a task from stopping.
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Result<Wake>> {
        if let Poll::Ready(target) = self.commands.poll_change(cx, self.target) {
            return Poll::Ready(Ok(Wake::Target(target)));
        }
        if let Life::Opening(opening) = &mut self.life
            && let Poll::Ready(result) = Pin::new(opening).poll(cx)
        {
            return Poll::Ready(Ok(Wake::Opened(result)));
        }
        if let Some(letters) = &mut self.dead_letters
            && let Poll::Ready(Err(error)) = letters.poll(cx)
        {
            letters.count_failure(&mut self.errors);
            return Poll::Ready(Err(error));
        }
        if let Poll::Ready(event) = self.inbox.poll(cx) {
            return Poll::Ready(event.map(Wake::Event));
        }
        self.timer.poll(cx).map(|()| Ok(Wake::Time))
    }

    fn start_opening(&mut self) {
        let (connector, properties) = (Arc::clone(&self.connector), self.properties.clone());
        let cx = OpenCx::new(self.task.clone());
        self.life = Life::Opening(guard("open", || connector.open(properties, cx)));
    }

    /// A sink was opened: it learns what it has, and starts from what is committed.
    async fn opened(&mut self, result: Result<Box<dyn DynSink>>) -> Result<()> {
        let now = self.clock.monotonic();
        match result {
            Ok(sink) => self.life = Life::Open(sink),
            Err(error) => {
                let text = error.chain();
                let open_at = self.trouble.failed("open", error, now)?;
                if self.trouble.is_worth_telling() {
                    let delay = open_at.saturating_sub(now).as_millis();
                    self.warn(format!("`open` failed; it is tried again in {delay} ms: {text}"));
                }
                self.life = Life::Closed { open_at };
                return Ok(());
            }
        }
        self.next_commit = now.saturating_add(self.config.offset_flush_interval);
        self.next_put = self.next_commit;
        // A commit that was on its way when the last sink was dropped may have ended well since.
        self.offsets.rewind();
        if self.target == TargetState::Started {
            self.observer.event(TaskEvent::Running);
        }
        let owned: Vec<_> = self.offsets.partitions().cloned().collect();
        self.tell_assigned(&owned).await
    }

    /// Drops the sink with all it holds after a retriable error of `call`, to open another one later and feed it from
    /// the committed offsets.
    ///
    /// # Errors
    /// The error, if it is fatal or the time for retries is up.
    fn reopen(&mut self, call: &'static str, error: TaskError) -> Result<()> {
        let now = self.clock.monotonic();
        let text = error.chain();
        let open_at = self.trouble.failed(call, error, now)?;
        let delay = open_at.saturating_sub(now).as_millis();
        if self.trouble.is_worth_telling() {
            self.warn(format!(
                "`{call}` failed; in {delay} ms the sink is opened again and fed from the committed offsets: {text}"
            ));
        }
        self.discard_sink()?;
        self.life = Life::Closed { open_at };
        self.tell_pauses();
        Ok(())
    }

    /// Drops the sink; its records count as not delivered.
    fn discard_sink(&mut self) -> Result<()> {
        self.again = None;
        self.converting = None;
        self.retries.forget();
        self.commit_requested = false;
        self.pauses.sink_is_new();
        self.offsets.rewind();
        for partition in self.offsets.partitions() {
            self.pauses.has_strayed(partition);
        }
        let open_at = self.clock.monotonic();
        dispose("drop", std::mem::replace(&mut self.life, Life::Closed { open_at }))
    }

    /// Makes the last commit and leaves the group, if that can be done within the graceful time-out.
    async fn finish_in_time(&mut self) -> Result<()> {
        let mut timer = Timer::new(Arc::clone(&self.clock));
        timer.set(self.config.graceful_timeout);
        let (observer, limit) = (Arc::clone(&self.observer), self.config.graceful_timeout.as_millis());
        let mut finish = pin!(self.finish());
        poll_fn(|cx| match finish.as_mut().poll(cx) {
            Poll::Pending => timer.poll(cx).map(|()| {
                let text = format!(
                    "the last commit and `close` took longer than {limit} ms, the limit of \
                    `task.shutdown.graceful.timeout.ms`; what was not committed is delivered again"
                );
                observer.event(TaskEvent::Warning(text));
                Ok(())
            }),
            ready => ready,
        })
        .await
    }

    async fn finish(&mut self) -> Result<()> {
        self.again = None;
        self.converting = None;
        self.inbox.end();
        self.inbox.look();
        let (mut awaits_release, mut told) = (false, Ok(()));
        while let Some(event) = self.inbox.take_waiting() {
            match event {
                ConsumerEvent::Lost(partitions) => told = told.and(self.on_lost(&partitions).await),
                ConsumerEvent::Revoked(_) => awaits_release = true,
                _ => {}
            }
        }
        if told.as_ref().is_err_and(is_panic) {
            self.discard_sink()?;
        }
        // The last commit needs time too.
        let limit = self.config.offset_flush_timeout.min(self.config.graceful_timeout / 4);
        if let Err(error) = self.await_dead_letters(limit).await {
            self.warn(error.chain());
        }
        let owned: Vec<_> = self.offsets.partitions().cloned().collect();
        let closed = self.close_partitions(&owned, CloseReason::Stopping).await;
        if awaits_release {
            self.inbox.consumer.released();
        }
        if closed.as_ref().is_err_and(is_panic) {
            // Dropped without another call; the panic is the error to report.
            let _dropped = self.discard_sink();
        }
        if let Life::Open(sink) = std::mem::replace(&mut self.life, Life::Closed { open_at: Duration::ZERO }) {
            let closing = guard("close", || {
                Box::pin(async move {
                    sink.close().await;
                    Ok(())
                })
            });
            if let Err(error) = self.inbox.during("close", closing).await {
                self.warn(format!("`close` failed: {}", error.chain()));
            }
        }
        self.inbox.consumer.close().await;
        told.and(closed)
    }

    fn warn(&self, text: String) {
        self.observer.event(TaskEvent::Warning(text));
    }
}
