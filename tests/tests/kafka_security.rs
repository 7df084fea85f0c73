//! Goal: every client of a worker logs in where it may and nowhere else, and says what is wrong without saying a secret.
//! Method: a broker of the test's own with SASL over TLS and with certificates of clients, the wire client, clients on
//! librdkafka, and the real worker.
#![forbid(unsafe_code)]

use connect_runtime::kafka::{
    ClientConfig, ClientKind, Cluster as WireCluster, ErrorClass, KafkaAdmin, KafkaError, OffsetRecords,
    TransactionalTaskProducer,
};
use connect_sdk::{
    source::{OffsetMap, PartitionMap},
    task::ports::TransactionalProducer,
};
use connect_tests::{Cluster, SecureBroker, Standalone, Worker, certificates::Authority, eventually_true, unique};
use std::{future::poll_fn, sync::Arc, time::Duration};

const TIMEOUT: Duration = Duration::from_secs(60);
const MECHANISMS: [&str; 4] = ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"];
const WRONG: &str = "wr0ng-s3cret";

type Entries = Vec<(String, String)>;

fn with(mut entries: Entries, changes: &[(&str, &str)]) -> Entries {
    for (key, value) in changes {
        entries.retain(|(name, _)| name != key);
        entries.push(((*key).to_owned(), (*value).to_owned()));
    }
    entries
}

fn config(entries: &Entries) -> ClientConfig {
    let builder = ClientConfig::builder(ClientKind::Admin);
    let builder = entries.iter().fold(builder, |builder, (key, value)| builder.set(key, value));
    builder.build().expect("the settings are right").0
}

/// Asks about a group that there is not; how the broker answers is all that counts.
async fn wire(entries: &Entries) -> Result<(), KafkaError> {
    let mut cluster = WireCluster::new(&config(entries))?;
    let asked = tokio::time::timeout(TIMEOUT, cluster.group_members("nobody"));
    asked.await.expect("an answer or an error comes").map(|found| assert_eq!(found, None))
}

async fn native(entries: &Entries) -> Result<(), KafkaError> {
    KafkaAdmin::new(&config(entries))?.topics().await.map(drop)
}

async fn wire_refusal(entries: &Entries) -> String {
    let error = wire(entries).await.expect_err("the broker must not be spoken to");
    assert_eq!(error.class(), ErrorClass::Fatal, "{error}");
    let text = error.to_string();
    assert!(!text.contains(WRONG) && !text.contains(SecureBroker::PASSWORD), "{text}");
    text
}

#[tokio::test]
async fn clients_log_in_by_every_mechanism_over_tls() {
    let broker = SecureBroker::start();
    for mechanism in MECHANISMS {
        let entries = broker.sasl_ssl(mechanism, SecureBroker::PASSWORD);
        wire(&entries).await.unwrap_or_else(|error| panic!("{mechanism}: {error}"));
        native(&entries).await.unwrap_or_else(|error| panic!("{mechanism} by librdkafka: {error}"));
    }
    for mechanism in ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"] {
        let refusal = wire_refusal(&broker.sasl_ssl(mechanism, WRONG)).await;
        let bootstrap = broker.kafka().bootstrap_of("SASL_SSL");
        assert!(refusal.contains("SaslAuthenticationFailed") && refusal.contains(bootstrap), "{mechanism}: {refusal}");
    }
    let module = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required";
    let expired = format!("{module} unsecuredLoginStringClaim_sub=\"alice\" unsecuredLoginLifetimeSeconds=\"0\";");
    let refusal = wire_refusal(&with(broker.sasl_ssl("OAUTHBEARER", ""), &[("sasl.jaas.config", &expired)])).await;
    assert!(refusal.contains("SaslAuthenticationFailed"), "{refusal}");
}

#[tokio::test]
async fn a_broker_that_cannot_be_trusted_is_not_spoken_to() {
    let broker = SecureBroker::start();
    let entries = broker.sasl_ssl("SCRAM-SHA-512", SecureBroker::PASSWORD);
    let other = Authority::new("Another authority").pem();
    let untrusted = with(entries.clone(), &[("ssl.truststore.location", ""), ("ssl.truststore.certificates", &other)]);
    let refusal = wire_refusal(&untrusted).await;
    assert!(refusal.contains("certificate is not accepted") && refusal.contains("ssl.truststore"), "{refusal}");
    // What the system trusts does not count for this either.
    let system = entries.iter().filter(|(key, _)| !key.starts_with("ssl.")).cloned().collect();
    assert!(wire_refusal(&system).await.contains("certificate is not accepted"));
    // The certificate is for the address and not for the name.
    let port = broker.kafka().bootstrap_of("SASL_SSL").rsplit(':').next().expect("there is a port").to_owned();
    let named = with(entries.clone(), &[("bootstrap.servers", &format!("localhost:{port}"))]);
    let refusal = wire_refusal(&named).await;
    assert!(refusal.contains("hostname mismatch") && refusal.contains("identification"), "{refusal}");
    let unchecked = with(named, &[("ssl.endpoint.identification.algorithm", "")]);
    wire(&unchecked).await.expect("the name does not count");
    // Inline certificates do as well as a file.
    let inline = [("ssl.truststore.location", ""), ("ssl.truststore.certificates", &*broker.authority().pem())];
    let inline = with(entries.clone(), &inline);
    wire(&inline).await.expect("the authority is trusted");
    native(&inline).await.expect("the authority is trusted");
    // A client that does not speak TLS is told so, and no password goes over the wire.
    let plaintext = with(entries, &[("security.protocol", "SASL_PLAINTEXT"), ("sasl.mechanism", "SCRAM-SHA-512")]);
    let refusal = wire_refusal(&plaintext).await;
    assert!(refusal.contains("`security.protocol`"), "{refusal}");
}

#[tokio::test]
async fn clients_show_their_certificates_from_every_kind_of_store() {
    let broker = SecureBroker::start();
    let client = broker.client();
    let pem = broker.write("client.pem", client.pem());
    let encrypted = broker.write(
        "encrypted.pem",
        format!("{}{}", client.encrypted_key_pem(SecureBroker::PASSWORD), client.certificate_pem()),
    );
    let p12 = broker.write("client.p12", client.pkcs12(SecureBroker::PASSWORD));
    let (key, chain) = (client.key_pem(), client.certificate_pem());
    let encrypted_key = client.encrypted_key_pem(SecureBroker::PASSWORD);
    let stores: [(&str, Vec<(&str, &str)>); 5] = [
        ("a PEM file", vec![("ssl.keystore.location", &pem)]),
        (
            "an encrypted PEM file",
            vec![("ssl.keystore.location", &encrypted), ("ssl.key.password", SecureBroker::PASSWORD)],
        ),
        ("a PKCS#12 file", vec![("ssl.keystore.location", &p12), ("ssl.keystore.password", SecureBroker::PASSWORD)]),
        ("inline PEM", vec![("ssl.keystore.key", &key), ("ssl.keystore.certificate.chain", &chain)]),
        (
            "inline encrypted PEM",
            vec![
                ("ssl.keystore.key", &encrypted_key),
                ("ssl.keystore.certificate.chain", &chain),
                ("ssl.key.password", SecureBroker::PASSWORD),
            ],
        ),
    ];
    for (name, store) in stores {
        let entries = with(broker.ssl(), &store);
        wire(&entries).await.unwrap_or_else(|error| panic!("{name}: {error}"));
        native(&entries).await.unwrap_or_else(|error| panic!("{name} by librdkafka: {error}"));
    }
    for (store, key) in [
        (vec![("ssl.keystore.location", &*encrypted), ("ssl.key.password", WRONG)], "ssl.key.password"),
        (vec![("ssl.keystore.location", &*encrypted)], "ssl.key.password"),
        (vec![("ssl.keystore.location", &*p12), ("ssl.keystore.password", WRONG)], "ssl.keystore.password"),
    ] {
        let refusal = wire_refusal(&with(broker.ssl(), &store)).await;
        assert!(refusal.contains(key), "{refusal}");
    }
    // A certificate that the broker does not trust, and none.
    let stranger = broker.write("stranger.pem", Authority::new("Another authority").issue("client", &[]).pem());
    for entries in [with(broker.ssl(), &[("ssl.keystore.location", &stranger)]), broker.ssl()] {
        let refusal = wire_refusal(&entries).await;
        assert!(refusal.contains("alert") && refusal.contains("`ssl.keystore.location`"), "{refusal}");
    }
}

/// Sets what a worker and its tasks need for a broker, as an operator does: for the worker and for each kind of client.
fn secured(setup: Standalone, entries: &Entries) -> Standalone {
    entries.iter().filter(|(key, _)| key != "bootstrap.servers").fold(setup, |setup, (key, value)| {
        ["", "producer.", "consumer.", "admin."]
            .iter()
            .fold(setup, |setup, prefix| setup.set(&format!("{prefix}{key}"), value.clone()))
    })
}

fn piped(broker: &SecureBroker, entries: &Entries, topic: &str) -> Standalone {
    let setup = secured(Standalone::new(broker.kafka().bootstrap_of("SASL_SSL")), entries);
    let (input, output) = (setup.path("in.txt"), setup.path("out.txt"));
    setup.write("in.txt", "one\ntwo\n");
    setup
        .connector("source", &[("connector.class", "FileStreamSource"), ("file", &input), ("topic", topic)])
        .connector("sink", &[("connector.class", "FileStreamSink"), ("file", &output), ("topics", topic)])
}

#[test]
fn a_worker_moves_records_over_tls_and_says_no_secret() {
    let broker = SecureBroker::start();
    let topic = unique("secured");
    let entries = broker.sasl_ssl("SCRAM-SHA-512", SecureBroker::PASSWORD);
    let setup = piped(&broker, &entries, &topic);
    let mut worker = setup.start_with([("CONNECT_LOG", "trace")]);
    eventually_true("the lines came through", TIMEOUT, || setup.read("out.txt") == "one\ntwo\n");
    worker.terminate();
    assert_eq!(worker.wait_for_code(TIMEOUT), 0);
    assert_eq!(Cluster::at(broker.kafka().bootstrap()).read_texts(&topic), ["one", "two"]);
    assert!(!worker.log().contains(SecureBroker::PASSWORD), "a secret is in the log");
}

/// Waits until the task of a connector has failed because its login was refused, and says how.
fn wait_for_refusal(worker: &mut Worker, connector: &str, mechanism: &str, bootstrap: &str) {
    let what = format!("the task of `{connector}` has failed for its login by {mechanism}");
    eventually_true(&what, TIMEOUT, || {
        worker.log().lines().any(|line| {
            // Before its producer starts, a task with transactions fences through the worker's own client.
            let by_library = line.contains(&format!("the broker refuses the login by SASL mechanism `{mechanism}`"));
            let by_worker = line.contains("no login at broker") && line.contains("SaslAuthenticationFailed");
            line.contains("task failed")
                && line.contains(&format!("connector={connector} "))
                && (by_library || by_worker)
                && line.contains(mechanism)
                && line.contains(bootstrap)
        })
    });
}

/// Of a producer that gets nowhere.
struct NoOffsets;

impl OffsetRecords for NoOffsets {
    fn topic(&self) -> &'static str {
        "offsets"
    }

    fn records(&self, _: &[(PartitionMap, OffsetMap)]) -> Vec<(Vec<u8>, Vec<u8>)> {
        Vec::new()
    }

    fn committed(&self, _: Vec<(PartitionMap, OffsetMap)>) {}
}

#[tokio::test]
async fn a_producer_with_transactions_ends_when_its_login_is_refused() {
    let broker = SecureBroker::start();
    let entries = broker.sasl_ssl("PLAIN", WRONG);
    let builder = ClientConfig::builder(ClientKind::Producer);
    let builder = entries.iter().fold(builder, |builder, (key, value)| builder.set(key, value));
    let config = builder.transactional(unique("refused")).build().expect("the settings are right").0;
    let mut producer = TransactionalTaskProducer::start(&config, Arc::new(NoOffsets)).expect("a producer starts");
    let started = tokio::time::timeout(TIMEOUT, poll_fn(|cx| producer.poll_start(cx))).await;
    let error = started.expect("an answer comes").expect_err("the login is refused");
    assert!(!error.is_retriable(), "{error}");
    let text = error.to_string();
    assert!(text.contains("the broker refuses the login by SASL mechanism `PLAIN`"), "{text}");
    assert!(text.contains(broker.kafka().bootstrap_of("SASL_SSL")) && !text.contains(WRONG), "{text}");
}

#[test]
fn a_worker_with_a_wrong_password_fails_its_tasks_and_says_no_secret() {
    let broker = SecureBroker::start();
    for mechanism in ["PLAIN", "SCRAM-SHA-512"] {
        let entries = broker.sasl_ssl(mechanism, WRONG);
        let setup = piped(&broker, &entries, &unique("secured"));
        let mut worker = setup.start_with([("CONNECT_LOG", "trace")]);
        for connector in ["source", "sink"] {
            wait_for_refusal(&mut worker, connector, mechanism, broker.kafka().bootstrap_of("SASL_SSL"));
        }
        worker.kill9();
        let log = worker.log();
        assert!(!log.contains(WRONG), "{mechanism}: a secret is in the log");
        assert_eq!(setup.read("out.txt"), "", "{mechanism}");
    }
}

#[test]
fn a_task_whose_login_is_refused_fails_and_its_neighbours_go_on() {
    let broker = SecureBroker::start();
    let mechanism = "SCRAM-SHA-256";
    let of = |password| broker.sasl_ssl(mechanism, password);
    let wrong = of(WRONG).into_iter().find(|(key, _)| key == "sasl.jaas.config").expect("there is a password").1;
    let topic = unique("secured");
    let setup = piped(&broker, &of(SecureBroker::PASSWORD), &topic);
    let (input, output) = (setup.path("in.txt"), setup.path("wrong.txt"));
    let source = [("connector.class", "FileStreamSource"), ("file", &*input), ("topic", &*topic)];
    let in_producer = [("producer.override.sasl.jaas.config", &*wrong)];
    let exactly_once =
        [("exactly.once.source.support", "enabled"), ("offsets.storage.topic", "wrong-offsets"), ("tasks.max", "1")];
    let sink = [("connector.class", "FileStreamSink"), ("file", &*output), ("topics", &*topic)];
    let setup = setup
        .connector("producing", &[&source[..], &in_producer].concat())
        .connector("in-transactions", &[&source[..], &in_producer, &exactly_once].concat())
        .connector("consuming", &[&sink[..], &[("consumer.override.sasl.jaas.config", &*wrong)]].concat());
    let mut worker = setup.start();
    for connector in ["producing", "in-transactions", "consuming"] {
        wait_for_refusal(&mut worker, connector, mechanism, "127.0.0.1");
    }
    eventually_true("the lines came through", TIMEOUT, || setup.read("out.txt") == "one\ntwo\n");
    worker.terminate();
    assert_eq!(worker.wait_for_code(TIMEOUT), 0);
    assert!(!worker.log().contains(WRONG), "a secret is in the log");
    assert_eq!(setup.read("wrong.txt"), "");
}
