//! One record, one mistake in the settings, and a file of cases.

use super::shorten;
use connect_sdk::prelude::*;
use connect_sdk::testkit::TransformationTester;

#[test]
fn a_key_is_cut_and_the_value_is_not() {
    let text = |text: &str| SchemaAndValue::new(None, Some(text.into()));
    let record = ConnectRecord { key: text("abcdef"), value: text("abcdef"), ..ConnectRecord::default() };
    let mut tester = TransformationTester::open_for_keys::<shorten>(&[("max.chars", "3")]).unwrap();
    let cut = tester.apply(record).unwrap().unwrap();
    assert_eq!((cut.key, cut.value), (text("abc..."), text("abcdef")));
}

#[test]
fn nothing_cannot_be_kept() {
    let errors = TransformationTester::open::<shorten>(&[("max.chars", "0")]).unwrap_err();
    assert!(errors.to_string().contains("max.chars"), "{errors}");
}

#[test]
fn the_cases_of_the_file_hold() {
    let settings = [("max.chars", "5"), ("mark", "~")];
    TransformationTester::open::<shorten>(&settings).unwrap().check_file("tests/shorten.jsonl");
}
