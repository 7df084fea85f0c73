//! The tutorial's transformations and predicate.
//!
//! `docs/write-a-transformation.md` builds this crate step by step.
#![forbid(unsafe_code)]

mod blank;
mod number;
mod shortening;

pub use blank::is_blank;
pub use number::{Number, NumberConfig};
pub use shortening::{ShortenConfig, shorten};
