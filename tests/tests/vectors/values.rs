//! `Values`: text to values and back, conversions, inferred schemas.

use connect_sdk::data::{Value, values};

use super::case::{Case, Outcome, Subject};
use super::notation::{read_schema, read_value, write_schema, write_schema_and_value, write_value};

pub const SUBJECT: Subject = Subject { name: "values", run, exact_messages: false };

fn run(case: &Case) -> Outcome {
    answer(case).unwrap_or_else(Outcome::Skipped)
}

fn answer(case: &Case) -> Result<Outcome, String> {
    if case.op() == "parseString" {
        let text = read_value(None, &case.input["text"])?;
        let text = text.as_ref().and_then(Value::as_str);
        let parsed = text.map(values::parse_string).unwrap_or_default();
        return Ok(Outcome::Result(write_schema_and_value(parsed.schema.as_ref(), parsed.value.as_ref())));
    }
    let schema = read_schema(&case.input["schema"]).expect("the case's schema is sound");
    let value = read_value(schema.as_ref(), &case.input["value"])?;
    let value = value.as_ref();
    if case.op() == "inferSchema" {
        return Ok(Outcome::Result(write_schema(value.and_then(values::infer_schema).as_ref())));
    }
    let typed = ["convertToString", "convertToTimestamp"].contains(&case.op());
    if schema.is_none() && case.input["value"].get("javaDate").is_some() && !typed {
        return Err("a java.util.Date of unknown type has no counterpart in Rust".to_owned());
    }
    let scale = || case.input["scale"].as_i64().and_then(|scale| i32::try_from(scale).ok()).unwrap_or(0);
    let converted = match case.op() {
        "convertToBoolean" => values::convert_to_boolean(value).map(|v| v.map(Value::from)),
        "convertToByte" => values::convert_to_byte(value).map(|v| v.map(Value::from)),
        "convertToShort" => values::convert_to_short(value).map(|v| v.map(Value::from)),
        "convertToInteger" => values::convert_to_integer(value).map(|v| v.map(Value::from)),
        "convertToLong" => values::convert_to_long(value).map(|v| v.map(Value::from)),
        "convertToFloat" => values::convert_to_float(value).map(|v| v.map(Value::from)),
        "convertToDouble" => values::convert_to_double(value).map(|v| v.map(Value::from)),
        "convertToString" => Ok(value.map(|value| Value::from(values::convert_to_string(value)))),
        "convertToList" => values::convert_to_list(value).map(|list| Some(Value::Array(list))),
        "convertToMap" => values::convert_to_map(value).map(|map| Some(map.into())),
        "convertToStruct" => values::convert_to_struct(value).map(|value| Some(value.into())),
        "convertToTime" => values::convert_to_time(value).map(|time| Some(time.into())),
        "convertToDate" => values::convert_to_date(value).map(|date| Some(date.into())),
        "convertToTimestamp" => values::convert_to_timestamp(value).map(|timestamp| Some(timestamp.into())),
        "convertToDecimal" => values::convert_to_decimal(value, scale()).map(|decimal| Some(decimal.into())),
        other => return Err(format!("operation `{other}` is not built")),
    };
    Ok(match converted {
        Ok(value) => Outcome::Result(write_value(None, value.as_ref())),
        Err(error) => Outcome::data_error(error),
    })
}
