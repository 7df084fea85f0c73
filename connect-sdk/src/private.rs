//! `__private`: the only names that generated code may use; everything here may change at any time.

pub use crate::data::derive_support as data;
