//! The part of a record that a transformation works on: its key or its value.

use connect_sdk::config::{ConfigDef, ConfigErrors};
use connect_sdk::data::SchemaAndValue;
use connect_sdk::erased::{DynTransformation, Properties};
use connect_sdk::transform::{ConnectRecord, TransformationClass};

/// Key or value, as the class says: `$Key` or `$Value`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Key,
    Value,
}

impl Part {
    /// This part of a record.
    pub(super) fn of(self, record: &mut ConnectRecord) -> &mut SchemaAndValue {
        self.pick(&mut record.key, &mut record.value)
    }

    /// This part of a record that was taken apart.
    pub(super) fn pick<'r>(self, key: &'r mut SchemaAndValue, value: &'r mut SchemaAndValue) -> &'r mut SchemaAndValue {
        match self {
            Self::Key => key,
            Self::Value => value,
        }
    }
}

/// A transformation that exists for keys and for values.
pub(super) trait OfPart: DynTransformation + Sized + 'static {
    /// Its keys.
    fn config_def() -> ConfigDef;

    /// Makes one for a part.
    ///
    /// # Errors
    /// Everything that is wrong with the settings.
    fn new(properties: &Properties, part: Part) -> Result<Self, ConfigErrors>;
}

/// The classes of a transformation for keys and for values.
pub(super) const fn key_and_value<T: OfPart>(key: &'static str, value: &'static str) -> [TransformationClass; 2] {
    const VERSION: &str = env!("CARGO_PKG_VERSION");
    [
        TransformationClass {
            class: key,
            version: VERSION,
            name: None,
            doc: "",
            type_name: "",
            config_def: T::config_def,
            make: make_for_key::<T>,
        },
        TransformationClass {
            class: value,
            version: VERSION,
            name: None,
            doc: "",
            type_name: "",
            config_def: T::config_def,
            make: make_for_value::<T>,
        },
    ]
}

fn make_for_key<T: OfPart>(properties: &Properties) -> Result<Box<dyn DynTransformation>, ConfigErrors> {
    Ok(Box::new(T::new(properties, Part::Key)?))
}

fn make_for_value<T: OfPart>(properties: &Properties) -> Result<Box<dyn DynTransformation>, ConfigErrors> {
    Ok(Box::new(T::new(properties, Part::Value)?))
}
