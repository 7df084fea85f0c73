//! Testers of transformations, predicates and converters: one record, many, or a file of cases.

mod fixture_file;
mod json;

use crate::{
    config::ConfigErrors,
    converter::{BoxConverter, BoxHeaderConverter, ConverterKind, ConverterPlugin},
    data::{DataError, SchemaAndValue},
    erased::{DynPredicate, DynTransformation, Properties},
    source::PayloadRef,
    transform::{ConnectRecord, PredicatePlugin, TransformationPlugin},
};
use bytes::Bytes;
use serde_json::Value as Json;
use std::path::Path;

fn properties(settings: &[(&str, &str)]) -> Properties {
    settings.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

/// A transformation in a unit test, made and called as the worker does it.
///
/// ```
/// use connect_sdk::prelude::*;
/// use connect_sdk::testkit::TransformationTester;
///
/// /// Routes all records to one topic.
/// #[transformation(name = "ToArchive")]
/// fn to_archive(mut record: ConnectRecord) -> ConnectRecord {
///     record.topic = "archive".into();
///     record
/// }
///
/// let mut tester = TransformationTester::open::<to_archive>(&[]).unwrap();
/// let record = ConnectRecord { topic: "orders".into(), ..ConnectRecord::default() };
/// assert_eq!(tester.apply(record).unwrap().unwrap().topic, "archive");
/// ```
#[derive(Debug)]
pub struct TransformationTester {
    transformation: Box<dyn DynTransformation>,
}

impl TransformationTester {
    /// Makes a transformation with these settings, keys without prefix. One that works on keys or on values is made for
    /// values.
    ///
    /// # Errors
    /// Everything that is wrong with the settings.
    pub fn open<T: TransformationPlugin>(settings: &[(&str, &str)]) -> Result<Self, ConfigErrors> {
        Self::of_class::<T>("$Value", settings)
    }

    /// As [`Self::open`], for keys.
    ///
    /// # Errors
    /// As there.
    ///
    /// # Panics
    /// The transformation is not one for keys or values.
    pub fn open_for_keys<T: TransformationPlugin>(settings: &[(&str, &str)]) -> Result<Self, ConfigErrors> {
        assert!(T::CLASSES.len() > 1, "`{}` works on whole records: use `open`", T::CLASSES[0].class);
        Self::of_class::<T>("$Key", settings)
    }

    fn of_class<T: TransformationPlugin>(part: &str, settings: &[(&str, &str)]) -> Result<Self, ConfigErrors> {
        let class = T::CLASSES.iter().find(|class| class.class.ends_with(part)).unwrap_or(&T::CLASSES[0]);
        Ok(Self { transformation: (class.make)(&properties(settings))? })
    }

    /// The changed record; `None` if it was dropped.
    ///
    /// # Errors
    /// What the transformation says.
    pub fn apply(&mut self, record: ConnectRecord) -> Result<Option<ConnectRecord>, DataError> {
        self.transformation.apply(record)
    }

    /// The records that are left of a batch, in its order.
    ///
    /// # Errors
    /// The first error; later records are not looked at.
    pub fn apply_to_all(
        &mut self,
        records: impl IntoIterator<Item = ConnectRecord>,
    ) -> Result<Vec<ConnectRecord>, DataError> {
        records.into_iter().filter_map(|record| self.apply(record).transpose()).collect()
    }

    /// Checks the cases of a file: each line is `{"in":<record>,"out":<record>}`, with `null` as `out` of a record that is
    /// dropped, or with `"error":"<text>"`. Blank lines and those that begin with `#` are passed over.
    ///
    /// A record is an object with `topic`, `partition`, `timestamp`, `offset`, `key`, `value` and `headers` (a list of
    /// `{"key":..,"value":..}`), as far as it has them. A value with a schema is written as JsonConverter does,
    /// `{"schema":..,"payload":..}`; a decimal as `{"$decimal":"12.50"}`. Other values are plain JSON, with `$int8`, `$int16`,
    /// `$int32`, `$float32`, `$float64`, `$bytes`, `$date`, `$time`, `$timestamp` and `$map` (a list of pairs) for what JSON
    /// cannot tell.
    ///
    /// With `CONNECT_UPDATE_FIXTURES=1` in the environment, the file gets what came out. The name of the file is
    /// relative to the crate's folder, where cargo runs tests.
    ///
    /// # Panics
    /// A case differs; the message shows each place where it does. Or there is no such file, or no case in it.
    pub fn check_file(&mut self, path: impl AsRef<Path>) {
        fixture_file::check(
            path.as_ref(),
            |input| {
                let record = json::read_record(input).map_err(|why| format!("`in`: {why}"))?;
                let written = |left: Option<ConnectRecord>| left.as_ref().map_or(Json::Null, json::write_record);
                Ok(self.apply(record).map(written).map_err(|error| error.to_string()))
            },
            |expected| {
                if expected.is_null() {
                    Ok(Json::Null)
                } else {
                    json::read_record(expected).map(|r| json::write_record(&r))
                }
            },
        );
    }
}

/// A predicate in a unit test, made and asked as the worker does it.
///
/// ```
/// use connect_sdk::prelude::*;
/// use connect_sdk::testkit::PredicateTester;
///
/// /// Records without a key.
/// #[predicate]
/// fn without_key(record: &ConnectRecord) -> bool {
///     record.key.value.is_none()
/// }
///
/// let mut tester = PredicateTester::open::<without_key>(&[]).unwrap();
/// assert!(tester.test(&ConnectRecord::default()).unwrap());
/// ```
#[derive(Debug)]
pub struct PredicateTester {
    predicate: Box<dyn DynPredicate>,
}

impl PredicateTester {
    /// Makes a predicate with these settings, keys without prefix.
    ///
    /// # Errors
    /// Everything that is wrong with the settings.
    pub fn open<P: PredicatePlugin>(settings: &[(&str, &str)]) -> Result<Self, ConfigErrors> {
        Ok(Self { predicate: (P::CLASS.make)(&properties(settings))? })
    }

    /// Whether the record is meant.
    ///
    /// # Errors
    /// What the predicate says.
    pub fn test(&mut self, record: &ConnectRecord) -> Result<bool, DataError> {
        self.predicate.test(record)
    }

    /// As [`TransformationTester::check_file`], with `true` or `false` as `out`.
    ///
    /// # Panics
    /// As there.
    pub fn check_file(&mut self, path: impl AsRef<Path>) {
        fixture_file::check(
            path.as_ref(),
            |input| {
                let record = json::read_record(input).map_err(|why| format!("`in`: {why}"))?;
                Ok(self.test(&record).map(Json::Bool).map_err(|error| error.to_string()))
            },
            |expected| match expected {
                Json::Bool(_) => Ok(expected.clone()),
                other => Err(format!("true or false is needed, not `{other}`")),
            },
        );
    }
}

/// A converter in a unit test, made and called as the worker does it.
///
/// ```
/// use connect_sdk::data::{Schema, SchemaAndValue};
/// use connect_sdk::testkit::ConverterTester;
/// # use connect_sdk::{prelude::*, source::PayloadRef};
/// # pub struct Plain;
/// # /// Text as it is.
/// # #[converter]
/// # impl Converter for Plain {
/// #     type Config = ();
/// #     fn new(_: (), _: ConverterKind) -> Result<Self, ConfigErrors> {
/// #         Ok(Self)
/// #     }
/// #     fn write(&self, _: &str, value: PayloadRef<'_>, out: &mut Vec<u8>) -> Result<bool, DataError> {
/// #         let text = value.to_owned_value().value;
/// #         out.extend_from_slice(text.as_ref().and_then(Value::as_str).unwrap_or_default().as_bytes());
/// #         Ok(text.is_some())
/// #     }
/// #     fn read(&self, _: &str, bytes: Option<&bytes::Bytes>) -> Result<SchemaAndValue, DataError> {
/// #         let text = bytes.map(|bytes| String::from_utf8_lossy(bytes).into_owned().into());
/// #         Ok(SchemaAndValue::new(Some(Schema::optional_string()), text))
/// #     }
/// # }
///
/// let tester = ConverterTester::open::<Plain>(&[]).unwrap();
/// let text = SchemaAndValue::new(Some(Schema::optional_string()), Some("Rome".into()));
/// let bytes = tester.write(&text).unwrap();
/// assert_eq!(bytes.as_deref(), Some(&b"Rome"[..]));
/// assert_eq!(tester.read(bytes.as_deref()).unwrap(), text);
/// ```
#[derive(Debug)]
pub struct ConverterTester {
    converter: Kind,
    topic: String,
}

#[derive(Debug)]
enum Kind {
    Parts(BoxConverter),
    Headers(BoxHeaderConverter),
}

/// The name of the header that a tester of a converter for headers alone reads and writes.
const HEADER: &str = "header";

impl ConverterTester {
    /// Makes a converter for values, or for headers if it serves nothing else, with these settings, keys without prefix.
    ///
    /// # Errors
    /// Everything that is wrong with the settings.
    ///
    /// # Panics
    /// The converter serves nothing.
    pub fn open<C: ConverterPlugin>(settings: &[(&str, &str)]) -> Result<Self, ConfigErrors> {
        Self::open_for::<C>(
            if C::CLASS.converter.is_some() { ConverterKind::Value } else { ConverterKind::Header },
            settings,
        )
    }

    /// Makes a converter for keys, for values or for headers.
    ///
    /// # Errors
    /// Everything that is wrong with the settings.
    ///
    /// # Panics
    /// The converter does not serve this part.
    pub fn open_for<C: ConverterPlugin>(kind: ConverterKind, settings: &[(&str, &str)]) -> Result<Self, ConfigErrors> {
        let settings = properties(settings);
        let converter = match kind {
            ConverterKind::Header => C::CLASS.header_converter.map(|make| make(&settings).map(Kind::Headers)),
            kind => C::CLASS.converter.map(|make| make(&settings, kind).map(Kind::Parts)),
        };
        let unserved = || panic!("`{}` does not convert {}s", C::CLASS.class, kind.name());
        let converter = converter.unwrap_or_else(unserved)?;
        Ok(Self { converter, topic: "topic".to_owned() })
    }

    /// The bytes of a value; `None` is a null in Kafka.
    ///
    /// # Errors
    /// What the converter says.
    pub fn write(&self, value: &SchemaAndValue) -> Result<Option<Bytes>, DataError> {
        let payload = match (&value.schema, &value.value) {
            (None, None) => PayloadRef::Null,
            (schema, value) => PayloadRef::Value(schema.as_ref(), value.as_ref()),
        };
        self.write_borrowed(payload)
    }

    /// As [`Self::write`], for text and bytes as a source lends them.
    ///
    /// # Errors
    /// As there.
    pub fn write_borrowed(&self, value: PayloadRef<'_>) -> Result<Option<Bytes>, DataError> {
        let mut out = Vec::new();
        let some = match &self.converter {
            Kind::Parts(converter) => converter.write(&self.topic, value, &mut out)?,
            Kind::Headers(converter) => converter.write_header(&self.topic, HEADER, value, &mut out)?,
        };
        Ok(some.then(|| out.into()))
    }

    /// The value of bytes; `None` is a null in Kafka.
    ///
    /// # Errors
    /// What the converter says.
    pub fn read(&self, bytes: Option<&[u8]>) -> Result<SchemaAndValue, DataError> {
        let bytes = bytes.map(Bytes::copy_from_slice);
        match &self.converter {
            Kind::Parts(converter) => converter.read(&self.topic, bytes.as_ref()),
            Kind::Headers(converter) => converter.read_header(&self.topic, HEADER, bytes.as_ref()),
        }
    }

    /// Checks the cases of a file: each line is `{"in":<value>,"out":{"bytes":<text>,"value":<value>}}`: the first value, in
    /// the form of [`TransformationTester::check_file`], becomes these bytes, and the bytes become the second. Bytes that are
    /// no UTF-8 are `{"$bytes":<base64>}`; a null in Kafka is `null`. What cannot be written, or be read again, has an `error`.
    ///
    /// # Panics
    /// As there.
    pub fn check_file(&self, path: impl AsRef<Path>) {
        fixture_file::check(
            path.as_ref(),
            |input| {
                let value = json::read_value(input).map_err(|why| format!("`in`: {why}"))?;
                Ok(self.there_and_back(&value).map_err(|error| error.to_string()))
            },
            |expected| {
                let member = |name: &str| expected.get(name).unwrap_or(&Json::Null);
                let value = json::read_value(member("value")).map_err(|why| format!("`value`: {why}"))?;
                Ok(out(member("bytes"), &value))
            },
        );
    }

    fn there_and_back(&self, value: &SchemaAndValue) -> Result<Json, DataError> {
        let written = self.write(value)?;
        let again = self.read(written.as_deref())?;
        Ok(out(&written.as_ref().map_or(Json::Null, text_or_bytes), &again))
    }
}

fn out(bytes: &Json, value: &SchemaAndValue) -> Json {
    serde_json::json!({ "bytes": bytes, "value": json::write_value(value) })
}

fn text_or_bytes(bytes: &Bytes) -> Json {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.into(),
        Err(_) => json::write_value(&SchemaAndValue::new(None, Some(bytes.clone().into()))),
    }
}
