//! Free TCP ports on loopback.

use std::net::{Ipv4Addr, TcpListener};

use crate::error::{Error, Result};
use crate::repo;

/// Ports below those that operating systems hand out for outgoing connections. A client that retries a broker which is
/// down would otherwise sooner or later get the broker's port as its own end, connect to itself and keep the broker
/// from coming back.
const PORTS: std::ops::Range<u16> = 20_000..32_000;
const ATTEMPTS_MAX: usize = 200;

/// A port on 127.0.0.1 on which nothing listens now. Nothing reserves it: the caller listens on it soon, and tries
/// another one when somebody was faster.
///
/// # Errors
/// No free port was found.
pub fn free_port() -> Result<u16> {
    let width = u64::from(PORTS.end - PORTS.start);
    let nth = |offset: u64| PORTS.clone().nth(usize::try_from(offset).ok()?);
    (0..ATTEMPTS_MAX)
        .filter_map(|_| nth(repo::random() % width))
        .find(|port| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok())
        .ok_or_else(|| {
            Error::new(format!("no free port between {} and {} after {ATTEMPTS_MAX} attempts", PORTS.start, PORTS.end))
        })
}
