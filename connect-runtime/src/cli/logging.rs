//! Log lines: to standard error, so that standard output belongs to connectors.

use super::screen::LogWriter;
use std::io::{IsTerminal, stderr};
use tracing_subscriber::EnvFilter;

/// Which lines are shown where `CONNECT_LOG` says nothing.
const DEFAULT_FILTER: &str = "info";

/// Starts logging. `CONNECT_LOG` chooses levels, such as `debug` or `connect_runtime::kafka=debug,info`.
pub(super) fn init() {
    let wished = std::env::var("CONNECT_LOG").ok();
    let (filter, wrong) = match wished.as_deref().map(EnvFilter::try_new) {
        None => (EnvFilter::new(DEFAULT_FILTER), None),
        Some(Ok(filter)) => (filter, None),
        Some(Err(error)) => (EnvFilter::new(DEFAULT_FILTER), Some(error)),
    };
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(|| LogWriter)
        .with_ansi(stderr().is_terminal())
        // A line that cannot be written would be reported on standard error, where it cannot be written either: that
        // panics, and a full disk under the log would end the worker. As in Java the line is lost and the work goes on.
        .log_internal_errors(false);
    // A second worker in the same process keeps the log of the first.
    let started = log.try_init().is_ok();
    if let (true, Some(error)) = (started, wrong) {
        tracing::warn!(%error, "value of `CONNECT_LOG` is not a filter; showing `{DEFAULT_FILTER}`");
    }
}
