//! A function as a plugin: what it takes, and what is wrong with that.

use proc_macro2::{Delimiter, Ident, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::{FnArg, ReturnType, Safety, Signature, Type, Visibility};

use super::Kind;
use crate::diagnostics::Diagnostics;
use crate::trait_impl::{conditions, doc, take_attributes};
use crate::types;

/// A function, whose body is not looked at.
pub(super) struct Function {
    /// Attributes before it, each as its `#` and its brackets.
    pub(super) attributes: Vec<TokenStream>,
    pub(super) vis: Visibility,
    pub(super) sig: Signature,
    /// The function without its attributes, as it was given.
    rest: TokenStream,
}

/// How the generated code calls it.
pub(super) struct Call {
    /// The type behind `config: &`.
    pub(super) config: Option<Type>,
    pub(super) of_part: bool,
    /// The answer's type, at which errors about it stand.
    pub(super) answer: Span,
}

/// Words that may stand before `fn`.
const BEFORE_FN: &[&str] = &["pub", "const", "async", "unsafe", "extern", "default"];

impl Function {
    /// True if the item is a function, or may become one.
    pub(super) fn is_one(item: &TokenStream) -> bool {
        let mut tokens: Vec<TokenTree> = item.clone().into_iter().collect();
        take_attributes(&mut tokens);
        let word = tokens.iter().find_map(|token| match token {
            TokenTree::Ident(word) if BEFORE_FN.iter().any(|before| word == before) => None,
            TokenTree::Ident(word) => Some(word == "fn"),
            // `pub(crate)` and `extern "C"`.
            TokenTree::Group(_) | TokenTree::Literal(_) => None,
            TokenTree::Punct(_) => Some(false),
        });
        word.unwrap_or(false)
    }

    pub(super) fn parse(item: &TokenStream) -> Option<Self> {
        let mut tokens: Vec<TokenTree> = item.clone().into_iter().collect();
        let attributes = take_attributes(&mut tokens);
        let rest = tokens.iter().cloned().collect();
        if !matches!(tokens.pop(), Some(TokenTree::Group(body)) if body.delimiter() == Delimiter::Brace) {
            return None;
        }
        let head = |input: ParseStream<'_>| Ok((input.parse::<Visibility>()?, input.parse::<Signature>()?));
        let (vis, sig) = head.parse2(tokens.into_iter().collect()).ok()?;
        Some(Self { attributes, vis, sig, rest })
    }

    pub(super) fn name(&self) -> String {
        self.sig.ident.unraw().to_string()
    }

    pub(super) fn doc(&self) -> String {
        doc(&self.attributes)
    }

    pub(super) fn conditions(&self) -> TokenStream {
        conditions(&self.attributes)
    }
}

impl ToTokens for Function {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        tokens.extend(self.attributes.iter().cloned());
        tokens.extend(self.rest.clone());
    }
}

/// What the function takes; nothing if the mistakes, which are reported, leave that open.
pub(super) fn judge(kind: Kind, function: &Function, found: &Diagnostics) -> Option<Call> {
    let before = found.count();
    let sig = &function.sig;
    if kind == Kind::Converter {
        found.at(sig.fn_token, format!("`{}` stands on {}, not on `fn`", kind.name(), kind.place()));
        return None;
    }
    if let Some(word) = &sig.asyncness {
        found.at(
            word,
            format!(
                "a {} does not wait, so that it is no `async fn`: it is called for every record. What has to ask elsewhere \
                 belongs into a source or a sink",
                kind.word()
            ),
        );
    }
    if let Safety::Unsafe(word) = &sig.safety {
        found.at(word, "the worker calls it without knowing what it asks for: it cannot be `unsafe`");
    }
    if let Some(word) = &sig.abi {
        found.at(word, "the worker calls it as a Rust function: leave the ABI out");
    }
    if !sig.generics.params.is_empty() {
        found.at(
            &sig.generics,
            format!("a {} cannot be generic: the worker makes it from its class name alone", kind.word()),
        );
    }
    let call = parameters(kind, sig, found);
    let answer = match &sig.output {
        ReturnType::Type(_, ty) => syn::spanned::Spanned::span(&**ty),
        ReturnType::Default => {
            let what = if kind == Kind::Predicate { "whether the record is meant" } else { "the changed record" };
            found.at(&sig.ident, format!("it answers nothing, but is asked for {what}: `{}`", kind.form()));
            Span::call_site()
        }
    };
    let (config, of_part) = call?;
    (found.count() == before).then_some(Call { config, of_part, answer })
}

fn parameters(kind: Kind, sig: &Signature, found: &Diagnostics) -> Option<(Option<Type>, bool)> {
    let mut types = Vec::new();
    for input in &sig.inputs {
        match input {
            FnArg::Typed(typed) => types.push(&*typed.ty),
            FnArg::Receiver(receiver) => {
                found.at(
                    receiver,
                    format!(
                        "a function keeps nothing from record to record, so that it has no `self`: for a type with fields \
                         put `{}` on {}",
                        kind.name(),
                        if kind == Kind::Predicate { "`impl Predicate for ..`" } else { "`impl Transformation for ..`" }
                    ),
                );
                return None;
            }
        }
    }
    let Some((record, others)) = types.split_last() else {
        found.at(&sig.ident, format!("it takes no record: `{}`", kind.form()));
        return None;
    };
    judge_record(kind, record, found)?;
    let (mut config, mut of_part) = (None, false);
    for ty in others {
        match reference(ty) {
            Some((inner, None)) if config.is_none() && !of_part => config = Some(inner.clone()),
            Some((_, Some(word))) => {
                found.at(
                    word,
                    format!(
                        "a function keeps nothing from record to record: its configuration is `&Config`. For a type with \
                         fields put `{}` on an impl",
                        kind.name()
                    ),
                );
                return None;
            }
            None if types::is(ty, "Part") && kind == Kind::Transformation && !of_part => of_part = true,
            None if config.is_none() && !of_part && !types::is(ty, "Part") => {
                let name = types::name(ty).map_or_else(|| "Config".to_owned(), Ident::to_string);
                found.at(ty, format!("the configuration is lent, for every record: write `&{name}`"));
                return None;
            }
            _ => {
                found.at(ty, format!("this parameter is one too many, or in another place: `{}`", kind.form()));
                return None;
            }
        }
    }
    Some((config, of_part))
}

/// The last parameter must be the record.
fn judge_record(kind: Kind, ty: &Type, found: &Diagnostics) -> Option<()> {
    let (inner, borrowed) = reference(ty).map_or((ty, false), |(inner, _)| (inner, true));
    let is_exclusive = matches!(reference(ty), Some((_, Some(_))));
    if !types::is(inner, "ConnectRecord") {
        found.at(ty, format!("the last parameter is the record: `{}`", kind.form()));
        return None;
    }
    match kind {
        Kind::Predicate if !borrowed || is_exclusive => {
            found.at(ty, "a predicate only looks at the record: write `&ConnectRecord`");
            None
        }
        Kind::Transformation if borrowed => {
            found.at(ty, "a transformation takes the record and gives it back: write `ConnectRecord`");
            None
        }
        _ => Some(()),
    }
}

/// The type behind `&`, and its `mut`.
fn reference(ty: &Type) -> Option<(&Type, Option<&syn::Token![mut]>)> {
    match ty {
        Type::Reference(reference) => Some((&reference.elem, reference.mutability.as_ref())),
        Type::Group(group) => reference(&group.elem),
        Type::Paren(paren) => reference(&paren.elem),
        _ => None,
    }
}
