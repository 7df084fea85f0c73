//! The thread of a consumer.

use std::{
    collections::BTreeMap,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use connect_sdk::{sink::TopicPartition, task::ports::ConsumerEvent};
use rdkafka::error::RDKafkaErrorCode as Code;
use tokio::{runtime::Handle, sync::oneshot};
use tracing::warn;

use super::{
    BATCHES_WAITING_MAX, BatchReader, Command, Shared,
    commits::{Commits, Waits},
    membership::Member,
    stale_assignment::Leaving,
    start::Reset,
    topics::Watch,
};
use crate::kafka::{
    client_config::ClientConfig,
    client_events::ClientEvents,
    error::KafkaError,
    ffi::{Client, EventKind, Partitions, Queue},
};

/// The thread looks around at least this often; whatever happens wakes it.
pub(super) const IDLE_MAX: Duration = Duration::from_millis(500);
/// How long a seek may take; it is a word between librdkafka's threads, no request.
const SEEK_TIMEOUT: Duration = Duration::from_secs(5);

/// An assigned partition.
#[derive(Debug, Clone, Copy)]
pub(super) struct Assigned {
    /// The offset of the record that comes next.
    pub(super) next: i64,
    pub(super) paused: bool,
}

pub(super) struct Worker {
    pub(super) shared: Arc<Shared>,
    pub(super) config: ClientConfig,
    pub(super) id: String,
    /// How long the task may take over a rebalance.
    pub(super) patience: Duration,
    pub(super) reset: Reset,
    pub(super) topics: Vec<String>,
    pub(super) assigned: BTreeMap<Arc<TopicPartition>, Assigned>,
    /// The group is being left to join it anew: what still comes is nobody's.
    pub(super) leaving: bool,
    /// Who waits until all partitions are given up.
    pub(super) unsubscribed: Option<Leaving>,
    /// When the client was replaced for the last time.
    pub(super) renewed: Option<Instant>,
    /// Another consumer has its place.
    pub(super) fenced: bool,
    /// The broker's name for this member when it was given partitions the last time.
    pub(super) member_id: String,
    /// Where questions to the group are asked; none in tests.
    pub(super) runtime: Option<Handle>,
    pub(super) reader: BatchReader,
    pub(super) closing: Option<oneshot::Sender<Option<Member>>>,
    pub(super) parts: Parts,
}

/// The client and what belongs to it.
pub(super) struct Parts {
    pub(super) events: ClientEvents,
    // Queues are destroyed before the client, which all of them hold.
    pub(super) commits: Commits,
    pub(super) records: Queue,
    pub(super) queue: Queue,
    pub(super) client: Arc<Client>,
}

impl Parts {
    /// To be called on the thread that the queues are to wake.
    pub(super) fn new(client: Arc<Client>, mut queue: Queue, config: &ClientConfig) -> Self {
        let mut records = client.new_queue();
        let mut answers = client.new_queue();
        for queue in [&mut queue, &mut records, &mut answers] {
            queue.wake(thread::current());
        }
        let events = ClientEvents::new(Arc::clone(&client), config);
        Self { events, commits: Commits::new(Arc::clone(&client), answers), records, queue, client }
    }
}

impl Worker {
    pub(super) fn new(shared: Arc<Shared>, client: Arc<Client>, queue: Queue, config: ClientConfig) -> Self {
        Self {
            shared,
            parts: Parts::new(client, queue, &config),
            id: config.client_id().to_owned(),
            patience: config.max_poll_interval() / 10 * 9,
            reset: Reset::of(&config),
            topics: Vec::new(),
            assigned: BTreeMap::new(),
            leaving: false,
            unsubscribed: None,
            renewed: None,
            fenced: false,
            member_id: String::new(),
            runtime: None,
            reader: BatchReader::new(config.max_poll_records()),
            closing: None,
            config,
        }
    }

    pub(super) fn run(mut self, watch: Option<Watch>) {
        let idle = IDLE_MAX.min(self.patience / 4).max(Duration::from_millis(1));
        while self.closing.is_none() {
            match self.turn() {
                Ok(true) => {}
                Ok(false) => thread::park_timeout(idle),
                Err(error) if self.can_be_renewed(&error) || self.is_fenced_by_nobody(&error) => {
                    match self.renew(&error) {
                        Ok(client) => {
                            if let Some(watch) = &watch {
                                watch.look_through(client);
                            }
                        }
                        Err(error) => self.shared.tell(|state| state.failed = Some(error)),
                    }
                }
                Err(error) => {
                    self.fail(error);
                    // The task will drop or close the consumer; until then there is nothing to do.
                    while self.closing.is_none() {
                        let worked = self.carry_out_commands() | self.serve_commits();
                        if !worked {
                            thread::park_timeout(idle);
                        }
                    }
                }
            }
        }
        drop(watch);
        self.leave();
    }

    /// One look at everything; false if there was nothing to do.
    fn turn(&mut self) -> Result<bool, KafkaError> {
        let mut worked = self.carry_out_commands();
        if self.closing.is_some() {
            return Ok(true);
        }
        while let Some(event) = self.parts.queue.poll(Duration::ZERO) {
            worked = true;
            self.on_event(event.kind())?;
            if self.closing.is_some() {
                return Ok(true);
            }
        }
        worked |= self.serve_commits();
        self.serve_unsubscribed();
        if let Some(fenced) = self.parts.commits.fenced.take() {
            return Err(fenced);
        }
        worked |= self.read_records()?;
        Ok(worked)
    }

    fn on_event(&mut self, event: EventKind) -> Result<(), KafkaError> {
        if let EventKind::Error { code, fatal: false, text } = &event
            && ends_task(*code)
        {
            let group = self.config.native("group.id").unwrap_or_default();
            return Err(
                KafkaError::coded(*code, &format!("the consumer of group `{group}` cannot go on"), text).fatal()
            );
        }
        match self.parts.events.serve(event)? {
            Some(EventKind::Rebalance { assign: true, partitions }) => self.on_assigned(&partitions),
            Some(EventKind::Rebalance { assign: false, partitions }) => self.on_revoked(&partitions),
            _ => Ok(()),
        }
    }

    // ---- commands

    pub(super) fn carry_out_commands(&mut self) -> bool {
        let mut worked = false;
        loop {
            let command = self.shared.lock().commands.pop_front();
            let Some(command) = command else { return worked };
            worked = true;
            self.carry_out(command);
        }
    }

    fn carry_out(&mut self, command: Command) {
        match command {
            Command::Commit { number, offsets } => self.parts.commits.start(offsets, Waits::Event(number)),
            Command::CommitNow { offsets, reply } => self.parts.commits.start(offsets, Waits::Reply(reply)),
            Command::Pause(partitions) => self.pause(&partitions),
            Command::Resume(partitions) => self.resume(&partitions),
            Command::Seek(to) => self.seek(&to),
            Command::Subscribe(topics) => {
                self.topics = topics;
                self.subscribe();
            }
            Command::Standing(reply) => {
                // Nobody waits any more if the worker ends.
                reply.send(self.standing()).ok();
            }
            Command::Unsubscribe(reply) => self.unsubscribe(reply),
            Command::Resubscribe => self.subscribe(),
            Command::Close(reply) => self.closing = Some(reply),
        }
    }

    pub(super) fn subscribe(&self) {
        if let Err(code) = self.parts.client.subscribe(&self.topics) {
            let error = KafkaError::coded(code, &format!("cannot subscribe to {:?}", self.topics), "").fatal();
            self.shared.tell(|state| state.failed = Some(error));
        }
    }

    /// The partitions of a list that are assigned, with their positions; others have gone in the meantime.
    fn known<'a>(&self, partitions: impl Iterator<Item = &'a Arc<TopicPartition>>) -> Partitions {
        let mut list = Partitions::new();
        for partition in partitions {
            if let Some(assigned) = self.assigned.get(partition) {
                list.add(&partition.topic, partition.partition, assigned.next);
            }
        }
        list
    }

    fn pause(&mut self, partitions: &[Arc<TopicPartition>]) {
        // What waits for the task is delivered after the pause: it is read again.
        let mut rewound: BTreeMap<Arc<TopicPartition>, i64> = BTreeMap::new();
        let mut state = self.shared.lock();
        for batch in &state.batches {
            for record in &batch.records {
                let partition = &batch.partitions[record.partition as usize];
                if partitions.contains(partition) {
                    rewound.entry(Arc::clone(partition)).or_insert(record.offset);
                }
            }
        }
        state.drop_records(|partition| partitions.iter().any(|paused| **paused == *partition));
        drop(state);
        for partition in partitions {
            if let Some(assigned) = self.assigned.get_mut(partition) {
                assigned.paused = true;
                if let Some(offset) = rewound.get(partition) {
                    assigned.next = *offset;
                }
            }
        }
        let list = self.known(partitions.iter());
        self.warn_if(self.parts.client.pause(&list), "partitions cannot be paused");
    }

    fn resume(&mut self, partitions: &[Arc<TopicPartition>]) {
        for partition in partitions {
            if let Some(assigned) = self.assigned.get_mut(partition) {
                assigned.paused = false;
            }
        }
        let list = self.known(partitions.iter());
        self.warn_if(self.parts.client.resume(&list), "partitions cannot be resumed");
        // Nothing wakes the fetching thread after a resume but a seek; and records that had waited are read again.
        self.seek_to(&list);
    }

    fn seek(&mut self, to: &[(Arc<TopicPartition>, i64)]) {
        for (partition, offset) in to {
            if let Some(assigned) = self.assigned.get_mut(partition) {
                assigned.next = *offset;
            }
        }
        let list = self.known(to.iter().map(|(partition, _)| partition));
        self.seek_to(&list);
    }

    fn seek_to(&self, list: &Partitions) {
        if !list.is_empty() {
            self.warn_if(self.parts.client.seek(list, SEEK_TIMEOUT), "positions cannot be set");
        }
        for failed in list.iter().filter(|entry| entry.error.is_some()) {
            warn!(client = %self.id, topic = failed.topic, partition = failed.partition, error = ?failed.error,
                "position cannot be set");
        }
    }

    pub(super) fn warn_if(&self, result: Result<(), Code>, what: &'static str) {
        if let Err(code) = result {
            warn!(client = %self.id, error = %code, "{what}");
        }
    }

    pub(super) fn serve_commits(&mut self) -> bool {
        let mut worked = self.parts.commits.serve();
        if !self.parts.commits.ended.is_empty() {
            worked = true;
            let ended = std::mem::take(&mut self.parts.commits.ended);
            if ended.iter().any(|(_, result)| result.is_ok()) {
                self.parts.events.alive();
            }
            self.shared.tell(|state| {
                let events = ended.into_iter().map(|(number, result)| ConsumerEvent::Committed { number, result });
                state.control.extend(events);
            });
        }
        worked
    }

    // ---- records

    fn read_records(&mut self) -> Result<bool, KafkaError> {
        if self.leaving || self.shared.lock().batches.len() >= BATCHES_WAITING_MAX {
            return Ok(false);
        }
        let read = self
            .reader
            .read(&self.parts.records)
            .map_err(|code| KafkaError::coded(code, "records cannot be read", "").fatal())?;
        for (code, text) in read.errors {
            if code != Code::PartitionEOF {
                self.on_event(EventKind::Error { code, fatal: false, text })?;
            }
        }
        let Some(mut batch) = read.batch else { return Ok(false) };
        self.parts.events.alive();
        // The positions may lie behind markers of transactions.
        let mut positions = self.known(batch.partitions.iter());
        if self.parts.client.positions(&mut positions).is_ok() {
            for entry in positions.iter().filter(|entry| entry.error.is_none()) {
                let place = batch
                    .partitions
                    .iter()
                    .position(|partition| partition.partition == entry.partition && *partition.topic == *entry.topic);
                if let Some(place) = place {
                    batch.positions[place] = batch.positions[place].max(entry.offset);
                }
            }
        }
        for (partition, position) in batch.partitions.iter().zip(&batch.positions) {
            if let Some(assigned) = self.assigned.get_mut(partition) {
                assigned.next = *position;
            }
        }
        self.shared.tell(|state| {
            state.batches.push_back(batch);
            // A seek that is not carried out yet makes records of its partitions obsolete.
            let sought: Vec<Arc<TopicPartition>> = state
                .commands
                .iter()
                .filter_map(|command| if let Command::Seek(to) = command { Some(to) } else { None })
                .flat_map(|to| to.iter().map(|(partition, _)| Arc::clone(partition)))
                .collect();
            if !sought.is_empty() {
                state.drop_records(|partition| sought.iter().any(|sought| **sought == *partition));
            }
        });
        Ok(true)
    }
}

/// Errors after which a consumer goes on trying in vain.
fn ends_task(code: Code) -> bool {
    matches!(
        code,
        Code::TopicAuthorizationFailed
            | Code::GroupAuthorizationFailed
            | Code::InvalidTopic
            | Code::InvalidGroupId
            | Code::InvalidSessionTimeout
            | Code::InconsistentGroupProtocol
            | Code::AutoOffsetReset
            | Code::UnsupportedVersion
            | Code::UnsupportedAssignor
            | Code::UnreleasedInstanceId
            | Code::FencedInstanceId
    )
}
