//! Values as text, as `SimpleHeaderConverter` writes them.

use std::fmt::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::temporal::{date_text, time_text, timestamp_text};
use crate::data::{Text, Value, value_text};

/// The text of a value: `1.5`, `[1,2]`, `{"k":"v"}`, `2019-08-23`.
///
/// Text stands as it is at the top, and in quotes within lists, maps and structs; bytes are in base64; a struct is
/// written like a map, with its defaults. Dates are in UTC. [`parse_string`](super::parse_string) reads it back, but
/// text that looks like something else comes back as that: `"007"` as the number 7.
#[must_use]
pub fn convert_to_string(value: &Value) -> Text {
    match value {
        Value::String(text) => text.clone(),
        Value::Bytes(bytes) => STANDARD.encode(bytes).into(),
        other => {
            let mut out = String::new();
            write_value(&mut out, Some(other));
            out.into()
        }
    }
}

fn write_value(out: &mut String, value: Option<&Value>) {
    match value {
        None => out.push_str("null"),
        Some(Value::String(text)) => write_quoted(out, text),
        Some(Value::Bytes(bytes)) => {
            out.push('"');
            STANDARD.encode_string(bytes, out);
            out.push('"');
        }
        Some(Value::Date(date)) => out.push_str(&date_text(*date)),
        Some(Value::Time(time)) => out.push_str(&time_text(*time)),
        Some(Value::Timestamp(timestamp)) => out.push_str(&timestamp_text(*timestamp)),
        Some(Value::Array(elements)) => {
            out.push('[');
            for (index, element) in elements.iter().enumerate() {
                separate(out, index);
                write_value(out, element.as_ref());
            }
            out.push(']');
        }
        Some(Value::Map(map)) => {
            out.push('{');
            for (index, (key, value)) in map.iter().enumerate() {
                separate(out, index);
                write_value(out, key);
                out.push(':');
                write_value(out, value);
            }
            out.push('}');
        }
        Some(Value::Struct(value)) => {
            out.push('{');
            for (index, field) in value.schema().fields().iter().enumerate() {
                separate(out, index);
                write_quoted(out, field.name());
                out.push(':');
                write_value(out, value.get_field(field));
            }
            out.push('}');
        }
        Some(integer @ (Value::Int8(_) | Value::Int16(_) | Value::Int32(_) | Value::Int64(_))) => {
            let number = integer.as_i64().expect("an integer");
            write!(out, "{number}").expect("a string takes any text");
        }
        Some(other) => out.push_str(&value_text(other)),
    }
}

fn separate(out: &mut String, index: usize) {
    if index > 0 {
        out.push(',');
    }
}

fn write_quoted(out: &mut String, text: &str) {
    out.push('"');
    for char in text.chars() {
        if matches!(char, '"' | '\\') {
            out.push('\\');
        }
        out.push(char);
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Date, Map, Schema, SchemaBuilder, Struct, Time, Timestamp};

    #[test]
    fn parts_are_quoted_and_the_whole_is_not() {
        assert_eq!(convert_to_string(&"a\"b".into()), "a\"b");
        assert_eq!(convert_to_string(&Value::array(["a\"b\\"])), r#"["a\"b\\"]"#);
        let map: Map = [(Value::from("k"), Value::array([Some(true), None])), (Value::from(1i8), Value::from(1.5))]
            .into_iter()
            .collect();
        assert_eq!(convert_to_string(&map.into()), r#"{"k":[true,null],1:1.5}"#);
        assert_eq!(convert_to_string(&Value::array([vec![1u8]])), r#"["AQ=="]"#);
    }

    #[test]
    fn a_struct_is_written_with_its_defaults() {
        let default = SchemaBuilder::string().default_value("Rome").build().unwrap();
        let schema = SchemaBuilder::struct_().field("c", default).field("d", Schema::optional_date()).build().unwrap();
        assert_eq!(convert_to_string(&Struct::new(schema).unwrap().into()), r#"{"c":"Rome","d":null}"#);
    }

    #[test]
    fn a_date_stays_a_date() {
        assert_eq!(convert_to_string(&Date::from_epoch_days(0).into()), "1970-01-01");
        assert_eq!(convert_to_string(&Time::MAX.into()), "24:00:00.000Z");
        assert_eq!(convert_to_string(&Timestamp::from_epoch_millis(-1).into()), "1969-12-31T23:59:59.999Z");
    }
}
