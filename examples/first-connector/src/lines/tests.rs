//! Whatever happens to the sink, what it called safe is in the file.

use super::Lines;
use connect_sdk::testkit::{SinkFixture, sink_kit};

#[test]
fn what_is_called_safe_is_in_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("out.txt");
    let settings = [("path", path.display().to_string()), ("flush.size", "3".to_owned())];
    sink_kit::<Lines>(SinkFixture::new(settings, move || {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }));
}
