//! Errors with words around them.

use crate::error::{Cause, TaskError};
use std::{error::Error, fmt, sync::Arc};

/// The same error, with words before it.
pub(super) fn context(words: &str, error: TaskError) -> TaskError {
    match error {
        TaskError::Retriable { cause, after } => {
            TaskError::Retriable { cause: Box::new(InContext { words: words.to_owned(), cause }), after }
        }
        TaskError::Fatal(cause) => TaskError::Fatal(Box::new(InContext { words: words.to_owned(), cause })),
    }
}

#[derive(Debug)]
struct InContext {
    words: String,
    cause: Cause,
}

impl fmt::Display for InContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.words, self.cause)
    }
}

impl Error for InContext {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.cause.source()
    }
}

/// The error of one record, of the same class as that of all who share it.
pub(super) fn shared(error: Arc<TaskError>) -> TaskError {
    match &*error {
        TaskError::Retriable { after, .. } => TaskError::Retriable { after: *after, cause: Box::new(Shared(error)) },
        TaskError::Fatal(_) => TaskError::fatal(Shared(error)),
    }
}

/// An error that several records share.
#[derive(Debug)]
pub(super) struct Shared(pub(super) Arc<TaskError>);

impl fmt::Display for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Error for Shared {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.cause().source()
    }
}
