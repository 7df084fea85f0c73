//! The converter as a whole: settings, envelopes, and what is written is read.

use std::collections::BTreeMap;

use connect_sdk::converter::ConverterKind;
use connect_sdk::data::{
    Date, Decimal, Map, Schema, SchemaAndValue, SchemaBuilder, Struct, Text, Time, Timestamp, Type, Value,
};
use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

fn converter(settings: &[(&str, &str)]) -> JsonConverter {
    let properties: BTreeMap<String, String> =
        settings.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    JsonConverter::new(&properties, ConverterKind::Value).unwrap()
}

fn write(converter: &JsonConverter, data: &SchemaAndValue) -> Result<Option<Vec<u8>>, DataError> {
    let mut out = Vec::new();
    let written = converter.write("t", PayloadRef::Value(data.schema.as_ref(), data.value.as_ref()), &mut out)?;
    Ok(written.then_some(out))
}

fn read(converter: &JsonConverter, text: &str) -> Result<SchemaAndValue, DataError> {
    converter.read("t", Some(&Bytes::copy_from_slice(text.as_bytes())))
}

#[test]
fn every_wrong_setting_is_told() {
    let properties = BTreeMap::from(
        [("schemas.enable", "yes"), ("decimal.format", "TEXT"), ("schemas.cache.size", "x")]
            .map(|(key, value)| (key.to_owned(), value.to_owned())),
    );
    let errors = JsonConverter::new(&properties, ConverterKind::Key).unwrap_err();
    let mut keys: Vec<&str> = errors.iter().filter_map(|error| error.key()).collect();
    keys.sort_unstable();
    assert_eq!(keys, ["decimal.format", "schemas.cache.size", "schemas.enable"]);
    let properties = BTreeMap::from([("schema.content".to_owned(), "{".to_owned())]);
    let errors = JsonConverter::new(&properties, ConverterKind::Key).unwrap_err();
    assert!(errors.to_string().contains("schema.content"), "{errors}");
}

#[test]
fn text_and_bytes_are_written_without_being_values() {
    let with = converter(&[]);
    let without = converter(&[("schemas.enable", "false")]);
    for (payload, schema, json) in
        [(PayloadRef::Text("a\"b"), "string", r#""a\"b""#), (PayloadRef::Bytes(b"\x00\x01\xfe"), "bytes", r#""AAH+""#)]
    {
        for _ in 0..2 {
            let mut out = Vec::new();
            assert!(with.write("t", payload, &mut out).unwrap());
            let wanted = format!(r#"{{"schema":{{"type":"{schema}","optional":false}},"payload":{json}}}"#);
            assert_eq!(String::from_utf8(out).unwrap(), wanted);
        }
        let mut out = Vec::new();
        assert!(without.write("t", payload, &mut out).unwrap());
        assert_eq!(String::from_utf8(out).unwrap(), json);
    }
    let mut out = Vec::new();
    assert!(!with.write("t", PayloadRef::Null, &mut out).unwrap());
    assert!(!without.write("t", PayloadRef::Value(None, None), &mut out).unwrap());
    assert!(out.is_empty());
}

#[test]
fn an_envelope_has_its_members_in_any_order() {
    let converter = converter(&[]);
    for text in [
        r#"{"schema":{"type":"int32"},"payload":5}"#,
        r#"{"payload":5,"schema":{"type":"int32"}}"#,
        r#" { "\u0073chema" : { "type" : "int32" } , "payload" : 5 } "#,
        r#"{"schema":{"type":"string"},"payload":"x","schema":{"type":"int32"},"payload":5}"#,
        r#"{"payload":"x","schema":{"type":"int32"},"payload":5}"#,
    ] {
        for _ in 0..3 {
            let wanted = SchemaAndValue::new(Some(Schema::int32()), Some(Value::Int32(5)));
            assert_eq!(read(&converter, text).unwrap_or_else(|error| panic!("{text}: {error}")), wanted);
        }
    }
    for text in [
        "",
        " ",
        "null",
        "1",
        "[]",
        "{}",
        r#"{"schema":null}"#,
        r#"{"payload":1}"#,
        r#"{"schema":null,"payload":1,"x":2}"#,
        r#"{"schema":null,"payload":1} x"#,
        r#"{"schema":nullx,"payload":1}"#,
        r#"{"schema":{"type":"int32"}x,"payload":1}"#,
    ] {
        read(&converter, text).unwrap_err();
    }
}

#[test]
fn a_schema_that_was_read_before_does_not_hide_another() {
    let converter = converter(&[("schemas.cache.size", "2")]);
    for round in 0..20 {
        let kind = ["int8", "int16", "int32", "int64"][round % 4];
        let schema = read(&converter, &format!(r#"{{"schema":{{"type":"{kind}"}},"payload":{round}}}"#)).unwrap();
        assert_eq!(schema.value.and_then(|value| value.as_i64()), i64::try_from(round).ok());
        assert_eq!(schema.schema.map(|schema| schema.kind().name().to_lowercase()), Some(kind.to_owned()));
    }
}

#[test]
fn empty_and_blank_messages_are_null_without_schemas() {
    let plain = converter(&[("schemas.enable", "false")]);
    for text in ["", " ", "\n\t", "null"] {
        assert_eq!(read(&plain, text).unwrap(), SchemaAndValue::NULL);
    }
    let fixed = converter(&[("schema.content", r#"{"type":"int32","optional":true}"#)]);
    assert_eq!(fixed.read("t", None).unwrap(), SchemaAndValue::NULL);
    assert_eq!(read(&fixed, "null").unwrap().schema, Some(Schema::optional_int32()));
    read(&fixed, "").unwrap_err();
}

#[test]
fn defaults_replace_nulls_only_when_asked_to() {
    let schema = SchemaBuilder::int32().optional().default_value(7).build().unwrap();
    let null = SchemaAndValue::new(Some(schema), None);
    for (replace, payload, value) in [("true", "7", Some(Value::Int32(7))), ("false", "null", None)] {
        let converter = converter(&[("replace.null.with.default", replace)]);
        let bytes = write(&converter, &null).unwrap().unwrap();
        let text = String::from_utf8(bytes).unwrap();
        assert!(text.ends_with(&format!(r#""payload":{payload}}}"#)), "{text}");
        let text = text.replace(r#""payload":7"#, r#""payload":null"#);
        assert_eq!(read(&converter, &text).unwrap().value, value);
    }
}

#[test]
fn a_null_in_a_default_stays_one_unless_nulls_are_replaced() {
    let seven = SchemaBuilder::int32().optional().default_value(7).build().unwrap();
    let bare = SchemaBuilder::struct_().field("a", seven).optional().build().unwrap();
    let null = Struct::new(bare.clone()).unwrap();
    let schema = SchemaBuilder::from_schema(&bare).default_value(null).build().unwrap();
    let data = SchemaAndValue::new(Some(schema), None);
    for (replace, a) in [("true", Some(7)), ("false", None)] {
        let converter = converter(&[("replace.null.with.default", replace)]);
        let bytes = write(&converter, &data).unwrap().unwrap();
        let schema = converter.read("t", Some(&Bytes::from(bytes))).unwrap().schema.unwrap();
        let default = schema.default().and_then(Value::as_struct).unwrap();
        assert_eq!(default.get_int32("a").unwrap(), a);
    }
}

/// A schema and values of it.
#[derive(Debug, Clone)]
struct Sample {
    schema: Schema,
    values: Vec<Option<Value>>,
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z]{0,6}", "\\PC{0,8}", proptest::string::string_regex("[\\x00-\\x1f\"\\\\é日😀]{0,8}").unwrap()]
}

fn primitive(kind: Type) -> BoxedStrategy<Value> {
    match kind {
        Type::Int8 => any::<i8>().prop_map(Value::from).boxed(),
        Type::Int16 => any::<i16>().prop_map(Value::from).boxed(),
        Type::Int32 => any::<i32>().prop_map(Value::from).boxed(),
        Type::Int64 => any::<i64>().prop_map(Value::from).boxed(),
        Type::Float32 => any::<f32>().prop_map(Value::from).boxed(),
        Type::Float64 => any::<f64>().prop_map(Value::from).boxed(),
        Type::Boolean => any::<bool>().prop_map(Value::from).boxed(),
        Type::Bytes => vec(any::<u8>(), 0..8).prop_map(Value::from).boxed(),
        _ => text().prop_map(Value::from).boxed(),
    }
}

/// Schemas without parts, the logical ones included.
fn leaf() -> impl Strategy<Value = (Schema, BoxedStrategy<Value>)> {
    let plain = proptest::sample::select(&Type::ALL[..9]);
    prop_oneof![
        6 => plain.prop_map(|kind| (SchemaBuilder::new(kind).build().unwrap(), primitive(kind))),
        1 => (-3i32..12).prop_map(|scale| {
            let unscaled = any::<i128>().prop_map(move |unscaled| Decimal::new(unscaled, scale).into());
            (Schema::decimal(scale), unscaled.boxed())
        }),
        1 => Just((Schema::date(), any::<i32>().prop_map(|days| Date::from_epoch_days(days).into()).boxed())),
        1 => Just((
            Schema::time(),
            (0..=86_400_000).prop_map(|millis| Time::from_millis_of_day(millis).unwrap().into()).boxed(),
        )),
        1 => Just((
            Schema::timestamp(),
            any::<i64>().prop_map(|millis| Timestamp::from_epoch_millis(millis).into()).boxed(),
        )),
    ]
}

const VALUES: usize = 3;

fn sample() -> impl Strategy<Value = Sample> {
    let values = |schema: Schema, value: BoxedStrategy<Value>| {
        let optional = schema.is_optional();
        vec((value, any::<bool>()), VALUES).prop_map(move |values| {
            let values = values.into_iter().map(|(value, null)| (!(optional && null)).then_some(value)).collect();
            Sample { schema: schema.clone(), values }
        })
    };
    let leaf = (leaf(), any::<bool>(), text(), any::<u8>())
        .prop_map(|((schema, value), optional, word, choice)| {
            let schema = if optional { schema.to_optional() } else { schema };
            let builder = SchemaBuilder::from_schema(&schema);
            let builder = match choice % 4 {
                0 if schema.name().is_none() => builder.name(word.as_str()).version(i32::from(choice)),
                1 => builder.doc(word.as_str()),
                2 => builder.parameter(word.as_str(), "p"),
                _ => builder,
            };
            (builder.build().unwrap(), value)
        })
        .prop_flat_map(move |(schema, value)| values(schema, value));
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            (inner.clone(), any::<bool>()).prop_map(|(element, optional)| {
                let schema = SchemaBuilder::array(element.schema);
                let list = Value::Array(element.values.into());
                let empty = Value::Array([].into());
                let schema = if optional { schema.optional() } else { schema };
                Sample { schema: schema.build().unwrap(), values: vec![Some(list), Some(empty.clone()), Some(empty)] }
            }),
            (inner.clone(), vec(text(), VALUES)).prop_map(|(part, keys)| {
                let map: Map = keys.into_iter().zip(part.values).collect();
                let values = vec![Some(map.into()), Some(Map::new().into()), Some(Map::new().into())];
                Sample { schema: Schema::map(Schema::string(), part.schema), values }
            }),
            (inner.clone(), inner.clone())
                .prop_filter("keys of text are objects", |(key, _)| key.schema.kind() != Type::String)
                .prop_map(|(key, part)| {
                    let map: Map = key.values.into_iter().zip(part.values).collect();
                    let values = vec![Some(map.into()), Some(Map::new().into()), Some(Map::new().into())];
                    Sample { schema: Schema::map(key.schema, part.schema), values }
                }),
            (proptest::collection::hash_map("[a-zé\"]{1,5}", inner, 0..4), any::<bool>()).prop_map(
                |(fields, optional)| {
                    let builder = fields.iter().fold(SchemaBuilder::struct_(), |builder, (name, field)| {
                        builder.field(name.as_str(), field.schema.clone())
                    });
                    let schema = if optional { builder.optional() } else { builder }.build().unwrap();
                    let values = (0..VALUES)
                        .map(|index| {
                            let values = fields.values().map(|field| field.values[index].clone()).collect();
                            Some(Struct::from_values(schema.clone(), values).unwrap().into())
                        })
                        .collect();
                    Sample { schema, values }
                }
            ),
        ]
    })
}

/// What schemaless JSON can hold.
fn schemaless() -> impl Strategy<Value = Option<Value>> {
    let leaf = prop_oneof![
        Just(None),
        any::<bool>().prop_map(|value| Some(value.into())),
        any::<i64>().prop_map(|value| Some(value.into())),
        proptest::num::f64::NORMAL.prop_map(|value| Some(value.into())),
        text().prop_map(|value| Some(value.into())),
    ];
    leaf.prop_recursive(5, 40, 5, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..5).prop_map(|elements| Some(Value::Array(elements.into()))),
            vec((text(), inner), 0..5).prop_map(|entries| Some(entries.into_iter().collect::<Map>().into())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_is_read(sample in sample(), numeric: bool) {
        let format = if numeric { "NUMERIC" } else { "BASE64" };
        let json = converter(&[("decimal.format", format), ("schemas.cache.size", "1")]);
        for value in sample.values {
            let data = SchemaAndValue::new(Some(sample.schema.clone()), value);
            let bytes = write(&json, &data).unwrap().unwrap();
            let back = json.read("t", Some(&Bytes::from(bytes.clone()))).unwrap();
            prop_assert_eq!(&back, &data, "{}", String::from_utf8_lossy(&bytes));
            if let Some(Value::Struct(value)) = &back.value {
                value.validate().unwrap();
            }
            // The payload alone, under a schema that is set.
            let bare = converter(&[("schemas.enable", "false"), ("decimal.format", format)]);
            let payload = write(&bare, &data).unwrap().unwrap();
            let mut schema = Vec::new();
            write_schema(data.schema.as_ref(), json.config.decimal_format, true, &mut schema).unwrap();
            let fixed = converter(&[("schema.content", std::str::from_utf8(&schema).unwrap())]);
            prop_assert_eq!(fixed.read("t", Some(&Bytes::from(payload))).unwrap(), data);
        }
    }

    #[test]
    fn what_is_written_without_schema_is_read(value in schemaless()) {
        for enable in ["true", "false"] {
            let json = converter(&[("schemas.enable", enable)]);
            let data = SchemaAndValue::new(None, value.clone());
            let read = match write(&json, &data).unwrap() {
                Some(bytes) => json.read("t", Some(&Bytes::from(bytes))).unwrap(),
                None => SchemaAndValue::NULL,
            };
            prop_assert_eq!(read, data);
        }
        let mut out = Vec::new();
        write_schemaless(value.as_ref(), &mut out).unwrap();
        prop_assert_eq!(read_schemaless(&Bytes::from(out)).unwrap(), value);
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in vec(any::<u8>(), 0..40)) {
        let bytes = Bytes::from(bytes);
        let _read = read_schemaless(&bytes);
        let _read = converter(&[]).read("t", Some(&bytes));
    }

    #[test]
    fn text_like_json_is_read_or_refused(
        text in "(\\{|\\}|\\[|\\]|,|:|\"a\"|\"type\"|\"schema\"|\"payload\"|\"struct\"|\"fields\"|\"\\\\u00|1|-|\\.|e|null|true| ){0,30}",
    ) {
        let _read = read(&converter(&[("schemas.enable", "false")]), &text);
        let _read = read(&converter(&[]), &text);
        let _read = read(&converter(&[]), &format!(r#"{{"schema":{text},"payload":{text}}}"#));
    }

    #[test]
    fn a_message_that_was_changed_is_read_or_refused(sample in sample(), at: prop::sample::Index, byte: u8) {
        let json = converter(&[]);
        let data = SchemaAndValue::new(Some(sample.schema), sample.values[0].clone());
        let mut bytes = write(&json, &data).unwrap().unwrap();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        let cut = Bytes::copy_from_slice(&bytes[..at]);
        let _read = json.read("t", Some(&Bytes::from(bytes)));
        json.read("t", Some(&cut)).unwrap_err();
    }
}

#[test]
fn text_of_a_message_is_not_copied() {
    let bytes = Bytes::from_static(br#"{"schema":{"type":"string"},"payload":"a text of some length"}"#);
    let value = converter(&[]).read("t", Some(&bytes)).unwrap().value;
    let Some(Value::String(text)) = value else { panic!("text") };
    assert_eq!(text, Text::from("a text of some length"));
    assert!(bytes.as_ptr_range().contains(&text.as_ptr()));
}
