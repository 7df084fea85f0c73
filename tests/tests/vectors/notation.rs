//! Between the vectors' JSON notation and our data model.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use connect_sdk::data::{
    BigInt, DataError, Date, Decimal, LogicalType, Map, Schema, SchemaBuilder, Struct, Time, Timestamp, Type, Value,
};
use connect_sdk::java::number_text::{double_text, float_text};
use serde_json::{Map as Members, Value as Json, json};

const DAY_MS: i64 = 86_400_000;

/// Reads a schema; null is none.
///
/// # Errors
/// Passes on what the builder refuses. Panics on what is not in the notation.
pub fn read_schema(node: &Json) -> Result<Option<Schema>, DataError> {
    if node.is_null() {
        return Ok(None);
    }
    let kind = read_type(node["type"].as_str().expect("a schema has a type"));
    let part = |name: &str| read_schema(&node[name]).map(|part| part.expect("a part has a schema"));
    let mut builder = match kind {
        Type::Array => SchemaBuilder::array(part("value")?),
        Type::Map => SchemaBuilder::map(part("key")?, part("value")?),
        kind => SchemaBuilder::new(kind),
    };
    for field in node["fields"].as_array().into_iter().flatten() {
        let name = field["name"].as_str().expect("a field has a name");
        builder = builder.field(name, read_schema(&field["schema"])?.expect("a field has a schema"));
    }
    if let Some(name) = node["name"].as_str() {
        builder = builder.name(name);
    }
    if let Some(version) = node["version"].as_i64() {
        builder = builder.version(i32::try_from(version).expect("a version has 32 bits"));
    }
    if let Some(doc) = node["doc"].as_str() {
        builder = builder.doc(doc);
    }
    for pair in node["parameters"].as_array().into_iter().flatten() {
        let text = |index: usize| pair[index].as_str().expect("a parameter is a pair of texts");
        builder = builder.parameter(text(0), text(1));
    }
    if node["optional"] == true {
        builder = builder.optional();
    }
    if !node["default"].is_null() {
        let so_far = builder.clone().build()?;
        let default = read_value(Some(&so_far), &node["default"]).map_err(DataError::new)?;
        builder = builder.default_value(default);
    }
    builder.build().map(Some)
}

fn read_type(name: &str) -> Type {
    Type::ALL.into_iter().find(|kind| kind.name() == name).expect("a type of Kafka Connect")
}

/// Reads a value that stands beside a schema, or beside none; null is none.
///
/// # Errors
/// Tells what has no counterpart in our data model.
pub fn read_value(schema: Option<&Schema>, node: &Json) -> Result<Option<Value>, String> {
    if node.is_null() {
        return Ok(None);
    }
    let (tag, content) = node.as_object().and_then(|members| members.iter().next()).expect("a value has a tag");
    let text = || content.as_str().expect("a text");
    let integer = || content.as_i64().expect("an integer");
    Ok(Some(match tag.as_str() {
        "int8" => Value::Int8(integer().try_into().expect("8 bits")),
        "int16" => Value::Int16(integer().try_into().expect("16 bits")),
        "int32" => Value::Int32(integer().try_into().expect("32 bits")),
        "int64" => Value::Int64(integer()),
        "float32" => Value::Float32(text().parse().expect("a number")),
        "float64" => Value::Float64(text().parse().expect("a number")),
        "boolean" => Value::Boolean(content.as_bool().expect("a boolean")),
        "string" => Value::from(text()),
        "utf16" => return Err("text with unpaired surrogates does not exist in Rust".to_owned()),
        "bytes" | "byteBuffer" => Value::Bytes(STANDARD.decode(text()).expect("base64").into()),
        "decimal" => {
            let unscaled: BigInt = content["unscaled"].as_str().expect("a text").parse().expect("a number");
            let scale = content["scale"].as_i64().expect("an integer");
            Value::Decimal(Decimal::new(unscaled, scale.try_into().expect("32 bits")))
        }
        "javaDate" => read_date(schema, integer()),
        "array" => {
            let part = schema.and_then(Schema::value_schema);
            let items = content.as_array().expect("a list");
            Value::Array(items.iter().map(|item| read_value(part, item)).collect::<Result<_, _>>()?)
        }
        "map" => {
            let (key, part) = (schema.and_then(Schema::key_schema), schema.and_then(Schema::value_schema));
            let pairs = content.as_array().expect("a list of pairs");
            Value::Map(
                pairs
                    .iter()
                    .map(|pair| Ok((read_value(key, &pair[0])?, read_value(part, &pair[1])?)))
                    .collect::<Result<Map, String>>()?,
            )
        }
        "struct" => Value::Struct(read_struct(schema.expect("a struct stands beside its schema"), content)?),
        "structOf" => {
            let schema = read_schema(&content["schema"]).map_err(|error| error.to_string())?;
            Value::Struct(read_struct(&schema.expect("a struct has a schema"), &content["fields"])?)
        }
        other => return Err(format!("`{other}` is not in the notation of inputs")),
    }))
}

/// A `java.util.Date` is what its schema says; one that the schema's type cannot hold becomes an instant, which then
/// does not fit its schema, as it does not in Java's converters.
fn read_date(schema: Option<&Schema>, millis: i64) -> Value {
    let day = || (millis % DAY_MS == 0).then(|| i32::try_from(millis / DAY_MS).ok()).flatten();
    let time = || i32::try_from(millis).ok().and_then(|millis| Time::from_millis_of_day(millis).ok());
    match schema.and_then(Schema::logical) {
        Some(LogicalType::Date) => day().map(|days| Date::from_epoch_days(days).into()),
        Some(LogicalType::Time) => time().map(Value::from),
        _ => None,
    }
    .unwrap_or_else(|| Timestamp::from_epoch_millis(millis).into())
}

fn read_struct(schema: &Schema, fields: &Json) -> Result<Struct, String> {
    let mut new = Struct::new(schema.clone()).map_err(|error| error.to_string())?;
    for pair in fields.as_array().expect("a list of pairs") {
        let name = pair[0].as_str().expect("a field name");
        let field = schema.field(name).ok_or_else(|| format!("the case puts `{name}`, which is no field"))?;
        if let Some(value) = read_value(Some(field.schema()), &pair[1])? {
            new.put(name, value).map_err(|error| format!("no value of ours: {error}"))?;
        }
    }
    Ok(new)
}

/// Writes a schema; none is null.
pub fn write_schema(schema: Option<&Schema>) -> Json {
    let Some(schema) = schema else { return Json::Null };
    let mut out = Members::new();
    out.insert("type".to_owned(), schema.kind().name().into());
    if schema.is_optional() {
        out.insert("optional".to_owned(), true.into());
    }
    for (member, text) in [("name", schema.name()), ("doc", schema.doc())] {
        if let Some(text) = text {
            out.insert(member.to_owned(), text.into());
        }
    }
    if let Some(version) = schema.version() {
        out.insert("version".to_owned(), version.into());
    }
    if !schema.parameters().is_empty() {
        out.insert("parameters".to_owned(), json!(schema.parameters()));
    }
    match schema.default() {
        Some(Value::Struct(value)) => drop(out.insert("default".to_owned(), json!({ "struct": write_fields(value) }))),
        Some(value) => drop(out.insert("default".to_owned(), write_value(Some(schema), Some(value)))),
        None => {}
    }
    if schema.kind() == Type::Map {
        out.insert("key".to_owned(), write_schema(schema.key_schema()));
    }
    if matches!(schema.kind(), Type::Map | Type::Array) {
        out.insert("value".to_owned(), write_schema(schema.value_schema()));
    }
    if schema.kind() == Type::Struct {
        let fields: Vec<_> = schema
            .fields()
            .iter()
            .map(|field| json!({ "name": field.name(), "schema": write_schema(Some(field.schema())) }))
            .collect();
        out.insert("fields".to_owned(), fields.into());
    }
    out.into()
}

/// Writes a value that stands beside a schema, or beside none; none is null.
pub fn write_value(schema: Option<&Schema>, value: Option<&Value>) -> Json {
    let Some(value) = value else { return Json::Null };
    match value {
        Value::Int8(value) => json!({ "int8": value }),
        Value::Int16(value) => json!({ "int16": value }),
        Value::Int32(value) => json!({ "int32": value }),
        Value::Int64(value) => json!({ "int64": value }),
        Value::Float32(value) => json!({ "float32": float_text(*value) }),
        Value::Float64(value) => json!({ "float64": double_text(*value) }),
        Value::Boolean(value) => json!({ "boolean": value }),
        Value::String(value) => json!({ "string": value.as_str() }),
        Value::Bytes(value) => json!({ "bytes": STANDARD.encode(value) }),
        Value::Decimal(value) => {
            json!({ "decimal": { "unscaled": value.unscaled().to_string(), "scale": value.scale() } })
        }
        Value::Date(value) => json!({ "javaDate": i64::from(value.epoch_days()) * DAY_MS }),
        Value::Time(value) => json!({ "javaDate": value.millis_of_day() }),
        Value::Timestamp(value) => json!({ "javaDate": value.epoch_millis() }),
        Value::Array(items) => {
            let part = schema.and_then(Schema::value_schema);
            json!({ "array": items.iter().map(|item| write_value(part, item.as_ref())).collect::<Vec<_>>() })
        }
        Value::Map(map) => {
            let (key, part) = (schema.and_then(Schema::key_schema), schema.and_then(Schema::value_schema));
            json!({ "map": map.iter().map(|(k, v)| json!([write_value(key, k), write_value(part, v)])).collect::<Vec<_>>() })
        }
        Value::Struct(value) if schema.is_some_and(|schema| schema.accepts_struct_of(value.schema())) => {
            json!({ "struct": write_fields(value) })
        }
        Value::Struct(value) => {
            json!({ "structOf": { "schema": write_schema(Some(value.schema())), "fields": write_fields(value) } })
        }
    }
}

fn write_fields(value: &Struct) -> Json {
    value
        .entries()
        .map(|(field, value)| json!([field.name(), write_value(Some(field.schema()), value)]))
        .collect::<Vec<_>>()
        .into()
}

/// Writes a schema and its value: `{"schema", "value"}`.
pub fn write_schema_and_value(schema: Option<&Schema>, value: Option<&Value>) -> Json {
    json!({ "schema": write_schema(schema), "value": write_value(schema, value) })
}

/// Reads bytes: null, `{"text"}` or `{"base64"}`.
pub fn read_bytes(node: &Json) -> Option<Bytes> {
    if let Some(text) = node["text"].as_str() {
        return Some(Bytes::copy_from_slice(text.as_bytes()));
    }
    node["base64"].as_str().map(|text| STANDARD.decode(text).expect("base64").into())
}

/// Writes bytes: as text if they are UTF-8, else in base64.
pub fn write_bytes(bytes: Option<&[u8]>) -> Json {
    match bytes.map(|bytes| (bytes, std::str::from_utf8(bytes))) {
        None => Json::Null,
        Some((_, Ok(text))) => json!({ "text": text }),
        Some((bytes, Err(_))) => json!({ "base64": STANDARD.encode(bytes) }),
    }
}

/// Whether two results mean the same: floats by their bits (all NaN alike), maps and parameters without order, members
/// that are null as if they were absent, a `byteBuffer` as its bytes.
pub fn same(expected: &Json, actual: &Json) -> bool {
    canonical(expected) == canonical(actual)
}

fn canonical(node: &Json) -> Json {
    match node {
        Json::Array(items) => items.iter().map(canonical).collect::<Vec<_>>().into(),
        Json::Object(members) => {
            let only = members.len() == 1;
            let members: BTreeMap<&str, Json> = members
                .iter()
                // A default of null is a default.
                .filter(|(name, value)| !value.is_null() || *name == "default")
                .filter(|(name, value)| !(*name == "optional" && **value == false))
                .map(|(name, value)| match (name.as_str(), value) {
                    ("float32", Json::String(text)) if only => {
                        ("float32", float_bits(text, |n: f32| n.is_nan(), |n| n.to_bits().into()))
                    }
                    ("float64", Json::String(text)) if only => {
                        ("float64", float_bits(text, |n: f64| n.is_nan(), f64::to_bits))
                    }
                    ("byteBuffer", value) if only => ("bytes", value.clone()),
                    ("map" | "parameters", Json::Array(pairs)) => {
                        let mut pairs: Vec<Json> = pairs.iter().map(canonical).collect();
                        pairs.sort_by_cached_key(Json::to_string);
                        (name.as_str(), pairs.into())
                    }
                    (name, value) => (name, canonical(value)),
                })
                .collect();
            json!(members)
        }
        other => other.clone(),
    }
}

fn float_bits<F: std::str::FromStr + Copy>(text: &str, is_nan: fn(F) -> bool, bits: impl Fn(F) -> u64) -> Json {
    match text.parse::<F>() {
        Ok(number) if is_nan(number) => "NaN".into(),
        Ok(number) => bits(number).into(),
        Err(_) => text.into(),
    }
}

#[test]
fn results_are_compared_by_meaning() {
    assert!(same(&json!({"float32": "1.0E10"}), &json!({"float32": "10000000000"})));
    assert!(!same(&json!({"float64": "-0.0"}), &json!({"float64": "0.0"})));
    assert!(same(
        &json!({"map": [[{"int8": 1}, null], [{"int8": 2}, null]]}),
        &json!({"map": [[{"int8": 2}, null], [{"int8": 1}, null]]})
    ));
    assert!(same(&json!({"schema": null, "value": null}), &json!({})));
    assert!(!same(&json!({"array": [null]}), &json!({"array": []})));
    assert!(!same(&json!({"int8": 1}), &json!({"int16": 1})));
    assert!(!same(&json!({"default": null}), &json!({})));
}
