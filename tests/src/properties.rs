//! Writing property files as `java.util.Properties` reads them.

/// The lines of a property file. Backslashes, line ends and a leading blank of a value are escaped; text outside of
/// ASCII stays as UTF-8.
pub(crate) fn to_text<'a>(entries: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    entries.into_iter().map(|(key, value)| format!("{}={}\n", escape(key, true), escape(value, false))).collect()
}

fn escape(text: &str, is_key: bool) -> String {
    let mut escaped = String::with_capacity(text.len());
    for (position, c) in text.chars().enumerate() {
        match c {
            '\\' => escaped.push_str("\\\\"),
            '\n' => escaped.push_str("\\n"),
            '\r' => escaped.push_str("\\r"),
            '\t' => escaped.push_str("\\t"),
            ' ' if is_key || position == 0 => escaped.push_str("\\ "),
            '=' | ':' if is_key => escaped.extend(['\\', c]),
            '#' | '!' if is_key && position == 0 => escaped.extend(['\\', c]),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::to_text;

    #[test]
    fn what_would_be_read_otherwise_is_escaped() {
        let entries =
            [("plain.key", "a=b: c"), ("od d:k", " x"), ("path", "C:\\in\n"), ("#key", "#value"), ("empty", "")];
        let expected = "plain.key=a=b: c\nod\\ d\\:k=\\ x\npath=C:\\\\in\\n\n\\#key=#value\nempty=\n";
        assert_eq!(to_text(entries), expected);
    }
}
