//! What is told about the keys of a chain, and that the chain is what they say.

use super::ChainConfig;
use crate::transforms::{classes, predicates};
use connect_sdk::config::{ConfigDef, ConfigErrors};
use connect_sdk::data::{DataError, SchemaAndValue};
use connect_sdk::erased::{DynPredicate, DynTransformation, Properties};
use connect_sdk::plugin::Plugins;
use connect_sdk::transform::{ConnectRecord, PredicateClass, TransformationClass};

fn plugins() -> Plugins {
    let plugins = classes().into_iter().fold(Plugins::new(), Plugins::with_transformation_class);
    predicates::classes().into_iter().fold(plugins, Plugins::with_predicate_class)
}

fn properties(pairs: &[(&str, &str)]) -> Properties {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

fn read(pairs: &[(&str, &str)]) -> Result<ChainConfig, ConfigErrors> {
    ChainConfig::from_properties(&plugins(), &properties(pairs))
}

fn record(topic: &str) -> ConnectRecord {
    ConnectRecord { topic: topic.into(), ..ConnectRecord::default() }
}

fn chain(pairs: &[(&str, &str)]) -> Box<dyn DynTransformation> {
    read(pairs).unwrap().make().unwrap().expect("there are transformations")
}

#[test]
fn every_mistake_is_told_at_once_under_the_key_that_was_written() {
    let errors = read(&[
        ("transforms", "a,b,c,d,e,f"),
        ("transforms.a.type", "RegexRouter"),
        ("transforms.a.regex", "("),
        ("transforms.b.type", "RegexRoute"),
        ("transforms.d.type", "DropHeaders"),
        ("transforms.d.headers", "x,"),
        ("transforms.d.negate", "true"),
        ("transforms.e.type", "Filter"),
        ("transforms.e.predicate", "tombstones"),
        ("transforms.e.negate", "maybe"),
        ("transforms.f.type", "org.apache.kafka.connect.transforms.InsertField$Value"),
        ("predicates", "tombstone,named"),
        ("predicates.tombstone.type", "RecordIsTombstone"),
        ("predicates.named.type", "HasHeaderKey"),
    ])
    .unwrap_err();
    let told: Vec<(&str, &str)> =
        errors.iter().map(|error| (error.key().unwrap(), error.message().split(" (linked").next().unwrap())).collect();
    assert_eq!(
        told,
        [
            (
                "predicates.named.name",
                "Missing required configuration \"predicates.named.name\" which has no default value."
            ),
            (
                "transforms.a.regex",
                "Invalid value ( for configuration transforms.a.regex: Invalid regex: Unclosed group near index 1\n("
            ),
            (
                "transforms.a.replacement",
                "Missing required configuration \"transforms.a.replacement\" which has no default value."
            ),
            (
                "transforms.b.type",
                "Invalid value RegexRoute for configuration transforms.b.type: Class RegexRoute could not be found: unknown \
                 transformation class `RegexRoute`; did you mean `RegexRouter`?"
            ),
            ("transforms.c.type", "Invalid value null for configuration transforms.c.type: Not a Transformation"),
            (
                "transforms.d.negate",
                "Config 'transforms.d.negate' was provided but there is no config 'transforms.d.predicate' defining a \
                 predicate to be negated."
            ),
            ("transforms.d.headers", "Configuration 'transforms.d.headers' values must not be empty."),
            (
                "transforms.e.negate",
                "Invalid value maybe for configuration transforms.e.negate: Expected value to be either true or false"
            ),
            (
                "transforms.e.predicate",
                "Invalid value tombstones for configuration transforms.e.predicate: `predicates` does not name such a \
                 predicate; did you mean `tombstone`?"
            ),
            ("transforms.f.type", "transforms.f: No field insertion configured"),
        ]
    );
}

#[test]
fn a_predicate_that_is_wrong_is_told_once() {
    let errors = read(&[
        ("transforms", "a,b"),
        ("transforms.a.type", "Filter"),
        ("transforms.a.predicate", "p"),
        ("transforms.b.type", "Filter"),
        ("transforms.b.predicate", "p"),
        ("predicates", "p"),
        ("predicates.p.type", "Nothing"),
    ])
    .unwrap_err();
    assert_eq!(errors.iter().map(|error| error.key()).collect::<Vec<_>>(), [Some("predicates.p.type")]);
}

#[test]
fn without_transformations_there_is_no_chain() {
    assert!(read(&[]).unwrap().make().unwrap().is_none());
    assert!(read(&[("transforms", " ")]).unwrap().make().unwrap().is_none());
}

#[test]
fn transformations_are_applied_in_their_order_to_the_records_that_are_meant() {
    let mut chain = chain(&[
        ("transforms", " first , second, third "),
        ("transforms.first.type", "RegexRouter"),
        ("transforms.first.regex", "a"),
        ("transforms.first.replacement", "b"),
        ("transforms.second.type", "org.apache.kafka.connect.transforms.RegexRouter"),
        ("transforms.second.regex", "b"),
        ("transforms.second.replacement", "c"),
        ("transforms.third.type", "Filter"),
        ("transforms.third.predicate", "isC"),
        ("transforms.third.negate", " true "),
        ("predicates", "isC"),
        ("predicates.isC.type", "TopicNameMatches"),
        ("predicates.isC.pattern", "c|d"),
    ]);
    let mut route = |topic| chain.apply(record(topic)).unwrap().map(|record| record.topic.as_str().to_owned());
    assert_eq!(route("a").as_deref(), Some("c"));
    assert_eq!(route("d").as_deref(), Some("d"));
    assert_eq!(route("e"), None);
}

#[test]
fn an_alias_may_be_the_beginning_of_another_one() {
    let pairs = [
        ("transforms", "a,a.b"),
        ("transforms.a.type", "InsertHeader"),
        ("transforms.a.header", "x"),
        ("transforms.a.value.literal", "1"),
        ("transforms.a.b.type", "InsertHeader"),
        ("transforms.a.b.header", "y"),
        ("transforms.a.b.value.literal", "2"),
    ];
    let record = chain(&pairs).apply(record("t")).unwrap().unwrap();
    assert_eq!(record.headers.iter().map(|header| header.key().to_owned()).collect::<Vec<_>>(), ["x", "y"]);
    assert_eq!(read(&pairs).unwrap().unknown_keys(&properties(&pairs)), [""; 0]);
}

#[test]
fn keys_that_nobody_reads_are_told() {
    let pairs = [
        ("transforms", "a"),
        ("transforms.a.type", "org.apache.kafka.connect.transforms.Flatten$Value"),
        ("transforms.a.delimeter", "_"),
        ("transforms.a.plugin.version", "[0,)"),
        ("transforms.b.type", "Filter"),
        ("predicates.p.type", "RecordIsTombstone"),
    ];
    assert_eq!(
        read(&pairs).unwrap().unknown_keys(&properties(&pairs)),
        [
            "unknown key `transforms.a.delimeter`; did you mean `transforms.a.delimiter`?",
            "`transforms.b.type` has no effect: `transforms` does not name such an alias",
            "`predicates.p.type` has no effect: `predicates` does not name such an alias",
        ]
    );
}

#[test]
fn a_transformation_does_not_get_the_keys_of_the_framework() {
    let plugins = plugins().with_transformation_class(TransformationClass {
        class: "strict",
        version: "1",
        name: None,
        doc: "",
        type_name: "",
        config_def: ConfigDef::new,
        make: |settings| {
            assert_eq!(settings.keys().collect::<Vec<_>>(), ["own"]);
            Ok(Box::new(super::Chain::default()))
        },
    });
    let pairs = properties(&[
        ("transforms", "t"),
        ("transforms.t.type", "strict"),
        ("transforms.t.own", "x"),
        ("transforms.t.predicate", "p"),
        ("transforms.t.negate", "true"),
        ("transforms.t.plugin.version", "1"),
        ("predicates", "p"),
        ("predicates.p.type", "RecordIsTombstone"),
    ]);
    ChainConfig::from_properties(&plugins, &pairs).unwrap();
}

#[test]
fn a_class_in_another_version_is_refused() {
    let with = |version: &str, of_predicate: &str| {
        let plugins = plugins().with_transformation_class(TransformationClass {
            class: "trim",
            version: "1.2",
            name: None,
            doc: "",
            type_name: "",
            config_def: ConfigDef::new,
            make: |_| Ok(Box::new(super::Chain::default())),
        });
        let pairs = properties(&[
            ("transforms", "t"),
            ("transforms.t.type", "trim"),
            ("transforms.t.plugin.version", version),
            ("predicates", "p"),
            ("predicates.p.type", "RecordIsTombstone"),
            ("predicates.p.plugin.version", of_predicate),
        ]);
        let told = ChainConfig::from_properties(&plugins, &pairs).err().unwrap_or_default();
        told.iter().map(|error| (error.key().unwrap_or("").to_owned(), error.message().to_owned())).collect::<Vec<_>>()
    };
    assert_eq!(with("[1,2)", "latest"), []);
    let told = with("2", "(");
    assert_eq!(
        told,
        [
            ("predicates.p.plugin.version".to_owned(), "Unbounded range: (".to_owned()),
            (
                "transforms.t.plugin.version".to_owned(),
                "Plugin trim not found that matches the version range [2,2], available versions: [1.2]".to_owned()
            ),
        ]
    );
}

struct Broken;

impl DynPredicate for Broken {
    fn test(&mut self, _: &ConnectRecord) -> Result<bool, DataError> {
        Err(DataError::retriable("the moon is down"))
    }
}

#[test]
fn an_error_names_who_failed() {
    let class = "org.apache.kafka.connect.transforms.MaskField$Value";
    let mask = [("transforms", "hide"), ("transforms.hide.type", class), ("transforms.hide.fields", "a")];
    let value = SchemaAndValue { schema: None, value: Some(1.into()) };
    let error = chain(&mask).apply(ConnectRecord { value, ..record("t") }).unwrap_err();
    assert!(error.to_string().starts_with(&format!("`hide` ({class}): Only Map objects supported")), "{error}");
    assert_eq!((error.plugin(), error.is_retriable()), (Some(class), false));

    let plugins = plugins().with_predicate_class(PredicateClass {
        class: "moon",
        version: "1",
        name: None,
        doc: "",
        type_name: "",
        config_def: ConfigDef::new,
        make: |_| Ok(Box::new(Broken)),
    });
    let pairs = properties(&[
        ("transforms", "f"),
        ("transforms.f.type", "Filter"),
        ("transforms.f.predicate", "p"),
        ("predicates", "p"),
        ("predicates.p.type", "moon"),
    ]);
    let chain = ChainConfig::from_properties(&plugins, &pairs).unwrap().make().unwrap();
    let error = chain.unwrap().apply(record("t")).unwrap_err();
    assert_eq!(error.to_string(), "predicate `p` (moon): the moon is down");
    assert_eq!((error.plugin(), error.is_retriable()), (Some("moon"), true));
}
