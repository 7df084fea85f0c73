//! The code beside the impl: the description, the marks, the replay test.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::LitStr;
use syn::spanned::Spanned;

use super::args::{ExactlyOnce, OfSource};
use super::misplaced::Kind;
use crate::case;
use crate::crate_path::CratePath;
use crate::description::Common;
use crate::trait_impl::TraitImpl;

/// The glue of a source. With arguments that are not `sound` it only keeps further errors away.
pub(crate) fn source(target: &TraitImpl, common: &Common, own: &OfSource, doc: &str, sound: bool) -> TokenStream {
    let p = common.krate.private();
    let this = &target.self_type;
    let cfg = target.conditions();
    let description = description(target, common, doc, &p);
    let promise = match &own.exactly_once {
        Some(ExactlyOnce::Supported(_)) => quote!(#p::ExactlyOnce::Supported),
        Some(ExactlyOnce::Untested(why)) => quote!(#p::ExactlyOnce::SupportedUntested(#why)),
        Some(ExactlyOnce::Unsupported(why)) => quote!(#p::ExactlyOnce::Unsupported(#why)),
        None => quote!(#p::ExactlyOnce::Unsupported("")),
    };
    let defines_transactions = own.connector_transactions;
    let has_hook = own.on_commit.is_some();
    let hook = own.on_commit.as_ref().map_or_else(|| quote!(#p::NoHook<Self>), |ty| quote!(#ty));
    let at_least_once = (!sound || matches!(own.exactly_once, Some(ExactlyOnce::Unsupported(_))))
        .then(|| quote!(#cfg #[automatically_derived] impl #p::AtLeastOnce for #this {}));
    let transactions = (!sound || own.connector_transactions)
        .then(|| quote!(#cfg #[automatically_derived] impl #p::DefinesTransactions for #this {}));
    let test = own.replay_test.as_ref().filter(|_| sound).map(|fixture| replay_test(target, fixture, &common.krate));
    let meta = quote! {
        #p::SourceMeta {
            #description
            exactly_once: #promise,
            defines_transactions: #defines_transactions,
            has_hook: #has_hook,
        }
    };
    let meta = checked(target, &common.krate, "source_meta", &meta);
    quote! {
        #cfg
        #[automatically_derived]
        impl #p::SourceConnector for #this {
            const META: #p::SourceMeta = #meta;
            type Hook = #hook;
        }
        #cfg
        const _: () = { _ = <#this as #p::SourceConnector>::META; };
        #at_least_once
        #transactions
        #test
    }
}

/// The glue of a sink.
pub(crate) fn sink(target: &TraitImpl, common: &Common, kind: Kind, doc: &str) -> TokenStream {
    let p = common.krate.private();
    let this = &target.self_type;
    let cfg = target.conditions();
    let description = description(target, common, doc, &p);
    let function = if kind == Kind::DirectSink { "direct_sink_meta" } else { "buffered_sink_meta" };
    let meta = checked(target, &common.krate, function, &quote!(#p::SinkMeta { #description }));
    let task = if kind == Kind::DirectSink { quote!(#p::Direct<Self>) } else { quote!(Self) };
    quote! {
        #cfg
        #[automatically_derived]
        impl #p::SinkConnector for #this {
            const META: #p::SinkMeta = #meta;
            type Task = #task;
        }
        #cfg
        const _: () = { _ = <#this as #p::SinkConnector>::META; };
    }
}

/// A description, by a function that looks whether the configuration is a connector's; errors about it stand there.
fn checked(target: &TraitImpl, krate: &CratePath, function: &str, meta: &TokenStream) -> TokenStream {
    let config = target.associated_type("Config").map_or_else(Span::call_site, |ty| ty.span());
    let (p, function) = (krate.private_at(config), Ident::new(function, config));
    let arguments = quote_spanned!(config=> (#meta));
    quote_spanned!(config=> #p::#function::<Self> #arguments)
}

/// The fields that both descriptions have.
fn description(target: &TraitImpl, common: &Common, doc: &str, p: &TokenStream) -> TokenStream {
    let optional =
        |text: &Option<LitStr>| text.as_ref().map_or_else(|| quote!(#p::None), |text| quote!(#p::Some(#text)));
    let name = common.name.as_ref().map_or_else(String::new, LitStr::value);
    let java = optional(&common.java);
    let version = common.version(p);
    let this = target.self_type.to_string().replace(' ', "");
    quote! {
        name: #name,
        java: #java,
        version: #version,
        doc: #doc,
        type_name: #p::core::concat!(#p::core::module_path!(), "::", #this),
    }
}

fn replay_test(target: &TraitImpl, fixture: &syn::Path, krate: &CratePath) -> TokenStream {
    let p = krate.private();
    let this = &target.self_type;
    let type_name = target.type_name().map(|name| name.to_string()).unwrap_or_default();
    let function = format_ident!("replay_of_{}", case::function_name(type_name.trim_start_matches("r#")));
    let p_here = krate.private_at(fixture.span());
    let call = quote_spanned!(fixture.span()=> #p_here::replay_test!(#this, #fixture));
    let cfg = target.conditions();
    quote! {
        #cfg
        #[cfg(test)]
        #[#p::core::prelude::v1::test]
        fn #function() {
            #call
        }
    }
}
