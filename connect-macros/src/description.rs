//! What every attribute of a plugin says of it: its names, its version, where connect-sdk is.

use proc_macro2::TokenStream;
use quote::quote;
use syn::LitStr;

use crate::crate_path::CratePath;
use crate::diagnostics::Diagnostics;
use crate::options::Arg;
use crate::symbols;

/// The arguments that all attributes take.
#[derive(Default)]
pub(crate) struct Common {
    pub(crate) name: Option<LitStr>,
    pub(crate) java: Option<LitStr>,
    pub(crate) version: Option<LitStr>,
    pub(crate) krate: CratePath,
}

/// How the arguments are written, for messages.
pub(crate) struct Examples {
    pub(crate) name: &'static str,
    pub(crate) java: &'static str,
}

impl Common {
    /// True if the argument was one of these.
    pub(crate) fn set(&mut self, arg: &Arg, examples: &Examples, found: &Diagnostics) -> bool {
        match arg.name.to_string().as_str() {
            symbols::NAME => self.name = checked(arg, examples.name, is_name, NAME_RULE, found),
            symbols::JAVA => self.java = checked(arg, examples.java, is_java_class, JAVA_RULE, found),
            symbols::VERSION => self.version = arg.string("version = \"1.2.3\"", found),
            symbols::CRATE => self.krate.set(arg, found),
            _ => return false,
        }
        true
    }

    /// The version, by default that of the author's crate.
    pub(crate) fn version(&self, p: &TokenStream) -> TokenStream {
        self.version.as_ref().map_or_else(
            // `env!` would break builds without cargo.
            || quote!(#p::version_or_unknown(#p::core::option_env!("CARGO_PKG_VERSION"))),
            |text| quote!(#text),
        )
    }
}

/// A text that follows a rule.
fn checked(arg: &Arg, example: &str, holds: fn(&str) -> bool, rule: &str, found: &Diagnostics) -> Option<LitStr> {
    let text = arg.string(example, found)?;
    if holds(&text.value()) {
        return Some(text);
    }
    found.at(&text, format!("`{}` is not a valid `{}`: {rule}", text.value(), arg.name));
    None
}

const NAME_RULE: &str = "it starts with a letter and has only letters, digits, `.`, `_` and `-`, such as `file-lines`";
const JAVA_RULE: &str = "it is a Java class with its package, such as `org.example.FileSource`";

pub(crate) fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'))
}

fn is_java_class(text: &str) -> bool {
    text.contains('.')
        && text.split('.').all(|part| {
            part.starts_with(|first: char| first.is_ascii_alphabetic() || matches!(first, '_' | '$'))
                && part.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '$'))
        })
}
