//! The arguments of the attributes, and the names that come of them.

use proc_macro2::TokenStream;
use quote::ToTokens;

use super::Kind;
use crate::description::{Common, Examples, is_name};
use crate::diagnostics::Diagnostics;
use crate::options;
use crate::symbols;

/// What was written in the attribute.
pub(super) struct Args {
    pub(super) common: Common,
    name_example: &'static str,
    /// False if what was written is wrong.
    sound: bool,
}

/// A name of the plugin as users write it, and another one.
#[derive(Default)]
pub(super) struct Names {
    pub(super) class: String,
    pub(super) name: Option<String>,
}

/// Reads the arguments.
pub(super) fn parse(kind: Kind, tokens: TokenStream, found: &Diagnostics) -> Args {
    let before = found.count();
    let examples = match kind {
        Kind::Transformation => {
            Examples { name: "name = \"Upper\"", java: "java = \"org.apache.kafka.connect.transforms.RegexRouter\"" }
        }
        Kind::Predicate => Examples {
            name: "name = \"IsSmall\"",
            java: "java = \"org.apache.kafka.connect.transforms.predicates.HasHeaderKey\"",
        },
        Kind::Converter => {
            Examples { name: "name = \"Hex\"", java: "java = \"org.apache.kafka.connect.storage.StringConverter\"" }
        }
    };
    let mut common = Common::default();
    for arg in options::parse(tokens, kind.name(), symbols::PLUGIN_ARGUMENTS, found) {
        common.set(&arg, &examples, found);
    }
    Args { common, name_example: examples.name, sound: found.count() == before }
}

impl Args {
    /// The names, for a type or function called `ident`, which stands at `at`.
    pub(super) fn names(&self, ident: &str, at: impl ToTokens, of_part: bool, found: &Diagnostics) -> Names {
        let (name, java) = (&self.common.name, &self.common.java);
        if let Some(java) = java
            && of_part
            && java.value().contains('$')
        {
            let text = "both `$Key` and `$Value` are made of it: write the Java class without its `$` and what follows";
            found.at(java, text);
        }
        let name = name.as_ref().map(syn::LitStr::value);
        if let Some(java) = java {
            return Names { class: java.value(), name };
        }
        if name.is_none() && self.sound && !is_name(ident) && !ident.is_empty() {
            let text = format!(
                "`{ident}` cannot be what users write, which is letters, digits, `.`, `_` and `-` after a letter: give it a \
                 name, `{}`",
                self.name_example
            );
            found.at(at, text);
        }
        Names { class: name.unwrap_or_else(|| ident.to_owned()), name: None }
    }
}

impl Names {
    /// The names of the class for keys or for values.
    pub(super) fn of(&self, part: &str) -> Self {
        let of_part = |name: &String| format!("{name}${part}");
        Self { class: of_part(&self.class), name: self.name.as_ref().map(of_part) }
    }
}
