//! What holds for every transformation, whatever the record: tables of the cases, and records drawn from a seed.

use super::*;
use crate::transforms::predicates;
use crate::transforms::{Chain, Condition, Stage};
use connect_sdk::data::validate_value;
use proptest::prelude::*;

/// Transformations that are about something that no record here has.
const OF_NOTHING: &[(&str, &[(&str, &str)])] = &[
    ("Cast$Value", &[("spec", "nowhere:int8")]),
    ("DropHeaders", &[("headers", "nowhere")]),
    ("MaskField$Value", &[("fields", "nowhere")]),
    ("RegexRouter", &[("regex", "nowhere"), ("replacement", "x")]),
    ("ReplaceField$Value", &[("exclude", "nowhere"), ("renames", "nowhere:x")]),
    ("TimestampConverter$Value", &[("field", "nowhere"), ("target.type", "unix")]),
];

/// A schema and a value of it.
fn data() -> impl Strategy<Value = (Schema, Option<Value>)> {
    let some = |schema: Schema, value: Value| (schema, Some(value));
    let leaf = prop_oneof![
        any::<i8>().prop_map(move |value| some(Schema::int8(), value.into())),
        any::<i64>().prop_map(move |value| some(Schema::int64(), value.into())),
        any::<f64>().prop_map(move |value| some(Schema::float64(), value.into())),
        any::<bool>().prop_map(move |value| some(Schema::boolean(), value.into())),
        "[-a-z0-9.: ]{0,6}".prop_map(move |text| some(Schema::string(), text.into())),
        any::<Option<i32>>().prop_map(|value| (Schema::optional_int32(), value.map(Value::from))),
        proptest::collection::vec(any::<u8>(), 0..4).prop_map(move |bytes| some(Schema::bytes(), bytes.into())),
        any::<i64>().prop_map(move |unscaled| some(Schema::decimal(2), Decimal::new(unscaled, 2).into())),
        any::<i32>().prop_map(move |days| some(Schema::date(), Date::from_epoch_days(days).into())),
        any::<i64>().prop_map(move |at| some(Schema::timestamp(), Timestamp::from_epoch_millis(at).into())),
    ];
    leaf.prop_recursive(3, 16, 4, move |inner| {
        let fields = proptest::collection::btree_map("[a-d]", inner.clone(), 0..4);
        prop_oneof![
            1 => inner.clone().prop_map(move |(schema, value)| some(Schema::array(schema), Value::array([value]))),
            1 => ("[a-d]", inner).prop_map(move |(key, (schema, value))| {
                let map: Map = [(key, value)].into_iter().collect();
                some(Schema::map(Schema::string(), schema), map.into())
            }),
            4 => (fields, any::<bool>()).prop_map(move |(fields, optional)| {
                let builder = fields.iter().fold(SchemaBuilder::struct_(), |builder, (name, (schema, _))| {
                    builder.field(name.as_str(), schema.clone())
                });
                let schema = if optional { builder.optional() } else { builder }.build().unwrap();
                let values = fields.into_values().map(|(_, value)| value).collect();
                some(schema.clone(), Struct::from_values(schema, values).unwrap().into())
            }),
        ]
    })
}

/// A record with a schema, or one whose structs are maps.
fn any_record() -> impl Strategy<Value = ConnectRecord> {
    (data(), data(), any::<bool>(), any::<Option<i64>>()).prop_map(|(key, value, schemaless, timestamp)| {
        let part = |(schema, value): (Schema, Option<Value>)| match value {
            Some(value) if schemaless => SchemaAndValue::new(None, Some(without_schema(value))),
            value => SchemaAndValue::new(Some(schema), value),
        };
        ConnectRecord { key: part(key), timestamp, ..record(None, None) }.with_value(part(value))
    })
}

trait WithValue {
    fn with_value(self, value: SchemaAndValue) -> Self;
}

impl WithValue for ConnectRecord {
    fn with_value(self, value: SchemaAndValue) -> Self {
        Self { value, ..self }
    }
}

fn without_schema(value: Value) -> Value {
    match value {
        Value::Struct(value) => {
            let entries = value.entries().map(|(field, value)| (field.name(), value.cloned().map(without_schema)));
            entries.collect::<Map>().into()
        }
        other => other,
    }
}

fn shown(outcome: &Result<Option<ConnectRecord>, DataError>) -> String {
    format!("{outcome:?}")
}

fn all() -> impl Iterator<Item = &'static (&'static str, &'static [(&'static str, &'static str)])> {
    OF_STRUCTS.iter().chain(SETTINGS).chain(OF_NOTHING)
}

#[test]
fn a_tombstone_passes_where_kafka_lets_it_pass() {
    // It becomes a struct or map with a null field, it is dropped, or it is refused; `docs/deviations.md`.
    let hoists = |class: &str| class.starts_with("HoistField");
    let drops = |class: &str| class == "Filter";
    let refuses = |class: &str| class == "ValueToKey" || class == "HeaderFrom$Value";
    for (class, settings) in all() {
        let tombstone = ConnectRecord { timestamp: Some(0), ..record(None, None) };
        match make(class, settings).apply(tombstone) {
            Err(error) => assert!(refuses(class), "{class}: {error}"),
            Ok(None) => assert!(drops(class), "{class}"),
            Ok(Some(changed)) => {
                assert!(!refuses(class) && !drops(class), "{class}");
                assert_eq!(changed.value.value.is_some(), hoists(class), "{class}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn what_is_not_there_is_not_changed(record in any_record()) {
        for (class, settings) in OF_NOTHING {
            let before = format!("{:?}", Some(&record));
            // What is no struct or map is refused by those that look for fields.
            if let Ok(after) = make(class, settings).apply(record.clone()) {
                prop_assert_eq!(format!("{after:?}"), before, "{}", class);
            }
        }
    }

    #[test]
    fn a_record_that_is_not_meant_is_not_changed(record in any_record()) {
        for (class, settings) in all() {
            let settings_of = |pairs: &[(&str, &str)]| pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
            let has_header = predicates::classes().into_iter().find(|known| known.class.ends_with("HasHeaderKey")).unwrap();
            let predicate = (has_header.make)(&settings_of(&[("name", "nowhere")])).unwrap();
            let condition = Condition { alias: "p".to_owned(), class: has_header.class, predicate, negate: false };
            let transformation = make(class, settings);
            let stage = Stage { alias: "a".to_owned(), class: "c", transformation, condition: Some(condition) };
            let after = Chain::new(vec![stage]).apply(record.clone());
            prop_assert_eq!(shown(&after), shown(&Ok(Some(record.clone()))), "{}", class);
        }
    }

    #[test]
    fn a_sound_record_stays_sound_and_is_changed_alike_each_time(record in any_record()) {
        for (class, settings) in all() {
            let mut transformation = make(class, settings);
            let first = transformation.apply(record.clone());
            prop_assert_eq!(shown(&transformation.apply(record.clone())), shown(&first), "{}", class);
            // A name that is taken from a logical type leaves the value as it is, as in Kafka.
            let Ok(Some(changed)) = first else { continue };
            if class.starts_with("SetSchemaMetadata") {
                continue;
            }
            for part in [&changed.key, &changed.value] {
                if let (Some(schema), Some(value)) = (&part.schema, &part.value) {
                    validate_value(schema, Some(value)).unwrap_or_else(|error| panic!("{class}: {error}: {changed:?}"));
                }
            }
        }
    }
}
