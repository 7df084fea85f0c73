//! `MaskField`: replaces what fields hold by zero, nothing, or a text or number of the operator's.
//!
//! A tombstone has no fields and passes; null fields stay null.

use super::settings::distinct_items;
use super::shape::{expect_map, expect_struct, keep_all};
use connect_sdk::config::{ConfigErrors, ConnectorConfig, Validator};
use connect_sdk::data::values::{convert_to_decimal, convert_to_double};
use connect_sdk::data::{DataError, Date, Decimal, Map, Schema, Text, Time, Timestamp, Value};
use connect_sdk::transform::{ConnectRecord, Part, PartTransformation};
use connect_sdk::transformation;
use std::sync::Arc;

const PURPOSE: &str = "mask fields";

/// Its keys.
#[derive(Debug, ConnectorConfig)]
#[config(of = transformation)]
pub(super) struct MaskFieldConfig {
    /// The fields that are masked.
    #[config(importance = high, validator = distinct_items())]
    fields: Vec<Text>,
    /// What the fields get: text for texts, a number for numbers. Without it they get an empty text, zero, `false`,
    /// 1970-01-01, an empty list or map.
    #[config(importance = low, validator = Validator::non_empty_string())]
    replacement: Option<Text>,
    /// Whether a field that is null and has a default gets the default.
    #[config(default = true)]
    replace_null_with_default: bool,
}

/// `org.apache.kafka.connect.transforms.MaskField`.
#[derive(Debug)]
pub(super) struct MaskField {
    part: Part,
    fields: Vec<Text>,
    replacement: Option<Replacement>,
    replace_null: bool,
}

/// The operator's text, and the numbers that it stands for.
#[derive(Debug)]
struct Replacement {
    text: Text,
    decimal: Option<Decimal>,
    double: Option<f64>,
}

impl Replacement {
    fn new(text: Text) -> Self {
        let value = Value::String(text.clone());
        let decimal = convert_to_decimal(Some(&value), 0).ok();
        // By way of the decimal, which has no negative zero.
        let double = decimal.as_ref().and_then(|d| convert_to_double(Some(&d.clone().into())).ok().flatten());
        Self { text, decimal, double }
    }

    /// The replacement as an integer of this type.
    fn integer<T: TryFrom<i64>>(&self, masked: &Value) -> Result<T, DataError> {
        let decimal = self.decimal.as_ref().ok_or_else(|| self.no_number())?;
        let whole = decimal.rescaled(0).and_then(|whole| i64::try_from(whole.unscaled()).ok());
        whole.and_then(|whole| T::try_from(whole).ok()).ok_or_else(|| self.unfit(masked.kind_name()))
    }

    fn double(&self) -> Result<f64, DataError> {
        self.double.ok_or_else(|| self.no_number())
    }

    fn no_number(&self) -> DataError {
        DataError::new(format!("the replacement `{}` is no number", self.text))
    }

    fn unfit(&self, what: &str) -> DataError {
        DataError::new(format!("the replacement `{}` does not fit the field's type ({what})", self.text))
    }

    fn of(&self, schema: Option<&Schema>, value: &Value) -> Result<Value, DataError> {
        #[expect(clippy::cast_possible_truncation, reason = "as Java: BigDecimal.floatValue")]
        Ok(match value {
            Value::Int8(_) => Value::Int8(self.integer(value)?),
            Value::Int16(_) => Value::Int16(self.integer(value)?),
            Value::Int32(_) => Value::Int32(self.integer(value)?),
            Value::Int64(_) => Value::Int64(self.integer(value)?),
            Value::Float32(_) => Value::Float32(self.double()? as f32),
            Value::Float64(_) => Value::Float64(self.double()?),
            Value::Decimal(_) => {
                let decimal = self.decimal.as_ref().ok_or_else(|| self.no_number())?;
                match schema {
                    None => decimal.clone(),
                    Some(schema) => {
                        let scale = schema.decimal_scale()?;
                        decimal.rescaled(scale).ok_or_else(|| self.unfit(&format!("Decimal of scale {scale}")))?
                    }
                }
                .into()
            }
            Value::String(_) => Value::String(self.text.clone()),
            other => {
                let kind = other.kind_name();
                return Err(DataError::new(format!("Cannot mask value of type {kind} with custom replacement.")));
            }
        })
    }
}

/// What a value of this type is masked with if the operator says nothing.
fn zero(schema: Option<&Schema>, value: &Value) -> Result<Value, DataError> {
    Ok(match value {
        Value::Int8(_) => Value::Int8(0),
        Value::Int16(_) => Value::Int16(0),
        Value::Int32(_) => Value::Int32(0),
        Value::Int64(_) => Value::Int64(0),
        Value::Float32(_) => Value::Float32(0.0),
        Value::Float64(_) => Value::Float64(0.0),
        Value::Boolean(_) => Value::Boolean(false),
        Value::String(_) => Value::String(Text::new()),
        // A zero of another scale would not fit the schema.
        Value::Decimal(_) => Decimal::new(0, schema.map_or(Ok(0), Schema::decimal_scale)?).into(),
        Value::Date(_) => Date::from_epoch_days(0).into(),
        Value::Time(_) => Time::from_millis_of_day(0)?.into(),
        Value::Timestamp(_) => Timestamp::from_epoch_millis(0).into(),
        Value::Array(_) => Value::Array(Arc::new([])),
        Value::Map(_) => Map::new().into(),
        Value::Bytes(_) | Value::Struct(_) => {
            return Err(DataError::new(format!("Cannot mask value of type: {}", value.kind_name())));
        }
    })
}

/// Replaces what fields hold by zero, nothing, or a text or number of the operator's.
#[transformation(java = "org.apache.kafka.connect.transforms.MaskField", version = "4.3.1")]
impl PartTransformation for MaskField {
    type Config = MaskFieldConfig;

    fn new(config: MaskFieldConfig, part: Part) -> Result<Self, ConfigErrors> {
        let replacement = config.replacement.map(Replacement::new);
        Ok(Self { part, fields: config.fields, replacement, replace_null: config.replace_null_with_default })
    }

    fn apply(&mut self, mut record: ConnectRecord) -> Result<Option<ConnectRecord>, DataError> {
        let slot = self.part.of(&mut record);
        let Some(value) = slot.value.take() else { return Ok(Some(record)) };
        slot.value = Some(if slot.schema.is_none() {
            let mut map = expect_map(Some(value), PURPOSE)?;
            for field in &self.fields {
                // A field that is not there is not added.
                if let Some(value) = map.get_str_mut(field) {
                    self.mask(field, None, value)?;
                }
            }
            map.into()
        } else {
            let mut value = expect_struct(Some(value), PURPOSE)?;
            let schema = value.schema().clone();
            let values = value.values_mut();
            keep_all(schema.fields(), values, self.replace_null)?;
            for field in self.fields.iter().filter_map(|name| schema.field(name)) {
                self.mask(field.name(), Some(field.schema()), &mut values[field.index()])?;
            }
            value.into()
        });
        Ok(Some(record))
    }
}

impl MaskField {
    fn mask(&self, field: &str, schema: Option<&Schema>, value: &mut Option<Value>) -> Result<(), DataError> {
        if let Some(value) = value {
            let masked = match &self.replacement {
                Some(replacement) => replacement.of(schema, value),
                None => zero(schema, value),
            };
            *value = masked.map_err(|error| error.in_field(field))?;
        }
        Ok(())
    }
}
