//! `LineBudget` and `Digest`: how much of what fails comes into the log.

use crate::task::ports::SkipReason;
use std::{fmt::Write, time::Duration};

/// How many failed records get a line of their own within [`LINES_WINDOW`]: a topic that is bad as a whole must not fill
/// the disk with its log. What is beyond is counted in one line.
const LINES_MAX: u32 = 100;
/// See [`LINES_MAX`].
const LINES_WINDOW: Duration = Duration::from_secs(10);
/// How often skipped records are told while there are any.
const DIGEST_INTERVAL: Duration = Duration::from_secs(60);

/// Lines that may still be written.
#[derive(Debug, Default)]
pub(super) struct LineBudget {
    ends: Duration,
    used: u32,
    /// Failed records without a line.
    left_out: u64,
}

impl LineBudget {
    /// True if one more line may be written now; else the record is counted.
    pub(super) fn take(&mut self, now: Duration) -> bool {
        if now >= self.ends {
            self.ends = now.saturating_add(LINES_WINDOW);
            self.used = 0;
        }
        if self.used < LINES_MAX {
            self.used += 1;
            return true;
        }
        self.left_out += 1;
        false
    }

    /// Once the time of a budget is over: how many records had no line.
    pub(super) fn left_out(&mut self, now: Duration) -> Option<u64> {
        if self.left_out == 0 || now < self.ends {
            return None;
        }
        Some(std::mem::take(&mut self.left_out))
    }

    /// How many records had no line until now, whatever the time.
    pub(super) fn left_out_at_the_end(&mut self) -> Option<u64> {
        Some(std::mem::take(&mut self.left_out)).filter(|n| *n > 0)
    }
}

/// Counts skipped records and tells of them: of the first at once, of others now and then.
#[derive(Debug, Default)]
pub(super) struct Digest {
    /// The time of the last line.
    told: Option<Duration>,
    failed: u64,
    refused: u64,
    rejected: u64,
    first: Option<String>,
}

impl Digest {
    /// Notes skipped records. What transformations drop on purpose is nothing to warn of.
    pub(super) fn add(&mut self, reason: SkipReason, n: u64, first: impl FnOnce() -> String) {
        match reason {
            SkipReason::Filtered => return,
            SkipReason::Failed => self.failed += n,
            SkipReason::Refused => self.refused += n,
            SkipReason::Rejected => self.rejected += n,
        }
        self.first.get_or_insert_with(first);
    }

    /// The line that is due now, if one is.
    pub(super) fn line(&mut self, now: Duration) -> Option<String> {
        let since = self.told.map(|told| now.saturating_sub(told));
        if since.is_some_and(|since| since < DIGEST_INTERVAL) {
            return None;
        }
        self.line_at_the_end(now)
    }

    /// What was not told, whether it is due or not.
    pub(super) fn line_at_the_end(&mut self, now: Duration) -> Option<String> {
        let since = self.told.map(|told| now.saturating_sub(told));
        let first = self.first.take()?;
        self.told = Some(now);
        let n = self.failed + self.refused + self.rejected;
        let mut line = format!("{n} records were skipped");
        if let Some(since) = since {
            let _ok = write!(line, " in the last {} s", since.as_secs());
        }
        let parts = [("failed", &mut self.failed), ("refused", &mut self.refused), ("rejected", &mut self.rejected)];
        let parts: Vec<_> = parts
            .into_iter()
            .filter(|(_, n)| **n > 0)
            .map(|(name, n)| format!("{name} {}", std::mem::take(n)))
            .collect();
        let _ok = write!(line, " ({}); the first: {first}", parts.join(", "));
        Some(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: fn(u64) -> Duration = Duration::from_secs;

    #[test]
    fn a_window_has_so_many_lines_and_then_one_that_counts() {
        let mut lines = LineBudget::default();
        let n = (0..250).filter(|_| lines.take(S(1))).count();
        assert_eq!((n, lines.left_out(S(10))), (100, None), "the window is not over");
        assert_eq!((lines.left_out(S(11)), lines.left_out(S(11))), (Some(150), None));
        assert!(lines.take(S(11)));
        assert_eq!(lines.left_out_at_the_end(), None);
    }

    #[test]
    fn the_first_skip_is_told_at_once_and_others_each_minute() {
        let mut digest = Digest::default();
        assert_eq!(digest.line(S(0)), None);
        digest.add(SkipReason::Filtered, 5, || unreachable!("not worth a word"));
        digest.add(SkipReason::Failed, 2, || "bad".to_owned());
        assert_eq!(digest.line(S(0)).unwrap(), "2 records were skipped (failed 2); the first: bad");
        digest.add(SkipReason::Failed, 1, || "worse".to_owned());
        digest.add(SkipReason::Rejected, 3, || "not this".to_owned());
        assert_eq!(digest.line(S(59)), None);
        let line = digest.line(S(61)).unwrap();
        assert_eq!(line, "4 records were skipped in the last 61 s (failed 1, rejected 3); the first: worse");
        assert_eq!(digest.line(S(200)), None, "nothing new");
    }
}
