//! The errors a connector hands to the framework: each says whether trying again can help.

use std::{error::Error, fmt, time::Duration};

/// The cause of a [`TaskError`]: any error that may cross threads.
pub type Cause = Box<dyn Error + Send + Sync>;

/// The result of every call that a connector answers.
pub type Result<T, E = TaskError> = core::result::Result<T, E>;

/// An error of a connector, with the decision that only its author can take: does it help to try again?
///
/// There is no conversion from foreign errors; say which with [`ResultExt::retriable`], [`ResultExt::retriable_after`]
/// or [`ResultExt::fatal`], or implement [`Classify`] for an error type of your own and use `?` alone.
///
/// ```
/// use connect_sdk::prelude::*;
/// fn parse(text: &str) -> Result<i64> {
///     text.parse::<i64>().fatal()
/// }
/// assert!(parse("x").is_err_and(|e| !e.is_retriable()));
/// ```
#[allow(clippy::exhaustive_enums, reason = "a third answer to whether trying again helps does not exist")]
#[derive(Debug)]
pub enum TaskError {
    /// It may work later: the framework drops the work in hand and tries again.
    Retriable {
        /// What went wrong.
        cause: Cause,
        /// How long to wait before the next try; `None` leaves it to the framework's back-off.
        after: Option<Duration>,
    },
    /// It will not work by itself: the task becomes FAILED, its accepted offsets are stored.
    Fatal(Cause),
}

impl TaskError {
    /// A retriable error whose delay the framework chooses.
    pub fn retriable(cause: impl Into<Cause>) -> Self {
        Self::Retriable { cause: cause.into(), after: None }
    }

    /// A retriable error that is not tried again before `after` has passed.
    pub fn retriable_after(cause: impl Into<Cause>, after: Duration) -> Self {
        Self::Retriable { cause: cause.into(), after: Some(after) }
    }

    /// A fatal error.
    pub fn fatal(cause: impl Into<Cause>) -> Self {
        Self::Fatal(cause.into())
    }

    /// True if trying again may help.
    #[must_use]
    pub fn is_retriable(&self) -> bool {
        matches!(self, Self::Retriable { .. })
    }

    /// The error underneath.
    #[must_use]
    pub fn cause(&self) -> &(dyn Error + Send + Sync + 'static) {
        match self {
            Self::Retriable { cause, .. } | Self::Fatal(cause) => cause.as_ref(),
        }
    }

    /// The text of the error and of everything beneath it, joined by `: `, each text once.
    #[must_use]
    pub fn chain(&self) -> String {
        chain_of(self.cause())
    }
}

/// An error with its causes, each only if the text does not say it already.
pub(crate) fn chain_of(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(error) = next {
        let part = error.to_string();
        if !text.contains(&part) {
            text.push_str(": ");
            text.push_str(&part);
        }
        next = error.source();
    }
    text
}

impl fmt::Display for TaskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self.cause(), f)
    }
}

/// One error in two places.
#[derive(Debug, Clone)]
pub(crate) struct SharedCause(std::sync::Arc<dyn Error + Send + Sync>);

impl SharedCause {
    pub(crate) fn new(cause: Cause) -> Self {
        Self(cause.into())
    }

    /// The error itself.
    pub(crate) fn shared(&self) -> &(dyn Error + Send + Sync + 'static) {
        self.0.as_ref()
    }
}

impl fmt::Display for SharedCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Error for SharedCause {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source()
    }
}

/// Says for an error type of your own whether it is retriable, so that plain `?` works on it.
///
/// ```
/// use connect_sdk::prelude::*;
/// #[derive(Debug)]
/// struct Busy;
/// impl std::fmt::Display for Busy {
///     fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result { f.write_str("busy") }
/// }
/// impl std::error::Error for Busy {}
/// impl Classify for Busy {
///     fn classify(&self) -> Class { Class::Retriable { after: None } }
/// }
/// fn ask() -> Result<()> { Err(Busy)? }
/// assert!(ask().is_err_and(|e| e.is_retriable()));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say whether trying again can help",
    label = "say which: `.retriable()?` or `.fatal()?`",
    note = "or implement `Classify` for an error type of your own"
)]
pub trait Classify: Error + Send + Sync + 'static {
    /// Called once, when the error becomes a [`TaskError`].
    fn classify(&self) -> Class;
}

/// The answer of [`Classify::classify`].
#[allow(clippy::exhaustive_enums, reason = "as `TaskError`")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// Trying again may help, not before `after` if it is given.
    Retriable {
        /// The shortest wait before the next try.
        after: Option<Duration>,
    },
    /// Trying again does not help.
    Fatal,
}

/// A value that does not fit is not going to fit later, unless the error says that it may.
impl Classify for crate::data::DataError {
    fn classify(&self) -> Class {
        if self.is_retriable() { Class::Retriable { after: None } } else { Class::Fatal }
    }
}

/// A wrong configuration stays wrong until somebody changes it.
impl Classify for crate::config::ConfigErrors {
    fn classify(&self) -> Class {
        Class::Fatal
    }
}

impl<E: Classify> From<E> for TaskError {
    fn from(error: E) -> Self {
        match error.classify() {
            Class::Retriable { after } => Self::Retriable { cause: Box::new(error), after },
            Class::Fatal => Self::Fatal(Box::new(error)),
        }
    }
}

/// Turns the error of any result into a [`TaskError`]: `.retriable()?`, `.retriable_after(delay)?`, `.fatal()?`.
pub trait ResultExt<T> {
    /// Trying again may help; the framework chooses the delay.
    ///
    /// # Errors
    /// The error of `self`, as [`TaskError::Retriable`].
    fn retriable(self) -> Result<T>;

    /// Trying again may help, but not before `delay` has passed.
    ///
    /// # Errors
    /// The error of `self`, as [`TaskError::Retriable`] with the delay.
    fn retriable_after(self, delay: Duration) -> Result<T>;

    /// Trying again does not help: the task fails.
    ///
    /// # Errors
    /// The error of `self`, as [`TaskError::Fatal`].
    fn fatal(self) -> Result<T>;
}

impl<T, E: Into<Cause>> ResultExt<T> for core::result::Result<T, E> {
    fn retriable(self) -> Result<T> {
        self.map_err(TaskError::retriable)
    }

    fn retriable_after(self, delay: Duration) -> Result<T> {
        self.map_err(|e| TaskError::retriable_after(e, delay))
    }

    fn fatal(self) -> Result<T> {
        self.map_err(TaskError::fatal)
    }
}
