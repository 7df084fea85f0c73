//! Text to values, as `SimpleHeaderConverter` reads headers.

use super::number::{Number, digit_value};
use super::temporal::{TIME_LENGTH, TIMESTAMP_LENGTH, parse_temporal};
use super::{convert_to_date, convert_to_time, convert_to_timestamp};
use crate::data::projector::{rank, widen};
use crate::data::{LogicalType, Map, Schema, SchemaAndValue, Text, Type, Value};
use crate::java::number_text::float_text;

/// How deep lists and maps in a text are nested at most; what is deeper stays text.
pub const NESTING_MAX: usize = 200;

/// Reads a text as the value that it looks like, together with its schema.
///
/// * `null` is neither schema nor value; `true` and `false` are truth values.
/// * A number has the smallest integer type that holds it; with a fraction or a large exponent it is a `FLOAT32` if it
///   is the same number there, else a `FLOAT64`; beyond that a `Decimal`.
/// * `2019-08-23`, `14:34:54.346Z` and `2019-08-23T14:34:54.346Z` are a `Date`, a `Time` and a `Timestamp`.
/// * `[1,"a"]` is a list and `{"k":1}` a map; text in them stands in quotes, in which `\"` and `\\` stand for `"` and
///   `\`. Numbers of one list have one type, the widest. A list whose elements have no common type has no element
///   schema, and a map no schema at all.
/// * Everything else, and what has anything behind it, is the text itself, unchanged.
///
/// ```
/// use connect_sdk::data::{Schema, Value, values};
/// let parsed = values::parse_string("007");
/// assert_eq!((parsed.schema, parsed.value), (Some(Schema::int8()), Some(Value::from(7i8))));
/// assert_eq!(values::parse_string("1,2,3").value, Some(Value::from("1,2,3")));
/// ```
#[must_use]
pub fn parse_string(text: &str) -> SchemaAndValue {
    parse_whole(text).unwrap_or_else(|| typed(Schema::string(), Value::from(text)))
}

/// As [`parse_string`]; what stays text shares the buffer.
#[must_use]
pub fn parse_text(text: &Text) -> SchemaAndValue {
    parse_whole(text).unwrap_or_else(|| typed(Schema::string(), Value::String(text.clone())))
}

fn typed(schema: Schema, value: Value) -> SchemaAndValue {
    SchemaAndValue::new(Some(schema), Some(value))
}

/// What the text is, unless it is just text.
fn parse_whole(text: &str) -> Option<SchemaAndValue> {
    let token = trim(text);
    if token.starts_with(['[', '{']) {
        let mut parser = Parser { rest: token, depth: 0 };
        let parsed = parser.parse_part()?;
        return parser.rest.is_empty().then_some(parsed);
    }
    if let Some(literal) = parse_literal(token) {
        return Some(literal);
    }
    // A time that a blank follows is text: it ends in a part that is not `Z`.
    parse_scalar(if token.contains(':') { text.trim_start_matches(is_blank) } else { token })
}

/// Java's `trim`: everything up to the blank.
fn is_blank(char: char) -> bool {
    char <= ' '
}

fn trim(text: &str) -> &str {
    text.trim_matches(is_blank)
}

fn parse_literal(token: &str) -> Option<SchemaAndValue> {
    match token {
        "null" => Some(SchemaAndValue::NULL),
        "true" => Some(typed(Schema::boolean(), true.into())),
        "false" => Some(typed(Schema::boolean(), false.into())),
        _ => None,
    }
}

/// A number, date, time or instant.
fn parse_scalar(token: &str) -> Option<SchemaAndValue> {
    let first = token.chars().next()?;
    if digit_value(first).is_some()
        && let Some(temporal) = parse_typed_temporal(token)
    {
        return Some(temporal);
    }
    if !matches!(first, '+' | '-') && digit_value(first).is_none() {
        return None;
    }
    Number::parse(token).map(|number| type_number(&number))
}

fn parse_typed_temporal(text: &str) -> Option<SchemaAndValue> {
    let value = parse_temporal(text)?;
    let schema = match value {
        Value::Date(_) => Schema::date(),
        Value::Time(_) => Schema::time(),
        _ => Schema::timestamp(),
    };
    Some(typed(schema, value))
}

fn type_number(number: &Number) -> SchemaAndValue {
    if let Some(integer) = number.exact_integer() {
        return smallest(integer);
    }
    if number.scale() != 0 {
        let single = number.to_f32();
        if single.is_finite() && same_number(&float_text(single), number) {
            return typed(Schema::float32(), single.into());
        }
        let double = number.to_f64();
        // A number so small that nothing would be left of it stays what it is, like one that is too large.
        if double.is_finite() && double != 0.0 {
            return typed(Schema::float64(), double.into());
        }
    }
    typed(Schema::decimal(number.scale()), number.to_decimal().into())
}

fn same_number(text: &str, number: &Number) -> bool {
    Number::parse(text).is_some_and(|read| read.equals(number))
}

fn smallest(integer: i64) -> SchemaAndValue {
    if let Ok(number) = i8::try_from(integer) {
        typed(Schema::int8(), number.into())
    } else if let Ok(number) = i16::try_from(integer) {
        typed(Schema::int16(), number.into())
    } else if let Ok(number) = i32::try_from(integer) {
        typed(Schema::int32(), number.into())
    } else {
        typed(Schema::int64(), integer.into())
    }
}

/// Reads lists and maps; nothing means that the whole text is just text.
struct Parser<'a> {
    rest: &'a str,
    depth: usize,
}

const DELIMITERS: [char; 7] = [':', ',', '{', '}', '[', ']', '"'];

impl<'a> Parser<'a> {
    /// Takes a delimiter, and the blanks before it, if it comes next.
    fn take(&mut self, delimiter: char) -> bool {
        match self.rest.trim_start_matches(is_blank).strip_prefix(delimiter) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// Takes everything up to the next delimiter that no backslash stands before.
    fn take_token(&mut self) -> &'a str {
        let mut escaped = false;
        let end = self.rest.char_indices().find(|&(_, char)| {
            let ends = !escaped && DELIMITERS.contains(&char);
            escaped = char == '\\' && !escaped;
            ends
        });
        let (token, rest) = self.rest.split_at(end.map_or(self.rest.len(), |(at, _)| at));
        self.rest = rest;
        token
    }

    fn parse_part(&mut self) -> Option<SchemaAndValue> {
        if self.take('"') {
            return self.parse_quoted();
        }
        if self.take('[') {
            return self.nested(Self::parse_list);
        }
        if self.take('{') {
            return self.nested(Self::parse_map);
        }
        self.rest = self.rest.trim_start_matches(is_blank);
        if let Some(temporal) = self.parse_time_with_colons() {
            return Some(temporal);
        }
        let token = trim(self.take_token());
        parse_literal(token).or_else(|| parse_scalar(token))
    }

    fn nested(&mut self, parse: fn(&mut Self) -> Option<SchemaAndValue>) -> Option<SchemaAndValue> {
        self.depth += 1;
        let parsed = if self.depth > NESTING_MAX { None } else { parse(self) };
        self.depth -= 1;
        parsed
    }

    /// A time of day or an instant that nothing but a delimiter follows.
    fn parse_time_with_colons(&mut self) -> Option<SchemaAndValue> {
        let (token, rest) = [TIMESTAMP_LENGTH, TIME_LENGTH].into_iter().find_map(|length| {
            let (token, rest) = self.rest.split_at_checked(length)?;
            let ends = rest.is_empty() || rest.starts_with(DELIMITERS);
            Some((parse_typed_temporal(token).filter(|_| ends)?, rest))
        })?;
        self.rest = rest;
        Some(token)
    }

    /// What stands in quotes: text, or a date or time.
    fn parse_quoted(&mut self) -> Option<SchemaAndValue> {
        let mut escaped = false;
        let (end, _) = self.rest.char_indices().find(|&(_, char)| {
            let ends = char == '"' && !escaped;
            escaped = char == '\\' && !escaped;
            ends
        })?;
        let content = &self.rest[..end];
        self.rest = &self.rest[end + 1..];
        Some(parse_typed_temporal(content).unwrap_or_else(|| typed(Schema::string(), unescape(content).into())))
    }

    fn parse_list(&mut self) -> Option<SchemaAndValue> {
        let mut elements = Vec::new();
        let mut common = Common::default();
        while !self.take(']') {
            let element = self.parse_part()?;
            common.merge(&element);
            elements.push(element.value);
            if !self.take(',') && !self.rest.trim_start_matches(is_blank).starts_with(']') {
                return None;
            }
        }
        let schema = common.align(&mut elements)?;
        Some(typed(Schema::loose(Type::Array, None, schema), Value::array(elements)))
    }

    fn parse_map(&mut self) -> Option<SchemaAndValue> {
        let (mut keys, mut values) = (Vec::new(), Vec::new());
        let (mut common_key, mut common) = (Common::default(), Common::default());
        while !self.take('}') {
            let key = self.parse_part()?;
            key.value.as_ref()?;
            if !self.take(':') {
                return None;
            }
            let value = self.parse_part()?;
            common_key.merge(&key);
            common.merge(&value);
            keys.push(key.value);
            values.push(value.value);
            // As in Java, the comma may be left out.
            let _: bool = self.take(',');
        }
        let key_schema = common_key.align(&mut keys)?;
        // As Java: where the keys have nothing in common, the values are left as they are.
        let schema = if common_key.mixed { None } else { common.align(&mut values)? };
        let map: Map = keys.into_iter().zip(values).collect();
        // A map of which only a part has a schema has none.
        let mixed = common_key.mixed || common.mixed;
        let schema = (!mixed).then(|| Schema::loose(Type::Map, key_schema, schema));
        Some(SchemaAndValue::new(schema, Some(map.into())))
    }
}

/// `\"` and `\\` stand for the second character; any other backslash for itself.
fn unescape(content: &str) -> String {
    let mut out = String::with_capacity(content.len());
    let mut chars = content.chars().peekable();
    while let Some(char) = chars.next() {
        match chars.peek() {
            Some(&next @ ('"' | '\\')) if char == '\\' => {
                out.push(next);
                chars.next();
            }
            _ => out.push(char),
        }
    }
    out
}

/// The schema that all elements of a list, or all keys or values of a map, can have.
#[derive(Default)]
struct Common {
    schema: Option<Schema>,
    mixed: bool,
}

impl Common {
    /// As Java: of two numbers the wider schema, of two equal types the later one; nulls do not count.
    fn merge(&mut self, part: &SchemaAndValue) {
        if part.value.is_none() || self.mixed {
            return;
        }
        let (next, known) = match (&part.schema, &self.schema) {
            (None, _) => {
                self.mixed = true;
                return;
            }
            (Some(next), None) => {
                self.schema = Some(next.clone());
                return;
            }
            (Some(next), Some(known)) => (next, known),
        };
        let day_or_time = |schema: &Schema| matches!(schema.logical(), Some(LogicalType::Date | LogicalType::Time));
        let later = match (rank(known.kind()), rank(next.kind())) {
            // A day and a time of day have nothing in common but the integer below.
            _ if day_or_time(known) && day_or_time(next) && known.logical() != next.logical() => None,
            (Some(known), Some(next)) => Some(next >= known),
            _ => (known.kind() == next.kind()).then_some(true),
        };
        match later {
            None => self.mixed = true,
            Some(true) => self.schema = Some(next.clone()),
            Some(false) => {}
        }
    }

    /// Gives all parts the common schema, which is returned if there is one. Nothing means that a part cannot have it,
    /// because it is null or a date: then the whole text is just text.
    fn align(&mut self, parts: &mut [Option<Value>]) -> Option<Option<Schema>> {
        let exact = |kind: Type| parts.iter().flatten().all(|part| is_exact(part, kind));
        match self.schema.as_ref().filter(|schema| schema.logical().is_none()).map(Schema::kind) {
            Some(Type::Float32) if !exact(Type::Float32) && exact(Type::Float64) => {
                self.schema = Some(Schema::float64())
            }
            Some(kind @ (Type::Float32 | Type::Float64)) if !exact(kind) => self.mixed = true,
            _ => {}
        }
        if self.mixed {
            return Some(None);
        }
        let Some(schema) = &self.schema else { return Some(None) };
        for part in parts {
            *part = Some(align_one(part.as_ref()?, schema)?);
        }
        Some(Some(schema.clone()))
    }
}

/// Whether an integer is the same number as a floating point number of this type; other values are not looked at.
fn is_exact(value: &Value, kind: Type) -> bool {
    let digits = if kind == Type::Float32 { f32::MANTISSA_DIGITS } else { f64::MANTISSA_DIGITS };
    value.as_i64().is_none_or(|integer| {
        let magnitude = integer.unsigned_abs();
        magnitude == 0 || magnitude.ilog2() - magnitude.trailing_zeros() < digits
    })
}

fn align_one(value: &Value, schema: &Schema) -> Option<Value> {
    match (schema.logical(), value) {
        (Some(LogicalType::Date), value) => convert_to_date(Some(value)).ok().map(Value::from),
        (Some(LogicalType::Time), value) => convert_to_time(Some(value)).ok().map(Value::from),
        (Some(LogicalType::Timestamp), value) => convert_to_timestamp(Some(value)).ok().map(Value::from),
        (None, Value::Date(_) | Value::Time(_) | Value::Timestamp(_)) => None,
        // The digits that were written, not those that a 32-bit number would get at the end.
        (None, Value::Float32(number)) if schema.kind() == Type::Float64 => {
            float_text(*number).parse::<f64>().ok().map(Value::from)
        }
        (_, value) => widen(value, schema.kind()),
    }
}

#[cfg(test)]
mod tests;
