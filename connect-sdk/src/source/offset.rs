//! What `#[derive(SourceOffset)]` and `#[derive(SourcePartition)]` implement: typed positions, and the way back from storage.

use super::fields::{FieldMap, FieldValue};
use std::fmt;

/// A position in a source partition. Derive it: `#[derive(SourceOffset)]`.
///
/// Fields may be `String`, `bool`, `i8` to `i64`, `u8` to `u32`, `f32`, `f64` and `Option` of these: what Kafka Connect's
/// stored form gives back unchanged. The methods are for generated code only.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a source offset",
    label = "needs `#[derive(SourceOffset)]`, on a struct of your own whose fields have names"
)]
pub trait SourceOffset: Sized + Send + Sync + 'static {
    /// The fields, for lock files and documentation.
    #[doc(hidden)]
    const FIELDS: &'static [FieldMeta];
    #[doc(hidden)]
    fn __encode(&self) -> FieldMap;
    #[doc(hidden)]
    fn __decode(stored: &FieldMap) -> Result<Self, RestoreError>;
    /// The framework keeps one copy in the cursor and one for storage; authors need no `Clone`.
    #[doc(hidden)]
    fn __duplicate(&self) -> Self;
    #[doc(hidden)]
    fn __same(&self, other: &Self) -> bool;
    /// Names a field that holds NaN or an infinity, which storage cannot keep.
    #[doc(hidden)]
    fn __not_finite(&self) -> Option<&'static str> {
        None
    }
}

/// The identity of a part of the source that is read in order. Derive it: `#[derive(SourcePartition)]`.
///
/// As [`SourceOffset`], but without fractions: the identity is exact.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a source partition",
    label = "needs `#[derive(SourcePartition)]`, on a struct of your own whose fields have names"
)]
pub trait SourcePartition: Sized + Send + Sync + 'static {
    /// The fields, for lock files and documentation.
    #[doc(hidden)]
    const FIELDS: &'static [FieldMeta];
    #[doc(hidden)]
    fn __encode(&self) -> FieldMap;
    #[doc(hidden)]
    fn __decode(stored: &FieldMap) -> Result<Self, RestoreError>;
}

/// One field of an offset or a partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FieldMeta {
    /// The name in the stored map.
    pub name: &'static str,
    /// What it holds.
    pub kind: FieldKind,
    /// True if it may be absent: an `Option`, or a default is given.
    pub may_be_absent: bool,
}

/// What a field holds once it was stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldKind {
    /// A truth value.
    Bool,
    /// An integer.
    Int,
    /// A fraction.
    Float,
    /// Text.
    Text,
}

impl FieldKind {
    /// The word in messages and lock files.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::Int => "int",
            Self::Float => "float",
            Self::Text => "text",
        }
    }
}

/// A stored map does not fit the type: the task fails rather than rewind silently.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RestoreError {
    message: String,
}

impl RestoreError {
    /// Says what does not fit.
    #[must_use]
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }
}

impl fmt::Display for RestoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for RestoreError {}

impl crate::error::Classify for RestoreError {
    fn classify(&self) -> crate::error::Class {
        crate::error::Class::Fatal
    }
}

/// A type that can be a field of a source offset.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a field of a source offset",
    label = "not a type that storage gives back unchanged",
    note = "use String, bool, i8 to i64, u8 to u32, f32, f64, or an Option of these"
)]
pub trait OffsetField: Sized + Clone + Send + Sync + 'static {
    const KIND: FieldKind;
    const OPTIONAL: bool = false;
    fn put(&self) -> FieldValue;
    /// `None` if the kind or the range does not fit.
    fn take(value: &FieldValue) -> Option<Self>;
    fn absent() -> Option<Self> {
        None
    }
    fn same(&self, other: &Self) -> bool;
    fn is_finite(&self) -> bool {
        true
    }
}

/// A type that can be a field of a source partition.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a field of a source partition",
    label = "not a type that can be part of a partition's identity",
    note = "use String, bool, i8 to i64, u8 to u32, or an Option of these"
)]
pub trait PartitionField: OffsetField {}

/// The operations of one field; generated code goes through one of these a field, so that a field of an unsupported
/// type is one error, at the type.
#[doc(hidden)]
#[derive(Debug)]
pub struct Ops<T> {
    pub kind: FieldKind,
    pub optional: bool,
    pub put: fn(&T) -> FieldValue,
    pub take: fn(&FieldValue) -> Option<T>,
    pub absent: fn() -> Option<T>,
    pub duplicate: fn(&T) -> T,
    pub same: fn(&T, &T) -> bool,
    pub is_finite: fn(&T) -> bool,
}

#[doc(hidden)]
#[must_use]
pub const fn offset_field<T: OffsetField>() -> Ops<T> {
    Ops {
        kind: T::KIND,
        optional: T::OPTIONAL,
        put: T::put,
        take: T::take,
        absent: T::absent,
        duplicate: T::clone,
        same: T::same,
        is_finite: T::is_finite,
    }
}

#[doc(hidden)]
#[must_use]
pub const fn partition_field<T: PartitionField>() -> Ops<T> {
    offset_field::<T>()
}

/// Reads one field from a stored map: the stored value, else what an absent field means, else an error.
#[doc(hidden)]
pub fn restore_field<T>(
    stored: &FieldMap,
    type_name: &str,
    name: &'static str,
    ops: &Ops<T>,
    default: Option<fn() -> T>,
) -> Result<T, RestoreError> {
    match stored.get(name) {
        None => default.map(|d| d()).or_else(|| (ops.absent)()).ok_or_else(|| {
            RestoreError::new(format!(
                "stored {stored} has no `{name}`, which `{type_name}` needs; reset the stored offset, or give the field a default"
            ))
        }),
        Some(FieldValue::Null) if !ops.optional && default.is_some() => {
            Ok(default.map(|d| d()).expect("the guard saw a default"))
        }
        Some(value) => (ops.take)(value).ok_or_else(|| {
            RestoreError::new(format!(
                "stored `{name}` of `{type_name}` is {value} ({}), which is not a valid {}",
                value.kind(),
                ops.kind.word()
            ))
        }),
    }
}

macro_rules! int_fields {
    ($($t:ty),*) => {$(
        impl OffsetField for $t {
            const KIND: FieldKind = FieldKind::Int;
            fn put(&self) -> FieldValue {
                FieldValue::Int(i64::from(*self))
            }
            fn take(value: &FieldValue) -> Option<Self> {
                match value {
                    FieldValue::Int(i) => Self::try_from(*i).ok(),
                    _ => None,
                }
            }
            fn same(&self, other: &Self) -> bool {
                self == other
            }
        }
        impl PartitionField for $t {}
    )*};
}
int_fields!(i8, i16, i32, i64, u8, u16, u32);

impl OffsetField for bool {
    const KIND: FieldKind = FieldKind::Bool;
    fn put(&self) -> FieldValue {
        FieldValue::Bool(*self)
    }
    fn take(value: &FieldValue) -> Option<Self> {
        match value {
            FieldValue::Bool(b) => Some(*b),
            _ => None,
        }
    }
    fn same(&self, other: &Self) -> bool {
        self == other
    }
}
impl PartitionField for bool {}

impl OffsetField for String {
    const KIND: FieldKind = FieldKind::Text;
    fn put(&self) -> FieldValue {
        FieldValue::Text(self.clone())
    }
    fn take(value: &FieldValue) -> Option<Self> {
        match value {
            FieldValue::Text(t) => Some(t.clone()),
            _ => None,
        }
    }
    fn same(&self, other: &Self) -> bool {
        self == other
    }
}
impl PartitionField for String {}

impl OffsetField for f64 {
    const KIND: FieldKind = FieldKind::Float;
    fn put(&self) -> FieldValue {
        FieldValue::Float(*self)
    }
    #[expect(
        clippy::cast_precision_loss,
        reason = "a fraction without a fractional part may have been stored as an integer"
    )]
    fn take(value: &FieldValue) -> Option<Self> {
        match value {
            FieldValue::Float(x) => Some(*x),
            FieldValue::Int(i) => Some(*i as Self),
            _ => None,
        }
    }
    fn same(&self, other: &Self) -> bool {
        self == other
    }
    fn is_finite(&self) -> bool {
        Self::is_finite(*self)
    }
}

impl OffsetField for f32 {
    const KIND: FieldKind = FieldKind::Float;
    fn put(&self) -> FieldValue {
        FieldValue::Float(f64::from(*self))
    }
    #[expect(clippy::cast_possible_truncation, reason = "it was widened from an f32 when it was stored")]
    fn take(value: &FieldValue) -> Option<Self> {
        <f64 as OffsetField>::take(value).map(|x| x as Self)
    }
    fn same(&self, other: &Self) -> bool {
        self == other
    }
    fn is_finite(&self) -> bool {
        Self::is_finite(*self)
    }
}

impl<T: OffsetField> OffsetField for Option<T> {
    const KIND: FieldKind = T::KIND;
    const OPTIONAL: bool = true;
    fn put(&self) -> FieldValue {
        self.as_ref().map_or(FieldValue::Null, T::put)
    }
    fn take(value: &FieldValue) -> Option<Self> {
        match value {
            FieldValue::Null => Some(None),
            other => T::take(other).map(Some),
        }
    }
    fn absent() -> Option<Self> {
        Some(None)
    }
    fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Some(a), Some(b)) => a.same(b),
            (None, None) => true,
            _ => false,
        }
    }
    fn is_finite(&self) -> bool {
        self.as_ref().is_none_or(T::is_finite)
    }
}
impl<T: PartitionField> PartitionField for Option<T> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absent_and_wrong_fields_are_told_apart() {
        let ops = offset_field::<u32>();
        let at = |v| FieldMap::new().with("n", v);
        assert_eq!(restore_field(&at(FieldValue::Int(7)), "At", "n", &ops, None), Ok(7));
        let missing = restore_field(&FieldMap::new(), "At", "n", &ops, None).unwrap_err().to_string();
        assert!(missing.contains("has no `n`"), "{missing}");
        assert_eq!(restore_field(&FieldMap::new(), "At", "n", &ops, Some(|| 3)), Ok(3));
        for wrong in [FieldValue::Int(-1), FieldValue::Text("7".into()), FieldValue::Null, FieldValue::Float(1.0)] {
            let error = restore_field(&at(wrong), "At", "n", &ops, None).unwrap_err().to_string();
            assert!(error.contains("not a valid int"), "{error}");
        }
    }

    #[test]
    fn an_option_may_be_absent_or_null() {
        let ops = offset_field::<Option<String>>();
        assert_eq!(restore_field(&FieldMap::new(), "At", "s", &ops, None), Ok(None));
        let null = FieldMap::new().with("s", FieldValue::Null);
        assert_eq!(restore_field(&null, "At", "s", &ops, None), Ok(None));
    }
}
