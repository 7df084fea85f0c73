//! `ReplaceField`: leaves out fields, keeps only some, renames them.

use super::schema_cache::SchemaCache;
use super::settings::split_at_colons;
use super::shape::{build_struct, expect_map, expect_struct, kept, struct_like};
use connect_sdk::config::{ConfigError, ConfigErrors, ConnectorConfig, ParsedValue, Validator};
use connect_sdk::data::{DataError, Map, Schema, Struct, Text, Value};
use connect_sdk::transform::{ConnectRecord, Part, PartTransformation};
use connect_sdk::transformation;

const RENAMES: &str = "renames";
const PURPOSE: &str = "field replacement";

/// Its keys.
#[derive(Debug, ConnectorConfig)]
#[config(of = transformation)]
pub(super) struct ReplaceFieldConfig {
    /// Fields that are left out, even if they are included.
    #[config(default = [], validator = Validator::any_non_duplicate_values(true, false))]
    exclude: Vec<Text>,
    /// Fields that are kept; all, if none is named.
    #[config(default = [], validator = Validator::any_non_duplicate_values(true, false))]
    include: Vec<Text>,
    /// New names of fields: pairs `old:new` between commas.
    #[config(default = [], validator = valid_renames())]
    renames: Vec<String>,
    /// Whether a field that is null and has a default gets the default.
    #[config(default = true)]
    replace_null_with_default: bool,
}

/// `org.apache.kafka.connect.transforms.ReplaceField`.
#[derive(Debug)]
pub(super) struct ReplaceField {
    part: Part,
    rules: Rules,
    plans: SchemaCache<Plan>,
}

#[derive(Debug)]
struct Rules {
    exclude: Vec<Text>,
    include: Vec<Text>,
    /// Old and new names; of a field that is renamed twice the last name counts.
    renames: Vec<(Text, Text)>,
    replace_null: bool,
}

/// The new schema, and where its fields stand in the old one.
#[derive(Debug)]
struct Plan {
    schema: Schema,
    fields: Vec<usize>,
}

fn valid_renames() -> Validator {
    Validator::lambda("list of colon-delimited pairs, e.g. <code>foo:bar,abc:xyz</code>", |_, value| match value {
        ParsedValue::List(items) => parse_renames(items).map(drop),
        _ => Ok(()),
    })
}

fn parse_renames(items: &[String]) -> Result<Vec<(Text, Text)>, ConfigError> {
    let mut renames: Vec<(Text, Text)> = Vec::with_capacity(items.len());
    for item in items {
        match split_at_colons(item)[..] {
            [old, new] if !old.is_empty() => {
                renames.retain(|(known, _)| known != old);
                renames.push((old.into(), new.into()));
            }
            _ => {
                let items = items.join(", ");
                let text = format!("Invalid value [{items}] for configuration renames: Invalid rename mapping: {item}");
                return Err(ConfigError::on(RENAMES, text));
            }
        }
    }
    Ok(renames)
}

impl Rules {
    fn keeps(&self, name: &str) -> bool {
        !self.exclude.iter().any(|n| n == name) && (self.include.is_empty() || self.include.iter().any(|n| n == name))
    }

    fn renamed(&self, name: &str) -> Option<&Text> {
        self.renames.iter().find(|(old, _)| old == name).map(|(_, new)| new)
    }

    fn of_map(&self, map: Map) -> Result<Map, DataError> {
        let mut new = Map::with_capacity(map.len());
        for (key, value) in map {
            let Some(Value::String(old)) = key else {
                let kind = key.as_ref().map_or("null", Value::kind_name);
                return Err(DataError::new(format!(
                    "only maps with text keys have fields, found a key of type {kind}"
                )));
            };
            if !self.keeps(&old) {
                continue;
            }
            let name = self.renamed(&old).cloned().unwrap_or(old);
            if new.contains_str(&name) {
                return Err(DataError::new(format!("two fields get the name `{name}`")));
            }
            new.insert(name, value);
        }
        Ok(new)
    }
}

/// Leaves out fields, keeps only some, renames them.
#[transformation(java = "org.apache.kafka.connect.transforms.ReplaceField", version = "4.3.1")]
impl PartTransformation for ReplaceField {
    type Config = ReplaceFieldConfig;

    fn new(config: ReplaceFieldConfig, part: Part) -> Result<Self, ConfigErrors> {
        let rules = Rules {
            exclude: config.exclude,
            include: config.include,
            renames: parse_renames(&config.renames)?,
            replace_null: config.replace_null_with_default,
        };
        Ok(Self { part, rules, plans: SchemaCache::new() })
    }

    fn apply(&mut self, mut record: ConnectRecord) -> Result<Option<ConnectRecord>, DataError> {
        let slot = self.part.of(&mut record);
        let Some(value) = slot.value.take() else { return Ok(Some(record)) };
        if slot.schema.is_none() {
            slot.value = Some(self.rules.of_map(expect_map(Some(value), PURPOSE)?)?.into());
            return Ok(Some(record));
        }
        let value = expect_struct(Some(value), PURPOSE)?;
        let rules = &self.rules;
        let plan = self.plans.get_or_make(value.schema(), |schema| Plan::new(schema, rules))?;
        slot.schema = Some(plan.schema.clone());
        slot.value = Some(plan.apply(value, plan.schema.clone(), rules.replace_null)?.into());
        Ok(Some(record))
    }
}

impl Plan {
    fn new(of: &Schema, rules: &Rules) -> Result<Self, DataError> {
        let mut builder = struct_like(of);
        let mut fields = Vec::new();
        for field in of.fields().iter().filter(|field| rules.keeps(field.name())) {
            let name = rules.renamed(field.name()).unwrap_or_else(|| field.name_text());
            builder = builder.field(name.clone(), field.schema().clone());
            fields.push(field.index());
        }
        let mut plan = Self { schema: of.clone(), fields };
        plan.schema = build_struct(builder, of, |default, schema| plan.apply(default, schema, rules.replace_null))?;
        Ok(plan)
    }

    fn apply(&self, mut value: Struct, schema: Schema, replace_null: bool) -> Result<Struct, DataError> {
        let old = value.schema().clone();
        let mut new = Struct::new(schema)?;
        let mut from = value.take_values();
        for (index, to) in self.fields.iter().zip(new.values_mut()) {
            *to = kept(&old.fields()[*index], from.take(*index), replace_null)?;
        }
        Ok(new)
    }
}
