//! The real broker: a shared one for most tests, an own one for tests that kill or freeze it.

use std::sync::{Mutex, OnceLock};

pub use xtask::kafka::{Kafka, Options};

/// `host:port` of the broker that the tests of this process share. It is never killed, frozen or restarted by a test:
/// those start their own with [`Kafka::start`].
pub fn bootstrap() -> &'static str {
    static BOOTSTRAP: OnceLock<String> = OnceLock::new();
    /// Held until the end of the process, when the broker's watchdog ends it.
    static OWN: Mutex<Option<Kafka>> = Mutex::new(None);
    BOOTSTRAP.get_or_init(|| {
        xtask::kafka::given_bootstrap().unwrap_or_else(|| {
            let kafka = start(Options::new());
            let bootstrap = kafka.bootstrap().to_owned();
            *OWN.lock().expect("nobody panics while the lock is held") = Some(kafka);
            bootstrap
        })
    })
}

/// A broker of the calling test alone.
///
/// Apache Kafka 4.3.1 has a fault that shows with one broker only. If it is killed after it has said that a transaction is
/// committed and before the markers stand in the partitions, it may load the transaction when it starts again before it
/// knows where the partitions are ("Couldn't find leader endpoint for partitions"): it then takes them for deleted and
/// writes no markers. What was committed is aborted if the next transaction of the same producer is. A test that kills the
/// broker at any time after a commit and counts records allows for that, or first waits until the records are seen.
pub fn start(options: Options) -> Kafka {
    Kafka::start(options).unwrap_or_else(|error| panic!("the test broker does not start: {error}"))
}
