//! The system's clock, as the port that task loops take.

use connect_sdk::{erased::BoxFuture, task::ports::Clock};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Real time.
#[derive(Debug)]
pub(crate) struct SystemClock {
    start: Instant,
}

impl SystemClock {
    pub(crate) fn new() -> Self {
        Self { start: Instant::now() }
    }
}

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the one place where time is taken from the system")]
    fn now_ms(&self) -> i64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    }

    fn monotonic(&self) -> Duration {
        self.start.elapsed()
    }

    fn sleep_until(&self, until: Duration) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep_until((self.start + until).into()))
    }
}
