//! Which connectors are exactly-once, and what is said of a configuration that cannot be.

use super::*;

const SUPPORTED: ExactlyOnce = ExactlyOnce::Supported;
const STANDALONE: ExactlyOnceWorker = ExactlyOnceWorker::Standalone { offsets_in_topic: true };
const ONLY_A_FILE: ExactlyOnceWorker = ExactlyOnceWorker::Standalone { offsets_in_topic: false };
const ON: (&str, &str) = ("exactly.once.source.support", "enabled");

fn meta(exactly_once: ExactlyOnce, defines_transactions: bool) -> SourceMeta {
    SourceMeta {
        name: "s",
        java: None,
        version: "1",
        doc: "",
        exactly_once,
        defines_transactions,
        has_hook: false,
        type_name: "S",
    }
}

fn properties(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
}

/// The errors as `key: text`, and the texts of the notices.
fn check(source: &SourceMeta, pairs: &[(&str, &str)], worker: &ExactlyOnceWorker) -> (Vec<String>, Vec<String>) {
    let (errors, notices) = check_exactly_once(source, Some(&Viable::Yes), &properties(pairs), worker);
    let errors = errors.iter().map(|e| format!("{}: {}", e.key().unwrap_or_default(), e.message())).collect();
    (errors, notices.into_iter().map(|n| n.message).collect())
}

#[test]
fn the_connectors_key_decides_and_else_the_workers() {
    use ExactlyOnceMode::{Disabled, Enabled, Preparing};
    let distributed = ExactlyOnceWorker::Distributed;
    for (key, worker, expected) in [
        (None, STANDALONE, false),
        (Some("enabled"), STANDALONE, true),
        (Some(" Enabled "), STANDALONE, true),
        (Some("disabled"), STANDALONE, false),
        (None, distributed(Disabled), false),
        (None, distributed(Preparing), false),
        (None, distributed(Enabled), true),
        (Some("disabled"), distributed(Enabled), false),
        (Some("enabled"), distributed(Disabled), true),
        (Some(""), distributed(Enabled), true),
        (Some("enabled"), ExactlyOnceWorker::Development, false),
    ] {
        let properties: BTreeMap<_, _> = key.map(|k| (ON.0.to_owned(), k.to_owned())).into_iter().collect();
        assert_eq!(exactly_once_source(&properties, &worker), expected, "{key:?} on {worker:?}");
    }
}

#[test]
fn required_names_what_is_missing_in_kafkas_words() {
    let required = ("exactly.once.support", "REQUIRED");
    let unsupported = meta(ExactlyOnce::Unsupported("acknowledges upstream before it is asked again"), false);
    let none: &[&[&str]] = &[];
    for (source, pairs, worker, expected) in [
        (meta(SUPPORTED, false), vec![required, ON], STANDALONE, none),
        (meta(SUPPORTED, false), vec![required], ExactlyOnceWorker::Distributed(ExactlyOnceMode::Enabled), none),
        (
            meta(SUPPORTED, false),
            vec![required],
            STANDALONE,
            &[&[
                "exactly.once.support: This worker does not have exactly-once source support enabled.",
                "`exactly.once.source.support=enabled`",
            ]],
        ),
        (
            meta(SUPPORTED, false),
            vec![required],
            ExactlyOnceWorker::Distributed(ExactlyOnceMode::Preparing),
            &[&["This worker does not have exactly-once source support enabled.", "for all"]],
        ),
        (
            meta(SUPPORTED, false),
            vec![required, (ON.0, "disabled")],
            ExactlyOnceWorker::Distributed(ExactlyOnceMode::Enabled),
            &[&["`exactly.once.source.support` of the connector is `disabled`"]],
        ),
        (
            unsupported,
            vec![required],
            STANDALONE,
            &[
                &["This worker does not have"],
                &[
                    "The connector does not support exactly-once semantics with the provided configuration.",
                    "acknowledges upstream before it is asked again",
                ],
            ],
        ),
        (unsupported, vec![ON], STANDALONE, none),
    ] {
        let (errors, _) = check(&source, &pairs, &worker);
        assert_eq!(errors.len(), expected.len(), "{errors:?}");
        for (error, texts) in errors.iter().zip(expected) {
            assert!(texts.iter().all(|text| error.contains(text)), "{error}");
        }
    }
}

#[test]
fn a_connector_can_say_that_its_configuration_does_not_allow_it() {
    let pairs = properties(&[("exactly.once.support", "required"), ON]);
    let no = Viable::No("`file` is not set, and standard input cannot be read again".to_owned());
    let (errors, _) = check_exactly_once(&meta(SUPPORTED, false), Some(&no), &pairs, &STANDALONE);
    let errors = errors.to_string();
    assert!(errors.contains("provided configuration.") && errors.contains("standard input"), "{errors}");
}

#[test]
fn boundaries_must_be_those_that_the_type_and_the_mode_know() {
    let declared = meta(SUPPORTED, true);
    let plain = meta(SUPPORTED, false);
    let connector = ("transaction.boundary", "connector");
    assert_eq!(check(&declared, &[connector, ON], &STANDALONE).0, Vec::<String>::new());
    let (errors, _) = check(&plain, &[connector], &STANDALONE);
    assert_eq!(
        errors,
        [
            "transaction.boundary: The connector does not support connector-defined transaction boundaries with the given \
          configuration. Please reconfigure it to use a different transaction boundary definition."
        ]
    );
    let maxima = [("transaction.boundary.max.bytes", "1000"), ("transaction.boundary.max.records", "10")];
    let (errors, _) = check(&plain, &[maxima[0], maxima[1], ON], &STANDALONE);
    assert_eq!(errors.len(), 2, "{errors:?}");
    assert!(errors.iter().all(|e| e.contains("`transaction.boundary` is `poll`")), "{errors:?}");
    let interval = ("transaction.boundary", "Interval");
    assert!(check(&plain, &[maxima[0], maxima[1], interval, ON], &STANDALONE).0.is_empty());
    assert!(check(&plain, &[("transaction.boundary.max.bytes", "0"), ON], &STANDALONE).0.is_empty());
}

#[test]
fn a_worker_with_nothing_but_a_file_names_both_keys() {
    let source = meta(SUPPORTED, false);
    let (errors, _) = check(&source, &[ON], &ONLY_A_FILE);
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert!(errors[0].starts_with("offsets.storage.topic: "), "{errors:?}");
    assert!(
        errors[0].contains("`offset.storage.topic`") && errors[0].contains("`offsets.storage.topic`"),
        "{errors:?}"
    );
    for (pairs, worker) in
        [(vec![ON, ("offsets.storage.topic", "own")], ONLY_A_FILE), (vec![ON], STANDALONE), (vec![], ONLY_A_FILE)]
    {
        assert!(check(&source, &pairs, &worker).0.is_empty(), "{pairs:?}");
    }
}

#[test]
fn what_is_replaced_untested_or_without_effect_is_a_warning() {
    let source = meta(SUPPORTED, false);
    let replaced = [
        ("producer.override.transactional.id", "mine"),
        ("producer.override.enable.idempotence", "false"),
        ("consumer.override.isolation.level", "read_uncommitted"),
    ];
    let all: Vec<_> = [ON].into_iter().chain(replaced).collect();
    let (errors, notices) = check(&source, &all, &STANDALONE);
    assert!(errors.is_empty());
    assert_eq!(notices.len(), 3, "{notices:?}");
    let (_, notices) = check(&source, &replaced, &STANDALONE);
    assert!(matches!(&notices[..], [only] if only.contains("transactional.id")), "at-least-once keeps the others");
    let same =
        [ON, ("producer.override.enable.idempotence", "true"), ("consumer.override.isolation.level", "read_committed")];
    assert!(check(&source, &same, &STANDALONE).1.is_empty());

    let untested = meta(ExactlyOnce::SupportedUntested("needs a mainframe"), false);
    let (errors, notices) = check(&untested, &[ON, ("exactly.once.support", "required")], &STANDALONE);
    assert!(errors.is_empty());
    assert!(matches!(&notices[..], [only] if only.contains("needs a mainframe")), "{notices:?}");

    let (_, notices) = check(&source, &[("transaction.boundary", "interval")], &STANDALONE);
    assert!(matches!(&notices[..], [only] if only.contains("`exactly.once.source.support=enabled`")), "{notices:?}");
}
