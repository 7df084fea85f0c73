//! Fixture files: a line of JSON for each case, what goes in and what comes out.

use super::json::Read;
use serde_json::{Value as Json, json};
use std::{fmt::Write as _, fs, path::Path};

/// With this variable set, a check writes what came out into its file instead of failing.
const UPDATE: &str = "CONNECT_UPDATE_FIXTURES";
/// How many differences of one case a failure shows.
const DIFFERENCES_SHOWN_MAX: usize = 20;

/// Runs all cases of a file: `run` makes of an input what comes out, `normal` brings an expectation into the same form.
///
/// # Panics
/// A case differs, unless the file is to be updated; or the file cannot be read.
pub(super) fn check(path: &Path, run: impl FnMut(&Json) -> Read<Outcome>, normal: impl Fn(&Json) -> Read<Json>) {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let is_update = std::env::var_os(UPDATE).is_some_and(|value| !value.is_empty() && value != "0");
    let Checked { updated, failures } = check_text(&text, run, normal);
    if is_update {
        if updated != text {
            fs::write(path, updated).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        }
    } else if !failures.is_empty() {
        let n = failures.len();
        let failures = failures.join("\n");
        panic!("{}: {n} case(s) differ; `{UPDATE}=1` writes what came out into the file\n{failures}", path.display());
    }
}

/// What became of an input: what came out, or the error.
pub(super) type Outcome = Result<Json, String>;

pub(super) struct Checked {
    /// The text with what came out.
    pub(super) updated: String,
    pub(super) failures: Vec<String>,
}

pub(super) fn check_text(
    text: &str,
    mut run: impl FnMut(&Json) -> Read<Outcome>,
    normal: impl Fn(&Json) -> Read<Json>,
) -> Checked {
    let mut checked = Checked { updated: String::new(), failures: Vec::new() };
    let mut n_cases = 0;
    for (line, case) in (1..).zip(text.lines()) {
        let is_case = !case.trim().is_empty() && !case.trim_start().starts_with('#');
        let mut updated = case.to_owned();
        if is_case {
            n_cases += 1;
            match one(case, &mut run, &normal) {
                Ok(None) => {}
                Ok(Some((differences, json))) => {
                    checked.failures.push(format!("line {line}: {case}\n{differences}"));
                    updated = json.to_string();
                }
                Err(why) => checked.failures.push(format!("line {line}: {why}")),
            }
        }
        checked.updated.push_str(&updated);
        checked.updated.push('\n');
    }
    if n_cases == 0 {
        checked.failures.push("there is no case in it, so it shows nothing".to_owned());
    }
    checked
}

/// What differs in a case, and how the case should read.
fn one(
    case: &str,
    run: &mut impl FnMut(&Json) -> Read<Outcome>,
    normal: &impl Fn(&Json) -> Read<Json>,
) -> Read<Option<(String, Json)>> {
    let case: Json = serde_json::from_str(case).map_err(|error| format!("it is not JSON: {error}"))?;
    let members = case.as_object().ok_or("a case is an object")?;
    if let Some(unknown) = members.keys().find(|name| !["in", "out", "error"].contains(&name.as_str())) {
        return Err(format!("a case has no `{unknown}`; it has `in`, and `out` or `error`"));
    }
    let input = members.get("in").ok_or("a case has `in`")?;
    let got = run(input)?;
    let should = match &got {
        Ok(out) => json!({ "in": input, "out": out }),
        Err(error) => json!({ "in": input, "error": error }),
    };
    let mut differences = Vec::new();
    match (members.get("out"), members.get("error"), &got) {
        (Some(expected), None, Ok(got)) => {
            let expected = normal(expected).map_err(|why| format!("`out`: {why}"))?;
            compare("out", Some(&expected), Some(got), &mut differences);
        }
        (None, Some(expected), Err(got)) if expected.as_str() == Some(got) => {}
        (out, error, got) => {
            let told = |out: Option<&Json>, error: Option<&Json>| match (out, error) {
                (Some(out), None) => out.to_string(),
                (None, Some(error)) => format!("the error {error}"),
                (None, None) => "nothing: the case has neither `out` nor `error`".to_owned(),
                (Some(_), Some(_)) => "both `out` and `error`".to_owned(),
            };
            let got = match got {
                Ok(out) => told(Some(out), None),
                Err(error) => told(None, Some(&json!(error))),
            };
            differences.push(format!("  - {}\n  + {got}", told(out, error)));
        }
    }
    if differences.is_empty() {
        return Ok(None);
    }
    let n = differences.len();
    let mut text = differences.into_iter().take(DIFFERENCES_SHOWN_MAX).collect::<Vec<_>>().join("\n");
    if n > DIFFERENCES_SHOWN_MAX {
        let _infallible = write!(text, "\n  and {} more", n - DIFFERENCES_SHOWN_MAX);
    }
    Ok(Some((text, should)))
}

/// The places at which two values differ: `-` is what was expected, `+` what came.
fn compare(path: &str, expected: Option<&Json>, got: Option<&Json>, into: &mut Vec<String>) {
    match (expected, got) {
        (Some(Json::Object(expected)), Some(Json::Object(got))) => {
            let more = got.keys().filter(|name| !expected.contains_key(*name));
            for name in expected.keys().chain(more) {
                compare(&format!("{path}.{name}"), expected.get(name), got.get(name), into);
            }
        }
        (Some(Json::Array(expected)), Some(Json::Array(got))) => {
            for index in 0..expected.len().max(got.len()) {
                compare(&format!("{path}[{index}]"), expected.get(index), got.get(index), into);
            }
        }
        (expected, got) if expected == got => {}
        (expected, got) => {
            let told = |json: Option<&Json>| json.map_or_else(|| "nothing".to_owned(), Json::to_string);
            into.push(format!("  {path}\n  - {}\n  + {}", told(expected), told(got)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn upper(input: &Json) -> Read<Outcome> {
        let text = input.as_str().ok_or("the input is text")?;
        Ok(if text.is_empty() { Err("it is empty".to_owned()) } else { Ok(json!({ "text": text.to_uppercase() })) })
    }

    fn checked(text: &str) -> Checked {
        check_text(text, upper, |json| Ok(json.clone()))
    }

    #[test]
    fn right_expectations_pass_and_the_text_stays() {
        let text =
            "# a comment\n{\"in\":\"a\",\"out\":{\"text\":\"A\"}}\n\n{\"in\": \"\", \"error\": \"it is empty\"}\n";
        let Checked { updated, failures } = checked(text);
        assert_eq!((updated.as_str(), failures.len()), (text, 0), "{failures:?}");
    }

    #[test]
    fn a_wrong_expectation_is_shown_with_its_place_and_can_be_mended() {
        let text = "# a comment\n{\"in\":\"a\",\"out\":{\"text\":\"a\",\"more\":1}}\n";
        let Checked { updated, failures } = checked(text);
        assert_eq!(
            failures,
            [
                "line 2: {\"in\":\"a\",\"out\":{\"text\":\"a\",\"more\":1}}\n  out.text\n  - \"a\"\n  + \"A\"\n  out.more\n  - 1\n  + nothing"
            ]
        );
        assert_eq!(updated, "# a comment\n{\"in\":\"a\",\"out\":{\"text\":\"A\"}}\n");
        assert!(checked(&updated).failures.is_empty());
    }

    #[test]
    fn a_case_that_shows_nothing_fails() {
        for (text, part) in [
            ("", "there is no case"),
            ("# only this\n", "there is no case"),
            ("{\"in\":\"a\"}", "neither `out` nor `error`"),
            ("{\"in\":\"a\",\"out\":{\"text\":\"A\"},\"error\":\"e\"}", "both `out` and `error`"),
            ("{\"in\":\"a\",\"error\":\"it is empty\"}", "+ {\"text\":\"A\"}"),
            ("{\"in\":\"\",\"out\":1}", "+ the error \"it is empty\""),
            ("{\"in\":\"\",\"error\":\"empty\"}", "- the error \"empty\""),
            ("{\"in\":1,\"out\":1}", "the input is text"),
            ("{\"in\":\"a\",\"uot\":1}", "a case has no `uot`"),
            ("{\"in\"", "it is not JSON"),
        ] {
            let failures = checked(text).failures;
            assert!(failures.len() == 1 && failures[0].contains(part), "{text}: {failures:?}");
        }
    }

    #[test]
    fn a_long_difference_is_cut() {
        let long: Vec<u32> = (0..100).collect();
        let Checked { failures, .. } =
            check_text(&json!({ "in": 0, "out": long }).to_string(), |_| Ok(Ok(json!([]))), |json| Ok(json.clone()));
        assert!(failures[0].ends_with("and 80 more"), "{failures:?}");
    }
}
