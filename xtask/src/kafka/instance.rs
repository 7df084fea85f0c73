//! A broker's folder: its configuration, data, log, and the files that say which process and which port it is. A broker
//! that was started here is found again by its folder, from any process.

use std::fs::{self, File, OpenOptions};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::jars::Jars;
use super::java::Java;
use super::{free_port, metadata};
use crate::error::{Context, Error, Result};
use crate::repo;

const HEAP_MB: u32 = 1024;
const FORMAT_HEAP_MB: u32 = 256;
const READY_TIMEOUT: Duration = Duration::from_secs(60);
/// A broker that has not ended this long after SIGTERM is killed.
const STOP_TIMEOUT: Duration = Duration::from_secs(30);
const POLL_INTERVAL: Duration = Duration::from_millis(25);
const PROBE_TIMEOUT: Duration = Duration::from_secs(2);
/// How often other ports are tried when somebody was faster to listen on the chosen ones.
const PORT_ATTEMPTS_MAX: usize = 5;
const LOG_TAIL_LINES: usize = 15;

/// The folder of one broker, below `kafka` in the target folder.
#[derive(Debug, Clone)]
pub struct Instance {
    name: String,
    dir: PathBuf,
}

/// A broker that runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Running {
    /// The process id.
    pub pid: i32,
    /// `host:port` for clients.
    pub bootstrap: String,
    /// `host:port` of each further listener.
    pub listeners: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Ports {
    client: u16,
    controller: u16,
    /// Of the further listeners, in their order.
    more: Vec<u16>,
}

/// What a broker is started with.
#[derive(Debug, Clone, Default)]
pub(super) struct Settings {
    /// Keys of `server.properties`.
    pub(super) properties: Vec<(String, String)>,
    /// Listeners for clients beside the plain one.
    pub(super) listeners: Vec<Listener>,
    /// Names and passwords for SCRAM, made when the data folder is formatted.
    pub(super) scram_users: Vec<(String, String)>,
}

/// A listener on a port of its own.
#[derive(Debug, Clone)]
pub(super) struct Listener {
    pub(super) name: String,
    pub(super) protocol: String,
    /// The port to which its clients are told to come, if that is not its own.
    pub(super) advertised_port: Option<u16>,
}

impl Instance {
    /// The instance of this name; nothing is created yet.
    ///
    /// # Errors
    /// The name is not made of letters, digits, `-` and `_`.
    pub fn named(name: &str) -> Result<Self> {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if name.is_empty() || !name.chars().all(plain) {
            return Err(Error::new(format!("instance name `{name}` is not made of letters, digits, `-` and `_`")));
        }
        Ok(Self { name: name.to_owned(), dir: Self::home().join("instances").join(name) })
    }

    fn home() -> PathBuf {
        let target = repo::target_dir();
        fs::canonicalize(&target).unwrap_or(target).join("kafka")
    }

    /// Every instance that has a folder.
    pub fn all() -> Vec<Self> {
        let entries = fs::read_dir(Self::home().join("instances")).into_iter().flatten().flatten();
        let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort_unstable();
        names.iter().filter_map(|name| Self::named(name).ok()).collect()
    }

    /// The instance's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The instance's folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The file that holds what the broker printed.
    pub fn log(&self) -> PathBuf {
        self.dir.join("broker.log")
    }

    pub(super) fn data(&self) -> PathBuf {
        self.dir.join("data")
    }

    pub(super) fn properties_file(&self) -> PathBuf {
        self.dir.join("server.properties")
    }

    fn pid_file(&self) -> PathBuf {
        self.dir.join("pid")
    }

    fn ports_file(&self) -> PathBuf {
        self.dir.join("ports")
    }

    /// The broker of this folder, if it runs. A process that merely got the number of an ended broker does not count:
    /// its command line is not the one that starts this folder's broker.
    pub fn running(&self) -> Option<Running> {
        let pid = fs::read_to_string(self.pid_file()).ok()?.trim().parse().ok()?;
        let ports = self.ports()?;
        self.is_broker(pid).then(|| ports.running(pid))
    }

    fn is_broker(&self, pid: i32) -> bool {
        command_line(pid).is_some_and(|line| {
            line.contains("kafka.Kafka") && line.contains(&self.properties_file().display().to_string())
        })
    }

    fn ports(&self) -> Option<Ports> {
        let text = fs::read_to_string(self.ports_file()).ok()?;
        let mut numbers = text.split_whitespace().map(str::parse);
        let (client, controller) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
        Some(Ports { client, controller, more: numbers.collect::<std::result::Result<_, _>>().ok()? })
    }

    /// The id that the data folder was formatted with.
    fn cluster_id(&self) -> Option<String> {
        let text = fs::read_to_string(self.data().join("meta.properties")).ok()?;
        text.lines().find_map(|line| line.strip_prefix("cluster.id=")).map(str::to_owned)
    }

    /// Starts a broker that goes on after this program has ended. Data and ports of an earlier run of the instance are
    /// kept; a broker that already runs is left alone.
    ///
    /// # Errors
    /// No Java, no jars, or the broker did not come up: the end of its log is in the text.
    pub fn start(&self, jars: &Jars, extra: &[(String, String)]) -> Result<Running> {
        if let Some(running) = self.running() {
            return Ok(running);
        }
        // The child is not waited for: it outlives this program on purpose.
        let settings = Settings { properties: extra.to_vec(), ..Settings::default() };
        self.launch(jars, &settings, &mut |_| Ok(())).map(|(_child, running)| running)
    }

    /// Formats the data folder if it is new, starts the broker and waits until it answers a metadata request. `spawned`
    /// is called for each process that is started, before the wait.
    pub(super) fn launch(
        &self,
        jars: &Jars,
        settings: &Settings,
        spawned: &mut dyn FnMut(&Child) -> Result<()>,
    ) -> Result<(Child, Running)> {
        let java = Java::find()?;
        fs::create_dir_all(&self.dir).context(|| format!("`{}` cannot be created", self.dir.display()))?;
        let earlier = self.ports();
        let n_more = settings.listeners.len();
        let mut ports = earlier.filter(|ports| ports.more.len() == n_more).map_or_else(|| Ports::free(n_more), Ok)?;
        for _ in 0..PORT_ATTEMPTS_MAX {
            self.write_configuration(&ports, settings)?;
            if !self.data().join("meta.properties").is_file() {
                self.format(&java, jars, settings)?;
            }
            match self.run(&java, jars, &ports, spawned)? {
                Started::Ready(child, running) => return Ok((child, running)),
                Started::PortTaken => ports = Ports::free(n_more)?,
            }
        }
        Err(Error::new(format!("no ports stayed free for the broker in {PORT_ATTEMPTS_MAX} attempts")))
    }

    fn write_configuration(&self, ports: &Ports, settings: &Settings) -> Result<()> {
        let Ports { client, controller, more } = ports;
        let extra = &settings.properties;
        // The broker itself uses the first listener, so that what is done to clients is not done to the broker.
        let (mut listeners, mut advertised, mut protocols) = (String::new(), String::new(), String::new());
        for (Listener { name, protocol, advertised_port }, own) in settings.listeners.iter().zip(more) {
            listeners.push_str(&format!(",{name}://127.0.0.1:{own}"));
            advertised.push_str(&format!(",{name}://127.0.0.1:{}", advertised_port.unwrap_or(*own)));
            protocols.push_str(&format!(",{name}:{protocol}"));
        }
        let mut text = format!(
            "process.roles=broker,controller\nnode.id=1\ncontroller.quorum.voters=1@127.0.0.1:{controller}\n\
             listeners=PLAINTEXT://127.0.0.1:{client}{listeners},CONTROLLER://127.0.0.1:{controller}\n\
             advertised.listeners=PLAINTEXT://127.0.0.1:{client}{advertised}\n\
             listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT{protocols}\n\
             controller.listener.names=CONTROLLER\ninter.broker.listener.name=PLAINTEXT\nlog.dirs={}\n",
            self.data().display()
        );
        for (key, value) in FIXED_PROPERTIES {
            if extra.iter().all(|(name, _)| name != key) {
                text.push_str(&format!("{key}={value}\n"));
            }
        }
        for (key, value) in extra {
            text.push_str(&format!("{key}={value}\n"));
        }
        let write = |path: PathBuf, text: &str| {
            fs::write(&path, text).context(|| format!("`{}` cannot be written", path.display()))
        };
        write(self.properties_file(), &text)?;
        write(self.dir.join("log4j2.properties"), LOG4J2_PROPERTIES)?;
        let more: String = more.iter().map(|port| format!(" {port}")).collect();
        write(self.ports_file(), &format!("{client} {controller}{more}\n"))
    }

    fn format(&self, java: &Java, jars: &Jars, settings: &Settings) -> Result<()> {
        let mut command = self.java_command(java, jars, "kafka.tools.StorageTool", FORMAT_HEAP_MB);
        command.args(["format", "-t", &new_cluster_id(), "-c"]).arg(self.properties_file());
        for (name, password) in &settings.scram_users {
            for mechanism in ["SCRAM-SHA-256", "SCRAM-SHA-512"] {
                command.args(["--add-scram", &format!("{mechanism}=[name={name},password={password}]")]);
            }
        }
        let output = command.stdin(Stdio::null()).output().context(|| "`java` did not run".to_owned())?;
        if output.status.success() {
            return Ok(());
        }
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&text).trim().to_owned();
        Err(Error::new(format!("the data folder `{}` cannot be formatted: {text}", self.data().display())))
    }

    fn java_command(&self, java: &Java, jars: &Jars, main_class: &str, heap_mb: u32) -> Command {
        let log4j2 = self.dir.join("log4j2.properties").display().to_string();
        let logs = self.dir.display().to_string();
        java.command(jars, main_class, heap_mb, &[("log4j2.configurationFile", &log4j2), ("kafka.logs.dir", &logs)])
    }

    fn run(
        &self,
        java: &Java,
        jars: &Jars,
        ports: &Ports,
        spawned: &mut dyn FnMut(&Child) -> Result<()>,
    ) -> Result<Started> {
        let open = |truncate: bool| -> Result<File> {
            let mut options = OpenOptions::new();
            options.create(true).write(true).append(!truncate).truncate(truncate);
            options.open(self.log()).context(|| format!("`{}` cannot be opened", self.log().display()))
        };
        drop(open(true)?);
        let mut command = self.java_command(java, jars, "kafka.Kafka", HEAP_MB);
        command.arg(self.properties_file());
        command.stdin(Stdio::null()).stdout(open(false)?).stderr(open(false)?);
        // An own process group: Ctrl-C in the terminal is for the program that uses the broker, which then stops it.
        command.process_group(0);
        let mut child = command.spawn().context(|| "`java` did not run".to_owned())?;
        let pid = i32::try_from(child.id()).expect("process ids are positive i32 numbers");
        spawned(&child)?;
        fs::write(self.pid_file(), format!("{pid}\n")).context(|| "the pid file cannot be written".to_owned())?;
        let running = ports.running(pid);
        let cluster_id = self.cluster_id();
        let deadline = Instant::now() + READY_TIMEOUT;
        loop {
            if let Some(status) = child.try_wait().context(|| "the broker cannot be waited for".to_owned())? {
                let log = fs::read_to_string(self.log()).unwrap_or_default();
                if log.contains("Address already in use") {
                    return Ok(Started::PortTaken);
                }
                return Err(Error::new(format!("the broker ended with {status}:\n{}", tail(&log))));
            }
            // Another broker could answer on a port that this one fails to get, so the answer must name this one's cluster.
            let answer = metadata::cluster(&running.bootstrap, PROBE_TIMEOUT);
            if answer
                .is_ok_and(|cluster| cluster.id.is_some() && cluster.id == cluster_id && !cluster.brokers.is_empty())
            {
                return Ok(Started::Ready(child, running));
            }
            if Instant::now() > deadline {
                child.kill().context(|| "the broker cannot be ended".to_owned())?;
                child.wait().context(|| "the broker cannot be waited for".to_owned())?;
                let log = fs::read_to_string(self.log()).unwrap_or_default();
                let seconds = READY_TIMEOUT.as_secs();
                return Err(Error::new(format!(
                    "the broker answers no metadata request after {seconds} s:\n{}",
                    tail(&log)
                )));
            }
            thread::park_timeout(POLL_INTERVAL);
        }
    }

    /// Ends the broker of this folder, and nothing else: gracefully, and by SIGKILL when it does not end in time. Says
    /// whether one was running.
    ///
    /// # Errors
    /// The signal could not be sent.
    pub fn stop(&self) -> Result<bool> {
        let Some(Running { pid, .. }) = self.running() else {
            return Ok(false);
        };
        send(pid, Signal::TERM)?;
        if !self.ended_within(pid, STOP_TIMEOUT) {
            send(pid, Signal::KILL)?;
            if !self.ended_within(pid, STOP_TIMEOUT) {
                return Err(Error::new(format!("the broker, process {pid}, does not end")));
            }
        }
        fs::remove_file(self.pid_file()).ok();
        Ok(true)
    }

    fn ended_within(&self, pid: i32, timeout: Duration) -> bool {
        let deadline = Instant::now() + timeout;
        while self.is_broker(pid) {
            if Instant::now() > deadline {
                return false;
            }
            thread::park_timeout(POLL_INTERVAL);
        }
        true
    }

    /// Removes the folder with all data. The broker must not be running.
    ///
    /// # Errors
    /// The broker runs, or the folder cannot be removed.
    pub fn remove(&self) -> Result<()> {
        if let Some(running) = self.running() {
            return Err(Error::new(format!("broker `{}` runs as process {}: stop it first", self.name, running.pid)));
        }
        match fs::remove_dir_all(&self.dir) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(error).context(|| format!("`{}` cannot be removed", self.dir.display()))
            }
            _ => Ok(()),
        }
    }
}

enum Started {
    Ready(Child, Running),
    PortTaken,
}

impl Ports {
    fn free(n_more: usize) -> Result<Self> {
        let mut ports = Vec::new();
        while ports.len() < n_more + 2 {
            let port = free_port()?;
            if !ports.contains(&port) {
                ports.push(port);
            }
        }
        let more = ports.split_off(2);
        Ok(Self { client: ports[0], controller: ports[1], more })
    }

    fn running(&self, pid: i32) -> Running {
        let address = |port: &u16| format!("127.0.0.1:{port}");
        Running { pid, bootstrap: address(&self.client), listeners: self.more.iter().map(address).collect() }
    }
}

pub(super) fn send(pid: i32, signal: Signal) -> Result<()> {
    let process = Pid::from_raw(pid).ok_or_else(|| Error::new(format!("`{pid}` is no process id")))?;
    kill_process(process, signal).context(|| format!("process {pid} cannot be signalled"))
}

/// The command line of a process; none if it does not exist or has ended and is not yet waited for.
pub(super) fn command_line(pid: i32) -> Option<String> {
    if Path::new("/proc/self/cmdline").exists() {
        let bytes = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        return Some(String::from_utf8_lossy(&bytes).replace('\0', " "));
    }
    let output = Command::new("ps").args(["-ww", "-o", "args=", "-p", &pid.to_string()]).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

fn tail(log: &str) -> String {
    let lines: Vec<&str> = log.lines().collect();
    lines[lines.len().saturating_sub(LOG_TAIL_LINES)..].join("\n")
}

/// A random id in Kafka's form: 16 bytes as 22 characters of URL-safe Base64, of which hexadecimal digits are a part.
fn new_cluster_id() -> String {
    let digits = format!("{:016x}{:016x}", repo::random(), repo::random());
    // The last character carries two bits only.
    format!("{}A", &digits[..21])
}

/// One node must hold every internal topic; consumer groups form at once; few partitions of internal topics are
/// opened faster than Kafka's 50; a short session time-out lets tests see a killed consumer go.
const FIXED_PROPERTIES: [(&str, &str); 14] = [
    ("num.partitions", "1"),
    ("default.replication.factor", "1"),
    ("offsets.topic.replication.factor", "1"),
    ("offsets.topic.num.partitions", "5"),
    ("transaction.state.log.replication.factor", "1"),
    ("transaction.state.log.min.isr", "1"),
    ("transaction.state.log.num.partitions", "5"),
    ("share.coordinator.state.topic.replication.factor", "1"),
    ("share.coordinator.state.topic.min.isr", "1"),
    ("share.coordinator.state.topic.num.partitions", "5"),
    ("group.initial.rebalance.delay.ms", "0"),
    ("group.min.session.timeout.ms", "1000"),
    // A broker that comes back after a crash waits until the session of its former self is over: 9 s by default.
    ("broker.session.timeout.ms", "3000"),
    ("broker.heartbeat.interval.ms", "500"),
];

const LOG4J2_PROPERTIES: &str = "\
status=error
appender.out.type=Console
appender.out.name=out
appender.out.layout.type=PatternLayout
appender.out.layout.pattern=[%d] %p %m (%c)%n%throwable
rootLogger.level=info
rootLogger.appenderRef.out.ref=out
logger.client.name=org.apache.kafka.clients
logger.client.level=warn
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_would_leave_the_folder_is_refused() {
        for name in ["", "..", "a/b", "a b", "ä"] {
            Instance::named(name).unwrap_err();
        }
        assert_eq!(Instance::named("test-1_a").unwrap().name(), "test-1_a");
    }

    #[test]
    fn a_process_with_the_number_of_an_ended_broker_is_not_taken_for_it() {
        let instance = Instance::named(&format!("unit-{:x}", repo::random())).unwrap();
        fs::create_dir_all(instance.dir()).unwrap();
        fs::write(instance.ports_file(), "20000 20001\n").unwrap();
        fs::write(instance.pid_file(), format!("{}\n", std::process::id())).unwrap();
        assert_eq!(instance.running(), None);
        assert!(!instance.stop().unwrap());
        instance.remove().unwrap();
        assert!(!instance.dir().exists());
    }

    #[test]
    fn free_ports_differ() {
        let ports = Ports::free(1).unwrap();
        assert_ne!(ports.client, ports.controller);
        assert!(
            ports.more.len() == 1 && !ports.more.contains(&ports.client) && !ports.more.contains(&ports.controller)
        );
    }
}
