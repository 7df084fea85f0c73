//! Tests of connectors without Kafka: the worker's own task loops on fakes and a virtual clock.

mod clock;
mod group;
mod kafka;
mod offsets;
mod plugins;
mod random;
mod sim;
mod simulation;
mod sink;
mod source;
mod text_converter;
mod transactions;
mod wishes;

pub use clock::VirtualClock;
pub use group::{GroupCall, MemoryGroup, RawRecord};
pub use kafka::{FaultPlan, MemoryKafka, Produced, Refuse};
pub use offsets::MemoryOffsets;
pub use plugins::{ConverterTester, PredicateTester, TransformationTester};
pub use random::Random;
pub use sim::Sim;
pub use simulation::{SimulationReport, SinkSimulation, SourceSimulation, simulate_sink, simulate_source};
pub use sink::{SafeOffsets, SinkFixture, SinkTester, TestRecord, check_sink, sink_kit};
pub use source::{EmittedRecord, Fixture, ReplayReport, SourceTester, check_source, replay};
pub use text_converter::TextConverter;
pub use wishes::{Reports, Wishes};
