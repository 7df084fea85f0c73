//! Fencing: before the tasks of an exactly-once source are started, everything that still has one of their transactional
//! ids is cut off (KIP-618).

use connect_sdk::{
    erased::{BoxFuture, Properties},
    error::{Result, TaskError},
};
use std::{collections::BTreeSet, time::Duration};

/// How often a round of fencing is tried; each try itself waits for brokers for more than a minute.
const ROUNDS_MAX: u32 = 3;
/// Pause between two tries.
const ROUND_PAUSE: Duration = Duration::from_secs(1);

/// What the transactional ids of a connector's tasks begin with; the number of the task follows. As in Kafka, so that a
/// worker in Java fences ours and is fenced by us.
pub(crate) fn id_prefix(group: &str, connector: &str) -> String {
    format!("{group}-{connector}-")
}

/// What is known of a connector's transactional ids before its tasks are started.
#[derive(Debug)]
pub(crate) enum KnownIds {
    /// Those that the brokers have. There are no others.
    Listed(Vec<String>),
    /// The brokers cannot be asked, for this reason.
    Unlisted(String),
}

/// What fencing asks of Kafka.
pub(crate) trait Fencing: Send + Sync {
    /// What the transactional ids of a connector's tasks begin with.
    fn transactional_id_prefix(&self, name: &str) -> String;

    /// The transactional ids that the brokers know and that begin as those of a connector's tasks.
    ///
    /// # Errors
    /// Retriable while brokers do not answer; fatal: no login, no right.
    fn transactional_ids<'a>(&'a self, name: &'a str, connector: &'a Properties) -> BoxFuture<'a, Result<KnownIds>>;

    /// Fences whoever has the transactional ids of these tasks.
    ///
    /// # Errors
    /// Retriable while brokers do not answer; fatal: no login, no right.
    fn fence<'a>(&'a self, name: &'a str, connector: &'a Properties, tasks: Vec<u32>) -> BoxFuture<'a, Result<()>>;
}

/// The numbers whose ids are fenced before `n_tasks` tasks are started; `n_before` is how many the generation before had,
/// as far as this process knows. Pure.
///
/// None where nothing but the only task has an id: its own start fences that before it reads offsets. Several are all fenced,
/// since source partitions may move between tasks.
fn to_fence(prefix: &str, known: &KnownIds, n_tasks: u32, n_before: u32) -> BTreeSet<u32> {
    let of_tasks: BTreeSet<u32> = match known {
        // Other connectors have longer names: only digits may follow.
        KnownIds::Listed(ids) => ids.iter().filter_map(|id| task_number(id.strip_prefix(prefix)?)).collect(),
        KnownIds::Unlisted(_) => (0..n_before.max(n_tasks)).collect(),
    };
    if of_tasks.is_empty() || (n_tasks <= 1 && of_tasks.iter().eq([&0])) {
        return BTreeSet::new();
    }
    of_tasks.into_iter().chain(0..n_tasks).collect()
}

/// The number that is written in this text, if it is written as ids are.
fn task_number(text: &str) -> Option<u32> {
    text.parse().ok().filter(|n: &u32| n.to_string() == text)
}

/// Fences every task of the generations before, however many they had, and in whatever process they are.
///
/// # Errors
/// Fatal where nothing but a change of rights or configuration helps. Retriable if brokers did not answer: no task may be
/// started, since an older one may still write.
///
/// # Cancel safety
/// Ids that are being taken may be taken still.
pub(crate) async fn fence_tasks(
    clients: &dyn Fencing,
    connector: &str,
    properties: &Properties,
    n_tasks: u32,
    n_before: u32,
) -> Result<()> {
    let mut round = 1;
    loop {
        match try_round(clients, connector, properties, n_tasks, n_before).await {
            Err(TaskError::Retriable { cause, .. }) if round < ROUNDS_MAX => {
                tracing::warn!(connector, round, error = %cause, "older tasks could not be fenced; trying again");
                tokio::time::sleep(ROUND_PAUSE).await;
                round += 1;
            }
            end => return end,
        }
    }
}

async fn try_round(
    clients: &dyn Fencing,
    connector: &str,
    properties: &Properties,
    n_tasks: u32,
    n_before: u32,
) -> Result<()> {
    let known = clients.transactional_ids(connector, properties).await?;
    if let KnownIds::Unlisted(why) = &known {
        tracing::warn!(
            connector,
            %why,
            "the brokers cannot be asked for transactional ids; tasks of an earlier run with more tasks are not fenced"
        );
    }
    let numbers = to_fence(&clients.transactional_id_prefix(connector), &known, n_tasks, n_before);
    if numbers.is_empty() {
        return Ok(());
    }
    tracing::info!(connector, tasks = numbers.len(), "fencing older tasks");
    clients.fence(connector, properties, numbers.into_iter().collect()).await
}

#[cfg(test)]
mod tests;
