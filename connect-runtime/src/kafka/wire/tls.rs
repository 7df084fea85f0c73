//! TLS as librdkafka does it: the same OpenSSL, the same stores, the same tests of a certificate.

use std::{collections::BTreeMap, fmt, fs, path::Path, pin::Pin};

use openssl::{
    error::ErrorStack,
    pkcs12::Pkcs12,
    pkey::{PKey, Private},
    ssl::{ErrorCode, SslConnector, SslConnectorBuilder, SslFiletype, SslMethod, SslVerifyMode},
    x509::{
        X509, X509VerifyResult,
        store::{X509Lookup, X509StoreBuilder},
    },
};
use rdkafka::error::RDKafkaErrorCode as Code;
use tokio::net::TcpStream;
use tokio_openssl::SslStream;

use super::settings::Address;
use crate::kafka::{ErrorClass, KafkaError};

/// Keys of librdkafka that change how TLS works and that have no counterpart here: to pass over one of them would make
/// this client weaker, or other, than the rest.
const UNSUPPORTED: [&str; 6] = [
    "ssl.crl.location",
    "ssl.engine.location",
    "ssl.engine.id",
    "ssl.providers",
    "ssl.ca.certificate.stores",
    "https.ca.pem",
];

/// What makes a connection secure; read once, used for each connection.
pub(super) struct Tls {
    connector: SslConnector,
    verify_hostname: bool,
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls").field("verify_hostname", &self.verify_hostname).finish_non_exhaustive()
    }
}

impl Tls {
    /// Reads the stores that librdkafka's keys name, which Java's have become.
    ///
    /// # Errors
    /// Fatal: a store cannot be read; the text names the key and never a content.
    pub(super) fn new(entries: &BTreeMap<String, String>) -> Result<Self, KafkaError> {
        let entry = |key: &str| entries.get(key).map(String::as_str).filter(|value| !value.is_empty());
        if let Some(key) = UNSUPPORTED.into_iter().find(|key| entry(key).is_some()) {
            return Err(fatal(format!("`{key}` is not supported by the client of group and transaction requests")));
        }
        let mut builder = SslConnector::builder(SslMethod::tls_client()).map_err(|error| unusable("ssl", &error))?;
        trust(&mut builder, &entry)?;
        identify(&mut builder, &entry)?;
        for (key, set) in [
            ("ssl.cipher.suites", SslConnectorBuilder::cipher_list as fn(&mut _, &str) -> _),
            ("ssl.curves.list", SslConnectorBuilder::groups_list),
            ("ssl.sigalgs.list", SslConnectorBuilder::sigalgs_list),
        ] {
            if let Some(value) = entry(key) {
                set(&mut builder, value).map_err(|error| unusable(key, &error))?;
            }
        }
        if entry("enable.ssl.certificate.verification") == Some("false") {
            builder.set_verify(SslVerifyMode::NONE);
        }
        let verify_hostname = entry("ssl.endpoint.identification.algorithm") != Some("none");
        Ok(Self { connector: builder.build(), verify_hostname })
    }

    /// Secures a connection that is open.
    ///
    /// # Errors
    /// Fatal if the broker's certificate is not trusted or the two sides have no version or cipher in common; retriable
    /// if the connection broke.
    ///
    /// # Cancel safety
    /// The connection is gone.
    pub(super) async fn secure(&self, tcp: TcpStream, address: &Address) -> Result<SslStream<TcpStream>, KafkaError> {
        let stack = |error: &ErrorStack| refused(address, &first_reason(error));
        let configured = self.connector.configure().map_err(|error| stack(&error))?;
        let ssl =
            configured.verify_hostname(self.verify_hostname).into_ssl(&address.host).map_err(|error| stack(&error))?;
        let mut stream = SslStream::new(ssl, tcp).map_err(|error| stack(&error))?;
        let Err(error) = Pin::new(&mut stream).connect().await else { return Ok(stream) };
        let verdict = stream.ssl().verify_result();
        if verdict != X509VerifyResult::OK {
            return Err(refused(
                address,
                &format!(
                    "its certificate is not accepted: {verdict}; see `ssl.truststore.location` and \
                     `ssl.endpoint.identification.algorithm`"
                ),
            ));
        }
        if error.code() == ErrorCode::SSL {
            let why = error.ssl_error().map_or_else(|| error.to_string(), first_reason);
            return Err(refused(address, &why));
        }
        let why = format!("the connection broke in the TLS handshake ({error}); does the listener speak TLS?");
        Err(KafkaError::coded(Code::BrokerTransportFailure, &format!("broker `{address}`"), &why))
    }
}

trait Lists {
    fn cipher_list(&mut self, value: &str) -> Result<(), ErrorStack>;
    fn groups_list(&mut self, value: &str) -> Result<(), ErrorStack>;
    fn sigalgs_list(&mut self, value: &str) -> Result<(), ErrorStack>;
}

impl Lists for SslConnectorBuilder {
    fn cipher_list(&mut self, value: &str) -> Result<(), ErrorStack> {
        self.set_cipher_list(value)
    }

    fn groups_list(&mut self, value: &str) -> Result<(), ErrorStack> {
        self.set_groups_list(value)
    }

    fn sigalgs_list(&mut self, value: &str) -> Result<(), ErrorStack> {
        self.set_sigalgs_list(value)
    }
}

/// Which certificates are trusted: those given, and else the system's; never both.
fn trust<'a>(builder: &mut SslConnectorBuilder, entry: &impl Fn(&str) -> Option<&'a str>) -> Result<(), KafkaError> {
    let bad = |key: &'static str| move |error: ErrorStack| unusable(key, &error);
    let mut store = X509StoreBuilder::new().map_err(bad("ssl"))?;
    let mut add = |key: &'static str, pem: &[u8]| {
        let certificates = X509::stack_from_pem(pem).map_err(bad(key))?;
        if certificates.is_empty() {
            return Err(fatal(format!("`{key}` holds no certificate in PEM form")));
        }
        certificates.into_iter().try_for_each(|certificate| store.add_cert(certificate)).map_err(bad(key))
    };
    if let Some(pem) = entry("ssl.ca.pem") {
        add("ssl.truststore.certificates", pem.as_bytes())?;
    } else if let Some(location) = entry("ssl.ca.location").filter(|location| *location != "probe") {
        if Path::new(location).is_dir() {
            add_dir(&mut store, location).map_err(bad("ssl.ca.location"))?;
        } else {
            add("ssl.truststore.location", &read("ssl.truststore.location", location)?)?;
        }
    } else {
        let system = openssl_probe::probe();
        for dir in system.cert_dir.iter().filter_map(|dir| dir.to_str()) {
            add_dir(&mut store, dir).map_err(bad("ssl"))?;
        }
        if let Some(pem) = system.cert_file.and_then(|file| fs::read(file).ok()) {
            // One certificate of the system that cannot be read must not take the others with it.
            for certificate in X509::stack_from_pem(&pem).unwrap_or_default() {
                store.add_cert(certificate).ok();
            }
        }
    }
    builder.set_cert_store(store.build());
    Ok(())
}

fn add_dir(store: &mut X509StoreBuilder, dir: &str) -> Result<(), ErrorStack> {
    store.add_lookup(X509Lookup::hash_dir())?.add_dir(dir, SslFiletype::PEM)
}

/// What this client shows to a broker that asks for a certificate.
fn identify<'a>(builder: &mut SslConnectorBuilder, entry: &impl Fn(&str) -> Option<&'a str>) -> Result<(), KafkaError> {
    if let Some(location) = entry("ssl.keystore.location") {
        let key = "ssl.keystore.location";
        let password = entry("ssl.keystore.password").unwrap_or_default();
        let parsed =
            Pkcs12::from_der(&read(key, location)?).and_then(|store| store.parse2(password)).map_err(|error| {
                let error = unusable(key, &error);
                fatal(format!("{error}; is `ssl.keystore.password` right?"))
            })?;
        let (Some(private), Some(certificate)) = (parsed.pkey, parsed.cert) else {
            return Err(fatal(format!("`{key}`: `{location}` holds no private key with its certificate")));
        };
        let chain: Vec<X509> = parsed.ca.into_iter().flatten().collect();
        return show(builder, &private, &certificate, chain).map_err(|error| unusable(key, &error));
    }
    let (key, chain, private) = if let Some(private) = entry("ssl.key.pem") {
        let chain = entry("ssl.certificate.pem").unwrap_or_default();
        ("ssl.keystore.key", chain.as_bytes().to_vec(), private.as_bytes().to_vec())
    } else if let Some(location) = entry("ssl.key.location") {
        let chain = entry("ssl.certificate.location").unwrap_or(location);
        ("ssl.keystore.location", read("ssl.keystore.location", chain)?, read("ssl.keystore.location", location)?)
    } else {
        return Ok(());
    };
    let private = private_key(&private, entry("ssl.key.password")).map_err(|error| {
        let error = unusable(key, &error);
        fatal(format!("{error}; is `ssl.key.password` right?"))
    })?;
    let mut chain = X509::stack_from_pem(&chain).map_err(|error| unusable(key, &error))?.into_iter();
    let Some(certificate) = chain.next() else {
        return Err(fatal(format!("`{key}` comes without a certificate in PEM form")));
    };
    show(builder, &private, &certificate, chain).map_err(|error| unusable(key, &error))
}

fn private_key(pem: &[u8], password: Option<&str>) -> Result<PKey<Private>, ErrorStack> {
    // Without a callback OpenSSL would ask the terminal for the password of a key that has one.
    PKey::private_key_from_pem_callback(pem, |buffer| {
        let password = password.unwrap_or_default().as_bytes();
        let n = password.len().min(buffer.len());
        buffer[..n].copy_from_slice(&password[..n]);
        Ok(n)
    })
}

fn show(
    builder: &mut SslConnectorBuilder,
    private: &PKey<Private>,
    certificate: &X509,
    chain: impl IntoIterator<Item = X509>,
) -> Result<(), ErrorStack> {
    builder.set_certificate(certificate)?;
    chain.into_iter().try_for_each(|link| builder.add_extra_chain_cert(link))?;
    builder.set_private_key(private)?;
    builder.check_private_key()
}

fn read(key: &str, location: &str) -> Result<Vec<u8>, KafkaError> {
    fs::read(location).map_err(|error| fatal(format!("`{key}`: file `{location}` cannot be read: {error}")))
}

fn fatal(text: String) -> KafkaError {
    KafkaError::new(ErrorClass::Fatal, text)
}

fn unusable(key: &str, error: &ErrorStack) -> KafkaError {
    fatal(format!("value of `{key}` is not usable: {}", first_reason(error)))
}

fn refused(address: &Address, why: &str) -> KafkaError {
    KafkaError::coded(Code::SSL, &format!("no TLS with broker `{address}`"), why)
}

/// What the other side said against this one, if that is why a stream of TLS failed.
pub(super) fn refusal(error: &(dyn std::error::Error + Send + Sync + 'static)) -> Option<String> {
    let error = error.downcast_ref::<openssl::ssl::Error>().filter(|error| error.code() == ErrorCode::SSL)?;
    error.ssl_error().map(first_reason)
}

/// What OpenSSL says first is the cause; the rest is what followed from it. Its own text has file names and numbers.
fn first_reason(error: &ErrorStack) -> String {
    let reason = error.errors().iter().find_map(|error| error.reason());
    reason.map_or_else(|| "OpenSSL gives no reason".to_owned(), str::to_owned)
}
