//! How long the JSON converter takes for a record, printed: `cargo run --release -p connect-runtime --example
//! converters_bench`.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::{Duration, Instant};

use bytes::Bytes;
use connect_runtime::converters;
use connect_sdk::converter::{BoxConverter, ConverterKind};
use connect_sdk::data::{DataError, Schema, SchemaBuilder, Struct, Timestamp, Value};
use connect_sdk::source::PayloadRef;

/// How long each case runs.
const CASE_DURATION: Duration = Duration::from_millis(300);
/// How many records are converted between two looks at the clock.
const BATCH: u32 = 1000;

fn json(settings: &[(&str, &str)]) -> BoxConverter {
    let settings: BTreeMap<String, String> =
        settings.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let class = converters::classes().into_iter().find(|class| class.class.ends_with(".JsonConverter"));
    let make = class.and_then(|class| class.converter).expect("the class converts keys and values");
    make(&settings, ConverterKind::Value).expect("the settings are sound")
}

fn order() -> Result<(Schema, Value), DataError> {
    let schema = SchemaBuilder::struct_()
        .name("com.example.Order")
        .field("id", Schema::int64())
        .field("customer", Schema::string())
        .field("price", Schema::float64())
        .field("quantity", Schema::int32())
        .field("paid", Schema::boolean())
        .field("note", Schema::optional_string())
        .field("at", Schema::timestamp())
        .field("tags", Schema::array(Schema::string()))
        .build()?;
    let mut order = Struct::new(schema.clone())?;
    order.put("id", 123_456_789i64)?.put("customer", "Ann Smith, 12 Long Road, Springfield")?.put("price", 19.99)?;
    order.put("quantity", 3)?.put("paid", true)?.put("at", Timestamp::from_epoch_millis(1_600_000_000_123))?;
    order.put("tags", vec!["new", "gift"])?;
    Ok((schema, order.into()))
}

/// Calls `run` again and again and prints what one call took.
#[expect(clippy::print_stdout, reason = "the numbers are what the example is for")]
fn measure(name: &str, bytes: usize, mut run: impl FnMut()) {
    for _ in 0..BATCH {
        run();
    }
    let (start, mut calls) = (Instant::now(), 0u32);
    while start.elapsed() < CASE_DURATION {
        for _ in 0..BATCH {
            run();
        }
        calls += BATCH;
    }
    println!("{name:<44} {:>9.1} ns  {bytes:>5} bytes", start.elapsed().as_secs_f64() * 1e9 / f64::from(calls));
}

fn measure_payload(name: &str, converter: &BoxConverter, payload: PayloadRef<'_>) -> Result<(), DataError> {
    let mut out = Vec::with_capacity(1 << 16);
    converter.write("t", payload, &mut out)?;
    let bytes = Bytes::copy_from_slice(&out);
    measure(&format!("write {name}"), out.len(), || {
        out.clear();
        black_box(converter.write("t", black_box(payload), &mut out)).expect("it was written before");
    });
    measure(&format!("read  {name}"), bytes.len(), || {
        black_box(converter.read("t", Some(black_box(&bytes)))).expect("it was written here");
    });
    Ok(())
}

fn main() -> Result<(), DataError> {
    let with = json(&[]);
    let without = json(&[("schemas.enable", "false")]);
    let (schema, value) = order()?;
    let line = "an ordinary line of one hundred bytes, such as a log has them, with words and numbers: 42, 4711, 0815.";
    measure_payload("a struct, with schema", &with, PayloadRef::Value(Some(&schema), Some(&value)))?;
    measure_payload("a struct, without schema", &without, PayloadRef::Value(Some(&schema), Some(&value)))?;
    measure_payload("a line of 100 bytes, with schema", &with, PayloadRef::Text(line))?;
    measure_payload("a line of 100 bytes, without schema", &without, PayloadRef::Text(line))?;
    let escaped = line.replace(' ', "\t");
    measure_payload("a line with many escapes", &without, PayloadRef::Text(&escaped))?;
    let long = line.repeat(10);
    measure_payload("a line of 1,000 bytes, without schema", &without, PayloadRef::Text(&long))?;
    let floats = Value::array([0.1, 19.99, 1e10, 123_456.789, -2.5e-7]);
    let schema = Schema::array(Schema::float64());
    measure_payload("five doubles, without schema", &without, PayloadRef::Value(Some(&schema), Some(&floats)))?;
    Ok(())
}
