//! Login modules of `sasl.jaas.config`: no text makes the parser panic, and options are read as they were written.
#![no_main]

use connect_fuzz::login_options;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (&str, &str)| {
    let (text, other) = input;
    let _read = login_options(text, &["username", "password"]);
    let quoted = |text: &str, quote: char| {
        let escaped: String = text.chars().flat_map(|c| ['\\', c].into_iter().skip(usize::from(c != '\\' && c != quote))).collect();
        format!("{quote}{escaped}{quote}")
    };
    let module = format!("a.b.Login required one={} two = {};", quoted(text, '"'), quoted(other, '\''));
    let read = login_options(&module, &["one", "two"]).expect("what was written can be read");
    assert_eq!(read, [Some(text.to_owned()), Some(other.to_owned())]);
});
