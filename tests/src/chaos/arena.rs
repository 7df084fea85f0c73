//! What the cycles of a run share: a broker, and a proxy before it.

use std::time::Duration;

use xtask::kafka::metadata;

use crate::broker::{self, Kafka, Options};
use crate::cluster::Cluster;
use crate::proxy::Proxy;

/// How often the broker looks for transactions that have run out of time. Milliseconds; Kafka's default is 10 s.
const EXPIRY_CHECK_MS: &str = "200";
/// Members of groups of KIP-848 have their session time-out from the broker, which is 45 s at least by default.
const GROUPS: [(&str, &str); 4] = [
    ("group.consumer.min.session.timeout.ms", "1000"),
    ("group.consumer.session.timeout.ms", "1500"),
    ("group.consumer.min.heartbeat.interval.ms", "100"),
    ("group.consumer.heartbeat.interval.ms", "300"),
];

const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

/// A broker with a proxy.
#[derive(Debug)]
pub struct Arena {
    /// The broker.
    pub kafka: Kafka,
    /// Workers whose connection is disturbed come through it.
    pub proxy: Proxy,
    /// The test's own eyes: not through the proxy.
    pub cluster: Cluster,
    /// False from its kill to its restart.
    pub broker_runs: bool,
}

impl Arena {
    /// Starts both.
    pub fn start() -> Self {
        let proxy = Proxy::start();
        let options = Options::new()
            .proxy(proxy.port())
            .property("transaction.abort.timed.out.transaction.cleanup.interval.ms", EXPIRY_CHECK_MS);
        let options = GROUPS.iter().fold(options, |options, (key, value)| options.property(*key, *value));
        let kafka = broker::start(options);
        proxy.forward_to(kafka.behind_proxy().expect("the broker was started for a proxy"));
        let cluster = Cluster::at(kafka.bootstrap());
        Self { kafka, proxy, cluster, broker_runs: true }
    }

    /// Kills the broker.
    pub fn kill_broker(&mut self) {
        self.kafka.kill9().unwrap_or_else(|error| panic!("the broker cannot be killed: {error}"));
        self.broker_runs = false;
    }

    /// Brings the broker back, if it is away.
    pub fn restart_broker(&mut self) {
        if !self.broker_runs {
            self.kafka.restart().unwrap_or_else(|error| panic!("the broker does not come back: {error}"));
            self.broker_runs = true;
        }
    }

    /// Ends every disturbance.
    pub fn heal(&mut self) {
        self.proxy.resume();
        self.restart_broker();
    }

    /// Ends every disturbance, also a broker that has ended by itself, so that the next cycle finds a good one.
    pub fn renew(&mut self) {
        self.heal();
        if metadata::cluster(self.kafka.bootstrap(), ANSWER_TIMEOUT).is_err() {
            // Ended or stuck: whatever its end gives, it is started again.
            self.kafka.kill9().ok();
            self.broker_runs = false;
            self.restart_broker();
        }
    }
}
