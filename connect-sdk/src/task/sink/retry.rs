//! `Trouble`: a time of retriable errors, from the first of them until something went forward again.

use super::config::SinkTaskConfig;
use crate::{
    error::TaskError,
    task::wait::{Backoff, Streak},
};
use std::time::Duration;

/// The first delay of the back-off.
const DELAY_FIRST: Duration = Duration::from_millis(300);
/// The longest delay of its own that an error is granted: a target that asks for more is looked after once an hour.
const OWN_DELAY_MAX: Duration = Duration::from_secs(3600);

/// How often a sink has failed in a row, and how long it may go on.
#[derive(Debug)]
pub(super) struct Trouble {
    /// The first and the latest failure.
    during: Option<(Duration, Duration)>,
    backoff: Backoff,
    streak: Streak,
    limit: Option<Duration>,
    /// Whoever did not fail for this long has recovered, even if nothing said so: sinks that never commit.
    quiet: Duration,
}

impl Trouble {
    pub(super) fn new(config: &SinkTaskConfig) -> Self {
        Self {
            during: None,
            backoff: Backoff::new(DELAY_FIRST, config.errors.retry_delay_max),
            streak: Streak::default(),
            limit: config.put_retry_timeout,
            quiet: config.errors.retry_delay_max.saturating_mul(2),
        }
    }

    /// Something went forward.
    pub(super) fn over(&mut self) {
        if self.during.take().is_some() {
            self.streak.end();
            self.backoff.reset();
        }
    }

    /// True if the failure that was told just now is worth a line in the log: the 1st, 2nd, 4th, 8th.. in a row is.
    pub(super) fn is_worth_telling(&mut self) -> bool {
        self.streak.add()
    }

    /// `call` failed now. Returns when to try again.
    ///
    /// # Errors
    /// The error itself if it is fatal; a fatal one with its cause if the time is up.
    pub(super) fn failed(&mut self, call: &str, error: TaskError, now: Duration) -> Result<Duration, TaskError> {
        let TaskError::Retriable { cause, after } = error else { return Err(error) };
        if self.during.is_some_and(|(_, latest)| now.saturating_sub(latest) > self.quiet) {
            self.over();
        }
        let since = self.during.map_or(now, |(since, _)| since);
        self.during = Some((since, now));
        let at = now.saturating_add(after.map_or_else(|| self.backoff.next_delay(), |own| own.min(OWN_DELAY_MAX)));
        let Some(limit) = self.limit else { return Ok(at) };
        let end = since.saturating_add(limit);
        if now >= end {
            let limit = limit.as_millis();
            return Err(TaskError::fatal(format!(
                "`{call}` still fails after {limit} ms, the limit of `put.retry.timeout.ms`: {}",
                TaskError::Fatal(cause).chain()
            )));
        }
        // The last try is made when the time is up, not before.
        Ok(at.min(end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::erased::Properties;

    fn trouble(limit: &str) -> Trouble {
        let properties = Properties::from([("put.retry.timeout.ms".to_owned(), limit.to_owned())]);
        Trouble::new(&SinkTaskConfig::from_properties(&properties).unwrap())
    }

    #[test]
    fn the_delay_doubles_unless_the_error_brings_its_own() {
        let ms = Duration::from_millis;
        let mut trouble = trouble("-1");
        assert_eq!(trouble.failed("put", TaskError::retriable("x"), ms(0)).unwrap(), ms(300));
        assert_eq!(trouble.failed("put", TaskError::retriable("x"), ms(300)).unwrap(), ms(900));
        assert_eq!(trouble.failed("put", TaskError::retriable_after("x", ms(5)), ms(900)).unwrap(), ms(905));
        trouble.over();
        assert_eq!(trouble.failed("put", TaskError::retriable("x"), ms(1000)).unwrap(), ms(1300));
        assert_eq!(trouble.failed("put", TaskError::retriable("x"), ms(200_000)).unwrap(), ms(200_300), "long quiet");
    }

    #[test]
    fn no_error_stops_a_sink_for_longer_than_an_hour() {
        let error = TaskError::retriable_after("come back next year", Duration::from_secs(365 * 86_400));
        assert_eq!(trouble("-1").failed("put", error, Duration::ZERO).unwrap(), Duration::from_secs(3600));
    }

    #[test]
    fn the_time_is_limited_and_the_last_try_comes_at_its_end() {
        let ms = Duration::from_millis;
        let mut trouble = trouble("1000");
        assert_eq!(trouble.failed("put", TaskError::retriable("x"), ms(0)).unwrap(), ms(300));
        assert_eq!(trouble.failed("put", TaskError::retriable_after("x", ms(5000)), ms(300)).unwrap(), ms(1000));
        let error = trouble.failed("put", TaskError::retriable("no disk"), ms(1000)).unwrap_err();
        assert!(!error.is_retriable());
        assert_eq!(error.to_string(), "`put` still fails after 1000 ms, the limit of `put.retry.timeout.ms`: no disk");
    }

    #[test]
    fn a_fatal_error_is_not_tried_again() {
        assert_eq!(trouble("-1").failed("put", TaskError::fatal("x"), Duration::ZERO).unwrap_err().to_string(), "x");
    }
}
