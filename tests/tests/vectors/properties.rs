//! Java's properties files.

use connect_sdk::java::properties;
use serde_json::json;

use super::case::{Case, Kind, Outcome, Subject};
use super::notation::read_bytes;

pub const SUBJECT: Subject = Subject { name: "properties", run, exact_messages: false };

fn run(case: &Case) -> Outcome {
    match properties::load(&read_bytes(&case.input["data"]).unwrap_or_default()) {
        Ok(read) => {
            Outcome::Result(read.iter().map(|(key, value)| json!([{ "string": key }, { "string": value }])).collect())
        }
        Err(error) => Outcome::Error { stage: "apply", kind: Kind::Configuration, message: error.to_string() },
    }
}
