//! Java's dialects, where stored data and configurations depend on them.

pub mod calendar;
pub mod date_format;
pub mod hash_order;
pub mod number_parse;
pub mod number_text;
pub mod properties;
pub mod regex;
pub mod version_range;
