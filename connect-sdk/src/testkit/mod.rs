//! Tests of connectors without Kafka: the worker's own task loops on fakes and a virtual clock.

mod clock;
mod random;
mod sim;

pub use clock::VirtualClock;
pub use random::Random;
pub use sim::Sim;
