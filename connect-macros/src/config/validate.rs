//! What can be seen to be wrong without knowing the types.

use std::cmp::Ordering;

use quote::ToTokens;
use syn::{Expr, ExprRange, RangeLimits};

use super::{Field, Model, reserved};
use crate::diagnostics::Diagnostics;
use crate::literal::{self, Number};
use crate::types;

pub(super) fn validate(model: &Model, found: &Diagnostics) {
    if !model.generics.params.is_empty() {
        found.at(&model.generics, "a configuration cannot be generic: it owns plain values that are read from text");
    }
    for (i, field) in model.fields.iter().enumerate() {
        validate_doc(field, found);
        validate_key(field, &model.fields[..i], model.role, found);
        validate_secret(field, found);
        validate_option(field, found);
        validate_range(field, found);
        validate_default(field, found);
    }
}

fn validate_doc(field: &Field, found: &Diagnostics) {
    if field.doc.is_empty() {
        found.at(&field.ident, format!("`{}` has no doc comment, which documents its key for operators", field.ident));
    }
}

/// The key with the unit that the library adds for durations.
fn whole_key(field: &Field) -> String {
    let is_duration = types::is(types::inside_option(&field.ty), "Duration");
    if is_duration && field.key != "ms" && !field.key.ends_with(".ms") {
        format!("{}.ms", field.key)
    } else {
        field.key.clone()
    }
}

/// The unit at the end of the name of a duration, if it is not the one that the key gets.
fn other_unit(field: &Field) -> Option<&str> {
    const UNITS: &[&str] =
        &["s", "sec", "secs", "second", "seconds", "min", "mins", "minutes", "hours", "millis", "us", "ns"];
    let last = field.key.rsplit('.').next()?;
    (types::is(types::inside_option(&field.ty), "Duration") && UNITS.contains(&last)).then_some(last)
}

fn validate_key(field: &Field, before: &[Field], role: &str, found: &Diagnostics) {
    let key = whole_key(field);
    let report = |text: String| match &field.written_key {
        Some(written) => found.at(written, text),
        None => found.at(&field.ident, text),
    };
    let is_word = |word: &str| !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c));
    if !key.split('.').all(is_word) {
        report(format!(
            "`{key}` is not a valid key: it has words of letters, digits, `_` and `-`, with a `.` between two; give it \
             another name: `key = \"..\"`"
        ));
    } else if let Some(unit) = other_unit(field) {
        report(format!(
            "a `Duration` is read from milliseconds and its key ends with `.ms`: leave `{unit}` out of the name, or use a \
             number"
        ));
    } else if let Some(by) = reserved_by(role, &key) {
        let why =
            if by.ends_with('.') { format!("keys that begin with `{by}` belong") } else { "it belongs".to_owned() };
        report(format!("the key `{key}` is not free: {why} to the framework; give it another name: `key = \"..\"`"));
    } else if let Some(other) = before.iter().find(|other| whole_key(other) == key) {
        report(format!("`{}` and `{}` both have the key `{key}`", other.ident, field.ident));
    }
}

/// The entry that keeps the configuration of a connector or another plugin from using `key`.
fn reserved_by(role: &str, key: &str) -> Option<&'static str> {
    let keys = match role {
        "transformation" => reserved::RESERVED_OF_TRANSFORMATIONS,
        "predicate" => reserved::RESERVED_OF_PREDICATES,
        "converter" => reserved::RESERVED_OF_CONVERTERS,
        _ => return reserved::reserved_by(key),
    };
    keys.iter().find(|reserved| **reserved == key).copied()
}

/// Ends of names that secrets have. Names such as `token_url` or `password_file` hold no secret.
const SECRET_WORDS: &[&str] =
    &["password", "passwd", "pwd", "passphrase", "secret", "token", "credential", "credentials"];
const SECRET_KEYS: &[&str] = &["api_key", "private_key", "secret_key", "access_key", "encryption_key"];

fn validate_secret(field: &Field, found: &Diagnostics) {
    let name = field.key.to_lowercase().replace(['.', '-'], "_");
    let last = name.rsplit('_').next().unwrap_or_default();
    let looks_secret = SECRET_WORDS.contains(&last) || SECRET_KEYS.iter().any(|end| name.ends_with(end));
    let is_text = ["String", "Text"].iter().any(|name| types::is(types::inside_option(&field.ty), name));
    if looks_secret && !field.not_secret && is_text {
        found.at(
            &field.ty,
            format!(
                "`{}` looks like a secret, and a text is shown in logs and answers: use `Password`; if it is none, say \
                 `#[config(not_secret)]`",
                field.ident
            ),
        );
    }
}

fn validate_option(field: &Field, found: &Diagnostics) {
    let Some(inner) = types::argument_of(&field.ty, "Option") else { return };
    if types::is(inner, "Option") {
        found.at(&field.ty, "an `Option` in an `Option` has no meaning here: a key is set or it is not");
    } else if let Some(default) = &field.default {
        found.at(
            default,
            "`default` does not fit `Option<T>`: an unset optional key is `None`; remove `default` or the `Option`",
        );
    }
}

/// Types that have no order which a range could limit.
const WITHOUT_RANGE: &[&str] = &["String", "Text", "bool", "PathBuf", "Password", "Vec", "JavaRegex"];

fn validate_range(field: &Field, found: &Diagnostics) {
    let Some(range) = &field.range else { return };
    let ty = types::inside_option(&field.ty);
    if let Some(name) = types::name(ty).filter(|name| WITHOUT_RANGE.iter().any(|known| name == known)) {
        found.at(range, format!("`range` is for numbers and durations; to check a `{name}` use `check = function`"));
        return;
    }
    let Expr::Range(limits) = range else {
        found.at(range, "this is not a range: write `1..`, `..=100` or `1..=100`");
        return;
    };
    if limits.start.is_none() && limits.end.is_none() {
        found.at(range, "this range has no limit: write `1..`, `..=100` or `1..=100`");
    } else if let (Some(start), Some(end)) = (limit(limits.start.as_deref()), limit(limits.end.as_deref())) {
        let order = start.cmp(end);
        let empty = order == Some(Ordering::Greater)
            || (order == Some(Ordering::Equal) && matches!(limits.limits, RangeLimits::HalfOpen(_)));
        if empty {
            found.at(range, format!("no value is in `{}`: write the smaller limit first", text(range)));
        }
    }
}

fn limit(expr: Option<&Expr>) -> Option<Number> {
    expr.and_then(literal::number)
}

fn validate_default(field: &Field, found: &Diagnostics) {
    let Some(default) = &field.default else { return };
    let number = literal::number(default);
    if types::is(&field.ty, "Duration") && number.is_some() {
        found.at(
            default,
            format!("the default of a duration tells its unit: `Duration::from_millis({})`", text(default)),
        );
    } else if types::is(&field.ty, "Password") {
        found.at(default, "a secret has no default: in the source code it is not secret; remove `default`");
    } else if let (Some(Expr::Range(range)), Some(number)) = (&field.range, number)
        && !contains(range, number)
    {
        found.at(default, format!("the default {} is outside `range = {}`", text(default), text(range)));
    }
}

/// Whether a number lies in a range, as far as the limits are literal.
fn contains(range: &ExprRange, number: Number) -> bool {
    let above = limit(range.start.as_deref()).is_none_or(|start| number.cmp(start) != Some(Ordering::Less));
    let below = limit(range.end.as_deref()).is_none_or(|end| match (number.cmp(end), &range.limits) {
        (Some(Ordering::Less) | None, _) => true,
        (Some(Ordering::Equal), RangeLimits::Closed(_)) => true,
        (Some(_), _) => false,
    });
    above && below
}

/// Tokens as an author writes them: without the blanks that the printer puts between.
fn text(tokens: impl ToTokens) -> String {
    tokens.to_token_stream().to_string().replace(' ', "")
}
