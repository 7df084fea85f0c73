//! Sinks that keep the promise, each in another way.

use crate::{fixture, target::Target};
use connect_sdk::{
    data::{Map, Schema, SchemaAndValue, Value},
    prelude::*,
    testkit::{check_sink, sink_kit},
};

#[derive(ConnectorConfig)]
pub(crate) struct TargetConfig {
    /// The name of the target.
    pub(crate) target: String,
}

impl TargetConfig {
    pub(crate) fn open(&self) -> Target {
        Target::named(&self.target)
    }
}

pub(crate) struct Direct(Target);

/// Writes at once.
#[sink_connector(name = "direct")]
impl DirectSink for Direct {
    type Config = TargetConfig;

    async fn open(cfg: &TargetConfig, _: &OpenCx) -> Result<Self> {
        Ok(Self(cfg.open()))
    }
    async fn put(&mut self, records: &[SinkRecord], cx: &mut PutCx) -> Result<()> {
        for r in records {
            match r.value() {
                Some(Value::String(text)) => self.0.write(text.as_str()),
                _ => cx.reject(r, "only text can be written")?,
            }
        }
        Ok(())
    }
}

pub(crate) struct Buffered {
    target: Target,
    held: Vec<SinkRecord>,
}

/// Writes whenever five records have come together.
#[sink_connector(name = "buffered")]
impl BufferedSink for Buffered {
    type Config = TargetConfig;

    async fn open(cfg: &TargetConfig, _: &OpenCx) -> Result<Self> {
        Ok(Self { target: cfg.open(), held: vec![] })
    }
    async fn put(&mut self, records: Vec<SinkRecord>, _: &mut PutCx) -> Result<()> {
        self.held.extend(records);
        if self.held.len() >= 5 {
            self.held.drain(..).for_each(|r| self.target.write(r.value_text()));
        }
        Ok(())
    }
    async fn pre_commit<'c>(&mut self, at: PreCommit<'c>) -> Result<Safe<'c>> {
        Ok(match at {
            PreCommit::Running(at) => at.except(&self.held),
            PreCommit::Closing(at) => {
                self.held.drain(..).for_each(|r| self.target.write(r.value_text()));
                at.all_written()
            }
        })
    }
    async fn closed(&mut self, partitions: &[TopicPartition], _: CloseReason) -> Result<()> {
        self.held.retain(|r| !is_of(r.topic(), r.partition(), partitions));
        Ok(())
    }
}

pub(crate) fn is_of(topic: &str, partition: i32, partitions: &[TopicPartition]) -> bool {
    partitions.iter().any(|p| *p.topic == *topic && p.partition == partition)
}

pub(crate) struct Rows {
    target: Target,
    held: Vec<(Position, String)>,
}

/// Keeps rows with tokens; what is not written on closing is delivered again.
#[sink_connector(name = "rows")]
impl BufferedSink for Rows {
    type Config = TargetConfig;

    async fn open(cfg: &TargetConfig, _: &OpenCx) -> Result<Self> {
        Ok(Self { target: cfg.open(), held: vec![] })
    }
    async fn put(&mut self, records: Vec<SinkRecord>, _: &mut PutCx) -> Result<()> {
        self.held.extend(records.iter().map(|r| (r.position(), r.value_text().into_owned())));
        // All but the latest two.
        let ready = self.held.len().saturating_sub(2);
        self.held.drain(..ready).for_each(|(_, row)| self.target.write(row));
        Ok(())
    }
    async fn pre_commit<'c>(&mut self, at: PreCommit<'c>) -> Result<Safe<'c>> {
        Ok(match at {
            PreCommit::Running(at) => at.except(self.held.iter().map(|(position, _)| position)),
            PreCommit::Closing(at) => at.redeliver(self.held.iter().map(|(position, _)| position)),
        })
    }
    async fn closed(&mut self, partitions: &[TopicPartition], _: CloseReason) -> Result<()> {
        self.held.retain(|(at, _)| !is_of(at.topic(), at.partition(), partitions));
        Ok(())
    }
}

pub(crate) struct OwnOffsets(Target);

/// Stores offsets beside its entries and never lets the framework commit any.
#[sink_connector(name = "own-offsets")]
impl BufferedSink for OwnOffsets {
    type Config = TargetConfig;

    async fn open(cfg: &TargetConfig, _: &OpenCx) -> Result<Self> {
        Ok(Self(cfg.open()))
    }
    async fn assigned(&mut self, partitions: &[TopicPartition]) -> Result<StartOffsets> {
        Ok(partitions.iter().fold(StartOffsets::none(), |start, p| match self.0.offset(&p.topic, p.partition) {
            Some(offset) => start.at(p, offset),
            None => start,
        }))
    }
    async fn put(&mut self, records: Vec<SinkRecord>, _: &mut PutCx) -> Result<()> {
        for r in records {
            self.0.write(r.value_text());
            self.0.set_offset(r.topic(), r.partition(), r.offset() + 1);
        }
        Ok(())
    }
    async fn pre_commit<'c>(&mut self, at: PreCommit<'c>) -> Result<Safe<'c>> {
        Ok(match at {
            PreCommit::Running(at) => at.none(),
            PreCommit::Closing(at) => at.all_written(),
        })
    }
}

#[test]
fn honest_sinks_pass() {
    sink_kit::<Direct>(fixture(&Target::new()).rejects(SchemaAndValue::new(None, Some(Value::Int32(1)))));
    sink_kit::<Buffered>(fixture(&Target::new()));
    sink_kit::<Rows>(fixture(&Target::new()));
    sink_kit::<OwnOffsets>(fixture(&Target::new()));
}

#[test]
fn a_fixture_makes_other_records() {
    let values = |n: u64| {
        let map = Map::from_iter([(Some(Value::from("id")), Some(Value::Int64(i64::try_from(n).unwrap())))]);
        (SchemaAndValue::new(None, Some(Value::Map(map))), format!("{{id={n}}}"))
    };
    check_sink::<Buffered>(fixture(&Target::new()).values(values)).unwrap();
    let bytes = |n: u64| {
        (SchemaAndValue::new(Some(Schema::bytes()), Some(Value::Bytes(format!("<{n}>").into()))), format!("<{n}>"))
    };
    check_sink::<Rows>(fixture(&Target::new()).values(bytes)).unwrap();
}
