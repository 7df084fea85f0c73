//! The sink against kills, torn lines and full disks.

use super::*;
use connect_sdk::testkit::{SinkFixture, SinkTester, TestRecord, sink_kit};
use std::fs;

#[test]
fn what_is_called_safe_is_in_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("out.txt");
    sink_kit::<FileStreamSink>(SinkFixture::new([("file", path.display().to_string())], move || {
        fs::read_to_string(&path).unwrap_or_default().lines().map(str::to_owned).collect()
    }));
}

async fn opened(path: &Path) -> SinkTester {
    SinkTester::open::<FileStreamSink>([("file", path.to_str().unwrap())]).await.unwrap()
}

#[tokio::test]
async fn a_torn_last_line_is_cut_and_never_joined_to_the_next_record() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("out.txt");
    for (before, expected) in [
        ("one\ntwo\nthr", "one\ntwo\nnew\n"),
        ("one\n", "one\nnew\n"),
        ("torn", "new\n"),
        ("", "new\n"),
        (&format!("{}\n{}", "a".repeat(100_000), "b".repeat(200_000)), &format!("{}\nnew\n", "a".repeat(100_000))),
    ] {
        fs::write(&path, before).unwrap();
        let mut tester = opened(&path).await;
        tester.put([TestRecord::text("new")]).await.unwrap();
        tester.pre_commit().await.unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), expected);
    }
}

#[tokio::test]
async fn values_are_written_as_java_prints_them() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("out.txt");
    let mut tester = opened(&path).await;
    tester.put([TestRecord::text("a"), TestRecord::tombstone(), TestRecord::schemaless(1.5f64)]).await.unwrap();
    tester.pre_commit().await.unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "a\nnull\n1.5\n");
}

#[tokio::test]
async fn a_full_disk_is_an_error_and_nothing_is_called_safe() {
    let mut tester = opened(Path::new("/dev/full")).await;
    tester.put([TestRecord::text("a")]).await.unwrap();
    let error = tester.pre_commit().await.unwrap_err();
    assert!(error.is_retriable() && error.to_string().contains("/dev/full"), "{error}");
}

#[tokio::test]
async fn a_file_that_cannot_be_opened_is_named() {
    let error = SinkTester::open::<FileStreamSink>([("file", "/no/such/folder/out.txt")]).await.unwrap_err();
    assert!(!error.is_retriable() && error.to_string().contains("/no/such/folder/out.txt"));
}
