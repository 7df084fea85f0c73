//! The names that authors write in attributes, each once.

pub(crate) const CRATE: &str = "crate";
pub(crate) const DEFAULT: &str = "default";
pub(crate) const RENAME: &str = "rename";
pub(crate) const RENAME_ALL: &str = "rename_all";
pub(crate) const LOCK: &str = "lock";
pub(crate) const KEY: &str = "key";
pub(crate) const RANGE: &str = "range";
pub(crate) const CHECK: &str = "check";
pub(crate) const IMPORTANCE: &str = "importance";
pub(crate) const GROUP: &str = "group";
pub(crate) const DISPLAY_NAME: &str = "display_name";
pub(crate) const NOT_SECRET: &str = "not_secret";
pub(crate) const VALIDATOR: &str = "validator";
pub(crate) const WIDTH: &str = "width";
pub(crate) const OF: &str = "of";
pub(crate) const CASE_INSENSITIVE: &str = "case_insensitive";
pub(crate) const SKIP: &str = "skip";
pub(crate) const NAME: &str = "name";
pub(crate) const JAVA: &str = "java";
pub(crate) const VERSION: &str = "version";
pub(crate) const DOC: &str = "doc";
pub(crate) const EXACTLY_ONCE: &str = "exactly_once";
pub(crate) const REPLAY_TEST: &str = "replay_test";
pub(crate) const TRANSACTION_BOUNDARIES: &str = "transaction_boundaries";
pub(crate) const ON_COMMIT: &str = "on_commit";

/// The arguments of `#[source_connector(..)]`.
pub(crate) const SOURCE_ARGUMENTS: &[&str] =
    &[NAME, JAVA, VERSION, EXACTLY_ONCE, REPLAY_TEST, TRANSACTION_BOUNDARIES, ON_COMMIT, CRATE];
/// The arguments of `#[sink_connector(..)]`.
pub(crate) const SINK_ARGUMENTS: &[&str] = &[NAME, JAVA, VERSION, CRATE];
/// The arguments of `#[transformation(..)]`, `#[predicate(..)]` and `#[converter(..)]`.
pub(crate) const PLUGIN_ARGUMENTS: &[&str] = &[NAME, JAVA, VERSION, CRATE];
