//! What can be seen to be wrong without knowing the types.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::GenericParam;

use super::{Content, Field, Model, Shape, Variant};
use crate::diagnostics::Diagnostics;
use crate::types;

pub(super) fn validate(model: &Model, found: &Diagnostics) {
    for param in &model.generics.params {
        if let GenericParam::Lifetime(lifetime) = param {
            found.at(lifetime, "data cannot borrow: it is read from records that do not live as long; use `String`");
        }
    }
    if let Some(version) = &model.version {
        let is_positive = matches!(crate::literal::number(version), Some(crate::literal::Number::Int(n)) if n > 0);
        if !is_positive {
            found.at(version, "the version of a schema is a whole number from 1 on: `version = 1`");
        }
    }
    for field in model.fields() {
        validate_type(field, &model.ident, found);
    }
    match &model.shape {
        Shape::Struct(fields) => {
            if fields.iter().all(|field| field.skip) {
                found.at(&model.ident, "a type without fields has no value to send");
            }
            validate_names(fields, found);
        }
        Shape::Newtype(field) => {
            if field.skip {
                found.at(&field.ty, "this field is all of the value and cannot be skipped");
            }
        }
        Shape::Names(variants) | Shape::Choice(variants) => validate_variants(variants, found),
        Shape::Nothing => {}
    }
}

fn validate_type(field: &Field, owner: &Ident, found: &Diagnostics) {
    if field.skip {
        return;
    }
    if mentions(field.ty.to_token_stream(), owner) {
        found.at(
            &field.ty,
            format!("`{owner}` contains itself, which a Connect schema cannot; send its text or its id instead"),
        );
    } else if types::argument_of(&field.ty, "Option").is_some_and(|inner| types::is(inner, "Option")) {
        found.at(&field.ty, "an `Option` in an `Option` cannot be told apart: both kinds of nothing are null");
    }
}

fn mentions(tokens: TokenStream, name: &Ident) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(word) => word == *name || word == "Self",
        TokenTree::Group(group) => mentions(group.stream(), name),
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}

fn validate_names(fields: &[Field], found: &Diagnostics) {
    let sent: Vec<&Field> = fields.iter().filter(|field| !field.skip).collect();
    for (i, field) in sent.iter().enumerate() {
        if let Some(before) = sent[..i].iter().find(|before| before.name == field.name) {
            let (first, second) = (before.member.to_token_stream(), field.member.to_token_stream());
            found.at(&field.member, format!("`{first}` and `{second}` are both called `{}` in the schema", field.name));
        }
    }
}

fn validate_variants(variants: &[Variant], found: &Diagnostics) {
    for (i, variant) in variants.iter().enumerate() {
        if let Some(before) = variants[..i].iter().find(|before| before.name == variant.name) {
            found.at(
                &variant.ident,
                format!("`{}` and `{}` are both called `{}` in the schema", before.ident, variant.ident, variant.name),
            );
        }
        match &variant.content {
            Content::One(field) if types::is(&field.ty, "Option") => found.at(
                &field.ty,
                "the content of a variant cannot be an `Option`: null says that the variant is not the one that is set",
            ),
            Content::One(field) if field.skip => {
                found.at(&field.ty, "this field is all of the variant's content and cannot be skipped");
            }
            Content::Named(fields) => validate_names(fields, found),
            Content::One(_) | Content::Nothing => {}
        }
    }
}
