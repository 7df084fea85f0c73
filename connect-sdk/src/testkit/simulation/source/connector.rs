//! The connector of a simulated source: the author's, called through a journal, with trouble of the world's making.

use super::super::{driver::Calls, trouble::Trouble};
use super::ports::Caller;
use crate::{
    config::{ConfigDef, ConfigErrors},
    erased::{BoxFuture, DynHook, DynSource, DynSourceConnector, Polled, Properties},
    error::Result,
    source::{BatchLimits, OffsetMap, PartitionMap, SourceMeta, Viable},
    task::{OpenCx, TaskInfo},
    testkit::source::Subject,
};

/// The author's connector in the hands of one task.
#[derive(Clone)]
pub(super) struct Simulated {
    pub(super) subject: Subject,
    pub(super) caller: Caller,
    pub(super) calls: Calls,
    pub(super) trouble: Trouble,
}

impl DynSourceConnector for Simulated {
    fn meta(&self) -> &'static SourceMeta {
        self.subject.connector.meta()
    }

    fn config_def(&self) -> ConfigDef {
        self.subject.connector.config_def()
    }

    fn check(&self, props: &Properties) -> Result<Viable, ConfigErrors> {
        self.subject.connector.check(props)
    }

    fn partitions(&self, props: Properties) -> BoxFuture<'static, Result<Vec<PartitionMap>>> {
        self.subject.connector.partitions(props)
    }

    fn open(
        &self,
        props: Properties,
        task: TaskInfo,
        assigned: Vec<(PartitionMap, Option<OffsetMap>)>,
        limits: BatchLimits,
    ) -> BoxFuture<'static, Result<Box<dyn DynSource>>> {
        let simulated = self.clone();
        Box::pin(async move {
            let Self { subject, caller, calls, trouble } = &simulated;
            let at = |(partition, offset): &(PartitionMap, Option<OffsetMap>)| match offset {
                Some(offset) => format!(" {partition}={offset}"),
                None => format!(" {partition}=(start)"),
            };
            caller.step(&format!("opens the source at{}", assigned.iter().map(at).collect::<String>()));
            caller.ledger.opened(caller.task, &assigned);
            caller.life.point().await;
            trouble.before("open").await?;
            let source = calls.watch(subject.connector.open(props, task, assigned, limits)).await?;
            caller.life.point().await;
            Ok(Box::new(Opened { simulated, source }) as Box<dyn DynSource>)
        })
    }

    fn connect_hook(&self, props: Properties, cx: OpenCx) -> Option<BoxFuture<'static, Result<Box<dyn DynHook>>>> {
        let connecting = self.subject.connector.connect_hook(props, cx)?;
        let simulated = self.clone();
        Some(Box::pin(async move {
            simulated.caller.life.point().await;
            let hook = simulated.calls.watch(connecting).await?;
            Ok(Box::new(Hook { simulated, hook }) as Box<dyn DynHook>)
        }))
    }

    fn check_position(&self, partition: &PartitionMap, offset: Option<&OffsetMap>) -> Result<()> {
        self.subject.connector.check_position(partition, offset)
    }
}

struct Opened {
    simulated: Simulated,
    source: Box<dyn DynSource>,
}

impl DynSource for Opened {
    fn poll(&mut self) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move {
            let Simulated { caller, calls, trouble, .. } = &self.simulated;
            caller.life.point().await;
            trouble.before("poll").await?;
            calls.watch(self.source.poll()).await?;
            caller.life.point().await;
            // What it has emitted is dropped with it.
            trouble.after("poll").await
        })
    }

    fn take(&mut self) -> Result<Polled> {
        let polled = self.source.take()?;
        let emitted = self.simulated.subject.emitted(&polled);
        if !emitted.is_empty() {
            let n_records = emitted.iter().filter(|e| e.record.is_some()).count();
            self.simulated.caller.step(&format!("has polled {n_records} records"));
        }
        self.simulated.caller.ledger.polled(self.simulated.caller.task, &emitted);
        Ok(polled)
    }

    fn reuse_buffer(&mut self, buffer: Vec<u8>) {
        self.source.reuse_buffer(buffer);
    }

    fn close(self: Box<Self>) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            let Simulated { caller, calls, .. } = &self.simulated;
            caller.life.point().await;
            caller.step("closes the source");
            calls.watch(self.source.close()).await;
        })
    }
}

struct Hook {
    simulated: Simulated,
    hook: Box<dyn DynHook>,
}

impl DynHook for Hook {
    fn committed(&mut self, stored: Vec<(PartitionMap, OffsetMap)>) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move {
            let Simulated { caller, calls, trouble, .. } = &self.simulated;
            caller.life.point().await;
            caller.step("tells the commit hook");
            caller.ledger.told(&stored);
            trouble.before("committed").await?;
            calls.watch(self.hook.committed(stored)).await
        })
    }
}
