//! `#[derive(ConnectData)]`.

mod expand;
mod parse;
mod serde;
mod validate;

use proc_macro2::{Ident, TokenStream};
use syn::{DeriveInput, Expr, Generics, Member, Type};

use crate::crate_path::CratePath;
use crate::diagnostics::Diagnostics;

/// A struct or an enum that is a Connect value.
struct Model {
    ident: Ident,
    generics: Generics,
    krate: CratePath,
    /// The schema's name where the author has given one.
    name: Option<String>,
    version: Option<Expr>,
    shape: Shape,
}

enum Shape {
    /// A struct of named fields.
    Struct(Vec<Field>),
    /// A struct with one field without a name: it is what its field is.
    Newtype(Box<Field>),
    /// An enum of names alone: text.
    Names(Vec<Variant>),
    /// An enum with content: a struct with one optional field for each variant.
    Choice(Vec<Variant>),
    /// It was reported as wrong.
    Nothing,
}

struct Field {
    member: Member,
    ty: Type,
    name: String,
    skip: bool,
    default: Option<Default>,
    /// Digits behind the point of a decimal.
    scale: Option<Expr>,
}

/// The value of a field that is missing.
enum Default {
    OfType,
    Value(Expr),
    /// A function without arguments, as serde names it.
    Call(syn::Path),
}

struct Variant {
    ident: Ident,
    name: String,
    content: Content,
}

enum Content {
    Nothing,
    One(Box<Field>),
    Named(Vec<Field>),
}

impl Model {
    /// All fields, those of variants too.
    fn fields(&self) -> Vec<&Field> {
        match &self.shape {
            Shape::Struct(fields) => fields.iter().collect(),
            Shape::Newtype(field) => vec![field],
            Shape::Names(variants) | Shape::Choice(variants) => variants.iter().flat_map(Variant::fields).collect(),
            Shape::Nothing => Vec::new(),
        }
    }
}

impl Variant {
    fn fields(&self) -> Vec<&Field> {
        match &self.content {
            Content::Nothing => Vec::new(),
            Content::One(field) => vec![field],
            Content::Named(fields) => fields.iter().collect(),
        }
    }
}

/// Expands the derive.
pub(crate) fn derive(input: TokenStream) -> TokenStream {
    let input: DeriveInput = match syn::parse2(input) {
        Ok(input) => input,
        Err(error) => return error.into_compile_error(),
    };
    let found = Diagnostics::new();
    let model = parse::parse(&input, &found);
    validate::validate(&model, &found);
    let code = if found.is_empty() { expand::expand(&model) } else { expand::fallback(&model) };
    let errors = found.into_tokens();
    quote::quote!(#code #errors)
}
