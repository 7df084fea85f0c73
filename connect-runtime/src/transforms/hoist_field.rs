//! `HoistField`: makes a value the only field of a struct or map. A tombstone becomes one with a null field.

use super::part::{OfPart, Part, key_and_value};
use super::schema_cache::SchemaCache;
use super::settings::{key, text};
use super::shape::fit;
use connect_sdk::config::{ConfigDef, ConfigErrors, ConfigType, Importance};
use connect_sdk::data::{DataError, Map, Schema, SchemaBuilder, Struct, Text, Value};
use connect_sdk::erased::{DynTransformation, Properties};
use connect_sdk::transform::{ConnectRecord, TransformationClass};

const FIELD: &str = "field";
/// A hoisted value is seldom left alone: what follows in the chain adds fields, and needs no memory for so many.
const ROOM_FIELDS: usize = 4;

pub(super) const CLASSES: [TransformationClass; 2] = key_and_value::<HoistField>(
    "org.apache.kafka.connect.transforms.HoistField$Key",
    "org.apache.kafka.connect.transforms.HoistField$Value",
);

/// `org.apache.kafka.connect.transforms.HoistField`.
#[derive(Debug)]
pub(super) struct HoistField {
    part: Part,
    field: Text,
    schemas: SchemaCache<Schema>,
}

impl OfPart for HoistField {
    fn config_def() -> ConfigDef {
        let doc = "The name of the field that the value becomes.";
        ConfigDef::new().define(key(FIELD, ConfigType::String, Importance::Medium, doc))
    }

    fn new(properties: &Properties, part: Part) -> Result<Self, ConfigErrors> {
        let config = Self::config_def().parse(properties)?;
        Ok(Self { part, field: text(&config, FIELD), schemas: SchemaCache::new() })
    }
}

impl DynTransformation for HoistField {
    fn apply(&mut self, mut record: ConnectRecord) -> Result<Option<ConnectRecord>, DataError> {
        let slot = self.part.of(&mut record);
        let value = slot.value.take();
        let Some(schema) = &slot.schema else {
            let mut map = Map::with_capacity(1);
            map.insert(self.field.clone(), value);
            slot.value = Some(map.into());
            return Ok(Some(record));
        };
        let hoisted = self
            .schemas
            .get_or_make(schema, |schema| SchemaBuilder::struct_().field(self.field.clone(), schema.clone()).build())?;
        let mut new = Struct::with_room(hoisted.clone(), ROOM_FIELDS)?;
        new.values_mut()[0] = fit(&self.field, schema, value)?;
        slot.schema = Some(hoisted.clone());
        slot.value = Some(Value::Struct(new));
        Ok(Some(record))
    }
}
