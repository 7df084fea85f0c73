//! One connection to one broker: opened, secured, logged in, and then one request after the other. Kafka's brokers answer
//! the requests of a connection in order, so more than one at a time would only wait in another place.

use std::{
    collections::BTreeMap,
    fmt, io,
    net::SocketAddr,
    time::{Duration, Instant},
};

use bytes::{Bytes, BytesMut};
use kafka_protocol::{
    messages::{ApiKey, ApiVersionsRequest},
    protocol::{Request, StrBytes, VersionRange},
};
use rdkafka::error::RDKafkaErrorCode as Code;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::{TcpStream, lookup_host},
    time::timeout,
};

use super::{
    codec::{self, decode, encode, flexible_versions, negotiate, spoken_versions},
    settings::{Address, Settings},
    tls,
};
use crate::kafka::{ErrorClass, KafkaError};

/// Addresses of one host name that are tried.
const ADDRESSES_MAX: usize = 8;
/// The version of the question for versions, with which everything begins. Brokers know it since Kafka 2.4.
const API_VERSIONS_VERSION: i16 = 3;
const SOFTWARE_NAME: &str = "rust-connect";

trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> Stream for T {}

/// A connection that is ready for requests.
pub(super) struct Connection {
    stream: Box<dyn Stream>,
    address: Address,
    client_id: String,
    request_timeout: Duration,
    versions: BTreeMap<i16, VersionRange>,
    correlation_id: i32,
    /// False while an answer is due: if the wait for it was given up, the connection is of no more use.
    is_idle: bool,
    /// When the broker will want another login.
    login_ends: Option<Instant>,
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Connection {
    /// Opens a connection: each address of the host gets `socket.connection.setup.timeout.ms` for everything up to the
    /// login.
    ///
    /// # Errors
    /// Retriable if nobody answers; fatal if the broker's certificate or this client's login is refused; unsupported if
    /// the broker is older than Kafka 2.4.
    ///
    /// # Cancel safety
    /// A dropped future leaves nothing behind.
    pub(super) async fn open(settings: &Settings, address: &Address) -> Result<Self, KafkaError> {
        let what = format!("broker `{address}` cannot be reached");
        let limit = settings.setup_timeout;
        let late =
            || KafkaError::coded(Code::OperationTimedOut, &what, &format!("nothing within {} ms", limit.as_millis()));
        let found = timeout(limit, lookup_host((address.host.as_str(), address.port))).await.map_err(|_| late())?;
        let found = found.map_err(|error| KafkaError::coded(Code::Resolve, &what, &error.to_string()))?;
        let mut last = KafkaError::coded(Code::Resolve, &what, "the host has no address");
        for socket in found.take(ADDRESSES_MAX) {
            match timeout(limit, Self::set_up(settings, address, socket)).await {
                Ok(Ok(connection)) => return Ok(connection),
                Ok(Err(error)) if error.class() != ErrorClass::Retriable => return Err(error),
                Ok(Err(error)) => last = error,
                Err(_) => last = late(),
            }
        }
        Err(last)
    }

    async fn set_up(settings: &Settings, address: &Address, socket: SocketAddr) -> Result<Self, KafkaError> {
        let broken = |error: io::Error| {
            KafkaError::coded(
                Code::BrokerTransportFailure,
                &format!("broker `{address}` cannot be reached"),
                &error.to_string(),
            )
        };
        let tcp = TcpStream::connect(socket).await.map_err(broken)?;
        tcp.set_nodelay(true).map_err(broken)?;
        let stream: Box<dyn Stream> = match &settings.tls {
            Some(tls) => Box::new(tls.secure(tcp, address).await?),
            None => Box::new(tcp),
        };
        let mut connection = Self {
            stream,
            address: address.clone(),
            client_id: settings.client_id.clone(),
            request_timeout: settings.request_timeout,
            versions: BTreeMap::new(),
            correlation_id: 0,
            is_idle: true,
            login_ends: None,
        };
        connection.ask_for_versions().await?;
        if let Some(login) = &settings.login {
            let lifetime = login.log_in(&mut connection).await?;
            // A new connection before the end is simpler than another login on this one, and no request is lost.
            connection.login_ends = lifetime.map(|lifetime| Instant::now() + lifetime.mul_f64(0.85));
        }
        Ok(connection)
    }

    async fn ask_for_versions(&mut self) -> Result<(), KafkaError> {
        let mut request = ApiVersionsRequest::default();
        request.client_software_name = StrBytes::from_static_str(SOFTWARE_NAME);
        request.client_software_version = StrBytes::from_static_str(env!("CARGO_PKG_VERSION"));
        let frame = self.exchange_in_time(&request, API_VERSIONS_VERSION).await?;
        if let Some(code) = codec::first_code(&frame).filter(|code| *code != 0) {
            let why = "this client needs Kafka 2.4 or newer";
            return Err(KafkaError::answered(code, &self.what::<ApiVersionsRequest>(), why));
        }
        let answer = self.read(frame, &request, API_VERSIONS_VERSION)?;
        self.versions = spoken_versions(&answer).into_iter().collect();
        Ok(())
    }

    pub(super) fn address(&self) -> &Address {
        &self.address
    }

    /// Whether the next request can be sent on it.
    pub(super) fn is_usable(&self) -> bool {
        self.is_idle && self.login_ends.is_none_or(|end| Instant::now() < end)
    }

    /// The version in which a request is sent to this broker.
    ///
    /// # Errors
    /// Unsupported: there is none that both sides speak.
    pub(super) fn version<R: Request>(&self) -> Result<i16, KafkaError> {
        let ours = flexible_versions::<R>();
        let theirs = self.versions.get(&R::KEY);
        if let Some(version) = theirs.and_then(|theirs| negotiate(ours, *theirs)) {
            return Ok(version);
        }
        let theirs = theirs.map_or_else(|| "none".to_owned(), |theirs| format!("{} to {}", theirs.min, theirs.max));
        let why = format!("it speaks versions {theirs} of this request, this client {} to {}", ours.min, ours.max);
        Err(KafkaError::coded(Code::UnsupportedVersion, &self.what::<R>(), &why))
    }

    /// Sends a request and waits for its answer, at most `request.timeout.ms`.
    ///
    /// # Errors
    /// Retriable if the connection broke or the answer did not come; unsupported if the broker does not know the request;
    /// fatal if the answer cannot be read. Errors inside of the answer are the caller's.
    ///
    /// # Cancel safety
    /// After a dropped future the connection is not usable any more; the broker may have done what was asked.
    pub(super) async fn call<R: Request>(&mut self, request: &R) -> Result<R::Response, KafkaError> {
        self.call_at(request, self.version::<R>()?).await
    }

    /// As [`Self::call`], in a version that the caller knows to be right.
    pub(super) async fn call_at<R: Request>(&mut self, request: &R, version: i16) -> Result<R::Response, KafkaError> {
        let frame = self.exchange_in_time(request, version).await?;
        self.read(frame, request, version)
    }

    fn read<R: Request>(&mut self, frame: Bytes, _: &R, version: i16) -> Result<R::Response, KafkaError> {
        let answer = decode::<R>(frame, version, self.correlation_id)
            .map_err(|why| KafkaError::coded(Code::BadMessage, &self.what::<R>(), &why))?;
        self.is_idle = true;
        Ok(answer)
    }

    async fn exchange_in_time<R: Request>(&mut self, request: &R, version: i16) -> Result<Bytes, KafkaError> {
        let what = self.what::<R>();
        if !self.is_idle {
            return Err(KafkaError::coded(Code::BrokerTransportFailure, &what, "an earlier answer is still due"));
        }
        self.correlation_id = self.correlation_id.wrapping_add(1);
        let frame = encode(request, version, self.correlation_id, &self.client_id)?;
        self.is_idle = false;
        match timeout(self.request_timeout, self.exchange(&frame)).await {
            Ok(answer) => answer.map_err(|error| broken(&what, &error)),
            Err(_) => {
                let why = format!("no answer within {} ms (`request.timeout.ms`)", self.request_timeout.as_millis());
                Err(KafkaError::coded(Code::RequestTimedOut, &what, &why))
            }
        }
    }

    async fn exchange(&mut self, frame: &[u8]) -> io::Result<Bytes> {
        self.stream.write_all(frame).await?;
        self.stream.flush().await?;
        let mut prefix = [0; 4];
        self.stream.read_exact(&mut prefix).await?;
        let size = codec::response_size(prefix).map_err(|why| io::Error::new(io::ErrorKind::InvalidData, why))?;
        let mut body = BytesMut::zeroed(size);
        self.stream.read_exact(&mut body).await?;
        Ok(body.freeze())
    }

    /// What was being done, for an error.
    fn what<R: Request>(&self) -> String {
        let name = ApiKey::try_from(R::KEY).map_or_else(|()| format!("request {}", R::KEY), |key| format!("{key:?}"));
        format!("{name} at broker `{}`", self.address)
    }
}

fn broken(what: &str, error: &io::Error) -> KafkaError {
    // Since TLS 1.3 a broker refuses a client's certificate only after the client has taken the handshake for done.
    if let Some(why) = error.get_ref().and_then(tls::refusal) {
        return KafkaError::coded(Code::SSL, what, &format!("{why}; see `ssl.keystore.location`"));
    }
    match error.kind() {
        io::ErrorKind::InvalidData => KafkaError::coded(Code::BadMessage, what, &error.to_string()),
        io::ErrorKind::UnexpectedEof => {
            KafkaError::coded(Code::BrokerTransportFailure, what, "the broker closed the connection")
        }
        _ => KafkaError::coded(Code::BrokerTransportFailure, what, &error.to_string()),
    }
}
