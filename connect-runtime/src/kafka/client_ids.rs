//! Client ids and group ids as Kafka Connect gives them.

/// The id of a source task's own producer.
#[must_use]
pub fn producer(connector: &str, task: u32) -> String {
    format!("connector-producer-{connector}-{task}")
}

/// The id of a producer that the source tasks of a worker share.
#[must_use]
pub fn shared_producer(worker: &str) -> String {
    format!("connector-producer-{worker}")
}

/// The id of a sink task's consumer.
#[must_use]
pub fn consumer(connector: &str, task: u32) -> String {
    format!("connector-consumer-{connector}-{task}")
}

/// The id of the admin client that makes a source task's topics.
#[must_use]
pub fn admin(connector: &str, task: u32) -> String {
    format!("connector-adminclient-{connector}-{task}")
}

/// The id of the clients that read and write a connector's own offsets topic.
#[must_use]
pub fn connector_offsets(connector: &str) -> String {
    format!("connector-offsets-{connector}")
}

/// The id of the clients that fence the tasks of a connector.
#[must_use]
pub fn fencing(connector: &str) -> String {
    format!("connector-fencing-{connector}")
}

/// The id of the producer of a sink task's dead letter queue.
#[must_use]
pub fn dead_letter_producer(connector: &str, task: u32) -> String {
    format!("connector-dlq-producer-{connector}-{task}")
}

/// The consumer group of a sink connector, unless its configuration names another.
#[must_use]
pub fn consumer_group(connector: &str) -> String {
    format!("connect-{connector}")
}

/// The id of the admin client of a worker; `worker` is its prefix for internal clients.
#[must_use]
pub fn shared_admin(worker: &str) -> String {
    format!("{worker}-shared-admin")
}

/// The id of the clients of a worker's offsets topic.
#[must_use]
pub fn offsets(worker: &str) -> String {
    format!("{worker}-offsets")
}
