//! Transformations and predicates without their types: what chains are made of.

use super::Properties;
use crate::{
    config::{ConfigErrors, ConnectorConfig},
    data::DataError,
    transform::{ConnectRecord, Part, PartTransformation, Predicate, Transformation},
};
use std::fmt;

/// A transformation of any type, or a whole chain.
pub trait DynTransformation: Send {
    /// As [`Transformation::apply`].
    ///
    /// # Errors
    /// As there.
    fn apply(&mut self, record: ConnectRecord) -> Result<Option<ConnectRecord>, DataError>;
}

/// A predicate of any type.
pub trait DynPredicate: Send {
    /// As [`Predicate::test`].
    ///
    /// # Errors
    /// As there.
    fn test(&mut self, record: &ConnectRecord) -> Result<bool, DataError>;
}

impl<T: Transformation> DynTransformation for T {
    fn apply(&mut self, record: ConnectRecord) -> Result<Option<ConnectRecord>, DataError> {
        Transformation::apply(self, record)
    }
}

impl<P: Predicate> DynPredicate for P {
    fn test(&mut self, record: &ConnectRecord) -> Result<bool, DataError> {
        Predicate::test(self, record)
    }
}

/// A transformation that was made for a part; it knows which.
struct OfPart<T>(T);

impl<T: PartTransformation> DynTransformation for OfPart<T> {
    fn apply(&mut self, record: ConnectRecord) -> Result<Option<ConnectRecord>, DataError> {
        self.0.apply(record)
    }
}

impl fmt::Debug for dyn DynTransformation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Transformation")
    }
}

impl fmt::Debug for dyn DynPredicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Predicate")
    }
}

/// Makes a transformation of this type.
///
/// # Errors
/// Everything that is wrong with the settings.
pub(crate) fn make_transformation<T: Transformation>(
    properties: &Properties,
) -> Result<Box<dyn DynTransformation>, ConfigErrors> {
    Ok(Box::new(T::new(T::Config::from_properties(properties)?)?))
}

/// Makes a transformation of this type for keys.
///
/// # Errors
/// Everything that is wrong with the settings.
pub(crate) fn make_for_key<T: PartTransformation>(
    properties: &Properties,
) -> Result<Box<dyn DynTransformation>, ConfigErrors> {
    Ok(Box::new(OfPart(T::new(T::Config::from_properties(properties)?, Part::Key)?)))
}

/// Makes a transformation of this type for values.
///
/// # Errors
/// Everything that is wrong with the settings.
pub(crate) fn make_for_value<T: PartTransformation>(
    properties: &Properties,
) -> Result<Box<dyn DynTransformation>, ConfigErrors> {
    Ok(Box::new(OfPart(T::new(T::Config::from_properties(properties)?, Part::Value)?)))
}

/// Makes a predicate of this type.
///
/// # Errors
/// Everything that is wrong with the settings.
pub(crate) fn make_predicate<P: Predicate>(properties: &Properties) -> Result<Box<dyn DynPredicate>, ConfigErrors> {
    Ok(Box::new(P::new(P::Config::from_properties(properties)?)?))
}
