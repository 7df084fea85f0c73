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
use tokio::sync::watch;
use tracing::{debug, error, info, warn};

use super::{
    client_config::ClientConfig,
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
/// So many refused logins in a row end a client, which would go on trying for ever. Java's clients end with the first one; a
/// broker that has just started, or a credential that is being changed, gets another chance here. librdkafka tells of the
/// first two of a connection at once and of later ones every 30 s.
const REFUSED_LOGINS_MAX: u32 = 2;
/// Refused logins that lie further apart are no row.
const REFUSED_LOGINS_APART: Duration = Duration::from_secs(90);
/// What librdkafka says when a broker has answered a login with a refusal, or does not know its mechanism. Tokens that cannot
/// be had and connections that break meanwhile are told in other words: these pass.
const REFUSALS: [&str; 2] = ["SASL authentication error: ", "Broker: Unsupported SASL mechanism"];
/// syslog's number for warnings: what is above is not shown unless debugging is.
const LEVEL_WARNING: i32 = 4;

/// Serves the common events of one client.
pub(super) struct ClientEvents {
    client: Arc<Client>,
    client_id: String,
    oauth: Option<OauthSource>,
    /// How the client logs in, for errors.
    mechanism: String,
    logins: Logins,
    trouble: Trouble,
    warnings: Trouble,
    /// The first of the transaction.
    transaction_error: Option<String>,
}

impl ClientEvents {
    pub(super) fn new(client: Arc<Client>, config: &ClientConfig) -> Self {
        Self {
            client,
            client_id: config.client_id().to_owned(),
            oauth: config.oauth.clone(),
            mechanism: config.native("sasl.mechanism").unwrap_or_default().to_owned(),
            logins: Logins::default(),
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
        self.logins.n = 0;
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

    /// An error of the client as a whole. A fatal one ends it, and logins that are refused; the library gets over all others
    /// by itself.
    fn error(&mut self, code: Code, fatal: bool, text: &str) -> Result<(), KafkaError> {
        if fatal || code == Code::Fatal {
            let (code, text) = self.client.native().fatal_error().unwrap_or((code, text.to_owned()));
            return Err(KafkaError::coded(code, "the client has failed", &text).fatal());
        }
        let is_refusal = code == Code::Authentication && REFUSALS.iter().any(|said| text.contains(said));
        if is_refusal && self.logins.refused(Instant::now()) {
            let what = format!("the broker refuses the login by SASL mechanism `{}`", self.mechanism);
            return Err(KafkaError::coded(code, &what, text).fatal());
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
    failed: Arc<watch::Sender<Option<KafkaError>>>,
}

impl EventThread {
    /// Starts the thread; it ends when the value is dropped.
    pub(super) fn start(client: &Arc<Client>, config: &ClientConfig) -> Result<Self, KafkaError> {
        let stop = Arc::new(AtomicBool::new(false));
        let failed = Arc::new(watch::Sender::new(None));
        let mut events = ClientEvents::new(Arc::clone(client), config);
        let tell = Arc::clone(&failed);
        let (client, stopped) = (Arc::clone(client), Arc::clone(&stop));
        let serve = move || {
            let mut queue = client.main_queue();
            queue.wake(thread::current());
            while !stopped.load(Ordering::Acquire) {
                while let Some(event) = queue.poll(Duration::ZERO) {
                    if let Err(error) = events.serve(event.kind()) {
                        if tell.borrow().is_none() {
                            error!(client = %events.client_id, error = %error, "client has failed");
                        }
                        tell.send_replace(Some(error));
                    }
                }
                thread::park_timeout(EVENT_THREAD_IDLE);
            }
        };
        let thread = thread::Builder::new()
            .name(config.client_id().to_owned())
            .spawn(serve)
            .map_err(|error| KafkaError::new(ErrorClass::Retriable, format!("cannot start a thread: {error}")))?;
        Ok(Self { stop, thread: thread.thread().clone(), failed })
    }

    /// Told when the client fails; empty again after [`Self::works`].
    pub(super) fn failure(&self) -> watch::Receiver<Option<KafkaError>> {
        self.failed.subscribe()
    }

    /// To be called when a request was answered: what has failed before is over.
    pub(super) fn works(&self) {
        self.failed.send_if_modified(|failed| failed.take().is_some());
    }
}

impl Drop for EventThread {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        self.thread.unpark();
    }
}

/// How often logins were refused in a row.
#[derive(Debug, Default)]
struct Logins {
    n: u32,
    last: Option<Instant>,
}

impl Logins {
    /// Notes one more; true if these were enough.
    fn refused(&mut self, now: Instant) -> bool {
        if self.last.is_some_and(|last| now.duration_since(last) > REFUSED_LOGINS_APART) {
            self.n = 0;
        }
        self.n = self.n.saturating_add(1);
        self.last = Some(now);
        self.n >= REFUSED_LOGINS_MAX
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
    fn logins_that_are_refused_in_a_row_are_enough_and_others_are_not() {
        let start = Instant::now();
        let mut logins = Logins::default();
        let after = |seconds| start + Duration::from_secs(seconds);
        assert_eq!(
            [0, 200, 400, 430, 460].map(|second| logins.refused(after(second))),
            [false, false, false, true, true]
        );
    }

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
