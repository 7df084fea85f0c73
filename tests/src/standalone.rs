//! A standalone worker's files, in a folder of the test: written once, started as often as the test likes, by our
//! worker or by Java's.

use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;
use xtask::kafka::{Jars, Java, free_port};

use crate::properties;
use crate::worker::{Worker, binary, test_worker};

const JAVA_MAIN: &str = "org.apache.kafka.connect.cli.ConnectStandalone";
const JAVA_HEAP_MB: u32 = 1024;
const JAVA_LOGGING: &str = "\
status=error
appender.out.type=Console
appender.out.name=out
appender.out.layout.type=PatternLayout
appender.out.layout.pattern=[%d] %p %m (%c)%n%throwable
rootLogger.level=info
rootLogger.appenderRef.out.ref=out
";

/// The property files of a standalone worker and its connectors. The folder, with everything in it, is removed when
/// this is dropped.
#[derive(Debug)]
pub struct Standalone {
    dir: TempDir,
    worker: Vec<(String, String)>,
    connectors: Vec<PathBuf>,
    with_test_connectors: bool,
    n_starts: Cell<usize>,
}

impl Standalone {
    /// A worker for this broker: StringConverter for keys and values, offsets in the file `offsets` of the folder,
    /// flushed every 100 ms, REST on a free port where there is REST.
    pub fn new(bootstrap: &str) -> Self {
        let dir = TempDir::new().expect("a temporary folder can be created");
        let offsets = dir.path().join("offsets").display().to_string();
        let port = free_port().unwrap_or_else(|error| panic!("{error}"));
        let converter = "org.apache.kafka.connect.storage.StringConverter";
        let empty = Self {
            dir,
            worker: Vec::new(),
            connectors: Vec::new(),
            with_test_connectors: false,
            n_starts: Cell::new(0),
        };
        empty
            .set("bootstrap.servers", bootstrap)
            .set("key.converter", converter)
            .set("value.converter", converter)
            .set("offset.storage.file.filename", offsets)
            .set("offset.flush.interval.ms", "100")
            .set("listeners", format!("http://127.0.0.1:{port}"))
    }

    /// Sets a key of the worker's file.
    #[must_use]
    pub fn set(mut self, key: &str, value: impl Into<String>) -> Self {
        self = self.unset(key);
        self.worker.push((key.to_owned(), value.into()));
        self
    }

    /// Leaves a key out of the worker's file.
    #[must_use]
    pub fn unset(mut self, key: &str) -> Self {
        self.worker.retain(|(name, _)| name != key);
        self
    }

    /// Adds a connector's property file, `<name>.properties`, with the key `name` and these.
    #[must_use]
    pub fn connector<V: AsRef<str>>(self, name: &str, entries: &[(&str, V)]) -> Self {
        let entries = entries.iter().map(|(key, value)| (*key, value.as_ref()));
        let text = properties::to_text([("name", name)].into_iter().chain(entries));
        self.connector_file(&format!("{name}.properties"), &text)
    }

    /// Changes the properties of a connector that was added by [`Self::connector`], from the next start on.
    pub fn rewrite_connector<V: AsRef<str>>(&self, name: &str, entries: &[(&str, V)]) {
        let entries = entries.iter().map(|(key, value)| (*key, value.as_ref()));
        self.write(&format!("{name}.properties"), properties::to_text([("name", name)].into_iter().chain(entries)));
    }

    /// Adds a connector's file with this text: `.properties` or `.json`.
    #[must_use]
    pub fn connector_file(mut self, file_name: &str, text: &str) -> Self {
        let path = self.write(file_name, text);
        self.connectors.retain(|other| *other != path);
        self.connectors.push(path);
        self
    }

    /// From now on [`Self::start`] starts the worker that has the connectors of [`connectors`](crate::connectors) too.
    #[must_use]
    pub fn test_worker(mut self) -> Self {
        self.with_test_connectors = true;
        self
    }

    /// The folder; the worker runs in it.
    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// Leaves the folder where it is when this is dropped.
    pub fn keep(&mut self) {
        self.dir.disable_cleanup(true);
    }

    /// The path of a file in the folder, as text for a property.
    pub fn path(&self, file_name: &str) -> String {
        self.dir.path().join(file_name).display().to_string()
    }

    /// Writes a file into the folder and returns its path.
    pub fn write(&self, file_name: &str, contents: impl AsRef<[u8]>) -> PathBuf {
        let path = self.dir.path().join(file_name);
        fs::write(&path, contents).unwrap_or_else(|error| panic!("`{}` cannot be written: {error}", path.display()));
        path
    }

    /// The contents of a file in the folder; empty if there is none yet.
    pub fn read(&self, file_name: &str) -> String {
        String::from_utf8_lossy(&fs::read(self.dir.path().join(file_name)).unwrap_or_default()).into_owned()
    }

    /// Starts our worker on the files.
    pub fn start(&self) -> Worker {
        self.start_with([])
    }

    /// Starts our worker on the files, with these variables in its environment.
    pub fn start_with<'a>(&self, environment: impl IntoIterator<Item = (&'a str, &'a str)>) -> Worker {
        let (arguments, log) = self.arguments();
        let mut command = Command::new(self.program());
        command.arg("standalone").args(arguments).current_dir(self.dir.path());
        command.envs(environment);
        Worker::run(command, &log)
    }

    /// Starts our worker on the files through a shell script that has the whole command as `"$@"`, as
    /// `exec "$@" 2>/dev/full`.
    pub fn start_in_shell(&self, script: &str) -> Worker {
        let (arguments, log) = self.arguments();
        let mut command = Command::new("sh");
        command.args(["-c", script, "sh"]).arg(self.program()).arg("standalone").args(arguments);
        command.current_dir(self.dir.path());
        Worker::run(command, &log)
    }

    fn program(&self) -> &'static Path {
        if self.with_test_connectors { test_worker() } else { binary() }
    }

    /// Starts Java's worker on the same files: the arbiter for what a worker must do.
    pub fn start_java(&self) -> Worker {
        let (arguments, log) = self.arguments();
        java_worker(self.dir.path(), &log, JAVA_MAIN, &arguments)
    }

    /// Writes the worker's file, and gives the files as arguments and a new file for the log.
    fn arguments(&self) -> (Vec<String>, PathBuf) {
        let text = properties::to_text(self.worker.iter().map(|(key, value)| (key.as_str(), value.as_str())));
        let worker = self.write("worker.properties", text);
        let n = self.n_starts.get() + 1;
        self.n_starts.set(n);
        let files = [&worker].into_iter().chain(&self.connectors).map(|path| path.display().to_string()).collect();
        (files, self.dir.path().join(format!("worker-{n}.log")))
    }
}

/// Starts a main class of Java's worker in this folder.
pub(crate) fn java_worker(dir: &Path, log: &Path, main: &str, arguments: &[String]) -> Worker {
    let java = Java::find().unwrap_or_else(|error| panic!("{error}"));
    let jars = Jars::find().unwrap_or_else(|error| panic!("{error}"));
    let logging = dir.join("log4j2.properties");
    fs::write(&logging, JAVA_LOGGING).expect("an own folder can be written to");
    let system = [("log4j2.configurationFile", &*logging.display().to_string())];
    let mut command = java.command(&jars, main, JAVA_HEAP_MB, &system);
    command.args(arguments).current_dir(dir);
    Worker::run(command, log)
}
