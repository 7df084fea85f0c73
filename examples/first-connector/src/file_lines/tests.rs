//! The source is replayed by the test that `#[source_connector]` writes.

use connect_sdk::testkit::Fixture;

/// Three lines, and a fourth that comes while the source is away.
pub(super) fn a_file() -> Fixture {
    Fixture::new().set("topic", "lines").file("path", "in.txt", "one\ntwo\nthree\n").append("in.txt", "four\n")
}
