//! The list of what we do on purpose otherwise than the reference: `tests/vectors/deviations.toml`.
//!
//! A line is `id = "same: .."` or `id = "better: .."` or `id = "either: .."` in the section `[quirks]`, or
//! `id = "reason"` in the section `[cases]`. Where the word is `same`, a difference is a mistake of ours.

use std::collections::BTreeMap;

#[derive(Debug, Default)]
pub struct Deviations {
    quirks: BTreeMap<String, String>,
    cases: BTreeMap<String, String>,
}

/// What the list says about a case that differs.
#[derive(Debug, PartialEq, Eq)]
pub enum Verdict {
    OnPurpose,
    Mistake,
    /// The case's quirk is not in the list.
    UnknownQuirk,
}

impl Deviations {
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut new = Self::default();
        let mut section = None;
        for (index, line) in text.lines().map(str::trim).enumerate() {
            let wrong = |what: &str| format!("line {} of the deviations {what}: {line}", index + 1);
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            if line.starts_with('[') {
                section = Some(match line {
                    "[quirks]" => &mut new.quirks,
                    "[cases]" => &mut new.cases,
                    _ => return Err(wrong("names an unknown section")),
                });
                continue;
            }
            let entry = line.split_once('=').and_then(|(id, reason)| {
                Some((id.trim().trim_matches('"'), reason.trim().strip_prefix('"')?.strip_suffix('"')?))
            });
            let Some((id, reason)) = entry else { return Err(wrong("is not `id = \"reason\"`")) };
            let Some(section) = &mut section else { return Err(wrong("stands before a section")) };
            if reason.is_empty() || section.insert(id.to_owned(), reason.to_owned()).is_some() {
                return Err(wrong("has no reason or stands there twice"));
            }
        }
        match new
            .quirks
            .iter()
            .find(|(_, reason)| !["same: ", "better: ", "either: "].iter().any(|w| reason.starts_with(w)))
        {
            Some((id, _)) => {
                Err(format!("the reason of quirk {id} must start with `same: `, `better: ` or `either: `"))
            }
            None => Ok(new),
        }
    }

    pub fn verdict(&self, case: &str, quirk: Option<&str>) -> Verdict {
        if self.cases.contains_key(case) {
            return Verdict::OnPurpose;
        }
        match quirk.map(|quirk| self.quirks.get(quirk)) {
            None => Verdict::Mistake,
            Some(None) => Verdict::UnknownQuirk,
            Some(Some(reason)) if reason.starts_with("same: ") => Verdict::Mistake,
            Some(Some(_)) => Verdict::OnPurpose,
        }
    }

    /// Ids of listed cases that are not among `seen`.
    pub fn unused_cases<'a>(&'a self, seen: &'a std::collections::BTreeSet<String>) -> impl Iterator<Item = &'a str> {
        self.cases.keys().filter(|id| !seen.contains(*id)).map(String::as_str)
    }
}

#[test]
fn a_difference_is_a_mistake_unless_it_is_listed() {
    let list = "# why\n[quirks]\na = \"same: contract\"\nb = \"better: exact\"\n[cases]\n\"c.1\" = \"reason\"\n";
    let list = Deviations::parse(list).unwrap();
    assert_eq!(list.verdict("x", None), Verdict::Mistake);
    assert_eq!(list.verdict("x", Some("a")), Verdict::Mistake);
    assert_eq!(list.verdict("x", Some("b")), Verdict::OnPurpose);
    assert_eq!(list.verdict("x", Some("new")), Verdict::UnknownQuirk);
    assert_eq!(list.verdict("c.1", None), Verdict::OnPurpose);
    Deviations::parse("a = \"same: x\"").unwrap_err();
    Deviations::parse("[quirks]\na = \"because\"").unwrap_err();
    Deviations::parse("[quirks]\na").unwrap_err();
}
