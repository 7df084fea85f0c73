//! The headers of a dead letter: what failed, and where the record came from (`DeadLetterQueueReporter`).

use super::Failure;
use crate::{
    source::{FieldMap, FieldValue},
    task::TaskInfo,
};

const TOPIC: &str = "__connect.errors.topic";
const PARTITION: &str = "__connect.errors.partition";
const OFFSET: &str = "__connect.errors.offset";
/// Ours: the source partition, and the position after the record, as JSON.
const SOURCE_PARTITION: &str = "__connect.errors.source.partition";
const SOURCE_OFFSET: &str = "__connect.errors.source.offset";
/// Ours: how many bytes the value had before it was cut to what the topic takes.
const VALUE_BYTES: &str = "__connect.errors.value.bytes";
const CONNECTOR: &str = "__connect.errors.connector.name";
const TASK: &str = "__connect.errors.task.id";
const STAGE: &str = "__connect.errors.stage";
const CLASS: &str = "__connect.errors.class.name";
const EXCEPTION: &str = "__connect.errors.exception.class.name";
const MESSAGE: &str = "__connect.errors.exception.message";
const TRACE: &str = "__connect.errors.exception.stacktrace";

/// Where a record came from.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Origin<'a> {
    /// From a topic.
    Topic { topic: &'a str, partition: i32, offset: i64 },
    /// From a source, on its way to a topic.
    Source { topic: &'a str, partition: Option<&'a FieldMap>, offset: Option<&'a FieldMap> },
}

/// Headers in Kafka's order; no value is null.
pub(crate) struct ContextHeaders(pub(crate) Vec<(&'static str, Option<String>)>);

impl ContextHeaders {
    pub(crate) fn new(task: &TaskInfo, origin: Origin<'_>, failure: &Failure) -> Self {
        let mut headers = Vec::with_capacity(12);
        let mut add = |name, value: String| headers.push((name, Some(value)));
        match origin {
            Origin::Topic { topic, partition, offset } => {
                add(TOPIC, topic.to_owned());
                add(PARTITION, partition.to_string());
                add(OFFSET, offset.to_string());
            }
            Origin::Source { topic, partition, offset } => {
                add(TOPIC, topic.to_owned());
                if let Some(partition) = partition {
                    add(SOURCE_PARTITION, json(partition));
                }
                if let Some(offset) = offset {
                    add(SOURCE_OFFSET, json(offset));
                }
            }
        }
        add(CONNECTOR, task.connector.clone());
        add(TASK, task.index.to_string());
        add(STAGE, failure.stage.name().to_owned());
        add(CLASS, failure.class.to_owned());
        add(EXCEPTION, failure.exception.to_owned());
        // As Java: an error without a message has a header without a value.
        let message = failure.cause.to_string();
        headers.push((MESSAGE, Some(message).filter(|text| !text.is_empty())));
        headers.push((TRACE, Some(failure.trace())));
        Self(headers)
    }

    /// Says how long the value was before it was cut.
    pub(crate) fn value_was_cut(n_bytes: usize) -> (&'static str, Option<String>) {
        (VALUE_BYTES, Some(n_bytes.to_string()))
    }
}

/// The JSON of a partition or an offset.
fn json(fields: &FieldMap) -> String {
    let mut out = String::from("{");
    for (index, (name, value)) in fields.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        quoted(&mut out, name);
        out.push(':');
        match value {
            FieldValue::Null => out.push_str("null"),
            FieldValue::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            FieldValue::Int(value) => out.push_str(&value.to_string()),
            FieldValue::Float(value) => out.push_str(&format!("{value:?}")),
            FieldValue::Text(text) => quoted(&mut out, text),
        }
    }
    out.push('}');
    out
}

fn quoted(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if c < ' ' => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{data::DataError, task::errors::Stage};

    fn headers(origin: Origin<'_>, message: &'static str) -> Vec<(&'static str, Option<String>)> {
        let task = TaskInfo { connector: "c".to_owned(), index: 3, n_tasks: 4 };
        let failure = Failure::converter(Stage::ValueConverter, "x.Json", DataError::new(message));
        ContextHeaders::new(&task, origin, &failure).0
    }

    #[test]
    fn the_headers_of_a_sink_are_kafkas() {
        let origin = Origin::Topic { topic: "t", partition: 2, offset: 7 };
        let texts: Vec<_> =
            headers(origin, "bad").iter().map(|(k, v)| format!("{k}={}", v.as_deref().unwrap_or("null"))).collect();
        assert_eq!(
            texts,
            [
                "__connect.errors.topic=t",
                "__connect.errors.partition=2",
                "__connect.errors.offset=7",
                "__connect.errors.connector.name=c",
                "__connect.errors.task.id=3",
                "__connect.errors.stage=VALUE_CONVERTER",
                "__connect.errors.class.name=x.Json",
                "__connect.errors.exception.class.name=org.apache.kafka.connect.errors.DataException",
                "__connect.errors.exception.message=bad",
                "__connect.errors.exception.stacktrace=org.apache.kafka.connect.errors.DataException: bad",
            ]
        );
        assert!(headers(origin, "").contains(&(MESSAGE, None)), "no message is a null");
    }

    #[test]
    fn a_source_says_where_it_was_as_json() {
        let partition = FieldMap::new().with("file \"a\"\n", FieldValue::Text("ä\\b".to_owned()));
        let offset =
            FieldMap::new().with("n", FieldValue::Int(5)).with("x", FieldValue::Float(2.0)).with("z", FieldValue::Null);
        let origin = Origin::Source { topic: "t", partition: Some(&partition), offset: Some(&offset) };
        let headers = headers(origin, "bad");
        let of = |name| headers.iter().find(|(k, _)| *k == name).and_then(|(_, v)| v.clone()).unwrap();
        let parse = |text: String| serde_json::from_str::<serde_json::Value>(&text).unwrap();
        assert_eq!(parse(of(SOURCE_PARTITION)), serde_json::json!({"file \"a\"\n": "ä\\b"}));
        assert_eq!(of(SOURCE_OFFSET), r#"{"n":5,"x":2.0,"z":null}"#);
        assert!(headers.iter().all(|(k, _)| *k != PARTITION && *k != OFFSET));
    }
}
