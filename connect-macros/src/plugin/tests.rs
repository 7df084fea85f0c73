//! What the attributes keep of the tokens that they are given, and how many mistakes they report.

use proc_macro2::TokenStream;

use super::Kind;

fn tokens(text: &str) -> TokenStream {
    text.parse().expect(text)
}

/// Expands, and returns what was written and the number of errors.
fn expand(kind: Kind, args: &str, item: &str) -> (String, usize) {
    let expanded = super::attribute(kind, tokens(args), &tokens(item)).to_string();
    let errors = expanded.matches("compile_error").count();
    (expanded, errors)
}

#[test]
fn an_item_keeps_every_token_in_order() {
    for (item, errors) in [
        ("/// Doc.\n pub(crate) fn upper(config: &C, mut record: ConnectRecord) -> ConnectRecord { record. }", 0),
        ("fn upper(part: Part, record: connect_sdk::transform::ConnectRecord) -> Option<ConnectRecord> { let }", 0),
        ("#[inline] const fn upper(_: ConnectRecord) -> Option<ConnectRecord> { None }", 0),
        ("impl Transformation for Upper { type Config = (); fn apply(&mut self) { self. } }", 0),
        ("impl a::PartTransformation for b::Upper { type Config = ; fn }", 0),
        // Half typed: the compiler tells.
        ("fn upper(record: ) {}", 0),
        ("fn upper", 0),
        ("pub fn", 0),
        ("fn upper(record: ConnectRecord)", 0),
        ("impl Transformation for", 0),
        // Wrong.
        ("fn upper(record: ConnectRecord) {}", 1),
        ("async fn upper(record: ConnectRecord) -> ConnectRecord { record }", 1),
        ("struct Upper;", 1),
        ("impl Predicate for Upper {}", 1),
        ("impl Upper {}", 1),
    ] {
        let (written, found) = expand(Kind::Transformation, "", item);
        assert!(written.starts_with(&tokens(item).to_string()), "{item}\n{written}");
        assert_eq!(found, errors, "{item}");
    }
}

#[test]
fn each_mistake_is_one_error() {
    let item = "fn upper(record: ConnectRecord) -> ConnectRecord { record }";
    for (args, errors) in [
        ("", 0),
        ("name = \"Upper\"", 0),
        ("name = \"\"", 1),
        ("name = \"two words\"", 1),
        ("name = \"a\", name = \"b\"", 1),
        ("nam = \"Upper\"", 1),
        ("parts", 1),
        ("java = \"Upper\"", 1),
        ("nam = 1, java = 2, version = 3, crate = \"x\"", 4),
    ] {
        assert_eq!(expand(Kind::Transformation, args, item).1, errors, "{args}");
    }
}

#[test]
fn a_function_becomes_the_type_that_its_parameters_ask_for() {
    let of = |kind, item: &str| expand(kind, "java = \"a.B\"", item).0;
    let whole = of(Kind::Transformation, "fn f(record: ConnectRecord) -> ConnectRecord { record }");
    assert!(whole.contains("type Config = () ;") && whole.contains("\"a.B\"") && !whole.contains("a.B$Key"), "{whole}");
    let pair = of(Kind::Transformation, "fn f(c: &C, p: Part, record: ConnectRecord) -> ConnectRecord { record }");
    assert!(
        pair.contains("type Config = C ;") && pair.contains("\"a.B$Key\"") && pair.contains("\"a.B$Value\""),
        "{pair}"
    );
    assert!(pair.contains("f (& self . config , self . part , record)"), "{pair}");
    let predicate = of(Kind::Predicate, "fn f(record: &ConnectRecord) -> bool { true }");
    assert!(predicate.contains("PredicatePlugin for f"), "{predicate}");
}
