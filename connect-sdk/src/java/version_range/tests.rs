//! What maven-artifact 3.9.15, which Kafka ships, says of the same texts.

use super::{VersionRange, compare};

#[test]
fn versions_have_mavens_order() {
    // Each stands before the next.
    let ascending = [
        "1.0-alpha-1",
        "1.0-a2",
        "1.0.beta",
        "1.0-rc1",
        "1.0-cr2",
        "1.0-SNAPSHOT",
        "1",
        "1-sp",
        "1.0-x",
        "1.0-1",
        "1.0.1-rc.1",
        "1.0.1",
        "1.2",
        "1.9",
        "1.10",
        "1.18446744073709551616",
        "2.0.0-alpha.1",
        "2",
    ];
    for (at, a) in ascending.iter().enumerate() {
        for (other, b) in ascending.iter().enumerate() {
            assert_eq!(compare(a, b), at.cmp(&other), "{a} and {b}");
        }
    }
    for (a, b) in [("1", "1.0.0"), ("1.0-ga", "1"), ("1.0.Final", "1.0"), ("1.0-rc-1", "1.0-RC1"), ("01.2", "1.2")] {
        assert!(compare(a, b).is_eq(), "{a} and {b}");
    }
}

#[test]
fn ranges_are_read_as_maven_reads_them() {
    // What is asked for, how Kafka writes it, and which of 1.0, 1.1, 2.0 and 1.0-rc1 are good.
    for (text, written, good) in [
        ("1.0", "[1.0,1.0]", "1.0"),
        ("latest", "", "1.0 1.1 2.0 1.0-rc1"),
        ("", "[,]", ""),
        ("[,]", "[,]", "1.0 1.1 2.0 1.0-rc1"),
        ("[1.0,2.0)", "[1.0,2.0)", "1.0 1.1"),
        ("[ 1 , 2 ]", "[1,2]", "1.0 1.1 2.0"),
        ("[1.0,)", "[1.0,)", "1.0 1.1 2.0"),
        ("[1.0-rc1,)", "[1.0-rc1,)", "1.0 1.1 2.0 1.0-rc1"),
        ("(,1.0],[1.2,)", "(,1.0],[1.2,)", "1.0 2.0 1.0-rc1"),
        ("(1,2),(2,3)", "(1,2),(2,3)", "1.1"),
        // Behind an open end Maven finds no overlap.
        ("[1,),(,2]", "[1,),(,2]", "1.0 1.1 2.0 1.0-rc1"),
        ("[1],", "[1,1]", "1.0"),
        ("1,3", "[1,3]", "1.0 1.1 2.0"),
    ] {
        let range = VersionRange::parse(text).unwrap();
        assert_eq!(range.to_string(), written, "{text}");
        for version in ["1.0", "1.1", "2.0", "1.0-rc1"] {
            assert_eq!(range.contains(version), good.split(' ').any(|one| one == version), "{version} in {text}");
        }
    }
}

#[test]
fn what_is_no_range_is_refused_in_mavens_words() {
    for (text, why) in [
        ("(", "Unbounded range: ("),
        ("[1.0", "Unbounded range: [1.0"),
        ("(1.0)", "Single version must be surrounded by []: (1.0)"),
        ("[2.0,1.0]", "Range defies version ordering: [2.0,1.0]"),
        ("[1,1.0)", "Range defies version ordering: [1,1.0)"),
        ("[1,2],[1.5,3]", "Ranges overlap: [1,2],[1.5,3]"),
        ("[1]x", "Only fully-qualified sets allowed in multiple set scenario: [1]x"),
    ] {
        assert_eq!(VersionRange::parse(text).unwrap_err(), why);
    }
}

#[test]
fn a_plugin_in_another_version_is_told_in_kafkas_words() {
    assert_eq!(VersionRange::require("[1,2)", "org.example.X", "1.5"), Ok(()));
    assert_eq!(
        VersionRange::require("2", "org.example.X", "1.5").unwrap_err(),
        "Plugin org.example.X not found that matches the version range [2,2], available versions: [1.5]"
    );
}
