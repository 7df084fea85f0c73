//! Transformations, predicates, and whole chains.

use std::collections::BTreeMap;

use connect_runtime::config::{ConnectorKind, check_connector};
use connect_runtime::transforms::{self, ChainConfig, predicates};
use connect_sdk::config::ConfigErrors;
use connect_sdk::data::DataError;
use connect_sdk::data::SchemaAndValue;
use connect_sdk::erased::DynTransformation;
use connect_sdk::header::{Header, Headers};
use connect_sdk::plugin::Plugins;
use connect_sdk::transform::ConnectRecord;
use serde_json::{Value as Json, json};

use super::case::{Case, Kind, Outcome, Subject};
use super::notation::{read_schema, read_value, write_schema, write_value};

pub const TRANSFORM: Subject = Subject { name: "transform", run: transform, exact_messages: true };
pub const SEQUENCE: Subject = Subject { name: "transform_sequence", run: sequence, exact_messages: true };
pub const PREDICATE: Subject = Subject { name: "predicate", run: predicate, exact_messages: true };
pub const CHAIN: Subject = Subject { name: "chain", run: chain, exact_messages: false };

fn settings(case: &Case) -> BTreeMap<String, String> {
    case.config.iter().filter_map(|(key, value)| Some((key.clone(), value.clone()?))).collect()
}

fn configuration_error(errors: &ConfigErrors) -> Outcome {
    let first = errors.iter().next().expect("there is an error");
    Outcome::Error { stage: "configure", kind: Kind::Configuration, message: first.message().to_owned() }
}

fn make(case: &Case) -> Result<Box<dyn DynTransformation>, Outcome> {
    let found = transforms::classes().into_iter().find(|class| Some(class.class) == case.class.as_deref());
    let class = found.ok_or_else(|| Outcome::skipped(format!("`{}` is not built", case.class())))?;
    (class.make)(&settings(case)).map_err(|errors| configuration_error(&errors))
}

fn transform(case: &Case) -> Outcome {
    match make(case) {
        Ok(mut transformation) => apply(&mut *transformation, &case.input),
        Err(outcome) => outcome,
    }
}

fn apply(transformation: &mut dyn DynTransformation, input: &Json) -> Outcome {
    let record = match read_record(input) {
        Ok(record) => record,
        Err(outcome) => return outcome,
    };
    match transformation.apply(record) {
        Ok(changed) => Outcome::Result(write_changed(input, changed.as_ref())),
        Err(error) => Outcome::data_error(error),
    }
}

fn sequence(case: &Case) -> Outcome {
    let mut transformation = match make(case) {
        Ok(transformation) => transformation,
        Err(outcome) => return outcome,
    };
    let mut results = Vec::new();
    for (index, input) in case.input["records"].as_array().expect("a list of records").iter().enumerate() {
        results.push(match apply(&mut *transformation, input) {
            Outcome::Result(result) => result,
            // Which exception Java throws is its own affair.
            Outcome::Error { .. } => match case.expected.as_ref().and_then(|expected| expected[index].get("error")) {
                Some(error) => json!({ "error": error }),
                None => json!({ "error": {} }),
            },
            skipped @ Outcome::Skipped(_) => return skipped,
        });
    }
    Outcome::Result(results.into())
}

fn predicate(case: &Case) -> Outcome {
    let found = predicates::classes().into_iter().find(|class| Some(class.class) == case.class.as_deref());
    let Some(class) = found else { return Outcome::skipped(format!("`{}` is not built", case.class())) };
    let mut predicate = match (class.make)(&settings(case)) {
        Ok(predicate) => predicate,
        Err(errors) => return configuration_error(&errors),
    };
    match read_record(&case.input).map(|record| predicate.test(&record)) {
        Ok(Ok(meant)) => Outcome::Result(meant.into()),
        Ok(Err(error)) => Outcome::data_error(error),
        Err(outcome) => outcome,
    }
}

fn chain(case: &Case) -> Outcome {
    let mut properties = settings(case);
    properties.insert("name".to_owned(), "connector".to_owned());
    properties.insert("connector.class".to_owned(), "FileStreamSource".to_owned());
    if let Err(errors) = check_connector(ConnectorKind::Source, &properties) {
        return configuration_error(&errors);
    }
    let plugins = transforms::classes().into_iter().fold(Plugins::new(), Plugins::with_transformation_class);
    let plugins = predicates::classes().into_iter().fold(plugins, Plugins::with_predicate_class);
    let made = ChainConfig::from_properties(&plugins, &properties).and_then(|config| config.make());
    match made {
        Ok(Some(mut chain)) => apply(&mut *chain, &case.input),
        Ok(None) => match read_record(&case.input) {
            Ok(record) => Outcome::Result(write_changed(&case.input, Some(&record))),
            Err(outcome) => outcome,
        },
        Err(errors) => configuration_error(&errors),
    }
}

fn is_sink(input: &Json) -> bool {
    input["kind"] != "source"
}

fn read_pair(schema: &Json, value: &Json) -> Result<SchemaAndValue, Outcome> {
    let schema = read_schema(schema).map_err(|error: DataError| Outcome::data_error(error))?;
    let value = read_value(schema.as_ref(), value).map_err(Outcome::skipped)?;
    Ok(SchemaAndValue { schema, value })
}

fn read_record(input: &Json) -> Result<ConnectRecord, Outcome> {
    let mut headers = Headers::new();
    for header in input["headers"].as_array().into_iter().flatten() {
        let SchemaAndValue { schema, value } = read_pair(&header["schema"], &header["value"])?;
        headers.push(Header::new(header["key"].as_str().expect("a header has a key"), schema, value));
    }
    let partition = input["partition"].as_i64().map(|partition| partition.try_into().expect("32 bits"));
    Ok(ConnectRecord {
        topic: input["topic"].as_str().unwrap_or_default().into(),
        partition: partition.or_else(|| is_sink(input).then_some(0)),
        timestamp: input["timestamp"].as_i64(),
        key: read_pair(&input["keySchema"], &input["key"])?,
        value: read_pair(&input["valueSchema"], &input["value"])?,
        headers,
        offset: is_sink(input).then(|| input["offset"].as_i64().unwrap_or(0)),
    })
}

fn write_changed(input: &Json, record: Option<&ConnectRecord>) -> Json {
    let Some(record) = record else { return json!({ "dropped": true }) };
    let headers: Vec<Json> = record
        .headers
        .iter()
        .map(|header| {
            let (schema, value) = (header.schema(), header.value());
            json!({ "key": header.key(), "schema": write_schema(schema), "value": write_value(schema, value) })
        })
        .collect();
    let schemas = (record.key.schema.as_ref(), record.value.schema.as_ref());
    json!({ "record": {
        "kind": if is_sink(input) { "sink" } else { "source" },
        "topic": if input["topic"].is_null() && record.topic.is_empty() { Json::Null } else { record.topic.as_str().into() },
        "partition": record.partition, "offset": record.offset, "timestamp": record.timestamp,
        "keySchema": write_schema(schemas.0), "key": write_value(schemas.0, record.key.value.as_ref()),
        "valueSchema": write_schema(schemas.1), "value": write_value(schemas.1, record.value.value.as_ref()),
        "headers": if headers.is_empty() { Json::Null } else { headers.into() },
    }})
}
