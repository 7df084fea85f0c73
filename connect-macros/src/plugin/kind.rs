//! The three attributes, and the traits that they stand on.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

/// One of the attributes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Kind {
    Transformation,
    Predicate,
    Converter,
}

impl Kind {
    pub(super) const ALL: [Self; 3] = [Self::Transformation, Self::Predicate, Self::Converter];

    /// The attribute as it is written.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Transformation => "#[transformation]",
            Self::Predicate => "#[predicate]",
            Self::Converter => "#[converter]",
        }
    }

    /// What the attribute makes.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Transformation => "transformation",
            Self::Predicate => "predicate",
            Self::Converter => "converter",
        }
    }

    /// Where the attribute stands.
    pub(super) fn place(self) -> &'static str {
        match self {
            Self::Transformation => {
                "`impl Transformation for ..`, `impl PartTransformation for ..` or a function outside of an impl"
            }
            Self::Predicate => "`impl Predicate for ..` or a function outside of an impl",
            Self::Converter => "`impl Converter for ..` or `impl HeaderConverter for ..`",
        }
    }

    /// How a function with the attribute is written.
    pub(super) fn form(self) -> &'static str {
        match self {
            Self::Predicate => "fn name(config: &Config, record: &ConnectRecord) -> bool",
            _ => {
                "fn name(config: &Config, part: Part, record: ConnectRecord) -> Result<Option<ConnectRecord>, DataError>"
            }
        }
    }
}

/// A trait that one of the attributes stands on.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Trait {
    Transformation,
    PartTransformation,
    Predicate,
    Converter,
    HeaderConverter,
}

impl Trait {
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "Transformation" => Self::Transformation,
            "PartTransformation" => Self::PartTransformation,
            "Predicate" => Self::Predicate,
            "Converter" => Self::Converter,
            "HeaderConverter" => Self::HeaderConverter,
            _ => return None,
        })
    }

    pub(super) fn kind(self) -> Kind {
        match self {
            Self::Transformation | Self::PartTransformation => Kind::Transformation,
            Self::Predicate => Kind::Predicate,
            Self::Converter | Self::HeaderConverter => Kind::Converter,
        }
    }

    /// The path for generated code.
    pub(super) fn path(self, p: &TokenStream) -> TokenStream {
        let name = match self {
            Self::Transformation => "Transformation",
            Self::PartTransformation => "PartTransformation",
            Self::Predicate => "Predicate",
            Self::Converter => "Converter",
            Self::HeaderConverter => "HeaderConverter",
        };
        let name = Ident::new(name, Span::call_site());
        quote!(#p::#name)
    }

    /// The signature of one of its methods, for what stands in for a wrong one.
    pub(super) fn signature(self, method: &str, p: &TokenStream) -> Option<TokenStream> {
        let str = quote!(#p::core::primitive::str);
        Some(match (self, method) {
            (Self::Transformation | Self::Predicate | Self::HeaderConverter, "new") => {
                quote!(fn new(_: Self::Config) -> #p::Result<Self, #p::ConfigErrors>)
            }
            (Self::PartTransformation, "new") => {
                quote!(fn new(_: Self::Config, _: #p::Part) -> #p::Result<Self, #p::ConfigErrors>)
            }
            (Self::Converter, "new") => {
                quote!(fn new(_: Self::Config, _: #p::ConverterKind) -> #p::Result<Self, #p::ConfigErrors>)
            }
            (Self::Transformation | Self::PartTransformation, "apply") => quote! {
                fn apply(
                    &mut self,
                    _: #p::ConnectRecord,
                ) -> #p::Result<#p::Option<#p::ConnectRecord>, #p::DataError>
            },
            (Self::Predicate, "test") => {
                quote!(fn test(&mut self, _: &#p::ConnectRecord) -> #p::Result<#p::core::primitive::bool, #p::DataError>)
            }
            (Self::Converter, "write") => quote! {
                fn write(
                    &self,
                    _: &#str,
                    _: #p::PayloadRef<'_>,
                    _: &mut #p::std::vec::Vec<#p::core::primitive::u8>,
                ) -> #p::Result<#p::core::primitive::bool, #p::DataError>
            },
            (Self::Converter, "read") => quote! {
                fn read(
                    &self,
                    _: &#str,
                    _: #p::Option<&#p::Bytes>,
                ) -> #p::Result<#p::SchemaAndValue, #p::DataError>
            },
            _ => return None,
        })
    }
}
