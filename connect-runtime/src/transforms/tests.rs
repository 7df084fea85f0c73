//! What the conformance vectors do not show: where we do better than Kafka, that nothing is copied, that nothing panics.

mod laws;

use super::classes;
use connect_sdk::data::{
    DataError, Date, Decimal, Map, Schema, SchemaAndValue, SchemaBuilder, Struct, Text, Time, Timestamp, Value,
};
use connect_sdk::erased::{DynTransformation, Properties};
use connect_sdk::transform::ConnectRecord;

fn make(class: &str, settings: &[(&str, &str)]) -> Box<dyn DynTransformation> {
    let name = format!("org.apache.kafka.connect.transforms.{class}");
    let class = classes().into_iter().find(|known| known.class == name).expect("a class of Kafka");
    let settings: Properties = settings.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    (class.make)(&settings).unwrap()
}

fn record(schema: Option<Schema>, value: Option<Value>) -> ConnectRecord {
    let value = SchemaAndValue { schema, value };
    ConnectRecord { topic: "t".into(), partition: Some(3), offset: Some(7), value, ..ConnectRecord::default() }
}

fn of_struct(value: Struct) -> ConnectRecord {
    record(Some(value.schema().clone()), Some(value.into()))
}

fn apply(transformation: &mut dyn DynTransformation, record: ConnectRecord) -> Result<SchemaAndValue, DataError> {
    Ok(transformation.apply(record)?.expect("it is not dropped").value)
}

/// An optional struct with a default: `{a: 1, b: "long enough"}`.
fn with_default() -> Struct {
    let bare = SchemaBuilder::struct_()
        .field("a", Schema::int32())
        .field("b", Schema::optional_string())
        .name("Pair")
        .optional()
        .build()
        .unwrap();
    let mut value = Struct::new(bare.clone()).unwrap();
    value.put("a", 1).unwrap().put("b", "long enough").unwrap();
    let schema = SchemaBuilder::from_schema(&bare).default_value(value.clone()).build().unwrap();
    value.with_schema(schema)
}

/// Transformations of structs, with settings that fit `with_default`.
const OF_STRUCTS: &[(&str, &[(&str, &str)])] = &[
    ("Cast$Value", &[("spec", "a:string")]),
    ("Flatten$Value", &[]),
    ("HeaderFrom$Value", &[("fields", "a"), ("headers", "h"), ("operation", "move")]),
    ("InsertField$Value", &[("topic.field", "t"), ("offset.field", "o")]),
    ("ReplaceField$Value", &[("renames", "a:c")]),
    ("SetSchemaMetadata$Value", &[("schema.name", "Other"), ("schema.version", "2")]),
    ("TimestampConverter$Value", &[("field", "z"), ("target.type", "unix")]),
    ("MaskField$Value", &[("fields", "b")]),
];

#[test]
fn optional_and_default_of_the_whole_are_kept_and_the_default_is_transformed_too() {
    for (class, settings) in OF_STRUCTS {
        let mut transformation = make(class, settings);
        let changed = apply(&mut *transformation, of_struct(with_default())).unwrap();
        let (schema, value) = (changed.schema.unwrap(), changed.value.unwrap());
        assert!(schema.is_optional(), "{class}");
        assert_eq!(schema.field("b").map(|field| field.schema().is_optional()), Some(true), "{class}");
        connect_sdk::data::validate_value(&schema, Some(&value)).unwrap_or_else(|error| panic!("{class}: {error}"));
        let default = schema.default().and_then(Value::as_struct).unwrap_or_else(|| panic!("{class} lost the default"));
        assert_eq!(default.get_string("b").unwrap().map(Text::as_str), Some("long enough"), "{class}");
    }
    let mut required = make("InsertField$Value", &[("topic.field", "t!")]);
    let schema = apply(&mut *required, of_struct(with_default())).unwrap().schema.unwrap();
    assert_eq!(schema.default(), None, "a default cannot have the topic of a record");
}

#[test]
fn text_is_moved_and_a_schema_is_made_once() {
    for (class, settings) in OF_STRUCTS.iter().filter(|(class, _)| !class.starts_with("Mask")) {
        let mut transformation = make(class, settings);
        let mut first: Option<Schema> = None;
        for _ in 0..3 {
            let value = with_default();
            let text = value.get_string("b").unwrap().unwrap().as_ptr();
            let changed = apply(&mut *transformation, of_struct(value)).unwrap();
            let (schema, value) = (changed.schema.unwrap(), changed.value.unwrap());
            let moved = value.as_struct().unwrap().get_string("b").unwrap().unwrap().as_ptr();
            assert_eq!(moved, text, "{class}");
            // The same schema, not an equal one.
            let known = first.get_or_insert_with(|| schema.clone());
            assert_eq!(known.fields().as_ptr(), schema.fields().as_ptr(), "{class}");
        }
    }
}

#[test]
fn a_record_that_somebody_else_holds_is_not_changed() {
    let map: Map = [("a", Some("1")), ("b", Some("x"))].into_iter().collect();
    let maps = [
        ("Cast$Value", &[("spec", "a:int8")][..]),
        ("MaskField$Value", &[("fields", "b")]),
        ("InsertField$Value", &[("topic.field", "t")]),
        ("HeaderFrom$Value", &[("fields", "a"), ("headers", "h"), ("operation", "move")]),
        ("ExtractField$Value", &[("field", "b")]),
    ];
    let of_maps = maps.into_iter().map(|case| (case, record(None, Some(map.clone().into()))));
    let of_structs = OF_STRUCTS.iter().map(|case| (*case, of_struct(with_default())));
    for ((class, settings), held) in of_maps.chain(of_structs) {
        let before = format!("{held:?}");
        make(class, settings).apply(held.clone()).unwrap();
        assert_eq!(format!("{held:?}"), before, "{class}");
    }
}

#[test]
fn a_cast_keeps_an_ordinary_name_and_drops_a_logical_one() {
    let named = SchemaBuilder::int32().name("Count").doc("d").default_value(5).build().unwrap();
    let changed = apply(&mut *make("Cast$Value", &[("spec", "string")]), record(Some(named), Some(6.into()))).unwrap();
    let expected = SchemaBuilder::string().name("Count").doc("d").default_value("5").build().unwrap();
    assert_eq!(changed, SchemaAndValue::new(Some(expected), Some("6".into())));
    let day = record(Some(Schema::optional_date()), Some(Date::from_epoch_days(3).into()));
    let changed = apply(&mut *make("Cast$Value", &[("spec", "int64")]), day).unwrap();
    assert_eq!(changed, SchemaAndValue::new(Some(Schema::optional_int64()), Some(3i64.into())));
}

#[test]
fn a_null_is_cast_whatever_the_type_of_its_field() {
    let schema = SchemaBuilder::struct_().field("a", Schema::array(Schema::int8()).to_optional()).build().unwrap();
    let mut to_int = make("Cast$Value", &[("spec", "a:int8")]);
    let changed = apply(&mut *to_int, of_struct(Struct::new(schema.clone()).unwrap())).unwrap();
    assert_eq!(changed.schema.unwrap().field("a").map(|field| field.schema().clone()), Some(Schema::optional_int8()));
    let mut value = Struct::new(schema).unwrap();
    value.put("a", Value::array([1i8])).unwrap();
    let error = apply(&mut *to_int, of_struct(value)).unwrap_err();
    assert!(error.to_string().starts_with("`a`: Cast transformation does not support casting from ARRAY"), "{error}");
}

#[test]
fn a_struct_beside_another_schema_is_cast_as_what_it_is() {
    let schema = |names: &[&str]| {
        let fields = names.iter().fold(SchemaBuilder::struct_(), |builder, name| builder.field(*name, Schema::int32()));
        fields.build().unwrap()
    };
    for (said, is) in [(&["a"][..], &["a", "b"][..]), (&["a", "b"], &["b"]), (&["b", "a"], &["a", "b"])] {
        let value = Struct::from_values(schema(is), is.iter().map(|_| Some(1.into())).collect()).unwrap();
        let record = record(Some(schema(said)), Some(value.into()));
        let changed = apply(&mut *make("Cast$Value", &[("spec", "a:int8")]), record).unwrap();
        let (schema, value) = (changed.schema.unwrap(), changed.value.unwrap());
        connect_sdk::data::validate_value(&schema, Some(&value)).unwrap();
        assert_eq!(value.as_struct().unwrap().schema().fields().len(), is.len());
    }
}

#[test]
fn a_masked_decimal_fits_its_schema() {
    let schema = SchemaBuilder::struct_().field("d", Schema::decimal(2)).build().unwrap();
    let mut value = Struct::new(schema).unwrap();
    value.put("d", Decimal::new(12_345, 2)).unwrap();
    let mask = |settings: &[(&str, &str)]| {
        let changed = apply(&mut *make("MaskField$Value", settings), of_struct(value.clone()));
        changed.map(|changed| changed.value.unwrap().as_struct().unwrap().value_at(0).cloned().unwrap())
    };
    assert_eq!(mask(&[("fields", "d")]), Ok(Decimal::new(0, 2).into()));
    assert_eq!(mask(&[("fields", "d"), ("replacement", "9.9")]), Ok(Decimal::new(990, 2).into()));
    let error = mask(&[("fields", "d"), ("replacement", "9.999")]).unwrap_err();
    assert_eq!(error.to_string(), "`d`: the replacement `9.999` does not fit the field's type (Decimal of scale 2)");
}

#[test]
fn an_unknown_field_is_told_with_the_nearest_one() {
    let unknown = |class: &str, settings: &[(&str, &str)]| {
        let schema = SchemaBuilder::struct_().field("name", Schema::string()).build().unwrap();
        let mut value = Struct::new(schema).unwrap();
        value.put("name", "x").unwrap();
        apply(&mut *make(class, settings), of_struct(value)).unwrap_err().to_string()
    };
    for (class, settings) in [
        ("ExtractField$Value", &[("field", "nam")][..]),
        ("HeaderFrom$Value", &[("fields", "nam"), ("headers", "h"), ("operation", "copy")]),
        ("ValueToKey", &[("fields", "nam")]),
    ] {
        let error = unknown(class, settings);
        assert!(error.contains("`name`?"), "{class}: {error}");
    }
}

#[test]
fn text_of_a_date_is_read_only_with_a_pattern_that_can_be_read() {
    let text = || record(Some(Schema::string()), Some("2020 05".into()));
    let weeks = [("target.type", "string"), ("format", "yyyy ww")];
    let error = apply(&mut *make("TimestampConverter$Value", &weeks), text()).unwrap_err();
    assert!(error.to_string().contains("weeks (w, W) can be written but not read at index 5"), "{error}");
    let instant = record(Some(Schema::timestamp()), Some(Timestamp::from_epoch_millis(0).into()));
    let written = apply(&mut *make("TimestampConverter$Value", &weeks), instant).unwrap();
    assert_eq!(written.value, Some("1970 01".into()));
    let error = apply(&mut *make("TimestampConverter$Value", &[("target.type", "unix")]), text()).unwrap_err();
    assert!(error.to_string().contains("`format`"), "{error}");
}

#[test]
fn a_date_is_not_made_of_what_is_too_far_away() {
    let far = record(None, Some(i64::MAX.into()));
    let mut to_date = make("TimestampConverter$Value", &[("target.type", "Date")]);
    apply(&mut *to_date, far).unwrap_err();
    let near = apply(&mut *to_date, record(None, Some((-1i64).into()))).unwrap();
    assert_eq!(near.value, Some(Date::from_epoch_days(-1).into()));
}

#[test]
fn maps_that_are_nested_too_deeply_do_not_overflow_the_stack() {
    let deep = |levels: usize| {
        (0..levels).fold(Value::from(1), |inner, _| Value::Map([("a", inner)].into_iter().collect::<Map>()))
    };
    let mut flatten = make("Flatten$Value", &[("delimiter", "")]);
    let flat = apply(&mut *flatten, record(None, Some(deep(1000)))).unwrap().value.unwrap();
    assert_eq!(flat.as_map().unwrap().get_str(&"a".repeat(1000)), Some(Some(&1.into())));
}

#[test]
fn nulls_pass_and_hide_nothing_beside_them() {
    let inner: Map = [("b", None), ("c", Some(1))].into_iter().collect();
    let nested: Map = [("a", Value::from(inner)), ("d", 2.into())].into_iter().collect();
    let flat = apply(&mut *make("Flatten$Value", &[]), record(None, Some(nested.into()))).unwrap();
    let expected: Map = [("a.b", None), ("a.c", Some(1)), ("d", Some(2))].into_iter().collect();
    assert_eq!(flat.value, Some(expected.into()));

    let key: Map = [("k", 1)].into_iter().collect();
    let mut tombstone = record(None, None);
    tombstone.key.value = Some(key.into());
    let settings = [("static.field", "s"), ("static.value", "v")];
    let changed = make("InsertField$Key", &settings).apply(tombstone).unwrap().unwrap();
    assert_eq!(changed.key.value.unwrap().as_map().unwrap().get_str("s"), Some(Some(&"v".into())));
    assert_eq!(changed.value, SchemaAndValue::NULL);

    let null_field: Map = [("a", None::<Value>)].into_iter().collect();
    for (class, settings, schema) in [
        ("TimestampConverter$Value", &[("target.type", "unix")][..], Some(Schema::optional_int64())),
        ("TimestampConverter$Value", &[("target.type", "unix")], None),
        ("Cast$Value", &[("spec", "int32")], Some(Schema::optional_int32())),
        ("Cast$Value", &[("spec", "a:int8")], None),
    ] {
        let changed = apply(&mut *make(class, settings), record(schema.clone(), None)).unwrap();
        assert_eq!(changed, SchemaAndValue::new(schema, None), "{class}");
    }
    for (class, settings) in [
        ("TimestampConverter$Value", &[("field", "a"), ("target.type", "unix")][..]),
        ("Cast$Value", &[("spec", "a:int8")]),
        ("MaskField$Value", &[("fields", "a")]),
    ] {
        let changed = apply(&mut *make(class, settings), record(None, Some(null_field.clone().into()))).unwrap();
        assert_eq!(changed.value, Some(null_field.clone().into()), "{class}");
    }
    let absent = apply(&mut *make("ExtractField$Value", &[("field", "x")]), record(None, Some(null_field.into())));
    assert_eq!(absent, Ok(SchemaAndValue::NULL));
}

/// Settings with which each class can be made.
const SETTINGS: &[(&str, &[(&str, &str)])] = &[
    ("DropHeaders", &[("headers", "h")]),
    ("ExtractField$Value", &[("field", "a.b"), ("field.syntax.version", "V2")]),
    ("ExtractField$Key", &[("field", "a")]),
    ("Filter", &[]),
    ("HoistField$Value", &[("field", "a")]),
    ("InsertHeader", &[("header", "h"), ("value.literal", "{\"a\":[1]}")]),
    ("MaskField$Value", &[("fields", "a,b"), ("replacement", "1.5")]),
    ("RegexRouter", &[("regex", "(t)?.*"), ("replacement", "$1$1")]),
    ("TimestampRouter", &[]),
    ("ValueToKey", &[("fields", "a")]),
    ("Cast$Value", &[("spec", "int8")]),
    ("TimestampConverter$Value", &[("target.type", "Time"), ("format", "yyyy")]),
    ("TimestampConverter$Value", &[("field", "a"), ("target.type", "string"), ("format", "yyyy")]),
];

#[test]
fn no_record_makes_a_transformation_panic() {
    let values = [
        Value::from(1i8),
        i16::MIN.into(),
        i32::MAX.into(),
        i64::MIN.into(),
        f32::NAN.into(),
        f64::INFINITY.into(),
        true.into(),
        "text".into(),
        vec![0u8, 255].into(),
        Decimal::new(1, i32::MIN).into(),
        Date::from_epoch_days(i32::MIN).into(),
        Time::MAX.into(),
        Timestamp::from_epoch_millis(i64::MAX).into(),
        Value::array([None, Some(1)]),
        Value::Map([(None, Some(1)), (Some("a"), None)].into_iter().collect()),
        Value::Map([("a", Value::Map(Map::new()))].into_iter().collect()),
        with_default().into(),
    ];
    let schemas = [
        Schema::int8(),
        Schema::optional_string(),
        Schema::decimal(2),
        Schema::date(),
        Schema::timestamp(),
        Schema::array(Schema::int8()),
        Schema::map(Schema::string(), Schema::int8()),
        with_default().schema().clone(),
    ];
    let schemas: Vec<Option<Schema>> = schemas.into_iter().map(Some).chain([None]).collect();
    let values: Vec<Option<Value>> = values.into_iter().map(Some).chain([None]).collect();
    let mut applied = 0;
    for (class, settings) in OF_STRUCTS.iter().chain(SETTINGS) {
        let mut transformation = make(class, settings);
        for schema in &schemas {
            for value in &values {
                let mut record = record(schema.clone(), value.clone());
                record.key = record.value.clone();
                applied += usize::from(transformation.apply(record).is_ok());
            }
        }
    }
    assert!(applied > 500, "only {applied} were applied");
}
