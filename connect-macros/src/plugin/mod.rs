//! `#[transformation]`, `#[predicate]` and `#[converter]`: they check, name and describe; the item stays as it is. A
//! function also gets the type that is registered.

mod args;
mod expand;
mod function;
mod kind;
mod misplaced;
#[cfg(test)]
mod tests;

use proc_macro2::TokenStream;
use quote::quote;

use self::function::Function;
pub(crate) use self::kind::Kind;
use self::kind::Trait;
use crate::crate_path::CratePath;
use crate::diagnostics::Diagnostics;
use crate::trait_impl::{Part, TraitImpl};

/// Expands one of the attributes.
pub(crate) fn attribute(kind: Kind, args: TokenStream, item: &TokenStream) -> TokenStream {
    if Function::is_one(item) { on_function(kind, args, item) } else { on_impl(kind, args, item) }
}

fn on_function(kind: Kind, args: TokenStream, item: &TokenStream) -> TokenStream {
    let found = Diagnostics::new();
    // What does not parse is half typed, or the compiler says more about it than we could.
    let Some(mut function) = Function::parse(item) else { return item.clone() };
    report_repeated(&mut function.attributes, &found);
    let call = function::judge(kind, &function, &found);
    let args = args::parse(kind, args, &found);
    let names = args.names(&function.name(), &function.sig.ident, call.as_ref().is_some_and(|c| c.of_part), &found);
    let glue = expand::function(kind, &function, call.as_ref(), &args.common, &names);
    let errors = found.into_tokens();
    quote!(#function #glue #errors)
}

fn on_impl(kind: Kind, args: TokenStream, item: &TokenStream) -> TokenStream {
    let found = Diagnostics::new();
    let mut target = match TraitImpl::parse(item.clone()) {
        Ok(target) => target,
        Err(wrong) => {
            found.at(&wrong.at, format!("`{}` stands on {}, not {}", kind.name(), kind.place(), wrong.place()));
            let errors = found.into_tokens();
            return quote!(#item #errors);
        }
    };
    let Some(of) = judge_place(kind, &target, &found) else {
        let errors = found.into_tokens();
        return quote!(#target #errors);
    };
    if !target.is_of_named_type() {
        found.at(
            &target.self_type,
            format!(
                "the worker makes and owns a {}: implement the trait for a struct or an enum of your own",
                kind.word()
            ),
        );
        let errors = found.into_tokens();
        // What the compiler says of such an impl follows from this mistake: it is kept for the editor only.
        return quote!(#[cfg(any())] #target #errors);
    }
    report_repeated(&mut target.attributes, &found);
    let args = args::parse(kind, args, &found);
    let type_name = target.type_name().map(|name| name.to_string()).unwrap_or_default();
    let names =
        args.names(type_name.trim_start_matches("r#"), &target.self_type, of == Trait::PartTransformation, &found);
    let doc = target.doc();
    let set_aside = set_aside_async(&mut target, of, &args.common.krate, &found);
    let moved = move_misplaced(&mut target, of, &args.common.krate, &found);
    // A generic type cannot be registered, so that the glue would only add errors to the one that says so.
    let glue = if target.generics.is_some() {
        TokenStream::new()
    } else {
        expand::of_impl(&target, of, &args.common, &names, &doc)
    };
    let errors = found.into_tokens();
    quote!(#target #moved #set_aside #glue #errors)
}

/// The trait that the impl is of, if the attribute belongs there; otherwise the mistake is reported.
fn judge_place(kind: Kind, target: &TraitImpl, found: &Diagnostics) -> Option<Trait> {
    if let Some(generics) = &target.generics {
        let word = kind.word();
        found.at(
            generics,
            format!(
                "a {word} cannot be generic: the worker makes it from its class name alone. Implement the trait for a \
                 concrete type, which may own a generic one"
            ),
        );
    }
    let name = target.trait_name().map(|name| name.to_string()).unwrap_or_default();
    let of = Trait::named(&name);
    match of {
        Some(of) if of.kind() == kind => return Some(of),
        Some(of) => {
            let right = of.kind();
            found.at(&target.trait_path, format!("`{name}` is for a {}: use `{}`", right.word(), right.name()));
        }
        None if ["Source", "DirectSink", "BufferedSink"].contains(&name.as_str()) => {
            let right = if name == "Source" { "source" } else { "sink" };
            found.at(
                &target.trait_path,
                format!("`{name}` is for a {right}: use `#[{right}_connector(name = \"..\")]`"),
            );
        }
        None => found.at(
            &target.trait_path,
            format!("`{}` stands on {}, not on an impl of `{name}`", kind.name(), kind.place()),
        ),
    }
    None
}

/// An attribute of ours that stands there again.
fn report_repeated(attributes: &mut Vec<TokenStream>, found: &Diagnostics) {
    attributes.retain(|attribute| {
        let path = match syn::parse::Parser::parse2(syn::Attribute::parse_outer, attribute.clone()) {
            Ok(attributes) => attributes.first().and_then(|a| a.path().segments.last().map(|s| s.ident.to_string())),
            Err(_) => None,
        };
        let is_ours = path.is_some_and(|path| Kind::ALL.iter().any(|kind| kind.word() == path));
        if is_ours {
            found.at(attribute, "an item is described once: keep one of the attributes");
        }
        !is_ours
    });
}

/// Reports methods that wait for something, which would not fit the trait. They are set aside for the editor, and others
/// stand in for them.
fn set_aside_async(target: &mut TraitImpl, of: Trait, krate: &CratePath, found: &Diagnostics) -> Option<TokenStream> {
    let p = krate.private();
    let is_wanted = |part: &Part| {
        part.is_async() && part.function.as_ref().is_some_and(|f| of.signature(&f.to_string(), &p).is_some())
    };
    let waiting = target.take_functions(is_wanted);
    for part in &waiting {
        let Some(name) = &part.function else { continue };
        found.at(
            name,
            format!(
                "`{name}` does not wait, so that it is no `async fn`: it is called for every record, or makes the value. \
                 What has to ask elsewhere belongs into a source or a sink"
            ),
        );
        if let Some(signature) = of.signature(&name.to_string(), &p) {
            target.add(quote!(#signature { #p::core::unreachable!() }));
        }
    }
    let (self_type, functions) = (&target.self_type, waiting.iter().map(Part::tokens));
    (!waiting.is_empty()).then(|| quote!(#[cfg(any())] impl #self_type { #(#functions)* }))
}

/// Reports methods that the trait has not but authors expect, and moves them out of the compiler's way.
fn move_misplaced(target: &mut TraitImpl, of: Trait, krate: &CratePath, found: &Diagnostics) -> TokenStream {
    let moved = target.take_functions(|part| {
        let Some(name) = &part.function else { return false };
        let reason = misplaced::reason(of, &name.to_string());
        if let Some(reason) = reason {
            found.at(name, reason);
        }
        reason.is_some()
    });
    if moved.is_empty() {
        return TokenStream::new();
    }
    target.outside(&moved, &of.path(&krate.private()))
}
