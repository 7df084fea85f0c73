//! The dead letter queue: what is in it, and that no offset moves past a record that is nowhere.

use super::*;
use crate::{
    sink::OriginalRecord,
    task::{
        errors::Failure,
        ports::{ConsumedBatch, ConsumedRecord},
        sink::dead_letters::Letter,
    },
    testkit::Produced,
};

const BAD: &[u8] = b"\xFFbad";

fn stage(lends: bool, headers: bool, properties: &[(&str, &str)]) -> (Stage, MemoryKafka) {
    let mut stage = Stage::new(lends, properties);
    let kafka = MemoryKafka::new(stage.sim.clock(), 1);
    stage.letters = Some((kafka.clone(), headers));
    (stage, kafka)
}

const ALL: (&str, &str) = ("errors.tolerance", "all");

fn begin(stage: &mut Stage, values: &[&[u8]]) {
    for value in values {
        stage.group.append(&t(0), RawRecord::value(*value));
    }
    stage.group.assign(&[t(0), t(1)]);
    stage.start();
}

fn values(kafka: &MemoryKafka) -> Vec<Vec<u8>> {
    kafka.records().into_iter().map(|r| r.value.unwrap()).collect()
}

fn header(record: &Produced, name: &str) -> Option<String> {
    let name = format!("__connect.errors.{name}");
    let value = &record.headers.iter().find(|(k, _)| *k == name)?.1;
    value.as_ref().map(|v| String::from_utf8(v.clone()).unwrap())
}

#[test]
fn a_dead_letter_is_the_record_as_it_came_with_headers_that_say_why() {
    let (mut stage, kafka) = stage(true, true, &[ALL]);
    stage.group.append(
        &t(0),
        RawRecord {
            key: Some(b"k".to_vec()),
            value: Some(BAD.to_vec()),
            timestamp: Some(1234),
            headers: vec![(b"h".to_vec(), Some(b"1".to_vec())), (b"n".to_vec(), None)],
        },
    );
    begin(&mut stage, &[b"good"]);
    stage.pass(2000);
    assert_eq!(kafka.ensured(), ["dlq"]);
    let [letter] = &kafka.records()[..] else { panic!("{:?}", kafka.records()) };
    assert_eq!((&*letter.topic, letter.partition, letter.timestamp), ("dlq", None, Some(1234)));
    assert_eq!((letter.key.as_deref(), letter.value.as_deref()), (Some(&b"k"[..]), Some(BAD)));
    assert_eq!(letter.headers[..2], [("h".to_owned(), Some(b"1".to_vec())), ("n".to_owned(), None)]);
    assert_eq!(letter.headers.len(), 12);
    let class = std::any::type_name::<TextConverter>();
    for (name, value) in [("topic", "t"), ("partition", "0"), ("offset", "0"), ("task.id", "0"), ("class.name", class)]
    {
        assert_eq!(header(letter, name).as_deref(), Some(value));
    }
    assert_eq!(header(letter, "exception.message").as_deref(), Some("not UTF-8"));
    assert_eq!((stage.committed().0, stage.reports.errors().dead_letters), (Some(2), 1));
}

#[test]
fn context_headers_are_only_there_if_they_are_asked_for() {
    let (mut stage, kafka) = stage(true, false, &[ALL]);
    begin(&mut stage, &[BAD]);
    stage.pass(2000);
    assert_eq!(kafka.records()[0].headers, []);
}

#[test]
fn the_record_that_fails_the_task_is_in_the_queue_too() {
    let (mut stage, kafka) = stage(true, true, &[]);
    begin(&mut stage, &[b"a", BAD, b"b"]);
    stage.pass(100);
    assert!(stage.end().unwrap().contains("`t-0@1`"));
    assert_eq!((values(&kafka), stage.committed().0), (vec![BAD.to_vec()], Some(1)));
}

#[test]
fn no_offset_moves_past_a_letter_that_is_not_acknowledged() {
    let (mut stage, kafka) = stage(true, true, &[ALL]);
    kafka.plan(|plan| plan.hold_acks = true);
    begin(&mut stage, &[b"a", BAD, b"b"]);
    stage.pass(60_000);
    assert_eq!(stage.log_of(&["put", "pre_commit", "commit"])[0], "put t-0@0 t-0@2", "the sink works meanwhile");
    assert_eq!(stage.committed().0, None);
    assert!(stage.is_running());
    kafka.plan(|plan| plan.hold_acks = false);
    stage.pass(2000);
    assert_eq!(stage.committed().0, Some(3));
}

#[test]
fn partitions_can_be_taken_away_while_the_queue_is_stuck_and_keep_what_is_not_in_it() {
    let (mut stage, kafka) = stage(true, true, &[ALL]);
    kafka.plan(|plan| plan.hold_acks = true);
    begin(&mut stage, &[b"a", BAD, b"b"]);
    stage.append(1, 2);
    stage.pass(3000);
    stage.group.revoke(&[t(0), t(1)]);
    stage.pass(5000);
    let log = stage.log_of(&["commit_now", "released"]);
    assert_eq!(log, ["commit_now t-0=1 t-1=2", "released"], "up to the bad record, and the good partition wholly");
    assert!(stage.reports.warnings().contains("delivered again"));
    assert!(stage.is_running());
}

#[test]
fn a_stop_waits_for_the_queue_in_bounds() {
    let (mut stage, kafka) = stage(true, true, &[ALL]);
    kafka.plan(|plan| plan.hold_acks = true);
    begin(&mut stage, &[b"a", BAD, b"b"]);
    stage.pass(3000);
    stage.stop();
    stage.pass(5000);
    assert_eq!(stage.end(), None);
    assert_eq!(stage.committed().0, Some(1));
}

#[test]
fn a_queue_that_refuses_fails_the_task_and_the_record_comes_again() {
    let (mut stage, kafka) = stage(true, true, &[ALL]);
    kafka.plan(|plan| plan.refuse = Some(Arc::new(|_| Some("not authorized".to_owned()))));
    begin(&mut stage, &[b"a", BAD, b"b"]);
    stage.pass(10_000);
    let end = stage.end().unwrap();
    assert!(end.contains("topic `dlq`") && end.contains("not authorized"), "{end}");
    assert_eq!((stage.committed().0, stage.reports.errors().dead_letter_failures), (Some(1), 1));
}

#[test]
fn a_topic_that_cannot_be_made_fails_the_task_and_one_that_cannot_be_reached_is_tried_again() {
    let (mut first, kafka) = stage(true, true, &[ALL]);
    kafka.plan(|plan| plan.forbidden_topic = Some("dlq".to_owned()));
    begin(&mut first, &[b"a"]);
    assert!(first.end().unwrap().contains("not authorized"));
    let (mut second, kafka) = stage(true, true, &[ALL]);
    kafka.plan(|plan| plan.topic_failures = 2);
    begin(&mut second, &[BAD]);
    second.pass(899);
    assert_eq!(second.log_of(&["open"]), [""; 0]);
    second.pass(3000);
    assert_eq!((second.committed().0, kafka.ensured().len()), (Some(1), 3));
    let (mut third, kafka) = stage(true, true, &[ALL]);
    kafka.plan(|plan| plan.topic_failures = u32::MAX);
    begin(&mut third, &[BAD]);
    third.pass(60_000);
    third.stop();
    assert_eq!(third.end(), None);
}

#[test]
fn a_buffered_sink_can_reject_a_record_long_after_it_got_it() {
    let (mut stage, kafka) = stage(false, true, &[ALL]);
    let mut held = Vec::new();
    stage.on_put(move |records, cx| {
        held.extend(records.iter().map(SinkRecord::position));
        // The script's sink keeps the records; their places are enough to find the one to reject.
        records.iter().filter(|r| r.offset() == 3).try_for_each(|r| cx.reject(r, "duplicate key"))
    });
    begin(&mut stage, &[b"a", b"b", b"c", b"original"]);
    stage.pass(2000);
    let [letter] = &kafka.records()[..] else { panic!("{:?}", kafka.records()) };
    assert_eq!(letter.text(), "original");
    assert_eq!(header(letter, "stage").as_deref(), Some("TASK_PUT"));
    assert_eq!(header(letter, "class.name").as_deref(), Some("org.apache.kafka.connect.sink.SinkTask"));
    assert_eq!(
        header(letter, "exception.stacktrace").as_deref(),
        Some("org.apache.kafka.connect.errors.ConnectException: duplicate key")
    );
}

#[test]
fn a_rejection_waits_for_the_queue_before_pre_commit() {
    let (mut stage, kafka) = stage(true, true, &[ALL]);
    kafka.plan(|plan| plan.hold_acks = true);
    stage.on_put(|records, cx| records.iter().try_for_each(|r| cx.reject(r, "no")));
    begin(&mut stage, &[b"a"]);
    stage.pass(10_000);
    assert_eq!(stage.log_of(&["pre_commit", "commit"]), [""; 0]);
    kafka.plan(|plan| plan.hold_acks = false);
    stage.pass(2000);
    assert_eq!((stage.committed().0, values(&kafka)), (Some(1), vec![b"a".to_vec()]));
}

#[test]
fn with_no_tolerance_a_rejected_record_is_in_the_queue_before_the_task_fails() {
    let (mut stage, kafka) = stage(true, true, &[]);
    stage.on_put(|records, cx| records.iter().try_for_each(|r| cx.reject(r, "no")));
    begin(&mut stage, &[b"a"]);
    stage.pass(100);
    assert_eq!(stage.end().as_deref(), Some("record at `t-0@0` was rejected: no"));
    assert_eq!((stage.committed().0, values(&kafka)), (None, vec![b"a".to_vec()]));
}

#[test]
fn a_put_that_is_made_again_reports_its_rejections_once() {
    let (mut stage, kafka) = stage(true, true, &[ALL]);
    stage.on_put(|records, cx| records.iter().try_for_each(|r| cx.reject(r, "no")));
    stage.fail("put", TaskError::retriable("busy"));
    begin(&mut stage, &[b"a"]);
    stage.pass(2000);
    assert_eq!((stage.committed().0, kafka.n_records()), (Some(1), 1));
}

#[test]
fn a_letter_that_is_too_large_goes_without_its_stack_trace_or_fails_the_task() {
    let value = vec![0xFF; 400];
    let letter = |record_bytes_max| {
        let (mut stage, kafka) = stage(true, true, &[ALL]);
        kafka.plan(|plan| plan.record_bytes_max = record_bytes_max);
        begin(&mut stage, &[&value]);
        stage.pass(2000);
        kafka.records().remove(0)
    };
    let whole = letter(usize::MAX);
    let headers = whole.headers.iter().map(|(name, value)| name.len() + value.as_ref().map_or(0, Vec::len));
    let n_bytes = value.len() + headers.sum::<usize>();
    assert_eq!(letter(n_bytes), whole);
    let letter = &letter(n_bytes - 1);
    assert_eq!((header(letter, "exception.stacktrace"), header(letter, "offset").as_deref()), (None, Some("0")));
    let (mut second, kafka) = stage(true, true, &[ALL]);
    kafka.plan(|plan| plan.record_bytes_max = 500);
    begin(&mut second, &[b"a", &value, b"b"]);
    second.pass(2000);
    let end = second.end().unwrap();
    assert!(end.contains("`t-0@1`") && end.contains("more than the 500"), "{end}");
    assert_eq!((second.committed().0, kafka.n_records()), (Some(1), 0));
}

#[test]
fn bad_records_after_a_letter_that_is_too_large_are_not_passed_over() {
    let (mut stage, kafka) = stage(true, true, &[ALL]);
    kafka.plan(|plan| plan.record_bytes_max = 1000);
    stage.append(1, 1);
    stage.group.append(&t(1), RawRecord::value(BAD));
    stage.append(1, 1);
    begin(&mut stage, &[&[0xFF; 1000]]);
    stage.pass(2000);
    let end = stage.end().unwrap();
    assert!(end.contains("`t-0@0`") && end.contains("more than the 1000"), "{end}");
    assert_eq!(stage.log_of(&["put"]), ["put t-1@0 t-1@2"], "both partitions came at once");
    assert_eq!((stage.committed(), kafka.n_records()), ((None, Some(1)), 0));
}

#[test]
fn every_letter_that_is_too_large_holds_its_partition_back() {
    let kafka = MemoryKafka::new(Sim::new(1).clock(), 1);
    let topic = DeadLetterTopic { name: "dlq".into(), context_headers: false, topics: Arc::new(kafka.clone()) };
    let port = SinkDeadLetters { topic, producer: kafka.producer() };
    let mut queue = DeadLetters::new(port, TaskInfo { connector: "s".to_owned(), index: 0, n_tasks: 1 });
    queue.record_bytes_max = 2;
    let partitions = [0, 1].map(|n| Arc::new(t(n)));
    let failure = Failure::rejected("no".into());
    for (partition, offset) in partitions.iter().zip([3, 4]) {
        let batch = Arc::new(ConsumedBatch {
            buffer: "big".into(),
            partitions: vec![Arc::clone(partition)],
            records: vec![ConsumedRecord {
                partition: 0,
                offset,
                timestamp: None,
                key: None,
                value: Some((0, 3)),
                headers: (0, 0),
            }],
            ..ConsumedBatch::default()
        });
        let original = OriginalRecord { batch, index: 0 };
        let error = queue.add([Letter { original, failure: &failure }]).unwrap_err();
        assert!(error.to_string().contains("`t-0@3`"), "the first is the one to report: {error}");
    }
    let mut offsets: Vec<_> = partitions.iter().map(|p| (Arc::clone(p), 9)).collect();
    queue.cap(&mut offsets);
    assert_eq!(offsets.iter().map(|(_, at)| *at).collect::<Vec<_>>(), [3, 4]);
}

#[test]
fn a_broken_queue_fails_the_task_even_if_the_put_after_it_is_to_be_made_again() {
    for lends in [true, false] {
        let (mut stage, kafka) = stage(lends, true, &[ALL]);
        kafka.plan(|plan| plan.record_bytes_max = 1000);
        // Longer than it takes until the next commit.
        stage.fail("put", TaskError::retriable_after("busy", Duration::from_secs(30)));
        begin(&mut stage, &[b"a", &[0xFF; 1000]]);
        stage.pass(120_000);
        let end = stage.end().unwrap();
        assert!(end.contains("`t-0@1`") && end.contains("more than the 1000"), "{end}");
        assert_eq!((stage.committed().0, stage.reports.errors().dead_letter_failures), (None, 1));
    }
}

#[test]
fn many_dead_letters_keep_their_order_and_their_count() {
    let (mut stage, kafka) = stage(true, true, &[ALL]);
    stage.group.batch_records_max(7);
    kafka.plan(|plan| {
        plan.out_of_order = true;
        plan.queue_records_max = 5;
    });
    let values: Vec<Vec<u8>> = (0..100).map(|n| [BAD, n.to_string().as_bytes()].concat()).collect();
    begin(&mut stage, &values.iter().map(Vec::as_slice).collect::<Vec<_>>());
    stage.pass(5000);
    assert_eq!(self::values(&kafka), values);
    assert_eq!((stage.committed().0, stage.reports.errors().dead_letters), (Some(100), 100));
}
