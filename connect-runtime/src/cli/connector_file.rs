//! Reads a connector's file: properties, or JSON in either of the forms that Kafka's standalone worker takes.

use connect_sdk::{erased::Properties, java::properties};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::{fs, path::Path};

/// What a file says of a connector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ConnectorFile {
    /// The configuration; whether it is any good is found out later.
    pub(crate) properties: Properties,
    /// How it starts.
    pub(crate) initial_state: InitialState,
}

/// The state a connector starts in (KIP-980).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum InitialState {
    /// It runs.
    #[default]
    Running,
    /// It is there, but does no work until it is resumed.
    Paused,
    /// It has no tasks until it is resumed.
    Stopped,
}

/// Kafka's request to create a connector.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CreateConnector {
    name: Option<String>,
    config: Map<String, Value>,
    #[serde(default)]
    initial_state: InitialState,
}

/// Reads one file.
///
/// # Errors
/// Names the file, the line where there is one, and the key whose value cannot be text.
pub(crate) fn read_connector_file(path: &Path) -> Result<ConnectorFile, String> {
    let bytes = fs::read(path).map_err(|e| format!("connector file `{}` cannot be read: {e}", path.display()))?;
    parse(&bytes).map_err(|e| format!("connector file `{}`: {e}", path.display()))
}

fn parse(bytes: &[u8]) -> Result<ConnectorFile, String> {
    let looks_like_json = bytes.iter().find(|b| !b.is_ascii_whitespace()) == Some(&b'{');
    if !looks_like_json {
        let properties = properties::load(bytes).map_err(|e| e.to_string())?;
        return Ok(ConnectorFile { properties, initial_state: InitialState::Running });
    }
    let json: Map<String, Value> = serde_json::from_slice(bytes).map_err(|e| format!("not JSON: {e}"))?;
    // A configuration has texts only, so `config` with an object under it can only be the request form.
    if !json.get("config").is_some_and(Value::is_object) {
        return Ok(ConnectorFile { properties: texts(json)?, initial_state: InitialState::Running });
    }
    let request: CreateConnector = serde_json::from_value(Value::Object(json)).map_err(|e| e.to_string())?;
    let mut properties = texts(request.config)?;
    match (request.name, properties.get("name")) {
        (Some(outer), Some(inner)) if outer != *inner => {
            return Err(format!("`name` is `{outer}` but `config.name` is `{inner}`; they must be equal"));
        }
        (Some(outer), None) => drop(properties.insert("name".to_owned(), outer)),
        _ => {}
    }
    Ok(ConnectorFile { properties, initial_state: request.initial_state })
}

/// Numbers and truth values become text, as Java's reader makes them.
fn texts(config: Map<String, Value>) -> Result<Properties, String> {
    config
        .into_iter()
        .map(|(key, value)| match value {
            Value::String(text) => Ok((key, text)),
            Value::Number(n) => Ok((key, n.to_string())),
            Value::Bool(b) => Ok((key, b.to_string())),
            Value::Null => Err(format!("the value of `{key}` is null; remove the key or give it a text")),
            Value::Array(_) | Value::Object(_) => {
                Err(format!("the value of `{key}` is not a text; lists are written as `a,b`"))
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn props(pairs: &[(&str, &str)]) -> Properties {
        pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
    }

    #[test]
    fn all_forms_give_the_same_configuration() {
        let expected = props(&[("name", "c"), ("tasks.max", "2"), ("topic", "t")]);
        for text in [
            "name=c\ntasks.max=2\ntopic=t\n",
            r#"{"name":"c","tasks.max":2,"topic":"t"}"#,
            r#"{"name":"c","config":{"tasks.max":"2","topic":"t"}}"#,
            r#" {"config":{"name":"c","tasks.max":"2","topic":"t"},"initial_state":"RUNNING"}"#,
        ] {
            assert_eq!(parse(text.as_bytes()).unwrap().properties, expected, "{text}");
        }
        let paused = parse(br#"{"name":"c","config":{},"initial_state":"PAUSED"}"#).unwrap();
        assert_eq!(paused.initial_state, InitialState::Paused);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_key() {
        for (text, expected) in [
            (r#"{"name":"c","config":{"name":"d"}}"#, "must be equal"),
            (r#"{"topics":["a"]}"#, "`topics` is not a text"),
            (r#"{"topics":null}"#, "`topics` is null"),
            (r#"{"name":"c","config":{},"state":"x"}"#, "unknown field `state`"),
            (r#"{"name":"c","config":{},"initial_state":"x"}"#, "unknown variant `x`"),
            ("{\"a\":", "line 1"),
        ] {
            let error = parse(text.as_bytes()).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
