//! The keys of Kafka clients that a worker in a group has for itself: network and SASL.

use super::key::key;
use connect_sdk::config::ConfigDef;
use connect_sdk::config::ConfigType::*;
use connect_sdk::config::Importance::*;
use connect_sdk::config::Validator;

/// Network, SASL and security protocol of the worker's own clients.
pub(super) fn client_keys(def: ConfigDef) -> ConfigDef {
    sasl_keys(network_keys(def))
}

fn network_keys(def: ConfigDef) -> ConfigDef {
    def.define(key("client.id", String, Low, "A name for the clients of this worker.").default(""))
        .define(
            key("connections.max.idle.ms", Long, Medium, "When an idle connection is closed, in milliseconds.")
                .default("540000"),
        )
        .define(
            key(
                "metadata.max.age.ms",
                Long,
                Low,
                "When metadata are fetched anew though nothing has changed, in milliseconds.",
            )
            .default("300000")
            .validator(Validator::at_least(0)),
        )
        .define(
            key(
                "metadata.recovery.rebootstrap.trigger.ms",
                Long,
                Low,
                "After how long without metadata the bootstrap addresses are tried again, in milliseconds.",
            )
            .default("300000")
            .validator(Validator::at_least(0)),
        )
        .define(
            key(
                "metadata.recovery.strategy",
                String,
                Low,
                "What to do when no known broker answers: `none` or `rebootstrap`.",
            )
            .default("rebootstrap")
            .validator(Validator::case_insensitive_valid_string(["none", "rebootstrap"])),
        )
        .define(
            key("receive.buffer.bytes", Int, Medium, "The size of the TCP receive buffer; -1 leaves it to the system.")
                .default("32768")
                .validator(Validator::at_least(-1)),
        )
        .define(
            key("reconnect.backoff.max.ms", Long, Low, "The longest wait before connecting again, in milliseconds.")
                .default("1000")
                .validator(Validator::at_least(0)),
        )
        .define(
            key("reconnect.backoff.ms", Long, Low, "The first wait before connecting again, in milliseconds.")
                .default("50")
                .validator(Validator::at_least(0)),
        )
        .define(
            key("request.timeout.ms", Int, Medium, "How long the answer to a request may take, in milliseconds.")
                .default("40000")
                .validator(Validator::at_least(0)),
        )
        .define(
            key("retry.backoff.max.ms", Long, Low, "The longest wait before a request is repeated, in milliseconds.")
                .default("1000")
                .validator(Validator::at_least(0)),
        )
        .define(
            key("retry.backoff.ms", Long, Low, "The first wait before a request is repeated, in milliseconds.")
                .default("100")
                .validator(Validator::at_least(0)),
        )
        .define(
            key("send.buffer.bytes", Int, Medium, "The size of the TCP send buffer; -1 leaves it to the system.")
                .default("131072")
                .validator(Validator::at_least(-1)),
        )
        .define(
            key(
                "socket.connection.setup.timeout.max.ms",
                Long,
                Low,
                "The longest time-out of a connection attempt, in milliseconds.",
            )
            .default("30000")
            .validator(Validator::at_least(0)),
        )
        .define(
            key(
                "socket.connection.setup.timeout.ms",
                Long,
                Low,
                "The first time-out of a connection attempt, in milliseconds.",
            )
            .default("10000")
            .validator(Validator::at_least(0)),
        )
}

fn sasl_keys(def: ConfigDef) -> ConfigDef {
    def.define(
        key("security.protocol", String, Medium, "How brokers are talked to.")
            .default("PLAINTEXT")
            .validator(Validator::case_insensitive_valid_string(["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"])),
    )
    .define(key("sasl.kerberos.service.name", String, Medium, "The Kerberos principal of the brokers.").null_default())
    .define(key("sasl.kerberos.kinit.cmd", String, Low, "The command `kinit`.").default("/usr/bin/kinit"))
    .define(
        key(
            "sasl.kerberos.ticket.renew.window.factor",
            Double,
            Low,
            "After which share of its life a ticket is renewed.",
        )
        .default("0.8"),
    )
    .define(
        key(
            "sasl.kerberos.ticket.renew.jitter",
            Double,
            Low,
            "The random share of the time until a ticket is renewed.",
        )
        .default("0.05"),
    )
    .define(
        key(
            "sasl.kerberos.min.time.before.relogin",
            Long,
            Low,
            "The least time between two Kerberos logins, in milliseconds.",
        )
        .default("60000"),
    )
    .define(
        key("sasl.login.refresh.window.factor", Double, Low, "After which share of its life a token is renewed.")
            .default("0.8")
            .validator(Validator::between(0.5, 1.0)),
    )
    .define(
        key("sasl.login.refresh.window.jitter", Double, Low, "The random share of the time until a token is renewed.")
            .default("0.05")
            .validator(Validator::between(0.0, 0.25)),
    )
    .define(
        key("sasl.login.refresh.min.period.seconds", Short, Low, "The least time between two renewals of a token.")
            .default("60")
            .validator(Validator::between(0, 900)),
    )
    .define(
        key("sasl.login.refresh.buffer.seconds", Short, Low, "How long before its end a token is renewed.")
            .default("300")
            .validator(Validator::between(0, 3600)),
    )
    .define(key("sasl.mechanism", String, Medium, "The SASL mechanism.").default("GSSAPI"))
    .define(key("sasl.jaas.config", Password, Medium, "The login of the SASL mechanism as a JAAS line.").null_default())
    .define(
        key("sasl.client.callback.handler.class", Class, Medium, "The class that answers SASL questions in the JVM.")
            .null_default(),
    )
    .define(
        key("sasl.login.callback.handler.class", Class, Medium, "The class that answers login questions in the JVM.")
            .null_default(),
    )
    .define(key("sasl.login.class", Class, Medium, "The login class in the JVM.").null_default())
    .define(
        key(
            "sasl.login.connect.timeout.ms",
            Int,
            Low,
            "How long connecting to the identity provider may take, in milliseconds.",
        )
        .null_default(),
    )
    .define(
        key(
            "sasl.login.read.timeout.ms",
            Int,
            Low,
            "How long an answer of the identity provider may take, in milliseconds.",
        )
        .null_default(),
    )
    .define(
        key(
            "sasl.login.retry.backoff.max.ms",
            Long,
            Low,
            "The longest wait before a login is repeated, in milliseconds.",
        )
        .default("10000"),
    )
    .define(
        key("sasl.login.retry.backoff.ms", Long, Low, "The first wait before a login is repeated, in milliseconds.")
            .default("100"),
    )
    .define(
        key("sasl.oauthbearer.jwt.retriever.class", Class, Medium, "The class that fetches tokens in the JVM.")
            .default("org.apache.kafka.common.security.oauthbearer.DefaultJwtRetriever"),
    )
    .define(
        key("sasl.oauthbearer.jwt.validator.class", Class, Medium, "The class that checks tokens in the JVM.")
            .default("org.apache.kafka.common.security.oauthbearer.DefaultJwtValidator"),
    )
    .define(key("sasl.oauthbearer.scope", String, Medium, "The scope that is asked for.").null_default())
    .define(
        key(
            "sasl.oauthbearer.client.credentials.client.id",
            String,
            Medium,
            "The client identifier at the identity provider.",
        )
        .null_default(),
    )
    .define(
        key(
            "sasl.oauthbearer.client.credentials.client.secret",
            Password,
            Medium,
            "The client secret at the identity provider.",
        )
        .null_default(),
    )
    .define(
        key("sasl.oauthbearer.assertion.algorithm", String, Medium, "How the assertion is signed.")
            .default("RS256")
            .validator(Validator::case_insensitive_valid_string(["RS256", "ES256"])),
    )
    .define(
        key("sasl.oauthbearer.assertion.claim.aud", String, Medium, "The audience of the assertion.").null_default(),
    )
    .define(
        key("sasl.oauthbearer.assertion.claim.exp.seconds", Int, Low, "How long the assertion is valid.")
            .default("300")
            .validator(Validator::between(0, 86400)),
    )
    .define(key("sasl.oauthbearer.assertion.claim.iss", String, Medium, "The issuer of the assertion.").null_default())
    .define(
        key(
            "sasl.oauthbearer.assertion.claim.jti.include",
            Boolean,
            Medium,
            "Whether the assertion has an identifier of its own.",
        )
        .default("false"),
    )
    .define(
        key(
            "sasl.oauthbearer.assertion.claim.nbf.seconds",
            Int,
            Low,
            "How long before now the assertion begins to be valid.",
        )
        .default("60")
        .validator(Validator::between(0, 3600)),
    )
    .define(key("sasl.oauthbearer.assertion.claim.sub", String, Medium, "The subject of the assertion.").null_default())
    .define(key("sasl.oauthbearer.assertion.file", String, Medium, "A file with a finished assertion.").null_default())
    .define(
        key(
            "sasl.oauthbearer.assertion.private.key.file",
            String,
            Medium,
            "The file of the key that signs the assertion.",
        )
        .null_default(),
    )
    .define(
        key(
            "sasl.oauthbearer.assertion.private.key.passphrase",
            Password,
            Medium,
            "The password of the key that signs the assertion.",
        )
        .null_default(),
    )
    .define(
        key("sasl.oauthbearer.assertion.template.file", String, Medium, "A file with more claims of the assertion.")
            .null_default(),
    )
    .define(key("sasl.oauthbearer.scope.claim.name", String, Low, "The claim that holds the scope.").default("scope"))
    .define(key("sasl.oauthbearer.sub.claim.name", String, Low, "The claim that holds the subject.").default("sub"))
    .define(key("sasl.oauthbearer.token.endpoint.url", String, Medium, "Where tokens are fetched.").null_default())
    .define(
        key("sasl.oauthbearer.jwks.endpoint.url", String, Medium, "Where the keys of the identity provider are.")
            .null_default(),
    )
    .define(
        key(
            "sasl.oauthbearer.jwks.endpoint.refresh.ms",
            Long,
            Low,
            "How often the keys of the identity provider are fetched, in milliseconds.",
        )
        .default("3600000"),
    )
    .define(
        key(
            "sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms",
            Long,
            Low,
            "The longest wait before fetching keys is repeated, in milliseconds.",
        )
        .default("10000"),
    )
    .define(
        key(
            "sasl.oauthbearer.jwks.endpoint.retry.backoff.ms",
            Long,
            Low,
            "The first wait before fetching keys is repeated, in milliseconds.",
        )
        .default("100"),
    )
    .define(key("sasl.oauthbearer.clock.skew.seconds", Int, Low, "How far clocks may differ.").default("30"))
    .define(
        key("sasl.oauthbearer.expected.audience", List, High, "The audiences of which a token must have one.")
            .default("")
            .validator(Validator::any_non_duplicate_values(true, false)),
    )
    .define(key("sasl.oauthbearer.expected.issuer", String, High, "The issuer that a token must have.").null_default())
    .define(
        key(
            "sasl.oauthbearer.header.urlencode",
            Boolean,
            Low,
            "Whether client identifier and secret are percent-encoded in the request.",
        )
        .default("false"),
    )
}
