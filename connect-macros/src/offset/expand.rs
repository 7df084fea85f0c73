//! The impls: one table of fields, read from and written to a map by the library's functions.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::Ident;
use syn::ext::IdentExt;
use syn::spanned::Spanned;

use super::{Default, Field, Model, Role};
use crate::case;

pub(super) fn expand(model: &Model) -> TokenStream {
    let p = model.krate.private();
    let Model { ident, fields, .. } = model;
    let type_name = ident.unraw().to_string();
    let (trait_name, of_field) = match model.role {
        Role::Offset => (quote!(SourceOffset), quote!(offset_field)),
        Role::Partition => (quote!(SourcePartition), quote!(partition_field)),
    };
    let ops: Vec<Ident> = (0..fields.len()).map(|i| format_ident!("__FIELD_{i}", span = Span::mixed_site())).collect();
    // The only place where the type must be one that can be stored: so a wrong one is one error, at the type.
    let consts = fields.iter().zip(&ops).map(|(Field { ty, .. }, op)| {
        let call = quote_spanned!(ty.span()=> #p::#of_field::<#ty>());
        quote!(const #op: #p::Ops<#ty> = #call;)
    });
    let names: Vec<&String> = fields.iter().map(|field| &field.stored_name).collect();
    let idents: Vec<&Ident> = fields.iter().map(|field| &field.ident).collect();
    let has_default = fields.iter().map(|field| field.default.is_some());
    let defaults = fields.iter().map(|field| default(field, &p));
    let n = fields.len();
    let stored = format_ident!("__stored", span = Span::mixed_site());
    let map = format_ident!("__map", span = Span::mixed_site());
    let other = format_ident!("__other", span = Span::mixed_site());
    let of_offsets = (model.role == Role::Offset).then(|| {
        quote! {
            fn __duplicate(&self) -> Self {
                Self { #(#idents: (#ops.duplicate)(&self.#idents),)* }
            }
            fn __same(&self, #other: &Self) -> bool {
                #((#ops.same)(&self.#idents, &#other.#idents))&&*
            }
            fn __not_finite(&self) -> #p::Option<&'static #p::core::primitive::str> {
                #(if !(#ops.is_finite)(&self.#idents) { return #p::Some(#names); })*
                #p::None
            }
        }
    });
    let (lock_checks, lock_test) = lock(model, &type_name, &trait_name, &p);
    quote! {
        const _: () = {
            #(#consts)*
            #[automatically_derived]
            impl #p::#trait_name for #ident {
                const FIELDS: &'static [#p::FieldMeta] = &[#(
                    #p::FieldMeta { name: #names, kind: #ops.kind, may_be_absent: #ops.optional || #has_default },
                )*];
                fn __encode(&self) -> #p::FieldMap {
                    let mut #map = #p::FieldMap::with_capacity(#n);
                    #(#map.set(#names, (#ops.put)(&self.#idents));)*
                    #map
                }
                fn __decode(#stored: &#p::FieldMap) -> #p::Result<Self, #p::RestoreError> {
                    #p::Ok(Self {
                        #(#idents: #p::restore_field(#stored, #type_name, #names, &#ops, #defaults)?,)*
                    })
                }
                #of_offsets
            }
            #lock_checks
        };
        #lock_test
    }
}

fn default(field: &Field, p: &TokenStream) -> TokenStream {
    match &field.default {
        None => quote!(#p::None),
        Some(Default::OfType(word)) => {
            let ty = &field.ty;
            let call = quote_spanned!(word.span()=> <#ty as #p::core::default::Default>::default);
            quote!(#p::Some(#call))
        }
        Some(Default::Value(value)) => {
            let value = if crate::literal::string(value).is_some() && crate::types::is(&field.ty, "String") {
                quote!(#p::text(#value))
            } else {
                quote!(#value)
            };
            quote!(#p::Some(|| #value))
        }
    }
}

/// The checks against the lock file, and the test that keeps it up to date.
fn lock(model: &Model, type_name: &str, trait_name: &TokenStream, p: &TokenStream) -> (TokenStream, TokenStream) {
    let Some(lock) = &model.lock else { return std::default::Default::default() };
    let ident = &model.ident;
    let file = lock.value();
    let exact = model.role == Role::Partition;
    let text = format_ident!("__LOCK", span = Span::mixed_site());
    let fields = quote!(<#ident as #p::#trait_name>::FIELDS);
    let checks = model.fields.iter().enumerate().map(|(i, field)| {
        let name = format!("{type_name}.{}", field.stored_name);
        let rescue = if exact {
            "the fields are the identity of a partition, so that every partition would start from scratch; keep the old \
             fields"
        } else {
            "offsets that are stored already do not have it; give it a default: `#[offset(default = ..)]`"
        };
        let missing = format!("`{name}` is not in `{file}`: {rescue}");
        let changed = format!(
            "`{name}` is not of the kind that `{file}` says: what is stored could not be read back; keep the type, or \
             give the field another name"
        );
        let optional = format!(
            "`{name}` may be absent from what is stored, as `{file}` says; keep the `Option` or give it a default: \
             `#[offset(default = ..)]`"
        );
        let p = model.krate.private_at(field.ident.span());
        quote_spanned! {field.ident.span()=>
            #[cfg(not(test))]
            const _: () =
                #p::check_lock(#text, #type_name, &#fields[#i], #exact, [#missing, #changed, #optional]);
        }
    });
    let checks: TokenStream = checks.collect();
    let removed = exact.then(|| {
        let message = format!(
            "`{file}` has a field of `{type_name}` that the struct has not: the fields are the identity of a partition, \
             so that every partition would start from scratch; keep the old fields"
        );
        let p = model.krate.private_at(ident.span());
        quote_spanned! {ident.span()=>
            #[cfg(not(test))]
            const _: () = #p::check_lock_is_complete(#text, #type_name, #fields, #message);
        }
    });
    let function = format_ident!("lock_of_{}", case::function_name(type_name));
    let p_here = model.krate.private_at(lock.span());
    let read = quote_spanned!(lock.span()=> #p_here::core::include_str!(#lock));
    let checks = quote! {
        #[cfg(not(test))]
        const #text: &#p::core::primitive::str = #read;
        #checks
        #removed
    };
    let test = quote! {
        #[cfg(test)]
        #[#p::core::prelude::v1::test]
        fn #function() {
            #p::update_lock(
                #p::core::option_env!("CARGO_MANIFEST_DIR"),
                #p::core::file!(),
                #lock,
                #type_name,
                <#ident as #p::#trait_name>::FIELDS,
                #exact,
            );
        }
    };
    (checks, test)
}

/// An impl that only keeps further errors away; it is never run, since the mistakes are reported beside it.
pub(super) fn fallback(model: &Model) -> TokenStream {
    let p = model.krate.private();
    let ident = &model.ident;
    let (impl_generics, type_generics, _) = model.generics.split_for_impl();
    let trait_name = match model.role {
        Role::Offset => quote!(SourceOffset),
        Role::Partition => quote!(SourcePartition),
    };
    let of_offsets = (model.role == Role::Offset).then(|| {
        quote! {
            fn __duplicate(&self) -> Self { #p::core::unreachable!() }
            fn __same(&self, _: &Self) -> bool { #p::core::unreachable!() }
        }
    });
    quote! {
        #[automatically_derived]
        impl #impl_generics #p::#trait_name for #ident #type_generics
        where
            Self: #p::core::marker::Send + #p::core::marker::Sync + 'static,
        {
            const FIELDS: &'static [#p::FieldMeta] = &[];
            fn __encode(&self) -> #p::FieldMap { #p::core::unreachable!() }
            fn __decode(_: &#p::FieldMap) -> #p::Result<Self, #p::RestoreError> { #p::core::unreachable!() }
            #of_offsets
        }
    }
}
