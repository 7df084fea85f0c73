//! Paths to fields: `field.syntax.version` V1 is one name, dots and all; V2 leads into nested structs and maps.

use super::shape::expect_map;
use connect_sdk::config::ConfigEnum;
use connect_sdk::data::{DataError, Field, Map, Schema, Struct, Text, Type, Value};

const PURPOSE: &str = "nested field access";

/// How fields are named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ConfigEnum)]
#[config(case_insensitive, rename_all = "UPPERCASE")]
pub(super) enum Syntax {
    /// By their name.
    V1,
    /// By a path.
    V2,
}

/// A path to a field.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FieldPath {
    text: Text,
    before: Vec<Text>,
    last: Text,
}

impl FieldPath {
    /// A field of the outermost level: the whole text is its name.
    pub(super) fn v1(text: &str) -> Self {
        Self { text: text.into(), before: Vec::new(), last: text.into() }
    }

    /// A path of names between dots. A name in backticks may contain dots; it ends at a backtick before a dot or at the
    /// end, unless a backslash stands before it.
    ///
    /// # Errors
    /// The path is empty, or a backtick is not closed.
    pub(super) fn v2(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Err("The path to the field is empty".to_owned());
        }
        let mut steps: Vec<Text> = Vec::new();
        let mut at = 0;
        while at < text.len() {
            let rest = &text[at..];
            if let Some(quoted) = rest.strip_prefix('`') {
                let (name, used) = backticked(quoted).ok_or_else(|| {
                    format!(
                        "Incomplete backtick pair in path: [{text}], consider adding a backslash before backtick at \
                         position {at} to escape it"
                    )
                })?;
                steps.push(name.into());
                at += 1 + used;
            } else {
                let end = rest.find('.').unwrap_or(rest.len());
                steps.push(rest[..end].into());
                at += end + 1;
            }
        }
        // Behind the last dot stands a field without a name.
        if text.ends_with('.') {
            steps.push(Text::new());
        }
        let last = steps.pop().unwrap_or_default();
        Ok(Self { text: text.into(), before: steps, last })
    }

    /// The path as it was written.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The field of a schema; none if there is no such field.
    ///
    /// # Errors
    /// Something on the way is no struct.
    pub(super) fn field_of<'s>(&self, schema: &'s Schema) -> Result<Option<&'s Field>, DataError> {
        let mut current = schema;
        for step in self.before.iter().chain([&self.last]) {
            if current.kind() != Type::Struct {
                return Err(DataError::new(format!(
                    "Cannot look up fields on non-struct type: there is no field `{step}` of `{}` in {current}",
                    self.text
                )));
            }
            let Some(field) = current.field(step) else { return Ok(None) };
            if std::ptr::eq(step, &self.last) {
                return Ok(Some(field));
            }
            current = field.schema();
        }
        Ok(None)
    }

    /// Moves the field out of a struct; on the way null fields are read as their defaults.
    pub(super) fn take_from_struct(&self, mut value: Struct, replace_null: bool) -> Option<Value> {
        for step in &self.before {
            match take(&mut value, step, true)? {
                Value::Struct(inner) => value = inner,
                _ => return None,
            }
        }
        take(&mut value, &self.last, replace_null)
    }

    /// Moves the field out of a map; null if there is none.
    ///
    /// # Errors
    /// Something on the way is no map.
    pub(super) fn take_from_map(&self, mut map: Map) -> Result<Option<Value>, DataError> {
        for step in &self.before {
            match take_entry(&mut map, step) {
                None => return Ok(None),
                inner => map = expect_map(inner, PURPOSE).map_err(|error| error.in_field(step))?,
            }
        }
        Ok(take_entry(&mut map, &self.last))
    }
}

fn take(value: &mut Struct, name: &str, replace_null: bool) -> Option<Value> {
    let schema = value.schema().clone();
    let field = schema.field(name)?;
    let default = || if replace_null { field.schema().default().cloned() } else { None };
    value.take_values().take(field.index()).or_else(default)
}

fn take_entry(map: &mut Map, name: &str) -> Option<Value> {
    // The map is given up: to leave a null behind is cheaper than to close the gap.
    map.get_str_mut(name).and_then(Option::take)
}

/// A name up to its closing backtick, and how many bytes it and the dot behind it take.
fn backticked(text: &str) -> Option<(String, usize)> {
    let mut name = String::new();
    let mut start = 0;
    let mut from = 0;
    loop {
        let at = from + text[from..].find('`')?;
        let escaped = text[..at].ends_with('\\');
        from = at + 1;
        match text.as_bytes().get(from) {
            None if escaped => return None,
            Some(b'.') if escaped => {
                name.push_str(&text[start..at - 1]);
                name.push('`');
                start = from;
            }
            None | Some(b'.') => {
                name.push_str(&text[start..at]);
                return Some((name, at + 2));
            }
            // A backtick within the name.
            Some(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(text: &str) -> Result<Vec<String>, String> {
        let path = FieldPath::v2(text)?;
        Ok(path.before.iter().chain([&path.last]).map(|step| step.as_str().to_owned()).collect())
    }

    // What Kafka's SingleFieldPath makes of them.
    #[test]
    fn paths_are_taken_apart_as_kafka_does() {
        for (text, expected) in [
            ("a", &["a"][..]),
            ("a.b.c", &["a", "b", "c"]),
            ("a..b", &["a", "", "b"]),
            ("a.", &["a", ""]),
            (".", &["", ""]),
            ("`a.b`.c", &["a.b", "c"]),
            ("a.`b.c`", &["a", "b.c"]),
            ("`a`b`", &["a`b"]),
            ("`a\\`.b`.c", &["a`.b", "c"]),
            ("a`b.c", &["a`b", "c"]),
            ("``", &[""]),
            ("``.a", &["", "a"]),
            ("`a`.", &["a", ""]),
            ("\u{e9}.`\u{e9}.x`", &["\u{e9}", "\u{e9}.x"]),
        ] {
            assert_eq!(steps(text).unwrap(), expected, "{text}");
        }
        for text in ["`a.b", "`", "a.`b", "`a\\`", ""] {
            steps(text).unwrap_err();
        }
        assert!(steps("a.`b").unwrap_err().contains("backtick at position 2"));
    }
}
