//! Date patterns: no pattern, text or instant makes one panic, and what a sound pattern writes it reads again.
#![no_main]

use arbitrary::{Arbitrary as _, Result, Unstructured};
use connect_sdk::java::date_format::DatePattern;
use libfuzzer_sys::fuzz_target;

/// Letters of patterns, more often than anything else.
const LETTERS: [&str; 30] = [
    "G", "yyyy", "yy", "y", "Y", "M", "MM", "MMM", "MMMM", "L", "w", "W", "D", "d", "dd", "F", "E", "EEEE", "u", "a", "H",
    "k", "K", "hh", "mm", "ss", "SSS", "z", "Z", "X",
];
const BETWEEN: [&str; 7] = ["", "-", ":", " ", "'T'", "''", "."];
/// The years 1 to 9999, but for those that Java's two calendars tell differently.
const SOUND_MS: std::ops::RangeInclusive<i64> = -62_135_596_800_000..=253_402_300_799_999;

fn check(u: &mut Unstructured<'_>) -> Result<()> {
    let (instant, now) = (i64::arbitrary(u)?, i64::arbitrary(u)?);
    if u.ratio(1, 4)? {
        let mut fields = vec!["yyyy", *u.choose(&["MM", "MMM", "MMMM", "M"])?, "dd", "HH", "mm", "ss", "SSS"];
        let mut pattern = String::new();
        while !fields.is_empty() {
            pattern.push_str(fields.remove(u.choose_index(fields.len())?));
            pattern.push_str(u.choose(&BETWEEN[1..])?);
        }
        let instant = u.int_in_range(SOUND_MS)?;
        let sound = DatePattern::new(&pattern).expect("a sound pattern");
        sound.check_readable().expect("a readable pattern");
        let text = sound.format(instant);
        assert_eq!(sound.parse(&text, now), Some(instant), "{pattern}: {text}");
        return Ok(());
    }
    let mut pattern = String::new();
    if u.ratio(3, 4)? {
        for _ in 0..u.int_in_range(1..=8)? {
            pattern.push_str(u.choose(&LETTERS)?);
            pattern.push_str(u.choose(&BETWEEN)?);
        }
    } else {
        pattern = String::arbitrary(u)?;
    }
    let Ok(compiled) = DatePattern::new(&pattern) else { return Ok(()) };
    let readable = compiled.check_readable();
    let mut text = compiled.format(instant);
    let read = compiled.parse(&text, now);
    if readable.is_ok()
        && let Some(read) = read
    {
        let _text = compiled.format(read);
    }
    let input = String::arbitrary(u)?;
    let _read = compiled.parse(&input, now);
    // Almost right.
    if let Some((at, _)) = text.char_indices().nth(u.choose_index(16)?) {
        text.replace_range(at..at, &input);
        let _read = compiled.parse(&text, now);
    }
    Ok(())
}

fuzz_target!(|bytes: &[u8]| {
    let _end = check(&mut Unstructured::new(bytes));
});
