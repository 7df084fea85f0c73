//! Assignments from a time when the topics were others: found, and made anew.
//!
//! A static member that comes back gets what it had, without a rebalance (KIP-345). When all members of a group come back
//! at once, none of them leads it in its own eyes, since the broker's answer names the leader by the id of its former life:
//! nobody sees that topics or partitions were added or left out meanwhile. Later clients are told (KIP-814); librdkafka
//! speaks the older request.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Weak,
    time::Duration,
};

use tokio::{
    sync::oneshot,
    time::{Instant, sleep},
};
use tracing::{info, warn};

use super::{Command, Shared, membership::Member, worker::Worker};
use crate::kafka::{
    client_config::ClientConfig,
    error::KafkaError,
    wire::{Cluster, GroupInfo},
};

/// How long a consumer is waited for until it is in its group.
const JOIN_TIMEOUT: Duration = Duration::from_secs(60);
/// The pause between looks, at first and at most.
const PAUSE_MIN: Duration = Duration::from_millis(50);
const PAUSE_MAX: Duration = Duration::from_secs(2);
/// The pause before a group that looks stale is looked at once more.
const SECOND_LOOK_PAUSE: Duration = Duration::from_secs(1);
/// How often the group is made to share its partitions out; after that, what is wrong has another reason.
const REBALANCES_MAX: u32 = 3;
/// Kafka's word for a group that has shared out its partitions.
const STABLE: &str = "Stable";

/// What a consumer is in its group at the moment.
pub(super) struct Standing {
    member: Option<Member>,
    topics: Vec<String>,
}

/// A consumer that is to leave its group: who waits for its partitions to be given up.
pub(super) type Leaving = oneshot::Sender<()>;

/// Compares, once after the start of a static member, what it has with the topics that it is to read, and, if
/// `looks_for_all`, what its whole group has with the partitions that there are; makes the group share them out anew if they
/// differ. What goes wrong is a warning.
///
/// Each member looks after itself, since an assignor may leave a member what it says it has.
///
/// # Cancel safety
/// Not to be cancelled: the consumer may be out of its group for a moment.
pub(super) async fn replace_if_stale(config: ClientConfig, looks_for_all: bool, shared: Weak<Shared>) {
    let client = config.client_id();
    match (Check { config: &config, looks_for_all, shared }).run().await {
        Ok(0) => {}
        Ok(rebalances) => {
            info!(client, rebalances, "topics had changed while the worker was away: partitions are shared out anew")
        }
        Err(error) => warn!(client, error = %error,
            "whether topics changed while the worker was away could not be looked up; new partitions are read when the \
             group shares them out the next time"),
    }
}

struct Check<'a> {
    config: &'a ClientConfig,
    looks_for_all: bool,
    /// The consumer is not kept alive for this.
    shared: Weak<Shared>,
}

impl Check<'_> {
    /// The number of rebalances that were needed.
    async fn run(&self) -> Result<u32, KafkaError> {
        let mut cluster = Cluster::new(self.config)?;
        let deadline = Instant::now() + JOIN_TIMEOUT;
        let (mut pause, mut rebalances, mut was_stale) = (PAUSE_MIN, 0, false);
        while Instant::now() < deadline {
            // Closed in the meantime, or no static member.
            let Some(Standing { member: Some(member), topics }) = self.ask(Command::Standing).await else { break };
            if !member.id.is_empty() && !topics.is_empty() {
                match self.is_stale(&mut cluster, &member, &topics).await? {
                    // Partitions that change hands are nobody's for a moment.
                    Some(true) if !std::mem::replace(&mut was_stale, true) => pause = SECOND_LOOK_PAUSE,
                    Some(true) if rebalances < REBALANCES_MAX => {
                        rebalances += 1;
                        (pause, was_stale) = (PAUSE_MIN, false);
                        self.join_anew(member).await;
                    }
                    Some(_) => break,
                    None => was_stale = false,
                }
            }
            sleep(pause).await;
            pause = PAUSE_MAX.min(pause * 2);
        }
        Ok(rebalances)
    }

    /// `None` while the group is not at rest with this member in it.
    async fn is_stale(
        &self,
        cluster: &mut Cluster,
        member: &Member,
        topics: &[String],
    ) -> Result<Option<bool>, KafkaError> {
        let Some(group) = cluster.group_members(&member.group).await? else { return Ok(None) };
        let Some(own) = group.members.iter().find(|other| other.member_id == member.id) else { return Ok(None) };
        if group.state != STABLE {
            return Ok(None);
        }
        if own.assigned.keys().any(|topic| !topics.contains(topic)) {
            return Ok(Some(true));
        }
        if !self.looks_for_all {
            return Ok(Some(false));
        }
        let there = cluster.partitions(topics).await?;
        Ok(Some(is_one_nobodys(&group, &there)))
    }

    /// Takes the consumer out of its group and back: the group shares its partitions out among those who are there.
    async fn join_anew(&self, member: Member) {
        if self.ask(Command::Unsubscribe).await.is_some() {
            member.give_up(self.config).await;
            if let Some(shared) = self.shared.upgrade() {
                shared.command(Command::Resubscribe);
            }
        }
    }

    async fn ask<T>(&self, command: impl FnOnce(oneshot::Sender<T>) -> Command) -> Option<T> {
        let (reply, answer) = oneshot::channel();
        self.shared.upgrade()?.command(command(reply));
        answer.await.ok()
    }
}

/// True if no member of the group has one of these partitions.
fn is_one_nobodys(group: &GroupInfo, there: &BTreeMap<String, i32>) -> bool {
    let of_members = group.members.iter().flat_map(|member| &member.assigned);
    let assigned: BTreeSet<(&str, i32)> =
        of_members.flat_map(|(topic, partitions)| partitions.iter().map(|p| (topic.as_str(), *p))).collect();
    there.iter().any(|(topic, n)| (0..*n).any(|partition| !assigned.contains(&(topic.as_str(), partition))))
}

impl Worker {
    pub(super) fn standing(&self) -> Standing {
        let member = if self.fenced { None } else { Member::of(&self.config, &self.parts.client) };
        Standing { member, topics: self.topics.clone() }
    }

    /// Gives all partitions up, as for a rebalance; the member stays in its group, since it is a static one.
    pub(super) fn unsubscribe(&mut self, reply: Leaving) {
        let none: [&str; 0] = [];
        self.warn_if(self.parts.client.subscribe(&none), "the partitions cannot be given up");
        self.unsubscribed = Some(reply);
    }

    /// Says so, once the task has let go of its partitions.
    pub(super) fn serve_unsubscribed(&mut self) {
        if self.assigned.is_empty()
            && let Some(reply) = self.unsubscribed.take()
        {
            // Nobody waits any more if the worker ends, and then this does too.
            reply.send(()).ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kafka::wire::GroupMember;

    fn member(assigned: &[(&str, &[i32])]) -> GroupMember {
        GroupMember {
            member_id: "id".to_owned(),
            instance_id: None,
            client_id: String::new(),
            host: String::new(),
            assigned: assigned.iter().map(|(topic, partitions)| ((*topic).to_owned(), partitions.to_vec())).collect(),
        }
    }

    #[test]
    fn a_partition_that_no_member_has_is_nobody_s() {
        for (what, members, expected) in [
            ("all are shared out", vec![member(&[("a", &[0, 1])]), member(&[("b", &[0])])], false),
            (
                "and others too",
                vec![member(&[("a", &[1, 2])]), member(&[("a", &[0]), ("b", &[0]), ("c", &[0])])],
                false,
            ),
            ("a partition is nobody's", vec![member(&[("a", &[0])]), member(&[("b", &[0])])], true),
            ("a topic is nobody's", vec![member(&[("a", &[0, 1])])], true),
            ("nobody has any", vec![member(&[])], true),
            ("nobody is there", vec![], true),
        ] {
            let group = GroupInfo { protocol_type: "consumer".to_owned(), state: STABLE.to_owned(), members };
            let there = BTreeMap::from([("a".to_owned(), 2), ("b".to_owned(), 1), ("empty".to_owned(), 0)]);
            assert_eq!(is_one_nobodys(&group, &there), expected, "{what}");
        }
    }
}
