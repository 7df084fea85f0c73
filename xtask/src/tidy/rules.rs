//! The rules of the house as checks over the text of the sources: who may name whom, how files open, how long they are.

use std::path::Path;

use super::Finding;
use super::source::{SourceFile, files, identifiers, rust_files};
use crate::error::Result;
use crate::repo;

/// A longer file is mentioned: it may hold a second subject.
const LINES_NOTE: usize = 500;
/// A longer file is refused.
const LINES_MAX: usize = 800;

/// Crates that only some folders may name.
const CONFINED: [(&str, &[&str]); 4] = [
    ("rdkafka", &["connect-runtime/src/kafka/", "connect-runtime/src/kafka.rs", "tests/"]),
    ("rdkafka_sys", &["connect-runtime/src/kafka/", "connect-runtime/src/kafka.rs", "tests/src/bin/bench/"]),
    ("kafka_protocol", &["connect-runtime/src/kafka/", "connect-runtime/src/kafka.rs"]),
    ("axum", &["connect-runtime/src/rest/", "connect-runtime/src/rest.rs"]),
];

/// What connect-sdk names nowhere outside of its test kit: an author's crate stays free of executor and client.
const NOT_IN_SDK: [&str; 4] = ["tokio", "rdkafka", "axum", "serde_json"];

/// The rooms of connect-runtime, lowest floor first. A room uses rooms on lower floors only; those of the lowest floor
/// use each other.
const FLOORS: [&[&str]; 8] = [
    &["config", "status", "id", "clock", "error", "crash_point"],
    &["plugins", "converters", "kafka", "metrics"],
    &["errors"],
    &["storage", "transforms"],
    &["worker", "group"],
    &["herder"],
    &["rest"],
    &["cli"],
];

/// Rooms that use nothing of the worker: they prove that what an author can use is enough.
const SDK_ONLY: [&str; 2] = ["transforms", "converters"];

pub(super) fn check() -> Result<Vec<Finding>> {
    let root = repo::root();
    let mut findings: Vec<Finding> = rust_files(&root)?.iter().flat_map(check_file).collect();
    for (path, text) in files(&root, ".md")? {
        findings.extend(dead_links(&root, &path, &text));
    }
    Ok(findings)
}

fn check_file(file: &SourceFile) -> Vec<Finding> {
    // A misuse that must not compile is written as an author would write it; expansions are written by the macros.
    if file.path.contains("/ui/") || file.path.contains("/expansions/") {
        return Vec::new();
    }
    let rules = [opening, length, unfinished, forbids_unsafe, confined, sdk_names, floors, sleeps];
    rules.iter().flat_map(|rule| rule(file)).collect()
}

fn error(place: String, text: impl Into<String>) -> Finding {
    Finding { place, text: text.into(), is_note: false }
}

fn opening(file: &SourceFile) -> Vec<Finding> {
    let opens = file.text.starts_with("//! ");
    let finding = || error(file.place(0), "the file does not open with a `//!` sentence that says what lives here");
    (!opens).then(finding).into_iter().collect()
}

fn length(file: &SourceFile) -> Vec<Finding> {
    let lines = file.text.lines().count();
    let text = format!("{lines} lines; near {LINES_NOTE} ask what the second subject is, {LINES_MAX} is the limit");
    let finding = Finding { place: file.path.clone(), text, is_note: lines <= LINES_MAX };
    (lines > LINES_NOTE).then_some(finding).into_iter().collect()
}

fn unfinished(file: &SourceFile) -> Vec<Finding> {
    let words = ["TODO", "FIXME", "XXX", "HACK"];
    let found = identifiers(&file.comments).filter(|(_, word)| words.contains(word));
    found
        .map(|(at, word)| error(file.place(at), format!("`{word}`: finish it or file it, but do not leave it")))
        .collect()
}

fn forbids_unsafe(file: &SourceFile) -> Vec<Finding> {
    let is_root = file.path.ends_with("/src/lib.rs") || file.path.ends_with("/src/main.rs");
    // One file of connect-runtime calls librdkafka itself, and `forbid` cannot be lifted for a file.
    let exempt = file.path.starts_with("connect-runtime/");
    let missing = is_root && !exempt && !file.code.contains("#![forbid(unsafe_code)]");
    missing.then(|| error(file.place(0), "the crate root lacks `#![forbid(unsafe_code)]`")).into_iter().collect()
}

fn confined(file: &SourceFile) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (name, homes) in CONFINED {
        if homes.iter().any(|home| file.path.starts_with(home)) {
            continue;
        }
        let found = identifiers(file.product_code()).filter(|(_, word)| *word == name);
        findings
            .extend(found.map(|(at, _)| error(file.place(at), format!("only {} may name `{name}`", homes.join(", ")))));
    }
    findings
}

fn sdk_names(file: &SourceFile) -> Vec<Finding> {
    let in_sdk = file.path.starts_with("connect-sdk/src/");
    if !in_sdk || file.path.starts_with("connect-sdk/src/testkit") {
        return Vec::new();
    }
    let found = identifiers(file.product_code()).filter(|(_, word)| NOT_IN_SDK.contains(word));
    found.map(|(at, word)| error(file.place(at), format!("connect-sdk names `{word}` in its test kit only"))).collect()
}

fn floors(file: &SourceFile) -> Vec<Finding> {
    let Some(inside) = file.path.strip_prefix("connect-runtime/src/") else { return Vec::new() };
    let room = inside.split('/').next().unwrap_or_default().trim_end_matches(".rs");
    if matches!(room, "lib" | "main") {
        return Vec::new();
    }
    let Some(floor) = floor_of(room) else {
        let text =
            format!("room `{room}` has no floor yet: give it one in ARCHITECTURE.md and in xtask/src/tidy/rules.rs");
        return vec![error(file.place(0), text)];
    };
    // Names that are not rooms are what the crate root exports or macros.
    let used = used_rooms(inside, file.product_code());
    let wrong = used.into_iter().filter_map(|(at, other)| {
        let other_floor = floor_of(other)?;
        let is_fine = other == room || other_floor < floor || (floor == 0 && other_floor == 0);
        let text = if SDK_ONLY.contains(&room) && other != room {
            format!("room `{room}` uses connect-sdk only, not room `{other}`")
        } else if !is_fine {
            format!("room `{room}` may use rooms on lower floors only, and `{other}` is not on one")
        } else {
            return None;
        };
        Some(error(file.place(at), text))
    });
    wrong.collect()
}

fn floor_of(room: &str) -> Option<usize> {
    FLOORS.iter().position(|rooms| rooms.contains(&room))
}

/// The names right below the crate root that a file of connect-runtime uses by `crate::` or by enough `super::`.
fn used_rooms<'c>(inside: &str, code: &'c str) -> Vec<(usize, &'c str)> {
    let depth = inside.trim_end_matches(".rs").trim_end_matches("/mod").split('/').count();
    let up = "super::".repeat(depth);
    let mut used = Vec::new();
    for prefix in ["crate::", &up] {
        for (at, _) in code.match_indices(prefix) {
            let before = code[..at].chars().next_back();
            if before.is_some_and(|c| c == '_' || c == ':' || c.is_alphanumeric()) {
                continue;
            }
            let start = at + prefix.len();
            match code[start..].strip_prefix('{') {
                Some(list) => used.extend(list_heads(list).map(|(offset, name)| (start + 1 + offset, name))),
                None => used.extend(identifiers(&code[start..]).next().map(|(offset, name)| (start + offset, name))),
            }
        }
    }
    used
}

/// The first name of each entry of a `use` list; the text starts behind its brace.
fn list_heads(list: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut depth = 1_usize;
    let mut heads = vec![0];
    for (at, c) in list.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 1 => heads.push(at + 1),
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    heads.into_iter().filter_map(move |at| identifiers(&list[at..]).next().map(|(offset, name)| (at + offset, name)))
}

fn sleeps(file: &SourceFile) -> Vec<Finding> {
    let code = file.test_code();
    // Where the clock is paused, sleeping takes no time and is exact.
    let paused = code.contains("start_paused");
    let found = identifiers(code).filter(|(at, word)| {
        let is_call = code[at + word.len()..].starts_with('(');
        let of_thread = code[..*at].ends_with("thread::");
        *word == "sleep" && is_call && (of_thread || !paused) && !code[..*at].ends_with("fn ")
    });
    let text = "a test waits for a condition with a deadline, it does not sleep";
    found.map(|(at, _)| error(file.test_place(at), text)).collect()
}

/// Links of a Markdown file to files that are not there.
fn dead_links(root: &Path, path: &str, text: &str) -> Vec<Finding> {
    let folder = root.join(path).parent().unwrap_or(root).to_path_buf();
    let mut findings = Vec::new();
    for (number, line) in text.lines().enumerate() {
        for (at, _) in line.match_indices("](") {
            let target = line[at + 2..].split([')', ' ', '#']).next().unwrap_or_default();
            let is_file = !target.is_empty() && !target.contains("://") && !target.starts_with("mailto:");
            if is_file && !folder.join(target).exists() {
                findings.push(error(format!("{path}:{}", number + 1), format!("no file `{target}`")));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(path: &str, text: &str) -> Vec<String> {
        let file = SourceFile::new(path.to_owned(), format!("//! Text.\n{text}"));
        check_file(&file).into_iter().filter(|finding| !finding.is_note).map(|finding| finding.place).collect()
    }

    #[test]
    fn each_rule_finds_its_breach_and_nothing_else() {
        let breaches = [
            ("connect-sdk/src/source.rs", "use tokio::time;"),
            ("connect-sdk/src/source.rs", "fn f() { serde_json::to_string(&1); }"),
            ("connect-runtime/src/worker/a.rs", "use rdkafka::Message;"),
            ("xtask/src/a.rs", "use rdkafka::Message;"),
            ("connect-runtime/src/storage/a.rs", "use crate::worker::Worker;"),
            ("connect-runtime/src/storage/a.rs", "use crate::{config::A, worker::{B, C}};"),
            ("connect-runtime/src/storage/a.rs", "use super::super::herder::B;"),
            ("connect-runtime/src/worker/a.rs", "use crate::group::B;"),
            ("connect-runtime/src/converters/a.rs", "use crate::config::A;"),
            ("connect-runtime/src/attic/a.rs", "fn f() {}"),
            ("connect-sdk/src/a.rs", "// TODO later"),
            ("connect-macros/src/lib.rs", "fn f() {}"),
            ("connect-sdk/tests/a.rs", "fn f() { std::thread::sleep(d); }"),
            ("connect-sdk/src/a.rs", "#[cfg(test)]\nmod tests { async fn f() { sleep(d).await; } }"),
        ];
        for (path, text) in breaches {
            assert_eq!(places(path, text).len(), 1, "{path}: {text}");
        }
        let fine = [
            ("connect-sdk/src/testkit/a.rs", "use tokio::time;"),
            ("connect-sdk/src/a.rs", "/// Not tokio.\n/* rdkafka */ const A: &str = \"serde_json\";"),
            ("connect-sdk/src/a.rs", "#[cfg(test)]\nmod tests { use tokio::test; }"),
            ("connect-runtime/src/kafka/a.rs", "use rdkafka::Message;"),
            ("tests/src/a.rs", "use rdkafka::Message;"),
            ("connect-runtime/src/worker/a.rs", "use crate::{config, kafka::{A, B}, worker::C};"),
            ("connect-runtime/src/config/a.rs", "use crate::error::E; use super::b;"),
            ("connect-runtime/src/converters/a.rs", "use crate::converters::b; use connect_sdk::C;"),
            ("connect-runtime/src/lib.rs", "pub use crate::cli::main;"),
            ("connect-macros/src/lib.rs", "#![forbid(unsafe_code)]"),
            ("connect-sdk/tests/a.rs", "#[tokio::test(start_paused = true)] async fn f() { sleep(d).await; }"),
            ("connect-macros/tests/ui/a.rs", "// TODO"),
        ];
        for (path, text) in fine {
            assert_eq!(places(path, text), [""; 0], "{path}: {text}");
        }
    }

    #[test]
    fn a_breach_is_shown_with_its_line() {
        assert_eq!(places("connect-sdk/src/a.rs", "\n// TODO\n"), ["connect-sdk/src/a.rs:3"]);
        let file = SourceFile::new("a/src/b.rs".to_owned(), "fn f() {}\n".to_owned());
        assert_eq!(check_file(&file).len(), 1);
    }

    #[test]
    fn long_files_are_noted_and_too_long_ones_refused() {
        let lines = |n: usize| SourceFile::new("a/src/b.rs".to_owned(), format!("//! A.\n{}", "\n".repeat(n - 1)));
        assert!(check_file(&lines(LINES_NOTE)).is_empty());
        assert!(check_file(&lines(LINES_NOTE + 1))[0].is_note);
        assert!(!check_file(&lines(LINES_MAX + 1))[0].is_note);
    }

    #[test]
    fn links_to_files_that_are_not_there_are_found() {
        let text = "[a](Cargo.toml#x) [b](https://example.org/x) [c](#part)\n[d](absent.md)";
        let places: Vec<_> = dead_links(&repo::root(), "README.md", text).into_iter().map(|f| f.place).collect();
        assert_eq!(places, ["README.md:2"]);
    }
}
