//! Near matches for error messages: what somebody most likely meant.

/// So many names are listed in a message; more would hide what it says.
const LISTED_MAX: usize = 20;

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

/// What to tell somebody who named a class of this kind that is not linked: what was most likely meant, or
/// else what is.
#[must_use]
pub fn unknown_class<'a>(
    kind: &str,
    class: &str,
    linked: impl Iterator<Item = &'a str> + Clone,
    aliases: impl Iterator<Item = &'a str>,
) -> String {
    // A class that is named without its package, or without `$Key` or `$Value`, where that does not do.
    let last = |name: &'a str| name.rsplit('.').next().unwrap_or(name);
    let of_its_kind =
        |name: &&'a str| last(name) == class || last(name).split_once('$').is_some_and(|(of, _)| of == class);
    let mut meant: Vec<&str> = linked.clone().filter(of_its_kind).collect();
    if meant.is_empty() {
        meant.extend(nearest(class, aliases));
    }
    let listed =
        |names: &[&str], between: &str| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(between);
    if !meant.is_empty() {
        return format!("unknown {kind} class `{class}`; did you mean {}?", listed(&meant, " or "));
    }
    let all: Vec<&str> = linked.collect();
    let shown = match all.len() {
        0 => "none".to_owned(),
        n if n > LISTED_MAX => format!("{} and {} more", listed(&all[..LISTED_MAX], ", "), n - LISTED_MAX),
        _ => listed(&all, ", "),
    };
    format!("unknown {kind} class `{class}` (linked {kind} classes: {shown})")
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
            "unknown connector class `FileStremSource`; did you mean `FileStreamSource`?"
        );
        assert_eq!(
            unknown_class("connector", "Lines", linked.into_iter(), linked.into_iter()),
            "unknown connector class `Lines` (linked connector classes: `FileStreamSource`, `org.example.Cast$Key`)"
        );
        let text = unknown_class("connector", "Cast$Key", linked.into_iter(), linked.into_iter());
        assert!(text.contains("did you mean `org.example.Cast$Key`?"), "{text}");
        let pair = ["org.example.Cast$Key", "org.example.Cast$Value"];
        let text = unknown_class("transformation", "Cast", pair.into_iter(), pair.into_iter());
        assert!(text.contains("did you mean `org.example.Cast$Key` or `org.example.Cast$Value`?"), "{text}");
        let many: Vec<String> = (0..LISTED_MAX + 2).map(|n| format!("a{n}")).collect();
        let text = unknown_class("plugin", "Lines", many.iter().map(String::as_str), std::iter::empty());
        assert!(text.ends_with("`a18`, `a19` and 2 more)"), "{text}");
    }
}
