//! Near matches for error messages: what somebody most likely meant.

/// The name among `known` that `wanted` was most likely meant to be, for messages.
#[must_use]
pub fn nearest<'a>(wanted: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = wanted.chars().count().div_ceil(3).max(1);
    known
        .into_iter()
        .map(|name| (edit_distance(&wanted.to_lowercase(), &name.to_lowercase()), name))
        .filter(|&(distance, _)| distance <= limit)
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, name)| name)
}

/// What to tell somebody who named a class of this kind that is not linked: what was most likely meant, and what is.
#[must_use]
pub fn unknown_class<'a>(
    kind: &str,
    class: &str,
    linked: impl Iterator<Item = &'a str> + Clone,
    aliases: impl Iterator<Item = &'a str>,
) -> String {
    // A class that is named without its package where that does not do.
    let same = linked.clone().find(|name| name.rsplit('.').next() == Some(class));
    let meant = same.or_else(|| nearest(class, aliases)).map(|m| format!("; did you mean `{m}`?")).unwrap_or_default();
    let linked: Vec<String> = linked.map(|name| format!("`{name}`")).collect();
    let linked = if linked.is_empty() { "none".to_owned() } else { linked.join(", ") };
    format!("unknown {kind} class `{class}`{meant} (linked {kind} classes: {linked})")
}

fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_recognised_and_a_stranger_is_not() {
        let known = ["batch.size", "topic", "file"];
        for (wanted, expected) in
            [("batchsize", Some("batch.size")), ("Topic", Some("topic")), ("flie", Some("file")), ("partition", None)]
        {
            assert_eq!(nearest(wanted, known), expected, "{wanted}");
        }
    }

    #[test]
    fn an_unknown_class_lists_what_is_linked() {
        assert_eq!(
            unknown_class("connector", "Lines", std::iter::empty(), std::iter::empty()),
            "unknown connector class `Lines` (linked connector classes: none)"
        );
        let linked = ["FileStreamSource", "org.example.Cast$Key"];
        assert_eq!(
            unknown_class("connector", "FileStremSource", linked.into_iter(), linked.into_iter()),
            "unknown connector class `FileStremSource`; did you mean `FileStreamSource`? \
             (linked connector classes: `FileStreamSource`, `org.example.Cast$Key`)"
        );
        let text = unknown_class("connector", "Cast$Key", linked.into_iter(), linked.into_iter());
        assert!(text.contains("did you mean `org.example.Cast$Key`?"), "{text}");
    }
}
