//! `SetSchemaMetadata`: gives the schema another name, another version, or both.

use super::schema_cache::SchemaCache;
use super::shape::keep_all;
use connect_sdk::config::{ConfigErrors, ConnectorConfig};
use connect_sdk::data::{DataError, Schema, Text, Value};
use connect_sdk::transform::{ConnectRecord, Part, PartTransformation};
use connect_sdk::transformation;

/// Its keys.
#[derive(Debug, ConnectorConfig)]
#[config(of = transformation)]
pub(super) struct SetSchemaMetadataConfig {
    /// The new name of the schema.
    #[config(importance = high)]
    schema_name: Option<Text>,
    /// The new version of the schema.
    #[config(importance = high)]
    schema_version: Option<i32>,
    /// Whether a field that is null and has a default gets the default.
    #[config(default = true)]
    replace_null_with_default: bool,
}

/// `org.apache.kafka.connect.transforms.SetSchemaMetadata`.
#[derive(Debug)]
pub(super) struct SetSchemaMetadata {
    part: Part,
    name: Option<Text>,
    version: Option<i32>,
    replace_null: bool,
    schemas: SchemaCache<Schema>,
}

/// Gives the schema another name, another version, or both.
#[transformation(java = "org.apache.kafka.connect.transforms.SetSchemaMetadata", version = "4.3.1")]
impl PartTransformation for SetSchemaMetadata {
    type Config = SetSchemaMetadataConfig;

    fn new(config: SetSchemaMetadataConfig, part: Part) -> Result<Self, ConfigErrors> {
        let (name, version) = (config.schema_name, config.schema_version);
        if name.is_none() && version.is_none() {
            return Err("Neither schema name nor version configured".into());
        }
        let replace_null = config.replace_null_with_default;
        Ok(Self { part, name, version, replace_null, schemas: SchemaCache::new() })
    }

    fn apply(&mut self, mut record: ConnectRecord) -> Result<Option<ConnectRecord>, DataError> {
        let slot = self.part.of(&mut record);
        let Some(schema) = &slot.schema else {
            return match slot.value {
                None => Ok(Some(record)),
                Some(_) => Err(DataError::new("Schema required for [updating schema metadata]")),
            };
        };
        let new = self.schemas.get_or_make(schema, |schema| Ok(schema.renamed(self.name.clone(), self.version)))?;
        if let Some(Value::Struct(mut value)) = slot.value.take_if(|value| value.as_struct().is_some()) {
            if !schema.accepts_struct_of(value.schema()) {
                return Err(DataError::new(format!("the struct was made for another schema than {schema}")));
            }
            keep_all(new.fields(), value.values_mut(), self.replace_null)?;
            slot.value = Some(value.with_schema(new.clone()).into());
        }
        slot.schema = Some(new.clone());
        Ok(Some(record))
    }
}
