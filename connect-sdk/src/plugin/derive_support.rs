//! What the code calls that `#[transformation]`, `#[predicate]` and `#[converter]` generate. No part of the public
//! interface.
#![doc(hidden)]
#![allow(missing_docs, clippy::exhaustive_structs, reason = "for generated code only")]

use crate::{
    config::derive_support::{Role, check_role},
    config::{ConfigDef, ConfigKey, ConfigType, ConnectorConfig, Importance, Validator},
    converter::{Converter, ConverterClass, ConverterKind, ConverterPlugin, HeaderConverter},
    data::DataError,
    erased::{
        make_converter, make_for_headers, make_for_key, make_for_value, make_header_converter, make_predicate,
        make_transformation,
    },
    transform::{ConnectRecord, PartTransformation, Predicate, PredicateClass, Transformation, TransformationClass},
};

/// What an attribute knows of its plugin.
#[derive(Debug, Clone, Copy)]
pub struct PluginMeta {
    pub class: &'static str,
    pub name: Option<&'static str>,
    pub version: &'static str,
    pub doc: &'static str,
    pub type_name: &'static str,
}

#[must_use]
#[track_caller]
pub const fn transformation<T: Transformation>(meta: PluginMeta) -> TransformationClass {
    check_role::<T::Config>(Role::Transformation);
    let PluginMeta { class, name, version, doc, type_name } = meta;
    let config_def = <T::Config as ConnectorConfig>::config_def;
    TransformationClass { class, name, version, doc, type_name, config_def, make: make_transformation::<T> }
}

#[must_use]
#[track_caller]
pub const fn transformation_of_keys<T: PartTransformation>(meta: PluginMeta) -> TransformationClass {
    check_role::<T::Config>(Role::Transformation);
    let PluginMeta { class, name, version, doc, type_name } = meta;
    let config_def = <T::Config as ConnectorConfig>::config_def;
    TransformationClass { class, name, version, doc, type_name, config_def, make: make_for_key::<T> }
}

#[must_use]
#[track_caller]
pub const fn transformation_of_values<T: PartTransformation>(meta: PluginMeta) -> TransformationClass {
    check_role::<T::Config>(Role::Transformation);
    let PluginMeta { class, name, version, doc, type_name } = meta;
    let config_def = <T::Config as ConnectorConfig>::config_def;
    TransformationClass { class, name, version, doc, type_name, config_def, make: make_for_value::<T> }
}

#[must_use]
#[track_caller]
pub const fn predicate<P: Predicate>(meta: PluginMeta) -> PredicateClass {
    check_role::<P::Config>(Role::Predicate);
    let PluginMeta { class, name, version, doc, type_name } = meta;
    let config_def = <P::Config as ConnectorConfig>::config_def;
    PredicateClass { class, name, version, doc, type_name, config_def, make: make_predicate::<P> }
}

#[must_use]
#[track_caller]
pub const fn converter<C: Converter + ConverterPlugin>(meta: PluginMeta) -> ConverterClass {
    check_role::<C::Config>(Role::Converter);
    let PluginMeta { class, name, version, doc, type_name } = meta;
    ConverterClass {
        class,
        name,
        version,
        doc,
        type_name,
        config_def: converter_def::<C>,
        converter: Some(make_converter::<C>),
        header_converter: Some(make_for_headers::<C>),
    }
}

#[must_use]
#[track_caller]
pub const fn header_converter<H: HeaderConverter + ConverterPlugin>(meta: PluginMeta) -> ConverterClass {
    check_role::<H::Config>(Role::Converter);
    let PluginMeta { class, name, version, doc, type_name } = meta;
    ConverterClass {
        class,
        name,
        version,
        doc,
        type_name,
        config_def: <H::Config as ConnectorConfig>::config_def,
        converter: None,
        header_converter: Some(make_header_converter::<H>),
    }
}

/// The keys of a converter, after the one that the worker sets.
fn converter_def<C: Converter>() -> ConfigDef {
    let kinds = [ConverterKind::Key, ConverterKind::Value, ConverterKind::Header];
    let converter_type = ConfigKey::new("converter.type", ConfigType::String)
        .validator(Validator::valid_string(kinds.map(ConverterKind::name)))
        .importance(Importance::Low)
        .doc("What the converter is used for; the worker sets it.");
    ConfigDef::new().define(converter_type).and(&C::Config::config_def())
}

/// What a function with `#[transformation]` may answer.
#[diagnostic::on_unimplemented(
    message = "a transformation cannot answer `{Self}`",
    label = "no answer of a `#[transformation]` function",
    note = "write `-> Result<Option<ConnectRecord>, DataError>`; where nothing is dropped or nothing fails, \
            `Result<ConnectRecord, DataError>`, `Option<ConnectRecord>` or `ConnectRecord` will do"
)]
pub trait Changed {
    /// # Errors
    /// The function's own.
    fn changed(self) -> Result<Option<ConnectRecord>, DataError>;
}

impl Changed for Result<Option<ConnectRecord>, DataError> {
    fn changed(self) -> Self {
        self
    }
}

impl Changed for Result<ConnectRecord, DataError> {
    fn changed(self) -> Result<Option<ConnectRecord>, DataError> {
        self.map(Some)
    }
}

impl Changed for Option<ConnectRecord> {
    fn changed(self) -> Result<Self, DataError> {
        Ok(self)
    }
}

impl Changed for ConnectRecord {
    fn changed(self) -> Result<Option<Self>, DataError> {
        Ok(Some(self))
    }
}

/// The answer of a function with `#[transformation]`.
///
/// # Errors
/// The function's own.
pub fn changed(answer: impl Changed) -> Result<Option<ConnectRecord>, DataError> {
    answer.changed()
}

/// What a function with `#[predicate]` may answer.
#[diagnostic::on_unimplemented(
    message = "a predicate cannot answer `{Self}`",
    label = "no answer of a `#[predicate]` function",
    note = "write `-> bool`, or `-> Result<bool, DataError>` where a record may not fit"
)]
pub trait Meant {
    /// # Errors
    /// The function's own.
    fn meant(self) -> Result<bool, DataError>;
}

impl Meant for bool {
    fn meant(self) -> Result<Self, DataError> {
        Ok(self)
    }
}

impl Meant for Result<bool, DataError> {
    fn meant(self) -> Self {
        self
    }
}

/// The answer of a function with `#[predicate]`.
///
/// # Errors
/// The function's own.
pub fn meant(answer: impl Meant) -> Result<bool, DataError> {
    answer.meant()
}
