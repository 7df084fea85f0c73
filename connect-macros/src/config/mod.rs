//! `#[derive(ConnectorConfig)]` and `#[derive(ConfigEnum)]`.

mod expand;
mod parse;
#[allow(unreachable_pub, reason = "a copy of the file in connect-sdk, where it is public")]
mod reserved;
mod validate;
mod values;

use proc_macro2::{Ident, TokenStream};
use syn::{DeriveInput, Expr, Generics, LitStr, Type};

use crate::crate_path::CratePath;
use crate::diagnostics::Diagnostics;

/// A configuration struct.
struct Model {
    ident: Ident,
    generics: Generics,
    krate: CratePath,
    check: Option<Expr>,
    /// Whose configuration it is: `connector`, `transformation`, `predicate` or `converter`.
    role: &'static str,
    fields: Vec<Field>,
}

/// One of its fields, which is one key.
struct Field {
    ident: Ident,
    ty: Type,
    doc: String,
    /// The key without the unit that the type adds.
    key: String,
    /// The key where the author has written it.
    written_key: Option<LitStr>,
    default: Option<Expr>,
    range: Option<Expr>,
    validator: Option<Expr>,
    width: Option<&'static str>,
    check: Option<Expr>,
    importance: Option<&'static str>,
    group: Option<LitStr>,
    display_name: Option<LitStr>,
    not_secret: bool,
}

/// Expands `#[derive(ConnectorConfig)]`.
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

/// Expands `#[derive(ConfigEnum)]`.
pub(crate) fn derive_enum(input: TokenStream) -> TokenStream {
    match syn::parse2(input) {
        Ok(input) => values::derive(&input),
        Err(error) => error.into_compile_error(),
    }
}
