//! `InsertField`: adds fields with the record's topic, partition, offset, timestamp, or a fixed text.

use super::schema_cache::SchemaCache;
use super::settings::wrong;
use super::shape::{build_struct, expect_map, expect_struct, keep_all, struct_like};
use connect_sdk::config::{ConfigError, ConfigErrors, ConnectorConfig};
use connect_sdk::data::{DataError, Schema, Text, Timestamp, Value};
use connect_sdk::transform::{ConnectRecord, Part, PartTransformation};
use connect_sdk::transformation;

const PURPOSE: &str = "field insertion";

/// Its keys.
#[derive(Debug, ConnectorConfig)]
#[config(of = transformation)]
pub(super) struct InsertFieldConfig {
    /// The name of the field with the record's topic; an exclamation mark at its end makes it required, a question mark or nothing
    /// optional.
    topic_field: Option<Text>,
    /// The name of the field with the record's partition; an exclamation mark at its end makes it required, a question mark or nothing
    /// optional.
    partition_field: Option<Text>,
    /// The name of the field with the record's offset, for sinks only; an exclamation mark at its end makes it required, a question mark or nothing
    /// optional.
    offset_field: Option<Text>,
    /// The name of the field with the record's timestamp; an exclamation mark at its end makes it required, a question mark or nothing
    /// optional.
    timestamp_field: Option<Text>,
    /// The name of the field with the text of `static.value`; an exclamation mark at its end makes it required, a question mark or nothing
    /// optional.
    static_field: Option<Text>,
    /// What `static.field` gets.
    static_value: Option<Text>,
    /// Whether a field that is null and has a default gets the default.
    #[config(default = true)]
    replace_null_with_default: bool,
}

/// `org.apache.kafka.connect.transforms.InsertField`.
#[derive(Debug)]
pub(super) struct InsertField {
    part: Part,
    /// In Kafka's order.
    insertions: Vec<Insertion>,
    replace_null: bool,
    schemas: SchemaCache<Schema>,
}

#[derive(Debug)]
struct Insertion {
    name: Text,
    required: bool,
    what: What,
}

#[derive(Debug)]
enum What {
    Topic,
    Partition,
    Offset,
    Timestamp,
    Static(Text),
}

fn insertion(key: &str, text: &str, what: What) -> Result<Insertion, ConfigError> {
    let (name, required) = match text.strip_suffix('!') {
        Some(name) => (name, true),
        None => (text.strip_suffix('?').unwrap_or(text), false),
    };
    if name.is_empty() {
        return Err(ConfigError::on(key, format!("Invalid value {text} for configuration {key}: no field is named")));
    }
    Ok(Insertion { name: name.into(), required, what })
}

impl Insertion {
    fn schema(&self) -> Schema {
        let schema = match self.what {
            What::Topic | What::Static(_) => Schema::string(),
            What::Partition => Schema::int32(),
            What::Offset => Schema::int64(),
            What::Timestamp => Schema::timestamp(),
        };
        if self.required { schema } else { schema.to_optional() }
    }

    fn value(&self, of: &Origin<'_>) -> Result<Option<Value>, DataError> {
        Ok(match &self.what {
            What::Topic => Some(of.topic.clone().into()),
            What::Partition => of.partition.map(Value::from),
            What::Offset => match of.offset {
                Some(offset) => Some(offset.into()),
                None => return Err(DataError::new("only records of sinks have an offset").in_field(&self.name)),
            },
            What::Timestamp => of.timestamp.map(|at| Timestamp::from_epoch_millis(at).into()),
            What::Static(text) => Some(text.clone().into()),
        })
    }
}

/// What is told of a record.
struct Origin<'r> {
    topic: &'r Text,
    partition: Option<i32>,
    offset: Option<i64>,
    timestamp: Option<i64>,
}

/// Adds fields with the record's topic, partition, offset, timestamp, or a fixed text.
#[transformation(java = "org.apache.kafka.connect.transforms.InsertField", version = "4.3.1")]
impl PartTransformation for InsertField {
    type Config = InsertFieldConfig;

    fn new(config: InsertFieldConfig, part: Part) -> Result<Self, ConfigErrors> {
        if let Some(field) = &config.static_field
            && config.static_value.is_none()
        {
            let text = "Invalid value null for configuration static.value: No value specified for static field";
            return Err(wrong("static.value", format!("{text}: {field}")));
        }
        let mut insertions = Vec::new();
        let mut errors = ConfigErrors::new();
        for (key, text, what) in [
            ("topic.field", config.topic_field, What::Topic),
            ("partition.field", config.partition_field, What::Partition),
            ("offset.field", config.offset_field, What::Offset),
            ("timestamp.field", config.timestamp_field, What::Timestamp),
            ("static.field", config.static_field, What::Static(config.static_value.unwrap_or_default())),
        ] {
            match text.map(|text| insertion(key, &text, what)).transpose() {
                Ok(insertion) => insertions.extend(insertion),
                Err(error) => errors.push(error),
            }
        }
        if insertions.is_empty() && errors.is_empty() {
            errors.push(ConfigError::new("No field insertion configured"));
        }
        let replace_null = config.replace_null_with_default;
        errors.into_result(Self { part, insertions, replace_null, schemas: SchemaCache::new() })
    }

    fn apply(&mut self, mut record: ConnectRecord) -> Result<Option<ConnectRecord>, DataError> {
        let ConnectRecord { topic, partition, timestamp, offset, key, value, .. } = &mut record;
        let origin = Origin { topic, partition: *partition, offset: *offset, timestamp: *timestamp };
        let slot = self.part.pick(key, value);
        let Some(value) = slot.value.take() else { return Ok(Some(record)) };
        if slot.schema.is_none() {
            let mut map = expect_map(Some(value), PURPOSE)?;
            for insertion in &self.insertions {
                match insertion.value(&origin)? {
                    // Without a schema, an instant is a number.
                    Some(Value::Timestamp(at)) => map.insert(insertion.name.clone(), at.epoch_millis()),
                    Some(value) => map.insert(insertion.name.clone(), value),
                    None => {}
                }
            }
            slot.value = Some(map.into());
            return Ok(Some(record));
        }
        let old = expect_struct(Some(value), PURPOSE)?;
        let (insertions, replace_null) = (&self.insertions, self.replace_null);
        let schema = self.schemas.get_or_make(old.schema(), |schema| new_schema(schema, insertions, replace_null))?;
        let mut new = old.extended(schema.clone());
        let (kept, inserted) = new.values_mut().split_at_mut(schema.fields().len() - insertions.len());
        keep_all(schema.fields(), kept, replace_null)?;
        for (insertion, to) in insertions.iter().zip(inserted) {
            *to = insertion.value(&origin)?;
            if to.is_none() && insertion.required {
                let missing = if matches!(insertion.what, What::Partition) { "partition" } else { "timestamp" };
                let text = format!("the record has no {missing}, but the field is required");
                return Err(DataError::new(text).in_field(&insertion.name));
            }
        }
        slot.schema = Some(schema.clone());
        slot.value = Some(new.into());
        Ok(Some(record))
    }
}

fn new_schema(of: &Schema, insertions: &[Insertion], replace_null: bool) -> Result<Schema, DataError> {
    let mut builder = struct_like(of);
    for field in of.fields() {
        builder = builder.field(field.name_text().clone(), field.schema().clone());
    }
    for insertion in insertions {
        builder = builder.field(insertion.name.clone(), insertion.schema());
    }
    // A default belongs to no record: it cannot have what must be inserted.
    if insertions.iter().any(|insertion| insertion.required) {
        return builder.build();
    }
    build_struct(builder, of, |default, schema| {
        let mut new = default.extended(schema);
        keep_all(of.fields(), new.values_mut(), replace_null)?;
        Ok(new)
    })
}
