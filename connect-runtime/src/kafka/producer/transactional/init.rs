//! Taking a transactional id, which fences every older producer that has it.

use std::{
    thread,
    time::{Duration, Instant},
};

use crate::kafka::{
    client_events::ClientEvents,
    error::KafkaError,
    ffi::{Client, Queue, TransactionFailure},
};

/// How long the first try waits. Each further one waits twice as long, ...
const TRY_FIRST: Duration = Duration::from_millis(5);
/// ... up to this long. librdkafka looks for the coordinator every 500 ms only, and asks a coordinator that is still
/// aborting another producer's transaction once in 500 ms; each new try makes it look and ask at once.
const TRY_MAX: Duration = Duration::from_millis(500);
/// How long nothing is said about an id that cannot be had yet.
const MENTION_AFTER: Duration = Duration::from_secs(2);

/// Takes the client's transactional id, and tries again for as long as that can help and `may_go_on` says so.
/// False: it was told to stop.
///
/// # Errors
/// Nothing but a change of configuration or rights helps.
pub(in super::super) fn take_id(
    client: &Client,
    queue: &Queue,
    events: &mut ClientEvents,
    mut may_go_on: impl FnMut(&TransactionFailure) -> bool,
) -> Result<bool, KafkaError> {
    let start = Instant::now();
    let mut wait = TRY_FIRST;
    loop {
        // Tokens and errors of the connection come as events while the id is waited for.
        serve(queue, events)?;
        let tried = Instant::now();
        let Err(failure) = client.init_transactions(wait) else { break };
        if failure.fatal || !failure.retriable {
            return Err(KafkaError::coded(failure.code, "the transactional id cannot be had", &failure.text).fatal());
        }
        if !may_go_on(&failure) {
            return Ok(false);
        }
        if start.elapsed() > MENTION_AFTER {
            events.trying_again("transactional id cannot be had yet", &failure.text);
        }
        // Some failures come at once; an event that comes meanwhile wakes the thread.
        thread::park_timeout(wait.saturating_sub(tried.elapsed()));
        wait = (wait * 2).min(TRY_MAX);
    }
    events.alive();
    Ok(true)
}

/// Serves events of a client that has no records under way.
pub(super) fn serve(queue: &Queue, events: &mut ClientEvents) -> Result<(), KafkaError> {
    while let Some(event) = queue.poll(Duration::ZERO) {
        events.serve(event.kind())?;
    }
    Ok(())
}
