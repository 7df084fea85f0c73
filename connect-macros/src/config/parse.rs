//! Reads the struct and its `#[config(..)]` attributes.

use syn::ext::IdentExt;
use syn::{Data, DeriveInput, Fields};

use super::{Field, Model};
use crate::crate_path::CratePath;
use crate::diagnostics::Diagnostics;
use crate::options::{self, Value};
use crate::{doc_comments, symbols};

const OF_FIELD: &[&str] = &[
    symbols::DEFAULT,
    symbols::RANGE,
    symbols::CHECK,
    symbols::KEY,
    symbols::IMPORTANCE,
    symbols::GROUP,
    symbols::DISPLAY_NAME,
    symbols::WIDTH,
    symbols::VALIDATOR,
    symbols::NOT_SECRET,
];
const OF_STRUCT: &[&str] = &[symbols::CHECK, symbols::OF, symbols::CRATE];
/// Whose configuration a struct can be.
const ROLES: &[&str] = &[CONNECTOR, "transformation", "predicate", "converter"];
pub(super) const CONNECTOR: &str = "connector";
const CONFIG: &str = "config";

pub(super) fn parse(input: &DeriveInput, found: &Diagnostics) -> Model {
    let mut model = Model {
        ident: input.ident.clone(),
        generics: input.generics.clone(),
        krate: CratePath::default(),
        check: None,
        role: CONNECTOR,
        fields: Vec::new(),
    };
    for arg in options::of_attributes(&input.attrs, CONFIG, OF_STRUCT, found) {
        match arg.name.to_string().as_str() {
            symbols::CHECK => model.check = arg.function(found),
            symbols::OF => model.role = arg.word(ROLES, found).unwrap_or(CONNECTOR),
            _ => model.krate.set(&arg, found),
        }
    }
    match &input.data {
        Data::Struct(data) => match &data.fields {
            Fields::Named(fields) => model.fields = fields.named.iter().filter_map(|f| field(f, found)).collect(),
            Fields::Unnamed(fields) => found.at(
                fields,
                format!("each field is a key, so that it needs a name: `struct {} {{ name: Type }}`", input.ident),
            ),
            Fields::Unit => {}
        },
        Data::Enum(data) => found.at(
            data.enum_token,
            "a configuration is a struct with a field for each key; for a key with a few possible values \
             `#[derive(ConfigEnum)]` goes on the enum",
        ),
        Data::Union(data) => found.at(data.union_token, "a configuration is a struct with a field for each key"),
    }
    model
}

fn field(field: &syn::Field, found: &Diagnostics) -> Option<Field> {
    let ident = field.ident.clone()?;
    let mut model = Field {
        key: ident.unraw().to_string().replace('_', "."),
        ident,
        ty: field.ty.clone(),
        doc: doc_comments::text(&field.attrs),
        written_key: None,
        default: None,
        range: None,
        validator: None,
        width: None,
        check: None,
        importance: None,
        group: None,
        display_name: None,
        not_secret: false,
    };
    for arg in options::of_attributes(&field.attrs, CONFIG, OF_FIELD, found) {
        match arg.name.to_string().as_str() {
            symbols::DEFAULT => {
                if matches!(arg.value, Value::Flag) {
                    found.at(&arg.name, "operators are shown the default, so write it: `default = ..`");
                } else {
                    model.default = arg.expr("default = ..", found);
                }
            }
            symbols::RANGE => model.range = arg.expr("range = 1..=100", found),
            symbols::CHECK => model.check = arg.function(found),
            symbols::KEY => {
                model.written_key = arg.string("key = \"batch.size\"", found);
                if let Some(key) = &model.written_key {
                    model.key = key.value();
                }
            }
            symbols::IMPORTANCE => model.importance = arg.word(&["high", "medium", "low"], found),
            symbols::GROUP => model.group = arg.string("group = \"Files\"", found),
            symbols::DISPLAY_NAME => model.display_name = arg.string("display_name = \"File\"", found),
            symbols::WIDTH => model.width = arg.word(&["short", "medium", "long"], found),
            symbols::VALIDATOR => model.validator = arg.expr("validator = Validator::non_empty_string()", found),
            _ => model.not_secret = arg.flag(found),
        }
    }
    Some(model)
}
