//! Single projections, and the laws that hold for all of them.

use super::*;
use crate::data::values::convert_to_string;
use crate::data::{SchemaBuilder, validate_value};
use proptest::prelude::*;

fn record(fields: &[(&str, Schema)]) -> Schema {
    let builder = SchemaBuilder::struct_();
    fields.iter().fold(builder, |builder, (name, schema)| builder.field(*name, schema.clone())).build().unwrap()
}

#[test]
fn fields_are_taken_by_name() {
    let source = record(&[("a", Schema::int8()), ("gone", Schema::string()), ("s", Schema::string())]);
    let default = SchemaBuilder::string().default_value("d").build().unwrap();
    let target =
        record(&[("s", Schema::string()), ("a", Schema::float64()), ("d", default), ("o", Schema::optional_int8())]);
    let value =
        Struct::from_values(source.clone(), vec![Some(1i8.into()), Some("x".into()), Some("y".into())]).unwrap();
    let projected = project(&source, Some(&value.into()), &target).unwrap().unwrap();
    let projected = projected.as_struct().unwrap();
    assert_eq!(projected.get_string("s").unwrap().unwrap(), "y");
    assert_eq!(projected.get_float64("a").unwrap(), Some(1.0));
    assert_eq!(projected.get_string("d").unwrap().unwrap(), "d");
    assert_eq!(projected.get_int8("o").unwrap(), None);
}

#[test]
fn the_part_that_does_not_go_together_is_named() {
    let line = |price: Schema| Schema::array(record(&[("price", price)]));
    let (source, target) = (record(&[("lines", line(Schema::int64()))]), record(&[("lines", line(Schema::int32()))]));
    let one = Struct::from_values(record(&[("price", Schema::int64())]), vec![Some(1i64.into())]).unwrap();
    let value = Struct::from_values(source.clone(), vec![Some(Value::array([one]))]).unwrap();
    let error = project(&source, Some(&value.into()), &target).unwrap_err();
    assert_eq!(error.path(), "lines[0].price");
}

#[test]
fn an_optional_source_needs_a_default_in_a_required_target() {
    let (optional, required) = (Schema::optional_int32(), Schema::int32());
    project(&optional, Some(&1.into()), &required).unwrap_err();
    let with_default = SchemaBuilder::int32().default_value(9).build().unwrap();
    assert_eq!(project(&optional, None, &with_default), Ok(Some(9.into())));
    assert_eq!(project(&optional, None, &Schema::optional_int64()), Ok(None));
}

/// Numbers from the narrowest to the widest, each with a value that all wider ones can hold.
fn numbers() -> [(Schema, Value); 6] {
    [
        (Schema::int8(), i8::MIN.into()),
        (Schema::int16(), i16::MAX.into()),
        (Schema::int32(), (1i32 << 23).into()),
        (Schema::int64(), (-1i64 << 23).into()),
        (Schema::float32(), 0.5f32.into()),
        (Schema::float64(), f64::MAX.into()),
    ]
}

#[test]
fn numbers_widen_and_never_narrow() {
    let numbers = numbers();
    for (from, (source, value)) in numbers.iter().enumerate() {
        for (to, (target, _)) in numbers.iter().enumerate() {
            let projected = project(source, Some(value), target);
            if to < from {
                projected.unwrap_err();
                continue;
            }
            let projected = projected.unwrap().unwrap();
            assert_eq!(projected.kind(), target.kind());
            let number = |value: &Value| value.as_f64().or(value.as_i64().map(|integer| integer as f64));
            assert_eq!(number(&projected), number(value), "{source} to {target}");
            // By way of any type between.
            for (between, _) in &numbers[from..=to] {
                let half = project(source, Some(value), between).unwrap();
                assert_eq!(project(between, half.as_ref(), target), Ok(Some(projected.clone())), "by way of {between}");
            }
        }
    }
}

#[test]
fn what_the_source_lacks_is_null_or_the_default() {
    let empty = record(&[]);
    let value = Value::from(Struct::new(empty.clone()).unwrap());
    let missing = |schema: Schema| {
        let target = record(&[("a", schema)]);
        let projected = project(&empty, Some(&value), &target)?;
        let projected = projected.unwrap();
        Ok::<_, DataError>(projected.as_struct().unwrap().value_at(0).cloned())
    };
    let with_default = || SchemaBuilder::int8().default_value(7i8);
    assert_eq!(missing(Schema::optional_int8()), Ok(None));
    assert_eq!(missing(with_default().build().unwrap()), Ok(Some(7i8.into())));
    assert_eq!(missing(with_default().optional().build().unwrap()), Ok(None));
    assert_eq!(missing(Schema::int8()).unwrap_err().path(), "a");
}

/// A schema that the seed chooses.
fn any_schema(rng: &mut fastrand::Rng, depth: u32) -> Schema {
    let kinds = if depth == 0 { 10 } else { 13 };
    let builder = match rng.usize(..kinds) {
        kind @ 0..=8 => SchemaBuilder::new(Type::ALL[kind]),
        9 => SchemaBuilder::from_schema(&Schema::timestamp()),
        10 => SchemaBuilder::array(any_schema(rng, depth - 1)),
        11 => SchemaBuilder::map(Schema::string(), any_schema(rng, depth - 1)),
        _ => ["a", "b", "c"].into_iter().fold(SchemaBuilder::struct_(), |builder, name| {
            if rng.bool() { builder.field(name, any_schema(rng, depth - 1)) } else { builder }
        }),
    };
    let builder = if rng.u8(..3) == 0 { builder.optional() } else { builder };
    let bare = builder.clone().build().unwrap();
    if rng.u8(..4) == 0
        && let Some(default) = any_value(rng, &bare)
    {
        return builder.default_value(default).build().unwrap();
    }
    bare
}

/// A value of the schema, or null where it may be.
fn any_value(rng: &mut fastrand::Rng, schema: &Schema) -> Option<Value> {
    if schema.is_optional() && rng.bool() {
        return None;
    }
    let n = rng.usize(..3);
    Some(match schema.kind() {
        Type::Int8 => rng.i8(..).into(),
        Type::Int16 => rng.i16(..).into(),
        Type::Int32 => rng.i32(..).into(),
        Type::Int64 if schema.logical().is_some() => crate::data::Timestamp::from_epoch_millis(rng.i64(..)).into(),
        Type::Int64 => rng.i64(..).into(),
        Type::Float32 => rng.f32().into(),
        Type::Float64 => rng.f64().into(),
        Type::Boolean => rng.bool().into(),
        Type::String => rng.alphanumeric().to_string().into(),
        Type::Bytes => vec![rng.u8(..); n].into(),
        Type::Array => Value::Array((0..n).map(|_| any_value(rng, schema.value_schema().unwrap())).collect()),
        Type::Map => {
            (0..n).map(|i| (i.to_string(), any_value(rng, schema.value_schema().unwrap()))).collect::<Map>().into()
        }
        Type::Struct => {
            let values = schema.fields().iter().map(|field| any_value(rng, field.schema())).collect();
            Struct::from_values(schema.clone(), values).unwrap().into()
        }
    })
}

proptest! {
    #[test]
    fn a_schema_is_its_own_projection_but_for_nulls_with_defaults(seed: u64) {
        let mut rng = fastrand::Rng::with_seed(seed);
        let schema = any_schema(&mut rng, 3);
        let value = any_value(&mut rng, &schema);
        let same = project(&schema, value.as_ref(), &schema).unwrap();
        // Texts show a null field as its default.
        let text = |value: &Option<Value>| value.as_ref().map(convert_to_string);
        prop_assert_eq!(text(&same), text(&value));
    }

    #[test]
    fn what_is_projected_fits_its_target(seed: u64) {
        let mut rng = fastrand::Rng::with_seed(seed);
        let (source, target) = (any_schema(&mut rng, 2), any_schema(&mut rng, 2));
        let value = any_value(&mut rng, &source);
        if let Ok(Some(projected)) = project(&source, value.as_ref(), &target) {
            validate_value(&target, Some(&projected)).unwrap();
        }
        // A value of another schema is refused or projected, and nothing panics.
        let other = any_value(&mut rng, &target);
        let _refused = project(&source, other.as_ref(), &target);
    }

    #[test]
    fn fields_may_come_and_go_and_widen(seed: u64, n in 1usize..6, kept in 0usize..6) {
        let mut rng = fastrand::Rng::with_seed(seed);
        let fields: Vec<(String, Schema)> = (0..n).map(|i| (format!("f{i}"), any_schema(&mut rng, 2))).collect();
        let fields: Vec<(&str, Schema)> = fields.iter().map(|(name, schema)| (name.as_str(), schema.clone())).collect();
        let source = record(&fields);
        let value = any_value(&mut rng, &source);
        // Some of the fields in another order, and one that is new.
        let mut target = fields[..kept.min(n)].to_vec();
        target.reverse();
        target.push(("new", Schema::optional_string()));
        let target = record(&target);
        let projected = project(&source, value.as_ref(), &target).unwrap().unwrap();
        let (old, new) = (value.as_ref().unwrap().as_struct().unwrap(), projected.as_struct().unwrap());
        for (name, _) in &fields[..kept.min(n)] {
            let text = |value: Option<&Value>| value.map(convert_to_string);
            prop_assert_eq!(text(new.get(name).unwrap()), text(old.get(name).unwrap()));
        }
        prop_assert_eq!(new.get("new").unwrap(), None);
    }
}
