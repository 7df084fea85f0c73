//! From schemas to JSON: the member `schema` of every message that carries one.

use connect_sdk::data::{DataError, Schema, Type};

use super::config::DecimalFormat;
use super::scanner::LEVELS_MAX;
use super::text::{write_integer, write_string};
use super::writer::Writer;

/// Appends a schema; none is `null`. `replace_null` is what it is for values: it counts for nulls inside defaults.
///
/// The schemas around the one that is being written stand in a vector: their depth is no matter of the stack.
pub(super) fn write_schema(
    schema: Option<&Schema>,
    decimal_format: DecimalFormat,
    replace_null: bool,
    out: &mut Vec<u8>,
) -> Result<(), DataError> {
    let mut open: Vec<Open<'_>> = Vec::new();
    // Levels of JSON, one for the envelope.
    let mut depth = 1;
    begin(schema, None, &mut depth, &mut open, out)?;
    while let Some(top) = open.last_mut() {
        let index = top.parts_done;
        top.parts_done += 1;
        let Open { schema, field, .. } = *top;
        match next_part(schema, index, out) {
            Some((part, name)) => begin(part, name, &mut depth, &mut open, out)?,
            None => {
                attributes(schema, decimal_format, replace_null, depth, out)?;
                if let Some(name) = field {
                    out.extend_from_slice(b",\"field\":");
                    write_string(name, out);
                }
                out.push(b'}');
                depth -= levels(schema);
                open.pop();
            }
        }
    }
    Ok(())
}

/// A schema whose parts are being written.
struct Open<'s> {
    schema: &'s Schema,
    /// The field that it is the schema of.
    field: Option<&'s str>,
    parts_done: usize,
}

/// How many levels of JSON lie between a schema and its parts; one if it has none.
fn levels(schema: &Schema) -> usize {
    if schema.kind() == Type::Struct { 2 } else { 1 }
}

fn begin<'s>(
    schema: Option<&'s Schema>,
    field: Option<&'s str>,
    depth: &mut usize,
    open: &mut Vec<Open<'s>>,
    out: &mut Vec<u8>,
) -> Result<(), DataError> {
    let Some(schema) = schema else {
        out.extend_from_slice(b"null");
        return Ok(());
    };
    *depth += levels(schema);
    if *depth > LEVELS_MAX {
        return Err(DataError::new(format!("the schema is nested deeper than {LEVELS_MAX} levels of JSON")));
    }
    out.extend_from_slice(b"{\"type\":\"");
    out.extend_from_slice(type_name(schema.kind()).as_bytes());
    out.push(b'"');
    open.push(Open { schema, field, parts_done: 0 });
    Ok(())
}

/// Appends what stands in front of the next part, and gives the part with the field's name; none behind the last part.
fn next_part<'s>(schema: &'s Schema, index: usize, out: &mut Vec<u8>) -> Option<(Option<&'s Schema>, Option<&'s str>)> {
    let (prefix, part, name): (&[u8], _, _) = match (schema.kind(), index) {
        (Type::Array, 0) => (b",\"items\":", schema.value_schema(), None),
        (Type::Map, 0) => (b",\"keys\":", schema.key_schema(), None),
        (Type::Map, 1) => (b",\"values\":", schema.value_schema(), None),
        (Type::Struct, index) => match schema.fields().get(index) {
            Some(field) => {
                let prefix: &[u8] = if index == 0 { b",\"fields\":[" } else { b"," };
                (prefix, Some(field.schema()), Some(field.name()))
            }
            None => {
                out.extend_from_slice(if index == 0 { b",\"fields\":[]" } else { b"]" });
                return None;
            }
        },
        _ => return None,
    };
    out.extend_from_slice(prefix);
    Some((part, name))
}

/// What JSON calls a type; floats have names of their own there.
pub(super) fn type_name(kind: Type) -> &'static str {
    match kind {
        Type::Int8 => "int8",
        Type::Int16 => "int16",
        Type::Int32 => "int32",
        Type::Int64 => "int64",
        Type::Float32 => "float",
        Type::Float64 => "double",
        Type::Boolean => "boolean",
        Type::String => "string",
        Type::Bytes => "bytes",
        Type::Array => "array",
        Type::Map => "map",
        Type::Struct => "struct",
    }
}

/// Appends all members but the parts.
fn attributes(
    schema: &Schema,
    decimal_format: DecimalFormat,
    replace_null: bool,
    depth: usize,
    out: &mut Vec<u8>,
) -> Result<(), DataError> {
    out.extend_from_slice(if schema.is_optional() { b",\"optional\":true" } else { b",\"optional\":false" });
    if let Some(name) = schema.name() {
        out.extend_from_slice(b",\"name\":");
        write_string(name, out);
    }
    if let Some(version) = schema.version() {
        out.extend_from_slice(b",\"version\":");
        write_integer(version.into(), out);
    }
    if let Some(doc) = schema.doc() {
        out.extend_from_slice(b",\"doc\":");
        write_string(doc, out);
    }
    if !schema.parameters().is_empty() {
        out.extend_from_slice(b",\"parameters\":");
        for (index, (name, value)) in schema.parameters().iter().enumerate() {
            out.push(if index == 0 { b'{' } else { b',' });
            write_string(name, out);
            out.push(b':');
            write_string(value, out);
        }
        out.push(b'}');
    }
    if schema.default().is_some() {
        out.extend_from_slice(b",\"default\":");
        Writer::new(out, decimal_format, replace_null, depth)
            .value(Some(schema), schema.default())
            .map_err(|error| DataError::new(format!("the default of {schema} cannot be written: {error}")))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use connect_sdk::data::{Decimal, SchemaBuilder};

    #[test]
    fn members_have_a_fixed_order() {
        let schema = SchemaBuilder::struct_()
            .name("N")
            .version(2)
            .doc("d")
            .optional()
            .field("a", SchemaBuilder::int32().default_value(7).build().unwrap())
            .field("e", Schema::map(Schema::int32(), Schema::optional_boolean()).to_optional())
            .field("l", Schema::array(Schema::float32()))
            .field("g", SchemaBuilder::decimal(2).default_value(Decimal::new(1234, 2)).build().unwrap())
            .build()
            .unwrap();
        let mut out = Vec::new();
        write_schema(Some(&schema), DecimalFormat::Base64, true, &mut out).unwrap();
        let wanted = concat!(
            r#"{"type":"struct","fields":[{"type":"int32","optional":false,"default":7,"field":"a"},"#,
            r#"{"type":"map","keys":{"type":"int32","optional":false},"values":{"type":"boolean","optional":true},"optional":true,"field":"e"},"#,
            r#"{"type":"array","items":{"type":"float","optional":false},"optional":false,"field":"l"},"#,
            r#"{"type":"bytes","optional":false,"name":"org.apache.kafka.connect.data.Decimal","version":1,"parameters":{"scale":"2"},"default":"BNI=","field":"g"}],"#,
            r#""optional":true,"name":"N","version":2,"doc":"d"}"#,
        );
        assert_eq!(String::from_utf8(out).unwrap(), wanted);
    }

    #[test]
    fn a_schema_that_is_too_deep_is_refused() {
        let deep = |levels| (1..levels).fold(Schema::array(Schema::int8()), |schema, _| Schema::array(schema));
        let write = move || {
            write_schema(Some(&deep(LEVELS_MAX - 2)), DecimalFormat::Base64, true, &mut Vec::new()).unwrap();
            write_schema(Some(&deep(LEVELS_MAX)), DecimalFormat::Base64, true, &mut Vec::new()).unwrap_err();
        };
        std::thread::Builder::new().stack_size(1 << 20).spawn(write).unwrap().join().unwrap();
    }
}
