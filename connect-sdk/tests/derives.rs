//! What the macros generate, used: configurations are read, positions restored, data sent and read back.
#![deny(warnings, clippy::pedantic)]

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use connect_sdk::config::{ConfigDef, Importance};
use connect_sdk::data::{Decimal, SchemaBuilder, Type};
use connect_sdk::prelude::*;
use connect_sdk::source::{ExactlyOnce, FieldKind, FieldMap, FieldValue, SourceConnector};

#[derive(ConnectorConfig, Debug, PartialEq)]
#[config(check = one_target)]
struct Settings {
    /// The file to append to.
    path: PathBuf,
    /// Another file
    /// to append to.
    other_path: Option<PathBuf>,
    /// Write once this many records have come together.
    #[config(default = 1000, range = 1..=5000, importance = high, group = "Size", display_name = "Flush size")]
    flush_size: usize,
    /// How long to wait.
    #[config(default = Duration::from_millis(250), range = Duration::from_millis(10)..)]
    pause: Duration,
    /// How to write.
    #[config(default = Mode::Append)]
    mode: Mode,
    /// The share that is kept.
    #[config(default = 1, range = 0.0..=1.0, group = "Size")]
    ratio: f64,
    /// Who.
    #[config(key = "user.password", importance = low)]
    login: Option<Password>,
    /// The columns.
    #[config(default = ["a", "b"])]
    columns: Vec<String>,
    /// An even number.
    #[config(default = 2, check = even)]
    r#type: i32,
    /// No secret.
    #[config(not_secret, default = "T")]
    token: String,
}

#[derive(ConfigEnum, Clone, Copy, Debug, PartialEq)]
enum Mode {
    Append,
    ReplaceAll,
    #[config(rename = "both!")]
    Both,
}

#[derive(ConfigEnum, Clone, Copy, Debug, PartialEq)]
#[config(rename_all = "SCREAMING-KEBAB-CASE")]
enum Shout {
    VeryLoud,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature of a check")]
fn even(n: &i32) -> Result<(), &'static str> {
    if n % 2 == 0 { Ok(()) } else { Err("an odd number") }
}

fn one_target(settings: &Settings) -> Result<(), String> {
    match &settings.other_path {
        Some(other) if *other == settings.path => Err(format!("`{}` is given twice", other.display())),
        _ => Ok(()),
    }
}

fn read(pairs: &[(&str, &str)]) -> Result<Settings, String> {
    let properties: BTreeMap<_, _> = pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    Settings::from_properties(&properties).map_err(|errors| errors.to_string())
}

#[test]
fn a_configuration_has_its_defaults() {
    let settings = read(&[("path", "/tmp/x"), ("unknown", "stays"), ("user.password", "s3cret")]).unwrap();
    assert!(!format!("{settings:?}").contains("s3cret"));
    let expected = Settings {
        path: "/tmp/x".into(),
        other_path: None,
        flush_size: 1000,
        pause: Duration::from_millis(250),
        mode: Mode::Append,
        ratio: 1.0,
        login: Some(Password::new("s3cret")),
        columns: vec!["a".to_owned(), "b".to_owned()],
        r#type: 2,
        token: "T".to_owned(),
    };
    assert_eq!(settings, expected);
}

#[test]
fn every_problem_of_a_configuration_is_reported() {
    let errors = read(&[("flush.size", "0"), ("pause.ms", "9"), ("mode", "append!"), ("ratio", "2"), ("type", "3")]);
    let errors = errors.unwrap_err();
    for part in ["\"path\"", "flush.size", "pause.ms", "append, replace_all, both!", "ratio", "an odd number"] {
        assert!(errors.contains(part), "{part}: {errors}");
    }
    assert_eq!(read(&[("path", "x"), ("other.path", "x")]).unwrap_err(), "`x` is given twice");
    assert_eq!(read(&[("path", "x"), ("mode", "both!")]).unwrap().mode, Mode::Both);
    assert_eq!(Shout::VALUES, ["VERY-LOUD"]);
    assert_eq!(Shout::parse("VERY-LOUD"), Some(Shout::VeryLoud));
}

#[test]
fn a_definition_says_what_the_struct_says() {
    let def: ConfigDef = Settings::config_def();
    def.check().unwrap();
    let key = |name: &str| def.key(name).unwrap_or_else(|| panic!("no key `{name}`"));
    assert_eq!(key("other.path").documentation(), "Another file to append to.");
    assert_eq!(key("flush.size").importance_level(), Importance::High);
    assert_eq!(key("user.password").importance_level(), Importance::Low);
    assert!(def.key("pause").is_none() && def.key("pause.ms").is_some());
    assert_eq!(key("ratio").group_name(), Some("Size"));
}

#[derive(SourcePartition, Debug, PartialEq)]
struct Part {
    #[partition(rename = "filename")]
    name: String,
    shard: Option<i32>,
}

#[derive(SourceOffset, Debug, PartialEq)]
struct At {
    position: i64,
    #[offset(default = "none")]
    etag: String,
    #[offset(default)]
    ratio: f32,
    note: Option<String>,
}

#[test]
fn positions_are_stored_under_their_names_and_restored() {
    let part = Part { name: "a.txt".to_owned(), shard: None };
    let stored = part.__encode();
    assert_eq!(stored.to_string(), r#"{"filename":"a.txt","shard":null}"#);
    assert_eq!(Part::__decode(&stored).unwrap(), part);
    let kinds: Vec<_> = Part::FIELDS.iter().map(|f| (f.name, f.kind, f.may_be_absent)).collect();
    assert_eq!(kinds, [("filename", FieldKind::Text, false), ("shard", FieldKind::Int, true)]);

    let old = FieldMap::new().with("position", FieldValue::Int(7)).with("gone", FieldValue::Bool(true));
    let at = At::__decode(&old).unwrap();
    assert_eq!(at, At { position: 7, etag: "none".to_owned(), ratio: 0.0, note: None });
    assert!(at.__same(&at.__duplicate()));
    assert_eq!(At { ratio: f32::NAN, ..at }.__not_finite(), Some("ratio"));
    let error = At::__decode(&FieldMap::new()).unwrap_err().to_string();
    assert!(error.contains("`position`") && error.contains("`At`"), "{error}");
}

#[derive(ConnectData, Debug, PartialEq)]
#[expect(clippy::struct_field_names, reason = "an order has an id of its own")]
#[connect(name = "com.example.Order", version = 2)]
#[serde(rename_all = "camelCase")]
struct Order {
    order_id: i64,
    r#type: State,
    #[connect(scale = 2)]
    price: Decimal,
    #[serde(default = "no_lines")]
    lines: Vec<Line>,
    #[serde(skip)]
    cache: i32,
    pay: Option<Pay>,
    #[serde(rename = "ref", skip_serializing_if = "Option::is_none")]
    reference: Option<Id>,
}

fn no_lines() -> Vec<Line> {
    vec![Line { text: "none".to_owned(), count: 0 }]
}

#[derive(ConnectData, Debug, PartialEq)]
struct Line {
    text: String,
    #[connect(default = 1)]
    count: i32,
}

#[derive(ConnectData, Debug, PartialEq)]
#[serde(rename_all = "lowercase")]
enum State {
    Open,
    ClosedForEver,
}

#[derive(ConnectData, Debug, PartialEq)]
enum Pay {
    Card(String),
    #[serde(rename = "transfer")]
    Transfer {
        iban: String,
        #[connect(skip)]
        tries: i32,
    },
    Cash,
}

#[derive(ConnectData, Debug, PartialEq)]
struct Id(String);

#[derive(ConnectData, Debug, PartialEq)]
struct Page<T> {
    items: Vec<T>,
    next: Option<i64>,
}

fn order(pay: Option<Pay>) -> Order {
    Order {
        order_id: 1,
        r#type: State::ClosedForEver,
        price: Decimal::new(1250, 2),
        lines: vec![Line { text: "x".to_owned(), count: 2 }],
        cache: 0,
        pay,
        reference: Some(Id("r".to_owned())),
    }
}

#[test]
fn data_has_a_schema_and_survives() {
    let schema = Order::schema();
    assert_eq!((schema.name(), schema.version()), (Some("com.example.Order"), Some(2)));
    let names: Vec<&str> = schema.fields().iter().map(connect_sdk::data::Field::name).collect();
    assert_eq!(names, ["orderId", "type", "price", "lines", "pay", "ref"]);
    assert_eq!(schema.field("type").unwrap().schema(), &Schema::string());
    assert_eq!(schema.field("ref").unwrap().schema(), &Schema::optional_string());
    assert_eq!(schema.field("price").unwrap().schema().decimal_scale(), Ok(2));
    let pay = schema.field("pay").unwrap().schema();
    assert!(pay.is_optional() && pay.fields().iter().all(|field| field.schema().is_optional()));
    let transfer = pay.field("transfer").unwrap().schema();
    assert_eq!((transfer.kind(), transfer.name()), (Type::Struct, Some("Pay.transfer")));

    let transfer = Pay::Transfer { iban: "DE".to_owned(), tries: 0 };
    for pay in [None, Some(Pay::Card("1".to_owned())), Some(transfer), Some(Pay::Cash)] {
        let order = order(pay);
        let value = order.to_value();
        connect_sdk::data::validate_value(&schema, value.as_ref()).unwrap();
        assert_eq!(Order::from_value(value.as_ref()).unwrap(), order);
    }
}

#[test]
fn what_is_wrong_with_data_is_named() {
    let mut value = Struct::new(Order::schema()).unwrap();
    value.put("orderId", 1i64).unwrap().put("type", "closdforever").unwrap();
    let error = Order::from_value(Some(&Value::from(value))).unwrap_err();
    assert_eq!(error.path(), "type");
    assert!(error.to_string().contains("did you mean `closedforever`?"), "{error}");
    let pay = SchemaBuilder::struct_().field("transfer", Schema::optional_string()).build().unwrap();
    let mut value = Struct::new(pay).unwrap();
    value.put("transfer", "x").unwrap();
    assert_eq!(Pay::from_value(Some(&Value::from(value))).unwrap_err().path(), "transfer");
}

#[test]
fn schemaless_data_is_read_with_defaults() {
    let line: connect_sdk::data::Map = [("text", Value::from("x"))].into_iter().collect();
    assert_eq!(Line::from_value(Some(&line.into())).unwrap(), Line { text: "x".to_owned(), count: 1 });
    let order = order(None);
    let Some(Value::Struct(value)) = order.to_value() else { unreachable!() };
    let map: connect_sdk::data::Map =
        value.entries().filter(|(f, _)| f.name() != "lines").map(|(f, v)| (f.name(), v.cloned())).collect();
    assert_eq!(Order::from_value(Some(&map.into())).unwrap().lines, no_lines());
}

#[test]
fn types_with_parameters_and_newtypes_are_data() {
    let page = Page { items: vec![Id("a".to_owned())], next: Some(2) };
    assert_eq!(Page::from_value(page.to_value().as_ref()).unwrap(), page);
    assert_ne!(Page::<Id>::schema(), Page::<i64>::schema());
    assert_eq!(Id("x".to_owned()).as_text(), Some("x"));
    assert_eq!(State::Open.as_text(), Some("open"));
}

struct Nums {
    at: Cursor<Part, At>,
}

/// Counts,
/// slowly.
///
/// For ever.
#[source_connector(
    name = "nums",
    java = "org.example.NumsConnector",
    exactly_once = unsupported(why = "an example"),
    transaction_boundaries = connector,
)]
impl Source for Nums {
    type Config = Settings;
    type Partition = Part;
    type Offset = At;

    async fn partitions(_: &Settings) -> Result<Vec<Part>> {
        Ok(vec![])
    }
    async fn open(_: &Settings, at: Cursors<Part, At>) -> Result<Self> {
        Ok(Self { at: at.only()? })
    }
    async fn poll(&mut self, out: &mut Batch<Self>) -> Result<()> {
        let at = At { position: 1, etag: String::new(), ratio: 0.0, note: None };
        out.emit_acked(&mut self.at, Record::to("t").value(&order(None)), at, || {});
        out.commit_transaction();
        Ok(())
    }
}

#[test]
fn a_connector_is_described() {
    let meta = Nums::META;
    assert_eq!((meta.name, meta.java), ("nums", Some("org.example.NumsConnector")));
    assert_eq!(meta.doc, "Counts, slowly.\nFor ever.");
    assert_eq!(meta.version, env!("CARGO_PKG_VERSION"));
    assert_eq!(meta.exactly_once, ExactlyOnce::Unsupported("an example"));
    assert_eq!(meta.type_name, "derives::Nums");
    assert!(meta.defines_transactions && !meta.has_hook);
    let plugins = Plugins::new().source::<Nums>();
    for class in ["nums", "org.example.NumsConnector", "NumsConnector", "Nums"] {
        assert!(plugins.connector(class).is_some(), "{class}");
    }
}
