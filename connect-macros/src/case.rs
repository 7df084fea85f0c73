//! Names in other cases: what `rename_all` makes of field and variant names, and keys of field names.

/// The rules that `rename_all` knows, under serde's names.
pub(crate) const RULES: &[&str] = &[
    "lowercase",
    "UPPERCASE",
    "PascalCase",
    "camelCase",
    "snake_case",
    "SCREAMING_SNAKE_CASE",
    "kebab-case",
    "SCREAMING-KEBAB-CASE",
];

/// What a rule is applied to: serde's rules keep the underscores of a field but not those of a variant.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Named {
    Field,
    Variant,
}

/// `name` by the rule; a name of [`RULES`].
pub(crate) fn apply(rule: &str, what: Named, name: &str) -> String {
    let words = words(name);
    let joint = if what == Named::Field { "_" } else { "" };
    let capital = |word: &String| {
        let mut letters = word.chars();
        letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
    };
    match rule {
        "lowercase" => words.join(joint),
        "UPPERCASE" => words.join(joint).to_uppercase(),
        "PascalCase" => words.iter().map(capital).collect(),
        "camelCase" => words.iter().take(1).cloned().chain(words.iter().skip(1).map(capital)).collect(),
        "SCREAMING_SNAKE_CASE" => words.join("_").to_uppercase(),
        "kebab-case" => words.join("-"),
        "SCREAMING-KEBAB-CASE" => words.join("-").to_uppercase(),
        _ => words.join("_"),
    }
}

/// The words of a Rust name in lower case: `flush_size` and `FlushSize` both have two.
///
/// As serde does it: each capital letter begins a word.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for letter in name.chars() {
        if letter == '_' {
            words.push(String::new());
            continue;
        }
        if letter.is_uppercase() {
            words.push(String::new());
        }
        if let Some(last) = words.last_mut() {
            last.extend(letter.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// A type's name as a function's: `HttpSource` becomes `http_source`, `HTTPSource` too.
pub(crate) fn function_name(type_name: &str) -> String {
    let letters: Vec<char> = type_name.chars().collect();
    let mut name = String::new();
    for (i, letter) in letters.iter().enumerate() {
        let starts_word = letter.is_uppercase()
            && i > 0
            && letters[i - 1] != '_'
            && (!letters[i - 1].is_uppercase() || letters.get(i + 1).is_some_and(|next| next.is_lowercase()));
        if starts_word {
            name.push('_');
        }
        name.extend(letter.to_lowercase());
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_serdes() {
        for (rule, of_field, of_variant) in [
            ("lowercase", "very_tasty", "verytasty"),
            ("UPPERCASE", "VERY_TASTY", "VERYTASTY"),
            ("PascalCase", "VeryTasty", "VeryTasty"),
            ("camelCase", "veryTasty", "veryTasty"),
            ("snake_case", "very_tasty", "very_tasty"),
            ("SCREAMING_SNAKE_CASE", "VERY_TASTY", "VERY_TASTY"),
            ("kebab-case", "very-tasty", "very-tasty"),
            ("SCREAMING-KEBAB-CASE", "VERY-TASTY", "VERY-TASTY"),
        ] {
            assert_eq!(apply(rule, Named::Field, "very_tasty"), of_field);
            assert_eq!(apply(rule, Named::Variant, "VeryTasty"), of_variant);
        }
    }

    #[test]
    fn types_name_functions() {
        for (ty, function) in [("HttpSource", "http_source"), ("HTTPSource", "http_source"), ("A", "a"), ("X_y", "x_y")]
        {
            assert_eq!(function_name(ty), function);
        }
    }
}
