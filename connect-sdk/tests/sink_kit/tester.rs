//! `SinkTester`, as an author uses it.

use crate::{
    honest::{Buffered, Direct, Rows},
    target::Target,
};
use connect_sdk::testkit::{SinkTester, TestRecord};

#[tokio::test]
async fn a_buffered_sink_step_by_step() {
    let target = Target::new();
    let mut sink = SinkTester::open::<Buffered>([("target", target.name())]).await.unwrap();
    sink.put([TestRecord::text("a"), TestRecord::text("b").to("other", 3).at(7)]).await.unwrap();
    let safe = sink.pre_commit().await.unwrap();
    assert_eq!((safe.of("test", 0), safe.of("other", 3)), (Some(0), Some(7)), "both are held");
    assert_eq!(target.entries(), [""; 0]);
    let safe = sink.revoke("other", 3).await.unwrap();
    assert_eq!((safe.of("test", 0), safe.of("other", 3)), (None, Some(8)));
    sink.put([TestRecord::bytes("c"), TestRecord::tombstone(), TestRecord::schemaless(5i32)]).await.unwrap();
    let safe = sink.stop().await.unwrap();
    assert_eq!(safe.of("test", 0), Some(4));
    assert_eq!(target.entries(), ["a", "b", "c", "null", "5"]);
}

#[tokio::test]
async fn rejected_records_are_seen() {
    let target = Target::new();
    let mut sink = SinkTester::open::<Direct>([("target", target.name())]).await.unwrap();
    let records = || [TestRecord::text("a"), TestRecord::schemaless(1i32)];
    assert!(sink.put(records()).await.unwrap_err().to_string().contains("`test-0@1` was rejected: only text"));
    sink.tolerate();
    sink.restart().await.unwrap();
    sink.put(records()).await.unwrap();
    let rejected = sink.rejected();
    assert_eq!((rejected.len(), rejected[0].0.offset(), rejected[0].1.as_str()), (1, 3, "only text can be written"));
    assert!(sink.actions().is_empty());
}

#[tokio::test]
async fn a_restart_forgets_what_was_held() {
    let target = Target::new();
    let mut sink = SinkTester::open::<Rows>([("target", target.name())]).await.unwrap();
    sink.put(["a", "b", "c"].map(TestRecord::text)).await.unwrap();
    assert_eq!(sink.pre_commit().await.unwrap().of("test", 0), Some(1));
    sink.restart().await.unwrap();
    sink.put([TestRecord::text("b").at(1), TestRecord::text("c"), TestRecord::text("d")]).await.unwrap();
    sink.lose("test", 0).await.unwrap();
    assert_eq!(target.entries(), ["a", "b"]);
}

#[tokio::test]
async fn a_wrong_configuration_is_told() {
    let error = SinkTester::open::<Direct>([]).await.unwrap_err();
    assert!(error.to_string().contains("target"), "{error}");
}
