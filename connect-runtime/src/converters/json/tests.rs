//! The converter as a whole.
