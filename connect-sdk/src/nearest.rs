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
}
