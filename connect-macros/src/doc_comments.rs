//! Doc comments as the text that operators see.

use syn::{Attribute, Expr, ExprLit, Lit, Meta};

use crate::symbols;

/// The text of the doc comments among `attrs`: lines of one paragraph joined, paragraphs kept apart.
pub(crate) fn text(attrs: &[Attribute]) -> String {
    let lines: Vec<String> = attrs.iter().filter_map(line).collect();
    join(&lines)
}

fn line(attr: &Attribute) -> Option<String> {
    match &attr.meta {
        Meta::NameValue(pair) if pair.path.is_ident(symbols::DOC) => match &pair.value {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    }
}

fn join(lines: &[String]) -> String {
    let mut text = String::new();
    for line in lines.iter().flat_map(|line| line.lines().map(str::trim).chain(line.is_empty().then_some(""))) {
        if line.is_empty() {
            if !text.is_empty() && !text.ends_with('\n') {
                text.push('\n');
            }
        } else {
            if !text.is_empty() && !text.ends_with('\n') {
                text.push(' ');
            }
            text.push_str(line);
        }
    }
    text.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    #[test]
    fn lines_of_a_paragraph_are_joined() {
        let item: syn::ItemStruct = parse_quote! {
            /// One record for each
            /// line of a file.
            ///
            /// Tails it.
            #[derive(Debug)]
            struct S;
        };
        assert_eq!(super::text(&item.attrs), "One record for each line of a file.\nTails it.");
        let item: syn::ItemStruct = parse_quote! {
            /** One
                two. */
            struct S;
        };
        assert_eq!(super::text(&item.attrs), "One two.");
    }
}
