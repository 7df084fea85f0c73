//! The keys that workers of every kind have, as Kafka Connect defines them: defaults, REST API, TLS.

use super::classes::KnownClasses;
use super::key::key;
use super::rest_validators::{listeners, response_headers};
use connect_sdk::config::ConfigDef;
use connect_sdk::config::ConfigType::*;
use connect_sdk::config::Importance::*;
use connect_sdk::config::Validator;

/// The keys of a worker, whether alone or in a group.
pub(super) fn worker_keys(classes: &KnownClasses) -> ConfigDef {
    let def = ConfigDef::new()
        .define(
            key("bootstrap.servers", List, High, "Addresses `host:port` at which the Kafka cluster is first reached.")
                .validator(Validator::any_non_duplicate_values(false, false)),
        )
        .define(
            key(
                "client.dns.lookup",
                String,
                Medium,
                "Whether all addresses of a host name are tried, or only canonical names.",
            )
            .default("use_all_dns_ips")
            .validator(Validator::valid_string(["use_all_dns_ips", "resolve_canonical_bootstrap_servers_only"])),
        )
        .define(
            key("key.converter", Class, High, "The converter of keys for connectors that set none.")
                .known_classes(classes.converters()),
        )
        .define(key("key.converter.plugin.version", String, Low, "The version of the key converter.").null_default())
        .define(
            key("value.converter", Class, High, "The converter of values for connectors that set none.")
                .known_classes(classes.converters()),
        )
        .define(
            key("value.converter.plugin.version", String, Low, "The version of the value converter.").null_default(),
        )
        .define(
            key(
                "task.shutdown.graceful.timeout.ms",
                Long,
                Low,
                "How long all tasks that are stopped together may take, in milliseconds.",
            )
            .default("5000"),
        )
        .define(
            key(
                "offset.flush.interval.ms",
                Long,
                Low,
                "How often offsets are committed, in milliseconds. This worker takes 1000 where it is not set.",
            )
            .default("60000"),
        )
        .define(
            key("offset.flush.timeout.ms", Long, Low, "How long one commit of offsets may take, in milliseconds.")
                .default("5000"),
        )
        .define(
            key("plugin.path", List, Low, "Folders with plugins for the JVM.")
                .null_default()
                .validator(Validator::any_non_duplicate_values(false, true)),
        )
        .define(
            key("plugin.discovery", String, Low, "How the JVM looks for plugins.").default("hybrid_warn").validator(
                Validator::case_insensitive_valid_string(["only_scan", "service_load", "hybrid_warn", "hybrid_fail"]),
            ),
        )
        .define(
            key(
                "metrics.sample.window.ms",
                Long,
                Low,
                "The window over which a sampled metric is computed, in milliseconds.",
            )
            .default("30000")
            .validator(Validator::at_least(0)),
        )
        .define(
            key("metrics.num.samples", Int, Low, "How many windows a sampled metric keeps.")
                .default("2")
                .validator(Validator::at_least(1)),
        )
        .define(
            key("metrics.recording.level", String, Low, "How much is measured.")
                .default("INFO")
                .validator(Validator::valid_string(["INFO", "DEBUG"])),
        )
        .define(
            key("metric.reporters", List, Low, "Classes that receive metrics in the JVM.")
                .default("org.apache.kafka.common.metrics.JmxReporter")
                .validator(Validator::any_non_duplicate_values(true, false)),
        )
        .define(
            key("header.converter", Class, Low, "The converter of headers for connectors that set none.")
                .default("org.apache.kafka.connect.storage.SimpleHeaderConverter")
                .known_classes(classes.header_converters()),
        )
        .define(
            key("header.converter.plugin.version", String, Low, "The version of the header converter.").null_default(),
        )
        .define(
            key(
                "config.providers",
                List,
                Low,
                "Names of configuration providers; `config.providers.<name>.class` says what they are.",
            )
            .default("")
            .validator(Validator::any_non_duplicate_values(true, false)),
        )
        .define(
            key(
                "connector.client.config.override.policy",
                String,
                Medium,
                "What connectors may override in their Kafka clients: `All`, `None`, `Principal` or `Allowlist`.",
            )
            .default("All"),
        )
        .define(
            key(
                "topic.creation.enable",
                Boolean,
                Low,
                "Whether source connectors with `topic.creation.*` keys may create topics.",
            )
            .default("true"),
        )
        .define(
            key("topic.tracking.enable", Boolean, Low, "Whether the topics that a connector uses are remembered.")
                .default("true"),
        )
        .define(
            key(
                "topic.tracking.allow.reset",
                Boolean,
                Low,
                "Whether the remembered topics of a connector may be forgotten on request.",
            )
            .default("true"),
        );
    ssl_keys(rest_keys(def))
}

/// The keys of the REST API.
fn rest_keys(def: ConfigDef) -> ConfigDef {
    def.define(
        key("listeners", List, Low, "Addresses `http://host:port` of the REST API; no host means all interfaces.")
            .default("http://:8083")
            .validator(listeners()),
    )
    .define(
        key("rest.advertised.host.name", String, Low, "The host under which other workers reach the REST API.")
            .null_default(),
    )
    .define(
        key("rest.advertised.port", Int, Low, "The port under which other workers reach the REST API.").null_default(),
    )
    .define(
        key("rest.advertised.listener", String, Low, "The listener that other workers are told of: `http` or `https`.")
            .null_default(),
    )
    .define(
        key(
            "access.control.allow.origin",
            String,
            Low,
            "The value of `Access-Control-Allow-Origin`; nothing means no cross-origin access.",
        )
        .default(""),
    )
    .define(
        key("access.control.allow.methods", String, Low, "The methods that cross-origin requests may use.").default(""),
    )
    .define(
        key(
            "response.http.headers.config",
            String,
            Low,
            "Rules for headers of REST answers: `[action] [header name]:[header value]`.",
        )
        .default("")
        .validator(response_headers()),
    )
    .define(
        key("ssl.client.auth", String, Low, "Whether the REST API asks clients for certificates.")
            .default("none")
            .validator(Validator::valid_string(["required", "requested", "none"])),
    )
    .define(
        key("rest.extension.classes", List, Low, "Classes that extend the REST API in the JVM.")
            .default("")
            .validator(Validator::any_non_duplicate_values(true, false)),
    )
    .define(
        key(
            "admin.listeners",
            List,
            Low,
            "Addresses of the administrative part of the REST API; not set means those of `listeners`.",
        )
        .null_default()
        .validator(Validator::any_non_duplicate_values(true, true)),
    )
}

/// The keys of TLS, for clients and for the REST API.
fn ssl_keys(def: ConfigDef) -> ConfigDef {
    def.define(key("ssl.protocol", String, Medium, "The TLS protocol version.").default("TLSv1.3"))
        .define(key("ssl.provider", String, Medium, "The security provider of the JVM.").null_default())
        .define(
            key("ssl.cipher.suites", List, Low, "The cipher suites that may be used; none means all.")
                .default("")
                .validator(Validator::any_non_duplicate_values(true, false)),
        )
        .define(
            key("ssl.enabled.protocols", List, Medium, "The TLS versions that may be used.")
                .default("TLSv1.2,TLSv1.3")
                .validator(Validator::any_non_duplicate_values(true, false)),
        )
        .define(key("ssl.keystore.type", String, Medium, "The format of the key store.").default("JKS"))
        .define(key("ssl.keystore.location", String, High, "The file of the key store.").null_default())
        .define(key("ssl.keystore.password", Password, High, "The password of the key store.").null_default())
        .define(key("ssl.key.password", Password, High, "The password of the private key.").null_default())
        .define(key("ssl.keystore.key", Password, High, "The private key as PEM text.").null_default())
        .define(
            key("ssl.keystore.certificate.chain", Password, High, "The certificate chain as PEM text.").null_default(),
        )
        .define(
            key("ssl.truststore.certificates", Password, High, "The trusted certificates as PEM text.").null_default(),
        )
        .define(key("ssl.truststore.type", String, Medium, "The format of the trust store.").default("JKS"))
        .define(key("ssl.truststore.location", String, High, "The file of the trust store.").null_default())
        .define(key("ssl.truststore.password", Password, High, "The password of the trust store.").null_default())
        .define(key("ssl.keymanager.algorithm", String, Low, "The key manager of the JVM.").default("SunX509"))
        .define(key("ssl.trustmanager.algorithm", String, Low, "The trust manager of the JVM.").default("PKIX"))
        .define(
            key(
                "ssl.endpoint.identification.algorithm",
                String,
                Low,
                "How host names are checked against certificates; nothing turns the check off.",
            )
            .default("https"),
        )
        .define(
            key("ssl.secure.random.implementation", String, Low, "The random number generator of the JVM.")
                .null_default(),
        )
        .define(
            key("ssl.engine.factory.class", Class, Low, "The class that makes TLS engines in the JVM.").null_default(),
        )
}
