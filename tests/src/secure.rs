//! A broker that wants to be spoken to in secret: SASL over TLS on one listener, certificates of clients on another.

use std::fs;

use tempfile::TempDir;
use xtask::kafka::Java;

use crate::broker::{Kafka, Options, start};
use crate::certificates::{Authority, Identity};

/// Memory of a command-line tool, in MB.
const HEAP_MB: u32 = 256;
const MODULES: &str = "org.apache.kafka.common.security";

/// A broker with the listeners `SASL_SSL` (PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER) and `SSL` (with a client's
/// certificate only), of one test alone. It shows a certificate for `127.0.0.1` and no other address.
#[derive(Debug)]
pub struct SecureBroker {
    kafka: Kafka,
    dir: TempDir,
    authority: Authority,
}

impl SecureBroker {
    /// The one who may log in, by every mechanism.
    pub const USER: &str = "alice";
    /// The user's password. It stands in no log.
    pub const PASSWORD: &str = "al1ce-s3cret";

    /// Starts the broker.
    pub fn start() -> Self {
        Self::start_with(Options::new())
    }

    /// Starts a broker that lets the user do only what [`Self::allow`] has allowed. Clients of its plain listener may do
    /// everything.
    pub fn start_with_rights() -> Self {
        let authorizer = "org.apache.kafka.metadata.authorizer.StandardAuthorizer";
        let options = Options::new().property("authorizer.class.name", authorizer);
        Self::start_with(options.property("super.users", "User:ANONYMOUS"))
    }

    /// Allows the user these operations on everything of a kind (`topic`, `group`, `transactional-id`) whose name begins
    /// with `prefix`.
    pub fn allow(&self, operations: &[&str], kind: &str, prefix: &str) {
        let java = Java::find().unwrap_or_else(|error| panic!("{error}"));
        let mut command = java.command(self.kafka.jars(), "org.apache.kafka.tools.AclCommand", HEAP_MB, &[]);
        command.args(["--bootstrap-server", self.kafka.bootstrap(), "--add", "--force"]);
        command.arg("--allow-principal").arg(format!("User:{}", Self::USER));
        command.args(operations.iter().flat_map(|operation| ["--operation", operation]));
        command.args(["--resource-pattern-type", "prefixed", &format!("--{kind}"), prefix]);
        let output = command.output().expect("Java runs");
        assert!(output.status.success(), "{output:?}");
    }

    fn start_with(options: Options) -> Self {
        let dir = TempDir::new().expect("a folder for certificates can be made");
        let authority = Authority::new("Test authority");
        let path = |name: &str| dir.path().join(name).display().to_string();
        let write = |name: &str, text: &str| {
            fs::write(dir.path().join(name), text).expect("a certificate can be written");
            path(name)
        };
        let keystore = write("broker.pem", &authority.issue("broker", &["127.0.0.1"]).pem());
        let truststore = write("ca.pem", &authority.pem());
        let (user, password) = (Self::USER, Self::PASSWORD);
        let plain = format!("{MODULES}.plain.PlainLoginModule required user_{user}=\"{password}\";");
        let scram = format!("{MODULES}.scram.ScramLoginModule required;");
        let oauth =
            format!("{MODULES}.oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub=\"broker\";");
        let tls = [
            ("ssl.keystore.type", "PEM"),
            ("ssl.keystore.location", &*keystore),
            ("ssl.truststore.type", "PEM"),
            ("ssl.truststore.location", &*truststore),
        ];
        let sasl = [
            ("sasl.enabled.mechanisms", "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER"),
            ("plain.sasl.jaas.config", &*plain),
            ("scram-sha-256.sasl.jaas.config", &*scram),
            ("scram-sha-512.sasl.jaas.config", &*scram),
            ("oauthbearer.sasl.jaas.config", &*oauth),
        ];
        let options = options
            .listener("SASL_SSL", &[&tls[..], &sasl].concat())
            .listener("SSL", &[&tls[..], &[("ssl.client.auth", "required")]].concat())
            .scram_user(user, password);
        Self { kafka: start(options), dir, authority }
    }

    /// The broker itself.
    pub fn kafka(&self) -> &Kafka {
        &self.kafka
    }

    /// The authority that vouches for the broker, and that the broker trusts.
    pub fn authority(&self) -> &Authority {
        &self.authority
    }

    /// The path of a file that trusts the broker.
    pub fn truststore(&self) -> String {
        self.path("ca.pem")
    }

    /// A certificate that the broker accepts from a client.
    pub fn client(&self) -> Identity {
        self.authority.issue("client", &[])
    }

    /// Writes a file that lives as long as the broker, and returns its path.
    pub fn write(&self, name: &str, contents: impl AsRef<[u8]>) -> String {
        fs::write(self.dir.path().join(name), contents).expect("a file can be written");
        self.path(name)
    }

    fn path(&self, name: &str) -> String {
        self.dir.path().join(name).display().to_string()
    }

    /// Java's keys for a client of the listener `SASL_SSL` that logs in by this mechanism.
    pub fn sasl_ssl(&self, mechanism: &str, password: &str) -> Vec<(String, String)> {
        let user = Self::USER;
        let jaas = match mechanism {
            "PLAIN" => {
                format!("{MODULES}.plain.PlainLoginModule required username=\"{user}\" password=\"{password}\";")
            }
            "OAUTHBEARER" => format!(
                "{MODULES}.oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub=\"{user}\";"
            ),
            _ => format!("{MODULES}.scram.ScramLoginModule required username=\"{user}\" password=\"{password}\";"),
        };
        owned(&[
            ("bootstrap.servers", self.kafka.bootstrap_of("SASL_SSL")),
            ("security.protocol", "SASL_SSL"),
            ("sasl.mechanism", mechanism),
            ("sasl.jaas.config", &jaas),
            ("ssl.truststore.type", "PEM"),
            ("ssl.truststore.location", &self.truststore()),
        ])
    }

    /// Java's keys for a client of the listener `SSL`, without the client's own certificate.
    pub fn ssl(&self) -> Vec<(String, String)> {
        owned(&[
            ("bootstrap.servers", self.kafka.bootstrap_of("SSL")),
            ("security.protocol", "SSL"),
            ("ssl.truststore.type", "PEM"),
            ("ssl.truststore.location", &self.truststore()),
        ])
    }
}

fn owned(entries: &[(&str, &str)]) -> Vec<(String, String)> {
    entries.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}
