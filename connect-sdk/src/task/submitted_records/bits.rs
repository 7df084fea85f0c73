//! `Bits`: which records of a batch are acknowledged.

/// A set of small numbers; takes no memory until the first is put in.
#[derive(Default)]
pub(super) struct Bits {
    words: Vec<u64>,
    count: u32,
}

impl Bits {
    pub(super) fn count(&self) -> u32 {
        self.count
    }

    pub(super) fn get(&self, i: u32) -> bool {
        self.words.get(i as usize / 64).is_some_and(|w| w >> (i % 64) & 1 == 1)
    }

    /// Puts `from..to` of `0..n` in; answers how many were not in before.
    pub(super) fn set(&mut self, from: u32, to: u32, n: u32) -> u32 {
        if self.words.is_empty() && from < to {
            if from == 0 && to == n {
                // The whole batch at once: it is dropped right after, so the words are not needed.
                self.count = n;
                return n;
            }
            self.words.resize(n.div_ceil(64) as usize, 0);
        }
        let mut newly = 0;
        Self::each_word(from, to, |w, mask| {
            newly += (mask & !self.words[w]).count_ones();
            self.words[w] |= mask;
        });
        self.count += newly;
        newly
    }

    /// Takes `from..to` out; answers how many were in.
    pub(super) fn clear(&mut self, from: u32, to: u32) -> u32 {
        if self.words.is_empty() {
            let cleared = if from < to { self.count } else { 0 };
            self.count -= cleared;
            return cleared;
        }
        let mut cleared = 0;
        Self::each_word(from, to, |w, mask| {
            cleared += (mask & self.words[w]).count_ones();
            self.words[w] &= !mask;
        });
        self.count -= cleared;
        cleared
    }

    /// How many of `from..from + n` are in before the first that is not.
    pub(super) fn leading(&self, from: u32, n: u32) -> u32 {
        if self.words.is_empty() {
            return if self.count == 0 { 0 } else { n };
        }
        let mut at = from;
        while at < from + n {
            let ones = (self.words[at as usize / 64] >> (at % 64)).trailing_ones();
            at += ones;
            if ones == 0 || !at.is_multiple_of(64) {
                break;
            }
        }
        (at - from).min(n)
    }

    fn each_word(from: u32, to: u32, mut f: impl FnMut(usize, u64)) {
        let mut at = from;
        while at < to {
            let word = at / 64;
            let end = to.min((word + 1) * 64);
            let len = end - at;
            let mask = if len == 64 { u64::MAX } else { ((1 << len) - 1) << (at % 64) };
            f(word as usize, mask);
            at = end;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::Random;

    #[test]
    fn ranges_agree_with_a_list_of_flags() {
        for seed in 0..200 {
            let random = &mut Random::new(seed);
            let n = u32::try_from(1 + random.below(200)).unwrap();
            let (mut bits, mut flags) = (Bits::default(), vec![false; n as usize]);
            for _ in 0..20 {
                let mut ends = [random.below(n as usize + 1), random.below(n as usize + 1)];
                ends.sort_unstable();
                let [from, to] = ends;
                let into = random.chance(70);
                let changed = flags[from..to].iter().filter(|f| **f != into).count();
                flags[from..to].fill(into);
                let (from, to) = (u32::try_from(from).unwrap(), u32::try_from(to).unwrap());
                if into && from == 0 && to == n {
                    // A whole batch is never looked at again.
                    break;
                }
                let answer = if into { bits.set(from, to, n) } else { bits.clear(from, to) };
                assert_eq!(answer as usize, changed, "seed {seed}");
                let leading = flags[from as usize..].iter().take_while(|f| **f).count();
                assert_eq!(bits.leading(from, n - from) as usize, leading, "seed {seed}");
                assert_eq!(bits.count() as usize, flags.iter().filter(|f| **f).count(), "seed {seed}");
                assert!((0..n).all(|i| bits.get(i) == flags[i as usize]), "seed {seed}");
            }
        }
    }
}
