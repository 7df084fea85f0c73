//! serde's attributes, as far as they say what a value looks like: a type that serde knows already is not described twice.
//!
//! What only says how serde does its work is passed over. What would give the value another shape is refused, since the
//! value in Kafka would silently look different from the author's JSON.

use syn::{Attribute, LitStr, Meta, Path};

use super::Default;
use crate::diagnostics::Diagnostics;
use crate::options::{self, Arg, Value};
use crate::symbols;

/// What serde's attributes on one item say.
#[derive(std::default::Default)]
pub(super) struct Said {
    pub(super) rename: Option<String>,
    pub(super) rename_all: Option<LitStr>,
    pub(super) rename_all_fields: Option<LitStr>,
    pub(super) skip: bool,
    pub(super) default: Option<Default>,
}

/// Attributes that give the value a shape that a Connect schema of the type does not have.
const OTHER_SHAPES: &[(&str, &str)] = &[
    ("flatten", "write the fields out, or keep them in a struct of their own"),
    ("tag", "an enum with content becomes a struct with one optional field for each variant"),
    ("content", "an enum with content becomes a struct with one optional field for each variant"),
    ("untagged", "an enum with content becomes a struct with one optional field for each variant"),
    ("into", "derive `ConnectData` for the other type and convert before the record is made"),
    ("from", "derive `ConnectData` for the other type and convert after the record is read"),
    ("try_from", "derive `ConnectData` for the other type and convert after the record is read"),
    ("remote", "derive `ConnectData` for a type of your own"),
    ("skip_serializing", "a schema has the field or has it not: add `#[connect(skip)]`"),
    ("skip_deserializing", "a schema has the field or has it not: add `#[connect(skip)]`"),
];

/// Reads `#[serde(..)]`. With `overruled`, the item is skipped anyway and nothing is refused.
pub(super) fn read(attrs: &[Attribute], overruled: bool, found: &Diagnostics) -> Said {
    let mut said = Said::default();
    for attr in attrs.iter().filter(|attr| attr.path().is_ident("serde")) {
        let Meta::List(list) = &attr.meta else { continue };
        for arg in options::parse_any(list.tokens.clone(), &Diagnostics::new()) {
            let name = arg.name.to_string();
            match name.as_str() {
                symbols::RENAME => said.rename = text(&arg, found).map(|text| text.value()),
                symbols::RENAME_ALL => said.rename_all = text(&arg, found),
                "rename_all_fields" => said.rename_all_fields = text(&arg, found),
                symbols::SKIP => said.skip = true,
                symbols::DEFAULT => said.default = default(&arg),
                _ => {
                    let other = OTHER_SHAPES.iter().find(|(known, _)| *known == name);
                    if let Some((_, instead)) = other.filter(|_| !overruled) {
                        found.at(&arg.name, format!("`ConnectData` does not follow `#[serde({name})]`: {instead}"));
                    }
                }
            }
        }
    }
    said
}

/// `name = ".."`, or `name(serialize = "..", deserialize = "..")` with one text for both.
fn text(arg: &Arg, found: &Diagnostics) -> Option<LitStr> {
    match &arg.value {
        Value::Is(value) => syn::parse2(value.clone()).ok(),
        Value::List(list) => {
            let args = options::parse_any(list.stream(), &Diagnostics::new());
            let both: Vec<LitStr> = args.iter().filter_map(|arg| text(arg, found)).collect();
            if let [first, second] = both.as_slice()
                && first.value() == second.value()
            {
                return Some(first.clone());
            }
            found.at(
                arg,
                format!("a schema has one name for writing and reading: say it by `#[connect({} = \"..\")]`", arg.name),
            );
            None
        }
        Value::Flag => None,
    }
}

fn default(arg: &Arg) -> Option<Default> {
    match &arg.value {
        Value::Is(value) => {
            let path: LitStr = syn::parse2(value.clone()).ok()?;
            path.parse::<Path>().ok().map(Default::Call)
        }
        _ => Some(Default::OfType),
    }
}
