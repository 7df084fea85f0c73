//! What a connector guarantees for its records: derived from its type, its configuration and its worker, with the evidence
//! and, where it is less than was asked for, the reason.

use std::collections::BTreeMap;
use std::fmt;

use super::exactly_once::{ExactlyOnceWorker, exactly_once_asked, exactly_once_source};
use connect_sdk::source::{ExactlyOnce, SourceMeta, Viable};

/// How often a record arrives.
#[allow(clippy::exhaustive_enums, reason = "less than at-least-once is a defect, not a guarantee")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Delivery {
    /// Once or more: after a crash some records come again.
    AtLeastOnce,
    /// Once, for readers of committed records.
    ExactlyOnce,
}

impl fmt::Display for Delivery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AtLeastOnce => "at-least-once",
            Self::ExactlyOnce => "exactly-once",
        })
    }
}

/// What a running connector guarantees.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Guarantee {
    /// The guarantee.
    pub delivery: Delivery,
    /// What it rests on.
    pub evidence: String,
    /// Why it is less than was asked for; none if it is not less.
    pub weaker_because: Option<String>,
    /// What else an operator should know: records that may be skipped, what readers have to do.
    pub limits: Vec<String>,
}

impl fmt::Display for Guarantee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.delivery, self.evidence)?;
        if let Some(why) = &self.weaker_because {
            write!(f, ", weaker than asked for: {why}")?;
        }
        self.limits.iter().try_for_each(|limit| write!(f, "; {limit}"))
    }
}

/// The guarantee of a source connector.
///
/// `viable` is the connector's own word on this configuration.
#[must_use]
pub fn source_guarantee(
    source: &SourceMeta,
    viable: &Viable,
    properties: &BTreeMap<String, String>,
    worker: &ExactlyOnceWorker,
) -> Guarantee {
    let transactional = exactly_once_source(properties, worker);
    let (promised, evidence) = match (source.exactly_once, viable) {
        (ExactlyOnce::Unsupported(why), _) => (Err(why.to_owned()), String::new()),
        (_, Viable::No(why)) => (Err(format!("not with this configuration: {why}")), String::new()),
        (ExactlyOnce::Supported, Viable::Yes) => (Ok(()), "replay test".to_owned()),
        (ExactlyOnce::SupportedUntested(why), Viable::Yes) => (Ok(()), format!("untested: {why}")),
    };
    let delivery = if transactional && promised.is_ok() { Delivery::ExactlyOnce } else { Delivery::AtLeastOnce };
    let evidence = match delivery {
        Delivery::ExactlyOnce => format!("records and offsets in one transaction; {evidence}"),
        Delivery::AtLeastOnce if transactional => {
            "records and offsets in one transaction, but the source cannot be read again from an offset".to_owned()
        }
        Delivery::AtLeastOnce => "offsets are stored after their records are acknowledged".to_owned(),
    };
    let weaker_because = if exactly_once_asked(properties, worker) && delivery == Delivery::AtLeastOnce {
        Some(match promised {
            Err(why) => why,
            Ok(()) => "`connect dev` has no transaction isolation".to_owned(),
        })
    } else {
        None
    };
    let mut limits = Vec::new();
    if delivery == Delivery::ExactlyOnce {
        limits.push("readers need `isolation.level=read_committed`".to_owned());
    }
    limits.extend(skipped(properties));
    Guarantee { delivery, evidence, weaker_because, limits }
}

/// The `isolation.level` of a sink's consumer: the connector's, else the worker's, else Kafka's default.
#[must_use]
pub fn sink_isolation_level<'a>(
    properties: &'a BTreeMap<String, String>,
    worker: &'a BTreeMap<String, String>,
) -> &'a str {
    let own = properties.get("consumer.override.isolation.level");
    own.or_else(|| worker.get("consumer.isolation.level")).map_or("read_uncommitted", |level| level.trim())
}

/// The guarantee of a sink connector; `isolation_level` is that of its consumer.
///
/// It is never more than at-least-once: whether a target takes a record twice without harm, or keeps the offsets itself,
/// is not known here.
#[must_use]
pub fn sink_guarantee(properties: &BTreeMap<String, String>, isolation_level: &str) -> Guarantee {
    let mut limits = vec![
        "exactly-once only where the target keeps the offsets or takes a record twice without harm, which the worker cannot see"
            .to_owned(),
    ];
    limits.push(if isolation_level.eq_ignore_ascii_case("read_committed") {
        "reads committed records only".to_owned()
    } else {
        "reads records of open and aborted transactions too; `consumer.override.isolation.level=read_committed` leaves them out"
            .to_owned()
    });
    limits.extend(skipped(properties));
    Guarantee {
        delivery: Delivery::AtLeastOnce,
        evidence: "offsets are committed after the sink has said that their records are written".to_owned(),
        weaker_because: None,
        limits,
    }
}

fn skipped(properties: &BTreeMap<String, String>) -> Option<String> {
    let all = properties.get("errors.tolerance").is_some_and(|value| value.trim() == "all");
    all.then(|| "`errors.tolerance=all`: records that cannot be processed are skipped, and counted".to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::exactly_once::ExactlyOnceMode;
    use super::*;

    fn meta(exactly_once: ExactlyOnce) -> SourceMeta {
        SourceMeta {
            name: "s",
            java: None,
            version: "1",
            doc: "",
            exactly_once,
            defines_transactions: false,
            has_hook: false,
            type_name: "S",
        }
    }

    fn guarantee(promise: ExactlyOnce, viable: &Viable, key: Option<&str>, worker: &ExactlyOnceWorker) -> Guarantee {
        let key = key.map(|value| ("exactly.once.source.support".to_owned(), value.to_owned()));
        source_guarantee(&meta(promise), viable, &key.into_iter().collect(), worker)
    }

    const STANDALONE: ExactlyOnceWorker = ExactlyOnceWorker::Standalone { offsets_in_topic: true };
    const ENABLED: ExactlyOnceWorker = ExactlyOnceWorker::Distributed(ExactlyOnceMode::Enabled);

    #[test]
    fn a_guarantee_follows_from_type_configuration_and_worker() {
        let narrowed = Viable::No("`file` is not set".to_owned());
        let no = ExactlyOnce::Unsupported("acknowledges upstream");
        let untested = ExactlyOnce::SupportedUntested("needs hardware");
        let cases = [
            (
                ExactlyOnce::Supported,
                &Viable::Yes,
                Some("enabled"),
                STANDALONE,
                Delivery::ExactlyOnce,
                "replay test",
                None,
            ),
            (
                untested,
                &Viable::Yes,
                Some("Enabled"),
                STANDALONE,
                Delivery::ExactlyOnce,
                "untested: needs hardware",
                None,
            ),
            (ExactlyOnce::Supported, &Viable::Yes, None, STANDALONE, Delivery::AtLeastOnce, "acknowledged", None),
            (ExactlyOnce::Supported, &Viable::Yes, None, ENABLED, Delivery::ExactlyOnce, "replay test", None),
            (
                ExactlyOnce::Supported,
                &Viable::Yes,
                Some("disabled"),
                ENABLED,
                Delivery::AtLeastOnce,
                "acknowledged",
                None,
            ),
            (no, &Viable::Yes, Some("enabled"), STANDALONE, Delivery::AtLeastOnce, "read again", Some("upstream")),
            (no, &Viable::Yes, None, STANDALONE, Delivery::AtLeastOnce, "acknowledged", None),
            (ExactlyOnce::Supported, &narrowed, None, ENABLED, Delivery::AtLeastOnce, "read again", Some("`file`")),
            (
                ExactlyOnce::Supported,
                &Viable::Yes,
                Some("enabled"),
                ExactlyOnceWorker::Development,
                Delivery::AtLeastOnce,
                "acknowledged",
                Some("`connect dev`"),
            ),
        ];
        for (promise, viable, key, worker, delivery, evidence, why) in cases {
            let found = guarantee(promise, viable, key, &worker);
            let case = format!("{promise:?} {viable:?} {key:?} {worker:?}: {found}");
            assert_eq!(found.delivery, delivery, "{case}");
            assert!(found.evidence.contains(evidence), "{case}");
            assert_eq!(found.weaker_because.is_some(), why.is_some(), "{case}");
            assert!(found.weaker_because.unwrap_or_default().contains(why.unwrap_or_default()), "{case}");
        }
    }

    #[test]
    fn a_guarantee_reads_as_one_line_with_its_limits() {
        let asked = guarantee(ExactlyOnce::Unsupported("it cannot seek"), &Viable::Yes, Some("enabled"), &STANDALONE);
        assert_eq!(
            asked.to_string(),
            "at-least-once (records and offsets in one transaction, but the source cannot be read again from an offset), \
             weaker than asked for: it cannot seek"
        );
        let tolerant = BTreeMap::from([("errors.tolerance".to_owned(), "all".to_owned())]);
        let sink = sink_guarantee(&tolerant, "read_uncommitted").to_string();
        for expected in ["at-least-once", "read_committed", "target", "errors.tolerance=all"] {
            assert!(sink.contains(expected), "{sink}");
        }
        assert!(!sink_guarantee(&BTreeMap::new(), "read_committed").to_string().contains("aborted"));
    }
}
