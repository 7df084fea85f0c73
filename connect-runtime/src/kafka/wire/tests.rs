//! The wire client against a broker that does what a test wants: the protocol kept, bent and broken.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use bytes::{Buf as _, Bytes, BytesMut};
use kafka_protocol::{
    messages::{
        ApiKey, ApiVersionsResponse, BrokerId, DescribeGroupsResponse, FindCoordinatorResponse, LeaveGroupResponse,
        ListTransactionsResponse, MetadataResponse, RequestHeader, ResponseHeader, SaslAuthenticateResponse,
        SaslHandshakeResponse, api_versions_response::ApiVersion, find_coordinator_response::Coordinator,
        leave_group_response::MemberResponse, list_transactions_response::TransactionState,
        metadata_response::MetadataResponseBroker,
    },
    protocol::{Decodable, Encodable, StrBytes},
};
use rdkafka::error::RDKafkaErrorCode as Code;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
    time::{Duration, timeout},
};

use super::*;
use crate::kafka::{ClientConfig, ClientKind, ErrorClass};

const PATIENCE: Duration = Duration::from_secs(20);

/// What the broker does with a request.
enum Reply {
    /// An answer as it should be.
    Answer(BytesMut),
    /// These bytes, whatever they are.
    Raw(Vec<u8>),
    Close,
    Silence,
}

fn answer(message: &impl Encodable, version: i16) -> Reply {
    let mut body = BytesMut::new();
    message.encode(&mut body, version).unwrap();
    Reply::Answer(body)
}

/// One request: which, in which version.
#[derive(Debug, Clone, Copy)]
struct Asked {
    key: ApiKey,
    version: i16,
    port: u16,
}

/// A broker on loopback; it ends with the test.
struct Broker {
    bootstrap: String,
    task: JoinHandle<()>,
}

impl Drop for Broker {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Broker {
    /// Starts a broker that answers what every client asks first, and leaves the rest to `reply`.
    async fn start(reply: impl Fn(Asked) -> Reply + Send + Sync + 'static) -> Self {
        Self::start_raw(move |asked| match asked.key {
            ApiKey::ApiVersions => answer(&versions(asked.version), asked.version),
            ApiKey::Metadata => answer(&brokers(asked.port), asked.version),
            ApiKey::FindCoordinator => answer(&coordinator(asked.port), asked.version),
            _ => reply(asked),
        })
        .await
    }

    async fn start_raw(reply: impl Fn(Asked) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let reply = Arc::new(reply);
        let task = tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                // A test's end closes them all.
                drop(tokio::spawn(serve(stream, port, Arc::clone(&reply))));
            }
        });
        Self { bootstrap: format!("127.0.0.1:{port}"), task }
    }

    fn cluster(&self) -> Cluster {
        self.cluster_with(&[])
    }

    fn cluster_with(&self, entries: &[(&str, &str)]) -> Cluster {
        let quick = [("x.request.timeout.ms", "300"), ("x.retry.backoff.ms", "1"), ("x.retry.backoff.max.ms", "1")];
        let builder = ClientConfig::builder(ClientKind::Admin).set("bootstrap.servers", &self.bootstrap);
        let builder = builder.prefixed("x.", quick).prefixed("x.", entries.iter().copied());
        Cluster::new(&builder.build().unwrap().0).unwrap()
    }
}

async fn serve(mut stream: TcpStream, port: u16, reply: Arc<impl Fn(Asked) -> Reply>) {
    while let Ok(size) = stream.read_u32().await {
        let mut frame = vec![0; size as usize];
        stream.read_exact(&mut frame).await.unwrap();
        let mut frame = Bytes::from(frame);
        let key = ApiKey::try_from(frame.clone().get_i16()).unwrap();
        let version = frame.slice(2..).get_i16();
        let header = RequestHeader::decode(&mut frame, key.request_header_version(version)).unwrap();
        let bytes = match reply(Asked { key, version, port }) {
            Reply::Close => return,
            Reply::Silence => continue,
            Reply::Raw(bytes) => bytes,
            Reply::Answer(body) => {
                let mut bytes = BytesMut::zeroed(4);
                let answered = ResponseHeader::default().with_correlation_id(header.correlation_id);
                answered.encode(&mut bytes, key.response_header_version(version)).unwrap();
                bytes.extend_from_slice(&body);
                let size = u32::try_from(bytes.len() - 4).unwrap();
                bytes[..4].copy_from_slice(&size.to_be_bytes());
                bytes.to_vec()
            }
        };
        if stream.write_all(&bytes).await.is_err() {
            return;
        }
    }
}

fn versions(_: i16) -> ApiVersionsResponse {
    let version = |(key, max)| ApiVersion::default().with_api_key(key as i16).with_min_version(0).with_max_version(max);
    let known = [
        (ApiKey::Metadata, 12),
        (ApiKey::FindCoordinator, 4),
        (ApiKey::ListTransactions, 1),
        (ApiKey::DescribeGroups, 5),
        (ApiKey::LeaveGroup, 5),
        (ApiKey::SaslAuthenticate, 2),
    ];
    ApiVersionsResponse::default().with_api_keys(known.map(version).to_vec())
}

fn brokers(port: u16) -> MetadataResponse {
    let broker = MetadataResponseBroker::default()
        .with_node_id(BrokerId(1))
        .with_host(StrBytes::from_static_str("127.0.0.1"))
        .with_port(i32::from(port));
    MetadataResponse::default().with_brokers(vec![broker])
}

fn coordinator(port: u16) -> FindCoordinatorResponse {
    let found = Coordinator::default()
        .with_node_id(BrokerId(1))
        .with_host(StrBytes::from_static_str("127.0.0.1"))
        .with_port(i32::from(port));
    FindCoordinatorResponse::default().with_coordinators(vec![found])
}

/// Runs a call that must not hang.
async fn in_time<T>(call: impl Future<Output = T>) -> T {
    timeout(PATIENCE, call).await.expect("the call ends")
}

#[tokio::test]
async fn ids_that_an_old_broker_does_not_filter_are_filtered_here() {
    let broker = Broker::start(|asked| {
        let state = |id: &'static str| {
            TransactionState::default()
                .with_transactional_id(StrBytes::from_static_str(id).into())
                .with_transaction_state(StrBytes::from_static_str("Ongoing"))
        };
        let all = vec![state("b-2"), state("a-1"), state("b-1")];
        answer(&ListTransactionsResponse::default().with_transaction_states(all), asked.version)
    })
    .await;
    let found = in_time(broker.cluster().list_transactional_ids("b-")).await.unwrap();
    let id = |id: &str| TransactionalId { id: id.to_owned(), state: "Ongoing".to_owned() };
    assert_eq!(found, [id("b-1"), id("b-2")]);
}

#[tokio::test]
async fn a_request_that_the_broker_does_not_know_is_told_apart() {
    let none = Broker::start_raw(|asked| match asked.key {
        ApiKey::ApiVersions => {
            let mut known = versions(asked.version);
            known.api_keys.retain(|api| api.api_key != ApiKey::ListTransactions as i16);
            answer(&known, asked.version)
        }
        _ => answer(&brokers(asked.port), asked.version),
    })
    .await;
    let error = in_time(none.cluster().list_transactional_ids("")).await.unwrap_err();
    assert!(error.is_unsupported() && error.to_string().contains("ListTransactions"), "{error}");
    // Kafka before 2.4 refuses the question for versions itself, in the form of version 0.
    let old = Broker::start_raw(|_| answer(&ApiVersionsResponse::default().with_error_code(35), 0)).await;
    let error = in_time(old.cluster().list_transactional_ids("")).await.unwrap_err();
    assert!(error.is_unsupported(), "{error}");
}

#[tokio::test]
async fn a_coordinator_that_moves_is_looked_up_again() {
    let asked_times = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&asked_times);
    let broker = Broker::start(move |asked| {
        let member = |id: &'static str, code| {
            MemberResponse::default().with_group_instance_id(Some(StrBytes::from_static_str(id))).with_error_code(code)
        };
        let response = LeaveGroupResponse::default();
        let response = match counter.fetch_add(1, Ordering::Relaxed) {
            0 => response.with_error_code(16),
            1 => response.with_error_code(14),
            2 => return Reply::Close,
            _ => response.with_members(vec![member("gone", 25), member("left", 0), member("fenced", 82)]),
        };
        answer(&response, asked.version)
    })
    .await;
    let ids = ["left", "gone", "fenced", "forgotten"].map(str::to_owned);
    let mut left = in_time(broker.cluster().leave_group("group", &ids)).await.unwrap();
    assert_eq!(asked_times.load(Ordering::Relaxed), 4);
    assert_eq!((left.remove("left"), left.remove("gone")), (Some(Ok(())), Some(Ok(()))));
    assert!(matches!(left.remove("fenced"), Some(Err(error)) if error.class() == ErrorClass::Fenced));
    assert!(matches!(left.remove("forgotten"), Some(Err(error)) if error.to_string().contains("`forgotten`")));
}

#[tokio::test]
async fn an_error_that_does_not_pass_is_not_tried_again() {
    let asked_times = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&asked_times);
    let broker = Broker::start(move |asked| {
        counter.fetch_add(1, Ordering::Relaxed);
        answer(&LeaveGroupResponse::default().with_error_code(30), asked.version)
    })
    .await;
    let error = in_time(broker.cluster().leave_group("group", &["one".to_owned()])).await.unwrap_err();
    assert_eq!((error.code(), error.class()), (Some(Code::GroupAuthorizationFailed), ErrorClass::Fatal));
    assert_eq!(asked_times.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn what_is_no_answer_is_an_error_and_not_a_panic() {
    let huge = |size: i32| size.to_be_bytes().to_vec();
    let framed = |body: &[u8]| [&u32::try_from(body.len()).unwrap().to_be_bytes()[..], body].concat();
    // After its correlation id (the second request of the connection) and no tags an answer to DescribeGroups has a
    // throttle time and an array; this one claims to have 4 billion elements.
    let lie = framed(&[&[0, 0, 0, 2, 0, 0, 0, 0, 0][..], &[0xff, 0xff, 0xff, 0xff, 0x0f], &[0; 20]].concat());
    for (bytes, want) in [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec(), "security.protocol"),
        (vec![0x15, 3, 3, 0, 2, 2, 80], "security.protocol"),
        (huge(i32::MAX), "security.protocol"),
        (huge(-1), "security.protocol"),
        (huge(0), "security.protocol"),
        (framed(&[0xff; 64]), "answers request"),
        (framed(&[0, 0, 0, 2]), "cannot be read"),
        (lie, "cannot be read"),
        (framed(&[0, 0, 0, 2, 0, 0, 0, 0, 0, 1, 0, 9]), "too many"),
    ] {
        let reply = bytes.clone();
        let broker = Broker::start(move |_| Reply::Raw(reply.clone())).await;
        let error = in_time(broker.cluster().group_members("group")).await.unwrap_err();
        assert_eq!((error.class(), error.code()), (ErrorClass::Fatal, Some(Code::BadMessage)), "{bytes:?}: {error}");
        assert!(
            error.to_string().contains(want) && error.to_string().contains(&broker.bootstrap),
            "{bytes:?}: {error}"
        );
    }
}

#[tokio::test]
async fn a_broker_that_closes_or_is_silent_is_asked_again_on_a_new_connection() {
    for bad in [|| Reply::Close, || Reply::Silence, || Reply::Raw(vec![0, 0, 0, 9, 0])] {
        let asked_times = AtomicUsize::new(0);
        let broker = Broker::start(move |asked| match asked_times.fetch_add(1, Ordering::Relaxed) {
            0 | 1 => bad(),
            _ => answer(&ListTransactionsResponse::default(), asked.version),
        })
        .await;
        let found = in_time(broker.cluster().list_transactional_ids("")).await;
        assert_eq!(found, Ok(Vec::new()));
    }
}

#[tokio::test]
async fn a_call_that_was_given_up_leaves_no_answer_to_the_next() {
    let asked_times = AtomicUsize::new(0);
    let broker = Broker::start(move |asked| match asked_times.fetch_add(1, Ordering::Relaxed) {
        0 => Reply::Silence,
        _ => answer(&LeaveGroupResponse::default().with_error_code(25), asked.version),
    })
    .await;
    let mut cluster = broker.cluster();
    let ids = ["one".to_owned()];
    assert!(timeout(Duration::from_millis(100), cluster.leave_group("group", &ids)).await.is_err());
    let left = in_time(cluster.leave_group("group", &ids)).await.unwrap();
    assert_eq!(left.get("one"), Some(&Ok(())));
}

#[tokio::test]
async fn nobody_listening_is_an_error_that_names_the_address() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    drop(listener);
    let config = ClientConfig::builder(ClientKind::Admin).set("bootstrap.servers", address.clone()).build().unwrap().0;
    let settings = settings::Settings::new(&config).unwrap();
    let error = in_time(connection::Connection::open(&settings, &settings.bootstrap[0])).await.unwrap_err();
    assert_eq!(error.class(), ErrorClass::Retriable);
    assert!(error.to_string().contains(&address), "{error}");
}

#[tokio::test(start_paused = true)]
async fn attempts_end_after_a_minute_with_the_last_error() {
    let config = ClientConfig::builder(ClientKind::Admin).set("bootstrap.servers", "127.0.0.1:1").build().unwrap().0;
    let mut retry = cluster::Retry::new(&settings::Settings::new(&config).unwrap());
    let start = tokio::time::Instant::now();
    let error = |n: usize| crate::kafka::KafkaError::coded(Code::NotCoordinator, &format!("attempt {n}"), "");
    let mut attempts = 0;
    let last = loop {
        attempts += 1;
        if let Err(last) = retry.after(error(attempts)).await {
            break last;
        }
    };
    assert!(last.to_string().contains(&format!("attempt {attempts}")), "{last}");
    assert!((50..100).contains(&attempts), "{attempts}");
    assert!((59..=60).contains(&start.elapsed().as_secs()));
}

#[tokio::test]
async fn a_group_that_is_dead_is_none() {
    let broker = Broker::start(|asked| {
        let dead = kafka_protocol::messages::describe_groups_response::DescribedGroup::default()
            .with_group_state(StrBytes::from_static_str("Dead"));
        answer(&DescribeGroupsResponse::default().with_groups(vec![dead]), asked.version)
    })
    .await;
    assert_eq!(in_time(broker.cluster().group_members("group")).await, Ok(None));
}

const PLAIN: [(&str, &str); 3] = [
    ("x.security.protocol", "SASL_PLAINTEXT"),
    ("x.sasl.mechanism", "PLAIN"),
    ("x.sasl.jaas.config", "x.PlainLoginModule required username=\"alice\" password=\"hunter2\";"),
];

#[tokio::test]
async fn a_login_that_ends_is_followed_by_a_new_one() {
    // Each call needs two connections: one to look the coordinator up, one to it.
    for (lifetime_ms, ends) in [(0, false), (3_600_000, false), (1, true)] {
        let logins = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&logins);
        let broker = Broker::start(move |asked| match asked.key {
            ApiKey::SaslHandshake => answer(&SaslHandshakeResponse::default(), asked.version),
            ApiKey::SaslAuthenticate => {
                counter.fetch_add(1, Ordering::Relaxed);
                answer(&SaslAuthenticateResponse::default().with_session_lifetime_ms(lifetime_ms), asked.version)
            }
            _ => answer(&LeaveGroupResponse::default().with_error_code(25), asked.version),
        })
        .await;
        let mut cluster = broker.cluster_with(&PLAIN);
        let start = tokio::time::Instant::now();
        for n in 1.. {
            in_time(cluster.leave_group("group", &["one".to_owned()])).await.unwrap();
            let logins = logins.load(Ordering::Relaxed);
            if ends && logins >= 4 || !ends && n == 20 {
                break;
            }
            assert!(ends || logins == 2, "{logins} logins of {lifetime_ms} ms");
            assert!(start.elapsed() < PATIENCE, "{logins} logins of {lifetime_ms} ms");
        }
        assert!(!format!("{cluster:?}").contains("hunter2"));
    }
}

#[tokio::test]
async fn a_refused_login_is_told_with_the_way_out_and_without_the_password() {
    let refused = |handshake: bool| {
        move |asked: Asked| match asked.key {
            ApiKey::SaslHandshake if handshake => {
                let known = vec![StrBytes::from_static_str("SCRAM-SHA-512")];
                answer(&SaslHandshakeResponse::default().with_error_code(33).with_mechanisms(known), asked.version)
            }
            ApiKey::SaslHandshake => answer(&SaslHandshakeResponse::default(), asked.version),
            _ => {
                let why = Some(StrBytes::from_static_str("no such user"));
                answer(&SaslAuthenticateResponse::default().with_error_code(58).with_error_message(why), asked.version)
            }
        }
    };
    for (handshake, want) in
        [(true, "`sasl.mechanism` is `PLAIN`, the broker allows [\"SCRAM-SHA-512\"]"), (false, "no such user")]
    {
        let broker = Broker::start(refused(handshake)).await;
        let error = in_time(broker.cluster_with(&PLAIN).group_members("group")).await.unwrap_err();
        assert_eq!(error.class(), ErrorClass::Fatal);
        let text = error.to_string();
        assert!(text.contains(want) && text.contains(&broker.bootstrap) && !text.contains("hunter2"), "{text}");
    }
}

#[test]
fn what_only_librdkafka_has_is_refused_by_the_key() {
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        std::fs::write(dir.path().join(name), text).unwrap();
        dir.path().join(name).display().to_string()
    };
    let empty = file("empty.pem", "no certificate here");
    let ssl = ("x.security.protocol", "SSL");
    for (entries, want) in [
        (
            vec![("x.security.protocol", "SASL_PLAINTEXT"), ("x.sasl.mechanism", "GSSAPI")],
            "`sasl.mechanism` is `GSSAPI`",
        ),
        (vec![ssl, ("x.ssl.crl.location", &empty)], "`ssl.crl.location`"),
        (vec![ssl, ("x.ssl.truststore.location", &empty)], "`ssl.truststore.location` holds no certificate"),
        (vec![ssl, ("x.ssl.truststore.certificates", "hunter2")], "`ssl.truststore.certificates` holds no certificate"),
        (vec![ssl, ("x.ssl.keystore.location", &empty)], "`ssl.keystore.location` is not usable"),
        (
            vec![ssl, ("x.ssl.keystore.key", "hunter2"), ("x.ssl.keystore.certificate.chain", "hunter2")],
            "`ssl.keystore.key` is not usable",
        ),
    ] {
        let builder = ClientConfig::builder(ClientKind::Admin).set("bootstrap.servers", "127.0.0.1:1");
        let config = builder.prefixed("x.", entries.iter().copied()).build();
        // What librdkafka refuses itself has not come this far.
        let Ok((config, _)) = config else { panic!("{entries:?}: {config:?}") };
        let error = Cluster::new(&config).unwrap_err();
        assert_eq!(error.class(), ErrorClass::Fatal);
        assert!(error.to_string().contains(want) && !error.to_string().contains("hunter2"), "{error}");
    }
}
