//! `HoistField`: makes a value the only field of a struct or map. A tombstone becomes one with a null field.

use super::schema_cache::SchemaCache;
use super::shape::fit;
use connect_sdk::config::{ConfigErrors, ConnectorConfig};
use connect_sdk::data::{DataError, Map, Schema, SchemaBuilder, Struct, Text, Value};
use connect_sdk::transform::{ConnectRecord, Part, PartTransformation};
use connect_sdk::transformation;

/// A hoisted value is seldom left alone: what follows in the chain adds fields, and needs no memory for so many.
const ROOM_FIELDS: usize = 4;

/// Its keys.
#[derive(Debug, ConnectorConfig)]
#[config(of = transformation)]
pub(super) struct HoistFieldConfig {
    /// The name of the field that the value becomes.
    field: Text,
}

/// `org.apache.kafka.connect.transforms.HoistField`.
#[derive(Debug)]
pub(super) struct HoistField {
    part: Part,
    field: Text,
    schemas: SchemaCache<Schema>,
}

/// Makes a value the only field of a struct or map.
#[transformation(java = "org.apache.kafka.connect.transforms.HoistField", version = "4.3.1")]
impl PartTransformation for HoistField {
    type Config = HoistFieldConfig;

    fn new(config: HoistFieldConfig, part: Part) -> Result<Self, ConfigErrors> {
        Ok(Self { part, field: config.field, schemas: SchemaCache::new() })
    }

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
