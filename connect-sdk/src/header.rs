//! Headers of a record: an ordered list of key, schema and value in which a key may stand several times.

use bytes::Bytes;

use crate::data::{
    DataError, Date, Decimal, IntoValue, Map, Schema, SchemaAndValue, Struct, Text, Time, Timestamp, Value,
    validate_kind,
};

/// One header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    key: Text,
    schema: Option<Schema>,
    value: Option<Value>,
}

impl Header {
    /// A header whose schema and value are taken as they are.
    #[must_use]
    pub fn new(key: impl Into<Text>, schema: Option<Schema>, value: Option<Value>) -> Self {
        Self { key: key.into(), schema, value }
    }

    /// The key.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The schema; of a struct without one, the struct's own.
    #[must_use]
    pub fn schema(&self) -> Option<&Schema> {
        self.schema.as_ref().or_else(|| self.value.as_ref().and_then(Value::as_struct).map(Struct::schema))
    }

    /// The value; none is null.
    #[must_use]
    pub fn value(&self) -> Option<&Value> {
        self.value.as_ref()
    }

    /// The same header under another key.
    #[must_use]
    pub fn rename(mut self, key: impl Into<Text>) -> Self {
        self.key = key.into();
        self
    }

    /// Gives up the header for its schema and value.
    #[must_use]
    pub fn into_schema_and_value(self) -> SchemaAndValue {
        SchemaAndValue { schema: self.schema().cloned(), value: self.value }
    }
}

/// The headers of one record, in order; several may have the same key.
///
/// ```
/// use connect_sdk::header::Headers;
/// let mut headers = Headers::new();
/// headers.add_string("trace", "a").add_string("trace", "b").add_int("attempt", 1);
/// assert_eq!(headers.last_with_name("trace").and_then(|h| h.value()).and_then(|v| v.as_str()), Some("b"));
/// headers.remove("trace");
/// assert_eq!(headers.len(), 1);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Headers(Vec<Header>);

impl Headers {
    /// No headers. Nothing is allocated before the first is added.
    #[must_use]
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// How many headers there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is no header.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All headers, in order.
    pub fn iter(&self) -> std::slice::Iter<'_, Header> {
        self.0.iter()
    }

    /// Adds a header as it is, without checking its value against its schema.
    pub fn push(&mut self, header: Header) -> &mut Self {
        self.0.push(header);
        self
    }

    /// Adds a header at the end.
    ///
    /// # Errors
    /// Fails, and adds nothing, if the value is not of the schema's type, or is null and the schema is required. A
    /// missing schema takes any value; the parts of lists, maps and structs are not looked at.
    pub fn add(
        &mut self,
        key: impl Into<Text>,
        value: impl IntoValue,
        schema: Option<Schema>,
    ) -> Result<&mut Self, DataError> {
        let (key, value) = (key.into(), value.into_value());
        if let Some(schema) = &schema {
            validate_kind(schema, value.as_ref())
                .map_err(|error| DataError::new(format!("header `{key}`: {}", error.message())))?;
        }
        Ok(self.push(Header { key, schema, value }))
    }

    /// Adds text with the schema `string`.
    pub fn add_string(&mut self, key: impl Into<Text>, value: impl Into<Text>) -> &mut Self {
        self.push(Header::new(key, Some(Schema::string()), Some(Value::String(value.into()))))
    }

    /// Adds a list with its schema.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    pub fn add_list<T: IntoValue>(
        &mut self,
        key: impl Into<Text>,
        value: Option<Vec<T>>,
        schema: Schema,
    ) -> Result<&mut Self, DataError> {
        self.add(key, value, Some(schema))
    }

    /// Adds a map with its schema.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    pub fn add_map(
        &mut self,
        key: impl Into<Text>,
        value: Option<Map>,
        schema: Schema,
    ) -> Result<&mut Self, DataError> {
        self.add(key, value, Some(schema))
    }

    /// Adds a struct; its schema is the struct's own.
    pub fn add_struct(&mut self, key: impl Into<Text>, value: Struct) -> &mut Self {
        let schema = value.schema().clone();
        self.push(Header::new(key, Some(schema), Some(value.into())))
    }

    /// Adds a decimal; the schema gets its scale.
    pub fn add_decimal(&mut self, key: impl Into<Text>, value: Decimal) -> &mut Self {
        self.push(Header::new(key, Some(Schema::decimal(value.scale())), Some(value.into())))
    }

    /// All headers with this key, in order.
    pub fn all_with_name(&self, key: &str) -> impl DoubleEndedIterator<Item = &Header> {
        self.0.iter().filter(move |header| header.key() == key)
    }

    /// The last header with this key.
    #[must_use]
    pub fn last_with_name(&self, key: &str) -> Option<&Header> {
        self.all_with_name(key).next_back()
    }

    /// Removes all headers with this key.
    pub fn remove(&mut self, key: &str) -> &mut Self {
        self.0.retain(|header| header.key() != key);
        self
    }

    /// Removes all headers.
    pub fn clear(&mut self) -> &mut Self {
        self.0.clear();
        self
    }

    /// Of the headers with this key keeps the last.
    pub fn retain_latest_of(&mut self, key: &str) -> &mut Self {
        if let Some(last) = self.0.iter().rposition(|header| header.key() == key) {
            let mut index = 0;
            self.0.retain(|header| {
                index += 1;
                index - 1 == last || header.key() != key
            });
        }
        self
    }

    /// Of every key keeps the last header.
    pub fn retain_latest(&mut self) -> &mut Self {
        let mut seen = std::collections::HashSet::new();
        let mut keep: Vec<bool> = self.0.iter().rev().map(|header| seen.insert(header.key.clone())).collect();
        self.0.retain(|_| keep.pop().unwrap_or(true));
        self
    }

    /// Replaces every header by what `change` makes of it; none removes it.
    ///
    /// # Errors
    /// Passes on the first error of `change`; the headers are then as they were.
    pub fn apply(
        &mut self,
        mut change: impl FnMut(&Header) -> Result<Option<Header>, DataError>,
    ) -> Result<&mut Self, DataError> {
        let changed = self.0.iter().filter_map(|header| change(header).transpose()).collect::<Result<_, _>>()?;
        self.0 = changed;
        Ok(self)
    }

    /// As [`apply`](Self::apply), for the headers with this key only.
    ///
    /// # Errors
    /// As [`apply`](Self::apply).
    pub fn apply_to(
        &mut self,
        key: &str,
        mut change: impl FnMut(&Header) -> Result<Option<Header>, DataError>,
    ) -> Result<&mut Self, DataError> {
        self.apply(|header| if header.key() == key { change(header) } else { Ok(Some(header.clone())) })
    }
}

/// The typed `add_..` methods. What can be null in Java can be `None`, and then has the optional schema.
macro_rules! typed_adds {
    ($($name:ident($type:ty) = $schema:ident;)*) => {
        impl Headers {$(
            #[doc = concat!("Adds a header with the schema `", stringify!($schema), "`.")]
            pub fn $name(&mut self, key: impl Into<Text>, value: $type) -> &mut Self {
                self.push(Header::new(key, Some(Schema::$schema()), Some(value.into())))
            }
        )*}
    };
    ($($name:ident(Option<$type:ty>) = $schema:ident or $optional:ident;)*) => {
        impl Headers {$(
            #[doc = concat!("Adds a header with the schema `", stringify!($schema), "`; for null, the optional one.")]
            pub fn $name(&mut self, key: impl Into<Text>, value: impl Into<Option<$type>>) -> &mut Self {
                let value: Option<$type> = value.into();
                let schema = if value.is_some() { Schema::$schema() } else { Schema::$optional() };
                self.push(Header::new(key, Some(schema), value.map(Value::from)))
            }
        )*}
    };
}

typed_adds! {
    add_boolean(bool) = boolean;
    add_byte(i8) = int8;
    add_short(i16) = int16;
    add_int(i32) = int32;
    add_long(i64) = int64;
    add_float(f32) = float32;
    add_double(f64) = float64;
}

typed_adds! {
    add_bytes(Option<Bytes>) = bytes or optional_bytes;
    add_date(Option<Date>) = date or optional_date;
    add_time(Option<Time>) = time or optional_time;
    add_timestamp(Option<Timestamp>) = timestamp or optional_timestamp;
}

impl<'a> IntoIterator for &'a Headers {
    type Item = &'a Header;
    type IntoIter = std::slice::Iter<'a, Header>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl IntoIterator for Headers {
    type Item = Header;
    type IntoIter = std::vec::IntoIter<Header>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl FromIterator<Header> for Headers {
    fn from_iter<I: IntoIterator<Item = Header>>(headers: I) -> Self {
        Self(headers.into_iter().collect())
    }
}

impl Extend<Header> for Headers {
    fn extend<I: IntoIterator<Item = Header>>(&mut self, headers: I) {
        self.0.extend(headers);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::SchemaBuilder;

    fn sample() -> Headers {
        let mut headers = Headers::new();
        headers.add_string("a", "1").add_int("b", 2).add_string("a", "3").add_bytes("c", None).add_string("a", "4");
        headers
    }

    fn keys(headers: &Headers) -> String {
        headers.iter().map(Header::key).collect()
    }

    #[test]
    fn order_and_repetition_are_kept() {
        let headers = sample();
        assert_eq!(keys(&headers), "abaca");
        let texts: Vec<_> = headers.all_with_name("a").filter_map(|h| h.value()?.as_str()).collect();
        assert_eq!(texts, ["1", "3", "4"]);
        assert_eq!(headers.last_with_name("a").unwrap().value(), Some(&"4".into()));
        assert!(headers.last_with_name("z").is_none());
        assert_eq!(headers.last_with_name("c").unwrap().schema(), Some(&Schema::optional_bytes()));
    }

    #[test]
    fn the_latest_of_a_key_stays() {
        assert_eq!(keys(sample().retain_latest()), "bca");
        assert_eq!(keys(sample().retain_latest_of("a")), "bca");
        assert_eq!(keys(sample().retain_latest_of("b")), "abaca");
        assert_eq!(keys(sample().retain_latest_of("z")), "abaca");
        assert_eq!(keys(sample().remove("a")), "bc");
        assert!(sample().clear().is_empty());
    }

    #[test]
    fn a_value_is_checked_against_its_schema() {
        let mut headers = Headers::new();
        headers.add("a", 1i32, Some(Schema::int64())).unwrap_err();
        headers.add("a", None::<Value>, Some(Schema::int64())).unwrap_err();
        assert!(headers.is_empty());
        headers.add("a", None::<Value>, Some(Schema::optional_int64())).unwrap();
        headers.add("a", 1i32, None).unwrap();
        headers.add_list("l", Some(vec![1i32]), Schema::array(Schema::int32())).unwrap();
        headers.add_list("l", Some(vec![1i32]), Schema::string()).unwrap_err();
        assert_eq!(headers.len(), 3);
    }

    #[test]
    fn a_struct_brings_its_schema() {
        let value = Struct::new(SchemaBuilder::struct_().build().unwrap()).unwrap();
        let header = Header::new("s", None, Some(value.clone().into()));
        assert_eq!(header.schema(), Some(value.schema()));
    }

    #[test]
    fn apply_replaces_and_removes() {
        let mut headers = sample();
        headers
            .apply_to("a", |header| Ok((header.value() != Some(&"3".into())).then(|| header.clone().rename("x"))))
            .unwrap();
        assert_eq!(keys(&headers), "xbcx");
        headers.apply(|_| Err(DataError::new("no"))).unwrap_err();
        assert_eq!(keys(&headers), "xbcx");
    }
}
