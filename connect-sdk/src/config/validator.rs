//! Checks on single values, with Kafka's message texts.

use std::fmt;
use std::ops::{self, RangeBounds};
use std::sync::Arc;
use std::time::Duration;

use super::{ConfigError, ParsedValue};
use crate::java::number_text::double_text;

/// A limit of a range: an integer, or a floating point number.
#[allow(clippy::exhaustive_enums, reason = "the two kinds of numbers that configuration types have")]
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// For INT, SHORT and LONG.
    Integer(i64),
    /// For DOUBLE.
    Double(f64),
}

impl Bound {
    fn compare(self, value: &ParsedValue) -> Option<std::cmp::Ordering> {
        #[allow(
            clippy::cast_precision_loss,
            reason = "as Java: integers are compared with floating point limits as doubles"
        )]
        let as_double = |n: i64| n as f64;
        let integer = match value {
            ParsedValue::Int(n) => i64::from(*n),
            ParsedValue::Short(n) => i64::from(*n),
            ParsedValue::Long(n) => *n,
            ParsedValue::Double(n) => {
                return n.partial_cmp(&match self {
                    Self::Integer(limit) => as_double(limit),
                    Self::Double(limit) => limit,
                });
            }
            _ => return None,
        };
        match self {
            Self::Integer(limit) => Some(integer.cmp(&limit)),
            Self::Double(limit) => as_double(integer).partial_cmp(&limit),
        }
    }

    /// The greatest limit below this one, for ranges that exclude their end.
    fn before(self) -> Self {
        match self {
            Self::Integer(limit) => Self::Integer(limit.saturating_sub(1)),
            Self::Double(limit) => Self::Double(limit.next_down()),
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(limit) => fmt::Display::fmt(limit, f),
            Self::Double(limit) => f.write_str(&double_text(*limit)),
        }
    }
}

macro_rules! integer_bounds {
    ($($type:ty),+) => {$(
        impl From<$type> for Bound {
            fn from(limit: $type) -> Self {
                Self::Integer(limit.into())
            }
        }
    )+};
}
integer_bounds!(i8, i16, i32, i64, u8, u16, u32);

impl From<u64> for Bound {
    fn from(limit: u64) -> Self {
        Self::Integer(i64::try_from(limit).unwrap_or(i64::MAX))
    }
}

impl From<usize> for Bound {
    fn from(limit: usize) -> Self {
        Self::Integer(i64::try_from(limit).unwrap_or(i64::MAX))
    }
}

/// Durations are configured in milliseconds.
impl From<Duration> for Bound {
    fn from(limit: Duration) -> Self {
        Self::Integer(i64::try_from(limit.as_millis()).unwrap_or(i64::MAX))
    }
}

impl From<f64> for Bound {
    fn from(limit: f64) -> Self {
        Self::Double(limit)
    }
}

/// What a lambda validator runs.
type Check = dyn Fn(&str, &ParsedValue) -> Result<(), ConfigError> + Send + Sync;

#[derive(Clone)]
enum Kind {
    Range { min: Option<Bound>, max: Option<Bound> },
    ValidString(Vec<String>),
    CaseInsensitiveValidString(Vec<String>),
    ValidList { values: Vec<String>, empty_allowed: bool, null_allowed: bool },
    NonNull,
    NonEmptyString,
    NonEmptyStringWithoutControlChars,
    ListSize(usize),
    Composite(Vec<Validator>),
    Lambda { allows: String, check: Arc<Check> },
    OrAbsent { validator: Box<Validator>, absent: fn(&ParsedValue) -> bool },
    Prefixed { prefix: String, validator: Box<Validator> },
}

/// A check on the value of one key; it also says in words what is allowed ([`fmt::Display`]).
///
/// It runs on the default when a key is defined, when a configuration is parsed, and when it is validated; there also
/// on the null of a value that could not be read, as in Kafka.
#[derive(Clone)]
pub struct Validator(Kind);

impl Validator {
    /// A number that is not less than `min`. Null fails.
    pub fn at_least(min: impl Into<Bound>) -> Self {
        Self(Kind::Range { min: Some(min.into()), max: None })
    }

    /// A number between two limits, both included. Null fails.
    pub fn between(min: impl Into<Bound>, max: impl Into<Bound>) -> Self {
        Self(Kind::Range { min: Some(min.into()), max: Some(max.into()) })
    }

    /// A number in a Rust range, such as `1..` or `0.0..=1.0`. Null fails.
    pub fn range<N: Into<Bound> + Copy>(range: impl RangeBounds<N>) -> Self {
        let min = match range.start_bound() {
            ops::Bound::Included(min) | ops::Bound::Excluded(min) => Some((*min).into()),
            ops::Bound::Unbounded => None,
        };
        let max = match range.end_bound() {
            ops::Bound::Included(max) => Some((*max).into()),
            ops::Bound::Excluded(end) => Some((*end).into().before()),
            ops::Bound::Unbounded => None,
        };
        Self(Kind::Range { min, max })
    }

    /// One of these texts, case-sensitive. Null fails.
    pub fn valid_string<S: Into<String>>(values: impl IntoIterator<Item = S>) -> Self {
        Self(Kind::ValidString(values.into_iter().map(Into::into).collect()))
    }

    /// One of these texts in any case. Null fails.
    pub fn case_insensitive_valid_string<S: Into<String>>(values: impl IntoIterator<Item = S>) -> Self {
        Self(Kind::CaseInsensitiveValidString(values.into_iter().map(|v| v.into().to_uppercase()).collect()))
    }

    /// A list of these texts without repetition, empty only if `empty_allowed`. Null fails.
    pub fn valid_list<S: Into<String>>(empty_allowed: bool, values: impl IntoIterator<Item = S>) -> Self {
        let values = values.into_iter().map(Into::into).collect();
        Self(Kind::ValidList { values, empty_allowed, null_allowed: false })
    }

    /// A list of any texts without repetition and without empty items.
    #[must_use]
    pub fn any_non_duplicate_values(empty_allowed: bool, null_allowed: bool) -> Self {
        Self(Kind::ValidList { values: Vec::new(), empty_allowed, null_allowed })
    }

    /// Anything but null.
    #[must_use]
    pub fn non_null() -> Self {
        Self(Kind::NonNull)
    }

    /// A text that is not empty; null passes.
    #[must_use]
    pub fn non_empty_string() -> Self {
        Self(Kind::NonEmptyString)
    }

    /// A text that is not empty and has no control characters; null passes.
    #[must_use]
    pub fn non_empty_string_without_control_chars() -> Self {
        Self(Kind::NonEmptyStringWithoutControlChars)
    }

    /// A list of at most `max` items; null passes.
    #[must_use]
    pub fn list_size(max: usize) -> Self {
        Self(Kind::ListSize(max))
    }

    /// All of these; the first that fails speaks.
    pub fn composite(validators: impl IntoIterator<Item = Self>) -> Self {
        Self(Kind::Composite(validators.into_iter().collect()))
    }

    /// A check of one's own; `allows` says in words what passes.
    pub fn lambda(
        allows: impl Into<String>,
        check: impl Fn(&str, &ParsedValue) -> Result<(), ConfigError> + Send + Sync + 'static,
    ) -> Self {
        Self(Kind::Lambda { allows: allows.into(), check: Arc::new(check) })
    }

    /// Passes null, and checks everything else.
    #[must_use]
    pub fn or_null(self) -> Self {
        self.or_absent(ParsedValue::is_null)
    }

    /// Passes what `absent` says is no value, and checks everything else.
    pub(crate) fn or_absent(self, absent: fn(&ParsedValue) -> bool) -> Self {
        Self(Kind::OrAbsent { validator: Box::new(self), absent })
    }

    /// Sees keys without their prefix, for a definition that is embedded in another one.
    pub(crate) fn prefixed(self, prefix: &str) -> Self {
        Self(Kind::Prefixed { prefix: prefix.to_owned(), validator: Box::new(self) })
    }

    /// Whether parsing removes repeated items before this check, as Kafka does for its list validator.
    pub(crate) fn removes_duplicates(&self) -> bool {
        match &self.0 {
            Kind::ValidList { .. } => true,
            Kind::OrAbsent { validator, .. } => validator.removes_duplicates(),
            _ => false,
        }
    }

    /// Checks a value of `key`.
    ///
    /// # Errors
    /// The value is not allowed; the error says what is.
    pub fn check(&self, key: &str, value: &ParsedValue) -> Result<(), ConfigError> {
        let refuse = |why: &str| Err(ConfigError::invalid(key, value, why));
        match &self.0 {
            Kind::Range { min, max } => {
                if value.is_null() {
                    return refuse("Value must be non-null");
                }
                // Kafka lets NaN pass every range; a limit that a value can slip by is none.
                if matches!(value, ParsedValue::Double(n) if n.is_nan()) {
                    return refuse("Value must be a number");
                }
                if let Some(min) = min.filter(|min| min.compare(value) == Some(std::cmp::Ordering::Less)) {
                    return refuse(&format!("Value must be at least {min}"));
                }
                if let Some(max) = max.filter(|max| max.compare(value) == Some(std::cmp::Ordering::Greater)) {
                    return refuse(&format!("Value must be no more than {max}"));
                }
            }
            Kind::ValidString(values) => {
                if !matches!(value, ParsedValue::String(text) if values.contains(text)) {
                    return refuse(&format!("String must be one of: {}", values.join(", ")));
                }
            }
            Kind::CaseInsensitiveValidString(values) => {
                if !matches!(value, ParsedValue::String(text) if values.contains(&text.to_uppercase())) {
                    return refuse(&format!("String must be one of (case insensitive): {}", values.join(", ")));
                }
            }
            Kind::ValidList { values, empty_allowed, null_allowed } => {
                return check_list(key, value, values, *empty_allowed, *null_allowed);
            }
            Kind::NonNull => {
                if value.is_null() {
                    return refuse("entry must be non null");
                }
            }
            Kind::NonEmptyString => {
                if matches!(value, ParsedValue::String(text) if text.is_empty()) {
                    return refuse("String must be non-empty");
                }
            }
            Kind::NonEmptyStringWithoutControlChars => {
                if let ParsedValue::String(text) = value {
                    if text.is_empty() {
                        return refuse("String may not be empty");
                    }
                    let codes: Vec<String> =
                        text.chars().filter(|c| c.is_control()).map(|c| u32::from(c).to_string()).collect();
                    if !codes.is_empty() {
                        return refuse(&format!(
                            "String may not contain control sequences but had the following ASCII chars: {}",
                            codes.join(", ")
                        ));
                    }
                }
            }
            Kind::ListSize(max) => {
                if matches!(value, ParsedValue::List(items) if items.len() > *max) {
                    return refuse(&format!("exceeds maximum list size of [{max}]."));
                }
            }
            Kind::Composite(validators) => return validators.iter().try_for_each(|v| v.check(key, value)),
            Kind::Lambda { check, .. } => return check(key, value),
            Kind::OrAbsent { validator, absent } => {
                return if absent(value) { Ok(()) } else { validator.check(key, value) };
            }
            Kind::Prefixed { prefix, validator } => {
                let bare = key.strip_prefix(prefix.as_str()).unwrap_or(key);
                return validator.check(bare, value).map_err(|error| error.under(key));
            }
        }
        Ok(())
    }
}

/// Kafka's `ValidList`, whose messages have a form of their own.
fn check_list(
    key: &str,
    value: &ParsedValue,
    allowed: &[String],
    empty_allowed: bool,
    null_allowed: bool,
) -> Result<(), ConfigError> {
    let refuse = |text: String| Err(ConfigError::on(key, format!("Configuration '{key}' {text}")));
    let ParsedValue::List(items) = value else {
        return if null_allowed { Ok(()) } else { refuse("values must not be null.".to_owned()) };
    };
    if items.is_empty() && !empty_allowed {
        let choice =
            if allowed.is_empty() { "any non-empty value".to_owned() } else { format!("[{}]", allowed.join(", ")) };
        return refuse(format!("must not be empty. Valid values include: {choice}"));
    }
    if items.iter().enumerate().any(|(i, item)| items[..i].contains(item)) {
        return refuse("values must not be duplicated.".to_owned());
    }
    for item in items {
        if item.is_empty() {
            return refuse("values must not be empty.".to_owned());
        }
        if !allowed.is_empty() && !allowed.contains(item) {
            let why = format!("String must be one of: {}", allowed.join(", "));
            return Err(ConfigError::invalid_text(key, item, &why));
        }
    }
    Ok(())
}

impl fmt::Display for Validator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Range { min: None, max: None } => f.write_str("[...]"),
            Kind::Range { min: Some(min), max: None } => write!(f, "[{min},...]"),
            Kind::Range { min: None, max: Some(max) } => write!(f, "[...,{max}]"),
            Kind::Range { min: Some(min), max: Some(max) } => write!(f, "[{min},...,{max}]"),
            Kind::ValidString(values) => write!(f, "[{}]", values.join(", ")),
            Kind::CaseInsensitiveValidString(values) => write!(f, "(case insensitive) [{}]", values.join(", ")),
            Kind::ValidList { values, empty_allowed, .. } => match (values.is_empty(), empty_allowed) {
                (true, true) => f.write_str("any non-duplicate values"),
                (true, false) => f.write_str("any non-duplicate values, at least one"),
                (false, true) => write!(f, "[{}] (may be empty)", values.join(", ")),
                (false, false) => write!(f, "[{}]", values.join(", ")),
            },
            Kind::NonNull => f.write_str("non-null value"),
            Kind::NonEmptyString => f.write_str("non-empty string"),
            Kind::NonEmptyStringWithoutControlChars => f.write_str("non-empty string without ISO control characters"),
            Kind::ListSize(max) => write!(f, "list of at most {max} items"),
            Kind::Composite(validators) => {
                for (i, validator) in validators.iter().enumerate() {
                    write!(f, "{}{validator}", if i == 0 { "" } else { ", " })?;
                }
                Ok(())
            }
            Kind::Lambda { allows, .. } => f.write_str(allows),
            Kind::OrAbsent { validator, .. } => write!(f, "null or {validator}"),
            Kind::Prefixed { validator, .. } => fmt::Display::fmt(validator, f),
        }
    }
}

impl fmt::Debug for Validator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Validator({self})")
    }
}
