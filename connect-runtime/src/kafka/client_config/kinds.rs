//! What each kind of client needs in librdkafka's keys beyond what was set: Java's defaults, or better ones, and what goes
//! together.

use std::collections::BTreeMap;

use connect_sdk::{config::ConfigError, nearest::nearest};

use super::{
    MAX_REQUEST_SIZE,
    builder::{ClientConfigBuilder, Read},
    put,
};
use crate::config::{ClientDefaults, ClientKind};

/// Java's `buffer.memory`, in KiB.
const BUFFER_KIB_JAVA: i64 = 32 * 1024;
/// Room for some requests of several partitions at full speed, in KiB.
const BUFFER_KIB_TUNED: i64 = 64 * 1024;
/// Records in a producer: its memory is the limit, not their number.
const BUFFER_RECORDS: i64 = 10_000_000;
/// What a consumer keeps fetched ahead of its task, in KiB.
const FETCHED_KIB: i64 = 32 * 1024;
/// librdkafka's smallest limit for a message.
const MESSAGE_BYTES_MIN: i64 = 1000;
/// How much larger than a fetch librdkafka wants its limit for an answer.
const ANSWER_OVERHEAD: i64 = 512;
const ANSWER_BYTES_DEFAULT: i64 = 100_000_000;
/// Requests in flight with which an idempotent producer keeps the order.
const IN_FLIGHT_IDEMPOTENT_MAX: i64 = 5;

impl ClientConfigBuilder {
    pub(super) fn common(&mut self, read: &Read, out: &mut BTreeMap<String, String>) {
        match read.text("bootstrap.servers").map(|text| text.replace(char::is_whitespace, "")) {
            Some(servers) if !servers.is_empty() => put(out, "bootstrap.servers", servers),
            _ => {
                let written = read.written("bootstrap.servers");
                self.errors.push(ConfigError::on(
                    written,
                    format!("`{written}` is not set; it must name one or more brokers as `host:port`"),
                ));
            }
        }
        if let Some(ms) = read.int("connections.max.idle.ms") {
            // Java's word for "never" is -1, librdkafka's is 0.
            put(out, "connections.max.idle.ms", ms.max(0));
        }
        if let Some(ms) = read.int("metadata.max.age.ms") {
            put(out, "topic.metadata.refresh.interval.ms", ms.clamp(1, 3_600_000));
        }
        for (key, native) in
            [("send.buffer.bytes", "socket.send.buffer.bytes"), ("receive.buffer.bytes", "socket.receive.buffer.bytes")]
        {
            if let Some(bytes) = read.int(key) {
                put(out, native, bytes.max(0));
            }
        }
        for key in ["retry.backoff.ms", "retry.backoff.max.ms"] {
            if let Some(ms) = read.int(key) {
                put(out, key, ms.max(1));
            }
        }
        if let Some(ms) = read.int("request.timeout.ms") {
            if self.kind == ClientKind::Producer {
                put(out, "request.timeout.ms", ms);
            } else {
                put(out, "socket.timeout.ms", ms.clamp(10, 300_000));
            }
        }
        // librdkafka's own default of 10 s keeps a client away for seconds after a broker is back.
        if read.text("reconnect.backoff.max.ms").is_none() {
            let least = read.int("reconnect.backoff.ms").unwrap_or(0);
            let ms = if self.defaults == ClientDefaults::Tuned { 500 } else { 1000 };
            put(out, "reconnect.backoff.max.ms", ms.max(least));
        }
    }

    pub(super) fn producer(&mut self, read: &Read, out: &mut BTreeMap<String, String>) {
        let tuned = self.defaults == ClientDefaults::Tuned;
        self.idempotence(read, out);
        put(out, "acks", read.text("acks").unwrap_or("all"));
        put(out, "partitioner", "murmur2_random");
        put(out, "batch.size", read.int("batch.size").unwrap_or(if tuned { 1_000_000 } else { 16_384 }).max(1));
        if read.text("linger.ms").is_none() {
            put(out, "linger.ms", 5);
        }
        let buffer =
            read.int("buffer.memory").map_or(if tuned { BUFFER_KIB_TUNED } else { BUFFER_KIB_JAVA }, |bytes| {
                (bytes / 1024).clamp(1, i64::from(i32::MAX))
            });
        let native_buffer = read.int("queue.buffering.max.kbytes");
        put(out, "queue.buffering.max.kbytes", native_buffer.unwrap_or(buffer));
        put(out, "queue.buffering.max.messages", read.int("queue.buffering.max.messages").unwrap_or(BUFFER_RECORDS));
        let limit = read.int("max.request.size").or(read.int("message.max.bytes")).unwrap_or(MAX_REQUEST_SIZE);
        put(out, "message.max.bytes", limit.clamp(MESSAGE_BYTES_MIN, 1_000_000_000));
        // librdkafka's own upper limit of records in a batch would cut batches of small records short.
        if read.text("batch.num.messages").is_none() {
            put(out, "batch.num.messages", 100_000);
        }
        if let Some(level) =
            read.text("compression.type").and_then(|codec| read.int(&format!("compression.{codec}.level")))
        {
            put(out, "compression.level", level.clamp(-1, 12));
        }
        // A transactional producer's time-out follows its transaction's; others try for ever, as Connect does.
        if read.text("transactional.id").is_none() {
            let timeout = read.int("delivery.timeout.ms").unwrap_or(i64::from(i32::MAX));
            put(out, "message.timeout.ms", if timeout == i64::from(i32::MAX) { 0 } else { timeout });
        }
    }

    /// Idempotence, requests in flight and retries hang together.
    fn idempotence(&mut self, read: &Read, out: &mut BTreeMap<String, String>) {
        let tuned = self.defaults == ClientDefaults::Tuned;
        let transactional = read.text("transactional.id").is_some();
        let in_flight = read.int("max.in.flight.requests.per.connection");
        let mut conflicts = Vec::new();
        if let Some(acks) = read.text("acks").filter(|acks| !matches!(*acks, "all" | "-1")) {
            conflicts.push(("acks", acks.to_owned(), "`all`"));
        }
        if let Some(n) = in_flight.filter(|n| *n > IN_FLIGHT_IDEMPOTENT_MAX) {
            conflicts.push(("max.in.flight.requests.per.connection", n.to_string(), "at most 5"));
        }
        if read.int("retries") == Some(0) {
            conflicts.push(("retries", "0".to_owned(), "above 0"));
        }
        let asked = read.bool("enable.idempotence");
        let idempotent = match asked {
            Some(true) => true,
            None if transactional => true,
            Some(false) if transactional => {
                let written = read.written("enable.idempotence");
                self.errors.push(ConfigError::on(
                    written,
                    format!("value of `{written}` is `false`; it must be `true` for a transactional producer"),
                ));
                true
            }
            Some(false) => false,
            // As Java: idempotence by default gives way to settings that exclude it.
            None => tuned && conflicts.is_empty(),
        };
        if idempotent {
            for (key, value, allowed) in conflicts {
                let written = read.written(key);
                self.errors.push(ConfigError::on(
                    written,
                    format!("value of `{written}` is `{value}`; it must be {allowed} with `enable.idempotence=true`"),
                ));
            }
        }
        put(out, "enable.idempotence", idempotent);
        let in_flight = in_flight.unwrap_or(if tuned && idempotent { IN_FLIGHT_IDEMPOTENT_MAX } else { 1 });
        put(out, "max.in.flight.requests.per.connection", in_flight);
        if let Some(n) = read.int("retries") {
            put(out, "retries", if idempotent { n.max(1) } else { n });
        }
    }

    pub(super) fn consumer(&mut self, read: &Read, out: &mut BTreeMap<String, String>) {
        put(out, "enable.auto.commit", false);
        put(out, "enable.auto.offset.store", false);
        if read.text("isolation.level").is_none() {
            put(out, "isolation.level", "read_uncommitted");
        }
        if read.text("check.crcs").is_none() {
            put(out, "check.crcs", true);
        }
        // Each time a partition's local queue is full librdkafka leaves it alone for this long; its default is 1 s.
        if read.text("fetch.queue.backoff.ms").is_none() {
            put(out, "fetch.queue.backoff.ms", 10);
        }
        if read.text("queued.max.messages.kbytes").is_none() {
            put(out, "queued.max.messages.kbytes", FETCHED_KIB);
        }
        self.offset_reset(read, out);
        self.assignment_strategy(read, out);
        if let Some(id) = self.instance_id.take()
            && read.text("group.instance.id").is_none()
            && read.text("group.protocol") != Some("consumer")
        {
            put(out, "group.instance.id", id);
        }
        if let Some(bytes) = read.int("fetch.min.bytes") {
            put(out, "fetch.min.bytes", bytes.max(1));
        }
        if let Some(bytes) = read.int("max.partition.fetch.bytes") {
            put(out, "max.partition.fetch.bytes", bytes.max(1));
        }
        // librdkafka wants message.max.bytes <= fetch.max.bytes <= receive.message.max.bytes - 512.
        if let Some(bytes) = read.int("fetch.max.bytes") {
            let bytes = bytes.clamp(MESSAGE_BYTES_MIN, i64::from(i32::MAX) - ANSWER_OVERHEAD);
            put(out, "fetch.max.bytes", bytes);
            if bytes < 1_000_000 {
                put(out, "message.max.bytes", bytes);
            }
            put(out, "receive.message.max.bytes", ANSWER_BYTES_DEFAULT.max(bytes + ANSWER_OVERHEAD));
        }
    }

    fn offset_reset(&mut self, read: &Read, out: &mut BTreeMap<String, String>) {
        let reset = read.text("auto.offset.reset").unwrap_or("earliest").to_ascii_lowercase();
        let native = match reset.as_str() {
            "earliest" | "latest" => reset.as_str(),
            "none" | "error" => "error",
            _ => {
                let written = read.written("auto.offset.reset");
                self.errors.push(ConfigError::on(
                    written,
                    format!("value of `{written}` is `{reset}`; it must be one of `earliest`, `latest`, `none`"),
                ));
                return;
            }
        };
        put(out, "auto.offset.reset", native);
    }

    /// Java names assignors by class. Eager and cooperative ones cannot be mixed here; Java's default pair, made for
    /// upgrades, means the cooperative one.
    fn assignment_strategy(&mut self, read: &Read, out: &mut BTreeMap<String, String>) {
        if read.text("group.protocol") == Some("consumer") {
            return;
        }
        let Some(text) = read.text("partition.assignment.strategy") else {
            put(out, "partition.assignment.strategy", "cooperative-sticky");
            return;
        };
        let mut names = Vec::new();
        for name in text.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            match name.rsplit('.').next().unwrap_or(name) {
                "RangeAssignor" | "range" => names.push("range"),
                "RoundRobinAssignor" | "roundrobin" => names.push("roundrobin"),
                "CooperativeStickyAssignor" | "cooperative-sticky" => names.push("cooperative-sticky"),
                other => {
                    let known = ["RangeAssignor", "RoundRobinAssignor", "CooperativeStickyAssignor"];
                    let near = nearest(other, known);
                    let near = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
                    let written = read.written("partition.assignment.strategy");
                    self.errors.push(ConfigError::on(
                        written,
                        format!("`{written}` names `{name}`; it must name some of {}{near}", quoted(&known)),
                    ));
                }
            }
        }
        let strategy = if names.is_empty() || names.contains(&"cooperative-sticky") {
            "cooperative-sticky".to_owned()
        } else {
            names.join(",")
        };
        put(out, "partition.assignment.strategy", strategy);
    }
}

fn quoted(words: &[&str]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}
