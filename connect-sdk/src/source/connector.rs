//! What `#[source_connector]` adds to a source: its name, its promise, its hook.

use super::{CommitHook, Source};

/// A source with its description; implemented by `#[source_connector(..)]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a source connector",
    label = "this type has no `#[source_connector(..)]` on its `impl Source`"
)]
pub trait SourceConnector: Source {
    /// The description.
    const META: SourceMeta;
    /// The commit hook; [`NoHook`](super::NoHook) if there is none.
    type Hook: CommitHook<Source = Self>;
}

/// The description of a source connector.
#[derive(Debug, Clone, Copy)]
pub struct SourceMeta {
    /// The class text that users write.
    pub name: &'static str,
    /// The Java class it stands for, if any.
    pub java: Option<&'static str>,
    /// The version of the crate that defines it.
    pub version: &'static str,
    /// The doc comment on its impl.
    pub doc: &'static str,
    /// What the author promises.
    pub exactly_once: ExactlyOnce,
    /// True if it marks its own transaction boundaries.
    pub defines_transactions: bool,
    /// True if it has a commit hook.
    pub has_hook: bool,
    /// The Rust type, for messages.
    pub type_name: &'static str,
}

/// What the author of a source says of replay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExactlyOnce {
    /// Every record can be read again from the offset before it; a replay test shows it.
    Supported,
    /// As `Supported`, without a test, for this reason.
    SupportedUntested(&'static str),
    /// It cannot be read again, for this reason.
    Unsupported(&'static str),
}
