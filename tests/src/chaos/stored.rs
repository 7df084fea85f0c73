//! The stored offsets of the source `numbers`, read past the worker: from its file, or from its topic.

use serde_json::Value;

use super::check::Stored;
use crate::cluster::{Cluster, Isolation};

/// The offsets that a worker's file has of a connector. An absent or empty file has none.
///
/// # Errors
/// A line that is not what the file's form says: a torn file.
pub fn in_file(text: &str, connector: &str) -> Result<Stored, String> {
    let mut lines = text.lines();
    let Some(head) = lines.next() else { return Ok(Stored::new()) };
    let head: Value = serde_json::from_str(head).map_err(|error| format!("the offset file's head is torn: {error}"))?;
    let mut stored = Stored::new();
    let mut n = 0;
    for line in lines {
        let line: Value =
            serde_json::from_str(line).map_err(|error| format!("the offset file has a torn line: {error}"))?;
        n += 1;
        note(&mut stored, &line["key"], &line["value"], connector);
    }
    if head["entries"] != n { Err(format!("the offset file announces {head} and has {n} lines")) } else { Ok(stored) }
}

/// The offsets that a topic has of a connector, as a reader of committed records sees them.
pub fn in_topic(cluster: &Cluster, topic: &str, connector: &str) -> Stored {
    let mut stored = Stored::new();
    for record in cluster.read(topic, Isolation::ReadCommitted) {
        let parse = |bytes: &Option<Vec<u8>>| serde_json::from_slice(bytes.as_deref().unwrap_or_default()).ok();
        if let (Some(key), Some(value)) = (parse(&record.key), parse(&record.value)) {
            note(&mut stored, &key, &value, connector);
        }
    }
    stored
}

fn note(stored: &mut Stored, key: &Value, value: &Value, connector: &str) {
    let partition = key[1]["name"].as_str().and_then(|name| name.strip_prefix('p')?.parse().ok());
    if let (Some(partition), Some(next), true) = (partition, value["next"].as_i64(), key[0] == connector) {
        stored.insert(partition, next);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_of_one_connector_are_read_and_a_torn_file_is_found() {
        let text = "{\"connect.offsets\":1,\"entries\":2}\n\
                    {\"key\":[\"a\",{\"name\":\"p3\"}],\"value\":{\"next\":7}}\n\
                    {\"key\":[\"b\",{\"name\":\"p3\"}],\"value\":{\"next\":9}}\n";
        assert_eq!(in_file(text, "a"), Ok(Stored::from([(3, 7)])));
        assert_eq!(in_file("", "a"), Ok(Stored::new()));
        in_file(&text[..text.len() - 10], "a").unwrap_err();
        in_file(text.lines().next().unwrap(), "a").unwrap_err();
    }
}
