//! Converters of keys, values and headers, both directions.

use std::collections::BTreeMap;

use bytes::Bytes;
use connect_runtime::converters;
use connect_sdk::converter::{BoxHeaderConverter, ConverterClass, ConverterKind};
use connect_sdk::data::{DataError, SchemaAndValue};
use connect_sdk::source::PayloadRef;

use super::case::{Case, Kind, Outcome, Subject};
use super::notation::{read_bytes, read_schema, read_value, write_bytes, write_schema_and_value};

pub const JSON: Subject = Subject { name: "json_converter", run, exact_messages: false };
pub const PRIMITIVE: Subject = Subject { name: "primitive_converter", run, exact_messages: false };
pub const HEADER: Subject = Subject { name: "header_converter", run, exact_messages: false };

fn run(case: &Case) -> Outcome {
    let Some(class) = converters::classes().into_iter().find(|class| Some(class.class) == case.class.as_deref()) else {
        return Outcome::skipped(format!("`{}` is not built", case.class()));
    };
    let converter = match make(&class, case) {
        Ok(converter) => converter,
        Err(message) => return configuration_error(case, message),
    };
    match case.op() {
        "fromConnectData" | "fromConnectHeader" => write(case, &*converter),
        "toConnectData" | "toConnectHeader" if has_half_pairs(case.expected.as_ref()) => {
            Outcome::skipped("text with unpaired surrogates does not exist in Rust")
        }
        "toConnectData" | "toConnectHeader" => {
            let bytes = read_bytes(&case.input["data"]);
            answer(converter.read(bytes.as_ref()), |read| {
                write_schema_and_value(read.schema.as_ref(), read.value.as_ref())
            })
        }
        other => Outcome::skipped(format!("operation `{other}` is not built")),
    }
}

/// Whether a result holds text that is not Unicode: ours is an error, or has U+FFFD there.
fn has_half_pairs(node: Option<&serde_json::Value>) -> bool {
    match node {
        Some(serde_json::Value::Array(items)) => items.iter().any(|item| has_half_pairs(Some(item))),
        Some(serde_json::Value::Object(members)) => {
            members.contains_key("utf16") || members.values().any(|value| has_half_pairs(Some(value)))
        }
        _ => false,
    }
}

fn write(case: &Case, converter: &dyn Either) -> Outcome {
    let schema = match read_schema(&case.input["schema"]) {
        Ok(schema) => schema,
        Err(error) => return Outcome::data_error(error),
    };
    let value = match read_value(schema.as_ref(), &case.input["value"]) {
        Ok(value) => value,
        Err(why) => return Outcome::skipped(why),
    };
    let payload = PayloadRef::Value(schema.as_ref(), value.as_ref());
    let mut out = b"what was there before".to_vec();
    let start = out.len();
    answer(converter.write(payload, &mut out), |written| write_bytes(written.then(|| &out[start..])))
}

fn answer<T>(result: Result<T, DataError>, show: impl FnOnce(T) -> serde_json::Value) -> Outcome {
    match result {
        Ok(result) => Outcome::Result(show(result)),
        Err(error) => Outcome::data_error(error),
    }
}

/// Java reports a charset that it does not know, and a schema that it cannot parse, as errors of data; to us all that is
/// wrong about settings is an error of configuration.
fn configuration_error(case: &Case, message: String) -> Outcome {
    let java_says_data = case.error.as_ref().is_some_and(|error| !error.class.ends_with(".ConfigException"));
    let kind = if java_says_data { Kind::Data } else { Kind::Configuration };
    Outcome::Error { stage: "configure", kind, message }
}

/// Both kinds of converters, called in one way.
trait Either {
    fn write(&self, value: PayloadRef<'_>, out: &mut Vec<u8>) -> Result<bool, DataError>;
    fn read(&self, bytes: Option<&Bytes>) -> Result<SchemaAndValue, DataError>;
}

struct OfData(connect_sdk::converter::BoxConverter);

impl Either for OfData {
    fn write(&self, value: PayloadRef<'_>, out: &mut Vec<u8>) -> Result<bool, DataError> {
        self.0.write("t", value, out)
    }

    fn read(&self, bytes: Option<&Bytes>) -> Result<SchemaAndValue, DataError> {
        self.0.read("t", bytes)
    }
}

struct OfHeaders(BoxHeaderConverter);

impl Either for OfHeaders {
    fn write(&self, value: PayloadRef<'_>, out: &mut Vec<u8>) -> Result<bool, DataError> {
        self.0.write_header("t", "h", value, out)
    }

    fn read(&self, bytes: Option<&Bytes>) -> Result<SchemaAndValue, DataError> {
        self.0.read_header("t", "h", bytes)
    }
}

fn make(class: &ConverterClass, case: &Case) -> Result<Box<dyn Either>, String> {
    let properties: BTreeMap<String, String> =
        case.config.iter().filter_map(|(key, value)| Some((key.clone(), value.clone()?))).collect();
    let made: Result<Box<dyn Either>, _> = if case.op().ends_with("Header") {
        let make = class.header_converter.expect("the class converts headers");
        make(&properties).map(|converter| Box::new(OfHeaders(converter)) as _)
    } else {
        let make = class.converter.expect("the class converts keys and values");
        make(&properties, ConverterKind::Value).map(|converter| Box::new(OfData(converter)) as _)
    };
    made.map_err(|errors| errors.to_string())
}
