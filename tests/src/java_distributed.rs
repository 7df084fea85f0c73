//! Java's distributed worker in a process of its own, for what its standalone one cannot do: exactly-once sources.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

use tempfile::TempDir;
use xtask::kafka::free_port;

use crate::standalone::java_worker;
use crate::wait::eventually;
use crate::worker::Worker;
use crate::{properties, unique};

const JAVA_MAIN: &str = "org.apache.kafka.connect.cli.ConnectDistributed";
const START_TIMEOUT: Duration = Duration::from_secs(120);
const REQUEST_TIMEOUT: Duration = Duration::from_secs(90);

/// A running worker of Java, alone in its group. Its internal topics are its own.
#[derive(Debug)]
pub struct JavaDistributed {
    /// The process, to be watched and killed.
    pub worker: Worker,
    rest_port: u16,
    /// Kept until the process has ended.
    _dir: TempDir,
}

impl JavaDistributed {
    /// Starts a worker with these keys beside those that it needs: String converters, internal topics with one replica.
    pub fn start(bootstrap: &str, settings: &[(&str, &str)]) -> Self {
        let dir = TempDir::new().expect("a temporary folder can be created");
        let rest_port = free_port().unwrap_or_else(|error| panic!("{error}"));
        let (group, listener) = (unique("java"), format!("http://127.0.0.1:{rest_port}"));
        let topics =
            ["config", "offset", "status"].map(|kind| (format!("{kind}.storage.topic"), format!("{group}-{kind}")));
        let replicas = ["config", "offset", "status"].map(|kind| format!("{kind}.storage.replication.factor"));
        let converter = "org.apache.kafka.connect.storage.StringConverter";
        let needed = [
            ("bootstrap.servers", bootstrap),
            ("group.id", &*group),
            ("listeners", &*listener),
            ("key.converter", converter),
            ("value.converter", converter),
        ];
        let topics = topics.iter().map(|(key, topic)| (&**key, &**topic));
        let replicas = replicas.iter().map(|key| (&**key, "1"));
        let text =
            properties::to_text(needed.into_iter().chain(topics).chain(replicas).chain(settings.iter().copied()));
        let file = dir.path().join("worker.properties");
        fs::write(&file, text).expect("an own folder can be written to");
        let log = dir.path().join("worker.log");
        let worker = java_worker(dir.path(), &log, JAVA_MAIN, &[file.display().to_string()]);
        Self { worker, rest_port, _dir: dir }
    }

    /// Creates a connector as soon as the worker takes it.
    ///
    /// # Panics
    /// It is not created within two minutes.
    pub fn create(&mut self, name: &str, entries: &[(&str, &str)]) {
        let mut config = serde_json::Map::new();
        for (key, value) in [("name", name)].iter().chain(entries) {
            config.insert((*key).to_owned(), (*value).into());
        }
        let body = serde_json::json!({ "name": name, "config": config }).to_string();
        let mut last = String::new();
        eventually(&format!("Java's worker creates `{name}`"), START_TIMEOUT, || {
            assert!(self.worker.ended().is_none(), "Java's worker has ended: {}", self.worker.log());
            // It answers 404 until it is ready, and refuses connections before.
            last = self.send("POST", "/connectors", &body).unwrap_or_else(|error| error.to_string());
            last.starts_with("HTTP/1.1 201").then_some(())
        });
    }

    /// What it says of a configuration: Kafka's ConfigInfos.
    ///
    /// # Panics
    /// It does not answer within two minutes, or with an error.
    pub fn validate(&mut self, config: &BTreeMap<String, String>) -> serde_json::Value {
        let class = config["connector.class"].rsplit('.').next().unwrap_or_default();
        let path = format!("/connector-plugins/{class}/config/validate");
        let body = serde_json::json!(config).to_string();
        eventually("Java's worker validates", START_TIMEOUT, || {
            assert!(self.worker.ended().is_none(), "Java's worker has ended: {}", self.worker.log());
            let answer = self.send("PUT", &path, &body).ok()?;
            let (head, json) = answer.split_once("\r\n\r\n")?;
            // As for a connector: 404 until it is ready.
            assert!(!head.starts_with("HTTP/1.1 500"), "{answer}");
            head.starts_with("HTTP/1.1 200").then(|| serde_json::from_str(json).expect("it answers JSON"))
        })
    }

    fn send(&self, method: &str, path: &str, body: &str) -> std::io::Result<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.rest_port))?;
        stream.set_read_timeout(Some(REQUEST_TIMEOUT))?;
        let length = body.len();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\
             Connection: close\r\n\r\n{body}"
        )?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    }

    /// The folder of the worker's files.
    pub fn dir(&self) -> &Path {
        self._dir.path()
    }
}
