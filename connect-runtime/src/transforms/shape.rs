//! What values and schemas a transformation can work on, and how structs and their schemas are made anew.

use connect_sdk::data::{DataError, Field, Map, Schema, SchemaBuilder, Struct, Value, validate_kind};

/// The map of a value without schema; Kafka's `Requirements.requireMap`.
///
/// # Errors
/// It is null or anything else.
pub(super) fn expect_map(value: Option<Value>, purpose: &str) -> Result<Map, DataError> {
    match value {
        Some(Value::Map(map)) => Ok(map),
        other => {
            let found = found(other.as_ref());
            Err(DataError::new(format!(
                "Only Map objects supported in absence of schema for [{purpose}], found: {found}"
            )))
        }
    }
}

/// The struct of a value with schema; Kafka's `Requirements.requireStruct`.
///
/// # Errors
/// It is null or anything else.
pub(super) fn expect_struct(value: Option<Value>, purpose: &str) -> Result<Struct, DataError> {
    match value {
        Some(Value::Struct(value)) => Ok(value),
        other => {
            let found = found(other.as_ref());
            Err(DataError::new(format!("Only Struct objects supported for [{purpose}], found: {found}")))
        }
    }
}

fn found(value: Option<&Value>) -> &'static str {
    value.map_or("null", Value::kind_name)
}

/// What a field of a struct that is made anew gets: its value, or if that is null and `replace` is set, its default.
///
/// # Errors
/// It gets null though it is required.
pub(super) fn kept(field: &Field, value: Option<Value>, replace: bool) -> Result<Option<Value>, DataError> {
    let value = value.or_else(|| if replace { field.schema().default().cloned() } else { None });
    if value.is_none() && !field.schema().is_optional() {
        let what = if field.schema().default().is_some() {
            "the value is null, the field is required, and `replace.null.with.default` is false"
        } else {
            "the value is null, but the field is required"
        };
        return Err(DataError::new(what).in_field(field.name()));
    }
    Ok(value)
}

/// Does to these fields of a struct what [`kept`] does, in place.
///
/// # Errors
/// As there.
pub(super) fn keep_all(fields: &[Field], values: &mut [Option<Value>], replace: bool) -> Result<(), DataError> {
    for (field, value) in fields.iter().zip(values) {
        if value.is_none() {
            *value = kept(field, None, replace)?;
        }
    }
    Ok(())
}

/// A value that goes into a field of this schema.
///
/// # Errors
/// It is of another type, or null though the field is required.
pub(super) fn fit(name: &str, schema: &Schema, value: Option<Value>) -> Result<Option<Value>, DataError> {
    validate_kind(schema, value.as_ref()).map_err(|error| error.in_field(name))?;
    if let Some(Value::Struct(inner)) = &value
        && !schema.accepts_struct_of(inner.schema())
    {
        return Err(DataError::new("the struct was made for another schema").in_field(name));
    }
    Ok(value)
}

/// Gives a builder the name, version, documentation and parameters of a schema; Kafka's `copySchemaBasics`.
pub(super) fn copy_basics(of: &Schema, mut builder: SchemaBuilder) -> SchemaBuilder {
    if let Some(name) = of.name() {
        builder = builder.name(name);
    }
    if let Some(version) = of.version() {
        builder = builder.version(version);
    }
    if let Some(doc) = of.doc() {
        builder = builder.doc(doc);
    }
    builder.parameters(of.parameters().iter().map(|(name, value)| (name.as_str(), value.as_str())))
}

/// Starts the schema of a struct that takes the place of another one: without fields, and optional if that one is.
pub(super) fn struct_like(of: &Schema) -> SchemaBuilder {
    let builder = copy_basics(of, SchemaBuilder::struct_());
    if of.is_optional() { builder.optional() } else { builder }
}

/// Finishes the schema of a struct that takes the place of another one; `convert` makes its default of that one's.
///
/// # Errors
/// The schema is not sound, for example because two fields have one name; or the default cannot be converted.
pub(super) fn build_struct(
    builder: SchemaBuilder,
    of: &Schema,
    convert: impl FnOnce(Struct, Schema) -> Result<Struct, DataError>,
) -> Result<Schema, DataError> {
    let Some(Value::Struct(default)) = of.default() else { return builder.build() };
    let default = convert(default.clone(), builder.clone().build()?)?;
    builder.default_value(default).build()
}
