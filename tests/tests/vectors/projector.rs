//! `SchemaProjector`.

use connect_sdk::data::projector::project;

use super::case::{Case, Outcome, Subject};
use super::notation::{read_schema, read_value, write_value};

pub const SUBJECT: Subject = Subject { name: "projector", run, exact_messages: false };

fn run(case: &Case) -> Outcome {
    let schema = |name: &str| read_schema(&case.input[name]).expect("the case's schemas are sound").expect("a schema");
    let (source, target) = (schema("sourceSchema"), schema("targetSchema"));
    let value = match read_value(Some(&source), &case.input["value"]) {
        Ok(value) => value,
        Err(why) => return Outcome::skipped(why),
    };
    match project(&source, value.as_ref(), &target) {
        Ok(value) => Outcome::Result(write_value(Some(&target), value.as_ref())),
        Err(error) => Outcome::data_error(error),
    }
}
