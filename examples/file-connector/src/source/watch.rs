//! Waits until a file may have changed: inotify where it works, a scan interval everywhere.

use futures_core::Stream;
use inotify::{EventStream, Inotify, WatchMask};
use std::{future::poll_fn, io, path::Path, pin::Pin, task::Poll, time::Duration};

/// Bytes for the events of one read; what events carry is not used, so a full buffer loses nothing.
const EVENT_BUFFER_BYTES: usize = 4096;

/// The watches of one task.
pub(super) struct Watch {
    events: Option<EventStream<[u8; EVENT_BUFFER_BYTES]>>,
}

impl std::fmt::Debug for Watch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watch").field("inotify", &self.events.is_some()).finish()
    }
}

impl Watch {
    /// No watches yet. Without inotify (too many instances, another system) only the scan interval remains.
    pub(super) fn new() -> Self {
        let events = Inotify::init().and_then(|inotify| inotify.into_event_stream([0; EVENT_BUFFER_BYTES]));
        if let Err(error) = &events {
            tracing::warn!(%error, "files cannot be watched; changes are noticed at the scan interval only");
        }
        Self { events: events.ok() }
    }

    /// Watches an open file for growth; call it before the first read.
    pub(super) fn file(&mut self, path: &Path) {
        self.add(path, WatchMask::MODIFY);
    }

    /// Watches the folder of a file, for a new file under its name.
    pub(super) fn folder_of(&mut self, path: &Path) {
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        self.add(folder, WatchMask::CREATE | WatchMask::MOVED_TO);
    }

    fn add(&mut self, path: &Path, mask: WatchMask) {
        if let Some(events) = &self.events
            && let Err(error) = events.watches().add(path, mask)
        {
            tracing::debug!(path = %path.display(), %error, "cannot be watched; changes are noticed at the scan interval");
        }
    }

    /// Completes when something watched has changed, or after `at_latest`.
    ///
    /// # Errors
    /// The events cannot be read.
    pub(super) async fn changed(&mut self, at_latest: Duration) -> io::Result<()> {
        let Some(events) = &mut self.events else {
            tokio::time::sleep(at_latest).await;
            return Ok(());
        };
        // Everything that is there belongs to one change: a look at the files follows it.
        let mut changed = false;
        let next = poll_fn(|cx| {
            loop {
                match Pin::new(&mut *events).poll_next(cx) {
                    Poll::Ready(Some(Ok(_))) => changed = true,
                    Poll::Ready(Some(Err(e))) => return Poll::Ready(Err(e)),
                    Poll::Ready(None) => return Poll::Pending,
                    Poll::Pending if changed => return Poll::Ready(Ok(())),
                    Poll::Pending => return Poll::Pending,
                }
            }
        });
        tokio::time::timeout(at_latest, next).await.unwrap_or(Ok(()))
    }
}
