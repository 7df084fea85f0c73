//! Values and text: what `SimpleHeaderConverter` writes and reads, conversions between types, inferred schemas.
//!
//! The conversions cast as Java does: a number that is too large loses its upper bits, a fraction is cut. Where that must
//! not happen, read the value with [`ConnectData::from_value`](super::ConnectData::from_value), which refuses it.

mod convert;
mod infer;
mod number;
mod parse;
mod temporal;
mod write;

pub use convert::{
    convert_to_boolean, convert_to_byte, convert_to_date, convert_to_decimal, convert_to_double, convert_to_float,
    convert_to_integer, convert_to_list, convert_to_long, convert_to_map, convert_to_short, convert_to_struct,
    convert_to_time, convert_to_timestamp,
};
pub use infer::infer_schema;
pub use number::DIGITS_MAX;
pub use parse::{NESTING_MAX, parse_string, parse_text};
pub use write::convert_to_string;
