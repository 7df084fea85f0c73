//! The impl: a table of keys, and a reader that collects everything that is wrong with the values.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, ExprLit, Ident, Lit, LitFloat, Type};

use super::{Field, Model};
use crate::{literal, types};

pub(super) fn expand(model: &Model) -> TokenStream {
    let p = model.krate.private();
    let s = quote!(#p::config);
    let Model { ident, fields, .. } = model;
    let types: Vec<Ident> = local_names("__TYPE", fields.len());
    let values: Vec<Ident> = local_names("__value", fields.len());
    let consts = fields.iter().zip(&types).map(|(field, name)| field_type(field, name, &s));
    let def = format_ident!("__def", span = Span::mixed_site());
    let reader = format_ident!("__reader", span = Span::mixed_site());
    let properties = format_ident!("__properties", span = Span::mixed_site());
    let default_value = format_ident!("__default", span = Span::mixed_site());
    let steps = fields.iter().zip(&types).map(|(field, of_type)| {
        let ty = &field.ty;
        // With its type, so that a default of another type is one error, beside the type.
        let default = field.default.as_ref().map(|value| {
            let value = default(value, ty, &p);
            quote!(let #default_value: #ty = #value;)
        });
        let define = define(field, of_type, &default_value, fields, &p);
        quote!(#default let #def = #define.define(#def);)
    });
    let keys = fields.iter().map(|field| &field.key);
    let bare_keys = fields.iter().zip(&types).map(|(field, of_type)| {
        let key = &field.key;
        quote!(#of_type.bare_key(#key))
    });
    let role = match model.role {
        "transformation" => Some(quote!(Transformation)),
        "predicate" => Some(quote!(Predicate)),
        "converter" => Some(quote!(Converter)),
        _ => None,
    };
    let role = role.map(|role| quote!(const __ROLE: #s::Role = #s::Role::#role;));
    let idents: Vec<&Ident> = fields.iter().map(|field| &field.ident).collect();
    let check = match &model.check {
        Some(check) => quote!(#check),
        None => quote!(#s::no_check),
    };
    let whole = quote!(Self { #(#idents: #values,)* });
    let result = if fields.is_empty() {
        quote!(#reader.finish(#whole, #check))
    } else {
        quote! {
            if let (#(#p::Some(#values),)*) = (#(#values,)*) {
                #reader.finish(#whole, #check)
            } else {
                #p::Err(#reader.into_errors())
            }
        }
    };
    let mutable = (!fields.is_empty()).then(|| quote!(mut));
    quote! {
        const _: () = {
            #(#consts)*
            #[automatically_derived]
            impl #p::ConnectorConfig for #ident {
                fn config_def() -> #p::ConfigDef {
                    let #def = #p::ConfigDef::new();
                    #(#steps)*
                    #def
                }
                fn from_properties(
                    #properties: &#p::std::collections::BTreeMap<#p::std::string::String, #p::std::string::String>,
                ) -> #p::Result<Self, #p::ConfigErrors> {
                    let #mutable #reader = #s::Reader::new(&Self::config_def(), #properties);
                    #(let #values = #reader.read(&#types, #keys);)*
                    #result
                }
                fn __derived() -> #s::Derived {
                    #s::Derived::new()
                }
                #role
                const __KEYS: &'static [&'static #p::core::primitive::str] = &[#(#bare_keys),*];
            }
        };
    }
}

fn local_names(prefix: &str, n: usize) -> Vec<Ident> {
    (0..n).map(|i| format_ident!("{prefix}_{i}", span = Span::mixed_site())).collect()
}

/// The only place where the type must be one that a key can have: so a wrong one is one error, at the type.
fn field_type(field: &Field, name: &Ident, s: &TokenStream) -> TokenStream {
    let ty = &field.ty;
    let call = quote_spanned!(ty.span()=> #s::field_type::<#ty>());
    quote!(const #name: #s::FieldType<#ty> = #call;)
}

fn define(field: &Field, of_type: &Ident, default: &Ident, all: &[Field], p: &TokenStream) -> TokenStream {
    let s = quote!(#p::config);
    let Field { key, doc, .. } = field;
    let default = field.default.as_ref().map(|_| quote!(.default(#default)));
    let importance = field.importance.map(|word| {
        let variant = match word {
            "high" => quote!(High),
            "low" => quote!(Low),
            _ => quote!(Medium),
        };
        quote!(.importance(#p::Importance::#variant))
    });
    let group = field.group.as_ref().map(|group| {
        let before = all.iter().take_while(|other| other.ident != field.ident);
        let order = before.filter(|other| other.group.as_ref().is_some_and(|g| g.value() == group.value())).count();
        let order = i32::try_from(order).unwrap_or(i32::MAX);
        quote!(.group(#group, #order))
    });
    let display_name = field.display_name.as_ref().map(|name| quote!(.display_name(#name)));
    let range = field.range.as_ref().map(|range| {
        let wide = widened(range);
        quote_spanned!(range.span()=> .range(#wide))
    });
    let width = field.width.map(|word| {
        let variant = match word {
            "short" => quote!(Short),
            "medium" => quote!(Medium),
            _ => quote!(Long),
        };
        quote!(.width(#p::Width::#variant))
    });
    let validator = field.validator.as_ref().map(|validator| quote!(.validator(#validator)));
    let check = field.check.as_ref().map(|check| quote!(.check(#check)));
    quote!(#s::Field::new(&#of_type, #key, #doc)#default #importance #group #display_name #width #validator #range #check)
}

/// The default as a value of the field's type: text becomes a `String` or a path, a list of texts a `Vec`.
fn default(value: &Expr, ty: &Type, p: &TokenStream) -> TokenStream {
    if literal::string(value).is_some() && ["String", "Text", "PathBuf"].iter().any(|name| types::is(ty, name)) {
        return quote!(<#ty as #p::core::convert::From<&#p::core::primitive::str>>::from(#value));
    }
    match value {
        Expr::Array(items) if types::is(ty, "Vec") => {
            let items = items.elems.iter().map(|item| quote!(#p::core::convert::Into::into(#item)));
            quote!(#p::std::vec![#(#items),*])
        }
        Expr::Lit(ExprLit { lit: Lit::Int(n), .. }) if types::is(ty, "f64") && n.suffix().is_empty() => {
            let float = LitFloat::new(&format!("{}f64", n.base10_digits()), n.span());
            quote!(#float)
        }
        _ => quote!(#value),
    }
}

/// Numbers of 64 bits, unless a limit is an expression, whose type decides.
fn widened(range: &Expr) -> Expr {
    let mut range = range.clone();
    if let Expr::Range(limits) = &mut range {
        let ends = [&mut limits.start, &mut limits.end];
        if ends.iter().all(|end| end.as_deref().is_none_or(|limit| literal::number(limit).is_some())) {
            for limit in ends.into_iter().flatten() {
                **limit = literal::widened(limit);
            }
        }
    }
    range
}

/// An impl that only keeps further errors away; it is never run, since the mistakes are reported beside it.
pub(super) fn fallback(model: &Model) -> TokenStream {
    let p = model.krate.private();
    let s = quote!(#p::config);
    let ident = &model.ident;
    let (impl_generics, type_generics, _) = model.generics.split_for_impl();
    // The types are judged even if something else is wrong, but for those that may name a parameter.
    let judged = model.fields.iter().filter(|_| model.generics.params.is_empty());
    let consts = judged.map(|field| field_type(field, &format_ident!("_"), &s));
    quote! {
        const _: () = {
            #(#consts)*
        };
        #[automatically_derived]
        impl #impl_generics #p::ConnectorConfig for #ident #type_generics
        where
            Self: #p::core::marker::Send + #p::core::marker::Sync + 'static,
        {
            fn config_def() -> #p::ConfigDef { #p::core::unreachable!() }
            fn from_properties(
                _: &#p::std::collections::BTreeMap<#p::std::string::String, #p::std::string::String>,
            ) -> #p::Result<Self, #p::ConfigErrors> { #p::core::unreachable!() }
            fn __derived() -> #s::Derived { #p::core::unreachable!() }
        }
    }
}
