//! Logs against the mock cluster.

use super::*;
use crate::kafka::{ClientKind, DevBroker, TopicAdmin};

type Seen = Arc<Mutex<Vec<(String, Option<String>)>>>;

fn clients(broker: &DevBroker) -> LogClients {
    let config = |kind| {
        let builder = ClientConfig::builder(kind).set("bootstrap.servers", broker.bootstrap_servers());
        builder.set("client.id", "test").build().unwrap().0
    };
    LogClients {
        consumer: config(ClientKind::Consumer),
        producer: config(ClientKind::Producer),
        pool: Arc::default(),
        admin: KafkaAdmin::new(&config(ClientKind::Admin)).unwrap(),
    }
}

fn collector() -> (Seen, OnRecord) {
    let seen = Seen::default();
    let into = Arc::clone(&seen);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let collect = move |record: LogRecord<'_>| {
        let record = (record.key.map(text).unwrap_or_default(), record.value.map(text));
        into.lock().unwrap().push(record);
    };
    (seen, Box::new(collect))
}

fn record(key: &str, value: Option<&str>) -> (Vec<u8>, Option<Vec<u8>>) {
    (key.as_bytes().to_vec(), value.map(|value| value.as_bytes().to_vec()))
}

#[tokio::test]
async fn what_is_written_is_read_back_and_again_after_opening_anew() {
    let broker = DevBroker::start().unwrap();
    broker.create_topic("state", 3).unwrap();
    let clients = clients(&broker);
    clients.admin.wait_for_broker(Duration::from_secs(20)).await.unwrap();
    let (seen, collect) = collector();
    let log = KafkaLog::open("state", clients.clone(), collect).await.unwrap();
    assert_eq!(log.n_partitions(), 3);
    log.write(vec![record("a", Some("1")), record("b", Some("2")), record("a", None)]).await.unwrap();
    log.read_to_end().await.unwrap();
    let mut first = seen.lock().unwrap().clone();
    assert_eq!(first.len(), 3);
    let of_a: Vec<_> = first.iter().filter(|(key, _)| key == "a").map(|(_, value)| value.as_deref()).collect();
    assert_eq!(of_a, [Some("1"), None], "the records of a key keep their order");

    for n in 0..200 {
        log.write(vec![record(&n.to_string(), Some("x"))]).await.unwrap();
    }
    log.read_to_end().await.unwrap();
    assert_eq!(seen.lock().unwrap().len(), 203);

    let (again, collect) = collector();
    let second = KafkaLog::open("state", clients, collect).await.unwrap();
    let mut read = again.lock().unwrap().clone();
    first = seen.lock().unwrap().clone();
    first.sort();
    read.sort();
    assert_eq!(read, first, "opening reads everything that is there");
    log.write(vec![record("late", Some("y"))]).await.unwrap();
    second.read_to_end().await.unwrap();
    assert!(again.lock().unwrap().contains(&("late".to_owned(), Some("y".to_owned()))));
}

#[tokio::test]
async fn a_missing_topic_and_a_refused_record_are_told() {
    let broker = DevBroker::start().unwrap();
    broker.create_topic("state", 1).unwrap();
    let mut clients = clients(&broker);
    clients.admin.wait_for_broker(Duration::from_secs(20)).await.unwrap();
    let missing = KafkaLog::open("absent", clients.clone(), collector().1).await.unwrap_err();
    assert!(missing.to_string().contains("topic `absent` does not exist"), "{missing}");

    let config = ClientConfig::builder(ClientKind::Producer).set("max.request.size", "2000");
    let config = config.set("bootstrap.servers", broker.bootstrap_servers());
    clients.producer = config.build().unwrap().0;
    let (seen, collect) = collector();
    let log = KafkaLog::open("state", clients, collect).await.unwrap();
    let huge = "x".repeat(3000);
    let refused = log.write(vec![record("a", Some(&huge)), record("b", Some("1"))]).await.unwrap_err();
    assert!(refused.to_string().contains("`max.request.size`"), "{refused}");
    log.write(vec![record("c", Some("2"))]).await.unwrap();
    log.read_to_end().await.unwrap();
    let keys: Vec<String> = seen.lock().unwrap().iter().map(|(key, _)| key.clone()).collect();
    assert_eq!(keys, ["b", "c"]);
}
