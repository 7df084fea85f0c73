//! Values of configuration keys: from text, and back to text.

use super::{ConfigError, ConfigType, Password};
use crate::java::{number_parse, number_text};

/// The value of a key after its text was read.
#[allow(clippy::exhaustive_enums, reason = "one variant for each configuration type, and null; Kafka's set is closed")]
#[derive(Clone, Debug, PartialEq)]
pub enum ParsedValue {
    /// No value: the default of a key that has none, or a null in a JSON request.
    Null,
    /// BOOLEAN.
    Boolean(bool),
    /// STRING.
    String(String),
    /// INT.
    Int(i32),
    /// SHORT.
    Short(i16),
    /// LONG.
    Long(i64),
    /// DOUBLE.
    Double(f64),
    /// LIST.
    List(Vec<String>),
    /// CLASS: the name as it was written.
    Class(String),
    /// PASSWORD.
    Password(Password),
}

impl ParsedValue {
    /// Reads the text of a key by its type. Blanks around the text do not count; null stays null.
    ///
    /// # Errors
    /// The text is no value of this type; the error names key, text and what is expected.
    pub fn parse(key: &str, text: Option<&str>, config_type: ConfigType) -> Result<Self, ConfigError> {
        let Some(text) = text else { return Ok(Self::Null) };
        let trimmed = java_trim(text);
        let not_a_number = |name: &str| ConfigError::invalid_text(key, text, &format!("Not a number of type {name}"));
        Ok(match config_type {
            ConfigType::Boolean if trimmed.eq_ignore_ascii_case("true") => Self::Boolean(true),
            ConfigType::Boolean if trimmed.eq_ignore_ascii_case("false") => Self::Boolean(false),
            ConfigType::Boolean => {
                return Err(ConfigError::invalid_text(key, text, "Expected value to be either true or false"));
            }
            ConfigType::String => Self::String(trimmed.to_owned()),
            ConfigType::Password => Self::Password(Password::new(trimmed)),
            ConfigType::Class if is_class_name(trimmed) => Self::Class(trimmed.to_owned()),
            ConfigType::Class => {
                return Err(ConfigError::invalid_text(key, text, &format!("Class {text} could not be found.")));
            }
            ConfigType::List => Self::List(split_list(trimmed)),
            ConfigType::Int => Self::Int(
                number_parse::parse_long(trimmed)
                    .and_then(|n| i32::try_from(n).ok())
                    .ok_or_else(|| not_a_number("INT"))?,
            ),
            ConfigType::Short => Self::Short(
                number_parse::parse_long(trimmed)
                    .and_then(|n| i16::try_from(n).ok())
                    .ok_or_else(|| not_a_number("SHORT"))?,
            ),
            ConfigType::Long => Self::Long(number_parse::parse_long(trimmed).ok_or_else(|| not_a_number("LONG"))?),
            ConfigType::Double => {
                Self::Double(number_parse::parse_double(trimmed).ok_or_else(|| not_a_number("DOUBLE"))?)
            }
        })
    }

    /// The value as text that reads back as the same value, but for secrets, which are `[hidden]`. `None` for null.
    #[must_use]
    pub fn text(&self) -> Option<String> {
        match self {
            Self::Null => None,
            Self::Boolean(value) => Some(value.to_string()),
            Self::String(value) | Self::Class(value) => Some(value.clone()),
            Self::Int(value) => Some(value.to_string()),
            Self::Short(value) => Some(value.to_string()),
            Self::Long(value) => Some(value.to_string()),
            Self::Double(value) => Some(number_text::double_text(*value)),
            Self::List(items) => Some(items.join(",")),
            Self::Password(_) => Some(Password::HIDDEN.to_owned()),
        }
    }

    /// Whether there is no value.
    #[must_use]
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// The value as it stands in messages: Java's `toString`.
    pub(crate) fn shown(&self) -> String {
        match self {
            Self::Null => "null".to_owned(),
            Self::List(items) => format!("[{}]", items.join(", ")),
            other => other.text().unwrap_or_default(),
        }
    }
}

impl From<&str> for ParsedValue {
    fn from(text: &str) -> Self {
        Self::String(text.to_owned())
    }
}

/// As `String.trim`: characters up to and including the blank.
pub(crate) fn java_trim(text: &str) -> &str {
    text.trim_matches(|c: char| c <= ' ')
}

/// A Java class name, or the name of a linked plugin; whether there is such a class is not known here.
fn is_class_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic() || matches!(c, '_' | '$'))
        && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '.' | '_' | '$' | '-'))
}

/// As Kafka splits at `\s*,\s*`: blanks around a comma go, empty items stay, nothing gives no item.
fn split_list(trimmed: &str) -> Vec<String> {
    if trimmed.is_empty() {
        return Vec::new();
    }
    let blank = |c: char| matches!(c, ' ' | '\t' | '\n' | '\u{b}' | '\u{c}' | '\r');
    let parts: Vec<&str> = trimmed.split(',').collect();
    let last = parts.len() - 1;
    let item = |(i, part): (usize, &&str)| {
        let start = if i == 0 { part } else { part.trim_start_matches(blank) };
        (if i == last { start } else { start.trim_end_matches(blank) }).to_owned()
    };
    parts.iter().enumerate().map(item).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(items: &[&str]) -> ParsedValue {
        ParsedValue::List(items.iter().map(|s| (*s).to_owned()).collect())
    }

    #[test]
    fn a_list_keeps_its_empty_items() {
        for (text, expected) in [
            (" a , b ", list(&["a", "b"])),
            ("a,, b,", list(&["a", "", "b", ""])),
            (" \t", list(&[])),
            (",", list(&["", ""])),
        ] {
            assert_eq!(ParsedValue::parse("k", Some(text), ConfigType::List), Ok(expected), "{text:?}");
        }
    }

    #[test]
    fn what_can_be_no_class_is_refused() {
        for (text, sound) in [("a.b.C$D", true), (" file-lines ", true), ("", false), ("1a", false), ("a,b", false)] {
            assert_eq!(ParsedValue::parse("k", Some(text), ConfigType::Class).is_ok(), sound, "{text:?}");
        }
    }

    #[test]
    fn a_wrong_text_is_shown_as_it_was_written() {
        let error = ParsedValue::parse("port", Some(" x "), ConfigType::Int).unwrap_err();
        assert_eq!(error.message(), "Invalid value  x  for configuration port: Not a number of type INT");
    }

    const TYPES: [ConfigType; 9] = [
        ConfigType::Boolean,
        ConfigType::String,
        ConfigType::Int,
        ConfigType::Short,
        ConfigType::Long,
        ConfigType::Double,
        ConfigType::List,
        ConfigType::Class,
        ConfigType::Password,
    ];

    proptest::proptest! {
        #[test]
        fn what_was_read_reads_back_from_its_text(text in "[ -~\\t\\n\u{660}-\u{669}]{0,12}|[-+]?[0-9]{0,20}[.eEdx]?[0-9]{0,4}") {
            for config_type in TYPES {
                let Ok(value) = ParsedValue::parse("k", Some(&text), config_type) else { continue };
                if let ParsedValue::Password(secret) = &value {
                    proptest::prop_assert_eq!(secret.expose(), java_trim(&text));
                    continue;
                }
                let again = ParsedValue::parse("k", value.text().as_deref(), config_type).unwrap();
                let nan = matches!((&value, &again), (ParsedValue::Double(a), ParsedValue::Double(b)) if a.is_nan() && b.is_nan());
                proptest::prop_assert!(nan || again == value, "{:?} became {:?}", value, again);
            }
        }

        #[test]
        fn no_text_panics(text in ".{0,24}") {
            for config_type in TYPES {
                let _outcome = ParsedValue::parse("k", Some(&text), config_type);
            }
        }
    }
}
