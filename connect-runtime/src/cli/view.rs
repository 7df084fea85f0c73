//! The live view of `connect dev`: what every task is doing, redrawn in place on a terminal, or as plain lines.

use super::screen;
use crate::{
    config::Delivery,
    status::State,
    worker::{TaskMonitor, Totals},
};
use std::{collections::HashMap, io, sync::Arc, time::Duration};

/// How often a terminal is redrawn.
pub(super) const REDRAW_INTERVAL: Duration = Duration::from_millis(500);
/// How often plain lines are printed, while anything moves.
pub(super) const PLAIN_INTERVAL: Duration = Duration::from_secs(5);

/// One task at one moment.
#[derive(Debug, Clone, PartialEq)]
struct Row {
    task: String,
    state: State,
    delivery: Delivery,
    /// Since the view before.
    records_per_s: f64,
    bytes_per_s: f64,
    /// Since the start.
    records: u64,
    skipped: u64,
    /// What the task has taken in and not yet given out.
    under_way: u64,
    /// Records in the topics that a sink has not consumed yet.
    lag: Option<u64>,
}

/// Draws rows and remembers what it needs for rates.
#[derive(Debug)]
pub(super) struct View {
    in_place: bool,
    before: HashMap<String, Totals>,
}

impl View {
    /// `in_place`: standard output is a terminal.
    pub(super) fn new(in_place: bool) -> Self {
        Self { in_place, before: HashMap::new() }
    }

    /// How long until the next view.
    pub(super) fn interval(&self) -> Duration {
        if self.in_place { REDRAW_INTERVAL } else { PLAIN_INTERVAL }
    }

    /// The lines that show what the tasks have done in the `elapsed` time since the last call; `lags` by connector.
    pub(super) fn lines(
        &mut self,
        tasks: &[Arc<TaskMonitor>],
        lags: &HashMap<String, u64>,
        elapsed: Duration,
    ) -> Vec<String> {
        let rows: Vec<Row> = tasks
            .iter()
            .map(|task| {
                let (name, now) = (task.id().to_string(), task.totals());
                let before = self.before.insert(name.clone(), now).unwrap_or_default();
                let delivery = task.guarantee().delivery;
                row(name, task.state(), delivery, before, now, elapsed, lags.get(&task.id().connector).copied())
            })
            .collect();
        if self.in_place {
            return table(&rows);
        }
        rows.iter().filter(|r| r.records_per_s > 0.0 || r.state != State::Running).map(plain).collect()
    }

    /// Draws what the tasks have done.
    ///
    /// # Errors
    /// Standard output cannot be written.
    pub(super) fn draw(
        &mut self,
        tasks: &[Arc<TaskMonitor>],
        lags: &HashMap<String, u64>,
        elapsed: Duration,
    ) -> io::Result<()> {
        let lines = self.lines(tasks, lags, elapsed);
        if self.in_place { screen::redraw(&lines) } else { screen::print(&lines) }
    }
}

#[expect(clippy::cast_precision_loss, reason = "rates are shown with three digits")]
fn row(
    task: String,
    state: State,
    delivery: Delivery,
    before: Totals,
    now: Totals,
    elapsed: Duration,
    lag: Option<u64>,
) -> Row {
    let seconds = elapsed.as_secs_f64().max(1e-3);
    let rate = |before: u64, now: u64| now.saturating_sub(before) as f64 / seconds;
    Row {
        task,
        state,
        delivery,
        records_per_s: rate(before.records_out, now.records_out),
        bytes_per_s: rate(before.bytes_out, now.bytes_out),
        records: now.records_out,
        skipped: now.skipped(),
        under_way: now.records_in.saturating_sub(now.records_out + now.skipped()),
        lag,
    }
}

fn table(rows: &[Row]) -> Vec<String> {
    let width = rows.iter().map(|r| r.task.chars().count()).max().unwrap_or(0).max("task".len());
    let head = format!(
        "{:width$}  {:<10}  {:<13}  {:>9}  {:>10}  {:>12}  {:>9}  {:>9}  {:>7}",
        "task", "state", "delivery", "records/s", "bytes/s", "records", "under way", "lag", "skipped"
    );
    std::iter::once(head)
        .chain(rows.iter().map(|r| {
            format!(
                "{:width$}  {:<10}  {:<13}  {:>9}  {:>10}  {:>12}  {:>9}  {:>9}  {:>7}",
                r.task,
                r.state.name(),
                r.delivery.to_string(),
                short(r.records_per_s),
                short(r.bytes_per_s),
                r.records,
                r.under_way,
                r.lag.map_or_else(|| "-".to_owned(), |lag| lag.to_string()),
                r.skipped
            )
        }))
        .collect()
}

fn plain(row: &Row) -> String {
    let lag = row.lag.map(|lag| format!(", lag {lag}")).unwrap_or_default();
    let skipped = if row.skipped > 0 { format!(", {} skipped", row.skipped) } else { String::new() };
    format!(
        "{} {}: {} records/s, {} bytes/s, {} records, {} under way{lag}{skipped}",
        row.task,
        row.state.name(),
        short(row.records_per_s),
        short(row.bytes_per_s),
        row.records,
        row.under_way
    )
}

/// A number in at most five characters: `999`, `1.23k`, `45.6M`.
fn short(n: f64) -> String {
    let (n, unit) = match n {
        n if n < 1e3 => return format!("{n:.0}"),
        n if n < 1e6 => (n / 1e3, "k"),
        n if n < 1e9 => (n / 1e6, "M"),
        n => (n / 1e9, "G"),
    };
    let digits = if n < 10.0 { 2 } else { usize::from(n < 100.0) };
    format!("{n:.digits$}{unit}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{config::sink_guarantee, id::ConnectorTaskId};
    use connect_sdk::task::ports::{TaskEvent, TaskObserver};
    use std::collections::BTreeMap;

    fn task() -> Arc<TaskMonitor> {
        let guarantee = sink_guarantee(&BTreeMap::new(), "read_committed");
        Arc::new(TaskMonitor::new(ConnectorTaskId { connector: "c".into(), task: 0 }, Arc::new(guarantee)))
    }

    #[test]
    fn numbers_stay_short() {
        for (n, expected) in [(0.0, "0"), (999.0, "999"), (1234.0, "1.23k"), (45_600_000.0, "45.6M"), (7.8e11, "780G")]
        {
            assert_eq!(short(n), expected);
        }
    }

    #[test]
    fn rates_are_those_since_the_view_before() {
        let task = task();
        task.event(TaskEvent::Running);
        let mut view = View::new(false);
        let mut lines = |task: &Arc<TaskMonitor>| {
            let lags = HashMap::from([("c".to_owned(), 7)]);
            view.lines(std::slice::from_ref(task), &lags, Duration::from_secs(2))
        };
        task.records_in(30, 3000);
        task.records_out(20, 2000);
        assert_eq!(lines(&task), ["c-0 RUNNING: 10 records/s, 1.00k bytes/s, 20 records, 10 under way, lag 7"]);
        assert!(lines(&task).is_empty(), "a task that stands still is not repeated");
    }

    #[test]
    fn a_terminal_has_a_table_with_every_task() {
        let lines = View::new(true).lines(&[task(), task()], &HashMap::new(), Duration::from_secs(1));
        assert_eq!(lines.len(), 3);
        assert!(lines[0].starts_with("task") && lines[1].starts_with("c-0   UNASSIGNED"), "{lines:?}");
    }
}
