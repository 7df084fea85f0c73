//! What derived configurations parse and report.

use std::path::PathBuf;
use std::time::Duration;

use super::*;
use crate::config::{ConnectorConfig, Password};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Mode {
    Append,
    Replace,
}

// What `#[derive(ConfigEnum)]` writes.
impl ConfigEnum for Mode {
    const VALUES: &'static [&'static str] = &["append", "replace"];
    fn parse(text: &str) -> Option<Self> {
        match text {
            "append" => Some(Self::Append),
            "replace" => Some(Self::Replace),
            _ => None,
        }
    }
    fn name(&self) -> &'static str {
        match self {
            Self::Append => "append",
            Self::Replace => "replace",
        }
    }
}
impl ConfigValue for Mode {
    fn config_type() -> ConfigType {
        enum_type()
    }
    fn validator() -> Option<Validator> {
        enum_validator::<Self>()
    }
    fn from_parsed(key: &str, value: &ParsedValue) -> Result<Self, ConfigError> {
        enum_from_parsed(key, value)
    }
    fn render(&self) -> Option<String> {
        enum_render(self)
    }
    fn __sealed() -> Sealed {
        Sealed::new()
    }
}

#[derive(Debug, PartialEq)]
struct Settings {
    path: PathBuf,
    other: Option<PathBuf>,
    flush_size: usize,
    pause: Duration,
    mode: Mode,
    token: Option<Password>,
    ratio: Option<f64>,
}

fn even(n: &usize) -> Result<(), String> {
    if n.is_multiple_of(2) { Ok(()) } else { Err("an odd number".to_owned()) }
}

fn exclusive(config: &Settings) -> Result<(), &'static str> {
    if config.other.is_some() && config.token.is_some() {
        Err("`other` and `token` exclude each other")
    } else {
        Ok(())
    }
}

// What `#[derive(ConnectorConfig)]` writes.
impl ConnectorConfig for Settings {
    fn config_def() -> ConfigDef {
        let def = ConfigDef::new();
        let def = Field::new(&const { field_type::<PathBuf>() }, "path", "The file.").define(def);
        let def = Field::new(&const { field_type::<Option<PathBuf>>() }, "other", "Another file.").define(def);
        let def = Field::new(&const { field_type::<usize>() }, "flush.size", "How many.")
            .default(1000)
            .range(1..5000)
            .check(even)
            .define(def);
        let def = Field::new(&const { field_type::<Duration>() }, "pause", "How long.")
            .default(Duration::from_millis(250))
            .define(def);
        let def = Field::new(&const { field_type::<Mode>() }, "mode", "How.").default(Mode::Append).define(def);
        let def = Field::new(&const { field_type::<Option<Password>>() }, "token", "Secret.").define(def);
        Field::new(&const { field_type::<Option<f64>>() }, "ratio", "Share.").range(0.0..=1.0).define(def)
    }
    fn from_properties(properties: &BTreeMap<String, String>) -> Result<Self, ConfigErrors> {
        let mut reader = Reader::new(&Self::config_def(), properties);
        let fields = (
            reader.read(&field_type(), "path"),
            reader.read(&field_type(), "other"),
            reader.read(&field_type(), "flush.size"),
            reader.read(&field_type(), "pause"),
            reader.read(&field_type(), "mode"),
            reader.read(&field_type(), "token"),
            reader.read(&field_type(), "ratio"),
        );
        match fields {
            (Some(path), Some(other), Some(flush_size), Some(pause), Some(mode), Some(token), Some(ratio)) => {
                reader.finish(Self { path, other, flush_size, pause, mode, token, ratio }, exclusive)
            }
            _ => Err(reader.into_errors()),
        }
    }
    fn __derived() -> Derived {
        Derived::new()
    }
}

fn read(pairs: &[(&str, &str)]) -> Result<Settings, String> {
    let properties = pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    Settings::from_properties(&properties).map_err(|errors| errors.to_string())
}

#[test]
fn defaults_and_blank_paths_are_read() {
    let settings = read(&[("path", "/tmp/x"), ("other", " "), ("unknown", "stays")]).unwrap();
    assert_eq!(
        settings,
        Settings {
            path: "/tmp/x".into(),
            other: None,
            flush_size: 1000,
            pause: Duration::from_millis(250),
            mode: Mode::Append,
            token: None,
            ratio: None
        }
    );
    assert!(Settings::config_def().check().is_ok());
    assert_eq!(Settings::config_def().key("mode").unwrap().default_value(), Some(&ParsedValue::from("append")));
}

#[test]
fn every_problem_is_reported_once() {
    let errors = read(&[("flush.size", "7"), ("pause.ms", "-1"), ("mode", "Append"), ("ratio", "2")]).unwrap_err();
    assert_eq!(
        errors,
        "Missing required configuration \"path\" which has no default value.\n\
         Invalid value 7 for configuration flush.size: an odd number\n\
         Invalid value -1 for configuration pause.ms: Value must be at least 0\n\
         Invalid value Append for configuration mode: String must be one of: append, replace\n\
         Invalid value 2.0 for configuration ratio: Value must be no more than 1.0"
    );
    assert!(read(&[("path", "x"), ("flush.size", "5000")]).unwrap_err().contains("no more than 4999"));
}

#[test]
fn the_check_on_the_whole_runs_on_sound_values_only() {
    let errors = read(&[("path", "x"), ("other", "y"), ("token", "t0ken")]).unwrap_err();
    assert_eq!(errors, "`other` and `token` exclude each other");
    assert!(!format!("{:?}", read(&[("path", "x"), ("token", "t0ken")])).contains("t0ken"));
}
