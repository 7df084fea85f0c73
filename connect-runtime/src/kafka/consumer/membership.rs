//! Static members of consumer groups (KIP-345): the place that a consumer has in its group under a name, and how it is
//! given up when the consumer ends for good.
//!
//! librdkafka's consumer does not give it up: a broker keeps the partitions for the next one of the name, until the
//! session ends. That is what a worker wants that was killed and comes back, and nobody else.

use std::{fmt, time::Duration};

use tokio::time::timeout;
use tracing::{info, warn};

use crate::kafka::{client_config::ClientConfig, client_ids, error::KafkaError, ffi::Client, wire::Cluster};

/// How long it may take to give a place up; the broker does it by itself when the session ends.
const GIVE_UP_TIMEOUT: Duration = Duration::from_secs(2);
/// How long places that a killed worker has left are looked for.
const REMOVE_TIMEOUT: Duration = Duration::from_secs(60);

/// A place in a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Member {
    pub(super) group: String,
    /// `group.instance.id`.
    pub(super) instance: String,
    /// The broker's name for this one holder of the place: another holder is not touched. Empty while the consumer waits
    /// for the answer to its first request to join; the broker may have given it the place by then.
    pub(super) id: String,
}

impl Member {
    /// The place of a consumer; none if its members are dynamic.
    pub(super) fn of(config: &ClientConfig, client: &Client) -> Option<Self> {
        let instance =
            config.native("group.instance.id").filter(|_| config.native("group.protocol") != Some("consumer"))?;
        let id = client.member_id().unwrap_or_default();
        Some(Self { group: config.native("group.id")?.to_owned(), instance: instance.to_owned(), id })
    }

    /// Gives the place up, so that the other members have its partitions at once. What goes wrong is a warning.
    pub(super) async fn give_up(self, config: &ClientConfig) {
        let Self { group, instance, id } = &self;
        let asked = async { Cluster::new(config)?.give_up_place(group, instance, id).await };
        let error: &dyn fmt::Display = match timeout(GIVE_UP_TIMEOUT, asked).await {
            Ok(Ok(())) => return,
            Ok(Err(error)) => &error.to_string(),
            Err(_) => &"no answer in time",
        };
        warn!(group, member = instance, error = %error,
            "the group keeps the partitions of this member until its session ends");
    }
}

/// Removes from a sink connector's group the places of tasks that the connector has no more: a worker that was killed has
/// left them, and nobody else comes back to them. Runs as long as it takes, in the background; what goes wrong is a warning.
pub(super) async fn remove_places_beyond(config: &ClientConfig, connector: &str, n_tasks: u32) {
    let Some(group) = config.native("group.id").map(str::to_owned) else { return };
    let removed = timeout(REMOVE_TIMEOUT, remove(config, &group, connector, n_tasks)).await;
    let error: &dyn fmt::Display = match removed {
        Ok(Ok(places)) if places.is_empty() => return,
        Ok(Ok(places)) => {
            info!(connector, group, members = ?places, "members of tasks that are no more were removed from the group");
            return;
        }
        Ok(Err(error)) => &error.to_string(),
        Err(_) => &"no answer in time",
    };
    warn!(connector, group, error = %error,
        "members of tasks that are no more could not be looked for; if there are any, their partitions wait for the end of \
         their sessions");
}

async fn remove(config: &ClientConfig, group: &str, connector: &str, n_tasks: u32) -> Result<Vec<String>, KafkaError> {
    let mut cluster = Cluster::new(config)?;
    let Some(found) = cluster.group_members(group).await? else { return Ok(Vec::new()) };
    let instances = found.members.into_iter().filter_map(|member| member.instance_id);
    let is_beyond = |id: &String| client_ids::consumer_task(connector, id).is_some_and(|task| task >= n_tasks);
    let beyond: Vec<String> = instances.filter(is_beyond).collect();
    for (_, left) in cluster.leave_group(group, &beyond).await? {
        left?;
    }
    Ok(beyond)
}
