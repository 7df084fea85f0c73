//! `ExtractField`: a field takes the place of the whole key or value.

use super::field_path::{FieldPath, SYNTAX, syntax_key};
use super::part::{OfPart, Part, key_and_value};
use super::schema_cache::SchemaCache;
use super::settings::{key, replace_null_key, replaces_null, wrong};
use super::shape::{expect_map, expect_struct};
use connect_sdk::config::{ConfigDef, ConfigErrors, ConfigType, Importance};
use connect_sdk::data::{DataError, Schema};
use connect_sdk::erased::{DynTransformation, Properties};
use connect_sdk::nearest::nearest;
use connect_sdk::transform::{ConnectRecord, TransformationClass};

const FIELD: &str = "field";
const PURPOSE: &str = "field extraction";

pub(super) const CLASSES: [TransformationClass; 2] = key_and_value::<ExtractField>(
    "org.apache.kafka.connect.transforms.ExtractField$Key",
    "org.apache.kafka.connect.transforms.ExtractField$Value",
);

/// `org.apache.kafka.connect.transforms.ExtractField`.
#[derive(Debug)]
pub(super) struct ExtractField {
    part: Part,
    path: FieldPath,
    replace_null: bool,
    /// The schema of the field.
    schemas: SchemaCache<Schema>,
}

impl OfPart for ExtractField {
    fn config_def() -> ConfigDef {
        ConfigDef::new()
            .define(key(FIELD, ConfigType::String, Importance::Medium, "The field that is extracted."))
            .define(replace_null_key())
            .define(syntax_key())
    }

    fn new(properties: &Properties, part: Part) -> Result<Self, ConfigErrors> {
        let config = Self::config_def().parse(properties)?;
        let field = config.string(FIELD).unwrap_or_default();
        let v2 = config.string(SYNTAX).is_some_and(|version| version.eq_ignore_ascii_case("V2"));
        let path = if v2 { FieldPath::v2(field).map_err(|why| wrong(FIELD, why))? } else { FieldPath::v1(field) };
        Ok(Self { part, path, replace_null: replaces_null(&config), schemas: SchemaCache::new() })
    }
}

impl DynTransformation for ExtractField {
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
