//! Watches which topics there are, for subscriptions by a pattern: the pattern is ours, Kafka's client gets the list.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, Thread},
    time::Duration,
};

use tracing::{info, warn};

use super::{Command, Shared};
use crate::kafka::{
    admin::topic_names,
    client_config::ClientConfig,
    error::{ErrorClass, KafkaError},
    ffi::Client,
};

/// How long one look may take.
const LOOK_TIMEOUT: Duration = Duration::from_secs(10);
/// The pause after a look that failed.
const RETRY_PAUSE: Duration = Duration::from_secs(1);
/// Kafka's own topics, which a pattern does not mean.
const INTERNAL: [&str; 3] = ["__consumer_offsets", "__transaction_state", "__share_group_state"];

/// Ends the watching when it is dropped.
pub(super) struct Watch {
    client: Arc<Mutex<Arc<Client>>>,
    stop: Arc<AtomicBool>,
    thread: Thread,
}

impl Watch {
    /// Goes on with another client.
    pub(super) fn look_through(&self, client: Arc<Client>) {
        *self.client.lock().unwrap_or_else(PoisonError::into_inner) = client;
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        self.thread.unpark();
    }
}

/// Starts to watch: each change becomes a new subscription.
pub(super) fn watch(
    client: Arc<Client>,
    shared: Arc<Shared>,
    config: &ClientConfig,
    accepts: Box<dyn Fn(&str) -> bool + Send>,
) -> Result<Watch, KafkaError> {
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&stop);
    let client = Arc::new(Mutex::new(client));
    let looks_through = Arc::clone(&client);
    let (interval, id) = (config.metadata_max_age(), config.client_id().to_owned());
    let internal = !config.exclude_internal_topics();
    let look = move || {
        let mut subscribed: Option<Vec<String>> = None;
        let mut failing = false;
        while !stopped.load(Ordering::Acquire) {
            let client = Arc::clone(&looks_through.lock().unwrap_or_else(PoisonError::into_inner));
            let names = topic_names(&client, LOOK_TIMEOUT);
            // Not kept over the pause: the consumer may have replaced it by then.
            drop(client);
            let pause = match names {
                Ok(mut topics) => {
                    failing = false;
                    topics.retain(|topic| (internal || !INTERNAL.contains(&topic.as_str())) && accepts(topic));
                    topics.sort_unstable();
                    if subscribed.as_ref() != Some(&topics) {
                        info!(client = %id, topics = ?topics, "topics that match `topics.regex` have changed");
                        subscribed = Some(topics.clone());
                        shared.command(Command::Subscribe(topics));
                    }
                    interval
                }
                Err(error) => {
                    if !std::mem::replace(&mut failing, true) {
                        warn!(client = %id, error = %error, "topics cannot be looked up, trying again");
                    }
                    RETRY_PAUSE
                }
            };
            if !stopped.load(Ordering::Acquire) {
                thread::park_timeout(pause);
            }
        }
    };
    let thread = thread::Builder::new()
        .name(format!("topics {}", config.client_id()))
        .spawn(look)
        .map_err(|error| KafkaError::new(ErrorClass::Retriable, format!("cannot start a thread: {error}")))?;
    Ok(Watch { client, stop, thread: thread.thread().clone() })
}
