//! One case of the conformance vectors, and what our code answered to it.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};
use serde_json::Value as Json;

/// A line of a vector file: an input, and what the class of Apache Kafka did with it.
#[derive(Debug, Deserialize)]
pub struct Case {
    pub id: String,
    pub subject: String,
    #[serde(default)]
    pub class: Option<String>,
    #[serde(default)]
    pub op: Option<String>,
    #[serde(default)]
    pub config: BTreeMap<String, Option<String>>,
    #[serde(default)]
    pub input: Json,
    /// A present null is a result: it is kept apart from an absent member.
    #[serde(default, deserialize_with = "present")]
    pub expected: Option<Json>,
    #[serde(default)]
    pub error: Option<ExpectedError>,
    #[serde(default)]
    pub quirk: Option<String>,
}

fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Json>, D::Error> {
    Json::deserialize(deserializer).map(Some)
}

/// The exception that the class threw.
#[derive(Debug, Deserialize)]
pub struct ExpectedError {
    pub stage: String,
    pub class: String,
    #[serde(default)]
    pub message: Option<String>,
    #[serde(default)]
    pub cause: Option<String>,
}

impl Case {
    /// The operation; empty if the case has none.
    pub fn op(&self) -> &str {
        self.op.as_deref().unwrap_or("")
    }

    /// The class name without its package; empty if the case has none.
    pub fn class(&self) -> &str {
        self.class.as_deref().map_or("", |class| class.rsplit('.').next().unwrap_or(class))
    }
}

/// Whose fault an error is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The configuration is wrong.
    Configuration,
    /// The data is wrong.
    Data,
}

/// What our code answered.
#[derive(Debug)]
pub enum Outcome {
    /// A result, written in the notation.
    Result(Json),
    /// An error: at which stage, of which kind, and its text.
    Error { stage: &'static str, kind: Kind, message: String },
    /// Not tried: the subject, class or operation is not built yet, or the input has no counterpart in Rust.
    Skipped(String),
}

impl Outcome {
    /// Data that was refused while it was worked on.
    #[expect(clippy::needless_pass_by_value, reason = "errors are passed as `map_err` gives them")]
    pub fn data_error(message: impl ToString) -> Self {
        Self::Error { stage: "apply", kind: Kind::Data, message: message.to_string() }
    }

    pub fn skipped(why: impl Into<String>) -> Self {
        Self::Skipped(why.into())
    }
}

/// A kind of case, and who answers it.
pub struct Subject {
    /// The cases' `subject`.
    pub name: &'static str,
    pub run: fn(&Case) -> Outcome,
    /// Whether the texts of configuration errors are compared word for word.
    pub exact_messages: bool,
}

impl ExpectedError {
    /// The kind that the exception stands for; none if it is an accident, to which any clean error is an answer.
    fn kind(&self) -> Option<Kind> {
        let of = |class: &str| match class.rsplit(['.', '$']).next().unwrap_or(class) {
            "ConfigException" | "PatternSyntaxException" => Some(Kind::Configuration),
            "DataException" | "SchemaBuilderException" | "SchemaProjectorException" | "SerializationException" => {
                Some(Kind::Data)
            }
            _ => None,
        };
        match (self.class.ends_with(".ConnectException"), &self.cause) {
            (true, Some(cause)) => of(cause),
            (true, None) => Some(Kind::Data),
            (false, _) => of(&self.class),
        }
    }
}

/// Stages before any record is there.
fn is_configuration(stage: &str) -> bool {
    matches!(stage, "configure" | "config" | "define" | "compile" | "groups" | "parse")
}

/// Why the answer differs from what the case expects; nothing if it does not.
pub fn difference(case: &Case, outcome: &Outcome, exact_messages: bool) -> Option<String> {
    match (&case.error, outcome) {
        (_, Outcome::Skipped(_)) => None,
        (None, Outcome::Result(actual)) => {
            let expected = case.expected.as_ref().unwrap_or(&Json::Null);
            (!super::notation::same(expected, actual)).then(|| format!("expected {expected}\n     got {actual}"))
        }
        (None, Outcome::Error { message, .. }) => {
            let expected = case.expected.as_ref().unwrap_or(&Json::Null);
            Some(format!("expected {expected}\n     got an error: {message}"))
        }
        (Some(error), Outcome::Result(actual)) => {
            Some(format!("expected {}: {:?}\n     got {actual}", error.class, error.message))
        }
        (Some(error), Outcome::Error { stage, kind, message }) => {
            if error.kind().is_some_and(|expected| expected != *kind) {
                return Some(format!("expected {}\n     got an error of kind {kind:?}: {message}", error.class));
            }
            if error.kind().is_some() && is_configuration(&error.stage) != is_configuration(stage) {
                return Some(format!("expected an error at stage {}\n     got one at {stage}: {message}", error.stage));
            }
            match &error.message {
                Some(expected)
                    if exact_messages && error.kind() == Some(Kind::Configuration) && expected != message =>
                {
                    Some(format!("expected the text {expected:?}\n     got {message:?}"))
                }
                _ => None,
            }
        }
    }
}
