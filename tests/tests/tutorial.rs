//! Goal: the tutorials show code that compiles, passes its tests and runs. Method: their blocks are compared with
//! `examples/first-connector` and `examples/first-transformation`, which the workspace builds and tests.
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

/// The blocks that show files: those in Rust, and cases of fixture files, begin with the file's name.
fn shown_files(text: &str) -> Vec<(String, String)> {
    let shown = blocks(text).into_iter().filter(|(language, _)| ["rust", "json"].contains(language));
    let split = |(language, content): (&str, String)| {
        let (first, rest) = content.split_once('\n').unwrap();
        let mark = if language == "rust" { "// " } else { "# " };
        let path = first.strip_prefix(mark).unwrap_or_else(|| panic!("a block does not begin with its file: {first}"));
        (path.to_owned(), rest.to_owned())
    };
    shown.map(split).collect()
}

#[test]
fn the_code_of_the_tutorials_is_that_of_the_examples() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    for (page, example, n) in
        [("tutorial.md", "first-connector", 6), ("write-a-transformation.md", "first-transformation", 8)]
    {
        let text = fs::read_to_string(root.join("docs").join(page)).unwrap();
        let files = shown_files(&text);
        for (path, shown) in &files {
            let file = root.join("examples").join(example).join(path);
            let content = fs::read_to_string(&file).unwrap_or_else(|e| panic!("{page}: {path}: {e}"));
            assert!(*shown == content, "the block of `{path}` in {page} differs from examples/{example}/{path}");
        }
        assert_eq!(files.len(), n, "files that {page} shows");
    }
}
