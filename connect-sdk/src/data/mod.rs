//! The Connect data model: values, their schemas, and what is done with both.
//!
//! Null is not a value: it is the `None` of `Option<Value>`, everywhere.

mod connect_data;
pub mod derive_support;
mod error;
mod field;
mod kind;
mod logical;
mod map;
pub mod projector;
mod schema;
mod schema_builder;
mod string;
mod structs;
mod text;
mod validate;
mod value;
pub mod values;

pub use num_bigint::BigInt;

pub use connect_data::ConnectData;
pub use connect_macros::ConnectData;
pub use error::DataError;
pub use field::Field;
pub use kind::Type;
pub(crate) use logical::DAY_MS;
pub use logical::{Date, Decimal, LogicalType, Time, Timestamp};
pub use map::{IntoIter as MapIntoIter, Map};
pub use schema::Schema;
pub use schema_builder::SchemaBuilder;
pub use string::Text;
pub use structs::{Struct, TakenValues};
pub use text::value_text;
pub use validate::{validate_kind, validate_value};
pub use value::{IntoValue, SchemaAndValue, Value};
