//! A predicate: it says which records a transformation is applied to.

use connect_sdk::prelude::*;

/// Records whose value is text with nothing to see.
#[predicate(name = "IsBlank")]
pub fn is_blank(record: &ConnectRecord) -> bool {
    record.value.value.as_ref().and_then(Value::as_str).is_some_and(|text| text.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::is_blank;
    use connect_sdk::testkit::PredicateTester;

    #[test]
    fn the_cases_of_the_file_hold() {
        PredicateTester::open::<is_blank>(&[]).unwrap().check_file("tests/is_blank.jsonl");
    }
}
