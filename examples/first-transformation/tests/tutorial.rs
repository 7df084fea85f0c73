//! Goal: what the tutorial says happens. Method: the properties and commands of `docs/write-a-transformation.md`, run as its
//! reader runs them, on the broker that `dev` has inside.
#![forbid(unsafe_code)]

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

const PROGRAM: &str = env!("CARGO_BIN_EXE_first-transformation");
const PATIENCE: Duration = Duration::from_secs(60);

/// Writes the files that the tutorial shows as properties; each begins with its name.
fn write_properties(dir: &Path) {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/write-a-transformation.md");
    let page = fs::read_to_string(page).expect("the tutorial is there");
    let mut n = 0;
    for block in page.split("```properties\n").skip(1) {
        let block = block.split("```").next().unwrap_or_default();
        let name = block.lines().next().and_then(|line| line.strip_prefix("# ")).expect("a block begins with its name");
        fs::write(dir.join(name), block).expect("a temporary folder can be written to");
        n += 1;
    }
    assert_eq!(n, 2, "the tutorial shows two files");
}

#[test]
fn the_files_of_the_tutorial_are_valid_and_do_what_it_says() {
    let dir = tempfile::tempdir().unwrap();
    write_properties(dir.path());
    let run = |arguments: &[&str]| {
        let mut command = Command::new(PROGRAM);
        command.args(arguments).current_dir(dir.path()).stdin(Stdio::null());
        command
    };
    let valid = run(&["validate", "source.properties", "sink.properties"]).output().unwrap();
    assert!(valid.status.success(), "{}", String::from_utf8_lossy(&valid.stdout));

    let source = fs::read_to_string(dir.path().join("source.properties")).unwrap();
    fs::write(dir.path().join("bad.properties"), source.replace("max.chars=10", "max.chars=0")).unwrap();
    let bad = run(&["validate", "bad.properties"]).output().unwrap();
    let said = String::from_utf8_lossy(&bad.stdout).into_owned();
    assert!(!bad.status.success() && said.contains("transforms.short.max.chars"), "{said}");

    fs::write(dir.path().join("input.txt"), "a line\n \na line that is rather long\n").unwrap();
    let log = fs::File::create(dir.path().join("log")).unwrap();
    let mut dev = run(&["dev", "source.properties", "sink.properties"])
        .stdout(log.try_clone().unwrap())
        .stderr(log)
        .spawn()
        .unwrap();
    let deadline = Instant::now() + PATIENCE;
    let output = dir.path().join("output.txt");
    let come = loop {
        let text = fs::read_to_string(&output).unwrap_or_default();
        if text.lines().count() >= 2 || Instant::now() > deadline || dev.try_wait().unwrap().is_some() {
            break text;
        }
        thread::park_timeout(Duration::from_millis(20));
    };
    dev.kill().unwrap();
    dev.wait().unwrap();
    let log = fs::read_to_string(dir.path().join("log")).unwrap();
    assert_eq!(come, "a line\na line tha...\n", "{log}");
}
