//! Runs the conformance vectors of `tests/vectors/` and tells, for each subject, how many cases answer as Apache Kafka
//! does, how many deviate on purpose, were skipped, or differ.
//!
//! `CONNECT_VECTORS` names another directory to read `*.jsonl` from. A subject is one module here with a `SUBJECT`, and
//! a line in `SUBJECTS`.

mod case;
mod config;
mod converters;
mod data;
mod deviations;
mod notation;
mod projector;
mod properties;
mod topic_regex;
mod transforms;
mod validation;
mod values;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use case::{Case, Outcome, Subject, difference};
use deviations::{Deviations, Verdict};

/// Who answers which kind of case; kinds that are not here are skipped.
const SUBJECTS: &[Subject] = &[
    values::SUBJECT,
    data::SUBJECT,
    projector::SUBJECT,
    converters::JSON,
    converters::PRIMITIVE,
    converters::HEADER,
    config::SUBJECT,
    properties::SUBJECT,
    topic_regex::SUBJECT,
    transforms::TRANSFORM,
    transforms::SEQUENCE,
    transforms::PREDICATE,
    transforms::CHAIN,
    validation::SUBJECT,
];

/// How many differences are shown in full.
const SHOWN_MAX: usize = 200;

#[derive(Default)]
struct Tally {
    equal: usize,
    on_purpose: usize,
    skipped: usize,
    different: usize,
    unknown_quirk: usize,
}

#[test]
fn vectors_hold() {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors");
    let directory = std::env::var_os("CONNECT_VECTORS").map_or_else(|| own.clone(), PathBuf::from);
    let list = std::fs::read_to_string(own.join("deviations.toml")).expect("the list of deviations can be read");
    let list = Deviations::parse(&list).unwrap();

    let mut tallies: BTreeMap<String, Tally> = BTreeMap::new();
    let mut unknown_quirks: BTreeMap<String, usize> = BTreeMap::new();
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    let mut differences = Vec::new();
    for case in read_cases(&directory) {
        let tally = tallies.entry(case.subject.clone()).or_default();
        let (outcome, exact_messages) = run(&case);
        seen.insert(case.id.clone());
        if let Outcome::Skipped(why) = &outcome {
            *reasons.entry(why.clone()).or_default() += 1;
            tally.skipped += 1;
            continue;
        }
        let Some(difference) = difference(&case, &outcome, exact_messages) else {
            tally.equal += 1;
            continue;
        };
        match list.verdict(&case.id, case.quirk.as_deref()) {
            Verdict::OnPurpose => tally.on_purpose += 1,
            Verdict::UnknownQuirk => {
                tally.unknown_quirk += 1;
                *unknown_quirks.entry(case.quirk.clone().unwrap_or_default()).or_default() += 1;
            }
            Verdict::Mistake => {
                tally.different += 1;
                differences.push(format!("{} {} {}: {}\n  {difference}", case.id, case.class(), case.op(), case.input));
            }
        }
    }

    let mut report = format!("\nconformance vectors of {}\n", directory.display());
    report += "subject               equal  on purpose  skipped  different  unknown quirk\n";
    for (subject, tally) in &tallies {
        report += &format!(
            "{subject:<20} {:>6} {:>11} {:>8} {:>10} {:>14}\n",
            tally.equal, tally.on_purpose, tally.skipped, tally.different, tally.unknown_quirk
        );
    }
    for (quirk, count) in &unknown_quirks {
        report += &format!("unknown quirk `{quirk}`: {count} cases differ\n");
    }
    for (why, count) in &reasons {
        report += &format!("skipped {count}: {why}\n");
    }
    // The cases of another directory do not have to be those of the list.
    if directory == own {
        differences.extend(list.unused_cases(&seen).map(|id| format!("the listed case {id} does not exist")));
    }
    for difference in differences.iter().take(if directory == own { SHOWN_MAX } else { usize::MAX }) {
        report += &format!("DIFFERENT {difference}\n");
    }
    // Straight to standard error: the test harness keeps what a passing test prints to itself.
    std::io::stderr().write_all(report.as_bytes()).expect("standard error can be written to");
    assert!(differences.is_empty(), "{} cases differ from the reference and are not listed", differences.len());
}

fn read_cases(directory: &Path) -> Vec<Case> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(directory)
        .unwrap_or_else(|error| panic!("cannot read the vectors in {}: {error}", directory.display()))
        .map(|entry| entry.expect("the directory can be listed").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"))
        .collect();
    files.sort();
    let mut cases = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a vector file can be read");
        for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let case = serde_json::from_str(line);
            cases.push(case.unwrap_or_else(|error| panic!("{}:{}: {error}", file.display(), index + 1)));
        }
    }
    cases
}

/// The answer to a case, and whether its texts are compared word for word.
fn run(case: &Case) -> (Outcome, bool) {
    let Some(subject) = SUBJECTS.iter().find(|subject| subject.name == case.subject) else {
        return (Outcome::skipped(format!("subject `{}` is not built yet", case.subject)), false);
    };
    let outcome = catch_unwind(AssertUnwindSafe(|| (subject.run)(case))).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
        // A result that no case expects.
        Outcome::Result(format!("PANIC {}", text.unwrap_or("without a text")).into())
    });
    (outcome, subject.exact_messages)
}
