//! Converters without their types: what tasks work with.

use super::Properties;
use crate::{
    config::{ConfigErrors, ConnectorConfig},
    converter::{
        BoxConverter, BoxHeaderConverter, Converter, ConverterKind, ConverterPlugin, HeaderConverter, PassThrough,
    },
    data::{DataError, SchemaAndValue},
    source::PayloadRef,
};
use bytes::Bytes;
use std::{fmt, sync::Arc};

/// A converter of any type.
pub trait DynConverter: Send + Sync {
    /// As [`Converter::write`].
    ///
    /// # Errors
    /// As there.
    fn write(&self, topic: &str, value: PayloadRef<'_>, out: &mut Vec<u8>) -> Result<bool, DataError>;

    /// As [`Converter::read`].
    ///
    /// # Errors
    /// As there.
    fn read(&self, topic: &str, bytes: Option<&Bytes>) -> Result<SchemaAndValue, DataError>;

    /// As [`Converter::pass_through`].
    fn pass_through(&self) -> PassThrough {
        PassThrough { text: false, bytes: false }
    }

    /// The class by which errors are reported.
    fn class_name(&self) -> &'static str {
        std::any::type_name::<Self>()
    }
}

/// A header converter of any type; every converter can serve as one.
pub trait DynHeaderConverter: Send + Sync {
    /// As [`HeaderConverter::write_header`].
    ///
    /// # Errors
    /// As there.
    fn write_header(
        &self,
        topic: &str,
        name: &str,
        value: PayloadRef<'_>,
        out: &mut Vec<u8>,
    ) -> Result<bool, DataError>;

    /// As [`HeaderConverter::read_header`].
    ///
    /// # Errors
    /// As there.
    fn read_header(&self, topic: &str, name: &str, bytes: Option<&Bytes>) -> Result<SchemaAndValue, DataError>;

    /// As [`DynConverter::class_name`].
    fn header_class_name(&self) -> &'static str {
        std::any::type_name::<Self>()
    }
}

impl<C: Converter + ConverterPlugin> DynConverter for C {
    fn write(&self, topic: &str, value: PayloadRef<'_>, out: &mut Vec<u8>) -> Result<bool, DataError> {
        Converter::write(self, topic, value, out)
    }

    fn read(&self, topic: &str, bytes: Option<&Bytes>) -> Result<SchemaAndValue, DataError> {
        Converter::read(self, topic, bytes)
    }

    fn pass_through(&self) -> PassThrough {
        Converter::pass_through(self)
    }

    fn class_name(&self) -> &'static str {
        C::CLASS.class
    }
}

impl<C: DynConverter> DynHeaderConverter for C {
    fn write_header(&self, topic: &str, _: &str, value: PayloadRef<'_>, out: &mut Vec<u8>) -> Result<bool, DataError> {
        self.write(topic, value, out)
    }

    fn read_header(&self, topic: &str, _: &str, bytes: Option<&Bytes>) -> Result<SchemaAndValue, DataError> {
        self.read(topic, bytes)
    }

    fn header_class_name(&self) -> &'static str {
        self.class_name()
    }
}

/// A converter that serves headers alone.
struct OnlyHeaders<H>(H);

impl<H: HeaderConverter + ConverterPlugin> DynHeaderConverter for OnlyHeaders<H> {
    fn write_header(
        &self,
        topic: &str,
        name: &str,
        value: PayloadRef<'_>,
        out: &mut Vec<u8>,
    ) -> Result<bool, DataError> {
        self.0.write_header(topic, name, value, out)
    }

    fn read_header(&self, topic: &str, name: &str, bytes: Option<&Bytes>) -> Result<SchemaAndValue, DataError> {
        self.0.read_header(topic, name, bytes)
    }

    fn header_class_name(&self) -> &'static str {
        H::CLASS.class
    }
}

impl fmt::Debug for dyn DynConverter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Converter")
    }
}

impl fmt::Debug for dyn DynHeaderConverter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HeaderConverter")
    }
}

fn made<C: Converter>(properties: &Properties, kind: ConverterKind) -> Result<C, ConfigErrors> {
    C::new(C::Config::from_properties(properties)?, kind)
}

/// Makes a converter of this type for keys or values.
///
/// # Errors
/// Everything that is wrong with the settings.
pub(crate) fn make_converter<C: Converter + ConverterPlugin>(
    properties: &Properties,
    kind: ConverterKind,
) -> Result<BoxConverter, ConfigErrors> {
    Ok(Arc::new(made::<C>(properties, kind)?))
}

/// Makes a converter of this type for headers.
///
/// # Errors
/// Everything that is wrong with the settings.
pub(crate) fn make_for_headers<C: Converter + ConverterPlugin>(
    properties: &Properties,
) -> Result<BoxHeaderConverter, ConfigErrors> {
    Ok(Arc::new(made::<C>(properties, ConverterKind::Header)?))
}

/// Makes a converter of this type, which serves headers alone.
///
/// # Errors
/// Everything that is wrong with the settings.
pub(crate) fn make_header_converter<H: HeaderConverter + ConverterPlugin>(
    properties: &Properties,
) -> Result<BoxHeaderConverter, ConfigErrors> {
    Ok(Arc::new(OnlyHeaders(H::new(H::Config::from_properties(properties)?)?)))
}
