//! A broker that belongs to the running process: it can be killed, frozen and restarted, and it is gone when the process
//! is, however the process ended.

use std::fs;
use std::process::Child;

use rustix::process::Signal;

use super::instance::{Instance, Listener, Settings, command_line, send};
use super::jars::Jars;
use crate::error::{Context, Error, Result};
use crate::repo;
use crate::watchdog::Watchdog;

/// Prefix of the instances that belong to a process; the process id follows.
const OWNED_PREFIX: &str = "owned-";

/// The listener whose clients come through a proxy.
const PROXIED: &str = "PROXIED";

/// What differs from broker to broker.
#[derive(Debug, Clone, Default)]
pub struct Options {
    settings: Settings,
}

impl Options {
    /// A plain broker: one partition a topic, topics created on first use.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets a key of the broker's `server.properties`; the last value wins.
    #[must_use]
    pub fn property(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        let key = key.into();
        self.settings.properties.retain(|(name, _)| *name != key);
        self.settings.properties.push((key, value.into()));
        self
    }

    /// Gives the broker one more listener, [`Kafka::behind_proxy`], whose clients are told to come to this port of
    /// loopback. Clients of [`Kafka::bootstrap`] and the broker itself do without the proxy.
    #[must_use]
    pub fn proxy(mut self, port: u16) -> Self {
        self.settings.listeners.push(Listener {
            name: PROXIED.to_owned(),
            protocol: "PLAINTEXT".to_owned(),
            advertised_port: Some(port),
        });
        self
    }

    /// Gives the broker one more listener, [`Kafka::bootstrap_of`]. Its name is its security protocol, such as
    /// `SASL_SSL`; `properties` are set for it alone.
    #[must_use]
    pub fn listener(mut self, protocol: &str, properties: &[(&str, &str)]) -> Self {
        let (name, protocol) = (protocol.to_owned(), protocol.to_owned());
        let prefix = format!("listener.name.{}", name.to_ascii_lowercase());
        self.settings.listeners.push(Listener { name, protocol, advertised_port: None });
        properties.iter().fold(self, |options, (key, value)| options.property(format!("{prefix}.{key}"), *value))
    }

    /// A user that can log in by SCRAM-SHA-256 and SCRAM-SHA-512.
    #[must_use]
    pub fn scram_user(mut self, name: &str, password: &str) -> Self {
        self.settings.scram_users.push((name.to_owned(), password.to_owned()));
        self
    }
}

/// A running broker of this process. Dropping it ends the broker at once and removes its data; its log stays until the
/// next broker is started.
#[derive(Debug)]
pub struct Kafka {
    instance: Instance,
    jars: Jars,
    options: Options,
    bootstrap: String,
    listeners: Vec<String>,
    process: Option<Process>,
}

#[derive(Debug)]
struct Process {
    broker: Child,
    pid: i32,
    watchdog: Option<Watchdog>,
}

impl Kafka {
    /// Starts a broker with new, empty data on free ports and waits until it answers.
    ///
    /// # Errors
    /// No Java, no jars (see [`Jars::find`]), or the broker did not come up.
    pub fn start(options: Options) -> Result<Self> {
        remove_leftovers();
        let jars = Jars::find()?;
        let name = format!("{OWNED_PREFIX}{}-{:x}", std::process::id(), repo::random());
        let instance = Instance::named(&name)?;
        let mut kafka =
            Self { instance, jars, options, bootstrap: String::new(), listeners: Vec::new(), process: None };
        kafka.launch()?;
        Ok(kafka)
    }

    fn launch(&mut self) -> Result<()> {
        let Self { instance, jars, options, .. } = self;
        let command_line = format!("kafka.Kafka {}", instance.properties_file().display());
        let mut watchdog = None;
        let (broker, running) = instance.launch(jars, &options.settings, &mut |child| {
            watchdog = Some(Watchdog::start(child.id(), &command_line, Some(&instance.data()))?);
            Ok(())
        })?;
        let moved = !self.bootstrap.is_empty() && self.bootstrap != running.bootstrap;
        self.process = Some(Process { broker, pid: running.pid, watchdog });
        if moved {
            return Err(Error::new(format!("the broker's address `{}` was taken while it was down", self.bootstrap)));
        }
        self.bootstrap = running.bootstrap;
        self.listeners = running.listeners;
        Ok(())
    }

    /// `host:port` for clients; the same after every restart.
    pub fn bootstrap(&self) -> &str {
        &self.bootstrap
    }

    /// `host:port` to which the proxy of [`Options::proxy`] has to forward; the same after every restart.
    pub fn behind_proxy(&self) -> Option<&str> {
        self.address_of(PROXIED)
    }

    /// `host:port` of a listener of [`Options::listener`]; the same after every restart.
    ///
    /// # Panics
    /// There is no such listener.
    pub fn bootstrap_of(&self, protocol: &str) -> &str {
        self.address_of(protocol).unwrap_or_else(|| panic!("the broker has no listener `{protocol}`"))
    }

    fn address_of(&self, listener: &str) -> Option<&str> {
        let at = self.options.settings.listeners.iter().position(|known| known.name == listener)?;
        self.listeners.get(at).map(String::as_str)
    }

    /// The jars that the broker runs on: they hold Kafka's command line tools and its Connect worker too.
    pub fn jars(&self) -> &Jars {
        &self.jars
    }

    /// What the broker has logged since its last start.
    pub fn log(&self) -> String {
        fs::read_to_string(self.instance.log()).unwrap_or_default()
    }

    /// Ends the broker by SIGKILL, as a crash of its machine's process would. Data stay for [`Kafka::restart`].
    ///
    /// # Errors
    /// The broker is not running.
    pub fn kill9(&mut self) -> Result<()> {
        self.end(Signal::KILL)
    }

    /// Shuts the broker down in good order and waits for its end. Data stay for [`Kafka::restart`].
    ///
    /// # Errors
    /// The broker is not running.
    pub fn stop(&mut self) -> Result<()> {
        // A frozen broker would never see the signal to end.
        self.signal(Signal::CONT)?;
        self.end(Signal::TERM)
    }

    /// Starts the broker again on the same data and the same ports, ending it first if it still runs.
    ///
    /// # Errors
    /// The broker did not come up, or its port was taken meanwhile.
    pub fn restart(&mut self) -> Result<()> {
        if self.process.is_some() {
            self.stop()?;
        }
        self.launch()
    }

    /// Freezes the broker: connections stay open, nothing is answered.
    ///
    /// # Errors
    /// The broker is not running.
    pub fn freeze(&self) -> Result<()> {
        self.signal(Signal::STOP)
    }

    /// Lets a frozen broker go on.
    ///
    /// # Errors
    /// The broker is not running.
    pub fn thaw(&self) -> Result<()> {
        self.signal(Signal::CONT)
    }

    fn signal(&self, signal: Signal) -> Result<()> {
        let process = self.process.as_ref().ok_or_else(|| Error::new("the broker is not running"))?;
        send(process.pid, signal)
    }

    fn end(&mut self, signal: Signal) -> Result<()> {
        self.signal(signal)?;
        if let Some(mut process) = self.process.take() {
            process.broker.wait().context(|| "the broker cannot be waited for".to_owned())?;
            drop(process.watchdog);
        }
        Ok(())
    }
}

impl Drop for Kafka {
    fn drop(&mut self) {
        if self.process.is_some() && self.kill9().is_err() {
            return;
        }
        fs::remove_dir_all(self.instance.data()).ok();
    }
}

/// Removes what earlier processes left: their logs, and everything of a process that was killed together with its
/// watchdog.
fn remove_leftovers() {
    for instance in Instance::all() {
        let owner = instance.name().strip_prefix(OWNED_PREFIX).and_then(|rest| rest.split('-').next()?.parse().ok());
        let Some(owner) = owner else { continue };
        let lives = command_line(owner).is_some_and(|line| !line.is_empty());
        if !lives && instance.stop().is_ok() {
            instance.remove().ok();
        }
    }
}
