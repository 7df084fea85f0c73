//! The code beside the item: the description, and for a function the type that the worker makes.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;

use super::args::Names;
use super::function::{Call, Function};
use super::kind::{Kind, Trait};
use crate::description::Common;
use crate::trait_impl::TraitImpl;

/// The glue of an impl.
pub(super) fn of_impl(target: &TraitImpl, of: Trait, common: &Common, names: &Names, doc: &str) -> TokenStream {
    let p = common.krate.private();
    let cfg = target.conditions();
    let config = target.associated_type("Config").map_or_else(Span::call_site, |ty| ty.span());
    plugin(of, &target.self_type, &cfg, common, names, doc, config, &p)
}

/// The type of a function, which has its name, and the glue of that.
pub(super) fn function(
    kind: Kind,
    function: &Function,
    call: Option<&Call>,
    common: &Common,
    names: &Names,
) -> TokenStream {
    // With a `self` it is a method, beside which no type can stand.
    if kind == Kind::Converter || function.sig.receiver().is_some() {
        return TokenStream::new();
    }
    let p = common.krate.private();
    let cfg = function.conditions();
    let (vis, ident) = (&function.vis, &function.sig.ident);
    let of_part = call.is_some_and(|call| call.of_part);
    let config = call.and_then(|call| call.config.as_ref());
    let config_type = config.map_or_else(|| quote!(()), |ty| quote!(#ty));
    let of = match kind {
        Kind::Predicate => Trait::Predicate,
        _ if of_part => Trait::PartTransformation,
        _ => Trait::Transformation,
    };
    let kept = config.map(|ty| quote!(config: #ty,));
    let keeps = config.map(|_| quote!(config,));
    let taken = if config.is_some() { quote!(config) } else { quote!(_) };
    let passed = config.map(|_| quote!(&self.config,));
    let (part_kept, part_keeps) = if of_part { (quote!(part: #p::Part,), quote!(part,)) } else { Default::default() };
    let part_passed = of_part.then(|| quote!(self.part,));
    let part_taken = of_part.then(|| quote!(, part: #p::Part));
    let answer = call.map_or_else(Span::call_site, |call| call.answer);
    let at_answer = common.krate.private_at(answer);
    // Of a function that does not fit, the type stands there alone, so that its name means something.
    let call_it = |wrap: TokenStream| {
        if call.is_some() {
            let arguments = quote_spanned!(answer=> (#passed #part_passed record));
            let call = quote!(#ident #arguments);
            quote_spanned!(answer=> #wrap(#call))
        } else {
            quote!({ _ = record; #p::core::unreachable!() })
        }
    };
    let method = if kind == Kind::Predicate {
        let body = call_it(quote!(#at_answer::plugin::meant));
        quote! {
            fn test(&mut self, record: &#p::ConnectRecord) -> #p::Result<#p::core::primitive::bool, #p::DataError> {
                #body
            }
        }
    } else {
        let body = call_it(quote!(#at_answer::plugin::changed));
        quote! {
            fn apply(
                &mut self,
                record: #p::ConnectRecord,
            ) -> #p::Result<#p::Option<#p::ConnectRecord>, #p::DataError> {
                #body
            }
        }
    };
    let trait_path = of.path(&p);
    let type_doc = format!("The {} `{}`.", kind.word(), function.name());
    let shown = function.name();
    let config_span = config.map_or_else(Span::call_site, Spanned::span);
    let glue = plugin(of, &quote!(#ident), &cfg, common, names, &function.doc(), config_span, &p);
    quote! {
        #cfg
        #[doc = #type_doc]
        #[allow(non_camel_case_types, reason = "it has the name of its function")]
        #vis struct #ident {
            #kept
            #part_kept
        }
        #cfg
        #[automatically_derived]
        impl #p::core::fmt::Debug for #ident {
            fn fmt(&self, f: &mut #p::core::fmt::Formatter<'_>) -> #p::core::fmt::Result {
                f.write_str(#shown)
            }
        }
        #cfg
        #[automatically_derived]
        impl #trait_path for #ident {
            type Config = #config_type;
            fn new(#taken: Self::Config #part_taken) -> #p::Result<Self, #p::ConfigErrors> {
                #p::Ok(Self { #keeps #part_keeps })
            }
            #method
        }
        #glue
    }
}

/// The description of a type, and the check that its configuration can be that of such a plugin.
#[expect(clippy::too_many_arguments, reason = "an impl and a function share it, and each has its own of all of these")]
fn plugin(
    of: Trait,
    this: &TokenStream,
    cfg: &TokenStream,
    common: &Common,
    names: &Names,
    doc: &str,
    config: Span,
    p: &TokenStream,
) -> TokenStream {
    let version = common.version(p);
    let at_config = common.krate.private_at(config);
    let type_name = this.to_string().replace(' ', "");
    let meta = |names: &Names| {
        let class = &names.class;
        let name = match &names.name {
            Some(name) => quote!(#p::Some(#name)),
            None => quote!(#p::None),
        };
        quote! {
            #p::plugin::PluginMeta {
                class: #class,
                name: #name,
                version: #version,
                doc: #doc,
                type_name: #p::core::concat!(#p::core::module_path!(), "::", #type_name),
            }
        }
    };
    // As a whole at the configuration, which is what may not fit.
    let describe = |function: &str, names: &Names| {
        let (function, meta) = (Ident::new(function, config), meta(names));
        let arguments = quote_spanned!(config=> (#meta));
        quote_spanned!(config=> #at_config::plugin::#function::<Self> #arguments)
    };
    let implemented = match of {
        Trait::Transformation => {
            let class = describe("transformation", names);
            quote! {
                impl #p::TransformationPlugin for #this {
                    const CLASSES: &'static [#p::TransformationClass] = &[#class];
                }
            }
        }
        Trait::PartTransformation => {
            let key = describe("transformation_of_keys", &names.of("Key"));
            let value = describe("transformation_of_values", &names.of("Value"));
            quote! {
                impl #p::TransformationPlugin for #this {
                    const CLASSES: &'static [#p::TransformationClass] = &[#key, #value];
                }
            }
        }
        Trait::Predicate => {
            let class = describe("predicate", names);
            quote!(impl #p::PredicatePlugin for #this { const CLASS: #p::PredicateClass = #class; })
        }
        Trait::Converter | Trait::HeaderConverter => {
            let class = describe(if of == Trait::Converter { "converter" } else { "header_converter" }, names);
            quote!(impl #p::ConverterPlugin for #this { const CLASS: #p::ConverterClass = #class; })
        }
    };
    let described = match of.kind() {
        Kind::Transformation => quote!(<#this as #p::TransformationPlugin>::CLASSES),
        Kind::Predicate => quote!(<#this as #p::PredicatePlugin>::CLASS),
        Kind::Converter => quote!(<#this as #p::ConverterPlugin>::CLASS),
    };
    quote! {
        #cfg
        #[automatically_derived]
        #implemented
        // Looked at here, so that a configuration that does not fit is told of where it is used.
        #cfg
        const _: () = { _ = #described; };
    }
}
