//! The value of `sasl.jaas.config`: one login module with its options, in JAAS's syntax.

use std::fmt;

/// `class flag key=value ...;`
#[derive(Clone, PartialEq, Eq)]
pub(super) struct LoginModule {
    pub(super) class: String,
    options: Vec<(String, String)>,
}

impl fmt::Debug for LoginModule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.options.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("LoginModule").field("class", &self.class).field("options", &names).finish()
    }
}

impl LoginModule {
    /// The value of an option.
    pub(super) fn option(&self, name: &str) -> Option<&str> {
        self.options.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The class without its package.
    pub(super) fn short_class(&self) -> &str {
        self.class.rsplit('.').next().unwrap_or_default()
    }

    /// Reads the text.
    ///
    /// # Errors
    /// What is wrong, without any option's value.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut tokens = tokens(text)?.into_iter().peekable();
        let Some(Token::Word(class)) = tokens.next() else {
            return Err("it must begin with the class of a login module".to_owned());
        };
        match tokens.next() {
            Some(Token::Word(flag))
                if ["required", "requisite", "sufficient", "optional"]
                    .contains(&flag.to_ascii_lowercase().as_str()) => {}
            _ => {
                return Err(format!(
                    "`{class}` must be followed by one of `required`, `requisite`, `sufficient`, `optional`"
                ));
            }
        }
        let mut options = Vec::new();
        loop {
            match tokens.next() {
                Some(Token::End) => break,
                Some(Token::Word(name)) => {
                    let (Some(Token::Equals), Some(Token::Word(value) | Token::Quoted(value))) =
                        (tokens.next(), tokens.next())
                    else {
                        return Err(format!("option `{name}` must be followed by `=` and a value"));
                    };
                    options.push((name, value));
                }
                None => return Err("it must end with `;`".to_owned()),
                Some(Token::Equals | Token::Quoted(_)) => {
                    return Err("an option must have the form `name=\"value\"`".to_owned());
                }
            }
        }
        if tokens.peek().is_some() {
            return Err("only one login module is allowed".to_owned());
        }
        Ok(Self { class, options })
    }
}

enum Token {
    Word(String),
    Quoted(String),
    Equals,
    End,
}

fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            c if c.is_whitespace() => {}
            '=' => tokens.push(Token::Equals),
            ';' => tokens.push(Token::End),
            '"' | '\'' => {
                let mut value = String::new();
                loop {
                    match chars.next() {
                        None => return Err("a quoted value has no end".to_owned()),
                        Some(end) if end == c => break,
                        Some('\\') => match chars.next() {
                            None => return Err("a quoted value has no end".to_owned()),
                            Some('n') => value.push('\n'),
                            Some('r') => value.push('\r'),
                            Some('t') => value.push('\t'),
                            Some(other) => value.push(other),
                        },
                        Some(other) => value.push(other),
                    }
                }
                tokens.push(Token::Quoted(value));
            }
            first => {
                let mut word = String::from(first);
                while let Some(next) =
                    chars.next_if(|next| !next.is_whitespace() && !matches!(next, '=' | ';' | '"' | '\''))
                {
                    word.push(next);
                }
                tokens.push(Token::Word(word));
            }
        }
    }
    Ok(tokens)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_module_is_read_with_its_options() {
        let module = LoginModule::parse(
            "org.apache.kafka.common.security.plain.PlainLoginModule required\n  username=\"al\\\"ice\" password='s;e=c' n=1;",
        )
        .unwrap();
        assert_eq!(module.short_class(), "PlainLoginModule");
        assert_eq!(module.option("username"), Some("al\"ice"));
        assert_eq!(module.option("password"), Some("s;e=c"));
        assert_eq!(module.option("n"), Some("1"));
        assert_eq!(module.option("other"), None);
    }

    #[test]
    fn mistakes_are_told_without_the_values() {
        for (text, want) in [
            ("", "begin with the class"),
            ("a.B username=\"hunter2\";", "must be followed by one of"),
            ("a.B required password=\"hunter2\"", "must end with `;`"),
            ("a.B required password \"hunter2\";", "option `password`"),
            ("a.B required password=\"hunter2", "has no end"),
            ("a.B required; a.C required;", "only one login module"),
            ("a.B required \"hunter2\";", "form"),
        ] {
            let error = LoginModule::parse(text).unwrap_err();
            assert!(error.contains(want), "{text}: {error}");
            assert!(!error.contains("hunter2"), "{error}");
        }
        let module = LoginModule::parse("a.B required password=\"hunter2\";").unwrap();
        assert!(!format!("{module:?}").contains("hunter2"));
    }

    /// In quotes, with a backslash before what would end them.
    fn quoted(text: &str, quote: char) -> String {
        let escaped: String = text
            .chars()
            .flat_map(|c| [('\\', matches!(c, '\\') || c == quote), (c, true)])
            .filter_map(|(c, stands)| stands.then_some(c))
            .collect();
        format!("{quote}{escaped}{quote}")
    }

    proptest::proptest! {
        #[test]
        fn options_are_read_as_they_were_written(one in "\\PC{0,12}", two in "[\"'\\\\;= nrt]{0,8}") {
            let text = format!("a.B required one={} two = {};", quoted(&one, '"'), quoted(&two, '\''));
            let module = LoginModule::parse(&text).unwrap();
            proptest::prop_assert_eq!(module.option("one"), Some(one.as_str()));
            proptest::prop_assert_eq!(module.option("two"), Some(two.as_str()));
        }

        #[test]
        fn no_text_panics(text in "(a\\.B| |required|x|=|;|\"|'|\\\\|\\PC){0,12}") {
            let _outcome = LoginModule::parse(&text);
        }
    }
}
