//! The arguments of an attribute, split at commas and read one by one, so that one mistake does not hide the next.

use proc_macro2::{Delimiter, Group, Ident, Spacing, TokenStream, TokenTree};
use quote::ToTokens;
use syn::parse::Parse;
use syn::{Attribute, Expr, LitStr, Meta, Path, Type};

use crate::diagnostics::{Diagnostics, expected};

/// One argument: `name`, `name = value` or `name(..)`.
pub(crate) struct Arg {
    pub(crate) name: Ident,
    pub(crate) value: Value,
}

/// What stands behind the name of an argument.
pub(crate) enum Value {
    Flag,
    Is(TokenStream),
    List(Group),
}

impl ToTokens for Arg {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        self.name.to_tokens(tokens);
        match &self.value {
            Value::Flag => {}
            Value::Is(value) => value.to_tokens(tokens),
            Value::List(list) => list.to_tokens(tokens),
        }
    }
}

/// Reads the arguments in `tokens`. Names outside `allowed`, and names that were there before, are mistakes.
///
/// `of` is the attribute in messages, such as `#[config(..)]`.
pub(crate) fn parse(tokens: TokenStream, of: &str, allowed: &[&str], found: &Diagnostics) -> Vec<Arg> {
    let mut args: Vec<Arg> = Vec::new();
    for arg in parse_any(tokens, found) {
        let name = arg.name.to_string();
        if !allowed.contains(&name.as_str()) {
            found.at(&arg.name, format!("`{of}` has no `{name}`; {}", expected(&name, allowed)));
        } else if args.iter().any(|before| before.name == arg.name) {
            found.at(&arg.name, format!("`{name}` is given twice; keep one of them"));
        } else {
            args.push(arg);
        }
    }
    args
}

/// Reads arguments of any name.
pub(crate) fn parse_any(tokens: TokenStream, found: &Diagnostics) -> Vec<Arg> {
    split_at_commas(tokens).into_iter().filter_map(|chunk| one(chunk, found)).collect()
}

/// Reads the arguments of every `#[name(..)]` among `attrs`, as if they stood in one.
pub(crate) fn of_attributes(attrs: &[Attribute], name: &str, allowed: &[&str], found: &Diagnostics) -> Vec<Arg> {
    let mut tokens = TokenStream::new();
    for attr in attrs.iter().filter(|attr| attr.path().is_ident(name)) {
        match &attr.meta {
            Meta::List(list) => {
                tokens.extend(list.tokens.clone());
                tokens.extend([TokenTree::Punct(proc_macro2::Punct::new(',', Spacing::Alone))]);
            }
            Meta::Path(_) | Meta::NameValue(_) => {
                found.at(&attr.meta, format!("write `#[{name}(..)]`; {}", expected("", allowed)));
            }
        }
    }
    parse(tokens, &format!("#[{name}(..)]"), allowed, found)
}

/// The tokens between commas; empty parts, as after a comma at the end, are left out.
fn split_at_commas(tokens: TokenStream) -> Vec<Vec<TokenTree>> {
    let mut chunks = Vec::new();
    let mut chunk: Vec<TokenTree> = Vec::new();
    let mut angles = 0usize;
    for token in tokens {
        if let TokenTree::Punct(punct) = &token {
            match punct.as_char() {
                ',' if angles == 0 => {
                    chunks.push(std::mem::take(&mut chunk));
                    continue;
                }
                // `<` opens type arguments behind a path only; `a < b` is no value of any argument that we have.
                '<' if matches!(chunk.last(), Some(TokenTree::Ident(_)) | Some(TokenTree::Punct(_))) => angles += 1,
                '>' if !matches!(chunk.last(), Some(TokenTree::Punct(p)) if matches!(p.as_char(), '-' | '=')) => {
                    angles = angles.saturating_sub(1);
                }
                _ => {}
            }
        }
        chunk.push(token);
    }
    chunks.push(chunk);
    chunks.retain(|chunk| !chunk.is_empty());
    chunks
}

fn one(chunk: Vec<TokenTree>, found: &Diagnostics) -> Option<Arg> {
    let mut tokens = chunk.into_iter();
    let name = match tokens.next() {
        Some(TokenTree::Ident(name)) => name,
        Some(other) => {
            let rest: TokenStream = tokens.collect();
            found.at(quote::quote!(#other #rest), "expected an argument: `name = value`");
            return None;
        }
        None => return None,
    };
    match tokens.next() {
        None => Some(Arg { name, value: Value::Flag }),
        Some(TokenTree::Punct(punct)) if punct.as_char() == '=' => {
            let value: TokenStream = tokens.collect();
            if value.is_empty() {
                found.at(quote::quote!(#name #punct), format!("`{name}` has no value: write `{name} = ..`"));
                return None;
            }
            Some(Arg { name, value: Value::Is(value) })
        }
        Some(TokenTree::Group(list)) if list.delimiter() == Delimiter::Parenthesis => {
            if let Some(next) = tokens.next() {
                found.at(next, format!("expected `,` after `{name}(..)`"));
                return None;
            }
            Some(Arg { name, value: Value::List(list) })
        }
        Some(other) => {
            found.at(&other, format!("expected `=` after `{name}`, or `,` before this"));
            None
        }
    }
}

impl Arg {
    /// The value as something that syn can parse; `example` shows how to write it.
    fn parsed<T: Parse>(&self, example: &str, found: &Diagnostics) -> Option<T> {
        let Value::Is(value) = &self.value else {
            found.at(self, format!("write `{example}`"));
            return None;
        };
        if let Ok(parsed) = syn::parse2(value.clone()) {
            return Some(parsed);
        }
        // Two arguments without a comma between them are the usual reason.
        let mut tokens = value.clone().into_iter().skip(1).peekable();
        while let Some(token) = tokens.next() {
            if let (TokenTree::Ident(_), Some(TokenTree::Punct(next))) = (&token, tokens.peek())
                && next.as_char() == '='
            {
                found.at(token, format!("expected `,` between `{}` and this", self.name));
                return None;
            }
        }
        found.at(value, format!("this is not a value for `{}`: write `{example}`", self.name));
        None
    }

    /// A text that is not empty.
    pub(crate) fn string(&self, example: &str, found: &Diagnostics) -> Option<LitStr> {
        let text: LitStr = self.parsed(example, found)?;
        if text.value().trim().is_empty() {
            found.at(&text, format!("`{}` is empty: write `{example}`", self.name));
            return None;
        }
        Some(text)
    }

    pub(crate) fn expr(&self, example: &str, found: &Diagnostics) -> Option<Expr> {
        self.parsed(example, found)
    }

    /// A function, which is named and not called.
    pub(crate) fn function(&self, found: &Diagnostics) -> Option<Expr> {
        let function = self.expr(&format!("{} = function", self.name), found)?;
        if let Some(text) = crate::literal::string(&function) {
            found.at(text, format!("name the function without quotes: `{} = {}`", self.name, text.value()));
            return None;
        }
        Some(function)
    }

    pub(crate) fn ty(&self, example: &str, found: &Diagnostics) -> Option<Type> {
        self.parsed(example, found)
    }

    pub(crate) fn path(&self, example: &str, found: &Diagnostics) -> Option<Path> {
        let Value::Is(value) = &self.value else {
            found.at(self, format!("write `{example}`"));
            return None;
        };
        match syn::parse::Parser::parse2(Path::parse_mod_style, value.clone()) {
            Ok(path) => Some(path),
            Err(_) => self.parsed::<Path>(example, found),
        }
    }

    /// One of a few words.
    pub(crate) fn word<'a>(&self, allowed: &[&'a str], found: &Diagnostics) -> Option<&'a str> {
        let examples: Vec<String> = allowed.iter().map(|word| format!("{} = {word}", self.name)).collect();
        let Value::Is(value) = &self.value else {
            found.at(self, format!("write `{}`", examples.join("` or `")));
            return None;
        };
        let written = value.to_string();
        let word = allowed.iter().find(|word| **word == written).copied();
        if word.is_none() {
            if let Some(unquoted) = allowed.iter().find(|word| written.eq_ignore_ascii_case(&format!("\"{word}\""))) {
                found.at(value, format!("write it without quotes: `{} = {unquoted}`", self.name));
            } else {
                found.at(value, format!("`{}` cannot be `{written}`; {}", self.name, expected(&written, allowed)));
            }
        }
        word
    }

    /// A name alone, such as `not_secret`.
    pub(crate) fn flag(&self, found: &Diagnostics) -> bool {
        let alone = matches!(self.value, Value::Flag);
        if !alone {
            found.at(self, format!("`{}` stands alone, without a value", self.name));
        }
        alone
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quote::quote;

    fn mistakes(tokens: TokenStream) -> String {
        let found = Diagnostics::new();
        parse(tokens, "#[x(..)]", &["name", "range"], &found);
        found.into_tokens().to_string()
    }

    #[test]
    fn commas_inside_type_arguments_do_not_split() {
        let found = Diagnostics::new();
        let args = parse(quote!(name = Map::<A, B>::new(), range = 1..), "#[x(..)]", &["name", "range"], &found);
        assert_eq!(args.len(), 2);
        assert!(found.is_empty());
    }

    #[test]
    fn every_argument_is_judged_by_itself() {
        let text = mistakes(quote!(nam = 1, "x", name =, name range, range = 1, range = 2));
        for part in ["did you mean `name`?", "expected an argument", "has no value", "expected `=`", "given twice"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert_eq!(text.matches("compile_error").count(), 5);
    }

    #[test]
    fn a_missing_comma_is_found_out() {
        let found = Diagnostics::new();
        let args = parse(quote!(name = "x" range = 1), "#[x(..)]", &["name", "range"], &found);
        assert!(args[0].string("name = \"..\"", &found).is_none());
        assert!(found.into_tokens().to_string().contains("expected `,` between `name` and this"));
    }
}
