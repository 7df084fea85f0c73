//! Files appear whole, hold each record once, and say where to go on; an earlier owner cannot finish anything.

use super::*;
use crate::FileStreamSink;
use connect_sdk::{
    sink::{PartitionTag, SinkRecordParts},
    testkit::{SinkTester, TestRecord},
};
use std::{collections::BTreeSet, sync::Arc};

fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = entries.filter(|name| !name.starts_with('.')).collect();
    names.sort();
    names
}

fn texts(dir: &Path) -> Vec<String> {
    names(dir).iter().map(|name| fs::read_to_string(dir.join(name)).unwrap()).collect()
}

async fn opened(dir: &Path, settings: &[(&str, &str)]) -> SinkTester {
    let dir = [("directory", dir.to_str().unwrap())];
    SinkTester::open::<FileStreamSink>(dir.into_iter().chain(settings.iter().copied())).await.unwrap()
}

fn t(number: i32) -> TopicPartition {
    TopicPartition::new("t", number)
}

async fn start_of(dir: &Path, partitions: &[TopicPartition]) -> StartOffsets {
    folder(dir).await.assigned(partitions).await.unwrap()
}

async fn folder(dir: &Path) -> Folder {
    Folder::open(dir.to_str().unwrap(), NonZeroU64::MAX, Duration::MAX).await.unwrap()
}

#[tokio::test]
async fn a_file_appears_when_it_is_whole_and_until_then_its_records_are_held() {
    let dir = tempfile::tempdir().unwrap();
    let mut tester = opened(dir.path(), &[("file.max.records", "3")]).await;
    tester.put([TestRecord::text("a").to("t", 0), TestRecord::text("b").to("t", 0).at(7)]).await.unwrap();
    assert_eq!(tester.pre_commit().await.unwrap().of("t", 0), Some(0));
    assert_eq!(names(dir.path()), [""; 0]);
    tester.put([TestRecord::text("c").to("t", 0), TestRecord::text("x").to("u+v.txt", 12)]).await.unwrap();
    assert_eq!(tester.pre_commit().await.unwrap().of("t", 0), Some(9));
    assert_eq!(names(dir.path()), ["t+0+00000000000000000000+00000000000000000009.txt"]);
    tester.stop().await.unwrap();
    assert_eq!(texts(dir.path()), ["a\nb\nc\n", "x\n"]);
    let name = TopicPartition::new("u+v.txt", 12);
    let start = start_of(dir.path(), &[t(0), t(1), name.clone()]).await;
    assert_eq!(start, StartOffsets::none().at(&t(0), 9).at(&name, 1), "none for a partition without files");
    assert!(fs::read_dir(dir.path().join(STAGING).join("t+0")).unwrap().count() <= 1);
}

#[tokio::test]
async fn a_file_is_finished_by_age_and_by_the_end_of_its_partition() {
    let dir = tempfile::tempdir().unwrap();
    let mut tester = opened(dir.path(), &[("file.max.age.ms", "0")]).await;
    tester.put([TestRecord::text("a"), TestRecord::text("b").to("t", 1)]).await.unwrap();
    let safe = tester.pre_commit().await.unwrap();
    assert_eq!((safe.of("test", 0), safe.of("t", 1)), (Some(1), Some(1)));
    assert_eq!(names(dir.path()).len(), 2);

    let dir = tempfile::tempdir().unwrap();
    let mut tester = opened(dir.path(), &[]).await;
    tester.put([TestRecord::text("a").to("t", 0), TestRecord::text("b").to("t", 1)]).await.unwrap();
    assert_eq!(tester.revoke("t", 0).await.unwrap().of("t", 0), Some(1));
    tester.lose("t", 1).await.unwrap();
    assert_eq!(texts(dir.path()), ["a\n"], "what was lost belongs to another task");
}

#[tokio::test]
async fn an_earlier_owner_finishes_nothing_and_takes_its_time_before_it_tries_again() {
    let dir = tempfile::tempdir().unwrap();
    let mut older = opened(dir.path(), &[]).await;
    older.put([TestRecord::text("a").to("t", 0)]).await.unwrap();
    let start = start_of(dir.path(), &[t(0)]).await;
    assert_eq!(start, StartOffsets::none());
    for _ in 0..2 {
        let Err(error) = older.revoke("t", 0).await else { panic!("it was finished: {:?}", names(dir.path())) };
        assert!(error.to_string().contains("another task has taken a partition over"), "{error}");
        assert!(matches!(error, TaskError::Retriable { after: Some(pause), .. } if pause == TAKEN_OVER_PAUSE));
        assert_eq!(names(dir.path()), [""; 0]);
        older = opened(dir.path(), &[]).await;
        older.put([TestRecord::text("a").to("t", 0)]).await.unwrap();
        drop(start_of(dir.path(), &[t(0)]).await);
    }
}

#[tokio::test]
async fn whatever_is_in_the_folder_beside_such_files_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let others = ["t+0+x+y.txt", "t+0.txt", "notes.txt", "t+0+1+2.csv", "+++.txt"];
    for name in others {
        fs::write(dir.path().join(name), "mine").unwrap();
    }
    assert_eq!(start_of(dir.path(), &[t(0)]).await, StartOffsets::none());
    let found: BTreeSet<String> = names(dir.path()).into_iter().collect();
    assert_eq!(found, others.map(str::to_owned).into_iter().collect());
}

#[tokio::test]
async fn a_folder_that_cannot_be_made_is_named() {
    let Err(error) = SinkTester::open::<FileStreamSink>([("directory", "/dev/null/out")]).await else {
        panic!("it was made")
    };
    assert!(!error.is_retriable() && error.to_string().contains("folder `/dev/null/out` cannot be made"), "{error}");
}

#[tokio::test]
async fn after_a_change_that_was_cut_short_nothing_is_taken_or_called_safe() {
    let dir = tempfile::tempdir().unwrap();
    let mut folder = folder(dir.path()).await;
    folder.assigned(&[t(0)]).await.unwrap();
    assert!(folder.change(|_| panic!("cut short")).await.unwrap_err().is_retriable());
    for error in [folder.change(|_| Ok(())).await.err(), folder.assigned(&[t(1)]).await.err()] {
        let error = error.unwrap();
        assert!(error.is_retriable() && error.to_string().contains("not taken over"), "{error}");
    }
    folder.closed(&[t(0)]).await.unwrap();
}

#[tokio::test]
async fn records_of_a_partition_that_is_not_taken_over_are_not_passed_over() {
    let dir = tempfile::tempdir().unwrap();
    let mut folder = folder(dir.path()).await;
    folder.assigned(&[t(0)]).await.unwrap();
    let record = |n| SinkRecord::from_parts(PartitionTag::new(Arc::new(t(n))), SinkRecordParts::default());
    folder.put(vec![record(0)]).await.unwrap();
    let error = folder.put(vec![record(1)]).await.unwrap_err();
    assert!(error.is_retriable() && error.to_string().contains("`t-1` is not taken over"), "{error}");
}
