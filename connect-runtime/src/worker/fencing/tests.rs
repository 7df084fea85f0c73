//! Which ids are fenced, and how often that is tried.

use super::*;
use std::sync::Mutex;

const PREFIX: &str = "g-a-";

fn listed(ids: &[&str]) -> KnownIds {
    KnownIds::Listed(ids.iter().map(|id| (*id).to_owned()).collect())
}

fn numbers(known: &KnownIds, n_tasks: u32, n_before: u32) -> Vec<u32> {
    to_fence(PREFIX, known, n_tasks, n_before).into_iter().collect()
}

#[test]
fn an_id_is_the_same_in_each_life() {
    // What a dead worker has left open ends only when somebody takes the same id.
    assert_eq!(id_prefix("g", "a"), "g-a-");
}

#[test]
fn every_id_that_a_task_ever_had_is_fenced_and_no_other() {
    for (ids, n_tasks, expected) in [
        (&[][..], 4, &[][..]),
        (&["g-a-0"], 1, &[]),
        (&["g-a-0"], 2, &[0, 1]),
        (&["g-a-0", "g-a-1", "g-a-2", "g-a-3"], 2, &[0, 1, 2, 3]),
        (&["g-a-3"], 1, &[0, 3]),
        // Other connectors, other groups, and what no worker writes.
        (&["g-a-1-0", "g-ab-0", "x-g-a-0", "g-a-", "g-a-01", "g-a-+1", "g-a-99999999999"], 3, &[]),
    ] {
        assert_eq!(numbers(&listed(ids), n_tasks, 0), expected, "{ids:?} before {n_tasks} tasks");
    }
}

#[test]
fn where_ids_are_unknown_those_that_can_be_guessed_are_fenced() {
    let unknown = KnownIds::Unlisted("old broker".to_owned());
    assert_eq!(numbers(&unknown, 2, 0), [0, 1]);
    assert_eq!(numbers(&unknown, 2, 4), [0, 1, 2, 3]);
    assert_eq!(numbers(&unknown, 1, 3), [0, 1, 2]);
    assert_eq!(numbers(&unknown, 1, 1), [] as [u32; 0], "its own start does it");
}

/// Brokers with four ids of `g-a-`, which answer these errors first.
#[derive(Debug, Default)]
struct Brokers {
    errors: Mutex<Vec<TaskError>>,
    fenced: Mutex<Vec<Vec<u32>>>,
}

impl Brokers {
    fn with(errors: impl IntoIterator<Item = TaskError>) -> Self {
        Self { errors: Mutex::new(errors.into_iter().collect()), ..Self::default() }
    }

    /// The outcome of fencing before `n` tasks, and what was fenced.
    async fn fence_before(self, n: u32) -> (Result<()>, Vec<Vec<u32>>) {
        let end = fence_tasks(&self, "a", &Properties::new(), n, 0).await;
        (end, self.fenced.into_inner().unwrap())
    }
}

impl Fencing for Brokers {
    fn transactional_id_prefix(&self, name: &str) -> String {
        id_prefix("g", name)
    }

    fn transactional_ids<'a>(&'a self, _: &'a str, _: &'a Properties) -> BoxFuture<'a, Result<KnownIds>> {
        Box::pin(async { Ok(listed(&["g-a-0", "g-a-1", "g-a-2", "g-a-3"])) })
    }

    fn fence<'a>(&'a self, _: &'a str, _: &'a Properties, tasks: Vec<u32>) -> BoxFuture<'a, Result<()>> {
        self.fenced.lock().unwrap().push(tasks);
        let error = self.errors.lock().unwrap().pop();
        Box::pin(async { error.map_or(Ok(()), Err) })
    }
}

#[tokio::test(start_paused = true)]
async fn a_round_that_fails_is_tried_again_but_not_for_ever() {
    let away = || TaskError::retriable("no broker");
    let (end, fenced) = Brokers::with([away(), away()]).fence_before(2).await;
    end.unwrap();
    assert_eq!(fenced, [[0, 1, 2, 3]; 3]);
    let (end, fenced) = Brokers::with((0..9).map(|_| away())).fence_before(2).await;
    assert!(end.is_err_and(|error| error.is_retriable()));
    assert_eq!(fenced.len(), 3);
    let (end, fenced) = Brokers::with([TaskError::fatal("no right")]).fence_before(2).await;
    assert!(end.is_err_and(|error| !error.is_retriable()));
    assert_eq!(fenced.len(), 1, "nothing is gained by asking again");
}
