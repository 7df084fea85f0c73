//! What the code that the derives generate calls. No part of the public interface.
#![doc(hidden)]
#![allow(missing_docs, reason = "for generated code only")]

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeBounds;

use super::reserved::{RESERVED_OF_CONVERTERS, RESERVED_OF_PREDICATES, RESERVED_OF_TRANSFORMATIONS};
use super::{
    Bound, Config, ConfigDef, ConfigEnum, ConfigError, ConfigErrors, ConfigKey, ConfigType, ConfigValue,
    ConnectorConfig, Importance, ParsedValue, Validator, Width,
};

/// Whose configuration a struct is: which keys the framework keeps for itself.
#[allow(clippy::exhaustive_enums, reason = "for generated code only")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Connector,
    Transformation,
    Predicate,
    Converter,
}

impl Role {
    const fn is(self, other: Self) -> bool {
        self as u8 == other as u8
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Connector => "connector",
            Self::Transformation => "transformation",
            Self::Predicate => "predicate",
            Self::Converter => "converter",
        }
    }

    /// The keys that the framework keeps. Those of connectors are judged by the derive alone.
    const fn reserved(self) -> &'static [&'static str] {
        match self {
            Self::Connector => &[],
            Self::Transformation => RESERVED_OF_TRANSFORMATIONS,
            Self::Predicate => RESERVED_OF_PREDICATES,
            Self::Converter => RESERVED_OF_CONVERTERS,
        }
    }
}

/// Stops the compiler if a configuration cannot be that of a plugin of this role.
///
/// # Panics
/// Panics with what is wrong, which makes it the error of the constant that calls this.
#[track_caller]
pub const fn check_role<C: ConnectorConfig>(role: Role) {
    if !C::__ROLE.is(role) && !C::__ROLE.is(Role::Connector) {
        Message::stop(&[
            "this configuration says `#[config(of = ",
            C::__ROLE.name(),
            ")]`, but belongs to a ",
            role.name(),
            if role.is(Role::Connector) { "; leave `of` out" } else { "; write `of = " },
            if role.is(Role::Connector) { "" } else { role.name() },
            if role.is(Role::Connector) { "" } else { "`" },
        ]);
    }
    let reserved = role.reserved();
    let mut i = 0;
    while i < C::__KEYS.len() {
        let mut j = 0;
        while j < reserved.len() {
            if same(C::__KEYS[i], reserved[j]) {
                Message::stop(&[
                    "the key `",
                    reserved[j],
                    "` is not free: every ",
                    role.name(),
                    " has it from the framework; give the field another name: `#[config(key = \"..\")]`",
                ]);
            }
            j += 1;
        }
        i += 1;
    }
}

const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut i = 0;
    while i < a.len() && i < b.len() && a[i] == b[i] {
        i += 1;
    }
    i == a.len() && i == b.len()
}

/// A message that is put together while the compiler runs.
struct Message;

impl Message {
    /// Room for all that can be said.
    const BYTES_MAX: usize = 512;

    #[track_caller]
    const fn stop(parts: &[&str]) -> ! {
        let mut text = [0u8; Self::BYTES_MAX];
        let mut length = 0;
        let mut i = 0;
        while i < parts.len() {
            let part = parts[i].as_bytes();
            let mut j = 0;
            while j < part.len() && length < Self::BYTES_MAX {
                text[length] = part[j];
                length += 1;
                j += 1;
            }
            i += 1;
        }
        match std::str::from_utf8(text.split_at(length).0) {
            Ok(text) => panic!("{}", text),
            Err(_) => panic!("this configuration cannot be used here"),
        }
    }
}

/// Proof that a configuration was derived.
#[derive(Debug)]
pub struct Derived(());

impl Derived {
    #[allow(clippy::new_without_default, reason = "for generated code only")]
    #[must_use]
    pub const fn new() -> Self {
        Self(())
    }
}

/// Proof that a field type is one of ours.
#[derive(Debug)]
pub struct Sealed(());

impl Sealed {
    #[allow(clippy::new_without_default, reason = "for generated code only")]
    #[must_use]
    pub const fn new() -> Self {
        Self(())
    }
}

/// What the type of a field can do.
///
/// Generated code asks for it once for each field, at the field's type, and never again for the trait: a field of an
/// unsupported type is then one error, where it stands.
#[derive(Debug)]
pub struct FieldType<T> {
    key_suffix: &'static str,
    optional: bool,
    config_type: fn() -> ConfigType,
    validator: fn() -> Option<Validator>,
    from_parsed: fn(&str, &ParsedValue) -> Result<T, ConfigError>,
    render: fn(&T) -> Option<String>,
}

/// What the type of a field can do.
#[must_use]
pub const fn field_type<T: ConfigValue>() -> FieldType<T> {
    FieldType {
        key_suffix: T::KEY_SUFFIX,
        optional: T::OPTIONAL,
        config_type: T::config_type,
        validator: T::validator,
        from_parsed: T::from_parsed,
        render: T::render,
    }
}

impl<T> FieldType<T> {
    /// The key of a field whose type adds no unit, else nothing.
    #[must_use]
    pub const fn bare_key(&self, key: &'static str) -> &'static str {
        if self.key_suffix.is_empty() { key } else { "" }
    }

    /// The name of a field's key: what the derive made of the field's name, with the unit of the type at the end.
    fn key(&self, key: &str) -> String {
        let unit = self.key_suffix.trim_start_matches('.');
        if key == unit || key.ends_with(self.key_suffix) { key.to_owned() } else { format!("{key}{}", self.key_suffix) }
    }
}

/// One field of a configuration struct, from which its key is made.
#[derive(Debug)]
pub struct Field<T: 'static> {
    of_type: &'static FieldType<T>,
    key: ConfigKey,
    checks: Vec<Validator>,
    default: Option<T>,
}

impl<T> Field<T> {
    /// `key` is the name of the key without the unit of the type.
    #[must_use]
    pub fn new(of_type: &'static FieldType<T>, key: &'static str, documentation: &'static str) -> Self {
        let key = ConfigKey::new(of_type.key(key), (of_type.config_type)()).doc(documentation);
        Self { of_type, key, checks: (of_type.validator)().into_iter().collect(), default: None }
    }

    #[must_use]
    pub fn default(mut self, value: T) -> Self {
        self.default = Some(value);
        self
    }

    #[must_use]
    pub fn importance(mut self, importance: Importance) -> Self {
        self.key = self.key.importance(importance);
        self
    }

    #[must_use]
    pub fn group(mut self, group: &'static str, order: i32) -> Self {
        self.key = self.key.group(group, order);
        self
    }

    #[must_use]
    pub fn display_name(mut self, name: &'static str) -> Self {
        self.key = self.key.display_name(name);
        self
    }

    #[must_use]
    pub fn width(mut self, width: Width) -> Self {
        self.key = self.key.width(width);
        self
    }

    /// A check of the library's or the author's; it does not see that an optional key is unset.
    #[must_use]
    pub fn validator(mut self, validator: Validator) -> Self {
        self.checks.push(if self.of_type.optional { validator.or_null() } else { validator });
        self
    }

    /// A range of numbers: `1..`, `0..=9`, `0.0..=1.0`; of milliseconds for a duration.
    #[must_use]
    pub fn range<N: Into<Bound> + Copy>(self, range: impl RangeBounds<N>) -> Self {
        self.validator(Validator::range(range))
    }

    /// A check of the author's own on the value of this field alone.
    #[must_use]
    pub fn check<E: std::fmt::Display + 'static>(mut self, check: fn(&T) -> Result<(), E>) -> Self {
        let from_parsed = self.of_type.from_parsed;
        self.checks.push(Validator::lambda("a value that the connector accepts", move |key, value| {
            // What is no value of the type was reported already, or is about to be.
            let Ok(typed) = from_parsed(key, value) else { return Ok(()) };
            check(&typed).map_err(|why| ConfigError::invalid(key, value, &why.to_string()))
        }));
        self
    }

    /// Adds the key to a definition.
    #[must_use]
    pub fn define(self, def: ConfigDef) -> ConfigDef {
        let mut key = self.key;
        if let Some(default) = &self.default {
            key = match (self.of_type.render)(default) {
                Some(text) => key.default(text),
                None => key.null_default(),
            };
        } else if self.of_type.optional {
            key = key.null_default();
        }
        let mut checks = self.checks;
        key = match (checks.pop(), checks.is_empty()) {
            (None, _) => key,
            (Some(only), true) => key.validator(only),
            (Some(last), false) => {
                checks.push(last);
                key.validator(Validator::composite(checks))
            }
        };
        def.define(key)
    }
}

/// Reads the fields of a configuration one by one and collects everything that is wrong.
#[derive(Debug)]
pub struct Reader {
    config: Config,
    errors: ConfigErrors,
    bad_keys: BTreeSet<String>,
}

impl Reader {
    #[must_use]
    pub fn new(def: &ConfigDef, properties: &BTreeMap<String, String>) -> Self {
        let mut reader = Self { config: Config::default(), errors: ConfigErrors::new(), bad_keys: BTreeSet::new() };
        if let Err(mistakes) = def.check() {
            reader.errors.extend(mistakes);
        }
        for key in def.keys() {
            match key.parse(properties.get(key.name()).map(|text| Some(text.as_str()))) {
                Ok(value) => reader.config.insert(key.name(), value),
                Err(error) => {
                    reader.errors.push(error);
                    reader.bad_keys.insert(key.name().to_owned());
                }
            }
        }
        reader
    }

    /// The value of a field, or `None` if something is wrong with it.
    pub fn read<T>(&mut self, of_type: &FieldType<T>, key: &str) -> Option<T> {
        let key = of_type.key(key);
        if self.bad_keys.contains(&key) {
            return None;
        }
        match (of_type.from_parsed)(&key, self.config.get(&key).unwrap_or(&ParsedValue::Null)) {
            Ok(value) => Some(value),
            Err(error) => {
                self.errors.push(error);
                None
            }
        }
    }

    /// Everything that was wrong; never empty after a `read` that gave `None`.
    #[must_use]
    pub fn into_errors(self) -> ConfigErrors {
        self.errors
    }

    /// Hands out the configuration if nothing was wrong and its own check on the whole agrees.
    ///
    /// # Errors
    /// Everything that is wrong.
    pub fn finish<C, E: Into<ConfigErrors>>(
        self,
        config: C,
        check: impl FnOnce(&C) -> Result<(), E>,
    ) -> Result<C, ConfigErrors> {
        self.errors.into_result(())?;
        check(&config).map_err(Into::into)?;
        Ok(config)
    }
}

/// The check of a configuration that has none.
///
/// # Errors
/// Never.
pub fn no_check<C>(_: &C) -> Result<(), ConfigErrors> {
    Ok(())
}

/// For the `ConfigValue` of an enum: how its text is read.
#[must_use]
pub const fn enum_type() -> ConfigType {
    ConfigType::String
}

/// For the `ConfigValue` of an enum: the check on its text.
#[must_use]
pub fn enum_validator<T: ConfigEnum>() -> Option<Validator> {
    Some(Validator::valid_string(T::VALUES.iter().copied()))
}

/// As [`enum_validator`], for texts in any case.
#[must_use]
pub fn enum_validator_in_any_case<T: ConfigEnum>() -> Option<Validator> {
    Some(Validator::case_insensitive_valid_string(T::VALUES.iter().copied()))
}

/// For the `ConfigValue` of an enum: the variant of a value.
///
/// # Errors
/// No variant has this text.
pub fn enum_from_parsed<T: ConfigEnum>(key: &str, value: &ParsedValue) -> Result<T, ConfigError> {
    let variant = if let ParsedValue::String(text) = value { T::parse(text) } else { None };
    let allowed = || format!("String must be one of: {}", T::VALUES.join(", "));
    variant.ok_or_else(|| ConfigError::invalid(key, value, &allowed()))
}

/// For the `ConfigValue` of an enum: the text of a variant.
#[must_use]
pub fn enum_render<T: ConfigEnum>(value: &T) -> Option<String> {
    Some(value.name().to_owned())
}

#[cfg(test)]
mod tests;
