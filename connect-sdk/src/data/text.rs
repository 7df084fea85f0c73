//! The text of a value as Java's `toString` gives it: what `StringConverter` and `FileStreamSink` write.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::Value;
use super::logical::DAY_MS;
use crate::java::calendar::CalendarDate;
use crate::java::number_text::{decimal_text, double_text, float_text};

/// The text of a value: `Struct{a=1,b=x}`, `[1, 2]`, `{k=v}`, `1.0E10`, `Sun Sep 13 12:26:40 UTC 2020`.
///
/// Text is lent, not copied. Bytes have no text in Java (it prints an address): here they are taken as UTF-8, and
/// written in base64 if they are not. Dates are in UTC.
#[must_use]
pub fn value_text(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => Cow::Borrowed(text),
        Value::Boolean(value) => Cow::Borrowed(if *value { "true" } else { "false" }),
        Value::Bytes(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => Cow::Borrowed(text),
            Err(_) => Cow::Owned(STANDARD.encode(bytes)),
        },
        other => {
            let mut out = String::new();
            write_text(&mut out, other);
            Cow::Owned(out)
        }
    }
}

fn write_text(out: &mut String, value: &Value) {
    match value {
        Value::String(_) | Value::Boolean(_) | Value::Bytes(_) => out.push_str(&value_text(value)),
        Value::Int8(value) => out.push_str(&value.to_string()),
        Value::Int16(value) => out.push_str(&value.to_string()),
        Value::Int32(value) => out.push_str(&value.to_string()),
        Value::Int64(value) => out.push_str(&value.to_string()),
        Value::Float32(value) => out.push_str(&float_text(*value)),
        Value::Float64(value) => out.push_str(&double_text(*value)),
        Value::Decimal(value) => out.push_str(&decimal_text(value)),
        Value::Date(date) => out.push_str(&date_text(date.to_timestamp().epoch_millis())),
        Value::Time(time) => out.push_str(&date_text(time.millis_of_day().into())),
        Value::Timestamp(timestamp) => out.push_str(&date_text(timestamp.epoch_millis())),
        Value::Array(elements) => {
            write_parts(out, ["[", ", ", "]"], elements.iter(), |out, element| write_or_null(out, element.as_ref()));
        }
        Value::Map(map) => write_parts(out, ["{", ", ", "}"], map.iter(), |out, (key, value)| {
            write_or_null(out, key);
            out.push('=');
            write_or_null(out, value);
        }),
        Value::Struct(value) => {
            let present = value.entries().filter_map(|(field, value)| Some((field, value?)));
            write_parts(out, ["Struct{", ",", "}"], present, |out, (field, value)| {
                out.push_str(field.name());
                out.push('=');
                write_text(out, value);
            });
        }
    }
}

fn write_parts<T>(
    out: &mut String,
    [open, between, close]: [&str; 3],
    parts: impl Iterator<Item = T>,
    write: impl Fn(&mut String, T),
) {
    out.push_str(open);
    for (index, part) in parts.enumerate() {
        if index > 0 {
            out.push_str(between);
        }
        write(out, part);
    }
    out.push_str(close);
}

fn write_or_null(out: &mut String, value: Option<&Value>) {
    match value {
        Some(value) => write_text(out, value),
        None => out.push_str("null"),
    }
}

/// As `java.util.Date.toString`, in UTC.
fn date_text(millis: i64) -> String {
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let days = millis.div_euclid(DAY_MS);
    let seconds = millis.rem_euclid(DAY_MS) / 1000;
    let date = CalendarDate::from_epoch_days(days);
    let day = usize::try_from(days.rem_euclid(7)).expect("between 0 and 6");
    // Years before Christ count backwards from 1, without a mark.
    let year = if date.year > 0 { date.year } else { 1 - date.year };
    format!(
        "{} {} {:02} {:02}:{:02}:{:02} UTC {year}",
        DAYS[day],
        MONTHS[usize::from(date.month) - 1],
        date.day,
        seconds / 3600,
        seconds / 60 % 60,
        seconds % 60,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Decimal, Map, Schema, SchemaBuilder, Struct, Timestamp};

    #[test]
    fn text_is_lent() {
        assert!(matches!(value_text(&Value::from("line")), Cow::Borrowed("line")));
        assert!(matches!(value_text(&Value::from(b"line".to_vec())), Cow::Borrowed("line")));
        assert_eq!(value_text(&Value::from(vec![0xffu8])), "/w==");
    }

    #[test]
    fn values_read_as_java_prints_them() {
        let schema = SchemaBuilder::struct_()
            .field("a", Schema::int32())
            .field("b", Schema::optional_string())
            .field("c", Schema::optional_timestamp())
            .build()
            .unwrap();
        let mut inner = Struct::new(schema).unwrap();
        inner.put("a", 1).unwrap();
        assert_eq!(value_text(&inner.clone().into()), "Struct{a=1}");
        inner.put("b", "x").unwrap().put("c", Timestamp::from_epoch_millis(1_600_000_000_000)).unwrap();
        let map: Map = [("k", Value::from(inner)), ("l", Value::array([Some(1.5f32), None]))].into_iter().collect();
        assert_eq!(value_text(&map.into()), "{k=Struct{a=1,b=x,c=Sun Sep 13 12:26:40 UTC 2020}, l=[1.5, null]}");
        assert_eq!(value_text(&Decimal::new(150, 2).into()), "1.50");
        assert_eq!(value_text(&Value::array(Vec::<i8>::new())), "[]");
        assert_eq!(value_text(&1e10.into()), "1.0E10");
    }
}
