//! Text read as values: literals, numbers, lists, maps and what is left as text.

use proptest::prelude::*;

use super::*;
use crate::data::values::convert_to_string;
use crate::data::{Date, Decimal, Timestamp, validate_value};

fn parsed(text: &str) -> (Option<Schema>, Option<Value>) {
    let SchemaAndValue { schema, value } = parse_string(text);
    (schema, value)
}

fn stays_text(text: &str) {
    assert_eq!(parsed(text), (Some(Schema::string()), Some(text.into())), "{text}");
}

#[test]
fn the_whole_text_must_be_consumed() {
    for text in [
        "1,2,3",
        "123:456",
        "5]",
        "[1]x",
        "{\"a\":1}x",
        "14:34:54Z",
        "true}",
        "null,",
        "12:34:56.789Z ",
        "\"a\"",
        "a,b",
    ] {
        stays_text(text);
    }
    assert_eq!(parsed(" [1] ").1, Some(Value::array([1i8])));
}

#[test]
fn numbers_keep_all_their_digits() {
    assert_eq!(parsed("0.1").1, Some(0.1f32.into()));
    assert_eq!(parsed("1e19").1, Some(1e19f32.into()));
    assert_eq!(parsed("2.14159265358979").1, Some(2.14159265358979.into()));
    assert_eq!(parsed("123456789.123").1, Some(123_456_789.123.into()));
    assert_eq!(parsed("1e-50").1, Some(1e-50.into()));
    assert_eq!(parsed("1e-400").1, Some(Decimal::new(1, 400).into()));
    assert_eq!(parsed("1e400").1, Some(Decimal::new(1, -400).into()));
    assert_eq!(parsed("1e2147483647").1, Some(Decimal::new(1, -i32::MAX).into()));
    stays_text("1e2147483649");
    stays_text(&"1".repeat(2000));
}

#[test]
fn numbers_of_one_list_get_one_type_that_holds_them_all() {
    let list = |text: &str| parsed(text).1;
    assert_eq!(list("[1,2.5]"), Some(Value::array([1f32, 2.5])));
    assert_eq!(list("[16777217,2.5]"), Some(Value::array([16_777_217f64, 2.5])));
    assert_eq!(list("[1.1,1e40]"), Some(Value::array([1.1f64, 1e40])));
    assert_eq!(
        list("[9007199254740993,2.5]"),
        Some(Value::array([Value::from(9_007_199_254_740_993i64), 2.5f32.into()]))
    );
    assert_eq!(
        list("[90000,2019-08-23]"),
        Some(Value::array([Date::from_epoch_days(90_000), Date::from_epoch_days(18_131)]))
    );
    assert_eq!(
        list("[2019-08-23T00:00:00.000Z,2019-08-23]"),
        Some(Value::array([Timestamp::from_epoch_millis(1_566_518_400_000); 2]))
    );
    stays_text("[2019-08-23,90000]");
}

#[test]
fn parts_without_a_common_type_have_no_schema() {
    let (schema, value) = parsed("[1,\"x\",2]");
    assert_eq!(schema.unwrap().value_schema(), None);
    assert_eq!(value, Some(Value::array([Value::from(1i8), "x".into(), 2i8.into()])));
    assert_eq!(parsed("{\"a\":1,\"b\":\"x\"}").0, None);
    assert_eq!(parsed("{1:1,\"b\":2}").0, None);
    assert_eq!(parsed("[12:34:56.789Z,2019-08-23]").0.unwrap().value_schema(), None);
    // Values are left as they are where the keys have nothing in common.
    let mixed = parsed("{1:1,\"b\":2.5,\"c\":null}").1.unwrap();
    assert_eq!(mixed.as_map().unwrap().get(Some(&1i8.into())), Some(Some(&1i8.into())));
    let empty = parsed("{}").0.unwrap();
    assert_eq!((empty.key_schema(), empty.value_schema()), (None, None));
}

#[test]
fn nulls_do_not_fit_a_common_schema() {
    assert_eq!(parsed("[null]").1, Some(Value::array([None::<Value>])));
    assert_eq!(parsed("{\"a\":null}").0.unwrap().key_schema(), Some(&Schema::string()));
    stays_text("[1,null]");
    stays_text("{\"a\":1,\"b\":null}");
    stays_text("{null:1}");
}

#[test]
fn quoted_text_is_kept_as_it_was_written() {
    let list = |text: &str| parsed(text).1;
    assert_eq!(list(r#"["a\"b\\", " ", "a, ,b", "\n"]"#), Some(Value::array(["a\"b\\", " ", "a, ,b", "\\n"])));
    assert_eq!(list(r#"["true","1"]"#), Some(Value::array(["true", "1"])));
    stays_text(r#"["a\"]"#);
    stays_text(r#"["a" "b"]"#);
}

#[test]
fn unsound_lists_and_maps_are_text() {
    for text in [
        "[1", "[1,", "[,1]", "[,]", "[a]", "[1 2]", "{,}", "{:1}", "{\"a\"}", "{\"a\":}", "{\"a\":1", "[}", "{]",
        "[1:2]", "{a:1}",
    ] {
        stays_text(text);
    }
    for text in ["[1,]", "{\"a\":1,}", "{\"a\":1 \"b\":2}"] {
        assert_ne!(parsed(text).0, Some(Schema::string()), "{text}");
    }
}

#[test]
fn text_that_is_nested_too_deeply_does_not_overflow_the_stack() {
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    assert_ne!(parsed(&nested(NESTING_MAX)).0, Some(Schema::string()));
    stays_text(&nested(NESTING_MAX + 1));
    stays_text(&nested(1_000_000));
    stays_text(&"{".repeat(1_000_000));
    stays_text(&"[\"".repeat(100_000));
}

#[test]
fn text_that_stays_text_shares_its_buffer() {
    let text = Text::from("a long text that is nothing else".to_owned());
    let value = parse_text(&text).value.unwrap();
    assert_eq!(value.as_str().unwrap().as_ptr(), text.as_ptr());
}

/// Text made of what the parser looks at.
fn busy_text() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        prop::sample::select(vec![
            "[",
            "]",
            "{",
            "}",
            ":",
            ",",
            "\"",
            "\\",
            " ",
            "null",
            "true",
            "false",
            "1",
            "-5",
            "1.5",
            "1e3",
            "e",
            "+",
            ".",
            "2019-08-23",
            "14:34:54.346Z",
            "2019-08-23T14:34:54.346Z",
            "a",
            "\u{e9}",
            "\u{661}",
            "\u{1F600}",
        ])
        .prop_map(str::to_owned),
        "[0-9]{1,20}",
    ];
    prop::collection::vec(part, 0..20).prop_map(|parts| parts.concat())
}

/// Values whose text means them again.
fn value_with_a_text() -> impl Strategy<Value = Value> {
    let text = "[a-z\"\\\\:,{}\\[\\] ]{0,8}".prop_map(Value::from);
    let leaf = prop_oneof![
        text,
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_filter("wide", |n| i32::try_from(*n).is_err()).prop_map(Value::from),
        (-100_000i32..100_000).prop_map(|days| Date::from_epoch_days(days).into()),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::array),
            prop::collection::vec(("[a-z]{1,4}", inner), 0..4)
                .prop_map(|entries| Value::Map(entries.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn any_text_is_some_value(text in prop_oneof![busy_text(), any::<String>()]) {
        let parsed = parse_string(&text);
        if let (Some(schema), Some(value)) = (&parsed.schema, &parsed.value) {
            // Where a part has no schema there is nothing to check against.
            if schema.kind().is_primitive() {
                validate_value(schema, Some(value)).unwrap();
            }
            prop_assert_eq!(schema.kind(), value.kind());
        }
    }

    #[test]
    fn a_list_or_map_is_read_back_as_it_was_written(value in value_with_a_text()) {
        // At the top, text is not quoted and can look like anything.
        let list = Value::array([value]);
        let text = convert_to_string(&list);
        let read = parse_text(&text).value.unwrap();
        // Numbers beside dates become dates, and then the whole is text.
        if read.as_str().is_none() && !text.contains('-') {
            prop_assert_eq!(read, list);
        }
    }

    #[test]
    fn conversions_do_not_panic(text in busy_text(), scale in any::<i32>(), double in any::<f64>()) {
        use crate::data::values::*;
        for value in [Value::from(text.as_str()), Value::from(double), parse_string(&text).value.unwrap_or(Value::Boolean(true))] {
            let value = Some(&value);
            drop((convert_to_boolean(value), convert_to_byte(value), convert_to_short(value), convert_to_integer(value)));
            drop((convert_to_long(value), convert_to_float(value), convert_to_double(value), convert_to_list(value)));
            drop((convert_to_map(value), convert_to_struct(value), convert_to_date(value), convert_to_time(value)));
            drop((convert_to_timestamp(value), convert_to_decimal(value, scale)));
        }
    }
}
