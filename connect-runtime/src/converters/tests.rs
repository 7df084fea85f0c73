//! The classes together, and the small converters.

use std::collections::BTreeMap;

use bytes::Bytes;
use connect_sdk::converter::{BoxConverter, BoxHeaderConverter, ConverterKind};
use connect_sdk::data::{Schema, SchemaAndValue, Value};
use connect_sdk::source::PayloadRef;

use super::*;

fn class(name: &str) -> ConverterClass {
    let wanted = classes().into_iter().find(|class| class.class.rsplit('.').next() == Some(name));
    wanted.unwrap_or_else(|| panic!("{name} is a class"))
}

fn make(name: &str) -> BoxConverter {
    (class(name).converter.unwrap())(&BTreeMap::new(), ConverterKind::Key).unwrap()
}

fn headers(name: &str) -> BoxHeaderConverter {
    (class(name).header_converter.unwrap())(&BTreeMap::new()).unwrap()
}

#[test]
fn every_class_has_its_own_name_and_a_definition_that_defaults_satisfy() {
    let mut names: Vec<&str> = classes().iter().map(|class| class.class).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), 10);
    for class in classes() {
        (class.config_def)().check().unwrap();
        for kind in [ConverterKind::Key, ConverterKind::Value] {
            if let Some(make) = class.converter {
                make(&BTreeMap::new(), kind).unwrap();
            }
        }
        class.header_converter.map(|make| make(&BTreeMap::new()).unwrap()).unwrap();
    }
}

#[test]
fn numbers_are_read_as_they_were_written() {
    for (name, value) in [
        ("ShortConverter", Value::Int16(-300)),
        ("IntegerConverter", Value::Int32(i32::MIN)),
        ("LongConverter", Value::Int64(i64::MAX)),
        ("FloatConverter", Value::Float32(-0.0)),
        ("DoubleConverter", Value::Float64(f64::NAN)),
        ("BooleanConverter", Value::Boolean(true)),
        ("ByteArrayConverter", Value::from(vec![0, 255])),
    ] {
        let converter = make(name);
        let mut out = Vec::new();
        assert!(converter.write("t", PayloadRef::Value(None, Some(&value)), &mut out).unwrap());
        let read = converter.read("t", Some(&Bytes::from(out.clone()))).unwrap();
        assert_eq!(read.value.as_ref(), Some(&value));
        assert_eq!(read.schema.map(|schema| (schema.kind(), schema.is_optional())), Some((value.kind(), true)));
        let null = converter.read("t", None).unwrap();
        assert_eq!((null.schema.map(|schema| schema.kind()), null.value), (Some(value.kind()), None));
        assert!(!converter.write("t", PayloadRef::Null, &mut Vec::new()).unwrap());
        if name != "ByteArrayConverter" {
            out.push(0);
            let error = converter.read("t", Some(&Bytes::from(out))).unwrap_err();
            assert!(error.message().contains("bytes"), "{error}");
        }
        let error = converter.write("t", PayloadRef::Text("x"), &mut Vec::new()).unwrap_err();
        assert!(error.message().contains("STRING"), "{error}");
    }
}

#[test]
fn what_passes_through_is_written_as_it_is() {
    for (name, text, bytes) in
        [("StringConverter", true, false), ("ByteArrayConverter", false, true), ("JsonConverter", false, false)]
    {
        let converter = make(name);
        let passes = converter.pass_through();
        assert_eq!((passes.text, passes.bytes), (text, bytes), "{name}");
        for (passes, payload) in [(text, PayloadRef::Text("a\"b")), (bytes, PayloadRef::Bytes(b"a\"b"))] {
            let mut out = Vec::new();
            if passes {
                assert!(converter.write("t", payload, &mut out).unwrap());
                assert_eq!(out, b"a\"b");
            }
        }
    }
    let latin = BTreeMap::from([("converter.encoding".to_owned(), "latin1".to_owned())]);
    let converter = (class("StringConverter").converter.unwrap())(&latin, ConverterKind::Value).unwrap();
    assert!(!converter.pass_through().text);
}

#[test]
fn other_values_are_written_as_their_text() {
    let converter = make("StringConverter");
    let written = |payload: PayloadRef<'_>| {
        let mut out = Vec::new();
        converter.write("t", payload, &mut out).unwrap().then(|| String::from_utf8(out).unwrap())
    };
    let list = Value::array([1, 2]);
    assert_eq!(written(PayloadRef::Value(None, Some(&list))).as_deref(), Some("[1, 2]"));
    assert_eq!(written(PayloadRef::Value(Some(&Schema::optional_string()), None)), None);
    assert_eq!(written(PayloadRef::Bytes(b"text")).as_deref(), Some("text"));
    assert_eq!(written(PayloadRef::Bytes(b"\xff")).as_deref(), Some("/w=="));
}

#[test]
fn a_charset_that_nobody_knows_is_a_configuration_error() {
    let settings = BTreeMap::from([("converter.encoding".to_owned(), "UTF_8".to_owned())]);
    let error = (class("StringConverter").converter.unwrap())(&settings, ConverterKind::Value).unwrap_err();
    let error = error.to_string();
    assert!(error.contains("UTF_8") && error.contains("converter.encoding"), "{error}");
}

#[test]
fn headers_are_written_as_text_and_read_as_what_it_looks_like() {
    let converter = headers("SimpleHeaderConverter");
    let mut out = Vec::new();
    assert!(converter.write_header("t", "h", PayloadRef::Value(None, Some(&Value::array([1, 2]))), &mut out).unwrap());
    assert_eq!(out, b"[1,2]");
    let read = |bytes: &'static [u8]| converter.read_header("t", "h", Some(&Bytes::from_static(bytes))).unwrap();
    assert_eq!(read(b"007"), SchemaAndValue::new(Some(Schema::int8()), Some(Value::Int8(7))));
    assert_eq!(read(b"word").value, Some(Value::from("word")));
    assert_eq!(read(b"null"), SchemaAndValue::NULL);
    assert_eq!(read(b"\xff").value, Some(Value::from("\u{fffd}")));
    assert!(!converter.write_header("t", "h", PayloadRef::Null, &mut out).unwrap());
    assert_eq!(converter.read_header("t", "h", None).unwrap(), SchemaAndValue::NULL);
}
