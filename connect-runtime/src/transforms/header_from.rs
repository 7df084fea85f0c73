//! `HeaderFrom`: moves or copies fields to headers.

use super::schema_cache::SchemaCache;
use super::shape::{build_struct, expect_map, expect_struct, kept, struct_like};
use connect_sdk::config::{ConfigEnum, ConfigError, ConfigErrors, ConnectorConfig, ParsedValue, Validator};
use connect_sdk::data::{DataError, Map, Schema, Struct, Text};
use connect_sdk::header::{Header, Headers};
use connect_sdk::transform::{ConnectRecord, Part, PartTransformation};
use connect_sdk::transformation;

/// Its keys.
#[derive(Debug, ConnectorConfig)]
#[config(of = transformation, check = one_header_for_each_field)]
pub(super) struct HeaderFromConfig {
    /// The fields that become headers.
    #[config(importance = high, validator = not_empty())]
    fields: Vec<Text>,
    /// The names of the headers, in the order of the fields.
    #[config(importance = high, validator = not_empty())]
    headers: Vec<Text>,
    /// `move` removes the fields, `copy` keeps them.
    #[config(importance = high)]
    operation: Operation,
    /// Whether a field that is null and has a default gets the default.
    #[config(default = true)]
    replace_null_with_default: bool,
}

/// What becomes of the fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ConfigEnum)]
pub(super) enum Operation {
    Move,
    Copy,
}

fn not_empty() -> Validator {
    Validator::lambda("non-empty list", |key, value| match value {
        ParsedValue::List(items) if !items.is_empty() => Ok(()),
        _ => Err(ConfigError::invalid(key, value, "Empty list")),
    })
}

fn one_header_for_each_field(config: &HeaderFromConfig) -> Result<(), &'static str> {
    if config.fields.len() == config.headers.len() {
        return Ok(());
    }
    Err("'fields' config must have the same number of elements as 'headers' config.")
}

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

/// Moves or copies fields to headers.
#[transformation(java = "org.apache.kafka.connect.transforms.HeaderFrom", version = "4.3.1")]
impl PartTransformation for HeaderFrom {
    type Config = HeaderFromConfig;

    fn new(config: HeaderFromConfig, part: Part) -> Result<Self, ConfigErrors> {
        Ok(Self {
            part,
            pairs: config.fields.into_iter().zip(config.headers).collect(),
            moves: config.operation == Operation::Move,
            replace_null: config.replace_null_with_default,
            plans: SchemaCache::new(),
        })
    }

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
