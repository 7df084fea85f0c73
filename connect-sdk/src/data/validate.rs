//! Whether a value belongs to a schema.

use super::{DataError, Field, LogicalType, Schema, Value};

/// Checks that a value belongs to a schema, all its parts included.
///
/// Null belongs to an optional schema only; that a required schema has a default does not help. A name of a logical
/// type asks for a value of that type. The scale of decimals is not looked at.
///
/// # Errors
/// Tells the first part that does not fit, with its path.
pub fn validate_value(schema: &Schema, value: Option<&Value>) -> Result<(), DataError> {
    validate_kind(schema, value)?;
    let Some(value) = value else { return Ok(()) };
    match value {
        Value::Array(elements) => {
            let element_schema = part(schema, schema.value_schema(), "elements")?;
            for (index, element) in elements.iter().enumerate() {
                validate_value(element_schema, element.as_ref()).map_err(|error| error.in_element(index))?;
            }
        }
        Value::Map(map) => {
            let key_schema = part(schema, schema.key_schema(), "keys")?;
            let value_schema = part(schema, schema.value_schema(), "values")?;
            for (key, value) in map.iter() {
                validate_value(key_schema, key).map_err(|error| {
                    DataError::new(format!("invalid key: {}", error.message())).in_entry(&shown(key))
                })?;
                validate_value(value_schema, value).map_err(|error| error.in_entry(&shown(key)))?;
            }
        }
        Value::Struct(value) => {
            if !schema.accepts_struct_of(value.schema()) {
                return Err(DataError::new(format!(
                    "the struct was made for another schema, {}, that differs from {schema}",
                    value.schema()
                )));
            }
            for (field, value) in value.entries() {
                validate_raw_field(field, value)?;
            }
        }
        _ => {}
    }
    Ok(())
}

/// Checks that a value is of a schema's type, or null where it may be; the parts of lists, maps and structs are not
/// looked at.
///
/// # Errors
/// The value is of another type, or null though the schema is required.
pub fn validate_kind(schema: &Schema, value: Option<&Value>) -> Result<(), DataError> {
    let Some(value) = value else {
        return if schema.is_optional() { Ok(()) } else { Err(required(schema)) };
    };
    let fits = match (schema.logical(), value) {
        (Some(LogicalType::Decimal), Value::Decimal(_))
        | (Some(LogicalType::Date), Value::Date(_))
        | (Some(LogicalType::Time), Value::Time(_))
        | (Some(LogicalType::Timestamp), Value::Timestamp(_)) => true,
        (Some(_), _) | (None, Value::Decimal(_) | Value::Date(_) | Value::Time(_) | Value::Timestamp(_)) => false,
        (None, _) => value.kind() == schema.kind(),
    };
    if fits { Ok(()) } else { Err(mismatch(schema, value)) }
}

/// A field that was never put is fine if its schema can do without: it is optional or has a default.
pub(super) fn validate_raw_field(field: &Field, value: Option<&Value>) -> Result<(), DataError> {
    if value.is_none() && field.schema().default().is_some() {
        return Ok(());
    }
    validate_field(field, value)
}

/// A value that is put into a field; null only if the field is optional.
pub(super) fn validate_field(field: &Field, value: Option<&Value>) -> Result<(), DataError> {
    validate_value(field.schema(), value).map_err(|error| error.in_field(field.name()))
}

/// A default is validated before the schema has it, so that a struct made for the schema so far is accepted.
pub(super) fn validate_default(so_far: &Schema, value: Option<&Value>) -> Result<(), DataError> {
    match value {
        // The struct may stem from the finished schema, or from one without the attributes that follow.
        Some(Value::Struct(value)) if value.schema().accepts_struct_of(so_far) => value.validate(),
        value => validate_value(so_far, value),
    }
}

fn part<'a>(whole: &Schema, part: Option<&'a Schema>, of: &str) -> Result<&'a Schema, DataError> {
    part.ok_or_else(|| DataError::new(format!("{whole} has no schema for its {of}")))
}

fn required(schema: &Schema) -> DataError {
    DataError::new(format!("the value is null, but {schema} is required"))
}

fn mismatch(schema: &Schema, value: &Value) -> DataError {
    DataError::new(format!("a value of type {} does not fit {schema}", value.kind_name()))
}

fn shown(key: Option<&Value>) -> String {
    match key {
        None => "null".to_owned(),
        Some(Value::String(text)) => text.as_str().to_owned(),
        Some(key) if !key.kind().is_primitive() => key.kind_name().to_owned(),
        Some(key) => super::value_text(key).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Date, Map, SchemaBuilder, Struct};

    #[test]
    fn the_error_names_the_part_that_does_not_fit() {
        let line = SchemaBuilder::struct_().field("price", Schema::float64()).build().unwrap();
        let order = SchemaBuilder::struct_().field("lines", Schema::array(line.clone())).build().unwrap();
        let mut good = Struct::new(line.clone()).unwrap();
        good.put("price", 1.0).unwrap();
        let mut whole = Struct::new(order).unwrap();
        let error = whole.put("lines", vec![good, Struct::new(line).unwrap()]).unwrap_err();
        assert_eq!(error.path(), "lines[1].price");
    }

    #[test]
    fn logical_values_belong_to_logical_schemas_only() {
        let day = Value::from(Date::from_epoch_days(1));
        validate_value(&Schema::date(), Some(&day)).unwrap();
        validate_value(&Schema::int32(), Some(&day)).unwrap_err();
        validate_value(&Schema::time(), Some(&day)).unwrap_err();
        validate_value(&Schema::date(), Some(&Value::from(1i32))).unwrap_err();
    }

    #[test]
    fn maps_are_checked_key_by_key() {
        let schema = Schema::map(Schema::string(), Schema::int32());
        let map = |key: Value, value: Option<Value>| Value::Map([(key, value)].into_iter().collect::<Map>());
        validate_value(&schema, Some(&map("a".into(), Some(1i32.into())))).unwrap();
        let null = validate_value(&schema, Some(&map("a".into(), None))).unwrap_err();
        assert_eq!(null.path(), "[\"a\"]");
        validate_value(&schema, Some(&map(1i32.into(), Some(1i32.into())))).unwrap_err();
    }
}
