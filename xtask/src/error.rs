//! The one error type of the repository tasks: a text for the person at the terminal, with its cause kept.

use std::fmt;

/// What went wrong, in words that say what to do about it.
#[derive(Debug)]
pub struct Error {
    text: String,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

/// The result of every repository task.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error with this text: lowercase, values in backticks, no full stop.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), source: None }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)?;
        if let Some(source) = &self.source {
            write!(f, ": {source}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}

/// Says what was being done when another error came up.
pub trait Context<T> {
    /// Puts `what()` in front of the error; the error itself stays as the source.
    ///
    /// # Errors
    /// The error of `self`, with the text in front.
    fn context(self, what: impl FnOnce() -> String) -> Result<T>;
}

impl<T, E: Into<Box<dyn std::error::Error + Send + Sync>>> Context<T> for std::result::Result<T, E> {
    fn context(self, what: impl FnOnce() -> String) -> Result<T> {
        self.map_err(|error| Error { text: what(), source: Some(error.into()) })
    }
}
