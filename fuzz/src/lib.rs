//! What the fuzz targets share: the rooms under test that are not public, and values made of a fuzzer's bytes.
//!
//! `converters` and `transforms` use connect-sdk alone, and so do the parsers below; their files are built here as modules.
//! connect-runtime itself would bring librdkafka, which takes minutes to build and cannot be fuzzed.
#![forbid(unsafe_code)]

pub mod generate;

#[allow(dead_code, reason = "the worker uses all of it")]
#[path = "../../connect-runtime/src/converters/mod.rs"]
pub mod converters;
#[allow(dead_code, reason = "the worker uses all of it")]
#[path = "../../connect-runtime/src/transforms/mod.rs"]
pub mod transforms;

#[path = "../../connect-runtime/src/config/providers.rs"]
pub mod providers;

#[path = "../../connect-runtime/src/kafka/jaas.rs"]
mod jaas;
#[path = "../../connect-runtime/src/storage/java_map.rs"]
mod java_map;

use connect_sdk::converter::{BoxConverter, BoxHeaderConverter, ConverterKind};
use connect_sdk::erased::Properties;
use connect_sdk::plugin::Plugins;
use connect_sdk::source::PayloadRef;
use std::sync::LazyLock;

/// What a login module's text says about these options; none if the text is refused.
#[must_use]
pub fn login_options(text: &str, names: &[&str]) -> Option<Vec<Option<String>>> {
    let module = jaas::LoginModule::parse(text).ok()?;
    let _name = module.short_class();
    Some(names.iter().map(|name| module.option(name).map(str::to_owned)).collect())
}

/// Keys and values of Java's offset file; none if the bytes are refused.
#[must_use]
pub fn java_map_entries(bytes: &[u8]) -> Option<usize> {
    java_map::read_java_map(bytes).ok().map(|entries| entries.len())
}

/// All transformations, predicates and converters of a worker; made once.
pub static PLUGINS: LazyLock<Plugins> = LazyLock::new(|| {
    let plugins = transforms::classes().into_iter().fold(Plugins::new(), Plugins::with_transformation_class);
    let plugins = transforms::predicates::classes().into_iter().fold(plugins, Plugins::with_predicate_class);
    converters::classes().into_iter().fold(plugins, Plugins::with_converter_class)
});

/// Settings from pairs.
#[must_use]
pub fn settings(pairs: &[(&str, &str)]) -> Properties {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

/// A converter for values, by its simple name.
///
/// # Panics
/// There is no such class, or the settings are wrong.
#[must_use]
pub fn converter(name: &str, pairs: &[(&str, &str)]) -> BoxConverter {
    let class = converters::classes().into_iter().find(|class| class.class.ends_with(name)).expect("it is linked");
    let make = class.converter.expect("it converts values");
    make(&settings(pairs), ConverterKind::Value).expect("the settings are good")
}

/// A converter for headers, by its simple name.
///
/// # Panics
/// As [`converter`].
#[must_use]
pub fn header_converter(name: &str) -> BoxHeaderConverter {
    let class = converters::classes().into_iter().find(|class| class.class.ends_with(name)).expect("it is linked");
    class.header_converter.expect("it converts headers")(&Properties::new()).expect("the settings are good")
}

/// What a converter writes; none is a null. The error's text if the value is refused.
///
/// # Errors
/// The value is refused.
pub fn write(converter: &BoxConverter, payload: PayloadRef<'_>) -> Result<Option<Vec<u8>>, String> {
    let mut out = Vec::new();
    match converter.write("t", payload, &mut out) {
        Ok(some) => Ok(some.then_some(out)),
        Err(error) => Err(error.to_string()),
    }
}
