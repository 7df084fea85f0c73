//! What the compiler answers to mistakes: one file a mistake in `tests/ui`, with the errors that it must give.
//!
//! A line is marked with `//~ ERROR text` or `//~ WARN text`; a `^` behind the tilde points one line up. The number of
//! messages, their lines and their texts must agree; `text` is a part of the message, its labels, notes or helps. A file
//! without marks must compile without a word. Lines below the title of a file can ask for more:
//!
//! ```text
//! // with: --test          passes arguments to the compiler
//! // as: my_sdk            names connect-sdk differently
//! // clippy                asks clippy instead of rustc
//! ```
//!
//! The compiler is called directly, without a package for each file: some hundred files take seconds. Set `UI_CASES` to a
//! part of their paths to check only these, and `UI_SHOW` to see what the compiler says.

#![expect(clippy::unwrap_used, clippy::print_stderr, reason = "helpers of tests, outside of test functions")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, fs, thread};

use serde_json::Value;

const PACKAGE: &str = env!("CARGO_MANIFEST_DIR");
/// What every file may use: a configuration, a partition and an offset.
const GIVEN: &str = "tests/ui/given.rs";

#[test]
fn mistakes_are_reported_once_where_they_are() {
    let tools = Tools::find();
    let wanted = env::var("UI_CASES").unwrap_or_default();
    let mut cases = Vec::new();
    collect(&Path::new(PACKAGE).join("tests/ui"), &mut cases);
    cases.retain(|case| case.to_string_lossy().contains(&wanted));
    assert!(!cases.is_empty(), "no file in tests/ui has `{wanted}` in its path");
    let (next, failures) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(failure) = tools.check(case) {
                        failures.lock().unwrap().push(failure);
                    }
                }
            });
        }
    });
    let mut failures = failures.into_inner().unwrap();
    failures.sort();
    assert!(failures.is_empty(), "{} of {} cases failed\n\n{}", failures.len(), cases.len(), failures.join("\n"));
}

/// All cases below a folder: the files in its folders, not those at its top.
fn collect(folder: &Path, cases: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, cases);
        } else if path.extension().is_some_and(|extension| extension == "rs") && path.parent() != Some(&*ui()) {
            cases.push(path);
        }
    }
}

fn ui() -> PathBuf {
    Path::new(PACKAGE).join("tests/ui")
}

/// The compilers, and the libraries that cases use.
struct Tools {
    rustc: PathBuf,
    clippy: PathBuf,
    sdk: PathBuf,
    given: PathBuf,
    out: PathBuf,
}

/// A message that is expected or was given: on which line, whether it is an error, its text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Message {
    line: u64,
    level: String,
    text: String,
}

impl Tools {
    fn find() -> Self {
        let rustc = PathBuf::from(env::var_os("RUSTC").unwrap_or("rustc".into()));
        let sysroot = Command::new(&rustc).args(["--print", "sysroot"]).output().expect("rustc runs");
        let clippy = Path::new(String::from_utf8_lossy(&sysroot.stdout).trim()).join("bin/clippy-driver");
        assert!(clippy.is_file(), "the toolchain has no clippy: `rustup component add clippy`");
        let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ui");
        fs::create_dir_all(&out).unwrap();
        let mut tools = Self { rustc, clippy, sdk: built_sdk(), given: PathBuf::new(), out };
        let given = Command::new(&tools.rustc)
            .args(["--edition=2024", "--crate-name=given", "--crate-type=rlib", "--emit=metadata", "--cap-lints=allow"])
            .args(tools.libraries("connect_sdk"))
            .arg(Path::new(PACKAGE).join(GIVEN))
            .arg("--out-dir")
            .arg(&tools.out)
            .output()
            .expect("rustc runs");
        assert!(given.status.success(), "{}", String::from_utf8_lossy(&given.stderr));
        tools.given = tools.out.join("libgiven.rmeta");
        tools
    }

    /// The arguments that make connect-sdk known under a name.
    fn libraries(&self, name: &str) -> [String; 4] {
        // What the library needs lies beside it, or in `deps` if cargo has brought it up.
        let folder = self.sdk.parent().expect("the library is in a folder");
        let folder = if folder.ends_with("deps") { folder.to_owned() } else { folder.join("deps") };
        let folder = format!("dependency={}", folder.display());
        ["-L".into(), folder, "--extern".into(), format!("{name}={}", self.sdk.display())]
    }

    fn check(&self, case: &Path) -> Result<(), String> {
        let source = fs::read_to_string(case).unwrap();
        let shown = case.strip_prefix(ui()).unwrap().display().to_string();
        let said = self.compile(case, &source, &shown);
        let expected = expected(&source);
        let mut open = said.clone();
        let mut missing = Vec::new();
        for wanted in expected {
            let same = |m: &Message| m.line == wanted.line && m.level == wanted.level && m.text.contains(&wanted.text);
            match open.iter().position(same) {
                Some(at) => drop(open.remove(at)),
                None => missing.push(wanted),
            }
        }
        if open.is_empty() && missing.is_empty() {
            return Ok(());
        }
        let list = |messages: &[Message]| {
            messages.iter().map(|m| format!("    {}: {}: {}\n", m.line, m.level, m.text)).collect::<String>()
        };
        Err(format!("{shown}\n  expected, not said:\n{}  said, not expected:\n{}", list(&missing), list(&open)))
    }

    fn compile(&self, case: &Path, source: &str, shown: &str) -> Vec<Message> {
        let directives =
            || source.lines().take_while(|line| line.starts_with("//")).filter_map(|line| line.strip_prefix("// "));
        let value = |name: &str| directives().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        let compiler = if directives().any(|line| line == "clippy") { &self.clippy } else { &self.rustc };
        let output = Command::new(compiler)
            .args(["--edition=2024", "--crate-name=case", "--crate-type=lib", "--emit=metadata", "--error-format=json"])
            .args(["-Adead_code", "-Aunused_variables", "-Aunused_imports"])
            .args(self.libraries(value("as").unwrap_or("connect_sdk")))
            .args(["--extern", &format!("given={}", self.given.display())])
            .args(value("with").unwrap_or_default().split_whitespace())
            .arg("-o")
            .arg(self.out.join(shown.replace(['/', '\\'], "-")).with_extension("rmeta"))
            .arg(case)
            .env_remove("CARGO_PKG_VERSION")
            .env("CLIPPY_CONF_DIR", Path::new(PACKAGE).join("tests/ui"))
            .output()
            .expect("the compiler runs");
        let text = String::from_utf8_lossy(&output.stderr);
        let messages: Vec<Value> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        if env::var_os("UI_SHOW").is_some() {
            for message in &messages {
                eprintln!("{}", message["rendered"].as_str().unwrap_or_default());
            }
        }
        assert!(output.status.success() || !messages.is_empty(), "{shown}: {text}");
        messages.iter().filter_map(said).collect()
    }
}

/// The library that `cargo test` has just built, by asking cargo, which finds it fresh.
fn built_sdk() -> PathBuf {
    let cargo = env::var_os("CARGO").unwrap_or("cargo".into());
    let output = Command::new(cargo)
        .args(["build", "--package=connect-sdk", "--lib", "--offline", "--quiet", "--message-format=json"])
        .arg("--target-dir")
        .arg(Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("it is in the target folder"))
        .current_dir(PACKAGE)
        .output()
        .expect("cargo runs");
    let text = String::from_utf8_lossy(&output.stdout);
    let library = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()).find_map(|message| {
        let is_sdk = message["target"]["name"] == "connect_sdk" && message["target"]["kind"][0] == "lib";
        let files = message["filenames"].as_array().filter(|_| is_sdk)?;
        files.iter().filter_map(Value::as_str).find(|file| file.ends_with(".rlib")).map(PathBuf::from)
    });
    library.unwrap_or_else(|| panic!("connect-sdk was not built: {}", String::from_utf8_lossy(&output.stderr)))
}

/// The marks in a file.
fn expected(source: &str) -> Vec<Message> {
    let mut messages = Vec::new();
    for (line, text) in (1..).zip(source.lines()) {
        for mark in text.split("//~").skip(1) {
            let up = mark.chars().take_while(|c| *c == '^').count();
            let mark = mark.trim_start_matches('^').trim();
            let (level, text) = mark.split_once(' ').unwrap_or((mark, ""));
            let level = match level {
                "ERROR" => "error",
                "WARN" => "warning",
                other => panic!("`//~ {other}`: write `ERROR` or `WARN`"),
            };
            messages.push(Message { line: line - up as u64, level: level.into(), text: text.trim().into() });
        }
    }
    messages
}

/// A message of the compiler, if it is about the file.
fn said(message: &Value) -> Option<Message> {
    let level = message["level"].as_str()?;
    if !matches!(level, "error" | "warning") {
        return None;
    }
    let spans = message["spans"].as_array()?;
    let text = message["message"].as_str()?;
    if spans.is_empty()
        && (text.starts_with("aborting due to")
            || text.contains("warning emitted")
            || text.contains("warnings emitted"))
    {
        return None;
    }
    // Code of a macro stands where the macro was called.
    let root = |span: &Value| {
        let mut span = span;
        while span["expansion"].is_object()
            && !span["file_name"].as_str().is_some_and(|file| file.contains("/tests/ui/"))
        {
            span = &span["expansion"]["span"];
        }
        span["line_start"].as_u64().unwrap_or_default()
    };
    let line = spans.iter().find(|span| span["is_primary"] == true).map_or(0, root);
    let mut parts = vec![text.to_owned()];
    parts.extend(spans.iter().filter_map(|span| span["label"].as_str()).map(str::to_owned));
    let children = message["children"].as_array().into_iter().flatten();
    parts.extend(children.filter_map(|child| child["message"].as_str()).map(str::to_owned));
    Some(Message { line, level: level.into(), text: parts.join(" | ").replace('\n', " ") })
}

#[test]
fn every_mistake_has_a_file_of_its_own() {
    let mut cases = Vec::new();
    collect(&ui(), &mut cases);
    let mut by_folder: BTreeMap<String, usize> = BTreeMap::new();
    for case in &cases {
        let folder =
            case.strip_prefix(ui()).unwrap().components().next().unwrap().as_os_str().to_string_lossy().into_owned();
        let has_marks = fs::read_to_string(case).unwrap().contains("//~");
        assert_eq!(has_marks, folder != "pass", "{}", case.display());
        *by_folder.entry(folder).or_default() += 1;
    }
    println!("{by_folder:?}");
}
