//! `Flatten`: makes one level of nested structs or maps; names are joined by a delimiter. Lists stay as they are.

use super::schema_cache::SchemaCache;
use super::shape::{build_struct, copy_basics, expect_map, expect_struct, struct_like};
use connect_sdk::config::{ConfigErrors, ConnectorConfig};
use connect_sdk::data::{DataError, Field, Map, Schema, SchemaBuilder, Struct, Text, Type, Value};
use connect_sdk::transform::{ConnectRecord, Part, PartTransformation};
use connect_sdk::transformation;

const PURPOSE: &str = "flattening";

/// Its keys.
#[derive(Debug, ConnectorConfig)]
#[config(of = transformation)]
pub(super) struct FlattenConfig {
    /// What stands between the names of a field and of what it lies in.
    #[config(default = ".")]
    delimiter: Text,
}

/// `org.apache.kafka.connect.transforms.Flatten`.
#[derive(Debug)]
pub(super) struct Flatten {
    part: Part,
    delimiter: Text,
    plans: SchemaCache<Plan>,
}

/// The flat schema, and what becomes of each field of the nested one, in its order.
#[derive(Debug)]
struct Plan {
    schema: Schema,
    fields: Vec<Node>,
}

#[derive(Debug)]
enum Node {
    /// The next field of the flat struct.
    Leaf,
    /// The fields of a struct.
    Nested(Vec<Self>),
}

/// Makes one level of nested structs or maps; names are joined by a delimiter.
#[transformation(java = "org.apache.kafka.connect.transforms.Flatten", version = "4.3.1")]
impl PartTransformation for Flatten {
    type Config = FlattenConfig;

    fn new(config: FlattenConfig, part: Part) -> Result<Self, ConfigErrors> {
        Ok(Self { part, delimiter: config.delimiter, plans: SchemaCache::new() })
    }

    fn apply(&mut self, mut record: ConnectRecord) -> Result<Option<ConnectRecord>, DataError> {
        let slot = self.part.of(&mut record);
        let Some(value) = slot.value.take() else { return Ok(Some(record)) };
        if slot.schema.is_none() {
            let map = expect_map(Some(value), PURPOSE)?;
            // A map of one level is what it becomes.
            slot.value = Some(if map.iter().all(|(key, value)| is_flat(key, value)) {
                map.into()
            } else {
                flatten_map(map, &self.delimiter)?.into()
            });
            return Ok(Some(record));
        }
        let value = expect_struct(Some(value), PURPOSE)?;
        let plan = self.plans.get_or_make(value.schema(), |schema| Plan::new(schema, &self.delimiter))?;
        slot.schema = Some(plan.schema.clone());
        slot.value = Some(plan.apply(value, plan.schema.clone())?.into());
        Ok(Some(record))
    }
}

impl Plan {
    fn new(of: &Schema, delimiter: &str) -> Result<Self, DataError> {
        let default = of.default().and_then(Value::as_struct);
        let mut builder = struct_like(of);
        let fields = add_fields(of, None, delimiter, of.is_optional(), default, &mut builder)?;
        let mut plan = Self { schema: of.clone(), fields };
        plan.schema = build_struct(builder, of, |default, schema| plan.apply(default, schema))?;
        Ok(plan)
    }

    fn apply(&self, mut value: Struct, schema: Schema) -> Result<Struct, DataError> {
        let mut flat = Struct::new(schema)?;
        let mut out = flat.values_mut().iter_mut();
        move_leaves(&mut value, &self.fields, &mut out);
        Ok(flat)
    }
}

/// Adds the leaves of a struct to the flat schema.
///
/// A leaf is optional if anything above it is; it has its own default, or what the default of what it lies in has there.
fn add_fields(
    of: &Schema,
    prefix: Option<&str>,
    delimiter: &str,
    optional: bool,
    default: Option<&Struct>,
    builder: &mut SchemaBuilder,
) -> Result<Vec<Node>, DataError> {
    let mut nodes = Vec::with_capacity(of.fields().len());
    for field in of.fields() {
        let name = joined(prefix, delimiter, field.name());
        let schema = field.schema();
        let optional = optional || schema.is_optional();
        let default = schema.default().or_else(|| default.and_then(|default| default.get(field.name()).ok().flatten()));
        match schema.kind() {
            Type::Struct => {
                let default = default.and_then(Value::as_struct);
                nodes.push(Node::Nested(add_fields(schema, Some(&name), delimiter, optional, default, builder)?));
            }
            Type::Map => {
                let text = "Flatten transformation does not support MAP for record with schemas";
                return Err(DataError::new(format!("{text} (for field {name})")));
            }
            _ => {
                let leaf = leaf_schema(schema, optional, default)?;
                *builder = std::mem::replace(builder, SchemaBuilder::struct_()).field(name, leaf);
                nodes.push(Node::Leaf);
            }
        }
    }
    Ok(nodes)
}

fn leaf_schema(of: &Schema, optional: bool, default: Option<&Value>) -> Result<Schema, DataError> {
    if of.is_optional() == optional && of.default() == default {
        return Ok(of.clone());
    }
    let mut builder = copy_basics(
        of,
        match of.value_schema() {
            Some(element) => SchemaBuilder::array(element.clone()),
            None => SchemaBuilder::new(of.kind()),
        },
    );
    if optional {
        builder = builder.optional();
    }
    if let Some(default) = default {
        builder = builder.default_value(default);
    }
    builder.build()
}

/// Moves the leaves of a struct to the flat one, in order; null ones are read as their defaults.
fn move_leaves(from: &mut Struct, nodes: &[Node], out: &mut std::slice::IterMut<'_, Option<Value>>) {
    let schema = from.schema().clone();
    let mut values = from.take_values();
    for (field, node) in schema.fields().iter().zip(nodes) {
        match (node, values.take(field.index())) {
            (Node::Leaf, value) => {
                if let Some(to) = out.next() {
                    *to = value.or_else(|| default_of(field));
                }
            }
            (Node::Nested(inner), Some(Value::Struct(mut value))) => move_leaves(&mut value, inner, out),
            // The leaves of a null struct are null.
            (Node::Nested(inner), _) => skip_leaves(inner, out),
        }
    }
}

fn default_of(field: &Field) -> Option<Value> {
    field.schema().default().cloned()
}

fn skip_leaves(nodes: &[Node], out: &mut std::slice::IterMut<'_, Option<Value>>) {
    for node in nodes {
        match node {
            Node::Leaf => drop(out.next()),
            Node::Nested(inner) => skip_leaves(inner, out),
        }
    }
}

fn joined(prefix: Option<&str>, delimiter: &str, name: &str) -> String {
    match prefix {
        None => name.to_owned(),
        Some(prefix) => [prefix, delimiter, name].concat(),
    }
}

fn is_flat(key: Option<&Value>, value: Option<&Value>) -> bool {
    matches!(key, Some(Value::String(_))) && !value.is_some_and(|value| is_nested(value) || is_unsupported(value))
}

fn is_nested(value: &Value) -> bool {
    matches!(value, Value::Map(_))
}

/// What has no type without a schema.
fn is_unsupported(value: &Value) -> bool {
    matches!(value, Value::Struct(_) | Value::Decimal(_) | Value::Date(_) | Value::Time(_) | Value::Timestamp(_))
}

/// Moves the leaves of nested maps to a flat one; of two with one name the later wins. The work lies on a list and not on
/// the stack, however deep the maps are.
fn flatten_map(map: Map, delimiter: &str) -> Result<Map, DataError> {
    let mut flat = Map::with_capacity(map.len());
    // The names down to where the work is, and how much of them each level began with.
    let mut path = String::new();
    let mut levels = vec![(map.into_iter(), 0)];
    while let Some((entries, start)) = levels.last_mut() {
        path.truncate(*start);
        let Some((key, value)) = entries.next() else {
            levels.pop();
            continue;
        };
        let Some(Value::String(key)) = key else {
            let kind = key.as_ref().map_or("null", Value::kind_name);
            return Err(DataError::new(format!(
                "only maps with text keys can be flattened, found a key of type {kind}"
            )));
        };
        let nested = levels.len() > 1;
        if nested {
            path.push_str(delimiter);
        }
        path.push_str(&key);
        match value {
            Some(Value::Map(inner)) => levels.push((inner.into_iter(), path.len())),
            Some(value) if is_unsupported(&value) => {
                let text = format!("a {} without a schema cannot be flattened", value.kind_name());
                return Err(DataError::new(text).in_field(&path));
            }
            value if nested => flat.insert(path.as_str(), value),
            value => flat.insert(key, value),
        }
    }
    Ok(flat)
}
