//! `Cast`: gives fields, or a whole value, another primitive type.
//!
//! Numbers are cast as Java casts them: 300 to `int8` is 44. Text that is no number is refused; text that is not `true`
//! is false.

use super::schema_cache::SchemaCache;
use super::settings::split_at_colons;
use super::shape::{build_struct, copy_basics, expect_map, expect_struct, keep_all, struct_like};
use connect_sdk::config::{ConfigError, ConfigErrors, ConnectorConfig, ParsedValue, Validator};
use connect_sdk::data::values::{convert_to_double, convert_to_long, convert_to_string};
use connect_sdk::data::{DataError, Schema, SchemaBuilder, Struct, Text, Type, Value, value_text};
use connect_sdk::java::number_parse::{parse_double, parse_float, parse_long};
use connect_sdk::transform::{ConnectRecord, Part, PartTransformation};
use connect_sdk::transformation;

const SPEC: &str = "spec";
const PURPOSE: &str = "cast types";
/// What can be cast to.
const TARGETS: [Type; 8] =
    [Type::Int8, Type::Int16, Type::Int32, Type::Int64, Type::Float32, Type::Float64, Type::Boolean, Type::String];

/// Its keys.
#[derive(Debug, ConnectorConfig)]
#[config(of = transformation)]
pub(super) struct CastConfig {
    /// Pairs `field:type` between commas, or one type alone for the whole value. Types: int8, int16, int32, int64, float32,
    /// float64, boolean, string; only text can be made of bytes.
    #[config(importance = high, validator = valid_spec())]
    spec: Vec<String>,
    /// Whether a field that is null and has a default gets the default.
    #[config(default = true)]
    replace_null_with_default: bool,
}

/// `org.apache.kafka.connect.transforms.Cast`.
#[derive(Debug)]
pub(super) struct Cast {
    part: Part,
    spec: Spec,
    replace_null: bool,
    plans: SchemaCache<Plan>,
}

#[derive(Debug)]
enum Spec {
    Whole(Type),
    /// By field; of a field that is named twice the last type counts.
    Fields(Vec<(Text, Type)>),
}

/// The new schema, and for structs to what each field is cast.
#[derive(Debug)]
struct Plan {
    schema: Schema,
    fields: Vec<Option<Type>>,
}

/// Gives fields, or a whole value, another primitive type.
#[transformation(java = "org.apache.kafka.connect.transforms.Cast", version = "4.3.1")]
impl PartTransformation for Cast {
    type Config = CastConfig;

    fn new(config: CastConfig, part: Part) -> Result<Self, ConfigErrors> {
        let spec = parse_spec(&config.spec)?;
        Ok(Self { part, spec, replace_null: config.replace_null_with_default, plans: SchemaCache::new() })
    }

    fn apply(&mut self, mut record: ConnectRecord) -> Result<Option<ConnectRecord>, DataError> {
        let slot = self.part.of(&mut record);
        let Some(value) = slot.value.take() else { return Ok(Some(record)) };
        slot.value = Some(match (&slot.schema, &self.spec) {
            (None, Spec::Whole(to)) => cast(None, value, *to)?,
            (None, Spec::Fields(casts)) => {
                let mut map = expect_map(Some(value), PURPOSE)?;
                for (field, to) in casts {
                    // A field that is not there is not added.
                    if let Some(value) = map.get_str_mut(field)
                        && let Some(old) = value.take()
                    {
                        *value = Some(cast(None, old, *to).map_err(|error| error.in_field(field))?);
                    }
                }
                map.into()
            }
            (Some(schema), spec) => {
                let of = match (spec, &value) {
                    // A struct that was made for another schema than that beside it is cast as what it is.
                    (Spec::Fields(_), Value::Struct(value)) if schema.kind() == Type::Struct => value.schema(),
                    _ => schema,
                };
                let plan = self.plans.get_or_make(of, |schema| Plan::new(schema, spec, self.replace_null))?;
                let value = match spec {
                    Spec::Whole(to) => cast(Some(schema), value, *to)?,
                    Spec::Fields(_) => plan.apply(expect_struct(Some(value), PURPOSE)?, self.replace_null)?.into(),
                };
                slot.schema = Some(plan.schema.clone());
                value
            }
        });
        Ok(Some(record))
    }
}

impl Plan {
    fn new(of: &Schema, spec: &Spec, replace_null: bool) -> Result<Self, DataError> {
        let casts = match spec {
            Spec::Whole(to) => return Ok(Self { schema: cast_schema(of, *to, true)?, fields: Vec::new() }),
            Spec::Fields(casts) => casts,
        };
        if of.kind() != Type::Struct {
            return Err(DataError::new(format!("{of} has no fields to cast")));
        }
        let mut builder = struct_like(of);
        let mut fields = Vec::with_capacity(of.fields().len());
        for field in of.fields() {
            let to = casts.iter().find(|(name, _)| name == field.name()).map(|(_, to)| *to);
            let schema = match to {
                Some(to) => cast_schema(field.schema(), to, false).map_err(|error| error.in_field(field.name()))?,
                None => field.schema().clone(),
            };
            builder = builder.field(field.name_text().clone(), schema);
            fields.push(to);
        }
        let mut plan = Self { schema: of.clone(), fields };
        plan.schema =
            build_struct(builder, of, |default, schema| Ok(plan.apply(default, replace_null)?.with_schema(schema)))?;
        Ok(plan)
    }

    fn apply(&self, mut value: Struct, replace_null: bool) -> Result<Struct, DataError> {
        let old = value.schema().clone();
        let values = value.values_mut();
        keep_all(old.fields(), values, replace_null)?;
        for ((field, value), to) in old.fields().iter().zip(values).zip(&self.fields) {
            if let Some(to) = to
                && let Some(old) = value.take()
            {
                *value = Some(cast(Some(field.schema()), old, *to).map_err(|error| error.in_field(field.name()))?);
            }
        }
        Ok(value.with_schema(self.schema.clone()))
    }
}

/// The schema of what was cast: a field keeps whether it is optional and its default, a whole value its other attributes
/// too, but for those of a logical type.
fn cast_schema(of: &Schema, to: Type, whole: bool) -> Result<Schema, DataError> {
    let mut builder = SchemaBuilder::new(to);
    if whole && of.logical().is_none() {
        builder = copy_basics(of, builder);
    } else if whole && let Some(doc) = of.doc() {
        builder = builder.doc(doc);
    }
    if of.is_optional() {
        builder = builder.optional();
    }
    if let Some(default) = of.default() {
        builder = builder.default_value(cast(Some(of), default.clone(), to)?);
    }
    builder.build()
}

/// Kafka's check of what can be cast from.
fn castable(from: Type) -> Result<(), DataError> {
    if from.is_primitive() {
        return Ok(());
    }
    Err(DataError::new(format!(
        "Cast transformation does not support casting from {from}; supported types are [{}, BYTES]",
        listed_targets()
    )))
}

fn cast(schema: Option<&Schema>, value: Value, to: Type) -> Result<Value, DataError> {
    castable(schema.map_or_else(|| value.kind(), Schema::kind))?;
    castable(value.kind())?;
    if schema.is_none() && matches!(value, Value::Decimal(_) | Value::Date(_) | Value::Time(_) | Value::Timestamp(_)) {
        return Err(DataError::new(format!("a {} without a schema cannot be cast", value.kind_name())));
    }
    #[expect(clippy::cast_possible_truncation, reason = "as Java casts")]
    Ok(match to {
        Type::Int8 => Value::Int8(integer(&value, 8)? as i8),
        Type::Int16 => Value::Int16(integer(&value, 16)? as i16),
        Type::Int32 => Value::Int32(integer(&value, 32)? as i32),
        Type::Int64 => Value::Int64(integer(&value, 64)?),
        Type::Float32 => Value::Float32(float32(&value)?),
        Type::Float64 => Value::Float64(float64(&value)?),
        Type::Boolean => Value::Boolean(match &value {
            Value::String(text) => text.eq_ignore_ascii_case("true"),
            other => integer(other, 64)? != 0,
        }),
        _ => Value::String(match value {
            Value::String(text) => text,
            Value::Bytes(_) | Value::Date(_) | Value::Time(_) | Value::Timestamp(_) => convert_to_string(&value),
            other => value_text(&other).into(),
        }),
    })
}

/// The value as Java makes an integer of so many bits of it; only the lower ones are to be used.
fn integer(value: &Value, bits: u32) -> Result<i64, DataError> {
    Ok(match value {
        Value::Boolean(value) => i64::from(*value),
        Value::String(text) => {
            let fits = |number: &i64| bits == 64 || (-(1i64 << (bits - 1))..1i64 << (bits - 1)).contains(number);
            parse_long(text).filter(fits).ok_or_else(|| out_of_range(text))?
        }
        Value::Float32(number) => truncated(f64::from(*number), bits),
        Value::Float64(number) => truncated(*number, bits),
        Value::Bytes(_) => return Err(bytes()),
        other => convert_to_long(Some(other))?.unwrap_or_default(),
    })
}

/// As Java: a floating point number becomes an `int` first, unless it becomes a `long`.
fn truncated(number: f64, bits: u32) -> i64 {
    #[expect(clippy::cast_possible_truncation, reason = "as Java casts: NaN is 0, what is too large the largest")]
    if bits == 64 { number as i64 } else { i64::from(number as i32) }
}

fn float32(value: &Value) -> Result<f32, DataError> {
    #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "as Java casts")]
    Ok(match value {
        Value::Float32(number) => *number,
        Value::Float64(number) => *number as f32,
        Value::String(text) => parse_float(text.trim_matches(|c| c <= ' ')).ok_or_else(|| out_of_range(text))?,
        Value::Decimal(_) => convert_to_double(Some(value))?.unwrap_or_default() as f32,
        other => integer(other, 64)? as f32,
    })
}

fn float64(value: &Value) -> Result<f64, DataError> {
    #[expect(clippy::cast_precision_loss, reason = "as Java casts")]
    Ok(match value {
        Value::Float32(number) => f64::from(*number),
        Value::Float64(number) => *number,
        Value::String(text) => parse_double(text.trim_matches(|c| c <= ' ')).ok_or_else(|| out_of_range(text))?,
        Value::Decimal(_) => convert_to_double(Some(value))?.unwrap_or_default(),
        other => integer(other, 64)? as f64,
    })
}

/// How much of a text that is no number an error shows.
const SHOWN_CHARS_MAX: usize = 100;

fn out_of_range(text: &str) -> DataError {
    let shown: String = text.chars().take(SHOWN_CHARS_MAX).collect();
    DataError::new(format!("Value ({shown}) was out of range for requested data type"))
}

fn bytes() -> DataError {
    DataError::new("BYTES can only be cast to STRING")
}

fn listed_targets() -> String {
    TARGETS.map(Type::name).join(", ")
}

fn valid_spec() -> Validator {
    Validator::lambda("list of colon-delimited pairs, e.g. <code>foo:bar,abc:xyz</code>", |_, value| match value {
        ParsedValue::List(items) => parse_spec(items).map(drop),
        _ => Err(empty_spec()),
    })
}

fn empty_spec() -> ConfigError {
    ConfigError::on(SPEC, "Must specify at least one field to cast.")
}

fn parse_spec(items: &[String]) -> Result<Spec, ConfigError> {
    if items.is_empty() {
        return Err(empty_spec());
    }
    let (mut whole, mut fields): (_, Vec<(Text, Type)>) = (None, Vec::new());
    for item in items {
        match split_at_colons(item)[..] {
            [kind] => whole = Some(parse_type(kind.trim())?),
            [name, kind] => {
                let (name, kind) = (name.trim(), parse_type(kind.trim())?);
                if name.is_empty() {
                    return Err(ConfigError::on(SPEC, format!("No field is named in `{item}`")));
                }
                match fields.iter_mut().find(|(known, _)| known == name) {
                    Some((_, known)) => *known = kind,
                    None => fields.push((name.into(), kind)),
                }
            }
            // Kafka's text names another key.
            _ => {
                let items = items.join(", ");
                let text = format!("Invalid value [{items}] for configuration renames: Invalid rename mapping: {item}");
                return Err(ConfigError::on(SPEC, text));
            }
        }
    }
    match whole {
        None => Ok(Spec::Fields(fields)),
        Some(kind) if items.len() == 1 => Ok(Spec::Whole(kind)),
        Some(_) => Err(ConfigError::on(
            SPEC,
            "Cast transformations that specify a type to cast the entire value to may only specify a single cast in \
             their spec",
        )),
    }
}

fn parse_type(text: &str) -> Result<Type, ConfigError> {
    let upper = text.to_uppercase();
    let Some(kind) = Type::ALL.into_iter().find(|kind| kind.name() == upper) else {
        // Kafka's text word for word: clients of the REST API compare it.
        let why = format!(
            "Invalid value java.lang.IllegalArgumentException: No enum constant \
             org.apache.kafka.connect.data.Schema.Type.{upper} for configuration Invalid type found in casting spec: {text}"
        );
        return Err(ConfigError::on(SPEC, why));
    };
    if TARGETS.contains(&kind) {
        return Ok(kind);
    }
    Err(ConfigError::on(
        SPEC,
        format!("Cast transformation does not support casting to {kind}; supported types are [{}]", listed_targets()),
    ))
}
