//! The configuration of transformations, predicates and converters: any properties make an instance or an error.
#![no_main]

use arbitrary::{Arbitrary as _, Result, Unstructured};
use connect_fuzz::{PLUGINS, generate, transforms::ChainConfig};
use connect_sdk::converter::ConverterKind;
use connect_sdk::erased::Properties;
use libfuzzer_sys::fuzz_target;

const ALIASES: [&str; 3] = ["a", "a.b", "\u{e9}"];

fn check(u: &mut Unstructured<'_>) -> Result<()> {
    let plugins = &*PLUGINS;
    let class = u.choose(plugins.transformations())?;
    let mut properties = any_settings(u, (class.config_def)().keys().iter().map(|key| key.name()))?;
    let _reports = (class.config_def)().validate(&properties);
    let _made = (class.make)(&properties).map_err(|errors| errors.to_string());
    let predicate = u.choose(plugins.predicates())?;
    let of_predicate = any_settings(u, (predicate.config_def)().keys().iter().map(|key| key.name()))?;
    let _made = (predicate.make)(&of_predicate).map_err(|errors| errors.to_string());
    let converter = u.choose(plugins.converters())?;
    let of_converter = any_settings(u, (converter.config_def)().keys().iter().map(|key| key.name()))?;
    let _made = converter.converter.map(|make| make(&of_converter, ConverterKind::Key).map_err(|e| e.to_string()));
    let _made = converter.header_converter.map(|make| make(&of_converter).map_err(|errors| errors.to_string()));

    // The whole, with whatever stands under the prefixes.
    let alias = *u.choose(&ALIASES)?;
    properties = properties.into_iter().map(|(key, value)| (format!("transforms.{alias}.{key}"), value)).collect();
    properties.extend(of_predicate.into_iter().map(|(key, value)| (format!("predicates.p.{key}"), value)));
    for (key, value) in [("transforms", alias), ("predicates", "p"), ("predicates.p.type", predicate.class)] {
        if u.ratio(7, 8)? {
            properties.insert(key.to_owned(), value.to_owned());
        }
    }
    properties.insert(format!("transforms.{alias}.type"), class.class.to_owned());
    for _ in 0..u.int_in_range(0..=3)? {
        let suffix = *u.choose(&["predicate", "negate", "type", "x", ""])?;
        let value = if u.ratio(1, 2)? { "p".to_owned() } else { String::arbitrary(u)? };
        properties.insert(format!("transforms.{}.{suffix}", u.choose(&ALIASES)?), value);
    }
    match ChainConfig::from_properties(plugins, &properties) {
        Err(errors) => drop(errors.to_string()),
        Ok(chain) => {
            let _unknown = chain.unknown_keys(&properties);
            chain.make().expect("what was checked can be made");
        }
    }
    Ok(())
}

/// Sensible or any values of these keys, and of one that nobody knows.
fn any_settings<'a>(u: &mut Unstructured<'_>, keys: impl Iterator<Item = &'a str>) -> Result<Properties> {
    let mut settings = Properties::new();
    for key in keys {
        if u.ratio(2, 3)? {
            let value = if u.ratio(1, 3)? { generate::setting(u, key)? } else { String::arbitrary(u)? };
            settings.insert(key.to_owned(), value);
        }
    }
    if u.ratio(1, 8)? {
        settings.insert(String::arbitrary(u)?, String::arbitrary(u)?);
    }
    Ok(settings)
}

fuzz_target!(|bytes: &[u8]| {
    let _end = check(&mut Unstructured::new(bytes));
});
