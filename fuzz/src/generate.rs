//! Schemas, values, records and settings made of a fuzzer's bytes.

use arbitrary::{Arbitrary as _, Result, Unstructured};
use connect_sdk::config::ConfigDef;
use connect_sdk::data::{
    Date, Decimal, Map, Schema, SchemaAndValue, SchemaBuilder, Struct, Text, Time, Timestamp, Type, Value,
};
use connect_sdk::erased::Properties;
use connect_sdk::header::Header;
use connect_sdk::transform::ConnectRecord;

/// How deep values nest.
const DEPTH_MAX: u32 = 3;
/// How many elements, entries, fields and headers there are.
const PARTS_MAX: usize = 4;
/// Names that settings and records share, so that they meet.
const NAMES: [&str; 8] = ["a", "b", "c", "a.b", "t", "k", "\u{e9}", "A"];
/// Most unscaled decimals are this long, in bytes.
const DECIMAL_BYTES_MAX: usize = 20;

/// A name of few, or any text.
///
/// # Errors
/// As everything here: the bytes are at an end.
pub fn text(u: &mut Unstructured<'_>) -> Result<String> {
    if u.ratio(3, 4)? { Ok((*u.choose(&NAMES)?).to_owned()) } else { String::arbitrary(u) }
}

/// Any decimal.
///
/// # Errors
/// As [`text`].
pub fn decimal(u: &mut Unstructured<'_>) -> Result<Decimal> {
    let scale = match u.int_in_range(0..=7)? {
        0 => i32::arbitrary(u)?,
        1 => *u.choose(&[i32::MIN, i32::MAX, -10_000, 10_000])?,
        _ => u.int_in_range(-4..=12)?,
    };
    let n = u.int_in_range(0..=DECIMAL_BYTES_MAX)?;
    Ok(Decimal::from_be_bytes(u.bytes(n.min(u.len()))?, scale))
}

fn time(u: &mut Unstructured<'_>) -> Result<Time> {
    Time::from_millis_of_day(u.int_in_range(0..=86_400_000)?).map_err(|_| arbitrary::Error::IncorrectFormat)
}

/// A value of a type without parts.
fn primitive(u: &mut Unstructured<'_>, kind: Type) -> Result<Value> {
    Ok(match kind {
        Type::Int8 => Value::Int8(i8::arbitrary(u)?),
        Type::Int16 => Value::Int16(i16::arbitrary(u)?),
        Type::Int32 => Value::Int32(i32::arbitrary(u)?),
        Type::Int64 => Value::Int64(i64::arbitrary(u)?),
        Type::Float32 => Value::Float32(f32::arbitrary(u)?),
        Type::Float64 => Value::Float64(f64::arbitrary(u)?),
        Type::Boolean => Value::Boolean(bool::arbitrary(u)?),
        Type::Bytes => Value::Bytes(Vec::<u8>::arbitrary(u)?.into()),
        _ => Value::String(Text::from(text(u)?)),
    })
}

/// Any value, whatever its parts.
///
/// # Errors
/// As [`text`].
pub fn value(u: &mut Unstructured<'_>) -> Result<Value> {
    any_value(u, DEPTH_MAX)
}

fn any_value(u: &mut Unstructured<'_>, depth: u32) -> Result<Value> {
    let kinds = if depth == 0 { 13 } else { 16 };
    let part = |u: &mut Unstructured<'_>| Ok(if u.ratio(1, 6)? { None } else { Some(any_value(u, depth - 1)?) });
    Ok(match u.int_in_range(0..=kinds - 1)? {
        n @ 0..=8 => primitive(u, Type::ALL[n])?,
        9 => decimal(u)?.into(),
        10 => Date::from_epoch_days(i32::arbitrary(u)?).into(),
        11 => time(u)?.into(),
        12 => Timestamp::from_epoch_millis(i64::arbitrary(u)?).into(),
        13 => {
            let n = u.int_in_range(0..=PARTS_MAX)?;
            Value::Array((0..n).map(|_| part(u)).collect::<Result<Vec<_>>>()?.into())
        }
        14 => {
            let mut map = Map::new();
            for _ in 0..u.int_in_range(0..=PARTS_MAX)? {
                let key = if u.ratio(3, 4)? { Some(Value::from(text(u)?)) } else { part(u)? };
                map.insert(key, part(u)?);
            }
            map.into()
        }
        _ => {
            let schema = struct_schema(u, depth - 1)?.build().map_err(|_| arbitrary::Error::IncorrectFormat)?;
            let value = value_of(u, &schema)?;
            return value.ok_or(arbitrary::Error::IncorrectFormat);
        }
    })
}

/// Any schema.
///
/// # Errors
/// As [`text`].
pub fn schema(u: &mut Unstructured<'_>) -> Result<Schema> {
    any_schema(u, DEPTH_MAX)
}

fn any_schema(u: &mut Unstructured<'_>, depth: u32) -> Result<Schema> {
    let kinds = if depth == 0 { 13 } else { 17 };
    let builder = match u.int_in_range(0..=kinds - 1)? {
        n @ 0..=8 => SchemaBuilder::new(Type::ALL[n]),
        9 => SchemaBuilder::from_schema(&Schema::decimal(u.int_in_range(-3..=12)?)),
        10 => SchemaBuilder::from_schema(&Schema::date()),
        11 => SchemaBuilder::from_schema(&Schema::time()),
        12 => SchemaBuilder::from_schema(&Schema::timestamp()),
        13 => SchemaBuilder::array(any_schema(u, depth - 1)?),
        14 => {
            let key = if u.ratio(3, 4)? { Schema::string() } else { any_schema(u, depth - 1)? };
            SchemaBuilder::map(key, any_schema(u, depth - 1)?)
        }
        _ => struct_schema(u, depth - 1)?,
    };
    with_attributes(u, builder)
}

fn struct_schema(u: &mut Unstructured<'_>, depth: u32) -> Result<SchemaBuilder> {
    let mut builder = SchemaBuilder::struct_();
    let mut names: Vec<String> = Vec::new();
    for _ in 0..u.int_in_range(0..=PARTS_MAX)? {
        let name = text(u)?;
        if !name.is_empty() && !names.contains(&name) {
            builder = builder.field(name.as_str(), any_schema(u, depth)?);
            names.push(name);
        }
    }
    Ok(builder)
}

/// A name, a version, a default and so on, each now and then.
fn with_attributes(u: &mut Unstructured<'_>, mut builder: SchemaBuilder) -> Result<Schema> {
    let wrong = |_| arbitrary::Error::IncorrectFormat;
    let so_far = builder.clone().build().map_err(wrong)?;
    if u.ratio(1, 3)? {
        builder = builder.optional();
    }
    if u.ratio(1, 4)? {
        if so_far.name().is_none() && bool::arbitrary(u)? {
            builder = builder.name(text(u)?);
        }
        if so_far.version().is_none() && bool::arbitrary(u)? {
            builder = builder.version(i32::arbitrary(u)?);
        }
        if bool::arbitrary(u)? {
            builder = builder.doc(text(u)?);
        }
        if bool::arbitrary(u)? {
            builder = builder.parameter(text(u)?, text(u)?);
        }
    }
    let bare = builder.clone().build().map_err(wrong)?;
    if u.ratio(1, 4)?
        && let Some(default) = value_of(u, &bare)?
    {
        // The name may be that of a logical type.
        return Ok(builder.default_value(default).build().unwrap_or(bare));
    }
    Ok(bare)
}

/// A value of a schema, or null where it may be.
///
/// # Errors
/// As [`text`].
pub fn value_of(u: &mut Unstructured<'_>, schema: &Schema) -> Result<Option<Value>> {
    if schema.is_optional() && u.ratio(1, 4)? {
        return Ok(None);
    }
    if let Some(logical) = schema.logical() {
        use connect_sdk::data::LogicalType;
        return Ok(Some(match logical {
            LogicalType::Decimal => {
                let scale = schema.decimal_scale().unwrap_or(0);
                Decimal::new(decimal(u)?.unscaled().clone(), scale).into()
            }
            LogicalType::Date => Date::from_epoch_days(i32::arbitrary(u)?).into(),
            LogicalType::Time => time(u)?.into(),
            LogicalType::Timestamp => Timestamp::from_epoch_millis(i64::arbitrary(u)?).into(),
        }));
    }
    let part = |u: &mut Unstructured<'_>, of: Option<&Schema>| of.map_or(Ok(None), |of| value_of(u, of));
    Ok(Some(match schema.kind() {
        Type::Array => {
            let n = u.int_in_range(0..=PARTS_MAX)?;
            Value::Array((0..n).map(|_| part(u, schema.value_schema())).collect::<Result<Vec<_>>>()?.into())
        }
        Type::Map => {
            let mut map = Map::new();
            for _ in 0..u.int_in_range(0..=PARTS_MAX)? {
                let (key, value) = (part(u, schema.key_schema())?, part(u, schema.value_schema())?);
                // A null among keys of text is "null" in JSON.
                if key.is_some() || schema.key_schema().is_none_or(|schema| schema.kind() != Type::String) {
                    map.insert(key, value);
                }
            }
            map.into()
        }
        Type::Struct => {
            let values = schema.fields().iter().map(|field| value_of(u, field.schema())).collect::<Result<Vec<_>>>()?;
            let fits = Struct::from_values(schema.clone(), values);
            fits.map_err(|_| arbitrary::Error::IncorrectFormat)?.into()
        }
        kind => primitive(u, kind)?,
    }))
}

/// A schema with a value of it, a value alone, or nothing; seldom a schema with a value that does not fit.
fn part(u: &mut Unstructured<'_>) -> Result<SchemaAndValue> {
    Ok(match u.int_in_range(0..=9)? {
        0 => SchemaAndValue::NULL,
        1 => SchemaAndValue::new(Some(schema(u)?), Some(value(u)?)),
        2..=5 => SchemaAndValue::new(None, Some(value(u)?)),
        _ => {
            let schema = schema(u)?;
            let value = value_of(u, &schema)?;
            SchemaAndValue::new(Some(schema), value)
        }
    })
}

/// Any record, of a source or of a sink.
///
/// # Errors
/// As [`text`].
pub fn record(u: &mut Unstructured<'_>) -> Result<ConnectRecord> {
    let mut record = ConnectRecord {
        topic: text(u)?.into(),
        partition: Option::arbitrary(u)?,
        timestamp: Option::arbitrary(u)?,
        key: part(u)?,
        value: part(u)?,
        offset: Option::arbitrary(u)?,
        ..ConnectRecord::default()
    };
    for _ in 0..u.int_in_range(0..=2)? {
        let SchemaAndValue { schema, value } = part(u)?;
        record.headers.push(Header::new(text(u)?, schema, value));
    }
    Ok(record)
}

/// What the settings of transformations may hold, by the name of the key.
fn choices(key: &str) -> &'static [&'static str] {
    match key {
        "spec" => &["int8", "string", "float64", "boolean", "a:string", "a:int64,b:boolean", "a.b:float32,c:int16"],
        "target.type" => &["string", "unix", "Date", "Time", "Timestamp"],
        "unix.precision" => &["seconds", "milliseconds", "microseconds", "nanoseconds"],
        "format" => &["yyyy-MM-dd'T'HH:mm:ss.SSSX", "yyyy", "dd.MM.yy", "EEE MMM d HH:mm:ss z yyyy", "G", "yyyy ww"],
        "timestamp.format" => &["yyyyMMdd", "HH", "'x'"],
        "topic.format" => &["${topic}-${timestamp}", "${topic}", "${timestamp}${topic}${topic}"],
        "field.syntax.version" => &["V1", "V2", "v2"],
        "operation" => &["copy", "move"],
        "regex" => &[".*", "(t)(.*)", "(?<n>[a-c])?.*", "a|b", "[^x]+"],
        "pattern" => &["a", "[a-k]", ".*", "(a|t)+"],
        "replacement" => &["$1", "x$0y", "${n}", "1.5", "9", "x", "\\$"],
        "replace.null.with.default" => &["true", "false"],
        "renames" => &["a:b", "a:x,b:y", "c:a"],
        "fields" | "headers" | "include" | "exclude" => &["a", "b", "a,b", "a.b,c", "t,k", "\u{e9}"],
        "delimiter" => &[".", "_", "", "::"],
        "schema.name" => &["n", "org.apache.kafka.connect.data.Date", "org.apache.kafka.connect.data.Decimal"],
        "schema.version" => &["1", "-1", "2147483647"],
        "static.value" | "value.literal" => &["v", "7", "[1,2]", "{\"a\":1}", "null", "2020-01-01"],
        _ if key.ends_with(".field") => &["a", "b!", "c?", "new", "x.y"],
        _ => &["a", "b", "a.b", "`a.b`", "c", "t", ""],
    }
}

/// A sensible value of a setting.
///
/// # Errors
/// As [`text`].
pub fn setting(u: &mut Unstructured<'_>, key: &str) -> Result<String> {
    Ok((*u.choose(choices(key))?).to_owned())
}

/// Settings for a class, most of them sensible.
///
/// # Errors
/// As [`text`].
pub fn settings(u: &mut Unstructured<'_>, def: &ConfigDef, prefix: &str, out: &mut Properties) -> Result<()> {
    for key in def.keys() {
        let wanted = if key.is_required() { u.ratio(31, 32)? } else { u.ratio(1, 2)? };
        if wanted {
            let value = if u.ratio(15, 16)? { setting(u, key.name())? } else { String::arbitrary(u)? };
            out.insert(format!("{prefix}{}", key.name()), value);
        }
    }
    Ok(())
}
