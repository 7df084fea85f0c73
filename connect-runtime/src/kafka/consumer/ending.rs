//! How a consumer ends: closed by its task, fenced, failed; and how one begins anew whose client has failed for a reason
//! that passes.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use connect_sdk::{sink::TopicPartition, task::ports::ConsumerEvent};
use rdkafka::error::RDKafkaErrorCode as Code;
use tracing::warn;

use super::{
    membership::Member,
    worker::{Parts, Worker},
};
use crate::kafka::{
    error::{ErrorClass, KafkaError},
    ffi::{Client, EventKind, Role},
    wire::{Cluster, GroupInfo},
};

/// How long the group may take to let the consumer go.
const LEAVE_TIMEOUT: Duration = Duration::from_secs(5);
const LEAVE_POLL: Duration = Duration::from_millis(10);
/// How long the group may take to say who has a place.
const ASK_TIMEOUT: Duration = Duration::from_secs(10);
/// A client that replaced a failed one has to work for this long; else the failure is the task's.
const RENEW_INTERVAL_MIN: Duration = Duration::from_secs(30);

/// True if nobody has this place in the group but a member of one of these ids, all of which are one's own.
fn is_free(group: Option<&GroupInfo>, instance: &str, own: &[&str]) -> bool {
    let mut members = group.into_iter().flat_map(|group| &group.members);
    let holder = members.find(|member| member.instance_id.as_deref() == Some(instance));
    holder.is_none_or(|holder| own.contains(&holder.member_id.as_str()))
}

impl Worker {
    /// Nothing comes any more: the task gets the error once it has heard what came before.
    ///
    /// A consumer whose place another one has taken brings nothing else: what it has read is the other one's to write, and
    /// a last commit would be refused.
    pub(super) fn fail(&mut self, error: KafkaError) {
        let is_fenced = error.class() == ErrorClass::Fenced;
        let lost: Vec<_> =
            if is_fenced { std::mem::take(&mut self.assigned).into_keys().collect() } else { Vec::new() };
        let error = if is_fenced { self.fenced(&error) } else { error };
        self.fenced |= is_fenced;
        self.shared.tell(|state| {
            if is_fenced {
                state.batches.clear();
                state.control.retain(|event| matches!(event, ConsumerEvent::Committed { .. } | ConsumerEvent::Lost(_)));
            }
            if !lost.is_empty() {
                state.control.push_back(ConsumerEvent::Lost(lost));
            }
            state.failed = Some(error);
        });
    }

    fn fenced(&self, error: &KafkaError) -> KafkaError {
        let [group, id] = ["group.id", "group.instance.id"].map(|key| self.config.native(key).unwrap_or_default());
        let text = format!(
            "another consumer has taken the place of this task, `{id}` in the group `{group}`: the same connector runs in \
             another worker too, and only the one that was started last goes on ({error})"
        );
        KafkaError::new(ErrorClass::Fenced, text)
    }

    /// True if a new client may go on where this one has failed. Under KIP-848 a member that was away for longer than
    /// `max.poll.interval.ms` fails with this code when it comes back.
    pub(super) fn can_be_renewed(&self, error: &KafkaError) -> bool {
        error.code() == Some(Code::InvalidRequest)
            && self.config.native("group.protocol") == Some("consumer")
            && self.renewed.is_none_or(|last| last.elapsed() >= RENEW_INTERVAL_MIN)
    }

    /// True if a client calls itself fenced although no other consumer has its place, as its group tells.
    ///
    /// That happens while a broker is away for longer than the session: the client joins again under another id, and what
    /// it had asked under the one before is refused with the code of a place that was taken.
    pub(super) fn is_fenced_by_nobody(&self, error: &KafkaError) -> bool {
        let renewable = self.renewed.is_none_or(|last| last.elapsed() >= RENEW_INTERVAL_MIN);
        let (ErrorClass::Fenced, true, Some(runtime)) = (error.class(), renewable, &self.runtime) else { return false };
        let Some(place) = Member::of(&self.config, &self.parts.client) else { return false };
        let asked = async { Cluster::new(&self.config)?.group_members(&place.group).await };
        match runtime.block_on(async { tokio::time::timeout(ASK_TIMEOUT, asked).await }) {
            Ok(Ok(group)) => is_free(group.as_ref(), &place.instance, &[&place.id, &self.member_id]),
            // Not known: then it is believed.
            Ok(Err(_)) | Err(_) => false,
        }
    }

    /// Replaces the client by a new one, which joins the group as a new member. All partitions count as lost.
    pub(super) fn renew(&mut self, error: &KafkaError) -> Result<Arc<Client>, KafkaError> {
        warn!(client = %self.id, error = %error, "the consumer has failed, joining the group anew");
        let client = Client::new(Role::Consumer, &self.config.entries)
            .map_err(|error| KafkaError::native(&error, "cannot create a consumer"))?;
        let queue = client
            .consumer_queue()
            .ok_or_else(|| KafkaError::new(ErrorClass::Fatal, "cannot create a consumer: `group.id` is not set"))?;
        self.parts.commits.abandon();
        self.serve_commits();
        let lost: Vec<Arc<TopicPartition>> = std::mem::take(&mut self.assigned).into_keys().collect();
        if !lost.is_empty() {
            self.lose(lost);
        }
        self.reader.forget_names();
        self.leaving = false;
        self.renewed = Some(Instant::now());
        self.parts = Parts::new(Arc::clone(&client), queue, &self.config);
        self.subscribe();
        Ok(client)
    }

    /// Leaves the group. The task has committed before; what is still under way is waited for.
    pub(super) fn leave(mut self) {
        let member = if self.fenced { None } else { Member::of(&self.config, &self.parts.client) };
        let Parts { client, queue, commits, .. } = &mut self.parts;
        let deadline = Instant::now() + LEAVE_TIMEOUT;
        if client.close(queue).is_ok() {
            while !client.is_closed() && Instant::now() < deadline {
                if let Some(event) = queue.poll(LEAVE_POLL)
                    && let EventKind::Rebalance { partitions, .. } = event.kind()
                {
                    let given_up = if client.is_cooperative() {
                        client.incremental_unassign(&partitions)
                    } else {
                        client.unassign()
                    };
                    if let Err(code) = given_up {
                        warn!(client = %self.id, error = %code, "partitions cannot be given up");
                    }
                }
                commits.serve();
            }
        }
        let closing = self.closing.take();
        drop(self);
        if let Some(reply) = closing {
            // Nobody may wait any more, which is no fault.
            reply.send(member).ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kafka::wire::GroupMember;
    use std::collections::BTreeMap;

    #[test]
    fn a_place_is_free_if_nobody_or_oneself_has_it() {
        let member = |id: &str, instance: Option<&str>| GroupMember {
            member_id: id.to_owned(),
            instance_id: instance.map(str::to_owned),
            client_id: String::new(),
            host: String::new(),
            assigned: BTreeMap::new(),
        };
        for (what, members, expected) in [
            ("nobody is in the group", vec![], true),
            ("it is one's own", vec![member("b", Some("place"))], true),
            ("it was one's own a moment ago", vec![member("a", Some("place"))], true),
            ("others have other places", vec![member("x", Some("other")), member("y", None)], true),
            ("another one has it", vec![member("y", None), member("x", Some("place"))], false),
        ] {
            let group = GroupInfo { protocol_type: "consumer".to_owned(), state: "Stable".to_owned(), members };
            assert_eq!(is_free(Some(&group), "place", &["b", "a"]), expected, "{what}");
        }
        assert!(is_free(None, "place", &["b", ""]), "there is no group");
    }
}
