//! Who is in a group, and sending static members away.

use std::collections::BTreeMap;

use kafka_protocol::{
    messages::{
        ConsumerGroupDescribeRequest, DescribeGroupsRequest, GroupId, LeaveGroupRequest,
        leave_group_request::MemberIdentity,
    },
    protocol::StrBytes,
};
use rdkafka::error::RDKafkaErrorCode as Code;

use super::{
    assignment,
    cluster::{Cluster, Retry},
};
use crate::kafka::KafkaError;

/// Kafka's word for the state of a group that does not exist.
const DEAD: &str = "Dead";
/// The protocol type of consumers. Groups in which brokers assign (KIP-848) have it too, though their answers do not
/// name it.
const CONSUMER: &str = "consumer";
/// Why a member was sent away, for the broker's log.
const REASON: &str = "removed by its Connect worker";

/// A group, as its coordinator describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupInfo {
    /// `consumer` for consumers, `connect` for Connect workers; empty for a group that has offsets and no members.
    pub protocol_type: String,
    /// Kafka's word for its state, such as `Stable`, `PreparingRebalance` or `Empty`.
    pub state: String,
    /// Its members.
    pub members: Vec<GroupMember>,
}

/// A member of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupMember {
    /// The id that the coordinator gave it.
    pub member_id: String,
    /// Its `group.instance.id`, if it is a static member.
    pub instance_id: Option<String>,
    /// Its `client.id`.
    pub client_id: String,
    /// Where it connects from, as the broker sees it: `/10.0.0.7`.
    pub host: String,
    /// The partitions that the group has given it, by topic. Empty for what is no consumer.
    pub assigned: BTreeMap<String, Vec<i32>>,
}

impl GroupMember {
    fn new(
        [member_id, client_id, host]: [&StrBytes; 3],
        instance_id: Option<StrBytes>,
        assigned: BTreeMap<String, Vec<i32>>,
    ) -> Self {
        Self {
            member_id: member_id.to_string(),
            instance_id: instance_id.map(|id| id.to_string()),
            client_id: client_id.to_string(),
            host: host.to_string(),
            assigned,
        }
    }
}

impl Cluster {
    /// Who is in a group; `None` if there is no such group.
    ///
    /// # Errors
    /// Retriable: the coordinator was not found or did not answer, after attempts for a minute. Fatal: no login, or no
    /// right to describe the group.
    ///
    /// # Cancel safety
    /// Nothing is changed by asking.
    pub async fn group_members(&mut self, group: &str) -> Result<Option<GroupInfo>, KafkaError> {
        let mut retry = Retry::new(&self.settings);
        loop {
            match retry.attempt(self.group_members_once(group)).await {
                Ok(info) => return Ok(info),
                Err(error) => retry.after(error).await?,
            }
        }
    }

    async fn group_members_once(&mut self, group: &str) -> Result<Option<GroupInfo>, KafkaError> {
        let mut request = DescribeGroupsRequest::default();
        request.groups = vec![group_id(group)];
        let answer = self.ask_coordinator(group, &request).await?;
        let described = answer.groups.into_iter().next().ok_or_else(|| left_out(group))?;
        let error = answered(described.error_code, group, described.error_message.as_deref());
        match error {
            // Since Kafka 4.0 an error, before it a state; and what groups of the newer protocol are to this request.
            Some(error) if error.code() == Some(Code::GroupIdNotFound) => return self.consumer_group(group).await,
            None if &*described.group_state == DEAD => return self.consumer_group(group).await,
            Some(error) => return Err(error),
            None => {}
        }
        let is_of_consumers = &*described.protocol_type == CONSUMER;
        let members = described.members.into_iter().map(|member| {
            let assigned = assignment::partitions(&member.member_assignment).filter(|_| is_of_consumers);
            let names = [&member.member_id, &member.client_id, &member.client_host];
            GroupMember::new(names, member.group_instance_id, assigned.unwrap_or_default())
        });
        Ok(Some(GroupInfo {
            protocol_type: described.protocol_type.to_string(),
            state: described.group_state.to_string(),
            members: members.collect(),
        }))
    }

    /// The same for a group of the newer protocol (KIP-848).
    async fn consumer_group(&mut self, group: &str) -> Result<Option<GroupInfo>, KafkaError> {
        let mut request = ConsumerGroupDescribeRequest::default();
        request.group_ids = vec![group_id(group)];
        let answer = match self.ask_coordinator(group, &request).await {
            // A broker that does not know the protocol has no group that uses it.
            Err(error) if error.is_unsupported() => return Ok(None),
            answer => answer?,
        };
        let described = answer.groups.into_iter().next().ok_or_else(|| left_out(group))?;
        match answered(described.error_code, group, described.error_message.as_deref()) {
            Some(error) if error.is_unsupported() || error.code() == Some(Code::GroupIdNotFound) => return Ok(None),
            Some(error) => return Err(error),
            None => {}
        }
        let members = described.members.into_iter().map(|member| {
            let assigned = member.assignment.topic_partitions.into_iter();
            let assigned = assigned.map(|of| (of.topic_name.to_string(), of.partitions)).collect();
            let names = [&member.member_id, &member.client_id, &member.client_host];
            GroupMember::new(names, member.instance_id, assigned)
        });
        Ok(Some(GroupInfo {
            protocol_type: CONSUMER.to_owned(),
            state: described.group_state.to_string(),
            members: members.collect(),
        }))
    }

    /// Sends static members away by their `group.instance.id`, so that their partitions are free at once and not only
    /// after `session.timeout.ms`. A member that is not there counts as gone. Answers for each id what became of it.
    ///
    /// # Errors
    /// Of the request as a whole; then some members may be gone and others not, and it may be sent again. Retriable: the
    /// coordinator was not found or did not answer, after attempts for a minute. Fatal: no login, or no right to read the
    /// group. An error of one member is in the answer.
    ///
    /// # Cancel safety
    /// The members may or may not be gone.
    pub async fn leave_group(
        &mut self,
        group: &str,
        instance_ids: &[String],
    ) -> Result<BTreeMap<String, Result<(), KafkaError>>, KafkaError> {
        if instance_ids.is_empty() {
            return Ok(BTreeMap::new());
        }
        let mut retry = Retry::new(&self.settings);
        loop {
            match retry.attempt(self.leave_group_once(group, instance_ids, "")).await {
                Ok(left) => return Ok(left),
                Err(error) => retry.after(error).await?,
            }
        }
    }

    /// Gives up the place of one static member, if it is still held by the member that the coordinator has given this id;
    /// a later holder of the place keeps it.
    ///
    /// # Errors
    /// As of [`Self::leave_group`], and Fatal: no right to read the group.
    ///
    /// # Cancel safety
    /// The place may or may not be given up.
    pub async fn give_up_place(&mut self, group: &str, instance_id: &str, member_id: &str) -> Result<(), KafkaError> {
        let instance_ids = [instance_id.to_owned()];
        let mut retry = Retry::new(&self.settings);
        loop {
            match retry.attempt(self.leave_group_once(group, &instance_ids, member_id)).await {
                Ok(left) => {
                    let left = left.into_values().next().unwrap_or(Ok(()));
                    return left.or_else(|error| match error.code() {
                        Some(Code::FencedInstanceId) => Ok(()),
                        _ => Err(error),
                    });
                }
                Err(error) => retry.after(error).await?,
            }
        }
    }

    /// An empty `member_id` stands for whoever has the place.
    async fn leave_group_once(
        &mut self,
        group: &str,
        instance_ids: &[String],
        member_id: &str,
    ) -> Result<BTreeMap<String, Result<(), KafkaError>>, KafkaError> {
        let member = |id: &String| {
            let mut member = MemberIdentity::default();
            member.member_id = StrBytes::from_string(member_id.to_owned());
            member.group_instance_id = Some(StrBytes::from_string(id.clone()));
            member.reason = Some(StrBytes::from_static_str(REASON));
            member
        };
        let mut request = LeaveGroupRequest::default();
        request.group_id = group_id(group);
        request.members = instance_ids.iter().map(member).collect();
        let answer = self.ask_coordinator(group, &request).await?;
        let what = format!("members of group `{group}` cannot be sent away");
        match answer.error_code {
            0 => {}
            code => {
                let error = KafkaError::answered(code, &what, "");
                // There is no such group, so nobody is in it.
                if !matches!(error.code(), Some(Code::UnknownMemberId | Code::GroupIdNotFound)) {
                    return Err(error);
                }
                return Ok(instance_ids.iter().map(|id| (id.clone(), Ok(()))).collect());
            }
        }
        let mut left: BTreeMap<String, Result<(), KafkaError>> = BTreeMap::new();
        for member in answer.members {
            let Some(id) = member.group_instance_id else { continue };
            let what = format!("member `{}` of group `{group}` cannot be sent away", &*id);
            let error = (member.error_code != 0).then(|| KafkaError::answered(member.error_code, &what, ""));
            let error = error.filter(|error| error.code() != Some(Code::UnknownMemberId));
            left.insert(id.to_string(), error.map_or(Ok(()), Err));
        }
        for id in instance_ids {
            left.entry(id.clone()).or_insert_with(|| {
                Err(KafkaError::coded(Code::BadMessage, &what, &format!("the answer does not name member `{id}`")))
            });
        }
        Ok(left)
    }
}

fn group_id(group: &str) -> GroupId {
    GroupId(StrBytes::from_string(group.to_owned()))
}

fn described(group: &str) -> String {
    format!("group `{group}` cannot be described")
}

fn answered(code: i16, group: &str, why: Option<&str>) -> Option<KafkaError> {
    (code != 0).then(|| KafkaError::answered(code, &described(group), why.unwrap_or_default()))
}

fn left_out(group: &str) -> KafkaError {
    KafkaError::coded(Code::BadMessage, &described(group), "the broker's answer does not name it")
}
