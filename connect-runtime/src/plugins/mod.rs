//! Finds connectors and converters by the text in a configuration; an unknown one lists what is linked.

use connect_sdk::{
    converter::ConverterClass,
    nearest::nearest,
    plugin::{ConnectorPlugin, Plugins},
};

/// The connector of a `connector.class`.
///
/// # Errors
/// Names the nearest linked class and all others.
pub(crate) fn find_connector<'a>(plugins: &'a Plugins, class: &str) -> Result<&'a ConnectorPlugin, String> {
    plugins.connector(class).ok_or_else(|| {
        let names = plugins.connectors().iter().map(ConnectorPlugin::name);
        unknown("connector", class, names, plugins.connectors().iter().flat_map(ConnectorPlugin::aliases))
    })
}

/// The converter of a `key.converter`, `value.converter` or `header.converter`.
///
/// # Errors
/// Names the nearest linked class and all others.
pub(crate) fn find_converter<'a>(plugins: &'a Plugins, class: &str) -> Result<&'a ConverterClass, String> {
    plugins.converter_class(class).ok_or_else(|| {
        let names = || plugins.converters().iter().map(|c| c.java);
        unknown("converter", class, names().map(simple_name), names().flat_map(|n| [n, simple_name(n)]))
    })
}

fn simple_name(class: &str) -> &str {
    class.rsplit('.').next().unwrap_or(class)
}

fn unknown<'a>(
    kind: &str,
    class: &str,
    names: impl Iterator<Item = &'a str>,
    aliases: impl Iterator<Item = &'a str>,
) -> String {
    let meant = nearest(class, aliases).map(|m| format!("; did you mean `{m}`?")).unwrap_or_default();
    let linked: Vec<String> = names.map(|n| format!("`{n}`")).collect();
    let linked = if linked.is_empty() { "none".to_owned() } else { linked.join(", ") };
    format!("unknown {kind} class `{class}`{meant} (linked {kind} classes: {linked})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_class_lists_what_is_linked() {
        let plugins = Plugins::new();
        assert_eq!(
            find_connector(&plugins, "FileStremSource").unwrap_err(),
            "unknown connector class `FileStremSource` (linked connector classes: none)"
        );
        let linked = ["FileStreamSource", "Lines"];
        assert_eq!(
            unknown("connector", "FileStremSource", linked.into_iter(), linked.into_iter()),
            "unknown connector class `FileStremSource`; did you mean `FileStreamSource`? \
             (linked connector classes: `FileStreamSource`, `Lines`)"
        );
    }
}
