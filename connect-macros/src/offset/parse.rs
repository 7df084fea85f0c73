//! Reads the struct and its `#[offset(..)]` or `#[partition(..)]` attributes.

use quote::ToTokens;
use syn::ext::IdentExt;
use syn::{Data, DeriveInput, Fields};

use super::{Default, Field, Model, Role};
use crate::crate_path::CratePath;
use crate::diagnostics::Diagnostics;
use crate::options::{self, Value};
use crate::symbols;

pub(super) fn parse(role: Role, input: &DeriveInput, found: &Diagnostics) -> Model {
    let mut model = Model {
        role,
        ident: input.ident.clone(),
        generics: input.generics.clone(),
        krate: CratePath::default(),
        lock: None,
        fields: Vec::new(),
    };
    for arg in options::of_attributes(&input.attrs, role.attribute(), &[symbols::LOCK, symbols::CRATE], found) {
        if arg.name == symbols::LOCK {
            model.lock = arg.string("lock = \"offsets.lock\"", found);
        } else {
            model.krate.set(&arg, found);
        }
    }
    let noun = role.noun();
    match &input.data {
        Data::Struct(data) => match &data.fields {
            Fields::Named(fields) => {
                if fields.named.is_empty() {
                    found.at(&input.ident, format!("{noun} needs at least one field"));
                }
                model.fields = fields.named.iter().filter_map(|f| field(role, f, found)).collect();
            }
            Fields::Unnamed(fields) => found.at(
                fields,
                format!(
                    "{noun} is stored as a map, so that its fields need names: `struct {} {{ name: Type }}`",
                    input.ident
                ),
            ),
            Fields::Unit => found.at(&input.ident, format!("{noun} needs at least one field")),
        },
        Data::Enum(data) => found.at(
            data.enum_token,
            format!("{noun} is stored as one flat map of named fields, so that it must be a struct, not an enum"),
        ),
        Data::Union(data) => found.at(data.union_token, format!("{noun} must be a struct")),
    }
    model
}

fn field(role: Role, field: &syn::Field, found: &Diagnostics) -> Option<Field> {
    let ident = field.ident.clone()?;
    let mut stored_name = ident.unraw().to_string();
    let mut default = None;
    for arg in options::of_attributes(&field.attrs, role.attribute(), &[symbols::DEFAULT, symbols::RENAME], found) {
        if arg.name == symbols::RENAME {
            if let Some(name) = arg.string("rename = \"position\"", found) {
                stored_name = name.value();
            }
        } else if role == Role::Partition {
            found.at(
                &arg.name,
                "a field of a partition has no default: the fields are the identity of the partition, and another set \
                 of fields is another partition, which starts from scratch",
            );
        } else if matches!(arg.value, Value::Flag) {
            default = Some(Default::OfType(arg.name.clone()));
        } else {
            default = arg.expr("default = 0", found).map(Default::Value);
        }
    }
    Some(Field { ident, ty: field.ty.clone(), stored_name, default })
}

impl ToTokens for Default {
    fn to_tokens(&self, tokens: &mut proc_macro2::TokenStream) {
        match self {
            Self::OfType(word) => word.to_tokens(tokens),
            Self::Value(value) => value.to_tokens(tokens),
        }
    }
}
