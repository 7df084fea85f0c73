//! The data model itself: building schemas, validating values, struct access, equality.

use connect_sdk::data::{DataError, Schema, Struct, Value, validate_value, value_text};
use serde_json::{Value as Json, json};

use super::case::{Case, Kind, Outcome, Subject};
use super::notation::{read_schema, read_value, write_schema, write_value};

pub const SUBJECT: Subject = Subject { name: "data", run, exact_messages: false };

fn run(case: &Case) -> Outcome {
    let answer = match case.op() {
        "buildSchema" => match read_schema(&case.input["schema"]) {
            Ok(schema) => Ok(Outcome::Result(write_schema(schema.as_ref()))),
            Err(error) => Ok(Outcome::data_error(error)),
        },
        "validateValue" => validate(case),
        "schemaEquals" => Ok(Outcome::Result((schema(case, "a") == schema(case, "b")).into())),
        "valueEquals" => equal(case),
        "struct" => put_and_get(case),
        "typedGet" => typed_get(case),
        other => Err(format!("operation `{other}` is not built")),
    };
    answer.unwrap_or_else(Outcome::Skipped)
}

fn schema(case: &Case, member: &str) -> Schema {
    read_schema(&case.input[member]).expect("the case's schema is sound").expect("a schema")
}

fn validate(case: &Case) -> Result<Outcome, String> {
    let schema = schema(case, "schema");
    let value = read_value(Some(&schema), &case.input["value"])?;
    Ok(match validate_value(&schema, value.as_ref()) {
        Ok(()) => Outcome::Result(true.into()),
        Err(error) => Outcome::data_error(error),
    })
}

fn equal(case: &Case) -> Result<Outcome, String> {
    Ok(Outcome::Result((read_value(None, &case.input["a"])? == read_value(None, &case.input["b"])?).into()))
}

fn put_and_get(case: &Case) -> Result<Outcome, String> {
    let schema = schema(case, "schema");
    let mut new = Struct::new(schema.clone()).expect("a struct schema");
    let failed = |stage: &'static str, error: DataError| {
        Ok(Outcome::Error { stage, kind: Kind::Data, message: error.to_string() })
    };
    for pair in case.input["puts"].as_array().expect("a list of pairs") {
        let name = pair[0].as_str().expect("a field name");
        let value = read_value(schema.field(name).map(|field| field.schema()), &pair[1])?;
        if let Err(error) = new.put(name, value) {
            return failed("put", error);
        }
    }
    if let Err(error) = new.validate() {
        return failed("validate", error);
    }
    let each = |get: &dyn Fn(&str) -> Option<Value>| -> Json {
        let fields = schema.fields().iter();
        fields.map(|f| json!([f.name(), write_value(Some(f.schema()), get(f.name()).as_ref())])).collect()
    };
    Ok(Outcome::Result(json!({
        "get": each(&|name| new.get(name).expect("a field").cloned()),
        "getWithoutDefault": each(&|name| new.get_without_default(name).expect("a field").cloned()),
        "toString": value_text(&new.clone().into()),
    })))
}

fn typed_get(case: &Case) -> Result<Outcome, String> {
    let schema = schema(case, "schema");
    let Some(Value::Struct(value)) = read_value(Some(&schema), &case.input["value"])? else {
        return Err("the value is no struct".to_owned());
    };
    let field = case.input["field"].as_str().expect("a field name");
    let got = match case.input["getter"].as_str().expect("a getter") {
        "getInt8" => value.get_int8(field).map(|v| v.map(Value::from)),
        "getInt16" => value.get_int16(field).map(|v| v.map(Value::from)),
        "getInt32" => value.get_int32(field).map(|v| v.map(Value::from)),
        "getInt64" => value.get_int64(field).map(|v| v.map(Value::from)),
        "getFloat32" => value.get_float32(field).map(|v| v.map(Value::from)),
        "getFloat64" => value.get_float64(field).map(|v| v.map(Value::from)),
        "getBoolean" => value.get_boolean(field).map(|v| v.map(Value::from)),
        "getString" => value.get_string(field).map(|v| v.cloned().map(Value::from)),
        "getBytes" => value.get_bytes(field).map(|v| v.cloned().map(Value::from)),
        "getArray" => value.get_array(field).map(|v| v.map(|items| Value::array(items.iter().cloned()))),
        "getMap" => value.get_map(field).map(|v| v.cloned().map(Value::from)),
        "getStruct" => value.get_struct(field).map(|v| v.cloned().map(Value::from)),
        other => return Err(format!("getter `{other}` is not built")),
    };
    Ok(match got {
        Ok(value) => Outcome::Result(write_value(None, value.as_ref())),
        Err(error) => Outcome::data_error(error),
    })
}
