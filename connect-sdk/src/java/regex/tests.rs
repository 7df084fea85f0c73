//! Java's regular expressions, matched as Java matches them.

use super::*;

fn matches(pattern: &str, text: &str) -> bool {
    JavaRegex::new(pattern).unwrap().matches(text).unwrap()
}

#[test]
fn the_whole_text_must_match() {
    for (pattern, yes, no) in [
        ("orders.*", "orders-1", "my-orders"),
        ("a|ab", "ab", "abc"),
        ("(?i)X.*", "xy", "yx"),
        ("(?!__).*", "x", "__x"),
        ("a++b", "aab", "aa"),
        ("\\Qa.b\\E", "a.b", "axb"),
        ("[a-c&&[^b]]", "a", "b"),
        ("[^a-c&&[aeiou]]", "b", "e2"),
        ("\\p{Lower}+", "abc", "aBc"),
        ("(?<n>a)\\k<n>", "aa", "ab"),
        ("^t$", "t", "tt"),
        ("\\h\\R", "\t\r\n", "a\n"),
        ("(?x) a b # c", "ab", "a b"),
        ("[a&&&b]*|x", "x", "y"),
        ("\\d", "1", "\u{661}"),
        ("(?iu)\u{e9}", "\u{c9}", "e"),
        ("(?i)k", "K", "\u{212a}"),
        (".", "\u{1f600}", "\u{85}"),
        ("[\\]^-]+", "]^-", "["),
        ("\\x41\\u0042\\0103\\x{1f600}", "ABC\u{1f600}", "ABC"),
        ("(?<=a{1,3})b|ab", "ab", "b"),
    ] {
        assert!(matches(pattern, yes), "{pattern} on {yes:?}");
        assert!(!matches(pattern, no), "{pattern} on {no:?}");
    }
}

#[test]
fn mistakes_are_told_in_javas_words() {
    for (pattern, message) in [
        ("(", "Unclosed group near index 1\n("),
        ("a)", "Unmatched closing ')' near index 0\na)\n^"),
        (")", "Unmatched closing ')'\n)"),
        ("*", "Dangling meta character '*' near index 0\n*\n^"),
        ("[", "Unclosed character class near index 0\n[\n^"),
        ("[z-a]", "Illegal character range near index 3\n[z-a]\n   ^"),
        ("x{2", "Unclosed counted closure near index 3\nx{2"),
        ("\\y", "Illegal/unsupported escape sequence near index 1\n\\y\n ^"),
        ("\\p{Foo}", "Unknown character property name {Foo} near index 6\n\\p{Foo}\n      ^"),
        ("(?<a>x)(?<a>y)", "Named capturing group <a> is already defined near index 11\n(?<a>x)(?<a>y)\n           ^"),
    ] {
        assert_eq!(JavaRegex::new(pattern).unwrap_err().to_string(), message, "{pattern}");
    }
}

#[test]
fn replacements_are_read_before_they_are_used() {
    let regex = JavaRegex::new("(?<all>(\\w)\\w*)").unwrap();
    for (replacement, expected) in [("$2", "a b"), ("$12", "ab2 bc2"), ("\\$${all}\\\\", "$ab\\ $bc\\"), ("", " ")] {
        let read = regex.replacement(replacement).unwrap();
        assert_eq!(regex.replace_all("ab bc", &read).unwrap(), expected, "{replacement}");
    }
    let first = regex.replacement("<$0>").unwrap();
    assert_eq!(regex.replace_first("ab bc", &first).unwrap(), "<ab> bc");
    let empty = JavaRegex::new("b*").unwrap();
    let mark = empty.replacement("-").unwrap();
    assert_eq!(empty.replace_all("abc", &mark).unwrap(), "-a--c-");
    for (replacement, message) in [
        ("$3", "No group 3"),
        ("$", "Illegal group reference: group index is missing"),
        ("$x", "Illegal group reference"),
        ("${x}", "No group with name {x}"),
        ("\\", "character to be escaped is missing"),
    ] {
        assert_eq!(regex.replacement(replacement).unwrap_err().to_string(), message);
    }
}

#[test]
fn a_search_that_explodes_is_given_up() {
    let regex = JavaRegex::new("(a*)*\\1b(?=x)").unwrap();
    let error = regex.matches(&"a".repeat(40)).unwrap_err().to_string();
    assert!(error.contains("was given up"), "{error}");
}

#[test]
fn what_cannot_be_rewritten_is_refused() {
    for pattern in ["(?c)a", "\\X", "\\p{InGreek}", "\\N{DIGIT ONE}", "(?:a{10000}){10000}", "\\uD800"] {
        assert!(JavaRegex::new(pattern).is_err(), "{pattern}");
    }
}

proptest::proptest! {
    #[test]
    fn no_pattern_panics(pattern in "[\\\\\\[\\](){}^$.|?*+&pPQEbkxu0-9a-c<>:=!#, -]{0,24}", text in "[a-c0-2 ]{0,8}") {
        if let Ok(regex) = JavaRegex::new(&pattern) {
            let _outcome = regex.matches(&text);
            let _outcome = regex.find(&text);
        }
    }
}
