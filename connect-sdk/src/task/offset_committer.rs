//! Stores the accepted offsets of a source task, and tells its commit hook.

use super::{
    guard::{Guarded, guard},
    ports::{OffsetStore, TaskEvent, TaskObserver},
    wait::{Streak, Timer},
};
use crate::{
    erased::{BoxFuture, DynHook, DynSourceConnector, Properties},
    error::{Result, TaskError},
    source::{OffsetMap, PartitionMap},
    task::OpenCx,
};
use std::{
    fmt,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

/// The accepted offsets of one task, by slot, on their way into the store. One store call at a time.
pub(crate) struct OffsetCommitter {
    store: Arc<dyn OffsetStore>,
    observer: Arc<dyn TaskObserver>,
    partitions: Arc<[PartitionMap]>,
    /// The newest accepted offset of each slot: where a new life of the task goes on.
    accepted: Vec<Option<OffsetMap>>,
    /// Slots whose accepted offset is not on its way and not stored.
    dirty: Vec<bool>,
    storing: Option<Storing>,
    timeout: Duration,
    timer: Timer,
    failures: Streak,
    hook: HookCalls,
}

struct Storing {
    call: BoxFuture<'static, Result<()>>,
    offsets: Vec<(u32, OffsetMap)>,
}

impl OffsetCommitter {
    /// `timer` is a new one; `timeout` is `offset.flush.timeout.ms`.
    pub(crate) fn new(
        store: Arc<dyn OffsetStore>,
        observer: Arc<dyn TaskObserver>,
        partitions: Arc<[PartitionMap]>,
        timeout: Duration,
        timer: Timer,
        hook: HookCalls,
    ) -> Self {
        let n = partitions.len();
        Self {
            store,
            observer,
            partitions,
            accepted: vec![None; n],
            dirty: vec![false; n],
            storing: None,
            timeout,
            timer,
            failures: Streak::default(),
            hook,
        }
    }

    /// Sets what the store had when the task started.
    pub(crate) fn loaded(&mut self, offsets: Vec<Option<OffsetMap>>) {
        self.accepted = offsets;
        self.accepted.resize(self.partitions.len(), None);
    }

    /// The partitions with the offsets from which a new life goes on.
    pub(crate) fn positions(&self) -> Vec<(PartitionMap, Option<OffsetMap>)> {
        self.partitions.iter().cloned().zip(self.accepted.iter().cloned()).collect()
    }

    /// Notes newly accepted offsets; they are stored by the next [`Self::begin`].
    pub(crate) fn accept(&mut self, offsets: &mut Vec<(u32, OffsetMap)>) {
        for (slot, offset) in offsets.drain(..) {
            self.accepted[slot as usize] = Some(offset);
            self.dirty[slot as usize] = true;
        }
    }

    /// Notes offsets that were stored elsewhere, in a transaction with their records; the hook is told.
    pub(crate) fn stored(&mut self, offsets: Vec<(u32, OffsetMap)>) {
        for (slot, offset) in &offsets {
            self.accepted[*slot as usize] = Some(offset.clone());
        }
        self.hook.stored(offsets);
        self.hook.begin();
    }

    /// True if this is the stored offset of the slot already.
    pub(crate) fn is_accepted(&self, slot: u32, offset: &OffsetMap) -> bool {
        self.accepted[slot as usize].as_ref() == Some(offset)
    }

    /// The partition of a slot.
    pub(crate) fn partition(&self, slot: u32) -> &PartitionMap {
        &self.partitions[slot as usize]
    }

    /// Starts to store what is not stored, unless a store call is still under way. Hooks that have something left to
    /// hear are called again, too.
    pub(crate) fn begin(&mut self) {
        self.hook.begin();
        if self.storing.is_some() {
            return;
        }
        let mut offsets = Vec::new();
        for (slot, dirty) in (0..).zip(&mut self.dirty) {
            if std::mem::take(dirty) {
                let offset = self.accepted[slot as usize].clone().expect("only accepted offsets are dirty");
                offsets.push((slot, offset));
            }
        }
        if offsets.is_empty() {
            return;
        }
        let entries = offsets.iter().map(|(slot, o)| (self.partitions[*slot as usize].clone(), o.clone())).collect();
        let store = self.store.clone();
        let call = Box::pin(async move { store.store(entries).await });
        self.timer.set(self.timeout);
        self.storing = Some(Storing { call, offsets });
    }

    /// Moves a store call and a hook call on. Ready when none is under way; something may then still be left to store.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if let Some(storing) = &mut self.storing {
            let result = match storing.call.as_mut().poll(cx) {
                Poll::Ready(result) => Some(result),
                // The store takes calls in order: what this one may still write, a later one writes over.
                Poll::Pending if self.timer.poll(cx).is_ready() => Some(Err(TaskError::retriable(format!(
                    "not done after {} ms (`offset.flush.timeout.ms`)",
                    self.timeout.as_millis()
                )))),
                Poll::Pending => None,
            };
            if let (Some(result), Some(Storing { offsets, .. })) =
                (result.as_ref(), self.storing.take_if(|_| result.is_some()))
            {
                self.timer.clear();
                self.finish(result, offsets);
            }
        }
        let hook = self.hook.poll(cx, &*self.observer);
        if self.storing.is_some() { Poll::Pending } else { hook }
    }

    /// True if there is nothing left to store.
    pub(crate) fn is_stored(&self) -> bool {
        self.storing.is_none() && !self.dirty.contains(&true)
    }

    /// How many store calls in a row have failed.
    pub(crate) fn n_failures(&self) -> u64 {
        self.failures.n()
    }

    fn finish(&mut self, result: &Result<()>, offsets: Vec<(u32, OffsetMap)>) {
        self.observer.offsets_committed(result.is_ok());
        match result {
            Ok(()) => {
                if self.failures.end() {
                    self.observer.event(TaskEvent::Info("offsets can be stored again".to_owned()));
                }
                self.hook.stored(offsets);
                self.hook.begin();
            }
            Err(error) => {
                offsets.iter().for_each(|(slot, _)| self.dirty[*slot as usize] = true);
                if self.failures.add() {
                    self.observer.event(TaskEvent::Warning(format!(
                        "offsets could not be stored and are kept for the next try ({} in a row): {}",
                        self.failures.n(),
                        error.chain()
                    )));
                }
            }
        }
    }
}

impl fmt::Debug for OffsetCommitter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OffsetCommitter").field("storing", &self.storing.is_some()).finish_non_exhaustive()
    }
}

/// The calls of a commit hook, one at a time; what it has not heard, or has failed on, is told again.
pub(crate) struct HookCalls {
    connector: Arc<dyn DynSourceConnector>,
    properties: Properties,
    cx: OpenCx,
    partitions: Arc<[PartitionMap]>,
    hook: Option<Box<dyn DynHook>>,
    call: Option<HookCall>,
    /// Per slot: stored, and not told yet.
    untold: Vec<Option<OffsetMap>>,
    failures: Streak,
}

struct HookCall {
    /// Gives the hook back, with what it answered.
    future: Guarded<'static, (Box<dyn DynHook>, Result<()>)>,
    telling: Vec<(u32, OffsetMap)>,
}

impl HookCalls {
    pub(crate) fn new(
        connector: Arc<dyn DynSourceConnector>,
        properties: Properties,
        cx: OpenCx,
        partitions: Arc<[PartitionMap]>,
    ) -> Self {
        let untold = if connector.meta().has_hook { vec![None; partitions.len()] } else { Vec::new() };
        Self { connector, properties, cx, partitions, hook: None, call: None, untold, failures: Streak::default() }
    }

    fn stored(&mut self, offsets: Vec<(u32, OffsetMap)>) {
        if self.untold.is_empty() {
            return;
        }
        for (slot, offset) in offsets {
            self.untold[slot as usize] = Some(offset);
        }
    }

    fn begin(&mut self) {
        if self.call.is_some() {
            return;
        }
        let telling: Vec<(u32, OffsetMap)> =
            (0..).zip(&mut self.untold).filter_map(|(slot, offset)| Some((slot, offset.take()?))).collect();
        if telling.is_empty() {
            return;
        }
        let stored = telling.iter().map(|(slot, o)| (self.partitions[*slot as usize].clone(), o.clone())).collect();
        let (connector, properties, cx) = (self.connector.clone(), self.properties.clone(), self.cx.clone());
        let hook = self.hook.take();
        let future = guard("the commit hook", move || {
            Box::pin(async move {
                let mut hook = match hook {
                    Some(hook) => hook,
                    None => match connector.connect_hook(properties, cx) {
                        Some(connecting) => connecting.await?,
                        None => return Err(TaskError::fatal("this connector has no commit hook")),
                    },
                };
                let told = hook.committed(stored).await;
                Ok((hook, told))
            })
        });
        self.call = Some(HookCall { future, telling });
    }

    fn poll(&mut self, cx: &mut Context<'_>, observer: &dyn TaskObserver) -> Poll<()> {
        let Some(call) = &mut self.call else { return Poll::Ready(()) };
        let Poll::Ready(result) = Pin::new(&mut call.future).poll(cx) else { return Poll::Pending };
        let telling = self.call.take().map(|call| call.telling).unwrap_or_default();
        let error = match result {
            Ok((hook, told)) => {
                self.hook = Some(hook);
                told.err()
            }
            // It could not connect, or it panicked: the next call connects anew.
            Err(error) => Some(error),
        };
        match error {
            None => drop(self.failures.end()),
            Some(error) => {
                for (slot, offset) in telling {
                    // Something newer may have been stored while the hook was at work.
                    self.untold[slot as usize].get_or_insert(offset);
                }
                if self.failures.add() {
                    observer.event(TaskEvent::Warning(format!(
                        "the commit hook failed and is called again at the next flush ({} in a row): {}",
                        self.failures.n(),
                        error.chain()
                    )));
                }
                return Poll::Ready(());
            }
        }
        // Offsets that were stored meanwhile.
        self.begin();
        if self.call.is_some() { self.poll(cx, observer) } else { Poll::Ready(()) }
    }
}
