//! Logging in by SASL: PLAIN, SCRAM-SHA-256, SCRAM-SHA-512 and OAUTHBEARER, inside Kafka's own two requests.

use std::{fmt, time::Duration};

use bytes::Bytes;
use connect_sdk::config::Password;
use kafka_protocol::{
    messages::{SaslAuthenticateRequest, SaslHandshakeRequest},
    protocol::StrBytes,
};
use openssl::hash::MessageDigest;
use rdkafka::error::RDKafkaErrorCode as Code;

use super::{connection::Connection, scram::Scram};
use crate::kafka::{ClientConfig, ErrorClass, KafkaError, oauth::OauthSource};

/// The one version since which logins travel in requests of their own.
const HANDSHAKE_VERSION: i16 = 1;
/// What a client says after a refusal of OAUTHBEARER, so that the broker can tell the reason.
const OAUTH_DUMMY: &[u8] = b"\x01";

/// Who logs in, and how.
#[derive(Clone)]
pub(super) enum Login {
    Plain { username: String, password: Password },
    Scram { sha512: bool, username: String, password: Password },
    OauthBearer(OauthSource),
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Login").field(&self.mechanism()).finish()
    }
}

impl Login {
    /// Takes the login out of a configuration that has been checked.
    ///
    /// # Errors
    /// Fatal: this client lacks the mechanism, or the configuration has it in a form of librdkafka's own.
    pub(super) fn new(config: &ClientConfig) -> Result<Self, KafkaError> {
        let entry = |key: &str| config.entries.get(key).cloned();
        let fatal = |text: String| Err(KafkaError::new(ErrorClass::Fatal, text));
        let mechanism = entry("sasl.mechanism").unwrap_or_else(|| "GSSAPI".to_owned());
        if mechanism == "OAUTHBEARER" {
            return match &config.oauth {
                Some(source) => Ok(Self::OauthBearer(source.clone())),
                None => fatal(
                    "`sasl.mechanism=OAUTHBEARER` needs `sasl.oauthbearer.token.endpoint.url` or `sasl.jaas.config` for \
                     requests about groups and transactions"
                        .to_owned(),
                ),
            };
        }
        let credentials = || match (entry("sasl.username"), entry("sasl.password")) {
            (Some(username), Some(password)) => Ok((username, Password::new(password))),
            _ => Err(KafkaError::new(
                ErrorClass::Fatal,
                format!("`sasl.jaas.config` must give `username` and `password` for `sasl.mechanism={mechanism}`"),
            )),
        };
        match mechanism.as_str() {
            "PLAIN" => credentials().map(|(username, password)| Self::Plain { username, password }),
            "SCRAM-SHA-256" | "SCRAM-SHA-512" => {
                let sha512 = mechanism.ends_with("512");
                credentials().map(|(username, password)| Self::Scram { sha512, username, password })
            }
            _ => fatal(format!(
                "value of `sasl.mechanism` is `{mechanism}`; for requests about groups and transactions it must be one of \
                 `PLAIN`, `SCRAM-SHA-256`, `SCRAM-SHA-512`, `OAUTHBEARER`"
            )),
        }
    }

    fn mechanism(&self) -> &'static str {
        match self {
            Self::Plain { .. } => "PLAIN",
            Self::Scram { sha512: false, .. } => "SCRAM-SHA-256",
            Self::Scram { sha512: true, .. } => "SCRAM-SHA-512",
            Self::OauthBearer(_) => "OAUTHBEARER",
        }
    }

    /// Logs in on a new connection; answers for how long the login is good, if the broker limits that (KIP-368).
    ///
    /// # Errors
    /// Fatal: the broker refuses mechanism, name, password or token; or it does not prove that it knows the password.
    pub(super) async fn log_in(&self, connection: &mut Connection) -> Result<Option<Duration>, KafkaError> {
        let mechanism = self.mechanism();
        let mut request = SaslHandshakeRequest::default();
        request.mechanism = StrBytes::from_static_str(mechanism);
        let answer = connection.call_at(&request, HANDSHAKE_VERSION).await?;
        if answer.error_code != 0 {
            let known: Vec<&str> = answer.mechanisms.iter().map(|name| &**name).collect();
            let why = format!("`sasl.mechanism` is `{mechanism}`, the broker allows {known:?}");
            return Err(KafkaError::answered(answer.error_code, &refusal(connection), &why));
        }
        match self {
            Self::Plain { username, password } => {
                let message = format!("\0{username}\0{}", password.expose()).into_bytes();
                authenticate(connection, message).await.map(|(lifetime, _)| lifetime)
            }
            Self::Scram { sha512, username, password } => scram(connection, *sha512, username, password).await,
            Self::OauthBearer(source) => oauth_bearer(connection, source.clone()).await,
        }
    }
}

async fn scram(
    connection: &mut Connection,
    sha512: bool,
    username: &str,
    password: &Password,
) -> Result<Option<Duration>, KafkaError> {
    let digest = if sha512 { MessageDigest::sha512() } else { MessageDigest::sha256() };
    let failed =
        |connection: &Connection, why: &str| KafkaError::coded(Code::Authentication, &refusal(connection), why);
    let (scram, first) = Scram::start(digest, username).map_err(|why| failed(connection, &why))?;
    let (_, server_first) = authenticate(connection, first).await?;
    let password = password.clone();
    // Thousands of hashes, which are no work for the runtime's threads.
    let answer = tokio::task::spawn_blocking(move || scram.answer(&server_first, password.expose())).await;
    let answer = answer.unwrap_or_else(|error| Err(format!("the answer was not computed: {error}")));
    let (end, last) = answer.map_err(|why| failed(connection, &why))?;
    let (lifetime, server_last) = authenticate(connection, last).await?;
    end.check(&server_last).map_err(|why| failed(connection, &why))?;
    Ok(lifetime)
}

async fn oauth_bearer(connection: &mut Connection, source: OauthSource) -> Result<Option<Duration>, KafkaError> {
    // The token may be in a file.
    let token = tokio::task::spawn_blocking(move || source.token()).await;
    let token = token.unwrap_or_else(|error| Err(format!("the token was not read: {error}")));
    let token = token.map_err(|why| KafkaError::new(ErrorClass::Retriable, why))?;
    let message = format!("n,,\x01auth=Bearer {}\x01\x01", token.token).into_bytes();
    let (lifetime, refused) = authenticate(connection, message).await?;
    if refused.is_empty() {
        return Ok(lifetime);
    }
    authenticate(connection, OAUTH_DUMMY.to_vec()).await?;
    Err(KafkaError::coded(Code::SaslAuthenticationFailed, &refusal(connection), "it does not accept the token"))
}

/// One step of a login. The message is not kept or shown anywhere.
async fn authenticate(connection: &mut Connection, message: Vec<u8>) -> Result<(Option<Duration>, Bytes), KafkaError> {
    let mut request = SaslAuthenticateRequest::default();
    request.auth_bytes = Bytes::from(message);
    let answer = connection.call(&request).await?;
    if answer.error_code != 0 {
        let why = answer.error_message.as_deref().unwrap_or_default();
        return Err(KafkaError::answered(answer.error_code, &refusal(connection), why));
    }
    let lifetime = u64::try_from(answer.session_lifetime_ms).ok().filter(|ms| *ms > 0).map(Duration::from_millis);
    Ok((lifetime, answer.auth_bytes))
}

fn refusal(connection: &Connection) -> String {
    format!("no login at broker `{}`", connection.address())
}
