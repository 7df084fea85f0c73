//! What every client's thread does with the events that are not its subject: log lines, errors, tokens. A broker that is
//! away is said once, then at a growing interval, and again when it is back.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, Thread},
    time::{Duration, Instant},
};

use rdkafka::error::RDKafkaErrorCode as Code;
use tracing::{debug, error, info, warn};

use super::{
    error::{ErrorClass, KafkaError, is_connectivity},
    ffi::{Client, EventKind},
    oauth::OauthSource,
};

/// The first pause between two lines about the same trouble; it doubles each time.
const REPEAT_FIRST: Duration = Duration::from_secs(10);
/// The longest pause.
const REPEAT_MAX: Duration = Duration::from_secs(300);
/// The thread looks around at least this often; whatever happens wakes it.
const EVENT_THREAD_IDLE: Duration = Duration::from_secs(1);
/// syslog's number for warnings: what is above is not shown unless debugging is.
const LEVEL_WARNING: i32 = 4;

/// Serves the common events of one client.
pub(super) struct ClientEvents {
    client: Arc<Client>,
    client_id: String,
    oauth: Option<OauthSource>,
    trouble: Trouble,
    warnings: Trouble,
    /// The first of the transaction.
    transaction_error: Option<String>,
}

impl ClientEvents {
    pub(super) fn new(client: Arc<Client>, client_id: &str, oauth: Option<OauthSource>) -> Self {
        Self {
            client,
            client_id: client_id.to_owned(),
            oauth,
            trouble: Trouble::default(),
            warnings: Trouble::default(),
            transaction_error: None,
        }
    }

    /// Handles an event; gives back one that is the caller's subject.
    ///
    /// # Errors
    /// The client has failed for good.
    pub(super) fn serve(&mut self, event: EventKind) -> Result<Option<EventKind>, KafkaError> {
        match event {
            EventKind::Log { level, facility, text } => self.line(level, &facility, &text),
            EventKind::Error { code, fatal, text } => return self.error(code, fatal, &text).map(|()| None),
            EventKind::Oauth => self.token(),
            EventKind::Other => {}
            subject @ (EventKind::Deliveries | EventKind::Rebalance { .. } | EventKind::Committed { .. }) => {
                return Ok(Some(subject));
            }
        }
        Ok(None)
    }

    /// To be called when the broker has answered something: ends a trouble.
    pub(super) fn alive(&mut self) {
        if let Some(lasted) = self.trouble.end() {
            info!(client = %self.client_id, lasted_ms = lasted.as_millis(), "broker is reachable again");
        }
    }

    /// Something is tried again that a broker has not answered as wanted: said at the interval of all troubles.
    pub(super) fn trying_again(&mut self, what: &str, why: &str) {
        if self.trouble.is_due(Instant::now()) {
            warn!(client = %self.client_id, error = %why, "{what}, trying again");
        } else {
            debug!(client = %self.client_id, error = %why, "{what}, trying again");
        }
    }

    /// What the library said when it gave the transaction up; its records say only that they were given up with it.
    pub(super) fn transaction_error(&self) -> Option<&str> {
        self.transaction_error.as_deref()
    }

    /// A new transaction begins.
    pub(super) fn forget_transaction_error(&mut self) {
        self.transaction_error = None;
    }

    fn line(&mut self, level: i32, facility: &str, text: &str) {
        if facility == "TXNERR" {
            self.transaction_error.get_or_insert_with(|| text.to_owned());
        }
        // Failed connections come as error events too, and are said there.
        if level > LEVEL_WARNING || matches!(facility, "FAIL" | "ERROR") {
            debug!(client = %self.client_id, facility, text, "client library");
        } else if self.warnings.is_due(Instant::now()) {
            warn!(client = %self.client_id, facility, text, "client library");
        }
    }

    /// An error of the client as a whole. Only a fatal one ends it; the library gets over all others by itself.
    fn error(&mut self, code: Code, fatal: bool, text: &str) -> Result<(), KafkaError> {
        if fatal || code == Code::Fatal {
            let (code, text) = self.client.native().fatal_error().unwrap_or((code, text.to_owned()));
            return Err(KafkaError::coded(code, "the client has failed", &text).fatal());
        }
        let due = self.trouble.is_due(Instant::now());
        if !due {
            debug!(client = %self.client_id, code = %code, error = %text, "client error");
        } else if is_connectivity(code) {
            warn!(client = %self.client_id, error = %text, "broker cannot be reached, trying again");
        } else {
            error!(client = %self.client_id, code = %code, error = %text, "client error, trying again");
        }
        Ok(())
    }

    fn token(&mut self) {
        let Some(source) = &self.oauth else { return };
        let set = source
            .token()
            .and_then(|token| self.client.set_oauth_token(&token.token, &token.principal, token.expires_ms));
        if let Err(why) = set {
            self.client.set_oauth_failure(&why);
            if self.warnings.is_due(Instant::now()) {
                warn!(client = %self.client_id, error = %why, "no token for SASL/OAUTHBEARER, trying again");
            }
        }
    }
}

/// Serves the common events of a client that has no other events, on a thread of its own.
#[derive(Debug)]
pub(super) struct EventThread {
    stop: Arc<AtomicBool>,
    thread: Thread,
}

impl EventThread {
    /// Starts the thread; it ends when the value is dropped.
    pub(super) fn start(client: &Arc<Client>, client_id: &str, oauth: Option<OauthSource>) -> Result<Self, KafkaError> {
        let stop = Arc::new(AtomicBool::new(false));
        let mut events = ClientEvents::new(Arc::clone(client), client_id, oauth);
        let (client, stopped) = (Arc::clone(client), Arc::clone(&stop));
        let serve = move || {
            let mut queue = client.main_queue();
            queue.wake(thread::current());
            let mut last_error = None;
            while !stopped.load(Ordering::Acquire) {
                while let Some(event) = queue.poll(Duration::ZERO) {
                    if let Err(error) = events.serve(event.kind()) {
                        if last_error.as_ref() != Some(&error) {
                            error!(client = %events.client_id, error = %error, "client has failed");
                        }
                        last_error = Some(error);
                    }
                }
                thread::park_timeout(EVENT_THREAD_IDLE);
            }
        };
        let thread = thread::Builder::new()
            .name(client_id.to_owned())
            .spawn(serve)
            .map_err(|error| KafkaError::new(ErrorClass::Retriable, format!("cannot start a thread: {error}")))?;
        Ok(Self { stop, thread: thread.thread().clone() })
    }
}

impl Drop for EventThread {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        self.thread.unpark();
    }
}

/// When to say again that something goes on being wrong.
#[derive(Debug, Default)]
struct Trouble {
    since: Option<Instant>,
    next: Option<Instant>,
    pause: Duration,
}

impl Trouble {
    /// Notes one more occurrence; true if it is to be said.
    fn is_due(&mut self, now: Instant) -> bool {
        self.since.get_or_insert(now);
        match self.next {
            Some(next) if now < next => false,
            Some(_) => {
                self.pause = (self.pause * 2).min(REPEAT_MAX);
                self.next = Some(now + self.pause);
                true
            }
            None => {
                self.pause = REPEAT_FIRST;
                self.next = Some(now + self.pause);
                true
            }
        }
    }

    /// Ends it; says how long it lasted if there was one.
    fn end(&mut self) -> Option<Duration> {
        let since = self.since.take()?;
        self.next = None;
        Some(since.elapsed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trouble_is_said_at_a_growing_interval() {
        let mut trouble = Trouble::default();
        let start = Instant::now();
        let said: Vec<u64> = (0..200).filter(|second| trouble.is_due(start + Duration::from_secs(*second))).collect();
        assert_eq!(said, [0, 10, 30, 70, 150]);
        assert!(trouble.end().is_some());
        assert!(trouble.end().is_none());
        assert!(trouble.is_due(start + Duration::from_secs(201)), "the next trouble is said at once");
    }
}
