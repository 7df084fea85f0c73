//! `ValueToKey`: makes a key of fields of the value.

use super::schema_cache::SchemaCache;
use super::settings::{distinct_items, key, replace_null_key, replaces_null, texts};
use super::shape::{expect_map, expect_struct, kept};
use connect_sdk::config::{ConfigDef, ConfigErrors, ConfigType, Importance};
use connect_sdk::data::{DataError, Map, Schema, SchemaAndValue, SchemaBuilder, Struct, Text};
use connect_sdk::erased::{DynTransformation, Properties};
use connect_sdk::transform::{ConnectRecord, TransformationClass};

const FIELDS: &str = "fields";
const PURPOSE: &str = "copying fields from value to key";

pub(super) const CLASS: TransformationClass = TransformationClass {
    class: "org.apache.kafka.connect.transforms.ValueToKey",
    version: env!("CARGO_PKG_VERSION"),
    name: None,
    doc: "",
    type_name: "",
    config_def,
    make: |properties| Ok(Box::new(ValueToKey::new(properties)?)),
};

/// `org.apache.kafka.connect.transforms.ValueToKey`.
#[derive(Debug)]
struct ValueToKey {
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

fn config_def() -> ConfigDef {
    let doc = "The fields of the value that make the key, in their order.";
    ConfigDef::new()
        .define(key(FIELDS, ConfigType::List, Importance::High, doc).validator(distinct_items()))
        .define(replace_null_key())
}

impl ValueToKey {
    fn new(properties: &Properties) -> Result<Self, ConfigErrors> {
        let config = config_def().parse(properties)?;
        Ok(Self { fields: texts(&config, FIELDS), replace_null: replaces_null(&config), plans: SchemaCache::new() })
    }
}

impl DynTransformation for ValueToKey {
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
