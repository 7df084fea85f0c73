//! `Field`: one named part of a struct schema.

use super::{Schema, Text};

/// One field of a struct schema.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Field {
    name: Text,
    index: usize,
    schema: Schema,
}

impl Field {
    pub(super) fn new(name: Text, index: usize, schema: Schema) -> Self {
        Self { name, index, schema }
    }

    /// The field's name; never empty.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The field's name, to be kept without copying it.
    #[must_use]
    pub fn name_text(&self) -> &Text {
        &self.name
    }

    /// The field's position in the struct, from 0.
    #[must_use]
    pub fn index(&self) -> usize {
        self.index
    }

    /// The schema of the field's values.
    #[must_use]
    pub fn schema(&self) -> &Schema {
        &self.schema
    }
}
