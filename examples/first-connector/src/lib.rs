//! Example connectors.
#![forbid(unsafe_code)]
