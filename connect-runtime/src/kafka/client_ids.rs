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

/// The task whose consumer has this id, if it is one of the connector's.
#[must_use]
pub fn consumer_task(connector: &str, id: &str) -> Option<u32> {
    let number = id.strip_prefix("connector-consumer-")?.strip_prefix(connector)?.strip_prefix('-')?;
    number.parse().ok().filter(|task| consumer(connector, *task) == id)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_task_of_a_consumer_is_read_from_its_id() {
        for (connector, id, task) in [
            ("a", "connector-consumer-a-0", Some(0)),
            ("a-1", "connector-consumer-a-1-12", Some(12)),
            ("a", "connector-consumer-a-1-12", None),
            ("a", "connector-consumer-a-01", None),
            ("a", "connector-consumer-ab-0", None),
            ("a", "connector-consumer-a-", None),
            ("a", "a-0", None),
        ] {
            assert_eq!(consumer_task(connector, id), task, "{connector} {id}");
        }
    }
}
