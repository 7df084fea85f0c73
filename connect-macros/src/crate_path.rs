//! Where generated code finds connect-sdk: `::connect_sdk`, or the path that `crate = path` gives.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};

use crate::diagnostics::Diagnostics;
use crate::options::{Arg, Value};

/// The path of connect-sdk in the author's crate.
#[derive(Clone)]
pub(crate) struct CratePath(TokenStream);

impl Default for CratePath {
    fn default() -> Self {
        Self(quote!(::connect_sdk))
    }
}

impl CratePath {
    /// Reads `crate = path`.
    pub(crate) fn set(&mut self, arg: &Arg, found: &Diagnostics) {
        if let Value::Is(value) = &arg.value
            && syn::parse2::<syn::LitStr>(value.clone()).is_ok()
        {
            return found.at(value, "`crate` takes a path without quotes: `crate = ::my_sdk`");
        }
        if let Some(path) = arg.path("crate = ::my_sdk", found) {
            self.0 = path.into_token_stream();
        }
    }

    /// The module whose names are all that generated code may use.
    pub(crate) fn private(&self) -> TokenStream {
        let path = &self.0;
        quote!(#path::__private)
    }

    /// The same for code whose errors belong to `span`: a macro call points at the beginning of its path.
    pub(crate) fn private_at(&self, span: Span) -> TokenStream {
        let respanned = self.private().into_iter().map(|mut token| {
            token.set_span(span.resolved_at(token.span()));
            token
        });
        respanned.collect()
    }
}
