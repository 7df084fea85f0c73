//! `ValueToKey`: makes a key of fields of the value.

use super::schema_cache::SchemaCache;
use super::settings::distinct_items;
use super::shape::{expect_map, expect_struct, kept};
use connect_sdk::config::{ConfigErrors, ConnectorConfig};
use connect_sdk::data::{DataError, Map, Schema, SchemaAndValue, SchemaBuilder, Struct, Text};
use connect_sdk::transform::{ConnectRecord, Transformation};
use connect_sdk::transformation;

const PURPOSE: &str = "copying fields from value to key";

/// Its keys.
#[derive(Debug, ConnectorConfig)]
#[config(of = transformation)]
pub(super) struct ValueToKeyConfig {
    /// The fields of the value that make the key, in their order.
    #[config(importance = high, validator = distinct_items())]
    fields: Vec<Text>,
    /// Whether a field that is null and has a default gets the default.
    #[config(default = true)]
    replace_null_with_default: bool,
}

/// `org.apache.kafka.connect.transforms.ValueToKey`.
#[derive(Debug)]
pub(super) struct ValueToKey {
    fields: Vec<Text>,
    replace_null: bool,
    plans: SchemaCache<Plan>,
}

/// The schema of the key, and where its fields stand in the value.
#[derive(Debug)]
struct Plan {
    schema: Schema,
    fields: Vec<usize>,
}

/// Makes a key of fields of the value.
#[transformation(java = "org.apache.kafka.connect.transforms.ValueToKey", version = "4.3.1")]
impl Transformation for ValueToKey {
    type Config = ValueToKeyConfig;

    fn new(config: ValueToKeyConfig) -> Result<Self, ConfigErrors> {
        let replace_null = config.replace_null_with_default;
        Ok(Self { fields: config.fields, replace_null, plans: SchemaCache::new() })
    }

    fn apply(&mut self, mut record: ConnectRecord) -> Result<Option<ConnectRecord>, DataError> {
        let slot = &mut record.value;
        let value = slot.value.take();
        if slot.schema.is_none() {
            let value = expect_map(value, PURPOSE)?;
            let mut key = Map::with_capacity(self.fields.len());
            for field in &self.fields {
                key.insert(field.clone(), value.get_str(field).flatten());
            }
            slot.value = Some(value.into());
            record.key = SchemaAndValue { schema: None, value: Some(key.into()) };
            return Ok(Some(record));
        }
        let value = expect_struct(value, PURPOSE)?;
        let plan = self.plans.get_or_make(value.schema(), |schema| Plan::new(schema, &self.fields))?;
        let mut key = Struct::new(plan.schema.clone())?;
        for (index, to) in plan.fields.iter().zip(key.values_mut()) {
            let field = &value.schema().fields()[*index];
            *to = kept(field, value.value_at(*index).cloned(), self.replace_null)?;
        }
        slot.schema = Some(value.schema().clone());
        slot.value = Some(value.into());
        record.key = SchemaAndValue { schema: Some(plan.schema.clone()), value: Some(key.into()) };
        Ok(Some(record))
    }
}

impl Plan {
    fn new(of: &Schema, names: &[Text]) -> Result<Self, DataError> {
        let mut builder = SchemaBuilder::struct_();
        let mut fields = Vec::with_capacity(names.len());
        for name in names {
            let field = of.expect_field(name)?;
            builder = builder.field(name.clone(), field.schema().clone());
            fields.push(field.index());
        }
        Ok(Self { schema: builder.build()?, fields })
    }
}
