//! A TCP proxy between a client and a broker: it cuts connections, refuses new ones, delays bytes, or holds them back.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout};
use xtask::kafka::free_port;

/// Bytes that one direction of a connection forwards at a time.
const CHUNK_BYTES: usize = 64 * 1024;
/// The kernel may need a moment to give back a port whose connections were just closed.
const BIND_RETRY: Duration = Duration::from_millis(20);
const BIND_ATTEMPTS_MAX: usize = 500;
/// A broker that does not accept connections for so long is as good as one that refuses them.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);

/// A proxy on a port of loopback. Dropping it closes all connections.
#[derive(Debug)]
pub struct Proxy {
    port: u16,
    state: watch::Sender<State>,
    runtime: Option<Runtime>,
}

#[derive(Debug, Clone, Copy, Default)]
struct State {
    upstream: Option<SocketAddr>,
    /// Connections of an earlier number are closed.
    cuts: u64,
    refuses: bool,
    stalls: bool,
    delay: Duration,
}

impl Proxy {
    /// A proxy on a free port that refuses connections until it knows where to [forward](Self::forward_to).
    pub fn start() -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.expect("the system gives a thread");
        let port = free_port().unwrap_or_else(|error| panic!("{error}"));
        let (state, watched) = watch::channel(State { refuses: true, ..State::default() });
        runtime.spawn(accept(port, watched));
        Self { port, state, runtime: Some(runtime) }
    }

    /// The port that clients come to.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// `host:port` for clients.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Forwards connections to this address, which is `ip:port`.
    pub fn forward_to(&self, address: &str) {
        let upstream = address.parse().unwrap_or_else(|error| panic!("`{address}` is no address: {error}"));
        self.state.send_modify(|state| state.upstream = Some(upstream));
        self.resume();
    }

    /// Closes every connection; new ones are taken at once.
    pub fn cut(&self) {
        self.state.send_modify(|state| state.cuts += 1);
    }

    /// Closes every connection and takes no new one.
    pub fn refuse(&self) {
        self.state.send_modify(|state| {
            state.cuts += 1;
            state.refuses = true;
        });
    }

    /// Holds back what is sent in either direction, so that nobody notices anything but silence. Nothing is lost: it is
    /// sent on by [`Self::resume`].
    pub fn stall(&self) {
        self.state.send_modify(|state| state.stalls = true);
    }

    /// Sends everything on by so much later, in both directions.
    pub fn delay(&self, by: Duration) {
        self.state.send_modify(|state| state.delay = by);
    }

    /// Ends refusing, stalling and delaying.
    pub fn resume(&self) {
        self.state.send_modify(|state| {
            *state = State { upstream: state.upstream, cuts: state.cuts, ..State::default() };
        });
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Takes connections while that is wished.
async fn accept(port: u16, mut watched: watch::Receiver<State>) {
    let for_connections = watched.clone();
    while watched.wait_for(|state| !state.refuses).await.is_ok() {
        let listener = bind(port).await;
        loop {
            tokio::select! {
                refuses = watched.wait_for(|state| state.refuses) => match refuses {
                    Ok(_) => break,
                    Err(_) => return,
                },
                accepted = listener.accept() => {
                    if let Ok((client, _)) = accepted {
                        tokio::spawn(serve(client, for_connections.clone()));
                    }
                }
            }
        }
    }
}

async fn bind(port: u16) -> TcpListener {
    for _ in 0..BIND_ATTEMPTS_MAX {
        if let Ok(listener) = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await {
            return listener;
        }
        sleep_until(Instant::now() + BIND_RETRY).await;
    }
    panic!("the proxy's port {port} was taken by another program");
}

/// One connection, until either side ends it or it is cut.
async fn serve(client: TcpStream, watched: watch::Receiver<State>) {
    let State { upstream, cuts, refuses, .. } = *watched.borrow();
    let Some(upstream) = upstream.filter(|_| !refuses) else { return };
    let Ok(Ok(broker)) = timeout(CONNECT_TIMEOUT, TcpStream::connect(upstream)).await else { return };
    // Small requests are not to wait for one another.
    client.set_nodelay(true).ok();
    broker.set_nodelay(true).ok();
    let (from_client, to_client) = client.into_split();
    let (from_broker, to_broker) = broker.into_split();
    let mut cut = watched.clone();
    tokio::select! {
        () = forward(from_client, to_broker, watched.clone()) => {}
        () = forward(from_broker, to_client, watched) => {}
        _ = cut.wait_for(|state| state.cuts != cuts) => {}
    }
}

async fn forward(
    mut from: tokio::net::tcp::OwnedReadHalf,
    mut to: tokio::net::tcp::OwnedWriteHalf,
    mut watched: watch::Receiver<State>,
) {
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        let n = match from.read(&mut chunk).await {
            Ok(0) | Err(_) => return,
            Ok(n) => n,
        };
        let delay = watched.borrow().delay;
        if !delay.is_zero() {
            sleep_until(Instant::now() + delay).await;
        }
        if watched.wait_for(|state| !state.stalls).await.is_err() || to.write_all(&chunk[..n]).await.is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{ErrorKind, Read, Write};
    use std::net::TcpListener as Listener;
    use std::net::TcpStream as Stream;

    /// A server that sends back what it gets.
    fn echo() -> String {
        let listener = Listener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                std::thread::spawn(move || {
                    let mut reader = stream.try_clone().unwrap();
                    std::io::copy(&mut reader, &mut &stream).ok();
                });
            }
        });
        address
    }

    fn connected(proxy: &Proxy) -> Stream {
        let stream = crate::eventually("the proxy takes connections", Duration::from_secs(10), || {
            Stream::connect(proxy.address()).ok()
        });
        stream.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
        stream
    }

    fn says(stream: &mut Stream, text: &str) -> std::io::Result<String> {
        stream.write_all(text.as_bytes())?;
        let mut answer = vec![0; text.len()];
        stream.read_exact(&mut answer)?;
        Ok(String::from_utf8(answer).unwrap())
    }

    fn ends(stream: &mut Stream) {
        crate::eventually_true("the connection ends", Duration::from_secs(10), || says(stream, "x").is_err());
    }

    #[test]
    fn bytes_go_through_and_each_fault_is_felt() {
        let proxy = Proxy::start();
        Stream::connect(proxy.address()).unwrap_err();
        proxy.forward_to(&echo());
        let mut stream = connected(&proxy);
        assert_eq!(says(&mut stream, "hello").unwrap(), "hello");

        proxy.stall();
        let silence = says(&mut stream, "stalled").unwrap_err().kind();
        assert!(matches!(silence, ErrorKind::WouldBlock | ErrorKind::TimedOut), "{silence:?}");
        proxy.resume();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        let mut late = [0; 7];
        stream.read_exact(&mut late).unwrap();
        assert_eq!(&late, b"stalled");

        proxy.delay(Duration::from_millis(50));
        let before = std::time::Instant::now();
        assert_eq!(says(&mut stream, "late").unwrap(), "late");
        assert!(before.elapsed() >= Duration::from_millis(100));
        proxy.resume();

        proxy.cut();
        ends(&mut stream);
        assert_eq!(says(&mut connected(&proxy), "again").unwrap(), "again");

        let mut stream = connected(&proxy);
        proxy.refuse();
        ends(&mut stream);
        crate::eventually_true("new connections are refused", Duration::from_secs(10), || {
            Stream::connect(proxy.address()).is_err()
        });
        proxy.resume();
        assert_eq!(says(&mut connected(&proxy), "back").unwrap(), "back");
    }
}
