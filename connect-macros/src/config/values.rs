//! `#[derive(ConfigEnum)]`: an enum as the closed set of values of a key.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::ext::IdentExt;
use syn::{Data, DeriveInput, Fields};

use crate::case::{self, Named};
use crate::crate_path::CratePath;
use crate::diagnostics::{Diagnostics, expected};
use crate::{options, symbols};

const OF_ENUM: &[&str] = &[symbols::RENAME_ALL, symbols::CASE_INSENSITIVE, symbols::CRATE];

struct Variant {
    ident: Ident,
    value: String,
}

pub(super) fn derive(input: &DeriveInput) -> TokenStream {
    let found = Diagnostics::new();
    let mut krate = CratePath::default();
    let mut rule = "snake_case".to_owned();
    let mut case_insensitive = false;
    for arg in options::of_attributes(&input.attrs, "config", OF_ENUM, &found) {
        if arg.name == symbols::CRATE {
            krate.set(&arg, &found);
        } else if arg.name == symbols::CASE_INSENSITIVE {
            case_insensitive = arg.flag(&found);
        } else if let Some(written) = arg.string("rename_all = \"kebab-case\"", &found) {
            rule = written.value();
            if !case::RULES.contains(&rule.as_str()) {
                found.at(&written, format!("no rule is called `{rule}`; {}", expected(&rule, case::RULES)));
            }
        }
    }
    if !input.generics.params.is_empty() {
        found.at(&input.generics, "a set of configuration values cannot be generic");
    }
    let variants = match &input.data {
        Data::Enum(data) => {
            if data.variants.is_empty() {
                found.at(&input.ident, "no value is possible: the enum needs at least one variant");
            }
            data.variants.iter().map(|v| variant(v, &rule, &found)).collect()
        }
        Data::Struct(data) => {
            let text = "`ConfigEnum` goes on an enum whose variants are the values of a key; for a struct with a field for \
                        each key it is `ConnectorConfig`";
            found.at(data.struct_token, text);
            Vec::new()
        }
        Data::Union(data) => {
            found.at(data.union_token, "`ConfigEnum` goes on an enum whose variants are the values of a key");
            Vec::new()
        }
    };
    let same = |a: &str, b: &str| if case_insensitive { a.eq_ignore_ascii_case(b) } else { a == b };
    for (i, variant) in variants.iter().enumerate() {
        if let Some(before) = variants[..i].iter().find(|before| same(&before.value, &variant.value)) {
            found.at(
                &variant.ident,
                format!("`{}` and `{}` are both written `{}`", before.ident, variant.ident, variant.value),
            );
        }
    }
    let code = expand(input, &variants, &krate, case_insensitive, !found.is_empty());
    let errors = found.into_tokens();
    quote!(#code #errors)
}

fn variant(variant: &syn::Variant, rule: &str, found: &Diagnostics) -> Variant {
    let ident = variant.ident.clone();
    if !matches!(variant.fields, Fields::Unit) {
        found.at(&variant.fields, format!("`{ident}` is a word in a configuration and cannot carry anything"));
    }
    let mut value = case::apply(rule, Named::Variant, &ident.unraw().to_string());
    for arg in options::of_attributes(&variant.attrs, "config", &[symbols::RENAME], found) {
        if let Some(name) = arg.string("rename = \"..\"", found) {
            value = name.value();
            if value.trim() != value || value.contains(',') {
                found.at(&name, "a value has no blanks around it and no comma");
            }
        }
    }
    Variant { ident, value }
}

/// The impls; where something is `wrong`, they only keep further errors away.
fn expand(
    input: &DeriveInput,
    variants: &[Variant],
    krate: &CratePath,
    case_insensitive: bool,
    wrong: bool,
) -> TokenStream {
    let p = krate.private();
    let s = quote!(#p::config);
    let ident = &input.ident;
    let (impl_generics, type_generics, _) = input.generics.split_for_impl();
    let bounds = wrong.then(|| quote!(where Self: #p::core::marker::Send + #p::core::marker::Sync + 'static,));
    let values: Vec<&String> = variants.iter().map(|variant| &variant.value).collect();
    let idents: Vec<&Ident> = variants.iter().map(|variant| &variant.ident).collect();
    let local = |name| Ident::new(name, Span::mixed_site());
    let (text, key, value) = (local("__text"), local("__key"), local("__value"));
    let (parse, name) = if wrong {
        (quote!(#p::core::unreachable!()), quote!(#p::core::unreachable!()))
    } else if case_insensitive {
        (
            quote! {
                #(if #text.eq_ignore_ascii_case(#values) { return #p::Some(Self::#idents); })*
                #p::None
            },
            quote!(match self { #(Self::#idents => #values,)* }),
        )
    } else {
        (
            quote!(match #text { #(#values => #p::Some(Self::#idents),)* _ => #p::None }),
            quote!(match self { #(Self::#idents => #values,)* }),
        )
    };
    let validator = local(if case_insensitive { "enum_validator_in_any_case" } else { "enum_validator" });
    let text = if wrong { quote!(_) } else { quote!(#text) };
    quote! {
        #[automatically_derived]
        impl #impl_generics #p::ConfigEnum for #ident #type_generics #bounds {
            const VALUES: &'static [&'static #p::core::primitive::str] = &[#(#values),*];
            fn parse(#text: &#p::core::primitive::str) -> #p::Option<Self> {
                #parse
            }
            fn name(&self) -> &'static #p::core::primitive::str {
                #name
            }
        }
        #[automatically_derived]
        impl #impl_generics #p::ConfigValue for #ident #type_generics #bounds {
            fn config_type() -> #p::ConfigType {
                #s::enum_type()
            }
            fn validator() -> #p::Option<#p::Validator> {
                #s::#validator::<Self>()
            }
            fn from_parsed(
                #key: &#p::core::primitive::str,
                #value: &#p::ParsedValue,
            ) -> #p::Result<Self, #p::ConfigError> {
                #s::enum_from_parsed(#key, #value)
            }
            fn render(&self) -> #p::Option<#p::std::string::String> {
                #s::enum_render(self)
            }
            fn __sealed() -> #s::Sealed {
                #s::Sealed::new()
            }
        }
    }
}
