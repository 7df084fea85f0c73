//! The connector of a simulated sink: the author's, called through a journal, with trouble of the world's making.

use super::super::{driver::Calls, trouble::Trouble};
use super::consumer::Caller;
use crate::{
    config::{ConfigDef, ConfigErrors},
    erased::{BoxFuture, DynSink, DynSinkConnector, Properties},
    error::Result,
    sink::{CloseReason, PreCommit, PutCx, Safe, SinkMeta, SinkRecord, StartOffsets, TopicPartition},
    task::OpenCx,
};
use std::sync::Arc;

/// The author's connector in the hands of one task.
#[derive(Clone)]
pub(super) struct Simulated {
    pub(super) connector: Arc<dyn DynSinkConnector>,
    pub(super) caller: Caller,
    pub(super) calls: Calls,
    pub(super) trouble: Trouble,
}

impl Simulated {
    /// What comes before each call.
    async fn begin(&self, call: &str, details: &str) {
        self.caller.life.point().await;
        self.caller.step(&format!("calls `{call}`{details}"));
        self.caller.ledger.calls(self.caller.member, call);
    }

    /// What comes behind each call.
    async fn end(&self) {
        self.caller.ledger.returns(self.caller.member);
        self.caller.life.point().await;
    }
}

impl DynSinkConnector for Simulated {
    fn meta(&self) -> &'static SinkMeta {
        self.connector.meta()
    }

    fn config_def(&self) -> ConfigDef {
        self.connector.config_def()
    }

    fn check(&self, props: &Properties) -> Result<(), ConfigErrors> {
        self.connector.check(props)
    }

    fn open(&self, props: Properties, cx: OpenCx) -> BoxFuture<'static, Result<Box<dyn DynSink>>> {
        let simulated = self.clone();
        Box::pin(async move {
            let Self { connector, caller, calls, trouble } = &simulated;
            caller.life.point().await;
            caller.step("opens the sink");
            trouble.before("open").await?;
            let sink = calls.watch(connector.open(props, cx)).await?;
            caller.ledger.opened(caller.member);
            caller.life.point().await;
            Ok(Box::new(Opened { simulated, sink: Some(sink) }) as Box<dyn DynSink>)
        })
    }
}

struct Opened {
    simulated: Simulated,
    sink: Option<Box<dyn DynSink>>,
}

impl Opened {
    fn parts(&mut self) -> (&Simulated, &mut dyn DynSink) {
        (&self.simulated, &mut **self.sink.as_mut().expect("only `close` takes the sink, and it takes all"))
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        self.simulated.caller.ledger.dropped(self.simulated.caller.member);
    }
}

impl DynSink for Opened {
    fn lends(&self) -> bool {
        self.sink.as_ref().is_some_and(|sink| sink.lends())
    }

    fn put<'a>(&'a mut self, records: &'a mut Vec<SinkRecord>, cx: &'a mut PutCx) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let (simulated, sink) = self.parts();
            let Simulated { caller, calls, trouble, .. } = simulated;
            let places: Vec<_> =
                records.iter().map(|r| (TopicPartition::new(r.topic(), r.partition()), r.offset())).collect();
            let shown: String = places.iter().map(|(p, offset)| format!(" {p}@{offset}")).collect();
            simulated.begin("put", &shown).await;
            caller.ledger.puts(caller.member, &places);
            trouble.before("put").await?;
            calls.watch(sink.put(records, cx)).await?;
            trouble.after("put").await?;
            caller.ledger.put(caller.member, &places);
            simulated.end().await;
            Ok(())
        })
    }

    fn pre_commit<'c>(&'c mut self, at: PreCommit<'c>) -> BoxFuture<'c, Result<Safe<'c>>> {
        Box::pin(async move {
            let (simulated, sink) = self.parts();
            let Simulated { caller, calls, trouble, .. } = simulated;
            match &at {
                PreCommit::Running(_) => simulated.begin("pre_commit", "(Running)").await,
                PreCommit::Closing(closing) => {
                    let partitions: Vec<_> = closing.partitions().cloned().collect();
                    let shown = format!("(Closing, {:?}){}", closing.reason(), names(&partitions));
                    simulated.begin("pre_commit", &shown).await;
                    caller.ledger.closing(caller.member, &partitions, closing.reason());
                }
            }
            trouble.before("pre_commit").await?;
            let safe = calls.watch(sink.pre_commit(at)).await?;
            trouble.pass().await;
            caller.ledger.safe(caller.member, safe.offsets());
            simulated.end().await;
            Ok(safe)
        })
    }

    fn assigned<'a>(&'a mut self, partitions: &'a [TopicPartition]) -> BoxFuture<'a, Result<StartOffsets>> {
        Box::pin(async move {
            let (simulated, sink) = self.parts();
            let Simulated { caller, calls, trouble, .. } = simulated;
            simulated.begin("assigned", &names(partitions)).await;
            caller.ledger.tells(caller.member, partitions);
            trouble.before("assigned").await?;
            let start = calls.watch(sink.assigned(partitions)).await?;
            caller.ledger.wants(caller.member, &start);
            simulated.end().await;
            Ok(start)
        })
    }

    fn closed<'a>(&'a mut self, partitions: &'a [TopicPartition], why: CloseReason) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let (simulated, sink) = self.parts();
            let Simulated { caller, calls, trouble, .. } = simulated;
            simulated.begin("closed", &format!("({why:?}){}", names(partitions))).await;
            trouble.pass().await;
            caller.ledger.closed(caller.member, partitions, why);
            calls.watch(sink.closed(partitions, why)).await?;
            simulated.end().await;
            Ok(())
        })
    }

    fn close(mut self: Box<Self>) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            let simulated = self.simulated.clone();
            simulated.begin("close", "").await;
            simulated.trouble.pass().await;
            if let Some(sink) = self.sink.take() {
                simulated.calls.watch(sink.close()).await;
            }
            simulated.end().await;
        })
    }
}

fn names(partitions: &[TopicPartition]) -> String {
    partitions.iter().map(|p| format!(" {p}")).collect()
}
