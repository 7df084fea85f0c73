//! Secrets in a configuration.

use std::fmt;

/// A secret: a password, a key, a token.
///
/// It prints as `[hidden]` with `{:?}` and has no `Display`, so that it cannot end in a log line or in an error by
/// accident. [`Password::expose`] is the one way to its text.
///
/// ```
/// use connect_sdk::config::Password;
/// let secret = Password::new("s3cret");
/// assert_eq!(format!("{secret:?}"), "[hidden]");
/// assert_eq!(secret.expose(), "s3cret");
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Password(Box<str>);

impl Password {
    /// What is shown instead of a secret, here and in validation results.
    pub const HIDDEN: &'static str = "[hidden]";

    /// Wraps a secret.
    pub fn new(secret: impl Into<String>) -> Self {
        Self(secret.into().into_boxed_str())
    }

    /// The secret itself, for the call that needs it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::HIDDEN)
    }
}
