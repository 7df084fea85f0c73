//! `Fixture`: what the replay kit needs to know of a source: how to configure it, and input that always gives the same.

use crate::erased::Properties;
use std::{
    any::Any,
    collections::BTreeMap,
    fmt::{self, Display},
    fs,
    io::Write,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

/// A source's configuration and its input, finite and the same each time it is read.
///
/// ```
/// use connect_sdk::testkit::Fixture;
/// fn a_file() -> Fixture {
///     Fixture::new().set("topic", "lines").file("path", "in.txt", "one\ntwo\nthree\n")
/// }
/// # drop(a_file());
/// ```
#[must_use = "return it from the function that `replay_test` names"]
#[derive(Default)]
pub struct Fixture {
    pub(super) properties: Properties,
    pub(super) feeds: Vec<Feed>,
    pub(super) n_records: Option<usize>,
    pub(super) ignores_timestamps: bool,
    kept: Vec<Box<dyn Any + Send>>,
    dir: Option<TestDir>,
}

/// Adds input.
pub(super) type Feed = Box<dyn FnOnce() + Send>;

impl Fixture {
    /// No properties and no input.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets a key of the connector's configuration.
    pub fn set(mut self, key: &str, value: impl Display) -> Self {
        self.properties.insert(key.to_owned(), value.to_string());
        self
    }

    /// Makes a file with this content in a folder that only this fixture uses, and sets `key` to its path.
    ///
    /// # Panics
    /// If the file cannot be written.
    pub fn file(mut self, key: &str, name: &str, content: impl AsRef<[u8]>) -> Self {
        let path = self.dir().join(name);
        fs::write(&path, content).unwrap_or_else(|error| panic!("cannot write `{}`: {error}", path.display()));
        self.set(key, path.display())
    }

    /// A folder that only this fixture uses; it is removed with the fixture.
    ///
    /// # Panics
    /// If it cannot be made.
    pub fn dir(&mut self) -> &Path {
        &self.dir.get_or_insert_with(TestDir::new).0
    }

    /// Keeps a value as long as the input is needed: a server, a folder of your own.
    pub fn keep(mut self, value: impl Any + Send) -> Self {
        self.kept.push(Box::new(value));
        self
    }

    /// Adds input while the source is not running. Feeds are called in order, one between two lives.
    pub fn feed(mut self, feed: impl FnOnce() + Send + 'static) -> Self {
        self.feeds.push(Box::new(feed));
        self
    }

    /// A feed that appends to a file of [`Self::file`].
    ///
    /// # Panics
    /// When it is called, if the file cannot be written.
    pub fn append(mut self, name: &str, content: impl AsRef<[u8]>) -> Self {
        let (path, content) = (self.dir().join(name), content.as_ref().to_vec());
        self.feed(move || {
            let file = fs::OpenOptions::new().append(true).open(&path);
            let written = file.and_then(|mut file| file.write_all(&content));
            written.unwrap_or_else(|error| panic!("cannot append to `{}`: {error}", path.display()));
        })
    }

    /// Says how many records the whole input gives. Without it the kit waits a moment until no more come.
    pub fn records(mut self, n: usize) -> Self {
        self.n_records = Some(n);
        self
    }

    /// For sources that set the time of reading as timestamp: two runs then differ in nothing else.
    pub fn ignore_timestamps(mut self) -> Self {
        self.ignores_timestamps = true;
        self
    }

    pub(super) fn feed_all(&mut self) {
        self.feeds.drain(..).for_each(|feed| feed());
    }
}

impl fmt::Debug for Fixture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys: BTreeMap<_, _> = self.properties.iter().collect();
        f.debug_struct("Fixture").field("keys", &keys.keys()).field("feeds", &self.feeds.len()).finish_non_exhaustive()
    }
}

/// A new folder below the system's folder for temporary files.
struct TestDir(PathBuf);

impl TestDir {
    fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let base = std::env::temp_dir();
        let name = format!("connect-fixture-{}", std::process::id());
        // A process with the same number may have died here before: never take over a folder that is there.
        let dir = loop {
            let path = base.join(format!("{name}-{}", NEXT.fetch_add(1, Ordering::Relaxed)));
            match fs::create_dir(&path) {
                Ok(()) => break path,
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => panic!("cannot make the folder `{}`: {error}", path.display()),
            }
        };
        Self(dir)
    }
}

impl Drop for TestDir {
    fn drop(&mut self) {
        // A folder that stays behind harms nobody, and a test that has failed must say why it has.
        drop(fs::remove_dir_all(&self.0));
    }
}
