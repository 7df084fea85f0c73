//! The sink against kills, torn lines and full disks.

use super::*;
use connect_sdk::testkit::{SinkFixture, SinkTester, TestRecord, sink_kit};
use std::fs;
use std::path::Path;

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

#[test]
fn what_is_called_safe_is_in_a_finished_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().to_owned();
    let settings = [("directory", path.display().to_string()), ("file.max.records", "3".to_owned())];
    sink_kit::<FileStreamSink>(SinkFixture::new(settings, move || {
        let files = fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path());
        let mut files: Vec<_> = files.filter(|path| path.is_file()).collect();
        files.sort();
        let texts: Vec<_> = files.iter().map(|path| fs::read_to_string(path).unwrap()).collect();
        texts.iter().flat_map(|text| text.lines().map(str::to_owned)).collect()
    }));
}

#[test]
fn a_file_and_a_folder_exclude_each_other() {
    let properties = [("file", "a"), ("directory", "b")].map(|(k, v)| (k.to_owned(), v.to_owned()));
    let errors = FileSinkConfig::from_properties(&properties.into_iter().collect()).unwrap_err();
    assert!(errors.to_string().contains("`file` and `directory` exclude each other"), "{errors}");
}
