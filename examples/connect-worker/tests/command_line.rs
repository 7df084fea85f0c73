//! Goal: the program runs and says what it can, what it holds, and what is wrong with a configuration.
//! Method: the binary itself, as a user types it; nothing is started. That this package has an integration test also
//! makes `cargo test` build the binary, which the tests of the whole workspace then run as a process.
#![forbid(unsafe_code)]

use std::{
    fs,
    process::{Command, Output},
};

fn connect(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_connect")).args(arguments).output().expect("the program runs")
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("the program prints UTF-8")
}

#[test]
fn help_names_the_commands() {
    let help = stdout(&connect(&["--help"]));
    for command in ["standalone", "dev", "validate", "plugins", "config"] {
        assert!(help.contains(command), "{help}");
    }
}

#[test]
fn plugins_are_listed_under_the_names_that_configurations_may_have() {
    let table = stdout(&connect(&["plugins"]));
    assert!(table.contains("org.apache.kafka.connect.file.FileStreamSourceConnector"), "{table}");
    assert!(table.contains("org.apache.kafka.connect.transforms.Cast$Value"), "{table}");
    let json: serde_json::Value = serde_json::from_str(&stdout(&connect(&["plugins", "--format", "json"]))).unwrap();
    let of_kind = |kind: &str| json.as_array().unwrap().iter().filter(|p| p["type"] == kind).count();
    assert!(of_kind("source") >= 1 && of_kind("sink") >= 1 && of_kind("converter") >= 9, "{json:#}");
}

#[test]
fn the_keys_of_a_plugin_are_shown_and_an_unknown_plugin_is_named() {
    let markdown = stdout(&connect(&["config", "FileStreamSource", "--format", "markdown"]));
    assert!(markdown.contains("| `batch.size` | int | `2000` |"), "{markdown}");
    assert!(stdout(&connect(&["config", "--of", "standalone"])).contains("offset.storage.file.filename"));
    let unknown = connect(&["config", "FileStreamSurce"]);
    let said = String::from_utf8_lossy(&unknown.stderr).into_owned();
    assert!(!unknown.status.success() && said.contains("did you mean `FileStreamSource`"), "{said}");
    assert!(!connect(&["config"]).status.success(), "nothing was asked for");
}

#[test]
fn every_error_of_every_file_is_told() {
    let dir = tempfile::TempDir::new().unwrap();
    let file = |name: &str, text: &str| {
        let path = dir.path().join(name);
        fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let good = file("good.properties", "name=good\nconnector.class=FileStreamSource\ntopic=t\n");
    let bad = file("bad.properties", "name=bad\nconnector.class=FileStreamSource\ntasks.max=many\n");
    let unknown = file("unknown.json", r#"{"name": "unknown", "connector.class": "Nothing"}"#);
    let chain = file(
        "chain.properties",
        "name=chain\nconnector.class=FileStreamSource\ntopic=t\ntransforms=r,f\ntransforms.r.type=RegexRouter\n\
         transforms.r.regex=(\ntransforms.r.replacement=x\ntransforms.f.type=Filter\ntransforms.f.predicate=p\n",
    );
    let output = connect(&["validate", &good, &bad, &unknown, &chain]);
    let said = stdout(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    for text in [
        "good.properties: ok",
        "`tasks.max`: Invalid value many",
        "\"topic\"",
        "unknown connector class `Nothing`",
        "chain.properties: 2 error(s)",
        "`transforms.r.regex`: Invalid value ( for configuration regex: Invalid regex: Unclosed group",
        "`transforms.f.predicate`: Invalid value p for configuration transforms.f.predicate",
    ] {
        assert!(said.contains(text), "{text}: {said}");
    }
    let output = connect(&["validate", "--format", "json", &good]);
    let infos: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!((output.status.code(), &infos["error_count"]), (Some(0), &0.into()), "{infos:#}");
    assert_eq!(connect(&["validate", "no-such-file.properties"]).status.code(), Some(1));
}

#[test]
fn what_a_provider_gave_is_not_shown() {
    let dir = tempfile::TempDir::new().unwrap();
    let path = |name: &str| dir.path().join(name).display().to_string();
    fs::write(path("secrets"), "tasks=hunter2\n").unwrap();
    let worker = format!(
        "bootstrap.servers=127.0.0.1:1\nkey.converter=StringConverter\nvalue.converter=StringConverter\n\
         offset.storage.file.filename={}\nconfig.providers=file\n\
         config.providers.file.class=org.apache.kafka.common.config.provider.FileConfigProvider\n",
        path("offsets")
    );
    fs::write(path("worker"), worker).unwrap();
    let connector =
        format!("name=c\nconnector.class=FileStreamSource\ntopic=t\ntasks.max=${{file:{}:tasks}}\n", path("secrets"));
    fs::write(path("c"), connector).unwrap();
    for format in ["table", "json"] {
        let output = connect(&["validate", "--worker", &path("worker"), "--format", format, &path("c")]);
        let said = stdout(&output) + &String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains("tasks.max") && !said.contains("hunter2"), "{said}");
    }
}
