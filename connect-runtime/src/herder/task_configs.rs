//! How a connector's work is spread over its tasks. Pure: values in, values out.

use connect_sdk::source::PartitionMap;

/// Spreads partitions over at most `tasks_max` tasks: contiguous groups, the first ones larger by one where it does not
/// come out even. As Kafka's `ConnectorUtils.groupPartitions`, but never with an empty group.
pub(crate) fn group_partitions(partitions: Vec<PartitionMap>, tasks_max: usize) -> Vec<Vec<PartitionMap>> {
    let n_groups = tasks_max.min(partitions.len());
    if n_groups == 0 {
        return Vec::new();
    }
    let (size, larger) = (partitions.len() / n_groups, partitions.len() % n_groups);
    let mut rest = partitions.into_iter();
    (0..n_groups).map(|i| rest.by_ref().take(size + usize::from(i < larger)).collect()).collect()
}

/// Spreads a changed set of partitions: those that stay keep their task where the new groups have room for them.
pub(crate) fn regroup_partitions(
    before: &[Vec<PartitionMap>],
    now: Vec<PartitionMap>,
    tasks_max: usize,
) -> Vec<Vec<PartitionMap>> {
    let sizes: Vec<usize> = group_partitions(now.clone(), tasks_max).iter().map(Vec::len).collect();
    let mut groups: Vec<Vec<PartitionMap>> = vec![Vec::new(); sizes.len()];
    let mut homeless = Vec::new();
    for partition in now {
        let home = before.iter().position(|group| group.contains(&partition));
        match home {
            Some(task) if task < groups.len() && groups[task].len() < sizes[task] => groups[task].push(partition),
            _ => homeless.push(partition),
        }
    }
    let mut homeless = homeless.into_iter();
    for (group, size) in groups.iter_mut().zip(sizes) {
        let missing = size - group.len();
        group.extend(homeless.by_ref().take(missing));
    }
    groups
}

/// True if both groupings give every task the same partitions, in any order.
pub(crate) fn same_groups(a: &[Vec<PartitionMap>], b: &[Vec<PartitionMap>]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.len() == b.len() && a.iter().all(|p| b.contains(p)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use connect_sdk::source::{FieldMap, FieldValue};

    fn partitions(names: &str) -> Vec<PartitionMap> {
        names.chars().map(|c| FieldMap::new().with("p", FieldValue::Text(c.to_string()))).collect()
    }

    fn groups(names: &[&str]) -> Vec<Vec<PartitionMap>> {
        names.iter().map(|n| partitions(n)).collect()
    }

    #[test]
    fn groups_are_contiguous_and_the_first_ones_larger() {
        for (all, tasks, expected) in [
            ("abcde", 2, vec!["abc", "de"]),
            ("abcde", 5, vec!["a", "b", "c", "d", "e"]),
            ("ab", 5, vec!["a", "b"]),
            ("", 3, vec![]),
            ("abc", 1, vec!["abc"]),
        ] {
            assert_eq!(group_partitions(partitions(all), tasks), groups(&expected), "{all} over {tasks}");
        }
    }

    #[test]
    fn there_are_never_more_tasks_than_tasks_max() {
        // Before there were more, as many, fewer.
        let before = groups(&["a", "b", "c", "d", "e"]);
        for tasks_max in 0..=7 {
            for n in 0..=5 {
                let now = partitions(&"abcde"[..n]);
                let expected = tasks_max.min(n);
                let regrouped =
                    [&before[..], &before[..2], &[]].map(|old| regroup_partitions(old, now.clone(), tasks_max));
                for groups in [&[group_partitions(now.clone(), tasks_max)][..], &regrouped].concat() {
                    assert_eq!(groups.len(), expected, "{n} partitions, `tasks.max` {tasks_max}");
                    assert!(groups.iter().all(|group| !group.is_empty()));
                }
            }
        }
    }

    #[test]
    fn a_partition_keeps_its_task_where_it_can() {
        let before = groups(&["abc", "de"]);
        // One more: only it is new, in the group that has room.
        assert_eq!(regroup_partitions(&before, partitions("abcdef"), 2), groups(&["abc", "def"]));
        // One less in the first group: the sizes follow, the others stay.
        assert_eq!(regroup_partitions(&before, partitions("acde"), 2), groups(&["ac", "de"]));
        // Nothing is lost and nothing is twice, whatever changes.
        for now in ["xyz", "abcdefgh", "e", "edcba", ""] {
            let regrouped = regroup_partitions(&before, partitions(now), 3);
            let mut all: Vec<String> = regrouped.concat().iter().map(ToString::to_string).collect();
            all.sort_unstable();
            let mut expected: Vec<String> = partitions(now).iter().map(ToString::to_string).collect();
            expected.sort_unstable();
            assert_eq!(all, expected);
        }
    }

    #[test]
    fn order_within_a_task_is_no_change() {
        assert!(same_groups(&groups(&["abc", "de"]), &groups(&["cab", "ed"])));
        assert!(!same_groups(&groups(&["abc", "de"]), &groups(&["abd", "ce"])));
    }
}
