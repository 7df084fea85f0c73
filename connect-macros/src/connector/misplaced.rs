//! Methods that Kafka Connect's Java interfaces have and ours do not: what to write instead.

/// The trait that an attribute stands on.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Kind {
    Source,
    DirectSink,
    BufferedSink,
}

impl Kind {
    /// The trait with this name.
    pub(crate) fn of_trait(name: &str) -> Option<Self> {
        match name {
            "Source" => Some(Self::Source),
            "DirectSink" => Some(Self::DirectSink),
            "BufferedSink" => Some(Self::BufferedSink),
            _ => None,
        }
    }

    pub(crate) fn trait_name(self) -> &'static str {
        match self {
            Self::Source => "Source",
            Self::DirectSink => "DirectSink",
            Self::BufferedSink => "BufferedSink",
        }
    }
}

/// Why a method with this name cannot stand in the impl, and what to do; nothing if the name is none that we know.
pub(crate) fn reason(kind: Kind, name: &str, consumes_self: bool) -> Option<&'static str> {
    let name = crate::case::function_name(name);
    match (kind, name.as_str()) {
        (_, "close") => (!consumes_self).then_some(
            "`close` takes `self` by value: `async fn close(self)`. It is best effort and is not called when the task \
             is dropped in the middle of its work; put what must be released into Drop",
        ),
        (Kind::Source, "commit" | "commit_record" | "record_committed" | "on_commit" | "committed") => Some(
            "a source has no commit callback: the framework stores an offset once everything up to it is accepted. To \
             clean up in the source system write a type of its own with `impl CommitHook` and name it in the attribute: \
             `on_commit = Type`. To move the position, emit records with their offsets",
        ),
        (Kind::Source, "stop") => Some(
            "a source is not told to stop: it is dropped, even in the middle of a poll. Put clean-up into Drop, or as \
             best effort into `async fn close(self)`",
        ),
        (_, "stop") => Some(
            "a sink is not told to stop: it is closed and dropped. Put clean-up into Drop, or as best effort into \
             `async fn close(self)`",
        ),
        (Kind::Source, "start" | "initialize") => Some(
            "a source is started by `open`: it gets the configuration and the cursors, and returns the value that polls",
        ),
        (_, "start" | "initialize") => {
            Some("a sink is started by `open`: it gets the configuration and returns the value that takes records")
        }
        (Kind::Source, "flush") => Some(
            "a source has nothing to flush: what `poll` emits is sent at once, and its offsets are stored once it is \
             accepted",
        ),
        (Kind::DirectSink, "flush") => Some(
            "a direct sink has nothing to flush: when `put` returns, its records are written. To keep records for later \
             write `impl BufferedSink`",
        ),
        (Kind::BufferedSink, "flush") => Some(
            "a buffered sink is not asked to flush: write from `put`, and answer in `pre_commit` what is safe; on \
             `PreCommit::Closing` write what you hold",
        ),
        (Kind::DirectSink, "pre_commit") => Some(
            "a direct sink is not asked before a commit: `Ok` from `put` says that the records are written. To keep \
             records for later write `impl BufferedSink`",
        ),
        (Kind::DirectSink | Kind::BufferedSink, "commit" | "commit_offsets") => Some(
            "a sink does not commit: the framework commits what `put` has written or what `pre_commit` calls safe. To \
             ask for a commit soon call `cx.request_commit()` in `put`",
        ),
        (Kind::DirectSink | Kind::BufferedSink, "on_partitions_assigned") => {
            Some("write `async fn assigned(&mut self, partitions: &[TopicPartition]) -> Result<StartOffsets>`")
        }
        (Kind::DirectSink | Kind::BufferedSink, "on_partitions_revoked" | "on_partitions_lost") => {
            Some("write `async fn closed(&mut self, partitions: &[TopicPartition], why: CloseReason) -> Result<()>`")
        }
        (_, "task_configs") => Some(
            "the framework makes the tasks: a source names what there is to read in `partitions`, and it is spread over \
             at most `tasks.max` tasks; a sink's tasks share its topics",
        ),
        (_, "config") => {
            Some("the keys of the configuration come from `type Config` and its `#[derive(ConnectorConfig)]`")
        }
        (_, "version") => {
            Some("the version is an argument of the attribute: `version = \"1.2.3\"`; by default it is the crate's")
        }
        (Kind::Source, "exactly_once_support") => {
            Some("say it in the attribute: `exactly_once = supported`, or `exactly_once = unsupported(why = \"..\")`")
        }
        (Kind::Source, "can_define_transaction_boundaries") => {
            Some("say it in the attribute: `transaction_boundaries = connector`")
        }
        _ => None,
    }
}
