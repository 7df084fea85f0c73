//! Definitions of configurations: defaults, validation, documentation, mistakes of the definition.

use super::*;

fn properties(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

fn a_service() -> ConfigDef {
    ConfigDef::new()
        .define(ConfigKey::new("name", ConfigType::String))
        .define(ConfigKey::new("port", ConfigType::Int).default("8080").validator(Validator::between(1, 65535)))
        .define(ConfigKey::new("tags", ConfigType::List).default(""))
        .define(ConfigKey::new("secret", ConfigType::Password).null_default())
}

#[test]
fn parse_reports_every_problem_at_once() {
    let errors = a_service().parse(&properties(&[("port", "0")])).unwrap_err();
    let texts: Vec<&str> = errors.iter().map(ConfigError::message).collect();
    assert_eq!(
        texts,
        [
            "Missing required configuration \"name\" which has no default value.",
            "Invalid value 0 for configuration port: Value must be at least 1",
        ]
    );
}

#[test]
fn validate_checks_the_null_of_an_unreadable_value_too() {
    let reports = a_service().validate(&properties(&[("name", "x"), ("port", "y"), ("secret", "pw")]));
    assert_eq!(
        reports[1].errors,
        [
            "Invalid value y for configuration port: Not a number of type INT",
            "Invalid value null for configuration port: Value must be non-null",
        ]
    );
    assert_eq!(reports[3].text().as_deref(), Some("[hidden]"));
    assert!(!format!("{reports:?}").contains("pw"));
}

#[test]
fn mistakes_of_the_definition_are_kept() {
    let def = ConfigDef::new()
        .define(ConfigKey::new("a", ConfigType::Int).default("x"))
        .define(ConfigKey::new("b", ConfigType::Int).default("0").validator(Validator::at_least(1)))
        .define(ConfigKey::new("b", ConfigType::Int));
    let texts: Vec<String> = def.check().unwrap_err().iter().map(ToString::to_string).collect();
    assert_eq!(
        texts,
        [
            "Invalid value x for configuration a: Not a number of type INT",
            "Invalid value 0 for configuration b: Value must be at least 1",
            "Configuration b is defined twice.",
        ]
    );
    assert!(def.parse(&BTreeMap::new()).is_err());
}

#[derive(Debug)]
struct Siblings;
impl Recommender for Siblings {
    fn valid_values(&self, key: &str, config: &Config) -> Result<Vec<ParsedValue>, ConfigError> {
        assert_eq!(key, "mode");
        Ok(config.iter().map(|(name, _)| name.into()).collect())
    }
}

#[test]
fn embedded_keys_see_themselves_without_the_prefix() {
    let child = ConfigDef::new()
        .define(ConfigKey::new("z", ConfigType::Int).validator(Validator::at_least(1)).dependents(["mode"]))
        .define(ConfigKey::new("mode", ConfigType::String).default("m").group("Inner", 7).recommender(Siblings));
    let def = a_service().embed("transforms.a.", "Transforms: a", 3, &child);
    assert_eq!(def.groups(), ["Transforms: a", "Transforms: a: Inner"]);
    let z = def.key("transforms.a.z").unwrap();
    assert_eq!((z.group_name(), z.order_in_group(), z.title()), (Some("Transforms: a"), 3, "z"));
    assert_eq!(z.dependent_keys(), ["transforms.a.mode"]);
    let reports = def.validate(&properties(&[("name", "n"), ("transforms.a.z", "0")]));
    let z = reports.iter().find(|r| r.name == "transforms.a.z").unwrap();
    assert_eq!(z.errors, ["Invalid value 0 for configuration z: Value must be at least 1"]);
    let mode = reports.iter().find(|r| r.name == "transforms.a.mode").unwrap();
    assert_eq!(mode.recommended, [ParsedValue::from("mode"), ParsedValue::from("z")]);
}

#[test]
fn documentation_lists_ungrouped_keys_first_and_required_ones_before_optional_ones() {
    let key = |name: &str| ConfigKey::new(name, ConfigType::String);
    let def = ConfigDef::new()
        .define(key("g2").group("B", 1))
        .define(key("g1").group("A", 1))
        .define(key("opt").default(""))
        .define(key("low").importance(Importance::Low))
        .define(key("high").importance(Importance::High));
    let names: Vec<&str> = def.sorted().iter().map(|key| key.name()).collect();
    assert_eq!(names, ["high", "low", "opt", "g2", "g1"]);
}
