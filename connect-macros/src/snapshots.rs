//! What the macros write, as formatted files in `tests/expansions`: to be read, and to see in a review what a change does.
//!
//! Run the test with `UPDATE_EXPANSIONS=1` to write the files again.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::{env, fs};

use proc_macro2::TokenStream;

use crate::plugin::Kind;

const SOURCE: &str = r#"
/// Counts.
impl Source for Nums {
    type Config = Settings;
    type Partition = Part;
    type Offset = At;

    async fn poll(&mut self, out: &mut Batch<Self>) -> Result<()> {
        Ok(())
    }
}
"#;
const SINK: &str = r"
/// Prints record values.
impl DirectSink for Print {
    type Config = Settings;

    async fn put(&mut self, records: &[SinkRecord], _: &mut PutCx) -> Result<()> {
        Ok(())
    }
}
";
const FUNCTION: &str = r"
/// Makes text upper case.
pub fn upper(config: &Settings, part: Part, mut record: ConnectRecord) -> Result<ConnectRecord, DataError> {
    Ok(record)
}
";
const PREDICATE: &str = r"
impl Predicate for Sample {
    type Config = Settings;
}
";
const CONVERTER: &str = r"
/// Hexadecimal text.
impl Converter for Hex {
    type Config = ();
}
";
const OFFSET: &str = r#"
#[offset(lock = "offsets.lock")]
struct Pos {
    position: i64,
    #[offset(default = 0)]
    epoch: i32,
    #[offset(rename = "etag")]
    tag: Option<String>,
}
"#;
const PARTITION: &str = "struct InFile { filename: String }";
const CONFIG: &str = r"
#[config(check = whole)]
struct Settings {
    /// The file to append to.
    path: PathBuf,
    /// Write once this many records
    /// have come together.
    #[config(default = 1000, range = 1.., importance = low)]
    flush_size: usize,
    /// How to write.
    #[config(default = Mode::Append)]
    mode: Mode,
}
";
const ENUM: &str = "enum Mode { Append, ReadCommitted }";
const DATA: &str = r#"
#[serde(rename_all = "camelCase")]
struct Order {
    order_id: i64,
    #[connect(scale = 2)]
    price: Decimal,
    #[serde(default)]
    note: String,
    #[serde(skip)]
    cache: Cache,
}
"#;
const CHOICE: &str = "enum Pay { Card(String), Transfer { iban: String }, Cash }";
const NAMES: &str = "enum State { Open, Closed }";

#[test]
fn expansions_are_as_reviewed() {
    let tokens = |text: &str| text.parse::<TokenStream>().unwrap();
    let source_args = r#"name = "nums", exactly_once = supported, replay_test = fixture, on_commit = Cleaner"#;
    let plugin = |kind, args, item| crate::plugin::attribute(kind, tokens(args), &tokens(item));
    let cases = [
        ("source_connector", crate::connector::source(tokens(source_args), &tokens(SOURCE))),
        ("sink_connector", crate::connector::sink(tokens(r#"name = "print", version = "1.2.3""#), &tokens(SINK))),
        ("transformation", plugin(Kind::Transformation, r#"java = "org.example.Upper""#, FUNCTION)),
        ("predicate", plugin(Kind::Predicate, "", PREDICATE)),
        ("converter", plugin(Kind::Converter, r#"name = "Hex", java = "org.example.HexConverter""#, CONVERTER)),
        ("source_offset", crate::offset::derive(crate::offset::Role::Offset, tokens(OFFSET))),
        ("source_partition", crate::offset::derive(crate::offset::Role::Partition, tokens(PARTITION))),
        ("connector_config", crate::config::derive(tokens(CONFIG))),
        ("config_enum", crate::config::derive_enum(tokens(ENUM))),
        ("connect_data_struct", crate::data::derive(tokens(DATA))),
        ("connect_data_enum", crate::data::derive(tokens(CHOICE))),
        ("connect_data_names", crate::data::derive(tokens(NAMES))),
    ];
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/expansions");
    let update = env::var_os("UPDATE_EXPANSIONS").is_some();
    let mut changed = String::new();
    for (name, expanded) in cases {
        let file = folder.join(name).with_extension("rs");
        let new = format!(
            "//! What the macro writes; `p` stands for `::connect_sdk::__private`.\n\n{}",
            formatted(&expanded)
        );
        if update {
            fs::create_dir_all(&folder).unwrap();
            fs::write(&file, new).unwrap();
        } else if fs::read_to_string(&file).unwrap_or_default() != new {
            write!(changed, "\n--- {} is not what is written now:\n{new}", file.display()).unwrap();
        }
    }
    assert!(changed.is_empty(), "set UPDATE_EXPANSIONS=1 to accept{changed}");
}

fn formatted(code: &TokenStream) -> String {
    let mut rustfmt = Command::new("rustfmt")
        .args(["--edition=2024", "--config=max_width=120,use_small_heuristics=Max"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("rustfmt runs: `rustup component add rustfmt`");
    // The path of the private module hides what is done; the tests of hygiene use it unshortened.
    let text = code.to_string().replace(":: connect_sdk :: __private ::", "p ::");
    rustfmt.stdin.take().expect("it is piped").write_all(text.as_bytes()).unwrap();
    let output = rustfmt.wait_with_output().unwrap();
    assert!(output.status.success(), "{text}");
    String::from_utf8(output.stdout).unwrap()
}
