//! `HeaderFrom`: moves or copies fields to headers.

use super::part::{OfPart, Part, key_and_value};
use super::schema_cache::SchemaCache;
use super::settings::{key, replace_null_key, replaces_null, texts};
use super::shape::{build_struct, expect_map, expect_struct, kept, struct_like};
use connect_sdk::config::{ConfigDef, ConfigError, ConfigErrors, ConfigType, Importance, ParsedValue, Validator};
use connect_sdk::data::{DataError, Map, Schema, Struct, Text};
use connect_sdk::erased::{DynTransformation, Properties};
use connect_sdk::header::{Header, Headers};
use connect_sdk::transform::{ConnectRecord, TransformationClass};

const FIELDS: &str = "fields";
const HEADERS: &str = "headers";
const OPERATION: &str = "operation";

pub(super) const CLASSES: [TransformationClass; 2] = key_and_value::<HeaderFrom>(
    "org.apache.kafka.connect.transforms.HeaderFrom$Key",
    "org.apache.kafka.connect.transforms.HeaderFrom$Value",
);

/// `org.apache.kafka.connect.transforms.HeaderFrom`.
#[derive(Debug)]
pub(super) struct HeaderFrom {
    part: Part,
    /// Field and header.
    pairs: Vec<(Text, Text)>,
    moves: bool,
    replace_null: bool,
    plans: SchemaCache<Plan>,
}

/// Where the fields stand in a schema, and for moves what is left of it.
#[derive(Debug)]
struct Plan {
    fields: Vec<usize>,
    rest: Option<Rest>,
}

#[derive(Debug)]
struct Rest {
    schema: Schema,
    /// Where its fields stand in the old schema.
    fields: Vec<usize>,
}

impl OfPart for HeaderFrom {
    fn config_def() -> ConfigDef {
        let not_empty = || {
            Validator::lambda("non-empty list", |key, value| match value {
                ParsedValue::List(items) if !items.is_empty() => Ok(()),
                _ => Err(ConfigError::invalid(key, value, "Empty list")),
            })
        };
        ConfigDef::new()
            .define(
                key(FIELDS, ConfigType::List, Importance::High, "The fields that become headers.")
                    .validator(not_empty()),
            )
            .define(
                key(
                    HEADERS,
                    ConfigType::List,
                    Importance::High,
                    "The names of the headers, in the order of the fields.",
                )
                .validator(not_empty()),
            )
            .define(
                key(OPERATION, ConfigType::String, Importance::High, "`move` removes the fields, `copy` keeps them.")
                    .validator(Validator::valid_string(["move", "copy"])),
            )
            .define(replace_null_key())
    }

    fn new(properties: &Properties, part: Part) -> Result<Self, ConfigErrors> {
        let config = Self::config_def().parse(properties)?;
        let (fields, headers) = (texts(&config, FIELDS), texts(&config, HEADERS));
        if fields.len() != headers.len() {
            let text = "'fields' config must have the same number of elements as 'headers' config.";
            return Err(ConfigError::new(text).into());
        }
        Ok(Self {
            part,
            pairs: fields.into_iter().zip(headers).collect(),
            moves: config.string(OPERATION) == Some("move"),
            replace_null: replaces_null(&config),
            plans: SchemaCache::new(),
        })
    }
}

impl DynTransformation for HeaderFrom {
    fn apply(&mut self, mut record: ConnectRecord) -> Result<Option<ConnectRecord>, DataError> {
        let mut headers = std::mem::take(&mut record.headers);
        let slot = self.part.of(&mut record);
        let value = slot.value.take();
        let purpose = if self.moves { "header move" } else { "header copy" };
        if slot.schema.is_none() {
            let map = expect_map(value, purpose)?;
            slot.value = Some(self.take_from_map(map, &mut headers).into());
        } else {
            let value = self.take_from_struct(expect_struct(value, purpose)?, &mut headers)?;
            slot.schema = if self.moves { Some(value.schema().clone()) } else { slot.schema.take() };
            slot.value = Some(value.into());
        }
        record.headers = headers;
        Ok(Some(record))
    }
}

impl HeaderFrom {
    fn take_from_map(&self, mut map: Map, headers: &mut Headers) -> Map {
        for (field, header) in &self.pairs {
            let value = map.get_str(field).flatten().cloned();
            headers.push(Header::new(header.clone(), None, value));
        }
        if self.moves {
            for (field, _) in &self.pairs {
                map.remove_str(field);
            }
        }
        map
    }

    fn take_from_struct(&mut self, mut value: Struct, headers: &mut Headers) -> Result<Struct, DataError> {
        let (pairs, moves, replace) = (&self.pairs, self.moves, self.replace_null);
        let plan = self.plans.get_or_make(value.schema(), |schema| Plan::new(schema, pairs, moves, replace))?;
        for (index, (_, header)) in plan.fields.iter().zip(pairs) {
            let field = &value.schema().fields()[*index];
            let value = kept(field, value.value_at(*index).cloned(), replace)?;
            headers.add(header.clone(), value, Some(field.schema().clone()))?;
        }
        match &plan.rest {
            None => Ok(value),
            Some(rest) => rest.of(&mut value, rest.schema.clone(), replace),
        }
    }
}

impl Plan {
    fn new(of: &Schema, pairs: &[(Text, Text)], moves: bool, replace_null: bool) -> Result<Self, DataError> {
        let fields = pairs.iter().map(|(field, _)| Ok(of.expect_field(field)?.index()));
        let fields: Vec<usize> = fields.collect::<Result<_, DataError>>()?;
        if !moves {
            return Ok(Self { fields, rest: None });
        }
        let left: Vec<usize> = (0..of.fields().len()).filter(|index| !fields.contains(index)).collect();
        let mut builder = struct_like(of);
        for field in left.iter().map(|index| &of.fields()[*index]) {
            builder = builder.field(field.name_text().clone(), field.schema().clone());
        }
        let mut rest = Rest { schema: of.clone(), fields: left };
        rest.schema = build_struct(builder, of, |mut default, schema| rest.of(&mut default, schema, replace_null))?;
        Ok(Self { fields, rest: Some(rest) })
    }
}

impl Rest {
    fn of(&self, value: &mut Struct, schema: Schema, replace_null: bool) -> Result<Struct, DataError> {
        let old = value.schema().clone();
        let mut new = Struct::new(schema)?;
        let mut from = value.take_values();
        for (index, to) in self.fields.iter().zip(new.values_mut()) {
            *to = kept(&old.fields()[*index], from.take(*index), replace_null)?;
        }
        Ok(new)
    }
}
