//! The licences of all dependencies against the list in `deny.toml`.

use std::fs;

use serde_json::Value;

use super::Finding;
use crate::error::{Context, Error, Result};
use crate::process::{Interrupts, cargo};
use crate::repo;

/// True if every dependency may be used: by `cargo deny`, which knows advisories and licence texts too, when it is
/// installed, and always by the licence that each dependency states.
pub(super) fn check(interrupts: &Interrupts) -> Result<bool> {
    let passed = super::report(&stated()?);
    if repo::program("cargo-deny").is_none() {
        eprintln!("note: cargo-deny is not installed: only the stated licences were checked");
        return Ok(passed);
    }
    let denied = interrupts.run(cargo().args(["deny", "--all-features", "check"]))?;
    Ok(passed && denied.success())
}

fn stated() -> Result<Vec<Finding>> {
    let path = repo::root().join("deny.toml");
    let text = fs::read_to_string(&path).context(|| format!("`{}` cannot be read", path.display()))?;
    let allowed = allowed(&text);
    if allowed.is_empty() {
        return Err(Error::new("`deny.toml` allows no licence: its list `allow` was not found"));
    }
    let output = cargo()
        .args(["metadata", "--format-version", "1", "--all-features"])
        .output()
        .context(|| "`cargo metadata` did not run".to_owned())?;
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(Error::new(format!("`cargo metadata` failed: {}", why.trim())));
    }
    let metadata: Value =
        serde_json::from_slice(&output.stdout).context(|| "`cargo metadata` printed no JSON".to_owned())?;
    let packages = metadata["packages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let findings = packages.iter().filter_map(|package| {
        let name = package["name"].as_str().unwrap_or_default();
        let version = package["version"].as_str().unwrap_or_default();
        let text = match package["license"].as_str() {
            None => "states no licence".to_owned(),
            Some(licence) if is_allowed(licence, &allowed) => return None,
            Some(licence) => format!("licence `{licence}` is not among those that deny.toml allows"),
        };
        Some(Finding { place: format!("{name} {version}"), text, is_note: false })
    });
    Ok(findings.collect())
}

/// The quoted names of the list `allow` of the table `[licenses]`.
fn allowed(deny_toml: &str) -> Vec<String> {
    let table = deny_toml.split("[licenses]").nth(1).unwrap_or_default();
    let list = table.split("\nallow = [").nth(1).and_then(|rest| rest.split(']').next()).unwrap_or_default();
    list.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

/// Evaluates an SPDX expression: `OR` needs one allowed side, `AND` binds tighter and needs both; `WITH` belongs to its
/// licence. The slash of old manifests means `OR`.
fn is_allowed(expression: &str, allowed: &[String]) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = &words[..];
    let result = either(&mut rest, allowed);
    result && rest.is_empty()
}

fn either(rest: &mut &[&str], allowed: &[String]) -> bool {
    let mut result = both(rest, allowed);
    while take(rest, "OR") {
        // Both sides are read, whatever the first one was.
        result |= both(rest, allowed);
    }
    result
}

fn both(rest: &mut &[&str], allowed: &[String]) -> bool {
    let mut result = one(rest, allowed);
    while take(rest, "AND") {
        result &= one(rest, allowed);
    }
    result
}

fn one(rest: &mut &[&str], allowed: &[String]) -> bool {
    if take(rest, "(") {
        let result = either(rest, allowed);
        return take(rest, ")") && result;
    }
    let Some((name, tail)) = rest.split_first() else { return false };
    *rest = tail;
    let mut licence = (*name).to_owned();
    if take(rest, "WITH")
        && let Some((exception, tail)) = rest.split_first()
    {
        *rest = tail;
        licence = format!("{licence} WITH {exception}");
    }
    allowed.contains(&licence)
}

fn take(rest: &mut &[&str], word: &str) -> bool {
    match rest.split_first() {
        Some((first, tail)) if *first == word => {
            *rest = tail;
            true
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn licence_expressions_are_evaluated() {
        let allowed = ["MIT", "Apache-2.0", "Apache-2.0 WITH LLVM-exception", "Unicode-3.0"].map(str::to_owned);
        for (expression, expected) in [
            ("MIT", true),
            ("GPL-3.0", false),
            ("MIT OR GPL-3.0", true),
            ("GPL-3.0 OR MIT", true),
            ("MIT AND GPL-3.0", false),
            ("(MIT OR Apache-2.0) AND Unicode-3.0", true),
            ("(MIT OR Apache-2.0) AND OpenSSL", false),
            ("GPL-3.0 OR MIT AND Unicode-3.0", true),
            ("Apache-2.0 WITH LLVM-exception OR GPL-3.0", true),
            ("MIT WITH Other-exception", false),
            ("MIT/Apache-2.0", true),
            ("(MIT", false),
            ("", false),
        ] {
            assert_eq!(is_allowed(expression, &allowed), expected, "{expression}");
        }
    }

    #[test]
    fn the_list_of_deny_toml_is_read() {
        let text = "[bans]\nallow = [\"no\"]\n[licenses]\n# A \"note\".\nallow = [\n    \"MIT\",\n    \"ISC\",\n]\nx = [\"y\"]\n";
        assert_eq!(allowed(text), ["MIT", "ISC"]);
    }
}
