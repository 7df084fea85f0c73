//! Consumers of sink tasks: one thread each, which polls the group, copies records into batches and carries out what the
//! task asks. A slow task only stops the copying: membership goes on.

mod batch;
mod commits;
mod ending;
mod membership;
mod rebalance;
mod stale_assignment;
mod start;
mod topics;
mod worker;

#[cfg(test)]
mod tests;

use std::{
    collections::VecDeque,
    fmt,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
    task::{Context, Poll, Waker},
    thread::{self, Thread},
    time::Duration,
};

use connect_sdk::{
    erased::BoxFuture,
    error::TaskError,
    sink::TopicPartition,
    task::ports::{ConsumedBatch, ConsumerEvent, RecordConsumer},
};
use tokio::{runtime::Handle, sync::oneshot, task::JoinHandle};

use super::{
    client_config::ClientConfig,
    error::{ErrorClass, KafkaError},
    ffi::{Client, Role},
};
use membership::Member;
use stale_assignment::{Leaving, Standing};
use worker::Worker;

pub(super) use batch::BatchReader;

/// Batches that wait for the task.
const BATCHES_WAITING_MAX: usize = 2;
/// How long a task waits for its consumer to leave the group; the thread goes on by itself after that.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(10);

/// Partitions with offsets.
type Positions = Vec<(Arc<TopicPartition>, i64)>;

/// Which topics a sink reads.
pub enum Subscription {
    /// These.
    Topics(Vec<String>),
    /// All that the function accepts, now and later; topics are looked up again every `metadata.max.age.ms`.
    Matching(Box<dyn Fn(&str) -> bool + Send>),
}

impl fmt::Debug for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Topics(topics) => f.debug_tuple("Topics").field(topics).finish(),
            Self::Matching(_) => f.write_str("Matching"),
        }
    }
}

/// What the task and the thread share.
#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    thread: OnceLock<Thread>,
}

#[derive(Default)]
struct State {
    /// Assignments, revocations, losses, results of commits: they overtake records.
    control: VecDeque<ConsumerEvent>,
    batches: VecDeque<ConsumedBatch>,
    waker: Option<Waker>,
    failed: Option<KafkaError>,
    commands: VecDeque<Command>,
    round: Round,
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("State").field("round", &self.round).field("failed", &self.failed).finish_non_exhaustive()
    }
}

/// A rebalance that waits for the task.
#[derive(Debug, Default)]
enum Round {
    #[default]
    None,
    /// The task has not been told yet, or has not answered.
    Asked,
    /// It has answered: where to start, or that the partitions are free.
    Started(Positions),
    Released,
}

/// What a task asks of the thread.
enum Command {
    Commit {
        number: u64,
        offsets: Positions,
    },
    CommitNow {
        offsets: Positions,
        reply: oneshot::Sender<Result<(), TaskError>>,
    },
    Pause(Vec<Arc<TopicPartition>>),
    Resume(Vec<Arc<TopicPartition>>),
    Seek(Positions),
    Subscribe(Vec<String>),
    Standing(oneshot::Sender<Standing>),
    /// Answered when the partitions are given up.
    Unsubscribe(Leaving),
    Resubscribe,
    /// The answer is the place in the group that is to be given up.
    Close(oneshot::Sender<Option<Member>>),
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn command(&self, command: Command) {
        self.lock().commands.push_back(command);
        self.wake();
    }

    fn wake(&self) {
        if let Some(thread) = self.thread.get() {
            thread.unpark();
        }
    }

    /// Changes the state and wakes the task.
    fn tell<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.lock();
        let changed = change(&mut state);
        let waker = state.waker.take();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
        changed
    }
}

impl State {
    /// Takes the waiting records of some partitions away: they are not the task's any more, or not from there.
    fn drop_records(&mut self, gone: impl Fn(&TopicPartition) -> bool) {
        for batch in &mut self.batches {
            let gone: Vec<bool> = batch.partitions.iter().map(|partition| gone(partition)).collect();
            if !gone.contains(&true) {
                continue;
            }
            batch.records.retain(|record| !gone[record.partition as usize]);
            for (position, _) in batch.positions.iter_mut().zip(&gone).filter(|(_, gone)| **gone) {
                // A position that changes nothing: none is ever below it.
                *position = i64::MIN;
            }
        }
        self.batches.retain(|batch| !batch.records.is_empty());
    }
}

/// A sink task's consumer.
///
/// Dropping it makes the thread leave the group by itself; [`RecordConsumer::close`] waits for that. A static member gives
/// its place up either way, unless another consumer has it already.
#[derive(Debug)]
pub struct TaskConsumer {
    shared: Arc<Shared>,
    config: ClientConfig,
    closed: bool,
}

impl TaskConsumer {
    /// Starts a consumer; it joins its group in the background. Takes a few milliseconds, no broker is waited for.
    ///
    /// # Errors
    /// librdkafka refuses the configuration, or `group.id` is missing; the task fails.
    pub fn start(config: &ClientConfig, subscription: Subscription) -> Result<Self, KafkaError> {
        let client = Client::new(Role::Consumer, &config.entries)
            .map_err(|error| KafkaError::native(&error, "cannot create a consumer"))?;
        let shared = Arc::new(Shared::default());
        let queue = client
            .consumer_queue()
            .ok_or_else(|| KafkaError::new(ErrorClass::Fatal, "cannot create a consumer: `group.id` is not set"))?;
        let watch = match subscription {
            Subscription::Topics(topics) => {
                shared.command(Command::Subscribe(topics));
                None
            }
            Subscription::Matching(accepts) => {
                Some(topics::watch(Arc::clone(&client), Arc::clone(&shared), config, accepts)?)
            }
        };
        let of_thread = Arc::clone(&shared);
        let for_thread = config.clone();
        let runtime = Handle::try_current().ok();
        let thread = thread::Builder::new()
            .name(format!("consumer {}", config.client_id()))
            .spawn(move || {
                let mut worker = Worker::new(of_thread, client, queue, for_thread);
                worker.runtime = runtime;
                worker.run(watch);
            })
            .map_err(|error| KafkaError::new(ErrorClass::Retriable, format!("cannot start a thread: {error}")))?;
        // Not joined: the thread ends by itself after `Close`, and holds nothing that others wait for.
        let _first = shared.thread.set(thread.thread().clone());
        shared.wake();
        Ok(Self { shared, config: config.clone(), closed: false })
    }

    /// Mends, in the background, what a worker that was killed has left in the group of `connector`: the consumer joins
    /// anew if it was given topics that it does not read. The first task's also removes the members of tasks from `n_tasks`
    /// on, if members have the names that tasks have by default, and makes the group share its partitions out anew if one
    /// is nobody's. Only for static members.
    pub fn tidy_group(&self, connector: &str, task: u32, n_tasks: u32) {
        if let Ok(runtime) = Handle::try_current() {
            let (config, connector, shared) = (self.config.clone(), connector.to_owned(), Arc::downgrade(&self.shared));
            let is_first = task == 0;
            let tidied = async move {
                if is_first {
                    membership::remove_places_beyond(&config, &connector, n_tasks).await;
                }
                stale_assignment::replace_if_stale(config, is_first, shared).await;
            };
            // Nobody waits for it: the tasks work meanwhile.
            drop(runtime.spawn(tidied));
        }
    }

    /// Makes the thread leave the group. Then the consumer's place is given up, on the runtime of the caller if there is
    /// one; else, the group gives it to others when the session ends.
    fn end(&mut self) -> Option<JoinHandle<()>> {
        if std::mem::replace(&mut self.closed, true) {
            return None;
        }
        let (reply, closed) = oneshot::channel();
        self.shared.command(Command::Close(reply));
        let config = self.config.clone();
        let give_up = async move {
            if let Ok(Some(member)) = closed.await {
                member.give_up(&config).await;
            }
        };
        Some(Handle::try_current().ok()?.spawn(give_up))
    }

    fn answer(&self, answer: Round) {
        let mut state = self.shared.lock();
        match (&state.round, answer) {
            (Round::Asked, answer) => state.round = answer,
            // An answer that comes too late finds partitions given up, or going on from where they were.
            (_, Round::Started(from)) => state.commands.push_back(Command::Seek(from)),
            (_, _) => {}
        }
        drop(state);
        self.shared.wake();
    }
}

impl Drop for TaskConsumer {
    fn drop(&mut self) {
        // Whether the place is given up is seen by others only.
        drop(self.end());
    }
}

impl RecordConsumer for TaskConsumer {
    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Result<ConsumerEvent, TaskError>> {
        let mut state = self.shared.lock();
        if let Some(event) = state.control.pop_front() {
            return Poll::Ready(Ok(event));
        }
        if matches!(state.round, Round::None)
            && let Some(batch) = state.batches.pop_front()
        {
            drop(state);
            self.shared.wake();
            return Poll::Ready(Ok(ConsumerEvent::Records(batch)));
        }
        if let Some(failed) = &state.failed {
            return Poll::Ready(Err(failed.clone().into()));
        }
        match &mut state.waker {
            Some(waker) => waker.clone_from(cx.waker()),
            none => *none = Some(cx.waker().clone()),
        }
        Poll::Pending
    }

    fn start(&mut self, from: Positions) {
        self.answer(Round::Started(from));
    }

    fn released(&mut self) {
        self.answer(Round::Released);
    }

    fn commit(&mut self, number: u64, offsets: Positions) {
        self.shared.command(Command::Commit { number, offsets });
    }

    fn commit_now(&mut self, offsets: Positions) -> BoxFuture<'_, Result<(), TaskError>> {
        let (reply, result) = oneshot::channel();
        self.shared.command(Command::CommitNow { offsets, reply });
        Box::pin(async move {
            let gone = || TaskError::retriable("the consumer ended before the commit had a result");
            result.await.unwrap_or_else(|_| Err(gone()))
        })
    }

    fn pause(&mut self, partitions: Vec<Arc<TopicPartition>>) {
        self.shared.command(Command::Pause(partitions));
    }

    fn resume(&mut self, partitions: Vec<Arc<TopicPartition>>) {
        self.shared.command(Command::Resume(partitions));
    }

    fn seek(&mut self, to: Positions) {
        let mut state = self.shared.lock();
        state.drop_records(|partition| to.iter().any(|(sought, _)| **sought == *partition));
        state.commands.push_back(Command::Seek(to));
        drop(state);
        self.shared.wake();
    }

    fn close(&mut self) -> BoxFuture<'_, ()> {
        let ended = self.end();
        Box::pin(async move {
            if let Some(ended) = ended {
                // Both ends of the wait are fine: closed in time, or left to the thread.
                drop(tokio::time::timeout(CLOSE_TIMEOUT, ended).await);
            }
        })
    }
}
