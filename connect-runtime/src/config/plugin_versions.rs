//! Version requirements of plugins, as Maven writes them: `1.0`, `[1.0,2.0)`, `[1.0,)`.

use std::cmp::Ordering;

use connect_sdk::config::{ConfigError, ParsedValue, Validator};

/// A text that is a version or a range of versions; null passes.
pub(super) fn version_requirement() -> Validator {
    Validator::lambda("a version or a range of versions", |key, value| match value {
        ParsedValue::String(text) => check(text).map_err(|why| ConfigError::on(key, why)),
        _ => Ok(()),
    })
}

fn check(text: &str) -> Result<(), String> {
    let text = text.trim();
    if text == "latest" {
        return Ok(());
    }
    // A bare version means exactly this one.
    let spec = if text.starts_with(['[', '(']) { text.to_owned() } else { format!("[{text}]") };
    let mut rest = spec.as_str();
    let mut upper_before: Option<String> = None;
    let mut first = true;
    while rest.starts_with(['[', '(']) {
        let end = rest.find([')', ']']).ok_or_else(|| format!("Unbounded range: {spec}"))?;
        let (restriction, tail) = rest.split_at(end + 1);
        let inclusive = (restriction.starts_with('['), restriction.ends_with(']'));
        let inner = restriction[1..restriction.len() - 1].trim();
        let (lower, upper) = match inner.split_once(',') {
            None if inclusive == (true, true) => (Some(inner), Some(inner)),
            None => return Err(format!("Single version must be surrounded by []: {restriction}")),
            Some((lower, upper)) => {
                let bound =
                    |text: &'_ str| -> Option<String> { Some(text.trim().to_owned()).filter(|t| !t.is_empty()) };
                let (low, high) = (bound(lower), bound(upper));
                if let (Some(low), Some(high)) = (&low, &high) {
                    let order = compare(high, low);
                    if order == Ordering::Less || (order == Ordering::Equal && inclusive != (true, true)) {
                        return Err(format!("Range defies version ordering: {restriction}"));
                    }
                }
                (low.is_some().then_some(lower.trim()), high.is_some().then_some(upper.trim()))
            }
        };
        if let Some(before) = &upper_before
            && lower.is_none_or(|lower| compare(lower, before) == Ordering::Less)
        {
            return Err(format!("Ranges overlap: {spec}"));
        }
        upper_before = upper.map(str::to_owned);
        rest = tail.trim();
        rest = rest.strip_prefix(',').map_or(rest, str::trim);
        first = false;
    }
    if rest.is_empty() || first {
        return Ok(());
    }
    Err(format!("Only fully-qualified sets allowed in multiple set scenario: {spec}"))
}

/// Numbers by value, before them texts by their letters.
fn compare(a: &str, b: &str) -> Ordering {
    let parts = |text: &str| -> Vec<(u64, String)> {
        let split = text.split(['.', '-']);
        split.map(|part| part.parse().map_or_else(|_| (0, part.to_lowercase()), |n| (n, String::new()))).collect()
    };
    let (mut a, mut b) = (parts(a), parts(b));
    // `1.0` and `1` are the same version.
    for parts in [&mut a, &mut b] {
        while parts.last().is_some_and(|(n, text)| *n == 0 && text.is_empty()) {
            parts.pop();
        }
    }
    a.cmp(&b)
}

#[cfg(test)]
mod tests {
    #[test]
    fn ranges_are_read_as_maven_reads_them() {
        for (text, message) in [
            ("1.0", None),
            ("[1.0,2.0)", None),
            ("[1.0,)", None),
            ("(,1.0],[1.2,)", None),
            ("latest", None),
            ("(", Some("Unbounded range: (")),
            ("[1.0", Some("Unbounded range: [1.0")),
            ("(1.0)", Some("Single version must be surrounded by []: (1.0)")),
            ("[2.0,1.0]", Some("Range defies version ordering: [2.0,1.0]")),
            ("[1,1.0)", Some("Range defies version ordering: [1,1.0)")),
            ("[1,2],[1.5,3]", Some("Ranges overlap: [1,2],[1.5,3]")),
        ] {
            assert_eq!(super::check(text).err().as_deref(), message, "{text}");
        }
    }
}
