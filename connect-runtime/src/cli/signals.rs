//! SIGINT and SIGTERM: the first asks for a graceful stop, the second ends the process at once.

use std::{io, process};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Exit status of a process that a second signal ended, as shells report one that SIGINT has killed.
const EXIT_AT_ONCE: i32 = 130;

/// Waits for the user's wish to stop.
#[derive(Debug)]
pub(super) struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    /// Takes the signals over; call it before anything is started, so that none is missed.
    ///
    /// # Errors
    /// The system refuses the handlers.
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    /// Completes at the next signal, with its name.
    pub(super) async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.interrupt.recv() => "SIGINT",
            _ = self.terminate.recv() => "SIGTERM",
        }
    }

    /// From now on a signal ends the process at once.
    pub(super) fn exit_at_next(mut self) {
        tokio::spawn(async move {
            let name = self.next().await;
            tracing::warn!(signal = name, "second signal: ending at once");
            process::exit(EXIT_AT_ONCE);
        });
    }
}
