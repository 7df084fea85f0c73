//! `ExtractField`: a field takes the place of the whole key or value.

use super::field_path::{FieldPath, Syntax};
use super::schema_cache::SchemaCache;
use super::settings::wrong;
use super::shape::{expect_map, expect_struct};
use connect_sdk::config::{ConfigErrors, ConnectorConfig};
use connect_sdk::data::{DataError, Schema, Text};
use connect_sdk::nearest::nearest;
use connect_sdk::transform::{ConnectRecord, Part, PartTransformation};
use connect_sdk::transformation;

const FIELD: &str = "field";
const PURPOSE: &str = "field extraction";

/// Its keys.
#[derive(Debug, ConnectorConfig)]
#[config(of = transformation)]
pub(super) struct ExtractFieldConfig {
    /// The field that is extracted.
    field: Text,
    /// Whether a field that is null and has a default gets the default.
    #[config(default = true)]
    replace_null_with_default: bool,
    /// How fields are named. V1: by their name. V2: by a path, names between dots; a name with dots stands in backticks.
    #[config(default = Syntax::V1, importance = high, key = "field.syntax.version")]
    syntax: Syntax,
}

/// `org.apache.kafka.connect.transforms.ExtractField`.
#[derive(Debug)]
pub(super) struct ExtractField {
    part: Part,
    path: FieldPath,
    replace_null: bool,
    /// The schema of the field.
    schemas: SchemaCache<Schema>,
}

/// A field takes the place of the whole key or value.
#[transformation(java = "org.apache.kafka.connect.transforms.ExtractField", version = "4.3.1")]
impl PartTransformation for ExtractField {
    type Config = ExtractFieldConfig;

    fn new(config: ExtractFieldConfig, part: Part) -> Result<Self, ConfigErrors> {
        let path = match config.syntax {
            Syntax::V1 => FieldPath::v1(&config.field),
            Syntax::V2 => FieldPath::v2(&config.field).map_err(|why| wrong(FIELD, why))?,
        };
        Ok(Self { part, path, replace_null: config.replace_null_with_default, schemas: SchemaCache::new() })
    }

    fn apply(&mut self, mut record: ConnectRecord) -> Result<Option<ConnectRecord>, DataError> {
        let slot = self.part.of(&mut record);
        let value = slot.value.take();
        let Some(schema) = &slot.schema else {
            slot.value = match value {
                None => None,
                value => self.path.take_from_map(expect_map(value, PURPOSE)?)?,
            };
            return Ok(Some(record));
        };
        let value = match value {
            None => None,
            value => Some(expect_struct(value, PURPOSE)?),
        };
        let path = &self.path;
        let field = self.schemas.get_or_make(schema, |schema| match path.field_of(schema)? {
            Some(field) => Ok(field.schema().clone()),
            None => Err(unknown_field(path, schema)),
        })?;
        slot.schema = Some(field.clone());
        slot.value = value.and_then(|value| path.take_from_struct(value, self.replace_null));
        Ok(Some(record))
    }
}

fn unknown_field(path: &FieldPath, schema: &Schema) -> DataError {
    let near = nearest(path.text(), schema.fields().iter().map(connect_sdk::data::Field::name));
    let hint = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
    DataError::new(format!("Unknown field: {}{hint}", path.text()))
}
