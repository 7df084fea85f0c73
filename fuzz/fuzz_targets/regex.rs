//! Java's regular expressions: no pattern, text and replacement make translation or matching panic or run for ever.
#![no_main]

use connect_sdk::java::regex::JavaRegex;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (&str, &str, &str)| {
    let (pattern, text, replacement) = input;
    let Ok(regex) = JavaRegex::new(pattern) else { return };
    // A match that would take too long is an error.
    let (matches, found) = (regex.matches(text), regex.find(text));
    if let (Ok(true), Ok(found)) = (&matches, &found) {
        assert!(found, "`{pattern}` matches `{text}` as a whole, but not a part of it");
    }
    let Ok(replacement) = regex.replacement(replacement) else { return };
    let (first, all) = (regex.replace_first(text, &replacement), regex.replace_all(text, &replacement));
    if found == Ok(false) {
        assert_eq!((first.as_deref(), all.as_deref()), (Ok(text), Ok(text)), "`{pattern}`");
    }
});
