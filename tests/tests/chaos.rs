//! Goal: no kind of accident loses a record or doubles one that must not be doubled. Method: the short form of
//! `cargo xtask chaos`, one cycle of most cases, from a fixed seed; what a failure prints tells how to try it again.
#![forbid(unsafe_code)]

use connect_tests::chaos::{Arena, Case, Options, run};
use std::sync::{Mutex, PoisonError};

const SEED: u64 = 4;

/// One cycle at a time: they share the broker, which some of them kill.
fn each_case(of: impl Fn(&Case) -> bool) {
    static ARENA: Mutex<Option<Arena>> = Mutex::new(None);
    let mut arena = ARENA.lock().unwrap_or_else(PoisonError::into_inner);
    let arena = arena.get_or_insert_with(Arena::start);
    let mut failures = Vec::new();
    for case in Case::short().into_iter().filter(of) {
        let options = Options { seed: SEED, first: 0, cycles: 1, cases: vec![case], failures_max: 1 };
        failures.extend(run(arena, &options, |line| println!("{line}")).failures);
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

#[test]
fn an_exactly_once_source_loses_nothing_and_doubles_nothing() {
    each_case(|case| case.subject.is_transactional());
}

#[test]
fn an_at_least_once_source_loses_nothing() {
    each_case(|case| !case.subject.is_transactional() && !case.subject.is_sink());
}

#[test]
fn a_sink_loses_nothing() {
    each_case(|case| case.subject.is_sink());
}
