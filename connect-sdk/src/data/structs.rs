//! `Struct`: a value with named fields that carries its schema.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use bytes::Bytes;

use super::validate::{validate_field, validate_raw_field};
use super::{DataError, Field, IntoValue, Map, Schema, Text, Type, Value};

/// A struct value: a schema of type `STRUCT` and a value, or null, for each of its fields.
///
/// A clone shares the values until one of both is changed.
///
/// ```
/// use connect_sdk::data::{Schema, SchemaBuilder, Struct};
/// # fn main() -> Result<(), connect_sdk::data::DataError> {
/// let schema = SchemaBuilder::struct_().field("name", Schema::string()).field("age", Schema::optional_int32()).build()?;
/// let mut person = Struct::new(schema)?;
/// person.put("name", "Ann")?.put("age", 30)?;
/// assert_eq!(person.get_int32("age")?, Some(30));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Struct {
    schema: Schema,
    /// One for each field, and perhaps more: nulls that wait for further fields.
    slots: Arc<[Option<Value>]>,
}

/// A struct that must grow gets as many slots as a multiple of this, so that the next field needs no new memory.
const SLOTS_STEP: usize = 4;

impl Struct {
    /// A struct of this schema with all fields null.
    ///
    /// # Errors
    /// Fails if the schema is not of type `STRUCT`.
    pub fn new(schema: Schema) -> Result<Self, DataError> {
        Self::with_room(schema, 0)
    }

    /// As [`new`](Self::new), with room for so many fields: up to there [`extended`](Self::extended) needs no memory.
    ///
    /// # Errors
    /// Fails if the schema is not of type `STRUCT`.
    pub fn with_room(schema: Schema, fields: usize) -> Result<Self, DataError> {
        if schema.kind() != Type::Struct {
            return Err(DataError::new(format!("{schema} is not a struct schema")));
        }
        let slots = (0..schema.fields().len().max(fields)).map(|_| None).collect();
        Ok(Self { schema, slots })
    }

    /// A struct of this schema with these values, one for each field, in the order of the fields.
    ///
    /// # Errors
    /// Fails if the schema is not of type `STRUCT`, if the number of values is not the number of fields, or if a value
    /// does not fit its field; a missing one is fine if the field is optional or has a default.
    pub fn from_values(schema: Schema, values: Vec<Option<Value>>) -> Result<Self, DataError> {
        if schema.kind() != Type::Struct || schema.fields().len() != values.len() {
            return Err(DataError::new(format!("{} values do not make a struct of {schema}", values.len())));
        }
        let new = Self::from_checked(schema, values);
        new.validate()?;
        Ok(new)
    }

    /// The same struct as a value of the optional schema: a struct belongs to a schema only if the two are equal.
    pub(crate) fn made_optional(self) -> Self {
        let schema = self.schema.to_optional();
        self.with_schema(schema)
    }

    /// As [`from_values`](Self::from_values), for callers that know that the values fit.
    #[doc(hidden)]
    #[must_use]
    pub fn from_checked(schema: Schema, values: impl IntoIterator<Item = Option<Value>>) -> Self {
        let slots: Arc<[_]> = values.into_iter().collect();
        debug_assert_eq!(schema.fields().len(), slots.len(), "one value for each field");
        Self { schema, slots }
    }

    /// The same values as a struct of another schema that has as many fields, for callers that know that they fit.
    #[must_use]
    pub fn with_schema(self, schema: Schema) -> Self {
        debug_assert_eq!(schema.fields().len(), self.values().len(), "one value for each field");
        Self { schema, slots: self.slots }
    }

    /// The same values as a struct of a schema that has these fields first and more behind them, which are null; for
    /// callers that know that the values fit. They are moved, or copied if a clone shares them.
    ///
    /// Memory is needed only now and then: a struct that grows leaves room for the next fields.
    #[must_use]
    pub fn extended(mut self, schema: Schema) -> Self {
        let n = schema.fields().len();
        debug_assert!(self.values().len() <= n, "a struct does not lose fields");
        if n > self.slots.len() {
            let mut values = self.take_values();
            let slots = (0..n.next_multiple_of(SLOTS_STEP)).map(|index| values.take(index)).collect();
            self.slots = slots;
        }
        Self { schema, slots: self.slots }
    }

    /// The schema.
    #[must_use]
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Sets a field; null only if the field is optional, even if it has a default.
    ///
    /// # Errors
    /// Fails, and changes nothing, if there is no such field or the value does not fit it.
    pub fn put(&mut self, field: &str, value: impl IntoValue) -> Result<&mut Self, DataError> {
        let field = self.schema.expect_field(field)?;
        let value = value.into_value();
        validate_field(field, value.as_ref())?;
        let index = field.index();
        Arc::make_mut(&mut self.slots)[index] = value;
        Ok(self)
    }

    /// The value of a field; if it is null, the default of the field's schema.
    ///
    /// # Errors
    /// Fails if there is no such field.
    pub fn get(&self, field: &str) -> Result<Option<&Value>, DataError> {
        Ok(self.get_field(self.schema.expect_field(field)?))
    }

    /// As [`get`](Self::get), for a field of this struct's schema.
    #[must_use]
    pub fn get_field<'a>(&'a self, field: &'a Field) -> Option<&'a Value> {
        self.value_at(field.index()).or_else(|| field.schema().default())
    }

    /// The value of a field as it was put, without regard to a default.
    ///
    /// # Errors
    /// Fails if there is no such field.
    pub fn get_without_default(&self, field: &str) -> Result<Option<&Value>, DataError> {
        Ok(self.value_at(self.schema.expect_field(field)?.index()))
    }

    /// The value, as it was put, of the field at this position; none also beyond the last field.
    #[must_use]
    pub fn value_at(&self, index: usize) -> Option<&Value> {
        self.slots.get(index).and_then(Option::as_ref)
    }

    /// The values of all fields as they were put, in the order of the schema, to be replaced or moved out.
    ///
    /// Nothing is checked: whoever changes a value knows that it fits its field. If a clone shares the values, they are
    /// copied first.
    #[must_use]
    pub fn values_mut(&mut self) -> &mut [Option<Value>] {
        let n = self.schema.fields().len();
        &mut Arc::make_mut(&mut self.slots)[..n]
    }

    /// The values as they were put, one by one, for a struct that is given up: they are moved out, or copied if a clone
    /// shares them. Unlike [`values_mut`](Self::values_mut) this never copies those that nobody asks for.
    #[must_use]
    pub fn take_values(&mut self) -> TakenValues<'_> {
        TakenValues(if Arc::strong_count(&self.slots) == 1 {
            // What is held once, and never weakly, is not copied.
            Taken::Own(Arc::make_mut(&mut self.slots))
        } else {
            Taken::Shared(&self.slots)
        })
    }

    fn values(&self) -> &[Option<Value>] {
        &self.slots[..self.schema.fields().len()]
    }

    /// All fields with their values as they were put, in the order of the schema.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = (&Field, Option<&Value>)> {
        self.schema.fields().iter().zip(self.slots.iter().map(Option::as_ref))
    }

    /// Checks all fields: null only where the schema is optional or has a default.
    ///
    /// # Errors
    /// Tells the first field that does not fit, with its path.
    pub fn validate(&self) -> Result<(), DataError> {
        self.entries().try_for_each(|(field, value)| validate_raw_field(field, value))
    }

    fn typed(&self, name: &str, kind: Type) -> Result<Option<&Value>, DataError> {
        let field = self.schema.expect_field(name)?;
        if field.schema().kind() != kind {
            let schema = field.schema();
            return Err(DataError::new(format!("the field is not of type {kind}, it is {schema}")).in_field(name));
        }
        Ok(self.value_at(field.index()))
    }
}

/// The values of a struct that is given up; see [`Struct::take_values`].
#[derive(Debug)]
pub struct TakenValues<'a>(Taken<'a>);

#[derive(Debug)]
enum Taken<'a> {
    Own(&'a mut [Option<Value>]),
    Shared(&'a [Option<Value>]),
}

impl TakenValues<'_> {
    /// The value, as it was put, of the field at this position; none also beyond the last field. Each is to be taken once.
    #[inline]
    pub fn take(&mut self, index: usize) -> Option<Value> {
        match &mut self.0 {
            Taken::Own(values) => values.get_mut(index)?.take(),
            Taken::Shared(values) => values.get(index)?.clone(),
        }
    }
}

/// The typed getters: the field's type is checked, the value is what was put, defaults are not looked at.
macro_rules! typed_getters {
    ($($name:ident -> $type:ty = $kind:ident $variant:ident($value:ident) => $get:expr;)*) => {
        impl Struct {$(
            #[doc = concat!("The value, as it was put, of a field of type `", stringify!($kind), "`.")]
            ///
            /// # Errors
            /// Fails if there is no such field, if it is of another type, or if it holds a logical value.
            pub fn $name(&self, field: &str) -> Result<Option<$type>, DataError> {
                match self.typed(field, Type::$kind)? {
                    None => Ok(None),
                    Some(Value::$variant($value)) => Ok(Some($get)),
                    Some(other) => {
                        Err(DataError::new(format!("the value is of type {}", other.kind_name())).in_field(field))
                    }
                }
            }
        )*}
    };
}

typed_getters! {
    get_int8 -> i8 = Int8 Int8(value) => *value;
    get_int16 -> i16 = Int16 Int16(value) => *value;
    get_int32 -> i32 = Int32 Int32(value) => *value;
    get_int64 -> i64 = Int64 Int64(value) => *value;
    get_float32 -> f32 = Float32 Float32(value) => *value;
    get_float64 -> f64 = Float64 Float64(value) => *value;
    get_boolean -> bool = Boolean Boolean(value) => *value;
    get_string -> &Text = String String(value) => value;
    get_bytes -> &Bytes = Bytes Bytes(value) => value;
    get_array -> &[Option<Value>] = Array Array(value) => value;
    get_map -> &Map = Map Map(value) => value;
    get_struct -> &Self = Struct Struct(value) => value;
}

impl PartialEq for Struct {
    fn eq(&self, other: &Self) -> bool {
        self.schema == other.schema && (Arc::ptr_eq(&self.slots, &other.slots) || self.values() == other.values())
    }
}

impl Eq for Struct {}

impl Hash for Struct {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.schema.hash(state);
        self.values().hash(state);
    }
}

impl fmt::Debug for Struct {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct(self.schema.name().unwrap_or("Struct"));
        for (field, value) in self.entries() {
            out.field(field.name(), &value);
        }
        out.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Date, SchemaBuilder};

    fn schema() -> Schema {
        SchemaBuilder::struct_()
            .field("a", Schema::int32())
            .field("b", Schema::optional_string())
            .field("c", SchemaBuilder::int32().default_value(9).build().unwrap())
            .field("d", Schema::optional_date())
            .build()
            .unwrap()
    }

    #[test]
    fn a_value_is_checked_when_it_is_put() {
        let mut value = Struct::new(schema()).unwrap();
        assert_eq!(value.put("a", "x").unwrap_err().path(), "a");
        value.put("a", None::<Value>).unwrap_err();
        value.put("c", None::<Value>).unwrap_err();
        assert!(value.put("aa", 1).unwrap_err().message().contains("did you mean `a`?"));
        value.validate().unwrap_err();
        value.put("a", 1).unwrap().put("b", None::<Value>).unwrap();
        value.validate().unwrap();
    }

    #[test]
    fn only_get_applies_defaults() {
        let value = Struct::new(schema()).unwrap();
        assert_eq!(value.get("c").unwrap(), Some(&Value::from(9)));
        assert_eq!(value.get_without_default("c").unwrap(), None);
        assert_eq!(value.get_int32("c").unwrap(), None);
        value.get("zzz").unwrap_err();
    }

    #[test]
    fn a_getter_asks_for_the_type_of_the_field() {
        let mut value = Struct::new(schema()).unwrap();
        value.put("d", Date::from_epoch_days(1)).unwrap();
        value.get_int64("a").unwrap_err();
        assert_eq!(value.get_int32("d").unwrap_err().path(), "d");
    }

    #[test]
    fn a_changed_clone_leaves_the_original_alone() {
        let mut value = Struct::new(schema()).unwrap();
        value.put("a", 1).unwrap();
        let mut copy = value.clone();
        assert_eq!(copy, value);
        copy.put("a", 2).unwrap();
        assert_eq!(value.get_int32("a").unwrap(), Some(1));
        assert_ne!(copy, value);
    }

    #[test]
    fn values_are_moved_out_without_a_copy() {
        let text = Text::from("a text that is not short");
        let mut value = Struct::new(schema()).unwrap();
        value.put("b", text.clone()).unwrap();
        let shared = value.clone();
        assert_eq!(value.values_mut()[1].take().unwrap().as_str().unwrap().as_ptr(), text.as_ptr());
        assert_eq!((value.get_string("b").unwrap(), shared.get_string("b").unwrap()), (None, Some(&text)));
    }

    #[test]
    fn values_are_taken_from_a_struct_and_copied_from_a_clone() {
        let mut value = Struct::new(schema()).unwrap();
        value.put("a", 7).unwrap();
        let clone = value.clone();
        let mut values = value.take_values();
        assert_eq!([0, 1, 4, 99].map(|index| values.take(index)), [Some(7.into()), None, None, None]);
        assert_eq!(clone.get_int32("a").unwrap(), Some(7));
        drop(clone);
        assert_eq!(value.take_values().take(0), Some(7.into()));
        assert_eq!(value.get_int32("a").unwrap(), None, "it was moved");
    }

    #[test]
    fn a_struct_that_grows_keeps_its_values_and_leaves_its_clones_alone() {
        let numbered = |n: usize| {
            (0..n).fold(SchemaBuilder::struct_(), |b, i| b.field(format!("f{i}"), Schema::optional_int64())).build()
        };
        for room in [0, 1, 3, 9] {
            let mut value = Struct::with_room(numbered(1).unwrap(), room).unwrap();
            value.put("f0", 0i64).unwrap();
            let mut clones = Vec::new();
            for n in 1..10 {
                let before = value.clone();
                value = value.extended(numbered(n + 1).unwrap());
                assert_eq!(value.entries().len(), n + 1);
                assert_eq!(value.value_at(n), None);
                value.put(&format!("f{n}"), i64::try_from(n).unwrap()).unwrap();
                clones.push(before);
            }
            for (n, clone) in (1..).zip(&clones) {
                let mut exact = Struct::new(numbered(n).unwrap()).unwrap();
                for i in 0..n {
                    exact.put(&format!("f{i}"), i64::try_from(i).unwrap()).unwrap();
                }
                // Room for more does not make them differ.
                assert_eq!(clone, &exact, "{room}");
                let hash = |of: &Struct| {
                    let mut hasher = std::hash::DefaultHasher::new();
                    of.hash(&mut hasher);
                    Hasher::finish(&hasher)
                };
                assert_eq!((hash(clone), format!("{clone:?}")), (hash(&exact), format!("{exact:?}")));
                assert_eq!(clone.clone().values_mut().len(), n);
            }
        }
    }

    #[test]
    fn values_are_given_for_every_field_at_once() {
        Struct::from_values(schema(), vec![Some(1.into()), None, None, None]).unwrap();
        Struct::from_values(schema(), vec![None; 4]).unwrap_err();
        Struct::from_values(schema(), vec![None; 3]).unwrap_err();
        Struct::new(Schema::int8()).unwrap_err();
    }
}
