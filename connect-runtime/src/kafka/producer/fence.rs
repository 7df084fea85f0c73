//! Fencing: taking transactional ids away from whoever has them, without writing anything (KIP-618, Java's
//! `Admin.fenceProducers`).

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use super::{lock, transactional::take_id};
use crate::kafka::{
    client_config::ClientConfig,
    client_events::ClientEvents,
    error::{ErrorClass, KafkaError},
    ffi::{Client, Role},
};

/// Ids that are fenced at the same time, each by a client of its own.
const FENCED_AT_ONCE_MAX: usize = 16;
/// How long all of it may take; Java's worker waits as long.
const FENCING_TIMEOUT: Duration = Duration::from_secs(90);

/// What the threads share.
struct Work {
    config: ClientConfig,
    deadline: Instant,
    stop: AtomicBool,
    state: Mutex<State>,
}

struct State {
    waiting: VecDeque<String>,
    /// Not fenced, and why.
    left: Vec<(String, KafkaError)>,
}

/// Fences every producer that has one of these transactional ids: what it has left open is aborted, and it writes nothing
/// any more. A client that is away is waited for. `config` says how to reach the brokers, whatever kind of client it is for.
///
/// # Errors
/// Fatal where nothing but a change of rights or configuration helps; retriable if ids are left after 90 seconds. The text
/// names them all.
///
/// # Cancel safety
/// Ids that are being taken when the future is dropped may still be taken.
pub async fn fence(config: &ClientConfig, ids: Vec<String>) -> Result<(), KafkaError> {
    fence_within(config, ids, FENCING_TIMEOUT).await
}

pub(super) async fn fence_within(config: &ClientConfig, ids: Vec<String>, timeout: Duration) -> Result<(), KafkaError> {
    let n_threads = ids.len().min(FENCED_AT_ONCE_MAX);
    let work = Arc::new(Work {
        config: config.clone(),
        deadline: Instant::now() + timeout,
        stop: AtomicBool::new(false),
        state: Mutex::new(State { waiting: ids.into(), left: Vec::new() }),
    });
    let _guard = StopGuard(Arc::clone(&work));
    let threads: Vec<_> = (0..n_threads)
        .map(|_| {
            let work = Arc::clone(&work);
            tokio::task::spawn_blocking(move || work.run())
        })
        .collect();
    for thread in threads {
        thread.await.map_err(|error| KafkaError::new(ErrorClass::Fatal, format!("fencing has ended: {error}")))?;
    }
    let left = std::mem::take(&mut lock(&work.state).left);
    if left.is_empty() { Ok(()) } else { Err(summary(&left, timeout)) }
}

/// Ends the threads when nobody waits for them any more.
struct StopGuard(Arc<Work>);

impl Drop for StopGuard {
    fn drop(&mut self) {
        self.0.stop.store(true, Ordering::Release);
    }
}

impl Work {
    fn run(&self) {
        loop {
            let Some(id) = lock(&self.state).waiting.pop_front() else { return };
            if let Err(error) = self.fence(&id) {
                lock(&self.state).left.push((id, error));
            }
        }
    }

    fn fence(&self, id: &str) -> Result<(), KafkaError> {
        let config = self.config.for_fencing(id);
        let client = Client::new(Role::Producer, &config.entries)
            .map_err(|error| KafkaError::native(&error, "cannot create a producer"))?;
        let mut queue = client.main_queue();
        queue.wake(thread::current());
        let mut events = ClientEvents::new(Arc::clone(&client), &config);
        let mut why = String::new();
        let may_go_on = |failure: &crate::kafka::ffi::TransactionFailure| {
            why.clone_from(&failure.text);
            !self.stop.load(Ordering::Acquire) && Instant::now() < self.deadline
        };
        if take_id(&client, &queue, &mut events, may_go_on)? {
            return Ok(());
        }
        Err(KafkaError::new(ErrorClass::Retriable, why))
    }
}

/// One error for all ids that are left.
fn summary(left: &[(String, KafkaError)], timeout: Duration) -> KafkaError {
    let named = |class: fn(&KafkaError) -> bool| {
        let ids: Vec<String> = left.iter().filter(|(_, error)| class(error)).map(|(id, _)| format!("`{id}`")).collect();
        ids.join(", ")
    };
    let (late, refused) =
        (named(|error| error.class() == ErrorClass::Retriable), named(|error| error.class() != ErrorClass::Retriable));
    let cause = |late: bool| left.iter().find(|(_, e)| (e.class() == ErrorClass::Retriable) == late).map(|(_, e)| e);
    let mut texts = Vec::new();
    if let Some(error) = cause(false) {
        texts.push(format!("producers with transactional id {refused} cannot be fenced: {error}"));
    }
    if let Some(error) = cause(true) {
        let seconds = timeout.as_secs();
        texts.push(format!("producers with transactional id {late} were not fenced within {seconds} s: {error}"));
    }
    let class = if refused.is_empty() { ErrorClass::Retriable } else { ErrorClass::Fatal };
    KafkaError::new(class, texts.join("; "))
}
