//! `TimestampConverter`: between text, numbers, and Connect's Date, Time and Timestamp.

use super::schema_cache::SchemaCache;
use super::settings::wrong;
use super::shape::{build_struct, expect_map, expect_struct, keep_all, struct_like};
use connect_sdk::config::{ConfigEnum, ConfigErrors, ConnectorConfig};
use connect_sdk::data::{DataError, LogicalType, Schema, Struct, Text, Timestamp, Type, Value};
use connect_sdk::java::date_format::DatePattern;
use connect_sdk::transform::{ConnectRecord, Part, PartTransformation};
use connect_sdk::transformation;
use std::time::{SystemTime, UNIX_EPOCH};

const FORMAT: &str = "format";
const PURPOSE: &str = "converting timestamp formats";

/// Its keys.
#[derive(Debug, ConnectorConfig)]
#[config(of = transformation)]
pub(super) struct TimestampConverterConfig {
    /// The field that is converted; empty for all.
    #[config(default = "", importance = high)]
    field: Text,
    /// What it becomes: string, unix, Date, Time, Timestamp.
    #[config(importance = high)]
    target_type: Kind,
    /// How text is written or read: a pattern of java.text.SimpleDateFormat, in UTC and English.
    #[config(default = "")]
    format: Text,
    /// The unit of numbers, read or written: seconds, milliseconds, microseconds, nanoseconds.
    #[config(default = Precision::Milliseconds, importance = low)]
    unix_precision: Precision,
    /// Whether a field that is null and has a default gets the default.
    #[config(default = true)]
    replace_null_with_default: bool,
}

/// `org.apache.kafka.connect.transforms.TimestampConverter`.
#[derive(Debug)]
pub(super) struct TimestampConverter {
    part: Part,
    /// Empty for the whole value.
    field: Text,
    replace_null: bool,
    conversion: Conversion,
    plans: SchemaCache<Plan>,
}

#[derive(Debug)]
struct Conversion {
    target: Kind,
    format: Option<DatePattern>,
    precision: Precision,
    /// When the transformation was made: tells the century of years with two digits.
    now_ms: i64,
}

/// A form in which an instant can stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ConfigEnum)]
pub(super) enum Kind {
    #[config(rename = "string")]
    Text,
    Unix,
    #[config(rename = "Date")]
    Date,
    #[config(rename = "Time")]
    Time,
    #[config(rename = "Timestamp")]
    Timestamp,
}

/// The unit of numbers.
#[derive(Debug, Clone, Copy, ConfigEnum)]
pub(super) enum Precision {
    Nanoseconds,
    Microseconds,
    Milliseconds,
    Seconds,
}

/// The new schema, where the field stands, and in which form it is.
#[derive(Debug)]
struct Plan {
    schema: Schema,
    field: Option<(usize, Result<Kind, DataError>)>,
}

/// The pattern, which must be readable if it is not there to write with.
fn pattern(format: &str, target: Kind) -> Result<Option<DatePattern>, ConfigErrors> {
    if format.trim().is_empty() {
        if target == Kind::Text {
            let text = "TimestampConverter requires format option to be specified when using string timestamps";
            return Err(wrong(FORMAT, text));
        }
        return Ok(None);
    }
    let readable = |pattern: DatePattern| {
        if target == Kind::Text { Ok(pattern) } else { pattern.check_readable().map(|()| pattern) }
    };
    let pattern = DatePattern::new(format).and_then(readable);
    pattern
        .map(Some)
        .map_err(|error| wrong(FORMAT, format!("Invalid value {format} for configuration {FORMAT}: {error}")))
}

#[expect(
    clippy::disallowed_methods,
    reason = "what years of two digits mean depends on the day, once, as in Java; nothing waits for it"
)]
fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// Converts between text, numbers, and Connect's Date, Time and Timestamp.
#[transformation(java = "org.apache.kafka.connect.transforms.TimestampConverter", version = "4.3.1")]
impl PartTransformation for TimestampConverter {
    type Config = TimestampConverterConfig;

    fn new(config: TimestampConverterConfig, part: Part) -> Result<Self, ConfigErrors> {
        let target = config.target_type;
        let format = pattern(&config.format, target)?;
        let conversion = Conversion { target, format, precision: config.unix_precision, now_ms: now_ms() };
        let replace_null = config.replace_null_with_default;
        Ok(Self { part, field: config.field, replace_null, conversion, plans: SchemaCache::new() })
    }

    fn apply(&mut self, mut record: ConnectRecord) -> Result<Option<ConnectRecord>, DataError> {
        let slot = self.part.of(&mut record);
        let value = slot.value.take();
        let Some(schema) = &slot.schema else {
            slot.value = match value {
                None => None,
                Some(value) if self.field.is_empty() => Some(self.conversion.of(kind_of(&value)?, &value)?),
                value => {
                    let mut map = expect_map(value, PURPOSE)?;
                    // A field that is not there is not added.
                    if let Some(value) = map.get_str_mut(&self.field)
                        && let Some(old) = value.take()
                    {
                        let new = kind_of(&old).and_then(|kind| self.conversion.of(kind, &old));
                        *value = Some(new.map_err(|error| error.in_field(&self.field))?);
                    }
                    Some(map.into())
                }
            };
            return Ok(Some(record));
        };
        if self.field.is_empty() {
            let kind = kind_in(schema)?;
            slot.value = value.map(|value| self.conversion.of(kind, &value)).transpose()?;
            slot.schema = Some(self.conversion.target.schema(schema.is_optional()));
            return Ok(Some(record));
        }
        let value = match value {
            None => None,
            value => Some(expect_struct(value, PURPOSE)?),
        };
        let (field, conversion, replace_null) = (&self.field, &self.conversion, self.replace_null);
        let schema = value.as_ref().map_or(schema, Struct::schema);
        let plan = self.plans.get_or_make(schema, |schema| Plan::new(schema, field, conversion, replace_null))?;
        slot.schema = Some(plan.schema.clone());
        slot.value = match value {
            None => None,
            Some(value) => Some(plan.apply(value, plan.schema.clone(), conversion, replace_null)?.into()),
        };
        Ok(Some(record))
    }
}

impl Plan {
    fn new(of: &Schema, field: &str, conversion: &Conversion, replace_null: bool) -> Result<Self, DataError> {
        if of.kind() != Type::Struct {
            return Err(DataError::new(format!("{of} has no fields, so there is no field `{field}`")));
        }
        let mut builder = struct_like(of);
        let mut found = None;
        for old in of.fields() {
            let schema = if old.name() == field {
                found = Some((old.index(), kind_in(old.schema())));
                conversion.target.schema(old.schema().is_optional())
            } else {
                old.schema().clone()
            };
            builder = builder.field(old.name_text().clone(), schema);
        }
        let mut plan = Self { schema: of.clone(), field: found };
        plan.schema =
            build_struct(builder, of, |default, schema| plan.apply(default, schema, conversion, replace_null))?;
        Ok(plan)
    }

    fn apply(
        &self,
        mut value: Struct,
        schema: Schema,
        conversion: &Conversion,
        replace_null: bool,
    ) -> Result<Struct, DataError> {
        let old = value.schema().clone();
        let values = value.values_mut();
        keep_all(old.fields(), values, replace_null)?;
        if let Some((index, kind)) = &self.field {
            let in_field = |error: DataError| error.in_field(old.fields()[*index].name());
            let kind = kind.clone().map_err(in_field)?;
            if let Some(old) = values[*index].take() {
                values[*index] = Some(conversion.of(kind, &old).map_err(in_field)?);
            }
        }
        Ok(value.with_schema(schema))
    }
}

/// In which form values of a schema are.
fn kind_in(schema: &Schema) -> Result<Kind, DataError> {
    match (schema.logical(), schema.kind()) {
        (Some(LogicalType::Timestamp), _) => Ok(Kind::Timestamp),
        (Some(LogicalType::Date), _) => Ok(Kind::Date),
        (Some(LogicalType::Time), _) => Ok(Kind::Time),
        (None, Type::String) => Ok(Kind::Text),
        (None, Type::Int64) => Ok(Kind::Unix),
        _ => Err(DataError::new(format!("Schema {schema} does not correspond to a known timestamp type format"))),
    }
}

/// In which form a value without schema is.
fn kind_of(value: &Value) -> Result<Kind, DataError> {
    match value {
        Value::Date(_) | Value::Time(_) | Value::Timestamp(_) => Ok(Kind::Timestamp),
        Value::Int64(_) => Ok(Kind::Unix),
        Value::String(_) => Ok(Kind::Text),
        other => {
            let kind = other.kind_name();
            Err(DataError::new(format!("TimestampConverter does not support {kind} values as timestamps")))
        }
    }
}

impl Kind {
    fn schema(self, optional: bool) -> Schema {
        let schema = match self {
            Self::Text => Schema::string(),
            Self::Unix => Schema::int64(),
            Self::Date => Schema::date(),
            Self::Time => Schema::time(),
            Self::Timestamp => Schema::timestamp(),
        };
        if optional { schema.to_optional() } else { schema }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Text => "string timestamp",
            Self::Unix => "Unix timestamp",
            Self::Date => "Date",
            Self::Time => "Time",
            Self::Timestamp => "Timestamp",
        }
    }
}

impl Conversion {
    fn of(&self, from: Kind, value: &Value) -> Result<Value, DataError> {
        let instant = match (from, value) {
            (Kind::Text, Value::String(text)) => self.read(text)?,
            (Kind::Unix, Value::Int64(number)) => self.precision.to_millis(*number),
            (Kind::Date | Kind::Time | Kind::Timestamp, Value::Date(date)) => date.to_timestamp().epoch_millis(),
            (Kind::Date | Kind::Time | Kind::Timestamp, Value::Time(time)) => time.millis_of_day().into(),
            (Kind::Date | Kind::Time | Kind::Timestamp, Value::Timestamp(at)) => at.epoch_millis(),
            _ => {
                let (expected, kind) = (from.name(), value.kind_name());
                return Err(DataError::new(format!("expected a {expected}, but found a value of type {kind}")));
            }
        };
        let timestamp = Timestamp::from_epoch_millis(instant);
        Ok(match self.target {
            Kind::Text => match &self.format {
                Some(format) => format.format(instant).into(),
                None => return Err(no_format()),
            },
            Kind::Unix => Value::Int64(self.precision.of_millis(instant)),
            Kind::Date => match timestamp.date() {
                Some(date) => date.into(),
                None => return Err(DataError::new(format!("the instant {instant} is too far away for a Date"))),
            },
            Kind::Time => timestamp.time().into(),
            Kind::Timestamp => timestamp.into(),
        })
    }

    fn read(&self, text: &str) -> Result<i64, DataError> {
        let format = self.format.as_ref().ok_or_else(no_format)?;
        format.parse(text, self.now_ms).ok_or_else(|| {
            let shown: String = text.chars().take(SHOWN_CHARS_MAX).collect();
            let why = format.check_readable().err().map(|error| format!(": {error}")).unwrap_or_default();
            let pattern = format.pattern();
            DataError::new(format!(
                "Could not parse timestamp: value ({shown}) does not match pattern ({pattern}){why}"
            ))
        })
    }
}

/// How much of a text that cannot be read an error shows.
const SHOWN_CHARS_MAX: usize = 100;

fn no_format() -> DataError {
    DataError::new("the value is text, but the transformation has no `format`")
}

impl Precision {
    /// Java's `TimeUnit`: what is too large becomes the largest number, what is too small for the unit is cut.
    fn to_millis(self, number: i64) -> i64 {
        match self {
            Self::Seconds => number.saturating_mul(1000),
            Self::Milliseconds => number,
            Self::Microseconds => number / 1000,
            Self::Nanoseconds => number / 1_000_000,
        }
    }

    fn of_millis(self, millis: i64) -> i64 {
        match self {
            Self::Seconds => millis / 1000,
            Self::Milliseconds => millis,
            Self::Microseconds => millis.saturating_mul(1000),
            Self::Nanoseconds => millis.saturating_mul(1_000_000),
        }
    }
}
