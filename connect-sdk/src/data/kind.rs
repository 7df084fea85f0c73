//! `Type`: the types of the Connect data model.

use std::fmt;

/// The type of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "Kafka's types are settled, and who writes values out must handle all")]
pub enum Type {
    /// 8-bit integer.
    Int8,
    /// 16-bit integer.
    Int16,
    /// 32-bit integer.
    Int32,
    /// 64-bit integer.
    Int64,
    /// 32-bit floating point number.
    Float32,
    /// 64-bit floating point number.
    Float64,
    /// `true` or `false`.
    Boolean,
    /// Text.
    String,
    /// Bytes.
    Bytes,
    /// List of elements of one schema.
    Array,
    /// Map whose keys are of one schema and whose values are of one schema.
    Map,
    /// Named fields, each with its schema.
    Struct,
}

impl Type {
    /// All types, in Kafka's order.
    pub const ALL: [Self; 12] = [
        Self::Int8,
        Self::Int16,
        Self::Int32,
        Self::Int64,
        Self::Float32,
        Self::Float64,
        Self::Boolean,
        Self::String,
        Self::Bytes,
        Self::Array,
        Self::Map,
        Self::Struct,
    ];

    /// Kafka's name of the type, in capitals: `INT8`, `STRING`, ..
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Int8 => "INT8",
            Self::Int16 => "INT16",
            Self::Int32 => "INT32",
            Self::Int64 => "INT64",
            Self::Float32 => "FLOAT32",
            Self::Float64 => "FLOAT64",
            Self::Boolean => "BOOLEAN",
            Self::String => "STRING",
            Self::Bytes => "BYTES",
            Self::Array => "ARRAY",
            Self::Map => "MAP",
            Self::Struct => "STRUCT",
        }
    }

    /// Whether values of the type have no parts: all but lists, maps and structs.
    #[must_use]
    pub const fn is_primitive(self) -> bool {
        !matches!(self, Self::Array | Self::Map | Self::Struct)
    }

    /// Whether values of the type are numbers.
    #[must_use]
    pub const fn is_number(self) -> bool {
        matches!(self, Self::Int8 | Self::Int16 | Self::Int32 | Self::Int64 | Self::Float32 | Self::Float64)
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
