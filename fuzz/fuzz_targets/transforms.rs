//! Transformations: no record makes one panic, what comes out of a sound record is sound, and what was remembered of a
//! schema changes nothing.
#![no_main]

use arbitrary::{Result, Unstructured};
use connect_fuzz::{PLUGINS, generate, transforms::ChainConfig};
use connect_sdk::data::{SchemaAndValue, validate_kind, validate_value};
use connect_sdk::erased::Properties;
use connect_sdk::header::Header;
use connect_sdk::transform::ConnectRecord;
use libfuzzer_sys::fuzz_target;

const RECORDS_MAX: usize = 3;

fn check(u: &mut Unstructured<'_>) -> Result<()> {
    let plugins = &*PLUGINS;
    let mut properties = Properties::new();
    let aliases = &["a", "b", "c"][..u.int_in_range(1..=3)?];
    properties.insert("transforms".to_owned(), aliases.join(","));
    for alias in aliases {
        let class = u.choose(plugins.transformations())?;
        properties.insert(format!("transforms.{alias}.type"), class.class.to_owned());
        generate::settings(u, &(class.config_def)(), &format!("transforms.{alias}."), &mut properties)?;
    }
    if u.ratio(1, 4)? {
        let class = u.choose(plugins.predicates())?;
        properties.insert("predicates".to_owned(), "p".to_owned());
        properties.insert("predicates.p.type".to_owned(), class.class.to_owned());
        generate::settings(u, &(class.config_def)(), "predicates.p.", &mut properties)?;
        properties.insert("transforms.a.predicate".to_owned(), "p".to_owned());
        properties.insert("transforms.a.negate".to_owned(), u.choose(&["true", "false"])?.to_string());
    }
    let Ok(config) = ChainConfig::from_properties(plugins, &properties) else { return Ok(()) };
    let mut chain = config.make().expect("what was checked can be made").expect("there are transformations");
    // Who takes the name of a logical type away, or gives one, leaves the values as they are, as in Kafka.
    let renamed = properties.values().any(|class| class.contains("SetSchemaMetadata"));
    for _ in 0..u.int_in_range(1..=RECORDS_MAX)? {
        let record = generate::record(u)?;
        let sound = is_sound(&record);
        let shown = |made: &std::result::Result<Option<ConnectRecord>, _>| format!("{made:?}");
        let first = chain.apply(record.clone());
        assert_eq!(shown(&first), shown(&chain.apply(record.clone())), "{properties:?}");
        if let Ok(Some(changed)) = &first
            && sound
            && !renamed
        {
            assert!(is_sound(changed), "{properties:?} made\n{changed:?}\nof\n{record:?}");
        }
    }
    Ok(())
}

/// Whether all values are of their schemas. Null is not looked at: what a path does not lead to is null.
fn is_sound(record: &ConnectRecord) -> bool {
    let sound = |part: &SchemaAndValue| match (&part.schema, &part.value) {
        (Some(schema), Some(value)) => validate_value(schema, Some(value)).is_ok(),
        _ => true,
    };
    // A header may have been read from a text whose parts have nothing in common: its schema has no parts then.
    let fits = |header: &Header| header.schema().is_none_or(|schema| validate_kind(schema, header.value()).is_ok());
    sound(&record.key) && sound(&record.value) && record.headers.iter().all(fits)
}

fuzz_target!(|bytes: &[u8]| {
    let _end = check(&mut Unstructured::new(bytes));
});
