//! `Retries`: how often and how long one record is tried again, as Kafka's `RetryWithToleranceOperator` does it.

use super::ErrorConfig;
use crate::error::TaskError;
use std::time::Duration;

/// The wait before the first retry; the n-th is 2^(n-1) times as long.
const DELAY_FIRST: Duration = Duration::from_millis(300);

/// A record that is tried again.
#[derive(Debug)]
pub(crate) struct TryAgain {
    pub(crate) after: Duration,
    pub(crate) error: TaskError,
}

/// The tries of the record that a task is at.
#[derive(Debug)]
pub(crate) struct Retries {
    timeout: Option<Duration>,
    delay_max: Duration,
    random: fastrand::Rng,
    /// The record, when it first failed, and how many waits it has had.
    at: Option<(usize, Duration, u32)>,
}

impl Retries {
    /// Nothing was tried again. The seed decides the random waits.
    pub(crate) fn new(config: &ErrorConfig, seed: u64) -> Self {
        let random = fastrand::Rng::with_seed(seed);
        Self { timeout: config.retry_timeout, delay_max: config.retry_delay_max, random, at: None }
    }

    /// The record at `index` of its batch failed at `now`, and may work later. Answers how long to wait before the next
    /// try, or nothing if its time is up.
    pub(crate) fn next_delay(&mut self, index: usize, now: Duration) -> Option<Duration> {
        let (since, n) = match self.at {
            Some((at, since, n)) if at == index => (since, n),
            _ => (now, 0),
        };
        let deadline = self.timeout.map(|timeout| since.saturating_add(timeout));
        if deadline.is_some_and(|deadline| now >= deadline) {
            self.at = None;
            return None;
        }
        self.at = Some((index, since, n.saturating_add(1)));
        let mut delay = DELAY_FIRST.checked_mul(1_u32.checked_shl(n).unwrap_or(0)).unwrap_or(Duration::MAX);
        if delay > self.delay_max || n >= u32::BITS {
            // Kafka draws from the whole range, so that tasks which failed together do not come back together.
            let max = u64::try_from(self.delay_max.as_millis()).unwrap_or(u64::MAX).max(1);
            delay = Duration::from_millis(self.random.u64(0..max));
        }
        Some(deadline.map_or(delay, |deadline| delay.min(deadline.saturating_sub(now))))
    }

    /// The error that fails the task once the time for retries is up.
    pub(crate) fn ended(&self, error: TaskError) -> TaskError {
        match (error, self.timeout.filter(|timeout| !timeout.is_zero())) {
            (TaskError::Retriable { cause, .. }, Some(timeout)) => {
                let limit = timeout.as_millis();
                TaskError::fatal(format!("{cause} (still after {limit} ms, the limit of `errors.retry.timeout`)"))
            }
            (TaskError::Retriable { cause, .. }, None) => TaskError::Fatal(cause),
            (fatal, _) => fatal,
        }
    }

    /// A batch has ended: its places mean nothing any more.
    pub(crate) fn forget(&mut self) {
        self.at = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    fn retries(timeout: Option<u64>, delay_max: u64) -> Retries {
        let config = ErrorConfig {
            tolerate: false,
            log: false,
            log_messages: false,
            retry_timeout: timeout.map(MS),
            retry_delay_max: MS(delay_max),
        };
        Retries::new(&config, 7)
    }

    #[test]
    fn without_a_timeout_one_try_is_all() {
        assert_eq!(retries(Some(0), 60_000).next_delay(0, MS(5)), None);
    }

    #[test]
    fn waits_double_until_the_time_is_up_and_the_last_one_is_cut() {
        let mut retries = retries(Some(1000), 60_000);
        assert_eq!(retries.next_delay(3, MS(100)), Some(MS(300)));
        assert_eq!(retries.next_delay(3, MS(400)), Some(MS(600)));
        assert_eq!(retries.next_delay(3, MS(1000)), Some(MS(100)), "cut to the deadline at 1100");
        assert_eq!(retries.next_delay(3, MS(1100)), None);
    }

    #[test]
    fn another_record_has_its_own_time() {
        let mut retries = retries(Some(1000), 60_000);
        assert_eq!(retries.next_delay(3, MS(0)), Some(MS(300)));
        assert_eq!(retries.next_delay(4, MS(900)), Some(MS(300)));
        retries.forget();
        assert_eq!(retries.next_delay(4, MS(5000)), Some(MS(300)), "a place of another batch");
    }

    #[test]
    fn above_the_longest_wait_it_is_drawn_from_below_it_for_ever() {
        let mut retries = retries(None, 500);
        assert_eq!(retries.next_delay(0, MS(0)), Some(MS(300)));
        let drawn: Vec<_> = (0..100).map(|n| retries.next_delay(0, MS(n)).unwrap()).collect();
        assert!(drawn.iter().all(|d| *d < MS(500)), "{drawn:?}");
        assert!(drawn.iter().any(|d| *d < MS(250)) && drawn.iter().any(|d| *d > MS(250)), "{drawn:?}");
        let mut again = self::retries(None, 500);
        let same: Vec<_> = (0..101).map(|n| again.next_delay(0, MS(n)).unwrap()).skip(1).collect();
        assert_eq!(drawn, same, "the seed decides");
    }
}
