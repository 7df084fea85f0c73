//! From values to JSON, straight into the buffer of the batch.

use connect_sdk::data::{DataError, LogicalType, Map, Schema, Struct, Type, Value};

use super::base64;
use super::config::DecimalFormat;
use super::scanner::LEVELS_MAX;
use super::text::{write_decimal, write_decimal_bytes, write_double, write_float, write_integer, write_string};

/// Writes a value without a schema as JSON; no value is `null`.
///
/// # Errors
/// The value holds a decimal, date, time, timestamp or struct, none of which can be without a schema, or is nested too
/// deep.
pub fn write_schemaless(value: Option<&Value>, out: &mut Vec<u8>) -> Result<(), DataError> {
    Writer::new(out, DecimalFormat::Base64, true, 0).value(None, value)
}

/// Appends values to a buffer.
pub(super) struct Writer<'o> {
    out: &'o mut Vec<u8>,
    decimal_format: DecimalFormat,
    replace_null: bool,
    depth: usize,
}

impl<'o> Writer<'o> {
    /// `depth` is the number of lists and objects that are open already.
    pub(super) fn new(out: &'o mut Vec<u8>, decimal_format: DecimalFormat, replace_null: bool, depth: usize) -> Self {
        Self { out, decimal_format, replace_null, depth }
    }

    /// Appends a value.
    pub(super) fn value(&mut self, schema: Option<&Schema>, value: Option<&Value>) -> Result<(), DataError> {
        match (value, schema) {
            (Some(value), Some(schema)) => self.fitting(schema, value),
            (Some(value), None) => self.schemaless(value),
            (None, schema) => self.null(schema),
        }
    }

    #[inline(never)]
    fn null(&mut self, schema: Option<&Schema>) -> Result<(), DataError> {
        match schema {
            Some(schema) if self.replace_null && schema.default().is_some() => {
                self.value(Some(schema), schema.default())
            }
            Some(schema) if !schema.is_optional() => {
                Err(DataError::new(format!("the value is null, but {schema} is required")))
            }
            _ => {
                self.out.extend_from_slice(b"null");
                Ok(())
            }
        }
    }

    fn fitting(&mut self, schema: &Schema, value: &Value) -> Result<(), DataError> {
        match (value, schema.logical()) {
            (Value::Decimal(_) | Value::Date(_) | Value::Time(_) | Value::Timestamp(_), logical)
            | (_, logical @ Some(_)) => self.logical(schema, logical, value),
            _ if value.kind() != schema.kind() => Err(mismatch(schema, value)),
            (Value::Array(elements), None) => self.array(schema.value_schema(), elements),
            (Value::Map(map), None) => self.map(Some(schema), map),
            (Value::Struct(value), None) => self.structure(schema, value),
            (value, None) => {
                self.primitive(value);
                Ok(())
            }
        }
    }

    fn schemaless(&mut self, value: &Value) -> Result<(), DataError> {
        match value {
            Value::Array(elements) => self.array(None, elements),
            Value::Map(map) => self.map(None, map),
            Value::Struct(_) | Value::Decimal(_) | Value::Date(_) | Value::Time(_) | Value::Timestamp(_) => {
                Err(DataError::new(format!("a {} needs a schema beside it, and there is none", value.kind_name())))
            }
            value => {
                self.primitive(value);
                Ok(())
            }
        }
    }

    #[inline(never)]
    fn logical(&mut self, schema: &Schema, logical: Option<LogicalType>, value: &Value) -> Result<(), DataError> {
        match (logical, value) {
            (Some(LogicalType::Decimal), Value::Decimal(value)) => {
                let scale = schema.decimal_scale()?;
                if value.scale() != scale {
                    return Err(DataError::new(format!(
                        "the Decimal has the scale {}, but {schema} has the scale {scale}",
                        value.scale()
                    )));
                }
                match self.decimal_format {
                    DecimalFormat::Base64 => write_decimal_bytes(value, self.out),
                    DecimalFormat::Numeric => write_decimal(value, self.out),
                }
            }
            (Some(LogicalType::Date), Value::Date(date)) => write_integer(date.epoch_days().into(), self.out),
            (Some(LogicalType::Time), Value::Time(time)) => write_integer(time.millis_of_day().into(), self.out),
            (Some(LogicalType::Timestamp), Value::Timestamp(at)) => write_integer(at.epoch_millis(), self.out),
            _ => return Err(mismatch(schema, value)),
        }
        Ok(())
    }

    /// Appends a value that has no parts and is not logical.
    #[inline(never)]
    fn primitive(&mut self, value: &Value) {
        match value {
            Value::Int8(value) => write_integer((*value).into(), self.out),
            Value::Int16(value) => write_integer((*value).into(), self.out),
            Value::Int32(value) => write_integer((*value).into(), self.out),
            Value::Int64(value) => write_integer(*value, self.out),
            Value::Float32(value) => write_float(*value, self.out),
            Value::Float64(value) => write_double(*value, self.out),
            Value::Boolean(value) => self.out.extend_from_slice(if *value { b"true" } else { b"false" }),
            Value::String(text) => write_string(text, self.out),
            Value::Bytes(bytes) => self.bytes(bytes),
            _ => debug_assert!(false, "lists, maps, structs and logical values are written elsewhere"),
        }
    }

    /// Appends bytes.
    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.out.push(b'"');
        base64::encode(bytes, self.out);
        self.out.push(b'"');
    }

    /// Appends text.
    pub(super) fn text(&mut self, text: &str) {
        write_string(text, self.out);
    }

    fn open(&mut self, bracket: u8) -> Result<(), DataError> {
        if self.depth == LEVELS_MAX {
            return Err(too_deep());
        }
        self.depth += 1;
        self.out.push(bracket);
        Ok(())
    }

    /// Closes a list or an object, behind whose last part a comma stands if it has any parts.
    fn close(&mut self, bracket: u8) {
        self.depth -= 1;
        match self.out.last_mut() {
            Some(last) if *last == b',' => *last = bracket,
            _ => self.out.push(bracket),
        }
    }

    fn array(&mut self, schema: Option<&Schema>, elements: &[Option<Value>]) -> Result<(), DataError> {
        self.open(b'[')?;
        for (index, element) in elements.iter().enumerate() {
            if let Err(error) = self.value(schema, element.as_ref()) {
                return Err(error.in_element(index));
            }
            self.out.push(b',');
        }
        self.close(b']');
        Ok(())
    }

    fn structure(&mut self, schema: &Schema, value: &Struct) -> Result<(), DataError> {
        if !schema.accepts_struct_of(value.schema()) {
            return Err(another_schema(schema, value));
        }
        self.open(b'{')?;
        for (field, value) in value.entries() {
            write_string(field.name(), self.out);
            self.out.push(b':');
            if let Err(error) = self.value(Some(field.schema()), value) {
                return Err(error.in_field(field.name()));
            }
            self.out.push(b',');
        }
        self.close(b'}');
        Ok(())
    }

    fn map(&mut self, schema: Option<&Schema>, map: &Map) -> Result<(), DataError> {
        let key_schema = schema.and_then(Schema::key_schema);
        let value_schema = schema.and_then(Schema::value_schema);
        let text_keys = match key_schema {
            Some(schema) => schema.kind() == Type::String,
            None => map.iter().all(|(key, _)| matches!(key, Some(Value::String(_)))),
        };
        let [open, close] = if text_keys { *b"{}" } else { *b"[]" };
        self.open(open)?;
        for (index, (key, value)) in map.iter().enumerate() {
            let written = if text_keys {
                self.member(key_schema, value_schema, key, value)
            } else {
                self.pair(key_schema, value_schema, key, value)
            };
            if let Err(error) = written {
                return Err(located(error, index, key));
            }
            self.out.push(b',');
        }
        self.close(close);
        Ok(())
    }

    fn pair(
        &mut self,
        key_schema: Option<&Schema>,
        value_schema: Option<&Schema>,
        key: Option<&Value>,
        value: Option<&Value>,
    ) -> Result<(), DataError> {
        self.open(b'[')?;
        self.value(key_schema, key)?;
        self.out.push(b',');
        self.value(value_schema, value)?;
        self.close(b']');
        Ok(())
    }

    fn member(
        &mut self,
        key_schema: Option<&Schema>,
        value_schema: Option<&Schema>,
        key: Option<&Value>,
        value: Option<&Value>,
    ) -> Result<(), DataError> {
        match key {
            Some(Value::String(text)) => write_string(text, self.out),
            key => self.other_member_name(key_schema, key)?,
        }
        self.out.push(b':');
        self.value(value_schema, value)
    }

    /// The name for a null key, which is the default or the word, or for a key that does not fit.
    #[inline(never)]
    fn other_member_name(&mut self, schema: Option<&Schema>, key: Option<&Value>) -> Result<(), DataError> {
        let start = self.out.len();
        self.value(schema, key)?;
        if self.out.get(start) != Some(&b'"') {
            self.out.insert(start, b'"');
            self.out.push(b'"');
        }
        Ok(())
    }
}

#[inline(never)]
fn located(error: DataError, index: usize, key: Option<&Value>) -> DataError {
    match key {
        Some(Value::String(key)) => error.in_entry(key),
        _ => error.in_element(index),
    }
}

#[inline(never)]
fn too_deep() -> DataError {
    DataError::new(format!("the value is nested deeper than {LEVELS_MAX} levels, which no reader of it would accept"))
}

#[inline(never)]
fn another_schema(schema: &Schema, value: &Struct) -> DataError {
    DataError::new(format!("the struct was made for another schema, {}, that differs from {schema}", value.schema()))
}

#[inline(never)]
fn mismatch(schema: &Schema, value: &Value) -> DataError {
    DataError::new(format!("a value of type {} does not fit {schema}", value.kind_name()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use connect_sdk::data::{Decimal, SchemaBuilder, Timestamp};

    fn write(schema: Option<&Schema>, value: &Value) -> Result<String, DataError> {
        let mut out = Vec::new();
        Writer::new(&mut out, DecimalFormat::Numeric, true, 0).value(schema, Some(value))?;
        Ok(String::from_utf8(out).unwrap())
    }

    #[test]
    fn maps_are_objects_if_their_keys_are_text() {
        let mut map = Map::new();
        map.insert("a", 1);
        assert_eq!(write(None, &map.clone().into()).unwrap(), r#"{"a":1}"#);
        map.insert(2, "b");
        map.insert(None::<Value>, None::<Value>);
        assert_eq!(write(None, &map.into()).unwrap(), r#"[["a",1],[2,"b"],[null,null]]"#);
        let null_key: Map = [(None::<Value>, 1)].into_iter().collect();
        let schema = Schema::map(Schema::optional_string(), Schema::int32());
        assert_eq!(write(Some(&schema), &null_key.clone().into()).unwrap(), r#"{"null":1}"#);
        let schema = Schema::map(SchemaBuilder::string().default_value("d").build().unwrap(), Schema::int32());
        assert_eq!(write(Some(&schema), &null_key.into()).unwrap(), r#"{"d":1}"#);
        assert_eq!(write(None, &Map::new().into()).unwrap(), "{}");
    }

    #[test]
    fn text_that_ends_with_a_comma_stays_whole() {
        assert_eq!(write(None, &Value::array(["a,", ","])).unwrap(), r#"["a,",","]"#);
        assert_eq!(write(None, &Value::array([Value::array::<[Value; 0]>([])])).unwrap(), "[[]]");
    }

    #[test]
    fn an_error_has_the_path_to_its_place() {
        let line = SchemaBuilder::struct_().field("price", Schema::decimal(2)).build().unwrap();
        let order =
            SchemaBuilder::struct_().field("lines", Schema::map(Schema::string(), line.clone())).build().unwrap();
        let mut bad = Struct::new(line).unwrap();
        bad.put("price", Decimal::new(5, 1)).unwrap();
        let mut value = Struct::new(order.clone()).unwrap();
        value.put("lines", [("first", bad)].into_iter().collect::<Map>()).unwrap();
        let error = write(Some(&order), &value.into()).unwrap_err();
        assert_eq!(error.path(), "lines[\"first\"].price");
        assert!(error.message().contains("scale 1"), "{error}");
    }

    #[test]
    fn values_without_schema_have_no_logical_types() {
        write(None, &Timestamp::from_epoch_millis(5).into()).unwrap_err();
        write(None, &Decimal::new(5, 1).into()).unwrap_err();
        let schema = SchemaBuilder::struct_().build().unwrap();
        write(None, &Struct::new(schema).unwrap().into()).unwrap_err();
        write(Some(&Schema::int64()), &Timestamp::from_epoch_millis(5).into()).unwrap_err();
        write(Some(&Schema::timestamp()), &5i64.into()).unwrap_err();
    }

    #[test]
    fn depth_ends_before_the_stack_does() {
        let nested = |levels| (1..levels).fold(Value::array([1]), |value, _| Value::array([value]));
        let run = move || {
            write(None, &nested(LEVELS_MAX)).unwrap();
            write(None, &nested(LEVELS_MAX + 1)).unwrap_err();
            let mut schema = Schema::array(Schema::int32());
            let mut value = Value::array([1]);
            for _ in 1..LEVELS_MAX / 2 {
                schema = SchemaBuilder::struct_().field("f", Schema::map(Schema::string(), schema)).build().unwrap();
                let map: Map = [("k", value)].into_iter().collect();
                value = Struct::from_checked(schema.clone(), vec![Some(map.into())]).into();
            }
            write(Some(&schema), &value).unwrap();
        };
        std::thread::Builder::new().stack_size(1 << 20).spawn(run).unwrap().join().unwrap();
    }
}
