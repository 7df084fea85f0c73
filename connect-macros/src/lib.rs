//! Procedural macros of connect-sdk.
#![forbid(unsafe_code)]
