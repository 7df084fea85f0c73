//! The schema that a value without one has.

use crate::data::{Schema, Type, Value};

/// The schema that fits a value, if it can be told from the value alone.
///
/// Numbers, text, bytes and structs have one. A list has one if all its elements are of one type, and a map if its keys
/// are and its values are; elements that are lists, maps or structs keep their type only, not the schemas of their
/// parts. Empty lists and maps, lists of nulls, decimals, dates, times and instants have none, as in Java.
#[must_use]
pub fn infer_schema(value: &Value) -> Option<Schema> {
    match value {
        Value::Decimal(_) | Value::Date(_) | Value::Time(_) | Value::Timestamp(_) => None,
        Value::Struct(value) => Some(value.schema().clone()),
        Value::Array(elements) => Some(Schema::array(common(elements.iter().map(Option::as_ref))?)),
        Value::Map(map) => {
            let key = common(map.iter().map(|(key, _)| key))?;
            Some(Schema::map(key, common(map.iter().map(|(_, value)| value))?))
        }
        primitive => Some(Schema::loose(primitive.kind(), None, None)),
    }
}

fn common<'a>(parts: impl Iterator<Item = Option<&'a Value>>) -> Option<Schema> {
    let mut known: Option<Type> = None;
    let mut optional = false;
    for part in parts {
        let Some(part) = part else {
            optional = true;
            continue;
        };
        let kind = infer_schema(part)?.kind();
        if known.is_some_and(|known| known != kind) {
            return None;
        }
        known = Some(kind);
    }
    let schema = Schema::loose(known?, None, None);
    Some(if optional { schema.to_optional() } else { schema })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Date, Map};

    #[test]
    fn lists_and_maps_have_a_schema_if_their_parts_are_alike() {
        assert_eq!(infer_schema(&Value::array([Some(1), None])), Some(Schema::array(Schema::optional_int32())));
        assert_eq!(infer_schema(&Value::array([Value::from(1), Value::from("a")])), None);
        assert_eq!(infer_schema(&Value::array([None::<i32>])), None);
        let map: Map = [("a", 1)].into_iter().collect();
        assert_eq!(infer_schema(&map.into()), Some(Schema::map(Schema::string(), Schema::int32())));
        let nested = infer_schema(&Value::array([Value::array([1])])).unwrap();
        assert_eq!(nested.value_schema().unwrap().value_schema(), None);
        assert_eq!(infer_schema(&Date::from_epoch_days(1).into()), None);
    }
}
