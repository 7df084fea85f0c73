//! `#[source_connector(..)]` and `#[sink_connector(..)]`: they check, mark and describe; the impl stays as it is.

mod args;
mod expand;
mod misplaced;
#[cfg(test)]
mod tests;

use proc_macro2::TokenStream;
use quote::quote;

use self::misplaced::Kind;
use crate::crate_path::CratePath;
use crate::diagnostics::Diagnostics;
use crate::trait_impl::{NotTraitImpl, TraitImpl};

/// One of the two attributes.
#[derive(Clone, Copy, PartialEq)]
enum Attribute {
    Source,
    Sink,
}

impl Attribute {
    fn name(self) -> &'static str {
        match self {
            Self::Source => "#[source_connector(..)]",
            Self::Sink => "#[sink_connector(..)]",
        }
    }

    fn place(self) -> &'static str {
        match self {
            Self::Source => "`impl Source for ..`",
            Self::Sink => "`impl DirectSink for ..` or `impl BufferedSink for ..`",
        }
    }
}

/// Expands `#[source_connector(args)] item`.
pub(crate) fn source(args: TokenStream, item: &TokenStream) -> TokenStream {
    attribute(Attribute::Source, args, item)
}

/// Expands `#[sink_connector(args)] item`.
pub(crate) fn sink(args: TokenStream, item: &TokenStream) -> TokenStream {
    attribute(Attribute::Sink, args, item)
}

fn attribute(attribute: Attribute, args: TokenStream, item: &TokenStream) -> TokenStream {
    let found = Diagnostics::new();
    let mut target = match TraitImpl::parse(item.clone()) {
        Ok(target) => target,
        Err(wrong) => {
            report_wrong_item(attribute, &wrong, &found);
            let errors = found.into_tokens();
            return quote!(#item #errors);
        }
    };
    let Some(kind) = judge_place(attribute, &target, &found) else {
        let errors = found.into_tokens();
        return quote!(#target #errors);
    };
    if !target.is_of_named_type() {
        let text = "the worker makes and owns a connector: implement the trait for a struct or an enum of your own";
        found.at(&target.self_type, text);
        let errors = found.into_tokens();
        // What the compiler says of such an impl follows from this mistake: it is kept for the editor only.
        return quote!(#[cfg(any())] #target #errors);
    }
    report_async_trait(&mut target, kind, &found);
    report_repeated(&mut target, &found);

    let doc = target.doc();
    // The crate's path is needed even where the other arguments are wrong.
    let (krate, glue) = match attribute {
        Attribute::Source => {
            let before = found.count();
            let (common, own) = args::source(args, &found);
            let sound = found.count() == before;
            (common.krate.clone(), expand::source(&target, &common, &own, &doc, sound))
        }
        Attribute::Sink => {
            let common = args::sink(args, &found);
            (common.krate.clone(), expand::sink(&target, &common, kind, &doc))
        }
    };
    let set_aside = set_aside_untied(&mut target, kind, &krate, &found);
    let moved = move_misplaced(&mut target, kind, &krate, &found);
    // A generic type cannot be registered, so that the glue would only add errors to the one that says so.
    let glue = if target.generics.is_some() { TokenStream::new() } else { glue };
    let errors = found.into_tokens();
    quote!(#target #moved #set_aside #glue #errors)
}

fn report_wrong_item(attribute: Attribute, wrong: &NotTraitImpl, found: &Diagnostics) {
    found.at(&wrong.at, format!("`{}` stands on {}, not {}", attribute.name(), attribute.place(), wrong.place()));
}

/// The trait that the impl is of, if the attribute belongs there; otherwise the mistake is reported.
fn judge_place(attribute: Attribute, target: &TraitImpl, found: &Diagnostics) -> Option<Kind> {
    if let Some(generics) = &target.generics {
        found.at(
            generics,
            "a connector cannot be generic: the worker makes it from its class name alone. Implement the trait for a \
             concrete type, which may own a generic one",
        );
    }
    let name = target.trait_name().map(|name| name.to_string()).unwrap_or_default();
    let kind = Kind::of_trait(&name);
    match (attribute, kind) {
        (Attribute::Source, Some(Kind::Source)) | (Attribute::Sink, Some(Kind::DirectSink | Kind::BufferedSink)) => {
            kind
        }
        (Attribute::Source, Some(_)) => {
            found.at(&target.trait_path, format!("`{name}` is a sink: use `#[sink_connector(name = \"..\")]`"));
            None
        }
        (Attribute::Sink, Some(_)) => {
            let text = "`Source` is a source: use `#[source_connector(name = \"..\", exactly_once = ..)]`";
            found.at(&target.trait_path, text);
            None
        }
        (_, None) => {
            let near = match (attribute, name.as_str()) {
                (Attribute::Sink, "Sink" | "SinkTask" | "SinkConnector") => {
                    "; `DirectSink` writes in `put`, `BufferedSink` keeps records for later"
                }
                _ => "",
            };
            found.at(
                &target.trait_path,
                format!("`{}` stands on {}, not on an impl of `{name}`{near}", attribute.name(), attribute.place()),
            );
            None
        }
    }
}

/// `#[async_trait]` below ours would rewrite the methods, so that none of them fits the trait.
fn report_async_trait(target: &mut TraitImpl, kind: Kind, found: &Diagnostics) {
    target.attributes.retain(|attribute| {
        let is_it = attribute.to_string().contains("async_trait");
        if is_it {
            let text = format!("`{}` has native `async fn` methods: remove `#[async_trait]`", kind.trait_name());
            found.at(attribute, text);
        }
        !is_it
    });
}

/// An attribute of ours that stands there again.
fn report_repeated(target: &mut TraitImpl, found: &Diagnostics) {
    target.attributes.retain(|attribute| {
        let text = attribute.to_string();
        let is_ours = text.contains("source_connector") || text.contains("sink_connector");
        if is_ours && !text.contains("doc") {
            found.at(attribute, "an impl is described once: keep one of the attributes");
        }
        !is_ours || text.contains("doc")
    });
}

/// Reports a `pre_commit` whose lifetimes are left out: they would tie the answer to the sink, not to the question, and
/// what the compiler says to that does not help. It is set aside for the editor, and another one stands in for it.
fn set_aside_untied(target: &mut TraitImpl, kind: Kind, krate: &CratePath, found: &Diagnostics) -> Option<TokenStream> {
    if kind != Kind::BufferedSink {
        return None;
    }
    let untied = target
        .take_functions(|part| !part.has_generics && part.function.as_ref().is_some_and(|name| name == "pre_commit"));
    let part = untied.first()?;
    found.at(
        &part.function,
        "write out the lifetime that ties the answer to its question: `async fn pre_commit<'c>(&mut self, at: \
         PreCommit<'c>) -> Result<Safe<'c>>`",
    );
    let p = krate.private();
    target.add(quote! {
        async fn pre_commit<'c>(&mut self, _: #p::PreCommit<'c>) -> #p::Result<#p::Safe<'c>> {
            #p::core::unreachable!()
        }
    });
    let (self_type, function) = (&target.self_type, part.tokens());
    Some(quote!(#[cfg(any())] impl #self_type { #function }))
}

/// Reports methods that the trait has not but authors expect, and moves them out of the compiler's way.
fn move_misplaced(target: &mut TraitImpl, kind: Kind, krate: &CratePath, found: &Diagnostics) -> TokenStream {
    let moved = target.take_functions(|part| {
        let Some(name) = &part.function else { return false };
        let reason = misplaced::reason(kind, &name.to_string(), part.consumes_self());
        if let Some(reason) = reason {
            found.at(name, reason);
        }
        reason.is_some()
    });
    if moved.is_empty() {
        return TokenStream::new();
    }
    let private = krate.private();
    let name = proc_macro2::Ident::new(kind.trait_name(), proc_macro2::Span::call_site());
    target.outside(&moved, &quote!(#private::#name))
}
