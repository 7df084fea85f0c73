//! What the derives implement for a connector author: a configuration struct, the types of its fields, and enums.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use super::derive_support::{Derived, Role, Sealed};
use super::{ConfigDef, ConfigError, ConfigErrors, ConfigType, ParsedValue, Password, Validator};
use crate::data::Text;
use crate::java::regex::JavaRegex;

/// The configuration of a connector, a transformation, a predicate or a converter: plain values, read from its
/// properties.
///
/// Implemented by `#[derive(ConnectorConfig)]`, and by `()` for what has no keys. The worker calls
/// [`ConnectorConfig::config_def`] to describe and validate configurations, and [`ConnectorConfig::from_properties`]
/// whenever the connector or one of its tasks starts.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the configuration of a connector",
    label = "needs `#[derive(ConnectorConfig)]`, on a struct of your own",
    note = "what has no settings has a struct without fields, or `()`"
)]
pub trait ConnectorConfig: Sized + Send + Sync + 'static {
    /// The keys, with their types, defaults, checks and documentation.
    fn config_def() -> ConfigDef;

    /// Reads the values. Keys that the struct does not have are left alone.
    ///
    /// # Errors
    /// Everything that is wrong, not only the first thing.
    fn from_properties(properties: &BTreeMap<String, String>) -> Result<Self, ConfigErrors>;

    /// Only the derive implements this trait: it admits plain values only, so that no state can ride in a
    /// configuration from a commit hook to its source.
    #[doc(hidden)]
    fn __derived() -> Derived;

    /// What the keys were checked for.
    #[doc(hidden)]
    const __ROLE: Role = Role::Connector;

    /// The keys, without those whose type adds a unit.
    #[doc(hidden)]
    const __KEYS: &'static [&'static str] = &[];
}

/// No keys.
impl ConnectorConfig for () {
    fn config_def() -> ConfigDef {
        ConfigDef::new()
    }

    fn from_properties(_: &BTreeMap<String, String>) -> Result<Self, ConfigErrors> {
        Ok(())
    }

    fn __derived() -> Derived {
        Derived::new()
    }
}

/// A type that a field of a connector's configuration can have.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be read from a connector configuration",
    label = "not a type of configuration values",
    note = "use `String`, `Text`, `bool`, `i16`, `i32`, `i64`, `u16`, `u32`, `u64`, `usize`, `f64`, `PathBuf`, `Duration` \
            (milliseconds), `JavaRegex`, `Vec<String>`, `Vec<Text>`, `Vec<PathBuf>`, `Password`, a \
            `#[derive(ConfigEnum)]` enum, or `Option` of one"
)]
pub trait ConfigValue: Sized + Send + Sync + 'static {
    /// What the names of keys of this type end with, to tell the unit; the derive adds it where it is missing.
    const KEY_SUFFIX: &'static str = "";

    /// Whether a key of this type may be unset without a default.
    const OPTIONAL: bool = false;

    /// How the text of the key is read.
    fn config_type() -> ConfigType;

    /// The check that comes with the type, such as the range of a `u16`.
    #[must_use]
    fn validator() -> Option<Validator> {
        None
    }

    /// Takes the value out of a configuration that was read.
    ///
    /// # Errors
    /// The value does not fit the type.
    fn from_parsed(key: &str, value: &ParsedValue) -> Result<Self, ConfigError>;

    /// The value as text that reads back as the same value; `None` for an absent one. Used for defaults.
    fn render(&self) -> Option<String>;

    /// Whether the value counts as unset for a field that is an `Option` of this type.
    #[doc(hidden)]
    fn absent(value: &ParsedValue) -> bool {
        value.is_null()
    }

    /// Only this crate and `#[derive(ConfigEnum)]` implement this trait.
    #[doc(hidden)]
    fn __sealed() -> Sealed;
}

/// An enum whose variants are the values that a key may have.
///
/// Implemented by `#[derive(ConfigEnum)]`, for enums whose variants have no fields.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a set of configuration values",
    label = "needs `#[derive(ConfigEnum)]`"
)]
pub trait ConfigEnum: ConfigValue {
    /// The texts of the variants, in the order of their declaration.
    const VALUES: &'static [&'static str];

    /// The variant with this text.
    fn parse(text: &str) -> Option<Self>;

    /// The text of this variant.
    fn name(&self) -> &'static str;
}

/// The value is of another type than the definition says, or null where the definition lets none through.
fn unfit(key: &str, value: &ParsedValue, expected: &str) -> ConfigError {
    ConfigError::invalid(key, value, &format!("expected {expected}"))
}

macro_rules! config_values {
    ($($type:ty: $config_type:ident, $expected:literal, $pattern:pat => $value:expr, $self_:ident => $render:expr;)+) => {$(
        impl ConfigValue for $type {
            fn config_type() -> ConfigType {
                ConfigType::$config_type
            }
            fn from_parsed(key: &str, value: &ParsedValue) -> Result<Self, ConfigError> {
                if let $pattern = value { Ok($value) } else { Err(unfit(key, value, $expected)) }
            }
            fn render(&self) -> Option<String> {
                let $self_ = self;
                $render
            }
            fn __sealed() -> Sealed {
                Sealed::new()
            }
        }
    )+};
}
config_values! {
    String: String, "a text", ParsedValue::String(text) => text.clone(), value => Some(value.clone());
    Text: String, "a text", ParsedValue::String(text) => text.into(), value => Some(value.to_string());
    bool: Boolean, "true or false", ParsedValue::Boolean(flag) => *flag, value => Some(value.to_string());
    i16: Short, "a number", ParsedValue::Short(number) => *number, value => Some(value.to_string());
    i32: Int, "a number", ParsedValue::Int(number) => *number, value => Some(value.to_string());
    i64: Long, "a number", ParsedValue::Long(number) => *number, value => Some(value.to_string());
    f64: Double, "a number", ParsedValue::Double(number) => *number, value => ParsedValue::Double(*value).text();
    Password: Password, "a secret", ParsedValue::Password(secret) => secret.clone(),
        value => Some(value.expose().to_owned());
    Vec<String>: List, "a list", ParsedValue::List(items) => items.clone(), value => Some(value.join(","));
    Vec<Text>: List, "a list", ParsedValue::List(items) => items.iter().map(Text::from).collect(),
        value => Some(value.iter().map(Text::as_str).collect::<Vec<_>>().join(","));
    Vec<PathBuf>: List, "a list of paths", ParsedValue::List(items) => items.iter().map(PathBuf::from).collect(),
        value => Some(value.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(","));
}

macro_rules! unsigned_config_values {
    ($($type:ty: $config_type:ident, $max:expr;)+) => {$(
        impl ConfigValue for $type {
            fn config_type() -> ConfigType {
                ConfigType::$config_type
            }
            fn validator() -> Option<Validator> {
                Some(Validator::between(0, $max))
            }
            fn from_parsed(key: &str, value: &ParsedValue) -> Result<Self, ConfigError> {
                let number = match value {
                    ParsedValue::Int(number) => Self::try_from(*number).ok(),
                    ParsedValue::Long(number) => Self::try_from(*number).ok(),
                    _ => None,
                };
                number.ok_or_else(|| unfit(key, value, concat!("a number that fits `", stringify!($type), "`")))
            }
            fn render(&self) -> Option<String> {
                Some(self.to_string())
            }
            fn __sealed() -> Sealed {
                Sealed::new()
            }
        }
    )+};
}
unsigned_config_values! {
    u16: Int, u16::MAX;
    u32: Long, u32::MAX;
    u64: Long, i64::MAX;
    usize: Long, usize::MAX;
}

impl ConfigValue for PathBuf {
    fn config_type() -> ConfigType {
        ConfigType::String
    }
    fn validator() -> Option<Validator> {
        Some(Validator::non_empty_string())
    }
    fn from_parsed(key: &str, value: &ParsedValue) -> Result<Self, ConfigError> {
        if let ParsedValue::String(text) = value { Ok(text.into()) } else { Err(unfit(key, value, "a path")) }
    }
    fn render(&self) -> Option<String> {
        Some(self.display().to_string())
    }
    fn absent(value: &ParsedValue) -> bool {
        // An empty path names nothing: a key that is left blank is a key that is not set.
        value.is_null() || matches!(value, ParsedValue::String(text) if text.is_empty())
    }
    fn __sealed() -> Sealed {
        Sealed::new()
    }
}

impl ConfigValue for JavaRegex {
    fn config_type() -> ConfigType {
        ConfigType::String
    }
    fn validator() -> Option<Validator> {
        Some(Validator::lambda("valid regex", |key, value| match value {
            ParsedValue::String(pattern) => compiled(key, pattern).map(drop),
            // That it is missing is said elsewhere.
            _ => Ok(()),
        }))
    }
    fn from_parsed(key: &str, value: &ParsedValue) -> Result<Self, ConfigError> {
        let ParsedValue::String(pattern) = value else { return Err(unfit(key, value, "a regular expression")) };
        compiled(key, pattern)
    }
    fn render(&self) -> Option<String> {
        Some(self.pattern().to_owned())
    }
    fn __sealed() -> Sealed {
        Sealed::new()
    }
}

fn compiled(key: &str, pattern: &str) -> Result<JavaRegex, ConfigError> {
    JavaRegex::new(pattern).map_err(|error| ConfigError::invalid_text(key, pattern, &format!("Invalid regex: {error}")))
}

impl ConfigValue for Duration {
    const KEY_SUFFIX: &'static str = ".ms";

    fn config_type() -> ConfigType {
        ConfigType::Long
    }
    fn validator() -> Option<Validator> {
        Some(Validator::at_least(0))
    }
    fn from_parsed(key: &str, value: &ParsedValue) -> Result<Self, ConfigError> {
        let millis = if let ParsedValue::Long(millis) = value { u64::try_from(*millis).ok() } else { None };
        millis.map(Self::from_millis).ok_or_else(|| unfit(key, value, "milliseconds"))
    }
    fn render(&self) -> Option<String> {
        Some(self.as_millis().to_string())
    }
    fn __sealed() -> Sealed {
        Sealed::new()
    }
}

impl<T: ConfigValue> ConfigValue for Option<T> {
    const KEY_SUFFIX: &'static str = T::KEY_SUFFIX;
    const OPTIONAL: bool = true;

    fn config_type() -> ConfigType {
        T::config_type()
    }
    fn validator() -> Option<Validator> {
        T::validator().map(|validator| validator.or_absent(T::absent))
    }
    fn from_parsed(key: &str, value: &ParsedValue) -> Result<Self, ConfigError> {
        if T::absent(value) { Ok(None) } else { T::from_parsed(key, value).map(Some) }
    }
    fn render(&self) -> Option<String> {
        self.as_ref().and_then(T::render)
    }
    fn __sealed() -> Sealed {
        Sealed::new()
    }
}
