//! The source against files that grow, shrink, vanish and are replaced.

use super::*;
use connect_sdk::{
    source::{FieldMap, FieldValue, OffsetMap},
    testkit::{EmittedRecord, Fixture, SourceTester},
};
use std::{
    fs::{self, OpenOptions},
    io::Write,
    path::Path,
};

/// Lines of all kinds; the last one is finished while the source is away.
pub(super) fn a_file() -> Fixture {
    let text = "\u{FEFF}one\r\n\nthree é\u{1F980}\nfour\rfive\nunfin";
    Fixture::new().set("topic", "lines").file("file", "in.txt", text).append("in.txt", "ished\nlast\n").records(7)
}

fn append(path: &Path, text: &str) {
    let mut file = OpenOptions::new().append(true).create(true).open(path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

fn tailing(path: &Path) -> SourceTester {
    SourceTester::open::<FileStreamSource, _, _>([("file", path.display().to_string()), ("topic", "t".to_owned())])
        .unwrap()
}

fn next(tester: &mut SourceTester, n: usize) -> Vec<String> {
    texts(&tester.poll_until(n).unwrap())
}

fn texts(records: &[EmittedRecord]) -> Vec<String> {
    records.iter().map(|r| r.text().unwrap().to_owned()).collect()
}

fn at(position: i64) -> OffsetMap {
    FieldMap::new().with("position", FieldValue::Int(position))
}

#[test]
fn positions_are_bytes_and_partition_and_offset_have_javas_form() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("in.txt");
    fs::write(&path, "é1\nb\n").unwrap();
    let mut tester = tailing(&path);
    assert_eq!(tester.partitions()[0].to_string(), format!("{{\"filename\":{:?}}}", path.display().to_string()));
    assert_eq!(next(&mut tester, 2), ["é1", "b"]);
    assert_eq!(tester.offsets(), [Some(at(6))]);
    tester.set_offset(0, Some(at(4)));
    tester.restart().unwrap();
    assert_eq!(next(&mut tester, 1), ["b"]);
}

#[test]
fn full_lines_never_wait_for_the_file_to_grow() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("in.txt");
    fs::write(&path, "1\n2\n3\n4\n5\n").unwrap();
    let settings = [("file", path.display().to_string()), ("topic", "t".into()), ("batch.size", "2".into())];
    let mut tester = SourceTester::open::<FileStreamSource, _, _>(settings).unwrap();
    assert_eq!(next(&mut tester, 5), ["1", "2", "3", "4", "5"]);
}

#[test]
fn an_unfinished_line_is_held_back_until_it_is_whole() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("in.txt");
    fs::write(&path, "hel").unwrap();
    let mut tester = tailing(&path);
    assert!(tester.poll_for(Duration::from_millis(50)).unwrap().is_empty());
    append(&path, "lo\n");
    assert_eq!(next(&mut tester, 1), ["hello"]);
}

#[test]
fn a_truncated_file_is_read_from_its_start() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("in.txt");
    fs::write(&path, "one\ntwo\nthree\n").unwrap();
    let mut tester = tailing(&path);
    assert_eq!(next(&mut tester, 3).len(), 3);
    fs::write(&path, "new\n").unwrap();
    assert_eq!(next(&mut tester, 1), ["new"]);
    // The same while nobody looked: a stored position beyond the end.
    tester.set_offset(0, Some(at(100)));
    tester.restart().unwrap();
    assert_eq!(next(&mut tester, 1), ["new"]);
}

#[test]
fn a_renamed_file_is_read_to_its_end_before_its_successor() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("app.log");
    fs::write(&path, "a1\na2\na3\n").unwrap();
    let mut tester = tailing(&path);
    assert_eq!(next(&mut tester, 3), ["a1", "a2", "a3"]);
    append(&path, "a4\na5\n");
    fs::rename(&path, dir.path().join("app.log.1")).unwrap();
    fs::write(&path, "b1\nb2\n").unwrap();
    assert_eq!(next(&mut tester, 4), ["a4", "a5", "b1", "b2"]);
}

#[test]
fn a_file_that_comes_later_is_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("late.txt");
    let mut tester = tailing(&path);
    assert!(tester.poll_for(Duration::from_millis(50)).unwrap().is_empty());
    fs::write(&path, "here\n").unwrap();
    assert_eq!(next(&mut tester, 1), ["here"]);
}

#[test]
fn several_files_are_partitions_of_their_own() {
    let dir = tempfile::tempdir().unwrap();
    let names: Vec<String> = ["in/a", "in/b"].iter().map(|n| dir.path().join(n).display().to_string()).collect();
    fs::create_dir(dir.path().join("in")).unwrap();
    fs::write(&names[0], "h1,h2\n1,2\n").unwrap();
    fs::write(&names[1], "h1,h2\n3,4\n").unwrap();
    let settings = [("files", names.join(",")), ("topic", "t".to_owned())];
    let mut tester = SourceTester::open::<FileStreamSource, _, _>(settings).unwrap();
    let mut all = next(&mut tester, 4);
    all.sort();
    assert_eq!(all, ["1,2", "3,4", "h1,h2", "h1,h2"]);
    assert_eq!(tester.offsets(), [Some(at(10)), Some(at(10))]);
}

#[test]
fn what_cannot_be_read_is_an_error_with_its_name() {
    let dir = tempfile::tempdir().unwrap();
    let error = tailing(dir.path()).poll_for(Duration::from_secs(5)).unwrap_err();
    assert!(error.to_string().contains("is a folder") && !error.is_retriable());
    let path = dir.path().join("long.txt");
    fs::write(&path, "x".repeat(2000)).unwrap();
    let settings = [("file", path.display().to_string()), ("topic", "t".into()), ("line.max.bytes", "1000".into())];
    let mut tester = SourceTester::open::<FileStreamSource, _, _>(settings).unwrap();
    let error = tester.poll_for(Duration::from_secs(5)).unwrap_err().to_string();
    assert!(error.contains("line.max.bytes") && error.contains("long.txt"), "{error}");
}

#[test]
fn every_mistake_of_a_configuration_is_told() {
    for (settings, expected) in [
        (vec![("file", "a"), ("files", "b,c"), ("topic", "t")], "exclude each other"),
        (vec![("files", "a,b,a"), ("topic", "t")], "names `a` twice"),
        (vec![("file", "a"), ("topic", "")], "String must be non-empty"),
        (vec![("file", "a")], "topic"),
    ] {
        let error = SourceTester::open::<FileStreamSource, _, _>(settings.clone()).unwrap_err().chain();
        assert!(error.contains(expected), "{settings:?}: {error}");
    }
}

#[test]
fn standard_input_cannot_be_read_again() {
    let cfg = |pairs: &[(&str, &str)]| {
        let all = pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        FileSourceConfig::from_properties(&all).unwrap()
    };
    assert!(matches!(FileStreamSource::viable(&cfg(&[("topic", "t")])), Viable::No(_)));
    assert!(matches!(FileStreamSource::viable(&cfg(&[("topic", "t"), ("file", "")])), Viable::No(_)));
    assert_eq!(FileStreamSource::viable(&cfg(&[("topic", "t"), ("file", "a")])), Viable::Yes);
}
