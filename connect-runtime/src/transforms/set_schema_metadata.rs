//! `SetSchemaMetadata`: gives the schema another name, another version, or both.

use super::part::{OfPart, Part, key_and_value};
use super::schema_cache::SchemaCache;
use super::settings::{key, replace_null_key, replaces_null};
use super::shape::keep_all;
use connect_sdk::config::{ConfigDef, ConfigError, ConfigErrors, ConfigType, Importance};
use connect_sdk::data::{DataError, Schema, Text, Value};
use connect_sdk::erased::{DynTransformation, Properties};
use connect_sdk::transform::{ConnectRecord, TransformationClass};

const NAME: &str = "schema.name";
const VERSION: &str = "schema.version";

pub(super) const CLASSES: [TransformationClass; 2] = key_and_value::<SetSchemaMetadata>(
    "org.apache.kafka.connect.transforms.SetSchemaMetadata$Key",
    "org.apache.kafka.connect.transforms.SetSchemaMetadata$Value",
);

/// `org.apache.kafka.connect.transforms.SetSchemaMetadata`.
#[derive(Debug)]
pub(super) struct SetSchemaMetadata {
    part: Part,
    name: Option<Text>,
    version: Option<i32>,
    replace_null: bool,
    schemas: SchemaCache<Schema>,
}

impl OfPart for SetSchemaMetadata {
    fn config_def() -> ConfigDef {
        ConfigDef::new()
            .define(key(NAME, ConfigType::String, Importance::High, "The new name of the schema.").null_default())
            .define(key(VERSION, ConfigType::Int, Importance::High, "The new version of the schema.").null_default())
            .define(replace_null_key())
    }

    fn new(properties: &Properties, part: Part) -> Result<Self, ConfigErrors> {
        let config = Self::config_def().parse(properties)?;
        let name = config.string(NAME).map(Text::from);
        let version = config.integer(VERSION).and_then(|version| i32::try_from(version).ok());
        if name.is_none() && version.is_none() {
            return Err(ConfigError::new("Neither schema name nor version configured").into());
        }
        Ok(Self { part, name, version, replace_null: replaces_null(&config), schemas: SchemaCache::new() })
    }
}

impl DynTransformation for SetSchemaMetadata {
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
