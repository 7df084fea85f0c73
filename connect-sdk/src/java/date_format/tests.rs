//! Date patterns against what Java answered.

use super::DatePattern;
use proptest::strategy::Strategy;

/// In November 2026: years of two digits are those from November 1946 on.
const NOW_MS: i64 = 1_796_000_000_000;

fn pattern(text: &str) -> DatePattern {
    DatePattern::new(text).unwrap()
}

// What Java 17 answers, in UTC and US English.
#[test]
fn instants_are_written_as_java_writes_them() {
    for (text, instant, expected) in [
        ("yyyy-MM-dd HH:mm:ss.SSS", -1, "1969-12-31 23:59:59.999"),
        ("yyyyMMdd", 253_402_300_799_999, "99991231"),
        ("yy.M.d", 1_500_000_001_234, "17.7.14"),
        ("yyyyy", 0, "01970"),
        ("EEE, d MMM yyyy HH:mm:ss.SSS Z", 1_483_425_001_864, "Tue, 3 Jan 2017 06:30:01.864 +0000"),
        ("EEEE MMMM LLL", 951_782_400_000, "Tuesday February Feb"),
        ("h:mm a/K/k/HH", 0, "12:00 AM/0/24/00"),
        ("h:mm a/K/k/HH", 47_100_000, "1:05 PM/1/13/13"),
        ("D w W F u YYYY", 1_483_425_001_864, "3 1 1 1 2 2017"),
        ("YYYY-'W'ww", 1_546_214_400_000, "2019-W01"),
        ("SSSSSS", 7, "000007"),
        ("z zzzz X XXX", 0, "UTC Coordinated Universal Time Z Z"),
        ("G yyyy", -62_198_755_200_000, "BC 0002"),
        ("YYYY YY", -70_000_000_000_000, "-0249 -49"),
        ("yyyy-MM-dd", -12_219_292_800_001, "1582-10-04"),
        ("''yy''''", 0, "'70''"),
        ("'it''s' mm", 0, "it's 00"),
        ("", 0, ""),
    ] {
        assert_eq!(pattern(text).format(instant), expected, "{text}");
    }
}

#[test]
fn text_is_read_as_java_reads_it() {
    for (text, input, expected) in [
        ("yyyy-MM-dd HH:mm:ss.SSS", "2017-07-14 02:40:01.234", Some(1_500_000_001_234)),
        ("yyyyMMdd", "20200131", Some(1_580_428_800_000)),
        ("dd/MM/yyyy", "1/2/2020", Some(1_580_515_200_000)),
        // Out of range counts on.
        ("yyyy-MM-dd", "2020-02-30", Some(1_583_020_800_000)),
        ("HH:mm", "25:61", Some(93_660_000)),
        ("yyyy-MM-dd", "2020--1-05", Some(1_572_912_000_000)),
        ("D yyyy", "60 2020", Some(1_582_934_400_000)),
        ("MMM d, yyyy", "jan 2, 2020", Some(1_577_923_200_000)),
        ("MMM d, yyyy", "January 2, 2020", Some(1_577_923_200_000)),
        ("EEE MMM dd yyyy", "Thu Jan 02 2020", Some(1_577_923_200_000)),
        ("hh:mm a", "01:05 PM", Some(47_100_000)),
        ("hh:mm a", "12:05 AM", Some(300_000)),
        ("kk", "24", Some(0)),
        // Of two ways to tell the hour the later one counts.
        ("HH hh a", "23 01 AM", Some(3_600_000)),
        ("hh a HH", "01 AM 23", Some(82_800_000)),
        ("HH:mm:ss.SSS", "10:11:12.5", Some(36_672_005)),
        ("yyyy-MM-dd HH:mm:ss Z", "2020-01-01 00:00:00 -0530", Some(1_577_856_600_000)),
        ("yyyy-MM-dd HH:mm:ss z", "2020-01-01 00:00:00 GMT", Some(1_577_836_800_000)),
        ("yyyy-MM-dd HH:mm:ss z", "2020-01-01 00:00:00 GMT+2:00", Some(1_577_829_600_000)),
        ("yyyy-MM-dd'T'HH:mm:ssXXX", "2020-01-01T00:00:00Z", Some(1_577_836_800_000)),
        ("yyyy-MM-dd'T'HH:mm:ssX", "2020-01-01T00:00:00+02:00", Some(1_577_829_600_000)),
        ("yyyy-MM-dd'T'HH:mm:ssXX", "2020-01-01T00:00:00+02:00", None),
        ("yyyy G", "2 BC", Some(-62_198_928_000_000)),
        ("yyyy-MM-dd", "1582-10-15", Some(-12_219_292_800_000)),
        ("yyyyMMMdd", "12970Jan01", Some(347_126_515_200_000)),
        ("  yyyy", "   2020", Some(1_577_836_800_000)),
        // Java would leave the rest unread.
        ("yyyy-MM-dd", "2020-02-28 trailing", None),
        ("yyyy-MM-dd", "x", None),
        ("yyyy-MM-dd", "", None),
        ("yyyy-MM-dd", "2020-\u{2460}-01", None),
    ] {
        let pattern = pattern(text);
        pattern.check_readable().unwrap();
        assert_eq!(pattern.parse(input, NOW_MS), expected, "{text} {input}");
    }
}

#[test]
fn a_year_of_two_digits_lies_within_the_hundred_years_around_now() {
    let year = |text: &str| pattern("yyyy").format(pattern("yy-MM-dd").parse(text, NOW_MS).unwrap());
    assert_eq!(year("20-01-02"), "2020");
    assert_eq!(year("45-12-31"), "2045");
    assert_eq!(year("47-01-01"), "1947");
    // Eighty years ago, before the day and after it.
    assert_eq!((year("46-11-01"), year("46-12-01")), ("2046".to_owned(), "1946".to_owned()));
    assert_eq!(year("020-01-02"), "0020");
}

#[test]
fn a_clock_at_the_end_of_time_is_no_obstacle() {
    for now in [i64::MIN, i64::MAX] {
        assert_eq!(pattern("yyyy").parse("1970", now), Some(0));
    }
}

#[test]
fn a_wrong_pattern_is_refused_with_the_place() {
    for (text, expected) in [
        ("bogus", "Illegal pattern character 'b' at index 0"),
        ("yyyy-MM-ddTHH", "Illegal pattern character 'T' at index 10"),
        ("yyyy 'x", "Unterminated quote at index 5"),
        ("ssXXXX", "invalid ISO 8601 format: length=4 at index 2"),
    ] {
        assert_eq!(DatePattern::new(text).unwrap_err().to_string(), expected);
    }
    let unreadable = |text| pattern(text).check_readable().unwrap_err().to_string();
    assert_eq!(unreadable("yyyy-ww"), "weeks (w, W) can be written but not read at index 5");
    assert_eq!(unreadable("EEE HH"), "weekdays (E) without a day (d or D) can be written but not read at index 0");
    assert_eq!(pattern("YYYY").parse("2020", NOW_MS), None);
}

proptest::proptest! {
    #[test]
    fn what_is_written_reads_back(instant in -60_000_000_000_000i64..250_000_000_000_000) {
        let pattern = pattern("G yyyy-MM-dd'T'HH:mm:ss.SSSZ");
        proptest::prop_assert_eq!(pattern.parse(&pattern.format(instant), NOW_MS), Some(instant));
    }

    #[test]
    fn nothing_panics(text in "[ -~\u{e9}]{0,12}", input in "[ -~\u{e9}\u{2460}]{0,16}", instant: i64, now: i64) {
        if let Ok(pattern) = DatePattern::new(&text) {
            let (_text, _instant) = (pattern.format(instant), pattern.parse(&input, now));
        }
    }

    #[test]
    fn a_pattern_that_tells_all_reads_what_it_writes(
        fields in proptest::sample::subsequence(vec![0usize, 1, 2, 3, 4, 5, 6], 7).prop_shuffle(),
        month in proptest::sample::select(vec!["M", "MM", "MMM", "MMMM"]),
        between in proptest::collection::vec("[-:/. ]|'T'|''", 7),
        instant in -62_135_596_800_000i64..253_402_300_800_000,
    ) {
        let letters = ["yyyy", month, "dd", "HH", "mm", "ss", "SSS"];
        let text: String = fields.iter().zip(&between).flat_map(|(field, between)| [letters[*field], between]).collect();
        let pattern = pattern(&text);
        let written = pattern.format(instant);
        proptest::prop_assert_eq!(pattern.parse(&written, NOW_MS), Some(instant), "{}: {}", text, written);
    }
}
