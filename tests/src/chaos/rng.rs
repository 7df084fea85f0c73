//! Random choices that a seed decides.

use std::ops::RangeInclusive;

use crate::connectors::numbers::mix;

/// A row of choices; the same seed makes the same ones.
#[derive(Debug, Clone)]
pub struct Rng(u64);

impl Rng {
    /// The row of this seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// A number of a range.
    pub fn within(&mut self, range: RangeInclusive<u64>) -> u64 {
        range.start() + self.draw() % (range.end() - range.start() + 1)
    }

    /// True in so many of a hundred cases.
    pub fn chance(&mut self, percent: u64) -> bool {
        self.draw() % 100 < percent
    }

    /// One of these, of which there must be one.
    pub fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        let n = u64::try_from(of.len()).expect("a length fits");
        of[usize::try_from(self.draw() % n).expect("an index fits")]
    }
}
