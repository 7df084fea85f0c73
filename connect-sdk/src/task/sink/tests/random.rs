//! Goal: whatever is committed is in the target, and in the end everything is. Method: seeded random events against an
//! honest sink of either kind; a failure names its seed.

use super::*;
use crate::testkit::Random;

const SEEDS: u64 = 200;
const STEPS: usize = 80;
const PARTITIONS: i32 = 3;

struct Run {
    stage: Stage,
    random: Random,
    /// What the group has given to the member, as the script goes.
    given: Vec<i32>,
    appended: [i64; PARTITIONS as usize],
}

impl Run {
    fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let mut stage = if random.chance(50) { direct(&[]) } else { buffered(&[]) };
        stage.sim = Sim::new(seed);
        stage.group.batch_records_max(1 + random.below(5));
        stage.start();
        Self { stage, random, given: vec![], appended: [0; PARTITIONS as usize] }
    }

    fn some_partition(&mut self) -> i32 {
        i32::try_from(self.random.below(3)).unwrap()
    }

    fn step(&mut self) {
        match self.random.below(16) {
            0..5 => {
                let (p, n) = (self.some_partition(), i64::try_from(self.random.below(4)).unwrap());
                self.stage.append(p, n);
                self.appended[usize::try_from(p).unwrap()] += n;
            }
            5 => {
                let new: Vec<_> = (0..PARTITIONS).filter(|p| !self.given.contains(p)).collect();
                let new: Vec<_> = new.into_iter().filter(|_| self.random.chance(60)).collect();
                self.stage.group.assign(&new.iter().map(|p| t(*p)).collect::<Vec<_>>());
                self.given.extend(new);
            }
            6 => {
                let gone = self.take_some();
                self.stage.group.revoke(&gone);
            }
            7 => {
                let gone = self.take_some();
                if self.random.chance(30) {
                    self.stage.group.lose(&gone);
                } else {
                    self.stage.group.revoke(&gone);
                }
            }
            8 => {
                let calls = ["put", "put", "pre_commit", "pre_commit", "assigned", "open"];
                let call = calls[self.random.below(calls.len())];
                self.stage.fail(call, TaskError::retriable("busy"));
            }
            9 => self.stage.group.fail_commits(self.random.below(3)),
            10 => self.stage.group.hold_commits(self.random.chance(50)),
            11 => self.stage.script().keeps = self.random.below(6),
            12 => {
                let target = if self.random.chance(60) { TargetState::Started } else { TargetState::Paused };
                self.stage.wishes.wish(target);
            }
            13 => match self.random.below(3) {
                0 => self.stage.stick(["put", "pre_commit", "closed", "assigned"][self.random.below(4)]),
                _ => self.stage.unstick(),
            },
            14 => {
                let ms = u64::try_from(self.random.below(1500)).unwrap();
                self.stage.pass(ms);
            }
            _ => {
                if self.random.chance(40) {
                    self.restart();
                }
            }
        }
        if self.random.chance(70) {
            self.stage.settle();
        }
        self.check();
    }

    fn take_some(&mut self) -> Vec<TopicPartition> {
        let gone: Vec<_> = self.given.clone().into_iter().filter(|_| self.random.chance(50)).collect();
        self.given.retain(|p| !gone.contains(p));
        gone.into_iter().map(t).collect()
    }

    /// A stop or a kill, and a new task.
    fn restart(&mut self) {
        self.stage.unstick();
        if self.random.chance(50) {
            self.stage.stop();
            // Results of commits may be kept back, of a revocation and of the stop.
            self.stage.pass(10_000);
            assert_eq!(self.stage.end(), None);
        }
        self.stage.sim = Sim::new(self.random.next_u64());
        self.stage.end = Arc::default();
        self.stage.wishes = Wishes::new(TargetState::Started);
        self.stage.group.forget_script();
        self.given.clear();
        self.stage.start();
    }

    /// Everything that is committed is in the target.
    fn check(&mut self) {
        assert_eq!(self.stage.group.violations(), [""; 0]);
        assert!(self.stage.is_running(), "{:?}", self.stage.end());
        let script = self.stage.script();
        for p in 0..PARTITIONS {
            for offset in 0..self.stage.group.committed(&t(p)).unwrap_or(0) {
                assert!(script.written.contains(&(p, offset)), "{p}@{offset} is committed and not written");
            }
        }
    }

    /// Peace: in the end everything is written and committed.
    fn finish(&mut self) {
        self.stage.group.fail_commits(0);
        self.stage.group.hold_commits(false);
        self.stage.script().results.clear();
        self.stage.script().keeps = 0;
        self.stage.unstick();
        self.stage.wishes.wish(TargetState::Started);
        let missing: Vec<_> = (0..PARTITIONS).filter(|p| !self.given.contains(p)).map(t).collect();
        self.stage.group.assign(&missing);
        self.stage.pass(200_000);
        self.check();
        for p in 0..PARTITIONS {
            let n = self.appended[usize::try_from(p).unwrap()];
            assert_eq!(self.stage.group.committed(&t(p)).unwrap_or(0), n, "partition {p}");
        }
        self.stage.stop();
        assert_eq!(self.stage.end(), None);
    }
}

#[test]
fn whatever_happens_nothing_is_committed_that_is_not_written() {
    for seed in 0..SEEDS {
        let ran = std::panic::catch_unwind(|| {
            let mut run = Run::new(seed);
            for _ in 0..STEPS {
                run.step();
            }
            run.finish();
        });
        assert!(ran.is_ok(), "failed with seed {seed}");
    }
}
