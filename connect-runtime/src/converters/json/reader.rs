//! From JSON to values: with a schema, which every part must fit, or without one.
//!
//! The open lists and objects stand in a vector, not on the stack, so that the depth of a text cannot exhaust it.

use std::cell::Cell;

use bytes::Bytes;
use connect_sdk::data::{
    DataError, Date, Decimal, LogicalType, Map, Schema, Struct, Text, Time, Timestamp, Type, Value,
};

use super::base64;
use super::number::Number;
use super::scanner::{Scanner, Token};

/// Reads a JSON text without a schema; text that is blank, and `null`, are no value.
///
/// Objects become maps, integers `Int64`, other numbers `Float64`. Text shares the buffer where it has no escapes.
///
/// # Errors
/// The text is not JSON, is followed by something else, or holds an integer beyond 64 bits.
pub fn read_schemaless(bytes: &Bytes) -> Result<Option<Value>, DataError> {
    let bytes = super::encoding::to_utf8(bytes)?;
    let mut scanner = Scanner::shared(&bytes);
    if scanner.is_blank() {
        return Ok(None);
    }
    let value = read_value(&mut scanner, None, true)?;
    scanner.finish()?;
    Ok(value)
}

/// How many members an object without schema has room for at first.
const MEMBERS_EXPECTED: usize = 8;

/// A list or an object that is being read.
enum Frame<'s> {
    Array {
        elements: Vec<Option<Value>>,
        schema: Option<&'s Schema>,
    },
    /// A map with text keys.
    Object {
        map: Map,
        key: Text,
        schema: Option<&'s Schema>,
    },
    /// A map with other keys: a list of pairs.
    Pairs {
        map: Map,
        /// The key of the pair of which the value is being read; none while the key itself is.
        key: Option<Option<Value>>,
        schema: &'s Schema,
    },
    Struct {
        /// Where its values begin in the reader's `slots`.
        start: usize,
        /// The field that is being read.
        index: usize,
        schema: &'s Schema,
    },
}

/// The open lists and objects. The innermost stands apart: a struct without nested parts needs no vector.
#[derive(Default)]
struct Frames<'s> {
    innermost: Option<Frame<'s>>,
    outer: Vec<Frame<'s>>,
}

impl<'s> Frames<'s> {
    fn push(&mut self, frame: Frame<'s>) {
        self.outer.extend(self.innermost.replace(frame));
    }

    fn pop(&mut self) -> Option<Frame<'s>> {
        std::mem::replace(&mut self.innermost, self.outer.pop())
    }

    fn last_mut(&mut self) -> Option<&mut Frame<'s>> {
        self.innermost.as_mut()
    }

    fn inside_out(&self) -> impl Iterator<Item = &Frame<'s>> {
        self.innermost.iter().chain(self.outer.iter().rev())
    }
}

/// How many slots a thread keeps for the next message.
const SLOTS_KEPT_MAX: usize = 4096;

thread_local! {
    /// Where the values of structs wait for the end of their struct, so that a message costs the memory of its structs alone.
    static SLOTS: Cell<Vec<Option<Value>>> = const { Cell::new(Vec::new()) };
}

/// What comes next.
#[derive(Clone, Copy)]
enum Step<'s> {
    /// A value of this schema is to be read.
    Value(Option<&'s Schema>),
    /// A value has been read: it is the reader's `done`.
    Done,
}

/// Reads one value.
///
/// `replace_null` makes a null the default of its schema, if there is one.
pub(super) fn read_value(
    scanner: &mut Scanner<'_>,
    schema: Option<&Schema>,
    replace_null: bool,
) -> Result<Option<Value>, DataError> {
    let mut reader = Reader { scanner, frames: Frames::default(), slots: SLOTS.take(), done: None, replace_null };
    let read = reader.run(schema).map_err(|error| reader.located(error));
    let mut slots = reader.slots;
    if slots.capacity() <= SLOTS_KEPT_MAX {
        slots.clear();
        SLOTS.set(slots);
    }
    read
}

struct Reader<'r, 'a, 's> {
    scanner: &'r mut Scanner<'a>,
    frames: Frames<'s>,
    /// The values of the open structs, those of an inner one behind those of the outer one.
    slots: Vec<Option<Value>>,
    /// The value that was read last. It is handed on here, not in results, which would move it several times.
    done: Option<Value>,
    replace_null: bool,
}

impl<'s> Reader<'_, '_, 's> {
    fn run(&mut self, schema: Option<&'s Schema>) -> Result<Option<Value>, DataError> {
        let mut step = Step::Value(schema);
        loop {
            step = match step {
                Step::Value(schema) => self.begin(schema)?,
                Step::Done if self.frames.innermost.is_none() => return Ok(self.done.take()),
                Step::Done => self.attach()?,
            };
        }
    }

    fn done(&mut self, value: Option<Value>) -> Step<'s> {
        self.done = value;
        Step::Done
    }

    /// Reads a value, or the beginning of a list or an object.
    fn begin(&mut self, schema: Option<&'s Schema>) -> Result<Step<'s>, DataError> {
        let token = self.scanner.token()?;
        match (token, schema) {
            (Token::Null, _) if matches!(self.frames.innermost, Some(Frame::Struct { .. })) => {
                // Whether the field may be null is told at the end: a member that is there twice counts the second time.
                Ok(self.done(None))
            }
            (Token::Null, Some(schema)) => null(schema, self.replace_null).map(|value| self.done(value)),
            (Token::Null, None) => Ok(self.done(None)),
            (Token::Array, None) => self.begin_array(None),
            (Token::Object, None) => self.begin_object(None),
            (token, None) => {
                self.done = Some(schemaless_scalar(self.scanner, token)?);
                Ok(Step::Done)
            }
            (token, Some(schema)) if schema.logical().is_some() => {
                self.done = Some(logical(self.scanner, schema, token)?);
                Ok(Step::Done)
            }
            (token, Some(schema)) if schema.kind().is_primitive() => {
                self.done = Some(primitive(self.scanner, schema, token)?);
                Ok(Step::Done)
            }
            (token, Some(schema)) => self.begin_container(schema, &token),
        }
    }

    fn begin_container(&mut self, schema: &'s Schema, token: &Token<'_>) -> Result<Step<'s>, DataError> {
        match (schema.kind(), token) {
            (Type::Array, Token::Array) => self.begin_array(schema.value_schema()),
            (Type::Struct, Token::Object) => self.begin_struct(schema),
            (Type::Map, token) => match (has_text_keys(schema), token) {
                (true, Token::Object) => self.begin_object(schema.value_schema()),
                (false, Token::Array) => self.begin_pairs(schema),
                (true, _) => Err(unfit("a map with text keys is written as an object", token)),
                (false, _) => Err(unfit("a map with keys other than text is written as an array of pairs", token)),
            },
            (Type::Struct, _) => Err(unfit("a struct is written as an object", token)),
            _ => Err(unfit("an array is needed", token)),
        }
    }

    fn begin_array(&mut self, schema: Option<&'s Schema>) -> Result<Step<'s>, DataError> {
        if self.scanner.close_if_empty(b']') {
            return Ok(self.done(Some(Value::Array([].into()))));
        }
        self.frames.push(Frame::Array { elements: Vec::new(), schema });
        Ok(Step::Value(schema))
    }

    fn begin_object(&mut self, schema: Option<&'s Schema>) -> Result<Step<'s>, DataError> {
        if self.scanner.close_if_empty(b'}') {
            return Ok(self.done(Some(Value::Map(Map::new()))));
        }
        let key = self.key()?;
        self.frames.push(Frame::Object { map: Map::with_capacity(MEMBERS_EXPECTED), key, schema });
        Ok(Step::Value(schema))
    }

    fn key(&mut self) -> Result<Text, DataError> {
        let name = self.scanner.name()?;
        self.scanner.to_text(name)
    }

    fn begin_pairs(&mut self, schema: &'s Schema) -> Result<Step<'s>, DataError> {
        if self.scanner.close_if_empty(b']') {
            return Ok(self.done(Some(Value::Map(Map::new()))));
        }
        self.frames.push(Frame::Pairs { map: Map::new(), key: None, schema });
        self.begin_pair(schema)
    }

    fn begin_pair(&mut self, schema: &'s Schema) -> Result<Step<'s>, DataError> {
        let token = self.scanner.token()?;
        match token {
            Token::Array if self.scanner.close_if_empty(b']') => Err(pair_length()),
            Token::Array => Ok(Step::Value(schema.key_schema())),
            _ => Err(unfit("an entry of a map with keys other than text is an array of key and value", &token)),
        }
    }

    fn begin_struct(&mut self, schema: &'s Schema) -> Result<Step<'s>, DataError> {
        let start = self.slots.len();
        self.slots.resize_with(start + schema.fields().len(), || None);
        self.frames.push(Frame::Struct { start, index: 0, schema });
        if self.scanner.close_if_empty(b'}') {
            return self.end();
        }
        self.next_field(0)
    }

    /// Goes to the value of the next member that is a field; `guess` is the field that it most likely is.
    fn next_field(&mut self, guess: usize) -> Result<Step<'s>, DataError> {
        let Some(Frame::Struct { schema, index, .. }) = self.frames.last_mut() else {
            unreachable!("only a struct asks for its next field");
        };
        loop {
            let name = self.scanner.name()?;
            let guessed = schema.fields().get(guess).filter(|field| field.name().as_bytes() == name.as_bytes());
            let field = match guessed {
                Some(field) => Some(field),
                None => schema.field(self.scanner.to_str(&name)?),
            };
            if let Some(field) = field {
                *index = field.index();
                return Ok(Step::Value(Some(field.schema())));
            }
            self.scanner.skip_value()?;
            if !self.scanner.another(b'}')? {
                return self.end();
            }
        }
    }

    /// Puts a finished value into the innermost list or object, and goes on behind it.
    fn attach(&mut self) -> Result<Step<'s>, DataError> {
        let value = self.done.take();
        match self.frames.last_mut() {
            Some(Frame::Array { elements, schema }) => {
                elements.push(value);
                if self.scanner.another(b']')? { Ok(Step::Value(*schema)) } else { self.end() }
            }
            Some(Frame::Object { map, key, schema }) => {
                let schema = *schema;
                map.insert(std::mem::take(key), value);
                if !self.scanner.another(b'}')? {
                    return self.end();
                }
                let next = self.key()?;
                if let Some(Frame::Object { key, .. }) = self.frames.last_mut() {
                    *key = next;
                }
                Ok(Step::Value(schema))
            }
            Some(Frame::Struct { start, index, .. }) => {
                let next = *index + 1;
                self.slots[*start + *index] = value;
                if self.scanner.another(b'}')? { self.next_field(next) } else { self.end() }
            }
            Some(Frame::Pairs { map, key, schema }) => match key.take() {
                None => {
                    *key = Some(value);
                    let schema = schema.value_schema();
                    if self.scanner.another(b']')? { Ok(Step::Value(schema)) } else { Err(pair_length()) }
                }
                Some(key) => {
                    let schema = *schema;
                    map.insert(key, value);
                    if self.scanner.another(b']')? {
                        return Err(pair_length());
                    }
                    if self.scanner.another(b']')? { self.begin_pair(schema) } else { self.end() }
                }
            },
            None => unreachable!("the outermost value ends the loop"),
        }
    }

    /// Makes a value of the innermost list or object, which has been closed.
    fn end(&mut self) -> Result<Step<'s>, DataError> {
        if let Some(Frame::Struct { start, index, schema }) = self.frames.last_mut() {
            for (field, value) in schema.fields().iter().zip(&mut self.slots[*start..]) {
                if value.is_none() {
                    *index = field.index();
                    *value = null(field.schema(), self.replace_null)?;
                }
            }
        }
        self.done = match self.frames.pop() {
            Some(Frame::Array { elements, .. }) => Some(Value::Array(elements.into())),
            Some(Frame::Object { map, .. } | Frame::Pairs { map, .. }) => Some(Value::Map(map)),
            Some(Frame::Struct { start, schema, .. }) => {
                Some(Value::Struct(Struct::from_checked(schema.clone(), self.slots.drain(start..))))
            }
            None => None,
        };
        Ok(Step::Done)
    }

    /// The error with the path to where the reader stands.
    fn located(&self, error: DataError) -> DataError {
        self.frames.inside_out().fold(error, |error, frame| match frame {
            Frame::Array { elements, .. } => error.in_element(elements.len()),
            Frame::Object { key, .. } => error.in_entry(key),
            Frame::Pairs { map, .. } => error.in_element(map.len()),
            Frame::Struct { index, schema, .. } => match schema.fields().get(*index) {
                Some(field) => error.in_field(field.name()),
                None => error,
            },
        })
    }
}

/// What a null becomes: the default, nothing, or an error.
pub(super) fn null(schema: &Schema, replace: bool) -> Result<Option<Value>, DataError> {
    match schema.default() {
        Some(default) if replace => Ok(Some(default.clone())),
        _ if schema.is_optional() => Ok(None),
        _ => Err(DataError::new(format!("the value is null or missing, but {schema} is required"))),
    }
}

/// Whether JSON has an object for maps of this schema.
pub(super) fn has_text_keys(schema: &Schema) -> bool {
    schema.key_schema().is_none_or(|key| key.kind() == Type::String)
}

fn unfit(needed: &str, token: &Token<'_>) -> DataError {
    DataError::new(format!("{needed}, but the text has {}", token.kind()))
}

fn pair_length() -> DataError {
    DataError::new("an entry of a map with keys other than text is an array of exactly two: key and value")
}

fn schemaless_scalar<'a>(scanner: &Scanner<'a>, token: Token<'a>) -> Result<Value, DataError> {
    match token {
        Token::Boolean(value) => Ok(Value::Boolean(value)),
        Token::Text(text) => scanner.to_text(text).map(Value::String),
        Token::Number(number) if number.is_integral() => number.as_i64().map(Value::Int64).ok_or_else(|| {
            DataError::new(format!(
                "the integer `{}` does not fit 64 bits, which is all that data without schema has",
                number.text()
            ))
        }),
        Token::Number(number) => Ok(Value::Float64(number.to_f64())),
        other => Err(unfit("a value without parts is needed", &other)),
    }
}

fn logical<'a>(scanner: &Scanner<'a>, schema: &Schema, token: Token<'a>) -> Result<Value, DataError> {
    match (schema.logical(), token) {
        (Some(logical), Token::Number(number)) => logical_number(schema, logical, number),
        (Some(LogicalType::Decimal), Token::Text(text)) => {
            let scale = schema.decimal_scale()?;
            let bytes = base64::decode(scanner.to_str(&text)?)?;
            if bytes.is_empty() {
                return Err(DataError::new("a Decimal in base64 has at least one byte"));
            }
            Ok(Value::Decimal(Decimal::from_be_bytes(&bytes, scale)))
        }
        (Some(LogicalType::Decimal), other) => Err(unfit("a Decimal is a number or text in base64", &other)),
        (Some(logical), other) => Err(unfit(&format!("a {logical} is an integer"), &other)),
        (None, token) => primitive(scanner, schema, token),
    }
}

fn logical_number(schema: &Schema, logical: LogicalType, number: Number<'_>) -> Result<Value, DataError> {
    let refused = |bits: u32| {
        DataError::new(format!("a {logical} is an integer of {bits} bits, but the text has `{}`", number.text()))
    };
    let narrow = || number.as_i64().and_then(|value| i32::try_from(value).ok()).ok_or_else(|| refused(32));
    Ok(match logical {
        LogicalType::Decimal => Value::Decimal(number.to_decimal(schema.decimal_scale()?)?),
        LogicalType::Date => Value::Date(Date::from_epoch_days(narrow()?)),
        LogicalType::Time => Value::Time(Time::from_millis_of_day(narrow()?)?),
        LogicalType::Timestamp => {
            Value::Timestamp(Timestamp::from_epoch_millis(number.as_i64().ok_or_else(|| refused(64))?))
        }
    })
}

// Inlined, as `Scanner::token`, which yields what is matched here.
#[inline(always)]
fn primitive<'a>(scanner: &Scanner<'a>, schema: &Schema, token: Token<'a>) -> Result<Value, DataError> {
    let kind = schema.kind();
    match (kind, token) {
        (Type::String, Token::Text(text)) => scanner.to_text(text).map(Value::String),
        (Type::Boolean, Token::Boolean(value)) => Ok(Value::Boolean(value)),
        (Type::Bytes, Token::Text(text)) => base64::decode(scanner.to_str(&text)?).map(Value::from),
        (Type::Float64, Token::Number(number)) => Ok(Value::Float64(number.to_f64())),
        (Type::Float32, Token::Number(number)) => Ok(Value::Float32(number.to_f32())),
        (Type::Float64, Token::Text(text)) => {
            not_finite(text.as_bytes()).map(Value::Float64).ok_or_else(|| no_float(kind))
        }
        #[expect(clippy::cast_possible_truncation, reason = "infinities and NaN exist in both widths")]
        (Type::Float32, Token::Text(text)) => {
            not_finite(text.as_bytes()).map(|value| Value::Float32(value as f32)).ok_or_else(|| no_float(kind))
        }
        (_, Token::Number(number)) if kind.is_number() => integer(kind, number)
            .ok_or_else(|| DataError::new(format!("`{}` is no number of type {kind}", number.text()))),
        (_, token) => Err(unfit(&format!("a value of type {kind} is needed"), &token)),
    }
}

fn integer(kind: Type, number: Number<'_>) -> Option<Value> {
    let value = number.to_i64()?;
    Some(match kind {
        Type::Int8 => Value::Int8(value.try_into().ok()?),
        Type::Int16 => Value::Int16(value.try_into().ok()?),
        Type::Int32 => Value::Int32(value.try_into().ok()?),
        Type::Int64 => Value::Int64(value),
        _ => return None,
    })
}

/// The three numbers that the writer has to write as text.
fn not_finite(text: &[u8]) -> Option<f64> {
    match text {
        b"NaN" => Some(f64::NAN),
        b"Infinity" => Some(f64::INFINITY),
        b"-Infinity" => Some(f64::NEG_INFINITY),
        _ => None,
    }
}

fn no_float(kind: Type) -> DataError {
    DataError::new(format!("a value of type {kind} is a number or one of the texts `NaN`, `Infinity`, `-Infinity`"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use connect_sdk::data::SchemaBuilder;

    fn read(schema: &Schema, text: &str) -> Result<Option<Value>, DataError> {
        let mut scanner = Scanner::new(text.as_bytes());
        let value = read_value(&mut scanner, Some(schema), true)?;
        scanner.finish()?;
        Ok(value)
    }

    fn order() -> Schema {
        let line = SchemaBuilder::struct_().field("price", Schema::float64()).field("note", Schema::optional_string());
        SchemaBuilder::struct_()
            .field("id", Schema::int32())
            .field("lines", Schema::array(line.build().unwrap()))
            .field("tags", Schema::map(Schema::string(), Schema::int8()).to_optional())
            .field("by_id", Schema::map(Schema::int32(), Schema::boolean()).to_optional())
            .build()
            .unwrap()
    }

    #[test]
    fn an_error_has_the_path_to_its_place() {
        for (text, path) in [
            (r#"{"id":"x","lines":[]}"#, "id"),
            (r#"{"lines":[]}"#, "id"),
            (r#"{"id":1,"lines":[{"price":1},{"price":"x"}]}"#, "lines[1].price"),
            (r#"{"id":1,"lines":[{"note":"n"}]}"#, "lines[0].price"),
            (r#"{"id":1,"lines":[],"tags":{"a":1,"b":300}}"#, "tags[\"b\"]"),
            (r#"{"id":1,"lines":[],"by_id":[[1,true],[2,5]]}"#, "by_id[1]"),
            (r#"{"id":1,"lines":[1,]}"#, "lines[0]"),
            (r#"{"id":1,"lines":[{"price":1}"#, "lines[1]"),
        ] {
            let error = read(&order(), text).unwrap_err();
            assert_eq!(error.path(), path, "{text}: {error}");
        }
    }

    #[test]
    fn members_come_in_any_order_and_the_last_of_a_name_counts() {
        let text = r#"{"zz":[{"deep":[1,{}]}],"lines":[],"id":null,"id":1,"tags":null,"\u0069d":2}"#;
        let value = read(&order(), text).unwrap().unwrap();
        let value = value.as_struct().unwrap();
        assert_eq!(value.get_int32("id").unwrap(), Some(2));
        assert_eq!(value.get_map("tags").unwrap(), None);
        value.validate().unwrap();
    }

    #[test]
    fn a_pair_is_two() {
        let schema = Schema::map(Schema::optional_int32(), Schema::optional_string());
        let value = read(&schema, r#"[[1,"a"],[null,null],[1,"b"]]"#).unwrap().unwrap();
        let map = value.as_map().unwrap();
        assert_eq!(map.get(Some(&Value::Int32(1))), Some(Some(&Value::from("b"))));
        assert_eq!(map.get(None), Some(None));
        for text in ["[[]]", "[[1]]", r#"[[1,"a",2]]"#, "[1]", "[null]", "{}", r#"[{"a":1}]"#] {
            read(&schema, text).unwrap_err();
        }
    }

    #[test]
    fn values_of_another_type_are_refused_unless_nothing_is_lost() {
        assert_eq!(read(&Schema::int32(), "5.0").unwrap(), Some(Value::Int32(5)));
        assert_eq!(read(&Schema::float32(), "\"NaN\"").unwrap(), Some(Value::Float32(f32::NAN)));
        for (schema, texts) in [
            (Schema::int8(), &["300", "1.9", "\"x\"", "true", "[1]", "{}"][..]),
            (Schema::int64(), &["9223372036854775808", "1e30"]),
            (Schema::boolean(), &["1", "\"true\""]),
            (Schema::string(), &["5", "true", "[]"]),
            (Schema::bytes(), &["5", "\"?\"", "\"AA\""]),
            (Schema::float64(), &["\"x\"", "\"1.5\"", "true"]),
            (Schema::array(Schema::int8()), &["5", "{\"a\":1}"]),
            (Schema::date(), &["1.0", "\"1\"", "2147483648"]),
            (Schema::time(), &["86400001", "-1"]),
            (Schema::timestamp(), &["1.0", "9223372036854775808"]),
            (Schema::decimal(2), &["12.345", "true", "\"\"", "\"x\""]),
        ] {
            for text in texts {
                assert!(read(&schema, text).is_err(), "{text} as {schema}");
            }
        }
    }

    #[test]
    fn depth_is_no_matter_of_the_stack() {
        let levels = super::super::scanner::LEVELS_MAX;
        let text = "[".repeat(levels) + &"]".repeat(levels);
        let read = move || {
            let schema = (1..levels).fold(Schema::array(Schema::int8()), |schema, _| Schema::array(schema));
            let mut scanner = Scanner::new(text.as_bytes());
            read_value(&mut scanner, Some(&schema), true).unwrap();
            read_schemaless(&Bytes::from(text)).unwrap();
        };
        std::thread::Builder::new().stack_size(1 << 20).spawn(read).unwrap().join().unwrap();
    }
}
