//! `SourceTester`, as an author uses it in a unit test.

use super::*;
use connect_sdk::testkit::SourceTester;
use std::time::Duration;

/// Counts upwards, and says so.
struct Count {
    at: Cursor<Part, Line>,
    topic: String,
    path: PathBuf,
}

/// Counts.
#[source_connector(name = "count", exactly_once = supported(untested = "an example"))]
impl Source for Count {
    type Config = FileConfig;
    type Partition = Part;
    type Offset = Line;

    async fn partitions(_: &FileConfig) -> Result<Vec<Part>> {
        Ok(vec![Part { number: 0 }])
    }

    async fn open(cfg: &FileConfig, at: Cursors<Part, Line>) -> Result<Self> {
        Ok(Self { at: at.only()?, topic: cfg.topic.clone(), path: cfg.path.clone() })
    }

    async fn poll(&mut self, out: &mut Batch<Self>) -> Result<()> {
        let n = next(&self.at);
        if n == 5 {
            std::future::pending::<()>().await;
        }
        if n == 8 {
            return Err(TaskError::fatal(format!("`{}` has no line {n}", self.path.display())));
        }
        out.emit(
            &mut self.at,
            Record::to(&self.topic).key("k").value(n.to_string()).header("n", n),
            Line { line: n + 1 },
        );
        Ok(())
    }

    async fn close(self) {
        std::fs::write(&self.path, "closed").expect("the folder is there");
    }
}

#[test]
fn a_source_is_polled_killed_and_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("state").display().to_string();
    let mut tester = SourceTester::open::<Count, _, _>([("path", path.as_str()), ("topic", "numbers")]).unwrap();
    assert_eq!(tester.offsets(), [None]);
    let records = tester.poll_until(3).unwrap();
    assert_eq!(records.iter().filter_map(|r| r.text()).collect::<Vec<_>>(), ["0", "1", "2"]);
    assert_eq!((records[0].topic.as_str(), records[0].headers.len()), ("numbers", 1));
    let offset = tester.offsets()[0].clone().unwrap();
    assert_eq!(offset.to_string(), r#"{"line":3}"#);

    tester.restart().unwrap();
    assert_eq!(tester.poll_until(2).unwrap()[0].text(), Some("3"));
    assert!(tester.poll_for(Duration::from_millis(20)).unwrap().is_empty(), "it waits at the fifth");

    tester.set_offset(0, Some(offset));
    tester.restart().unwrap();
    assert_eq!(tester.poll_until(1).unwrap()[0].text(), Some("3"));

    tester.set_offset(
        0,
        connect_sdk::source::OffsetMap::new().with("line", connect_sdk::source::FieldValue::Int(8)).into(),
    );
    tester.restart().unwrap();
    assert!(tester.poll_for(Duration::from_secs(1)).unwrap_err().to_string().contains("no line 8"));
    tester.restart().unwrap();
    tester.close();
    assert_eq!(std::fs::read_to_string(path).unwrap(), "closed");
}

#[test]
fn a_wrong_configuration_is_an_error() {
    let error = SourceTester::open::<Count, _, _>([("topic", "numbers")]).unwrap_err();
    assert!(error.chain().contains("path"), "{}", error.chain());
}
