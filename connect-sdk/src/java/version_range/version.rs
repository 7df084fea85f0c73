//! The order of versions: `ComparableVersion` of the maven-artifact that Kafka ships. Numbers go by value, known words
//! (`alpha`, `rc`, `SNAPSHOT`) stand before the release and unknown ones behind it, and `1.0` is `1`.

use std::cmp::Ordering;

/// A part of a version.
#[derive(Debug)]
enum Item {
    /// Digits without leading zeros, of any length; none is zero.
    Number(String),
    Word(String),
    /// What stands behind a hyphen, or where digits and letters meet.
    List(Vec<Self>),
}

/// Compares two versions.
#[must_use]
pub fn compare(a: &str, b: &str) -> Ordering {
    compare_lists(&parse(a), &parse(b))
}

/// Words in their order; the empty one is the release.
const QUALIFIERS: [&str; 7] = ["alpha", "beta", "milestone", "rc", "snapshot", "", "sp"];

/// Where a word stands: known ones by their place, the others behind them by their letters.
fn rank(word: &str) -> (usize, &str) {
    match QUALIFIERS.iter().position(|known| *known == word) {
        Some(place) => (place, ""),
        None => (QUALIFIERS.len(), word),
    }
}

fn word(text: &str, before_digit: bool) -> Item {
    let meant = match (text, before_digit) {
        ("a", true) => "alpha",
        ("b", true) => "beta",
        ("m", true) => "milestone",
        ("ga" | "final" | "release", _) => "",
        ("cr", _) => "rc",
        _ => text,
    };
    Item::Word(meant.to_owned())
}

fn item(is_digit: bool, text: &str) -> Item {
    if is_digit { Item::Number(text.trim_start_matches('0').to_owned()) } else { word(text, false) }
}

/// Lists that are still open: each is the last item of the one before.
struct Open(Vec<Vec<Item>>);

impl Open {
    fn innermost(&mut self) -> &mut Vec<Item> {
        self.0.last_mut().expect("the outermost list stays open")
    }

    fn add(&mut self, item: Item) {
        self.innermost().push(item);
    }

    fn add_list(&mut self) {
        self.0.push(Vec::new());
    }

    fn close(mut self) -> Vec<Item> {
        let mut inner = normalized(self.0.pop().unwrap_or_default());
        while let Some(mut outer) = self.0.pop() {
            outer.push(Item::List(inner));
            inner = normalized(outer);
        }
        inner
    }
}

fn parse(version: &str) -> Vec<Item> {
    let version = version.to_lowercase();
    let mut open = Open(vec![Vec::new()]);
    let (mut start, mut is_digit) = (0, false);
    for (at, c) in version.char_indices() {
        let text = &version[start..at];
        if c == '.' || c == '-' {
            open.add(if text.is_empty() { item(true, "0") } else { item(is_digit, text) });
            start = at + 1;
            if c == '-' {
                open.add_list();
            }
        } else if c.is_ascii_digit() {
            if !is_digit && !text.is_empty() {
                // `1.rc2` is `1-rc2`.
                if !open.innermost().is_empty() {
                    open.add_list();
                }
                open.add(word(text, true));
                start = at;
                open.add_list();
            }
            is_digit = true;
        } else {
            if is_digit && !text.is_empty() {
                open.add(item(true, text));
                start = at;
                open.add_list();
            }
            is_digit = false;
        }
    }
    if start < version.len() {
        if !is_digit && !open.innermost().is_empty() {
            open.add_list();
        }
        open.add(item(is_digit, &version[start..]));
    }
    open.close()
}

/// Without zeros and releases that say nothing at the end, whatever lists stand behind them: `1.0.0` is `1`.
fn normalized(mut list: Vec<Item>) -> Vec<Item> {
    for at in (0..list.len()).rev() {
        let says_nothing = match &list[at] {
            Item::Number(text) | Item::Word(text) => text.is_empty(),
            Item::List(items) => items.is_empty(),
        };
        if says_nothing {
            list.remove(at);
        } else if !matches!(list[at], Item::List(_)) {
            break;
        }
    }
    list
}

fn compare_lists(a: &[Item], b: &[Item]) -> Ordering {
    let pairs = (0..a.len().max(b.len())).map(|at| match (a.get(at), b.get(at)) {
        (Some(a), Some(b)) => compare_items(a, b),
        (Some(a), None) => to_nothing(a),
        (None, Some(b)) => to_nothing(b).reverse(),
        (None, None) => Ordering::Equal,
    });
    pairs.fold(Ordering::Equal, Ordering::then)
}

/// How an item stands to the place where the other version has none.
fn to_nothing(item: &Item) -> Ordering {
    match item {
        Item::Number(digits) => digits.len().cmp(&0),
        Item::Word(word) => rank(word).cmp(&rank("")),
        Item::List(items) => items.iter().map(to_nothing).fold(Ordering::Equal, Ordering::then),
    }
}

fn compare_items(a: &Item, b: &Item) -> Ordering {
    use Item::{List, Number, Word};
    match (a, b) {
        (Number(a), Number(b)) => a.len().cmp(&b.len()).then_with(|| a.cmp(b)),
        (Word(a), Word(b)) => rank(a).cmp(&rank(b)),
        (List(a), List(b)) => compare_lists(a, b),
        (Number(_), _) | (List(_), Word(_)) => Ordering::Greater,
        (_, Number(_)) | (Word(_), List(_)) => Ordering::Less,
    }
}
