//! A list of keys as people and programs read it: aligned text, Markdown, JSON. All from the definitions.

use std::fmt::Write as _;

use super::infos::ConfigKeyInfo;
use connect_sdk::config::{ConfigDef, ConfigKey};

/// How wide the documentation of a key may be in aligned text, in characters.
const TEXT_WIDTH: usize = 96;

/// The keys in order of definition, those for internal use left out.
fn shown(def: &ConfigDef) -> impl Iterator<Item = &ConfigKey> {
    def.keys().iter().filter(|key| !key.is_internal())
}

/// The default as readers see it.
fn default_text(info: &ConfigKeyInfo) -> String {
    match (&info.default_value, info.required) {
        (_, true) => "required".to_owned(),
        (Some(text), false) if text.is_empty() => "empty".to_owned(),
        (Some(text), false) => text.clone(),
        (None, false) => "none".to_owned(),
    }
}

fn allowed(key: &ConfigKey) -> String {
    key.validator_ref().map(ToString::to_string).unwrap_or_default()
}

/// The keys with their documentation, as text for a terminal.
#[must_use]
pub fn keys_as_text(def: &ConfigDef) -> String {
    let mut out = String::new();
    for key in shown(def) {
        let info = ConfigKeyInfo::from(key);
        let importance = info.importance.to_lowercase();
        let _infallible = writeln!(
            out,
            "{}  ({}, {}, {importance})",
            info.name,
            info.config_type.to_lowercase(),
            default_text(&info)
        );
        let allowed = allowed(key);
        for line in
            wrapped(&info.documentation).into_iter().chain((!allowed.is_empty()).then(|| format!("Allowed: {allowed}")))
        {
            let _infallible = writeln!(out, "    {line}");
        }
    }
    out
}

/// The keys as a table in Markdown.
#[must_use]
pub fn keys_as_markdown(def: &ConfigDef) -> String {
    let mut out = String::from(
        "| key | type | default | allowed | importance | meaning |\n| --- | --- | --- | --- | --- | --- |\n",
    );
    let cell = |text: &str| text.replace('|', "\\|").replace('\n', " ");
    for key in shown(def) {
        let info = ConfigKeyInfo::from(key);
        let default = match &info.default_value {
            Some(text) if !info.required && !text.is_empty() => format!("`{}`", cell(text)),
            _ => default_text(&info),
        };
        let _infallible = writeln!(
            out,
            "| `{}` | {} | {default} | {} | {} | {} |",
            info.name,
            info.config_type.to_lowercase(),
            cell(&allowed(key)),
            info.importance.to_lowercase(),
            cell(&info.documentation)
        );
    }
    out
}

/// The keys as Kafka Connect's `GET /connector-plugins/{plugin}/config` gives them.
#[must_use]
pub fn keys_as_json(def: &ConfigDef) -> String {
    let infos: Vec<ConfigKeyInfo> = shown(def).map(ConfigKeyInfo::from).collect();
    serde_json::to_value(infos).map(|json| format!("{json:#}")).unwrap_or_default()
}

fn wrapped(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut().filter(|line| line.chars().count() + 1 + word.chars().count() <= TEXT_WIDTH) {
            Some(line) => {
                line.push(' ');
                line.push_str(word);
            }
            None => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use connect_sdk::config::{ConfigType, Importance, Validator};

    fn def() -> ConfigDef {
        ConfigDef::new()
            .define(
                ConfigKey::new("a", ConfigType::Int)
                    .default("3")
                    .validator(Validator::at_least(1))
                    .doc("How many | what."),
            )
            .define(ConfigKey::new("b", ConfigType::String).importance(Importance::High).doc("Needed."))
            .define(ConfigKey::new("c", ConfigType::List).default("").doc("Some."))
            .define(ConfigKey::new("d", ConfigType::Password).null_default().doc("Secret."))
            .define(ConfigKey::new("x", ConfigType::String).default("").internal())
    }

    #[test]
    fn markdown_has_a_row_for_each_key_that_is_shown() {
        let text = keys_as_markdown(&def());
        let rows: Vec<&str> = text.lines().skip(2).collect();
        assert_eq!(
            rows,
            [
                "| `a` | int | `3` | [1,...] | medium | How many \\| what. |",
                "| `b` | string | required |  | high | Needed. |",
                "| `c` | list | empty |  | medium | Some. |",
                "| `d` | password | none |  | medium | Secret. |",
            ]
        );
    }

    #[test]
    fn text_and_json_say_the_same() {
        let text = keys_as_text(&def());
        assert!(
            text.starts_with(
                "a  (int, 3, medium)\n    How many | what.\n    Allowed: [1,...]\nb  (string, required, high)\n"
            ),
            "{text}"
        );
        let json: serde_json::Value = serde_json::from_str(&keys_as_json(&def())).unwrap();
        assert_eq!((&json[1]["name"], &json[1]["required"]), (&"b".into(), &true.into()));
        assert_eq!(json.as_array().unwrap().len(), 4);
    }

    #[test]
    fn long_texts_are_wrapped_between_words() {
        let lines = wrapped(&"word ".repeat(60));
        assert!(lines.len() > 2 && lines.iter().all(|line| line.len() <= TEXT_WIDTH), "{lines:?}");
        assert_eq!(wrapped(&"x".repeat(200)).len(), 1, "a word is not cut");
    }
}
