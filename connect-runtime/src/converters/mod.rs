//! Converters: between Connect values and the bytes of keys, values and headers in topics.
//!
//! Everything here is written against connect-sdk alone, as an author's own converter would be.

mod boolean;
mod byte_array;
mod charset;
pub mod json;
mod number;
mod settings;
mod simple_header;
mod string;

use connect_sdk::converter::ConverterClass;

/// The version of Kafka whose classes of the same names these converters keep to; configurations may ask for it.
const KAFKA_VERSION: &str = "4.3.1";

/// The converter classes that every worker knows.
#[must_use]
pub fn classes() -> Vec<ConverterClass> {
    let mut classes = vec![json::CLASS, string::CLASS, byte_array::CLASS, boolean::CLASS, simple_header::CLASS];
    classes.extend(number::CLASSES);
    classes
}

#[cfg(test)]
mod tests;
