//! The thread of a producer: hands records to librdkafka, reads delivery reports, sleeps while there is neither.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use connect_sdk::{
    data::Text,
    task::ports::{ProduceBatch, ProduceRecord},
};
use rdkafka::error::RDKafkaErrorCode as Code;

use super::{
    Shared, lock,
    room::{RELIEF_PAUSE, Room},
    slots::{self, Slots, tag, untag},
};
use crate::kafka::{
    client_config::ClientConfig,
    client_events::ClientEvents,
    error::{ErrorClass, KafkaError, class_of, record_too_large},
    ffi::{Client, Delivery, Headers, Plain, Producer, Queue, Topic},
};

/// Records handed over between two looks at the delivery reports.
const RUN_RECORDS_MAX: usize = 512;
/// Events served between two runs; one event holds the reports of a whole batch.
const EVENTS_MAX: usize = 64;
/// The thread looks around at least this often; whatever happens wakes it.
const IDLE_MAX: Duration = Duration::from_secs(1);
/// The end of the names of Kafka's errors that say that a right is missing.
const NO_RIGHTS: &str = "AUTHORIZATION_FAILED";
/// While a task is in a hurry the client is asked to send this often at first, ...
const HURRY_PAUSE: Duration = Duration::from_micros(250);
const HURRY_ROUNDS: u32 = 40;
/// ... and this often when a broker takes its time.
const HURRY_PAUSE_LONG: Duration = Duration::from_millis(10);

/// What the thread works with: its loop is [`Worker::run`], or that of a transactional producer.
pub(super) struct Worker {
    shared: Arc<Shared>,
    producer: ProducerParts,
    pub(super) slots: Slots,
    pub(super) events: ClientEvents,
    batches: VecDeque<Waiting>,
    room: Room,
    topics: Topics,
    /// Rounds since a task asked for speed.
    hurry: Option<u32>,
    freed: Vec<usize>,
}

/// What is made on the thread itself, because it may not leave it.
struct ProducerParts {
    client: Arc<Client>,
    max_request_size: usize,
    is_transactional: bool,
}

impl ProducerParts {
    /// Whether a record can go with others in one call.
    fn is_plain(&self, record: &ProduceRecord) -> bool {
        // Of a topic that it does not know yet, librdkafka's call for many records takes partition -1 for a part of the
        // transaction, which no broker ever accepts.
        let may_hang = self.is_transactional && record.partition.is_some();
        record.headers.1 == 0 && record.timestamp.is_none() && !may_hang
    }
}

struct Topics {
    client: Arc<Client>,
    by_name: HashMap<Text, usize>,
    topics: Vec<(Text, Topic)>,
}

/// A batch that is being handed over.
struct Waiting {
    slot: usize,
    batch: ProduceBatch,
    /// For each topic of the batch its place in [`Topics`]; empty until the batch's turn comes.
    topics: Vec<usize>,
    /// The first record that is not handed over.
    next: usize,
}

/// How far a round of handing over came.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Round {
    /// Nothing waits.
    Nothing,
    /// A run of records was handed over.
    Progress,
    /// The client has enough: a delivery must come first.
    Full,
}

impl Worker {
    pub(super) fn new(shared: Arc<Shared>, client: Arc<Client>, config: &ClientConfig) -> Self {
        Self {
            shared,
            producer: ProducerParts {
                client: Arc::clone(&client),
                max_request_size: config.max_request_size(),
                is_transactional: config.transactional_id().is_some(),
            },
            slots: Slots::default(),
            events: ClientEvents::new(Arc::clone(&client), config),
            batches: VecDeque::new(),
            room: Room::new(config),
            topics: Topics { client, by_name: HashMap::new(), topics: Vec::new() },
            hurry: None,
            freed: Vec::new(),
        }
    }

    pub(super) fn run(mut self) {
        let client = Arc::clone(&self.producer.client);
        let mut queue = client.main_queue();
        queue.wake(thread::current());
        let mut producer = Producer::new(Arc::clone(&client));
        loop {
            if self.take_inbox() {
                break;
            }
            let round = self.hand_over(&mut producer);
            let round = round.and_then(|round| self.serve(&queue).map(|served| (round, served)));
            match round {
                Ok((Round::Progress, _) | (_, true)) => continue,
                Ok((Round::Nothing | Round::Full, false)) => {}
                Err(error) => {
                    self.fail(&failed_client(error));
                    break;
                }
            }
            thread::park_timeout(self.pause());
        }
        // What is not acknowledged is given up: its task has gone, or has been told that the producer failed.
        client.purge();
    }

    pub(super) fn client(&self) -> Arc<Client> {
        Arc::clone(&self.producer.client)
    }

    pub(super) fn shared(&self) -> Arc<Shared> {
        Arc::clone(&self.shared)
    }

    /// How many batches wait to be handed over, or are half handed over.
    pub(super) fn n_batches(&self) -> usize {
        self.batches.len()
    }

    /// Whether batches wait to be handed over.
    pub(super) fn has_batches(&self) -> bool {
        !self.batches.is_empty()
    }

    /// Puts a batch of the thread's own behind those of the tasks.
    pub(super) fn push(&mut self, slot: usize, batch: ProduceBatch) {
        self.batches.push_back(Waiting { slot, batch, topics: Vec::new(), next: 0 });
    }

    /// Gives up the batches that wait.
    pub(super) fn discard(&mut self) {
        for waiting in std::mem::take(&mut self.batches) {
            self.slots.spent(waiting.slot, waiting.batch);
        }
    }

    /// The client shall send what it has, as if a task had asked for it.
    pub(super) fn hurry(&mut self) {
        self.hurry = Some(0);
    }

    /// How long there is nothing to do, unless something wakes the thread.
    pub(super) fn pause(&mut self) -> Duration {
        let lingers = self.room.lingers(self.producer.client.n_in_flight(), Instant::now());
        if self.hurry.is_none() && lingers == Some(Duration::ZERO) {
            self.hurry = Some(0);
        }
        let Some(rounds) = self.hurry else {
            return lingers.unwrap_or(if self.batches.is_empty() { IDLE_MAX } else { RELIEF_PAUSE });
        };
        if self.batches.is_empty() && self.producer.client.n_in_flight() == 0 {
            self.hurry = None;
            return IDLE_MAX;
        }
        self.producer.client.flush_now();
        self.hurry = Some(rounds.saturating_add(1));
        if rounds < HURRY_ROUNDS { HURRY_PAUSE } else { HURRY_PAUSE_LONG }
    }

    /// Takes what the tasks have for the thread; true if it shall end.
    pub(super) fn take_inbox(&mut self) -> bool {
        let mut inbox = lock(&self.shared.inbox);
        if inbox.stop {
            return true;
        }
        for (slot, mailbox) in inbox.opened.drain(..) {
            self.slots.open(slot, mailbox);
        }
        for (slot, batch) in inbox.batches.drain(..) {
            self.batches.push_back(Waiting { slot, batch, topics: Vec::new(), next: 0 });
        }
        for slot in inbox.closed.drain(..) {
            self.batches.retain(|waiting| waiting.slot != slot);
            if self.slots.close(slot) {
                self.freed.push(slot);
            }
        }
        inbox.free_slots.append(&mut self.freed);
        if std::mem::take(&mut inbox.hurry) {
            self.hurry = Some(0);
        }
        false
    }

    pub(super) fn fail(&mut self, error: &KafkaError) {
        // First of all no new task comes to this client; then those that it has are told.
        let mut inbox = lock(&self.shared.inbox);
        inbox.failed = Some(error.clone());
        for (_, mailbox) in inbox.opened.drain(..) {
            slots::fail(&mailbox, error);
        }
        inbox.batches.clear();
        drop(inbox);
        self.slots.fail(error);
    }

    /// Hands one run of records over.
    pub(super) fn hand_over(&mut self, producer: &mut Producer) -> Result<Round, KafkaError> {
        let Some(mut waiting) = self.batches.pop_front() else { return Ok(Round::Nothing) };
        if waiting.topics.is_empty()
            && let Err(error) = self.topics.look_up(&waiting.batch, &mut waiting.topics)
        {
            // The name is one task's mistake; the others go on.
            self.slots.fail_one(waiting.slot, &error);
            return Ok(Round::Progress);
        }
        let is_taken = self.room.is_taken(self.producer.client.n_in_flight(), &waiting.batch, Instant::now);
        let most = self.room.run_max(RUN_RECORDS_MAX);
        let taken = !is_taken && self.hand_over_run(producer, &mut waiting, most)?;
        if waiting.next < waiting.batch.records.len() {
            self.batches.push_front(waiting);
        } else {
            self.slots.spent(waiting.slot, waiting.batch);
        }
        Ok(if taken { Round::Progress } else { Round::Full })
    }

    /// Hands over what can go in one call, `most` records; false if the buffer is full.
    fn hand_over_run(
        &mut self,
        producer: &mut Producer,
        waiting: &mut Waiting,
        most: usize,
    ) -> Result<bool, KafkaError> {
        let Waiting { slot, batch, topics, next } = waiting;
        let (slot, start) = (*slot, *next);
        let Some(first) = batch.records.get(start) else { return Ok(true) };
        let topic = &self.topics.topics[topics[first.topic as usize]].1;
        let seq = batch.first_seq + start as u64;
        let plain = |(index, record): (usize, &ProduceRecord)| Plain {
            partition: record.partition,
            key: record.key.map(|at| batch.bytes(at)),
            value: record.value.map(|at| batch.bytes(at)),
            opaque: tag(slot, seq + index as u64),
        };
        if !self.producer.is_plain(first) {
            let mut headers = headers(batch, first);
            let result = producer.produce(topic, plain((0, first)), first.timestamp, &mut headers);
            return match result {
                Err(Code::QueueFull) => Ok(false),
                Ok(()) => {
                    self.slots.handed_over(slot, 1, seq + 1);
                    *next += 1;
                    Ok(true)
                }
                Err(code) => {
                    self.refuse(batch, slot, start, code)?;
                    *next += 1;
                    Ok(true)
                }
            };
        }
        let run = &batch.records[start..batch.records.len().min(start + most)];
        let same =
            run.iter().take_while(|record| record.topic == first.topic && self.producer.is_plain(record)).count();
        let taken = producer.produce_run(topic, run[..same].iter().enumerate().map(plain));
        if taken == same {
            self.slots.handed_over(slot, same, seq + same as u64);
            *next += same;
            return Ok(true);
        }
        let mut handed = 0;
        let mut full = false;
        for index in 0..same {
            match producer.run_error(index) {
                None => handed += 1,
                // After the first that found no room none was taken.
                Some(Code::QueueFull) => {
                    full = true;
                    break;
                }
                Some(code) => self.refuse(batch, slot, start + index, code)?,
            }
            *next += 1;
        }
        self.slots.handed_over(slot, handed, batch.first_seq + *next as u64);
        Ok(!full)
    }

    /// The client itself did not take a record.
    ///
    /// # Errors
    /// It takes none any more.
    fn refuse(&mut self, batch: &ProduceBatch, slot: usize, index: usize, code: Code) -> Result<(), KafkaError> {
        // A transaction that must be aborted takes no more records either; the client is sound then.
        if matches!(code, Code::Fatal | Code::State) {
            self.check_fatal()?;
        }
        let record = &batch.records[index];
        let topic = &batch.topics[record.topic as usize];
        let size = size_of(batch, record);
        let limit = self.producer.max_request_size;
        self.slots.failed(slot, batch.first_seq + index as u64, || {
            if code == Code::MessageSizeTooLarge {
                KafkaError::new(ErrorClass::Record, record_too_large(topic, size, limit).to_string())
            } else {
                KafkaError::coded(code, &format!("record for topic `{}` was refused", &**topic), "")
            }
        });
        Ok(())
    }

    /// # Errors
    /// The client has failed for good.
    fn check_fatal(&self) -> Result<(), KafkaError> {
        match self.producer.client.native().fatal_error() {
            Some((code, why)) => Err(KafkaError::coded(code, "the client has failed", &why)),
            None => Ok(()),
        }
    }

    /// Serves what is in the client's queue and publishes what came of it; false if there was nothing.
    pub(super) fn serve(&mut self, queue: &Queue) -> Result<bool, KafkaError> {
        let mut served = false;
        let mut refusals = false;
        let mut result = Ok(());
        for _ in 0..EVENTS_MAX {
            let Some(mut event) = queue.poll(Duration::ZERO) else { break };
            served = true;
            if event.is_deliveries() {
                let Self { slots, topics, freed, events, room, .. } = self;
                event.deliveries(|delivery| {
                    room.delivered(&delivery);
                    let (slot, low) = untag(delivery.opaque);
                    let free = match delivery.error {
                        None => slots.delivered(slot, low),
                        Some(code) => {
                            refusals = true;
                            slots.refused(slot, low, || refused(topics, &delivery, code, events.transaction_error()))
                        }
                    };
                    freed.extend(free);
                });
                events.alive();
            } else if let Err(error) = self.events.serve(event.kind()) {
                result = Err(error);
                break;
            }
        }
        result?;
        if refusals {
            // Records of a client that has failed are refused one by one; what matters is the failure.
            self.check_fatal()?;
        }
        self.slots.publish();
        Ok(served)
    }
}

/// A client that has failed is replaced: a task may start again with a new one, unless that would fail as well.
fn failed_client(error: KafkaError) -> KafkaError {
    match error.code().map_or(ErrorClass::Fatal, class_of) {
        ErrorClass::Abortable | ErrorClass::Retriable => KafkaError::new(ErrorClass::Retriable, error.to_string()),
        ErrorClass::Record | ErrorClass::Fatal | ErrorClass::Fenced => error.fatal(),
    }
}

/// `cause` is why the transaction of the record was given up, if it was.
fn refused(topics: &Topics, delivery: &Delivery, code: Code, cause: Option<&str>) -> KafkaError {
    let topic = topics.name(delivery.topic);
    let what = format!(
        "record of {} bytes for partition {} of topic `{topic}` was not delivered",
        delivery.len, delivery.partition
    );
    let why = match code {
        Code::MessageSizeTooLarge | Code::MessageBatchTooLarge => {
            "a record or a batch of records is above the topic's `max.message.bytes`: raise it, or lower the producer's \
             `batch.size` (and `max.request.size`) below it"
        }
        Code::InvalidRecord => {
            "the broker does not take it, or another record of its batch, such as one without a key \
                                for a compacted topic"
        }
        Code::MessageTimedOut => {
            "`delivery.timeout.ms` of the producer is over (`transaction.timeout.ms` in a transaction)"
        }
        Code::PurgeQueue | Code::PurgeInflight => cause.unwrap_or_default(),
        _ => "",
    };
    let error = KafkaError::coded(code, &what, why);
    // The library tells the cause in words only; this one does not pass by itself.
    if why.contains(NO_RIGHTS) { error.fatal() } else { error }
}

fn headers(batch: &ProduceBatch, record: &ProduceRecord) -> Option<Headers> {
    let (first, n) = (record.headers.0 as usize, record.headers.1 as usize);
    if n == 0 {
        return None;
    }
    let mut headers = Headers::with_capacity(n);
    for (name, value) in &batch.headers[first..first + n] {
        headers.push(batch.bytes(*name), value.map(|at| batch.bytes(at)));
    }
    Some(headers)
}

/// Bytes of key, value and headers.
fn size_of(batch: &ProduceBatch, record: &ProduceRecord) -> usize {
    let (first, n) = (record.headers.0 as usize, record.headers.1 as usize);
    let of = |at: Option<connect_sdk::task::ports::Slice>| at.map_or(0, |at| at.len as usize);
    let headers: usize =
        batch.headers[first..first + n].iter().map(|(name, value)| name.len as usize + of(*value)).sum();
    of(record.key) + of(record.value) + headers
}

impl Topics {
    fn look_up(&mut self, batch: &ProduceBatch, into: &mut Vec<usize>) -> Result<(), KafkaError> {
        for name in &batch.topics {
            let at = match self.by_name.get(name) {
                Some(at) => *at,
                None => {
                    let topic = Topic::new(&self.client, name).map_err(|code| {
                        KafkaError::coded(code, &format!("topic name `{}` is not usable", &**name), "")
                    })?;
                    // The name outlives the batch whose buffer it may share.
                    let name = Text::from(name.to_string());
                    self.topics.push((name.clone(), topic));
                    self.by_name.insert(name, self.topics.len() - 1);
                    self.topics.len() - 1
                }
            };
            into.push(at);
        }
        Ok(())
    }

    fn name(&self, id: usize) -> &str {
        self.topics.iter().find(|(_, topic)| topic.id() == id).map_or("?", |(name, _)| name)
    }
}
