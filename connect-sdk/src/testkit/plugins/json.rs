//! Records as JSON, for fixture files. Values with a schema stand as JsonConverter writes them, `{"schema":..,"payload":..}`;
//! those without one stand for themselves, and what JSON has no type for is told by a `$`: `{"$int32":5}`.

use crate::data::{
    Date, Decimal, LogicalType, Map as ConnectMap, Schema, SchemaAndValue, SchemaBuilder, Struct, Time, Timestamp,
    Type, Value, validate_value, value_text,
};
use crate::header::{Header, Headers};
use crate::transform::ConnectRecord;
use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Map, Value as Json, json};

/// What went wrong, with the place.
pub(super) type Read<T> = Result<T, String>;

const RECORD_MEMBERS: [&str; 7] = ["topic", "partition", "timestamp", "offset", "key", "value", "headers"];

/// The record of an object; what it does not name is not there.
pub(super) fn read_record(json: &Json) -> Read<ConnectRecord> {
    let object = json.as_object().ok_or_else(|| format!("a record is an object, not `{json}`"))?;
    if let Some(unknown) = object.keys().find(|name| !RECORD_MEMBERS.contains(&name.as_str())) {
        return Err(format!("a record has no `{unknown}`; it has {}", RECORD_MEMBERS.join(", ")));
    }
    let text = |name: &str| match object.get(name) {
        None => Ok(String::new()),
        Some(Json::String(text)) => Ok(text.clone()),
        Some(other) => Err(format!("`{name}` is text, not `{other}`")),
    };
    let number = |name: &str| match object.get(name) {
        None | Some(Json::Null) => Ok(None),
        Some(number) => number.as_i64().map(Some).ok_or_else(|| format!("`{name}` is an integer, not `{number}`")),
    };
    let part = |name: &str| {
        let value = object.get(name).map_or(Ok(SchemaAndValue::NULL), read_value);
        value.map_err(|why| format!("`{name}`: {why}"))
    };
    let mut headers = Headers::new();
    for header in object.get("headers").and_then(Json::as_array).into_iter().flatten() {
        let key = header.get("key").and_then(Json::as_str).ok_or("a header is an object with `key` and `value`")?;
        let value = header.get("value").map_or(Ok(SchemaAndValue::NULL), read_value);
        let SchemaAndValue { schema, value } = value.map_err(|why| format!("header `{key}`: {why}"))?;
        headers.push(Header::new(key, schema, value));
    }
    Ok(ConnectRecord {
        topic: text("topic")?.into(),
        partition: number("partition")?.map(narrow).transpose()?,
        timestamp: number("timestamp")?,
        offset: number("offset")?,
        key: part("key")?,
        value: part("value")?,
        headers,
    })
}

/// The object of a record, without what it does not have.
pub(super) fn write_record(record: &ConnectRecord) -> Json {
    let mut object = Map::new();
    let mut put = |name: &str, value: Json| {
        if !value.is_null() {
            object.insert(name.to_owned(), value);
        }
    };
    put("topic", record.topic.as_str().into());
    put("partition", record.partition.into());
    put("timestamp", record.timestamp.into());
    put("offset", record.offset.into());
    put("key", write_value(&record.key));
    put("value", write_value(&record.value));
    if !record.headers.is_empty() {
        let header = |header: &Header| {
            let value = SchemaAndValue::new(header.schema().cloned(), header.value().cloned());
            json!({ "key": header.key(), "value": write_value(&value) })
        };
        put("headers", record.headers.iter().map(header).collect());
    }
    Json::Object(object)
}

pub(super) fn read_value(json: &Json) -> Read<SchemaAndValue> {
    if let Json::Object(object) = json
        && object.len() == 2
        && let (Some(schema), Some(payload)) = (object.get("schema"), object.get("payload"))
    {
        let schema = read_schema(schema)?;
        let value = read_payload(&schema, payload)?;
        validate_value(&schema, value.as_ref()).map_err(|error| error.to_string())?;
        return Ok(SchemaAndValue::new(Some(schema), value));
    }
    read_schemaless(json).map(|value| SchemaAndValue::new(None, value))
}

pub(super) fn write_value(of: &SchemaAndValue) -> Json {
    match &of.schema {
        None => write_schemaless(of.value.as_ref()),
        Some(schema) => {
            json!({ "schema": write_schema(schema), "payload": write_payload(Some(schema), of.value.as_ref()) })
        }
    }
}

fn narrow<T: TryFrom<i64>>(number: i64) -> Read<T> {
    T::try_from(number).map_err(|_| format!("{number} is out of range"))
}

fn integer<T: TryFrom<i64>>(json: &Json) -> Read<T> {
    json.as_i64().ok_or_else(|| format!("an integer is needed, not `{json}`")).and_then(narrow)
}

fn float(json: &Json) -> Read<f64> {
    let special = match json.as_str() {
        Some("NaN") => Some(f64::NAN),
        Some("Infinity") => Some(f64::INFINITY),
        Some("-Infinity") => Some(f64::NEG_INFINITY),
        _ => None,
    };
    special.or_else(|| json.as_f64()).ok_or_else(|| format!("a number is needed, not `{json}`"))
}

fn write_float(number: f64) -> Json {
    if number.is_finite() { number.into() } else { value_text(&Value::from(number)).into_owned().into() }
}

fn bytes(json: &Json) -> Read<Value> {
    let decoded = json.as_str().and_then(|text| STANDARD.decode(text).ok());
    decoded.map(Value::from).ok_or_else(|| format!("bytes in base64 are needed, not `{json}`"))
}

/// The tag and content of `{"$tag":content}`.
fn tagged(json: &Json) -> Option<(&str, &Json)> {
    let object = json.as_object().filter(|object| object.len() == 1)?;
    let (tag, content) = object.iter().next()?;
    Some((tag.strip_prefix('$')?, content))
}

fn read_tagged(tag: &str, content: &Json) -> Read<Value> {
    Ok(match tag {
        "int8" => Value::Int8(integer(content)?),
        "int16" => Value::Int16(integer(content)?),
        "int32" => Value::Int32(integer(content)?),
        #[expect(clippy::cast_possible_truncation, reason = "a number that was written as a narrow one")]
        "float32" => Value::Float32(float(content)? as f32),
        "float64" => Value::Float64(float(content)?),
        "bytes" => bytes(content)?,
        "decimal" => decimal(content)?.into(),
        "date" => Date::from_epoch_days(integer(content)?).into(),
        "time" => Time::from_millis_of_day(integer(content)?).map_err(|error| error.to_string())?.into(),
        "timestamp" => Timestamp::from_epoch_millis(integer(content)?).into(),
        "map" => {
            let mut map = ConnectMap::new();
            for pair in content.as_array().into_iter().flatten() {
                let (key, value) = pair_of(pair)?;
                map.insert(read_schemaless(key)?, read_schemaless(value)?);
            }
            map.into()
        }
        _ => return Err(format!("there is no type `${tag}`")),
    })
}

fn pair_of(json: &Json) -> Read<(&Json, &Json)> {
    match json.as_array().map(Vec::as_slice) {
        Some([key, value]) => Ok((key, value)),
        _ => Err(format!("an entry of a map is a list of key and value, not `{json}`")),
    }
}

/// A decimal as text: all of its digits, none of JSON's doubts.
fn decimal(json: &Json) -> Read<Decimal> {
    let parsed = json.as_str().and_then(|text| {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let scale = i32::try_from(fraction.len()).ok()?;
        Some(Decimal::new([whole, fraction].concat().parse::<crate::data::BigInt>().ok()?, scale))
    });
    parsed.ok_or_else(|| format!("a decimal is text such as \"12.50\", not `{json}`"))
}

fn read_schemaless(json: &Json) -> Read<Option<Value>> {
    if let Some((tag, content)) = tagged(json) {
        return read_tagged(tag, content).map(Some);
    }
    Ok(Some(match json {
        Json::Null => return Ok(None),
        Json::Bool(value) => Value::Boolean(*value),
        Json::Number(number) => match number.as_i64() {
            Some(number) => Value::Int64(number),
            None => Value::Float64(number.as_f64().ok_or_else(|| format!("{number} is out of range"))?),
        },
        Json::String(text) => Value::from(text),
        Json::Array(elements) => Value::Array(elements.iter().map(read_schemaless).collect::<Read<Vec<_>>>()?.into()),
        Json::Object(members) => {
            let mut map = ConnectMap::with_capacity(members.len());
            for (key, value) in members {
                map.insert(key, read_schemaless(value)?);
            }
            map.into()
        }
    }))
}

fn write_schemaless(value: Option<&Value>) -> Json {
    let Some(value) = value else { return Json::Null };
    match value {
        Value::Int8(number) => json!({ "$int8": number }),
        Value::Int16(number) => json!({ "$int16": number }),
        Value::Int32(number) => json!({ "$int32": number }),
        Value::Float32(number) => json!({ "$float32": write_float((*number).into()) }),
        // A whole number would be read as an integer, and one that is not finite as text.
        Value::Float64(number) if number.fract() == 0.0 || !number.is_finite() => {
            json!({ "$float64": write_float(*number) })
        }
        Value::Bytes(bytes) => json!({ "$bytes": STANDARD.encode(bytes) }),
        Value::Date(date) => json!({ "$date": date.epoch_days() }),
        Value::Time(time) => json!({ "$time": time.millis_of_day() }),
        Value::Timestamp(at) => json!({ "$timestamp": at.epoch_millis() }),
        Value::Map(map) if !map.iter().all(|(key, _)| matches!(key, Some(Value::String(_)))) => {
            let pairs = map.iter().map(|(key, value)| json!([write_schemaless(key), write_schemaless(value)]));
            json!({ "$map": pairs.collect::<Vec<_>>() })
        }
        value => write_payload(None, Some(value)),
    }
}

fn read_payload(schema: &Schema, json: &Json) -> Read<Option<Value>> {
    if json.is_null() {
        return Ok(None);
    }
    if let Some(logical) = schema.logical() {
        return Ok(Some(match logical {
            LogicalType::Decimal => match tagged(json) {
                Some(("decimal", text)) => decimal(text)?.into(),
                _ => return Err(format!("a decimal is written {{\"$decimal\":\"12.50\"}}, not `{json}`")),
            },
            LogicalType::Date => Date::from_epoch_days(integer(json)?).into(),
            LogicalType::Time => Time::from_millis_of_day(integer(json)?).map_err(|error| error.to_string())?.into(),
            LogicalType::Timestamp => Timestamp::from_epoch_millis(integer(json)?).into(),
        }));
    }
    let unfit = || format!("a value of type {} is needed, not `{json}`", schema.kind());
    let part = |part: Option<&Schema>| part.cloned().ok_or_else(unfit);
    Ok(Some(match schema.kind() {
        Type::Int8 => Value::Int8(integer(json)?),
        Type::Int16 => Value::Int16(integer(json)?),
        Type::Int32 => Value::Int32(integer(json)?),
        Type::Int64 => Value::Int64(integer(json)?),
        #[expect(clippy::cast_possible_truncation, reason = "a number that was written as a narrow one")]
        Type::Float32 => Value::Float32(float(json)? as f32),
        Type::Float64 => Value::Float64(float(json)?),
        Type::Boolean => Value::Boolean(json.as_bool().ok_or_else(unfit)?),
        Type::String => Value::from(json.as_str().ok_or_else(unfit)?),
        Type::Bytes => bytes(json)?,
        Type::Array => {
            let of = part(schema.value_schema())?;
            let elements = json.as_array().ok_or_else(unfit)?.iter().map(|element| read_payload(&of, element));
            Value::Array(elements.collect::<Read<Vec<_>>>()?.into())
        }
        Type::Map => {
            let (keys, values) = (part(schema.key_schema())?, part(schema.value_schema())?);
            let mut map = ConnectMap::new();
            match json {
                Json::Object(members) if keys.kind() == Type::String => {
                    for (key, value) in members {
                        map.insert(key, read_payload(&values, value)?);
                    }
                }
                Json::Array(pairs) => {
                    for pair in pairs {
                        let (key, value) = pair_of(pair)?;
                        map.insert(read_payload(&keys, key)?, read_payload(&values, value)?);
                    }
                }
                _ => return Err(unfit()),
            }
            map.into()
        }
        Type::Struct => {
            let members = json.as_object().ok_or_else(unfit)?;
            let mut of = Struct::new(schema.clone()).map_err(|error| error.to_string())?;
            for (name, member) in members {
                let field = schema.expect_field(name).map_err(|error| error.to_string())?.schema().clone();
                let value = read_payload(&field, member).map_err(|why| format!("`{name}`: {why}"))?;
                of.put(name, value).map_err(|error| error.to_string())?;
            }
            of.into()
        }
    }))
}

fn write_payload(schema: Option<&Schema>, value: Option<&Value>) -> Json {
    let Some(value) = value else { return Json::Null };
    let part = |part: Option<&Schema>, value: Option<&Value>| match part {
        Some(part) => write_payload(Some(part), value),
        None => write_schemaless(value),
    };
    let (keys, values) = (schema.and_then(Schema::key_schema), schema.and_then(Schema::value_schema));
    match value {
        Value::Int8(number) => (*number).into(),
        Value::Int16(number) => (*number).into(),
        Value::Int32(number) => (*number).into(),
        Value::Int64(number) => (*number).into(),
        Value::Float32(number) => write_float((*number).into()),
        Value::Float64(number) => write_float(*number),
        Value::Boolean(value) => (*value).into(),
        Value::String(text) => text.as_str().into(),
        Value::Bytes(bytes) => STANDARD.encode(bytes).into(),
        Value::Decimal(_) => json!({ "$decimal": value_text(value) }),
        Value::Date(date) => date.epoch_days().into(),
        Value::Time(time) => time.millis_of_day().into(),
        Value::Timestamp(at) => at.epoch_millis().into(),
        Value::Array(elements) => elements.iter().map(|element| part(values, element.as_ref())).collect(),
        Value::Map(map) if map.iter().all(|(key, _)| matches!(key, Some(Value::String(_)))) => {
            let members = map
                .iter()
                .filter_map(|(key, member)| Some((key.and_then(Value::as_str)?.to_owned(), part(values, member))));
            Json::Object(members.collect())
        }
        Value::Map(map) => map.iter().map(|(key, member)| json!([part(keys, key), part(values, member)])).collect(),
        Value::Struct(of) => {
            let members = of
                .entries()
                .map(|(field, value)| (field.name().to_owned(), write_payload(Some(field.schema()), value)));
            Json::Object(members.collect())
        }
    }
}

/// A schema as JsonConverter writes it; `optional` is false if it does not say.
fn read_schema(json: &Json) -> Read<Schema> {
    let told = json.get("type").and_then(Json::as_str).ok_or_else(|| format!("a schema has a `type`: `{json}`"))?;
    let kind = match told {
        "float" => Type::Float32,
        "double" => Type::Float64,
        told => Type::ALL.into_iter().find(|kind| kind.name().eq_ignore_ascii_case(told)).ok_or_else(|| {
            format!("there is no type `{told}`; types are int8 to int64, float, double, boolean, string, bytes, array, map, struct")
        })?,
    };
    let part = |name: &str| {
        let part = json.get(name).ok_or_else(|| format!("a schema of type {told} has `{name}`"))?;
        read_schema(part).map_err(|why| format!("`{name}`: {why}"))
    };
    let mut builder = match kind {
        Type::Array => SchemaBuilder::array(part("items")?),
        Type::Map => SchemaBuilder::map(part("keys")?, part("values")?),
        kind => SchemaBuilder::new(kind),
    };
    for field in json.get("fields").and_then(Json::as_array).into_iter().flatten() {
        let name = field.get("field").and_then(Json::as_str).ok_or("each of the `fields` has its name as `field`")?;
        builder = builder.field(name, read_schema(field).map_err(|why| format!("`{name}`: {why}"))?);
    }
    if json.get("optional").and_then(Json::as_bool).unwrap_or_default() {
        builder = builder.optional();
    }
    if let Some(name) = json.get("name").and_then(Json::as_str) {
        builder = builder.name(name);
    }
    if let Some(version) = json.get("version").and_then(Json::as_i64) {
        builder = builder.version(narrow(version)?);
    }
    if let Some(doc) = json.get("doc").and_then(Json::as_str) {
        builder = builder.doc(doc);
    }
    for (name, value) in json.get("parameters").and_then(Json::as_object).into_iter().flatten() {
        builder = builder.parameter(name, value.as_str().ok_or("the value of a parameter is text")?);
    }
    if let Some(default) = json.get("default") {
        let so_far = builder.clone().build().map_err(|error| error.to_string())?;
        builder = builder.default_value(read_payload(&so_far, default)?);
    }
    builder.build().map_err(|error| error.to_string())
}

fn write_schema(schema: &Schema) -> Json {
    let mut object = Map::new();
    let mut put = |name: &str, value: Option<Json>| {
        object.extend(value.map(|value| (name.to_owned(), value)));
    };
    let kind = match schema.kind() {
        Type::Float32 => "float".to_owned(),
        Type::Float64 => "double".to_owned(),
        kind => kind.name().to_lowercase(),
    };
    put("type", Some(kind.into()));
    put("keys", schema.key_schema().map(write_schema));
    let items = if schema.kind() == Type::Array { "items" } else { "values" };
    put(items, schema.value_schema().map(write_schema));
    if schema.kind() == Type::Struct {
        let field = |field: &crate::data::Field| {
            let mut of = write_schema(field.schema());
            of["field"] = field.name().into();
            of
        };
        put("fields", Some(schema.fields().iter().map(field).collect()));
    }
    put("optional", Some(schema.is_optional().into()));
    put("name", schema.name().map(Into::into));
    put("version", schema.version().map(Into::into));
    put("doc", schema.doc().map(Into::into));
    if !schema.parameters().is_empty() {
        let parameters = schema.parameters().iter().map(|(name, value)| (name.clone(), value.as_str().into()));
        put("parameters", Some(Json::Object(parameters.collect())));
    }
    put("default", schema.default().map(|default| write_payload(Some(schema), Some(default))));
    Json::Object(object)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_come_back_as_they_were_written() {
        for text in [
            r#"{"topic":"t"}"#,
            r#"{"topic":"t","partition":1,"timestamp":2,"offset":3,"key":"k","value":{"a":1,"b":[null,true,1.5]}}"#,
            r#"{"topic":"t","value":{"$int32":5},"headers":[{"key":"h","value":{"$bytes":"AAE="}},{"key":"h","value":null}]}"#,
            r#"{"topic":"t","value":[{"$float64":2.0},{"$float64":"NaN"},{"$decimal":"12.50"},{"$map":[[1,2],[null,"x"]]}]}"#,
            r#"{"topic":"t","key":{"schema":{"type":"int32","optional":true},"payload":null}}"#,
            r#"{"topic":"t","value":{"schema":{"type":"struct","fields":[{"type":"string","optional":false,"default":"x","field":"a"},{"type":"array","items":{"type":"float","optional":true},"optional":false,"field":"b"},{"type":"map","keys":{"type":"int8","optional":false},"values":{"type":"bytes","optional":false},"optional":false,"field":"c"}],"optional":false,"name":"N","version":2,"doc":"d"},"payload":{"a":"y","b":[1.5,null],"c":[[1,"AA=="]]}}}"#,
            r#"{"topic":"t","value":{"schema":{"type":"bytes","optional":false,"name":"org.apache.kafka.connect.data.Decimal","version":1,"parameters":{"scale":"2"}},"payload":{"$decimal":"-0.05"}}}"#,
            r#"{"topic":"t","value":{"schema":{"type":"int64","optional":false,"name":"org.apache.kafka.connect.data.Timestamp","version":1},"payload":5}}"#,
        ] {
            let json: Json = serde_json::from_str(text).unwrap();
            let record = read_record(&json).unwrap_or_else(|why| panic!("{text}: {why}"));
            assert_eq!(write_record(&record), json);
        }
    }

    #[test]
    fn what_cannot_be_a_record_is_named() {
        for (text, part) in [
            (r#"[]"#, "a record is an object"),
            (r#"{"tpoic":"t"}"#, "has no `tpoic`"),
            (r#"{"partition":99999999999}"#, "out of range"),
            (r#"{"value":{"$int33":5}}"#, "no type `$int33`"),
            (r#"{"value":{"schema":{"type":"number"},"payload":1}}"#, "no type `number`"),
            (r#"{"value":{"schema":{"type":"int8"},"payload":"x"}}"#, "an integer is needed"),
            (r#"{"value":{"schema":{"type":"int8"},"payload":null}}"#, "null"),
            (r#"{"value":{"schema":{"type":"struct","fields":[]},"payload":{"a":1}}}"#, "`a`"),
            (r#"{"headers":[{"value":1}]}"#, "a header is"),
        ] {
            let why = read_record(&serde_json::from_str(text).unwrap()).unwrap_err();
            assert!(why.contains(part), "{text}: {why}");
        }
    }
}
