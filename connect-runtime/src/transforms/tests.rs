//! Tests of the transformations together.
