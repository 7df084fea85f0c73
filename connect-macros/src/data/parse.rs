//! Reads the type with its `#[connect(..)]` and `#[serde(..)]` attributes; where both speak, `connect` decides.

use syn::ext::IdentExt;
use syn::{Data, DeriveInput, Fields, LitStr, Member};

use super::{Content, Default, Field, Model, Shape, Variant, serde};
use crate::case::{self, Named};
use crate::crate_path::CratePath;
use crate::diagnostics::{Diagnostics, expected};
use crate::options::{self, Value};
use crate::symbols;

const CONNECT: &str = "connect";
const SCALE: &str = "scale";
const OF_TYPE: &[&str] = &[symbols::NAME, symbols::VERSION, symbols::RENAME_ALL, symbols::CRATE];
const OF_FIELD: &[&str] = &[symbols::RENAME, symbols::SKIP, symbols::DEFAULT, SCALE];

pub(super) fn parse(input: &DeriveInput, found: &Diagnostics) -> Model {
    let said = serde::read(&input.attrs, false, found);
    let mut rule = said.rename_all;
    let mut model = Model {
        ident: input.ident.clone(),
        generics: input.generics.clone(),
        krate: CratePath::default(),
        name: None,
        version: None,
        shape: Shape::Nothing,
    };
    for arg in options::of_attributes(&input.attrs, CONNECT, OF_TYPE, found) {
        match arg.name.to_string().as_str() {
            symbols::NAME => model.name = arg.string("name = \"com.example.Order\"", found).map(|name| name.value()),
            symbols::VERSION => model.version = arg.expr("version = 1", found),
            symbols::RENAME_ALL => rule = arg.string("rename_all = \"camelCase\"", found),
            _ => model.krate.set(&arg, found),
        }
    }
    let rule = known(rule, found);
    let rule_of_fields = known(said.rename_all_fields, found);
    model.shape = shape(input, rule.as_deref(), rule_of_fields.as_deref(), found);
    model
}

fn known(rule: Option<LitStr>, found: &Diagnostics) -> Option<String> {
    let written = rule?;
    let rule = written.value();
    if case::RULES.contains(&rule.as_str()) {
        return Some(rule);
    }
    found.at(&written, format!("no rule is called `{rule}`; {}", expected(&rule, case::RULES)));
    None
}

fn shape(input: &DeriveInput, rule: Option<&str>, rule_of_fields: Option<&str>, found: &Diagnostics) -> Shape {
    match &input.data {
        Data::Struct(data) => match &data.fields {
            Fields::Named(fields) => Shape::Struct(named(fields, rule, found)),
            Fields::Unnamed(fields) if fields.unnamed.len() == 1 => {
                Shape::Newtype(Box::new(field(Member::from(0), &fields.unnamed[0], None, found)))
            }
            Fields::Unnamed(fields) => {
                let text = "the fields of a Connect struct have names: write `{ name: Type, .. }`; only a single field can be \
                            without one";
                found.at(fields, text);
                Shape::Nothing
            }
            Fields::Unit => {
                found.at(&input.ident, "a type without fields has no value to send");
                Shape::Nothing
            }
        },
        Data::Enum(data) => {
            if data.variants.is_empty() {
                found.at(&input.ident, "an enum without variants has no value to send");
                return Shape::Nothing;
            }
            let variants: Vec<Variant> =
                data.variants.iter().map(|v| variant(v, rule, rule_of_fields, found)).collect();
            if variants.iter().all(|variant| matches!(variant.content, Content::Nothing)) {
                Shape::Names(variants)
            } else {
                Shape::Choice(variants)
            }
        }
        Data::Union(data) => {
            found.at(data.union_token, "a union cannot be read: which field is set is not known");
            Shape::Nothing
        }
    }
}

fn named(fields: &syn::FieldsNamed, rule: Option<&str>, found: &Diagnostics) -> Vec<Field> {
    let read = |f: &syn::Field| f.ident.clone().map(|ident| field(Member::from(ident), f, rule, found));
    fields.named.iter().filter_map(read).collect()
}

fn field(member: Member, field: &syn::Field, rule: Option<&str>, found: &Diagnostics) -> Field {
    let args = options::of_attributes(&field.attrs, CONNECT, OF_FIELD, found);
    let skip = args.iter().any(|arg| arg.name == symbols::SKIP && arg.flag(found));
    let said = serde::read(&field.attrs, skip, found);
    let own_name = match &member {
        Member::Named(ident) => ident.unraw().to_string(),
        Member::Unnamed(_) => String::new(),
    };
    let renamed = said.rename.or_else(|| rule.map(|rule| case::apply(rule, Named::Field, &own_name)));
    let mut model = Field {
        member,
        ty: field.ty.clone(),
        name: renamed.unwrap_or(own_name),
        skip: skip || said.skip,
        default: said.default,
        scale: None,
    };
    for arg in args {
        match arg.name.to_string().as_str() {
            symbols::RENAME => {
                if let Some(name) = arg.string("rename = \"orderId\"", found) {
                    model.name = name.value();
                }
            }
            symbols::DEFAULT => {
                model.default = match arg.value {
                    Value::Flag => Some(Default::OfType),
                    _ => arg.expr("default = 0", found).map(Default::Value),
                };
            }
            SCALE => model.scale = arg.expr("scale = 2", found),
            _ => {}
        }
    }
    model
}

fn variant(variant: &syn::Variant, rule: Option<&str>, rule_of_fields: Option<&str>, found: &Diagnostics) -> Variant {
    let ident = variant.ident.clone();
    let said = serde::read(&variant.attrs, false, found);
    if said.skip {
        found.at(&ident, format!("every variant needs a value: `{ident}` cannot be skipped"));
    }
    let own_name = ident.unraw().to_string();
    let renamed = said.rename.or_else(|| rule.map(|rule| case::apply(rule, Named::Variant, &own_name)));
    let mut name = renamed.unwrap_or(own_name);
    for arg in options::of_attributes(&variant.attrs, CONNECT, &[symbols::RENAME], found) {
        if let Some(text) = arg.string("rename = \"..\"", found) {
            name = text.value();
        }
    }
    let rule = known(said.rename_all, found).or_else(|| rule_of_fields.map(str::to_owned));
    let content = match &variant.fields {
        Fields::Unit => Content::Nothing,
        Fields::Unnamed(fields) if fields.unnamed.len() == 1 => {
            Content::One(Box::new(field(Member::from(0), &fields.unnamed[0], None, found)))
        }
        Fields::Unnamed(fields) => {
            found.at(fields, format!("the content of `{ident}` needs names: write `{ident} {{ name: Type, .. }}`"));
            Content::Nothing
        }
        Fields::Named(fields) => Content::Named(named(fields, rule.as_deref(), found)),
    };
    Variant { ident, name, content }
}
