//! `#[derive(SourceOffset)]` and `#[derive(SourcePartition)]`.

mod expand;
mod parse;
mod validate;

use proc_macro2::{Ident, TokenStream};
use syn::{DeriveInput, Expr, Generics, LitStr, Type};

use crate::crate_path::CratePath;
use crate::diagnostics::Diagnostics;

/// Which of the two.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Role {
    Offset,
    Partition,
}

impl Role {
    /// The helper attribute.
    fn attribute(self) -> &'static str {
        match self {
            Self::Offset => "offset",
            Self::Partition => "partition",
        }
    }

    /// What the type is called in messages.
    fn noun(self) -> &'static str {
        match self {
            Self::Offset => "a source offset",
            Self::Partition => "a source partition",
        }
    }

    /// What its fields can be.
    fn field_types(self) -> &'static str {
        match self {
            Self::Offset => "String, bool, i8 to i64, u8 to u32, f32, f64, or an Option of these",
            Self::Partition => "String, bool, i8 to i64, u8 to u32, or an Option of these",
        }
    }
}

/// A struct to be stored.
struct Model {
    role: Role,
    ident: Ident,
    generics: Generics,
    krate: CratePath,
    lock: Option<LitStr>,
    fields: Vec<Field>,
}

struct Field {
    ident: Ident,
    ty: Type,
    /// The name in the stored map.
    stored_name: String,
    default: Option<Default>,
}

/// What `default` says.
enum Default {
    /// `Default::default()` of the field's type.
    OfType(Ident),
    Value(Expr),
}

/// Expands the derive.
pub(crate) fn derive(role: Role, input: TokenStream) -> TokenStream {
    let input: DeriveInput = match syn::parse2(input) {
        Ok(input) => input,
        Err(error) => return error.into_compile_error(),
    };
    let found = Diagnostics::new();
    let model = parse::parse(role, &input, &found);
    validate::validate(&model, &found);
    let code = if found.is_empty() { expand::expand(&model) } else { expand::fallback(&model) };
    let errors = found.into_tokens();
    quote::quote!(#code #errors)
}
