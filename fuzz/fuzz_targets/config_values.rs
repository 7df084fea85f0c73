//! Values of configuration keys: no text of any type panics, and what was read reads back from its text.
#![no_main]

use arbitrary::{Arbitrary as _, Result, Unstructured};
use connect_sdk::config::{ConfigType, ParsedValue};
use connect_sdk::java::{hash_order, number_parse, number_text};
use libfuzzer_sys::fuzz_target;

const TYPES: [ConfigType; 9] = [
    ConfigType::Boolean,
    ConfigType::String,
    ConfigType::Int,
    ConfigType::Short,
    ConfigType::Long,
    ConfigType::Double,
    ConfigType::List,
    ConfigType::Class,
    ConfigType::Password,
];

fn check(u: &mut Unstructured<'_>) -> Result<()> {
    let (double, float) = (f64::arbitrary(u)?, f32::arbitrary(u)?);
    let same = |a: f64, b: f64| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan();
    let text = number_text::double_text(double);
    assert!(number_parse::parse_double(&text).is_some_and(|read| same(read, double)), "{text}");
    let text = number_text::float_text(float);
    assert!(number_parse::parse_float(&text).is_some_and(|read| same(read.into(), float.into())), "{text}");
    let decimal = connect_fuzz::generate::decimal(u)?;
    let _text = number_text::decimal_text(&decimal);

    let text = String::arbitrary(u)?;
    let _hash = hash_order::string_hash(&text);
    for config_type in TYPES {
        let Ok(value) = ParsedValue::parse("k", Some(&text), config_type) else { continue };
        if let ParsedValue::Password(_) = value {
            continue;
        }
        let again = ParsedValue::parse("k", value.text().as_deref(), config_type).expect("what was written can be read");
        match (&value, &again) {
            (ParsedValue::Double(a), ParsedValue::Double(b)) => assert!(same(*a, *b), "{text:?}"),
            (value, again) => assert_eq!(value, again, "{text:?}"),
        }
    }
    Ok(())
}

fuzz_target!(|bytes: &[u8]| {
    let _end = check(&mut Unstructured::new(bytes));
});
