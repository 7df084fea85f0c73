//! One Kafka request by hand: Metadata, to learn whether a broker serves clients. No Kafka client library is needed,
//! so that the repository tasks build in seconds.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::time::Duration;

const API_METADATA: i16 = 3;
/// The first version whose answer names the cluster.
const API_VERSION: i16 = 2;
const CORRELATION_ID: i32 = 1;
const CLIENT_ID: &str = "xtask";
const RESPONSE_BYTES_MAX: usize = 1 << 20;

/// A cluster, as one of its brokers describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cluster {
    /// The cluster's id.
    pub id: Option<String>,
    /// Its brokers.
    pub brokers: Vec<Broker>,
}

/// A broker, as the cluster announces it to clients.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broker {
    /// The broker's node id.
    pub node_id: i32,
    /// The advertised host.
    pub host: String,
    /// The advertised port.
    pub port: i32,
}

/// Asks the broker at `bootstrap` (`host:port`, of a list the first that answers) which cluster it belongs to.
///
/// `timeout` bounds the connection, the request and the answer, each on its own.
///
/// # Errors
/// Nothing answers, or what answers is not a Kafka broker.
pub fn cluster(bootstrap: &str, timeout: Duration) -> io::Result<Cluster> {
    let mut last = io::Error::new(io::ErrorKind::InvalidInput, format!("no address in `{bootstrap}`"));
    for server in bootstrap.split(',').map(str::trim).filter(|server| !server.is_empty()) {
        let addresses: Vec<SocketAddr> = match server.to_socket_addrs() {
            Ok(addresses) => addresses.collect(),
            Err(error) => {
                last = error;
                continue;
            }
        };
        for address in addresses {
            match ask(address, timeout) {
                Ok(cluster) => return Ok(cluster),
                Err(error) => last = error,
            }
        }
    }
    Err(last)
}

fn ask(address: SocketAddr, timeout: Duration) -> io::Result<Cluster> {
    let mut stream = TcpStream::connect_timeout(&address, timeout)?;
    stream.set_read_timeout(Some(timeout))?;
    stream.set_write_timeout(Some(timeout))?;
    stream.write_all(&request())?;
    let mut size = [0; 4];
    stream.read_exact(&mut size)?;
    let size = usize::try_from(i32::from_be_bytes(size)).ok().filter(|size| *size <= RESPONSE_BYTES_MAX);
    let mut body = vec![0; size.ok_or_else(not_kafka)?];
    stream.read_exact(&mut body)?;
    parse(&body).ok_or_else(not_kafka)
}

fn request() -> Vec<u8> {
    let mut body = Vec::new();
    body.extend(API_METADATA.to_be_bytes());
    body.extend(API_VERSION.to_be_bytes());
    body.extend(CORRELATION_ID.to_be_bytes());
    let client_id_bytes = i16::try_from(CLIENT_ID.len()).expect("the client id is a few letters");
    body.extend(client_id_bytes.to_be_bytes());
    body.extend(CLIENT_ID.as_bytes());
    body.extend(0_i32.to_be_bytes());
    let size = i32::try_from(body.len()).expect("the request is a few bytes");
    [&size.to_be_bytes()[..], &body].concat()
}

fn not_kafka() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the answer is not a Kafka broker's")
}

fn parse(body: &[u8]) -> Option<Cluster> {
    let mut rest = body;
    if int(&mut rest)? != CORRELATION_ID {
        return None;
    }
    let n_brokers = usize::try_from(int(&mut rest)?).ok()?;
    let mut brokers = Vec::new();
    for _ in 0..n_brokers {
        let node_id = int(&mut rest)?;
        let host = text(&mut rest)?.unwrap_or_default();
        let port = int(&mut rest)?;
        text(&mut rest)?;
        brokers.push(Broker { node_id, host, port });
    }
    Some(Cluster { id: text(&mut rest)?, brokers })
}

fn int(rest: &mut &[u8]) -> Option<i32> {
    let (bytes, tail) = rest.split_first_chunk::<4>()?;
    *rest = tail;
    Some(i32::from_be_bytes(*bytes))
}

/// A nullable string: the outer `None` is a broken answer, the inner one is Kafka's null.
fn text(rest: &mut &[u8]) -> Option<Option<String>> {
    let (size, tail) = rest.split_first_chunk::<2>()?;
    let size = i16::from_be_bytes(*size);
    if size == -1 {
        *rest = tail;
        return Some(None);
    }
    let (text, tail) = tail.split_at_checked(usize::try_from(size).ok()?)?;
    *rest = tail;
    Some(Some(String::from_utf8(text.to_vec()).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;
    use std::thread;

    fn answer() -> Vec<u8> {
        let mut body = Vec::new();
        body.extend(CORRELATION_ID.to_be_bytes());
        body.extend(1_i32.to_be_bytes());
        body.extend(7_i32.to_be_bytes());
        body.extend(9_i16.to_be_bytes());
        body.extend(b"127.0.0.1");
        body.extend(9092_i32.to_be_bytes());
        body.extend((-1_i16).to_be_bytes());
        body.extend(2_i16.to_be_bytes());
        body.extend(b"id");
        body.extend(7_i32.to_be_bytes());
        body.extend(0_i32.to_be_bytes());
        body
    }

    #[test]
    fn cluster_and_brokers_of_an_answer_are_read() {
        let broker = Broker { node_id: 7, host: "127.0.0.1".to_owned(), port: 9092 };
        assert_eq!(parse(&answer()), Some(Cluster { id: Some("id".to_owned()), brokers: vec![broker] }));
    }

    #[test]
    fn an_answer_that_is_cut_short_is_refused() {
        let whole = answer();
        // The controller and the topics at the end are not read.
        for size in 0..whole.len() - 8 {
            assert_eq!(parse(&whole[..size]), None, "{size} bytes");
        }
    }

    #[test]
    fn a_server_that_is_not_kafka_is_an_error_and_not_a_hang() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let server = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap();
        });
        let error = cluster(&address, Duration::from_secs(5)).unwrap_err();
        server.join().unwrap();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    }

    #[test]
    fn nobody_listening_is_an_error() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        drop(listener);
        cluster(&address, Duration::from_secs(5)).unwrap_err();
    }
}
