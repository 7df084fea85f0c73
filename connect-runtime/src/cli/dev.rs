//! `connect dev`: connectors on a broker inside this process, with a live view of what flows.

use super::{
    EXIT_CONFIG,
    serve::{Watcher, on_runtime, read_specs, serve},
    signals::Signals,
    view::View,
};
use crate::{
    clock::SystemClock,
    config::{ClientDefaults, ConfigProviders, ExactlyOnceWorker, OverridePolicy, sink_topics},
    herder::ConnectorSpec,
    id::ConnectorTaskId,
    kafka::{DevAdmin, DevBroker, KafkaAdmin, OffsetRecords, Subscription, client_ids},
    storage::MemoryOffsetStore,
    worker::{
        ClientBase, Clients, Fencing, KafkaClients, KnownIds, OffsetClients, TaskDefaults, TaskMonitor, Worker,
        WorkerOffsets,
    },
};
use connect_sdk::{
    erased::{BoxFuture, Properties},
    error::{Result, TaskError},
    plugin::Plugins,
    sink::TopicPartition,
    task::ports::{
        Ack, DeadLetterTopic, ProduceBatch, RecordConsumer, RecordProducer, TopicEnsurer, TransactionalProducer,
    },
};
use std::{
    collections::HashMap,
    io::{IsTerminal, stdout},
    path::PathBuf,
    process::ExitCode,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
    time::{Duration, Instant},
};

/// What runs where no file is given: the repository's sample.
const SAMPLE: [&str; 2] = ["config/dev/source.properties", "config/dev/sink.properties"];
const WORKER_ID: &str = "connect-dev";
/// The broker keeps about 5 MiB of a partition; it is said before anything is dropped.
const TOPIC_BYTES_WARNED: u64 = 4 * 1024 * 1024;
const OFFSET_FLUSH_INTERVAL: Duration = Duration::from_secs(1);
const OFFSET_FLUSH_TIMEOUT: Duration = Duration::from_secs(5);
const GRACEFUL_TIMEOUT: Duration = Duration::from_secs(5);

pub(super) fn run(plugins: Plugins, files: &[PathBuf], plain: bool) -> ExitCode {
    let files = if files.is_empty() { SAMPLE.map(PathBuf::from).to_vec() } else { files.to_vec() };
    if let Some(missing) = files.iter().find(|f| !f.is_file()) {
        tracing::error!(
            file = %missing.display(),
            "connector file does not exist; name the files of your connectors, or run the sample in the repository's folder"
        );
        return ExitCode::from(EXIT_CONFIG);
    }
    let specs = read_specs(&files);
    on_runtime(async {
        match start(plugins, &specs) {
            Ok((worker, signals, view)) => {
                serve(worker, specs, signals, view.in_place(!plain && stdout().is_terminal())).await
            }
            Err(error) => {
                tracing::error!("{error}");
                ExitCode::FAILURE
            }
        }
    })
}

fn start(plugins: Plugins, specs: &[ConnectorSpec]) -> Result<(Worker, Signals, DevView), String> {
    let signals = Signals::new().map_err(|e| format!("signals cannot be handled: {e}"))?;
    let broker = Arc::new(DevBroker::start().map_err(|e| e.to_string())?);
    tracing::info!(
        bootstrap_servers = broker.bootstrap_servers(),
        "development broker started: all in memory, gone with this process, about 5 MiB a topic, no transaction isolation"
    );
    let mut groups = Vec::new();
    for (name, topics) in specs.iter().filter_map(sink_of) {
        for topic in &topics {
            // A sink's group can only be given partitions that are there.
            broker.create_topic(topic, 1).map_err(|e| e.to_string())?;
        }
        groups.push((name, topics));
    }
    let properties = defaults();
    let base = ClientBase {
        bootstrap: broker.bootstrap_servers().to_owned(),
        defaults: ClientDefaults::Tuned,
        worker_id: WORKER_ID.to_owned(),
        topic_creation: true,
        group_id: WORKER_ID.to_owned(),
        // Nothing survives this process that could wait for a member to come back.
        static_members: false,
        worker: properties.clone(),
    };
    let config = base.admin(&client_ids::shared_admin(WORKER_ID), None).map_err(|e| e.chain())?;
    let ends = KafkaAdmin::new(&config).map_err(|e| e.to_string())?;
    let admin = Arc::new(DevAdmin::new(Arc::clone(&broker)).map_err(|e| e.to_string())?);
    let clients = DevClients { clients: KafkaClients::new(base, admin), volumes: Arc::default() };
    let worker = Worker {
        plugins,
        properties,
        providers: ConfigProviders::default(),
        override_policy: OverridePolicy::default(),
        exactly_once: ExactlyOnceWorker::Development,
        settings: TaskDefaults {
            offset_flush_interval: OFFSET_FLUSH_INTERVAL,
            offset_flush_timeout: OFFSET_FLUSH_TIMEOUT,
            graceful_timeout: GRACEFUL_TIMEOUT,
        },
        clients: Arc::new(clients),
        offsets: WorkerOffsets { store: Arc::new(MemoryOffsetStore::default()), topic: None },
        clock: Arc::new(SystemClock::new()),
    };
    Ok((worker, signals, DevView { view: View::new(false), ends, groups, last: Instant::now(), _broker: broker }))
}

/// The worker's properties: the converters of connectors that name none, and what the broker inside needs.
fn defaults() -> Properties {
    [
        ("key.converter", "org.apache.kafka.connect.storage.StringConverter"),
        ("value.converter", "org.apache.kafka.connect.json.JsonConverter"),
        ("value.converter.schemas.enable", "false"),
        // The broker keeps a member that has left until its session ends: a sink that is opened anew waits for that.
        ("consumer.session.timeout.ms", "6000"),
    ]
    .into_iter()
    .map(|(k, v)| (k.to_owned(), v.to_owned()))
    .collect()
}

/// The name and the topics of a sink; whether they are any good is found out elsewhere.
fn sink_of(spec: &ConnectorSpec) -> Option<(String, Vec<String>)> {
    let properties = spec.properties.as_ref().ok()?;
    let topics = sink_topics(properties);
    (!topics.is_empty()).then(|| (spec.label.clone(), topics))
}

/// Kafka clients that keep an eye on how much goes into each topic.
#[derive(Debug)]
struct DevClients {
    clients: KafkaClients,
    volumes: Arc<Volumes>,
}

impl Fencing for DevClients {
    fn transactional_id_prefix(&self, name: &str) -> String {
        self.clients.transactional_id_prefix(name)
    }

    fn transactional_ids<'a>(&'a self, name: &'a str, connector: &'a Properties) -> BoxFuture<'a, Result<KnownIds>> {
        self.clients.transactional_ids(name, connector)
    }

    fn fence<'a>(&'a self, name: &'a str, connector: &'a Properties, tasks: Vec<u32>) -> BoxFuture<'a, Result<()>> {
        self.clients.fence(name, connector, tasks)
    }
}

impl Clients for DevClients {
    fn producer(&self, task: &ConnectorTaskId, connector: &Properties) -> Result<Box<dyn RecordProducer>> {
        let producer = self.clients.producer(task, connector)?;
        Ok(Box::new(Watched { producer, volumes: Arc::clone(&self.volumes), counted: None }))
    }

    fn consumer(
        &self,
        task: &ConnectorTaskId,
        n_tasks: u32,
        connector: &Properties,
        subscription: Subscription,
    ) -> Result<Box<dyn RecordConsumer>> {
        self.clients.consumer(task, n_tasks, connector, subscription)
    }

    fn transactional_producer(
        &self,
        task: &ConnectorTaskId,
        connector: &Properties,
        offsets: Arc<dyn OffsetRecords>,
    ) -> Result<Box<dyn TransactionalProducer>> {
        self.clients.transactional_producer(task, connector, offsets)
    }

    fn topics(
        &self,
        task: &ConnectorTaskId,
        connector: &Properties,
        forbidden: Option<&str>,
    ) -> Result<Arc<dyn TopicEnsurer>> {
        self.clients.topics(task, connector, forbidden)
    }

    fn offsets(&self, name: &str, connector: &Properties, exactly_once: bool) -> Result<OffsetClients> {
        self.clients.offsets(name, connector, exactly_once)
    }

    fn dead_letter_topic(&self, task: &ConnectorTaskId, connector: &Properties) -> Result<Option<DeadLetterTopic>> {
        self.clients.dead_letter_topic(task, connector)
    }

    fn dead_letter_producer(&self, task: &ConnectorTaskId, connector: &Properties) -> Result<Box<dyn RecordProducer>> {
        let producer = self.clients.dead_letter_producer(task, connector)?;
        Ok(Box::new(Watched { producer, volumes: Arc::clone(&self.volumes), counted: None }))
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        self.clients.close()
    }
}

/// Bytes that went into each topic.
#[derive(Debug, Default)]
struct Volumes(Mutex<HashMap<String, u64>>);

impl Volumes {
    /// Adds a batch; warns when a topic nears what the broker keeps, once for each.
    fn add(&self, batch: &ProduceBatch) {
        let mut volumes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut bytes = vec![0u64; batch.topics.len()];
        for record in &batch.records {
            let len = record.key.map_or(0, |s| s.len) + record.value.map_or(0, |s| s.len);
            bytes[record.topic as usize] += u64::from(len);
        }
        for (topic, bytes) in batch.topics.iter().zip(bytes) {
            let volume = volumes.entry(topic.as_str().to_owned()).or_default();
            let before = *volume;
            *volume += bytes;
            if before < TOPIC_BYTES_WARNED && *volume >= TOPIC_BYTES_WARNED {
                tracing::warn!(
                    topic = topic.as_str(),
                    "topic has more than 4 MiB; the development broker keeps about the newest 5 MiB and drops the rest, \
                     read or not. Use a real Kafka for more"
                );
            }
        }
    }
}

/// A producer whose batches are counted.
struct Watched {
    producer: Box<dyn RecordProducer>,
    volumes: Arc<Volumes>,
    /// The first sequence number of the batch that was counted last.
    counted: Option<u64>,
}

impl RecordProducer for Watched {
    fn poll_send(&mut self, cx: &mut Context<'_>, batch: &mut Option<ProduceBatch>) -> Poll<Result<(), TaskError>> {
        // A batch that waits for room is offered again.
        if let Some(batch) = batch.as_ref().filter(|b| self.counted != Some(b.first_seq)) {
            self.counted = Some(batch.first_seq);
            self.volumes.add(batch);
        }
        self.producer.poll_send(cx, batch)
    }

    fn poll_acks(&mut self, cx: &mut Context<'_>, into: &mut Vec<Ack>) -> Poll<Result<(), TaskError>> {
        self.producer.poll_acks(cx, into)
    }

    fn hurry(&mut self) {
        self.producer.hurry();
    }

    fn reclaim(&mut self) -> Option<Vec<u8>> {
        self.producer.reclaim()
    }
}

/// The live view, and the lag of sinks: everything in the broker began with this process, so a sink's lag is what its
/// topics hold less what it has consumed.
struct DevView {
    view: View,
    ends: KafkaAdmin,
    groups: Vec<(String, Vec<String>)>,
    last: Instant,
    /// Held until the last view: the broker ends with its last owner.
    _broker: Arc<DevBroker>,
}

impl DevView {
    fn in_place(mut self, in_place: bool) -> Self {
        self.view = View::new(in_place);
        self
    }

    async fn lags(&self, tasks: &[Arc<TaskMonitor>]) -> HashMap<String, u64> {
        let mut lags = HashMap::new();
        for (connector, topics) in &self.groups {
            let partitions = topics.iter().map(|t| TopicPartition::new(t.as_str(), 0)).collect();
            let Ok(ends) = self.ends.end_offsets(partitions, false).await else { continue };
            let ends: u64 = ends.values().map(|end| u64::try_from(*end).unwrap_or(0)).sum();
            let own = tasks.iter().filter(|t| t.id().connector == *connector);
            let consumed: u64 = own.map(|t| t.totals().records_in).sum();
            lags.insert(connector.clone(), ends.saturating_sub(consumed));
        }
        lags
    }
}

impl Watcher for DevView {
    fn interval(&self) -> Option<Duration> {
        Some(self.view.interval())
    }

    async fn look(&mut self, tasks: Vec<Arc<TaskMonitor>>) {
        let lags = self.lags(&tasks).await;
        let elapsed = std::mem::replace(&mut self.last, Instant::now()).elapsed();
        if let Err(error) = self.view.draw(&tasks, &lags, elapsed) {
            tracing::debug!(%error, "the view cannot be drawn");
        }
    }
}
