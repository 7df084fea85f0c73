//! Goal: the tutorial shows code that compiles, passes its tests and runs. Method: its blocks are compared with
//! `examples/first-connector`, which the workspace builds and tests.
#![forbid(unsafe_code)]

use std::{fs, path::Path};

/// The blocks of a Markdown text: language and content.
fn blocks(text: &str) -> Vec<(&str, String)> {
    let mut found = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(language) = line.strip_prefix("```").filter(|l| !l.is_empty()) {
            let content: Vec<&str> = lines.by_ref().take_while(|l| *l != "```").collect();
            found.push((language, content.join("\n") + "\n"));
        }
    }
    found
}

#[test]
fn the_tutorials_code_is_the_example() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let tutorial = fs::read_to_string(root.join("docs/tutorial.md")).unwrap();
    let mut n = 0;
    for (_, content) in blocks(&tutorial).into_iter().filter(|(language, _)| *language == "rust") {
        let (first, code) = content.split_once('\n').unwrap();
        let path = first.strip_prefix("// ").unwrap_or_else(|| panic!("a block does not begin with its file: {first}"));
        let file = root.join("examples/first-connector").join(path);
        let example = fs::read_to_string(&file).unwrap_or_else(|e| panic!("{path}: {e}"));
        assert!(code == example, "the block of `{path}` differs from examples/first-connector/{path}");
        n += 1;
    }
    assert_eq!(n, 6, "six files are shown");
}
