//! Projection of a value from the schema that it was written with to the one that a reader expects.

use super::{DataError, Map, Schema, Struct, Type, Value};

/// Turns a value of the schema `source` into a value of the schema `target`.
///
/// The schemas' types must be the same, or numbers of which the target's is at least as wide (`INT8`, `INT16`, `INT32`,
/// `INT64`, `FLOAT32`, `FLOAT64`, in this order); names and parameters must be equal; version, documentation and default
/// are not compared. Struct fields are taken by name: one that the source lacks is null if the target's is optional, and
/// the target's default otherwise; fields that the target lacks are left out. A null becomes the target's default if
/// the target is required.
///
/// # Errors
/// Fails, with the path of the part, if the schemas do not go together. An optional source and a required target
/// without default never do, even if the value is not null.
pub fn project(source: &Schema, value: Option<&Value>, target: &Schema) -> Result<Option<Value>, DataError> {
    check_compatible(source, target)?;
    if source.is_optional() && !target.is_optional() && target.default().is_none() {
        return Err(DataError::new(format!(
            "{source} is optional, but {target} is required and has no default to take for a null"
        )));
    }
    let Some(value) = value else {
        return Ok(if target.is_optional() || !source.is_optional() { None } else { target.default().cloned() });
    };
    if source == target && !matches!(value, Value::Struct(_)) {
        return Ok(Some(value.clone()));
    }
    match (value, target.kind()) {
        (Value::Struct(value), Type::Struct) => project_struct(source, value, target).map(Some),
        (Value::Array(elements), Type::Array) => {
            let (from, to) = parts(source.value_schema(), target.value_schema(), target)?;
            let project_one = |(index, element): (usize, &Option<Value>)| {
                project(from, element.as_ref(), to).map_err(|error| error.in_element(index))
            };
            Ok(Some(Value::Array(elements.iter().enumerate().map(project_one).collect::<Result<_, _>>()?)))
        }
        (Value::Map(map), Type::Map) => {
            let (key_from, key_to) = parts(source.key_schema(), target.key_schema(), target)?;
            let (from, to) = parts(source.value_schema(), target.value_schema(), target)?;
            let project_one = |(key, value): (Option<&Value>, Option<&Value>)| {
                let shown = || key.map_or_else(|| "null".into(), super::value_text);
                let projected = project(from, value, to).map_err(|error| error.in_entry(&shown()))?;
                Ok::<_, DataError>((project(key_from, key, key_to)?, projected))
            };
            Ok(Some(Value::Map(map.iter().map(project_one).collect::<Result<Map, _>>()?)))
        }
        (value, kind) => widen(value, kind)
            .map(Some)
            .ok_or_else(|| DataError::new(format!("a value of type {} is not one of {source}", value.kind_name()))),
    }
}

fn check_compatible(source: &Schema, target: &Schema) -> Result<(), DataError> {
    let mismatch = |what: &str, of_source: String, of_target: String| {
        Err(DataError::new(format!(
            "schema {what} mismatch: the source's is `{of_source}`, the target's `{of_target}`"
        )))
    };
    let (from, to) = (source.kind(), target.kind());
    if from != to && !matches!((rank(from), rank(to)), (Some(from), Some(to)) if from <= to) {
        return mismatch("type", from.to_string(), to.to_string());
    }
    if source.name() != target.name() {
        return mismatch("name", source.name().unwrap_or("null").into(), target.name().unwrap_or("null").into());
    }
    if !source.attributes().same_parameters(target.attributes()) {
        return mismatch("parameter", format!("{:?}", source.parameters()), format!("{:?}", target.parameters()));
    }
    Ok(())
}

/// How wide a number is; none for other types.
pub(super) fn rank(kind: Type) -> Option<u8> {
    Some(match kind {
        Type::Int8 => 0,
        Type::Int16 => 1,
        Type::Int32 => 2,
        Type::Int64 => 3,
        Type::Float32 => 4,
        Type::Float64 => 5,
        _ => return None,
    })
}

fn parts<'a>(
    source: Option<&'a Schema>,
    target: Option<&'a Schema>,
    whole: &Schema,
) -> Result<(&'a Schema, &'a Schema), DataError> {
    source.zip(target).ok_or_else(|| DataError::new(format!("the parts of {whole} have no schema")))
}

fn project_struct(source: &Schema, value: &Struct, target: &Schema) -> Result<Value, DataError> {
    let mut projected = Struct::new(target.clone())?;
    for field in target.fields() {
        let name = field.name();
        if let Some(from) = source.field(name) {
            let one = value.get(name).and_then(|one| project(from.schema(), one, field.schema()));
            // What is null although its field is required was never put, and stays so.
            if let Some(one) = one.map_err(|error| error.in_field(name))? {
                projected.put(name, one)?;
            }
        } else if field.schema().is_optional() {
            // Missing is null, also where there is a default.
        } else if let Some(default) = field.schema().default() {
            projected.put(name, default)?;
        } else {
            return Err(
                DataError::new(format!("the required field is missing from the source, {source}")).in_field(name)
            );
        }
    }
    Ok(projected.into())
}

/// The number as the wider type `kind`, as Java casts it; any other value as it is if it is of that type.
pub(super) fn widen(value: &Value, kind: Type) -> Option<Value> {
    if value.kind() == kind {
        return Some(value.clone());
    }
    let integer = value.as_i64();
    #[expect(clippy::cast_precision_loss, reason = "as Java casts")]
    Some(match kind {
        Type::Int8 => Value::Int8(integer?.try_into().ok()?),
        Type::Int16 => Value::Int16(integer?.try_into().ok()?),
        Type::Int32 => Value::Int32(integer?.try_into().ok()?),
        Type::Int64 => Value::Int64(integer?),
        Type::Float32 => Value::Float32(integer? as f32),
        Type::Float64 => Value::Float64(match value.as_f64() {
            Some(number) => number,
            None => integer? as f64,
        }),
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
