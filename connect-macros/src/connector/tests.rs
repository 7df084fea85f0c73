//! What the connector attributes keep of the tokens that they are given, and what they report.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// All tokens in order, with the delimiters of groups.
fn flat(tokens: TokenStream, out: &mut Vec<String>) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::None => ("", ""),
                };
                out.push(open.into());
                flat(group.stream(), out);
                out.push(close.into());
            }
            other => out.push(other.to_string()),
        }
    }
}

fn tokens(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    flat(text.parse().expect(text), &mut out);
    out
}

/// Expands and returns the tokens of the item, which must come first, and the number of errors.
fn expand(args: &str, item: &str) -> (Vec<String>, usize) {
    let expanded = super::source(args.parse().expect(args), &item.parse().expect(item));
    let errors = expanded.to_string().matches("compile_error").count();
    let mut out = Vec::new();
    flat(expanded, &mut out);
    (out, errors)
}

const ARGS: &str = "name = \"nums\", exactly_once = supported(untested = \"a case\")";
const START: &str = "impl Source for Nums { type Config = C; type Partition = P; type Offset = O; ";

#[test]
fn half_typed_code_keeps_every_token_in_order() {
    for (body, n_errors) in [
        // A dangling dot.
        ("async fn poll(&mut self, out: &mut Batch<Self>) -> Result<()> { self. } }", 0),
        // Half a path.
        ("async fn poll(&mut self) { std:: } }", 0),
        // Half a let, before another method.
        ("async fn poll(&mut self) { let x = } async fn close(self) {} }", 0),
        ("async fn poll(&mut self) { let } }", 0),
        // Half a signature.
        ("async fn po }", 0),
        ("async fn poll( ) }", 0),
        ("async fn poll(&mut self, out: ) -> { } }", 0),
        // A missing type.
        ("type Extra = ; async fn poll(&mut self) {} }", 0),
        ("type }", 0),
        // A half-typed method, before one that is whole.
        ("async fn async fn poll(&mut self) {} }", 0),
        // A lone word, a lone attribute.
        ("asy }", 0),
        ("#[doc = \"x\"] }", 0),
        // Half an expression.
        ("async fn poll(&mut self) { out.emit(&mut self.at, Record::to(), ) } }", 0),
        ("async fn poll(&mut self) { match x { Some( ) => } } }", 0),
        // A method that is no part of the trait, half typed: it stays.
        ("async fn commit(&mut self) }", 0),
        ("fn commit }", 0),
    ] {
        let item = format!("{START}{body}");
        let (out, errors) = expand(ARGS, &item);
        let given = tokens(&item);
        assert_eq!(&out[..given.len()], given.as_slice(), "{body}");
        assert_eq!(errors, n_errors, "{body}");
    }
}

#[test]
fn half_typed_heads_keep_every_token_too() {
    for (item, n_errors) in [
        ("impl", 1),
        ("impl Source", 1),
        ("impl Source for", 0),
        ("impl Source for Nums", 0),
        ("impl Source for Nums {}", 0),
        ("impl Source for {}", 0),
        ("impl<T Source for Nums<T> {}", 1),
        ("impl Sour for Nums {}", 1),
        ("struct Nums", 1),
        ("", 1),
    ] {
        let (out, errors) = expand(ARGS, item);
        let given = tokens(item);
        assert_eq!(&out[..given.len()], given.as_slice(), "{item}");
        assert_eq!(errors, n_errors, "{item}");
    }
}

#[test]
fn half_typed_arguments_are_one_error_and_keep_the_item() {
    let item = format!("{START}}}");
    for args in [
        "",
        "na",
        "name",
        "name =",
        "name = ,",
        "name = \"nums\"",
        "name = \"nums\", ",
        "name = \"nums\", exac",
        "name = \"nums\", exactly_once",
        "name = \"nums\", exactly_once =",
        "name = \"nums\", exactly_once = sup",
        "name = \"nums\", exactly_once = supported",
        "name = \"nums\", exactly_once = supported()",
        "name = \"nums\", exactly_once = supported(untested)",
        "name = \"nums\", exactly_once = supported(untested =)",
        "name = \"nums\", exactly_once = supported, replay_test =",
    ] {
        let (out, errors) = expand(args, &item);
        let given = tokens(&item);
        assert_eq!(&out[..given.len()], given.as_slice(), "{args}");
        assert_eq!(errors, 1, "{args}");
    }
}

#[test]
fn only_a_misplaced_method_is_moved() {
    let item = format!("{START}async fn commit(&mut self) {{ self. }} async fn poll(&mut self) {{}} }}");
    let (out, errors) = expand(ARGS, &item);
    assert_eq!(errors, 1);
    let mut given = tokens(&item);
    let mut sorted = out.clone();
    given.sort();
    sorted.sort();
    assert!(given.iter().all(|token| sorted.contains(token)));
    let text = out.join(" ");
    assert!(text.contains("async fn poll ( & mut self ) { } }"), "{text}");
    assert!(text.contains("impl Nums { async fn commit ( & mut self ) { self . } }"), "{text}");
}
