//! Checks of the REST API's keys.

use connect_sdk::config::{ConfigError, ParsedValue, Validator};

/// What a rule may do to a header.
const HEADER_ACTIONS: [&str; 4] = ["set", "add", "setDate", "addDate"];

/// At least one address, none of them blank.
pub(super) fn listeners() -> Validator {
    const EXAMPLE: &str = "ex: http://localhost:8080,https://localhost:8443";
    Validator::lambda(format!("List of comma-separated URLs, {EXAMPLE}."), |key, value| {
        let ParsedValue::List(urls) = value else {
            let text = format!("Invalid value type for listeners (expected list of URLs , {EXAMPLE}).");
            return Err(ConfigError::on(key, text));
        };
        if urls.is_empty() {
            let text = format!("Invalid value for listeners, at least one URL is expected, {EXAMPLE}.");
            return Err(ConfigError::on(key, text));
        }
        if urls.iter().any(|url| url.trim().is_empty()) {
            return Err(ConfigError::on(key, "Empty URL found when parsing listeners list."));
        }
        Ok(())
    })
}

/// Rules `[action] [header name]:[header value]` between commas; a rule with a comma stands in double quotes.
pub(super) fn response_headers() -> Validator {
    Validator::lambda("header rules between commas", |key, value| match value {
        ParsedValue::String(text) if !text.trim().is_empty() => {
            split_quoted(text).iter().try_for_each(|rule| check_rule(rule)).map_err(|why| ConfigError::on(key, why))
        }
        _ => Ok(()),
    })
}

fn check_rule(rule: &str) -> Result<(), String> {
    let Some((action, header)) = rule.trim().split_once(char::is_whitespace) else {
        let expected = "Expected: '[action] [header name]:[header value]'";
        return Err(format!("Invalid format of header config '{rule}'. {expected}"));
    };
    if !HEADER_ACTIONS.contains(&action) {
        let actions = HEADER_ACTIONS.join(", ");
        return Err(format!("Invalid header config action: '{action}'. Expected one of [{actions}]"));
    }
    let header = header.trim_start();
    let parts: Vec<&str> = header.trim().split(':').collect();
    // As Java's split: empty parts at the end do not count.
    let counted = parts.iter().rposition(|part| !part.is_empty()).map_or(0, |last| last + 1);
    if counted != 2 {
        let expected = "Expected: '[header name]:[header value]'";
        return Err(format!("Invalid format of header name and header value pair '{header}'. {expected}"));
    }
    let name = parts[0].trim();
    if name.is_empty() || name.contains(char::is_whitespace) {
        return Err(format!("Invalid header name '{name}'. The '[header name]' cannot contain whitespace"));
    }
    Ok(())
}

/// The parts between commas that do not stand in double quotes, without their quotes.
fn split_quoted(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut quoted = false;
    for c in text.chars() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => parts.push(String::new()),
            c => parts.iter_mut().next_back().into_iter().for_each(|part| part.push(c)),
        }
    }
    let mut parts: Vec<String> = parts.into_iter().map(|part| part.trim().to_owned()).collect();
    // Nothing behind the last comma is no part.
    if parts.len() > 1 && parts.last().is_some_and(String::is_empty) {
        parts.pop();
    }
    parts
}
