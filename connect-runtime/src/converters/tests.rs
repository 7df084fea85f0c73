//! The classes together.
