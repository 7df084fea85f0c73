//! Collects every mistake of one macro call, so that all of them are reported in one build, each at its own token.

use std::cell::RefCell;
use std::fmt::Display;

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use syn::Error;

/// The mistakes found so far.
#[derive(Default)]
pub(crate) struct Diagnostics(RefCell<Vec<Error>>);

impl Diagnostics {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Reports a mistake that these tokens are.
    pub(crate) fn at(&self, tokens: impl ToTokens, message: impl Display) {
        self.0.borrow_mut().push(Error::new_spanned(tokens, message));
    }

    /// Reports a mistake where no token stands for it, such as something missing.
    pub(crate) fn at_span(&self, span: Span, message: impl Display) {
        self.0.borrow_mut().push(Error::new(span, message));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.borrow().is_empty()
    }

    /// How many mistakes were found, to see whether a step found any.
    pub(crate) fn count(&self) -> usize {
        self.0.borrow().len()
    }

    /// The mistakes as code that the compiler turns into errors; no code at all if there are none.
    pub(crate) fn into_tokens(self) -> TokenStream {
        self.0.into_inner().into_iter().map(|error| error.into_compile_error()).collect()
    }
}

/// ``expected one of: `a`, `b` `` with a second line when one of them is near to what was written.
pub(crate) fn expected(written: &str, allowed: &[&str]) -> String {
    let list: Vec<String> = allowed.iter().map(|name| format!("`{name}`")).collect();
    let list = match list.as_slice() {
        [only] => format!("expected {only}"),
        _ => format!("expected one of: {}", list.join(", ")),
    };
    match nearest(written, allowed) {
        Some(name) => format!("{list}\n  help: did you mean `{name}`?"),
        None => list,
    }
}

/// The name among `allowed` that `written` was most likely meant to be.
pub(crate) fn nearest<'a>(written: &str, allowed: &[&'a str]) -> Option<&'a str> {
    let plain = |text: &str| text.to_lowercase().replace(['_', '-', '.'], "");
    let written = plain(written);
    let limit = written.chars().count().div_ceil(3).max(1);
    allowed
        .iter()
        .map(|name| (edit_distance(&written, &plain(name)), *name))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_near_name_is_offered_and_a_far_one_is_not() {
        assert!(expected("importence", &["default", "importance"]).ends_with("did you mean `importance`?"));
        assert_eq!(expected("zzz", &["default", "importance"]), "expected one of: `default`, `importance`");
        assert_eq!(expected("zzz", &["high"]), "expected `high`");
        assert_eq!(nearest("exactlyOnce", &["name", "exactly_once"]), Some("exactly_once"));
    }

    #[test]
    fn every_mistake_becomes_an_error_of_its_own() {
        let found = Diagnostics::new();
        found.at_span(Span::call_site(), "first");
        found.at_span(Span::call_site(), "second");
        assert_eq!(found.count(), 2);
        assert_eq!(found.into_tokens().to_string().matches("compile_error").count(), 2);
        assert!(Diagnostics::new().into_tokens().is_empty());
    }
}
