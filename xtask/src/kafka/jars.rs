//! Where Kafka's jars come from: `KAFKA_HOME`, a cached copy, Maven, Docker, in this order.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

use super::VERSION;
use crate::error::{Context, Error, Result};
use crate::repo;

const SCALA: &str = "2.13";
const LOG4J: &str = "2.24.3";
const DEPENDENCY_PLUGIN: &str = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1";
const DOCKER_LIBS: &str = "/opt/kafka/libs";

/// Puts the jars into the folder that it is given.
type Way = fn(&Path) -> Result<()>;

/// How the jars got here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The `libs` folder of the Kafka that `KAFKA_HOME` names.
    KafkaHome,
    /// A copy that an earlier call made.
    Cache,
    /// Downloaded now by Maven.
    Maven,
    /// Copied now out of the Docker image `apache/kafka`.
    Docker,
}

/// A folder with the jars of a Kafka broker, its tools and its Connect worker.
#[derive(Debug, Clone)]
pub struct Jars {
    dir: PathBuf,
    origin: Origin,
}

impl Jars {
    /// Finds the jars, or downloads them once into the user's cache folder (`$XDG_CACHE_HOME/rust-connect`, else
    /// `~/.cache/rust-connect`; below the target folder when that cannot be written).
    ///
    /// # Errors
    /// `KAFKA_HOME` is set and holds no Kafka; or there is no copy and neither Maven nor Docker could make one: the text
    /// says what was tried and what to install.
    pub fn find() -> Result<Self> {
        if let Some(home) = env::var_os("KAFKA_HOME").filter(|home| !home.is_empty()) {
            let dir = Path::new(&home).join("libs");
            if !is_complete(&dir) {
                let home = Path::new(&home).display();
                return Err(Error::new(format!(
                    "`KAFKA_HOME` is `{home}`, but `{home}/libs` holds no Kafka server jar"
                )));
            }
            return Ok(Self { dir, origin: Origin::KafkaHome });
        }
        let homes = cache_homes();
        if let Some(dir) = homes.iter().find(|dir| is_complete(dir)) {
            return Ok(Self { dir: dir.clone(), origin: Origin::Cache });
        }
        let mut failures = Vec::new();
        for (origin, way) in [(Origin::Maven, maven as Way), (Origin::Docker, docker)] {
            match fetch_into(&homes, way) {
                Ok(dir) => return Ok(Self { dir, origin }),
                Err(error) => failures.push(error.to_string()),
            }
        }
        Err(Error::new(format!(
            "Kafka {VERSION} is needed and not here: `KAFKA_HOME` is not set, no copy in {}, {}; install Maven (Debian, \
             Ubuntu: `apt-get install maven`) or Docker, or unpack Kafka {VERSION} from https://kafka.apache.org/downloads \
             and set `KAFKA_HOME` to its folder",
            homes.iter().map(|dir| format!("`{}`", dir.display())).collect::<Vec<_>>().join(" or "),
            failures.join(", ")
        )))
    }

    /// The value of Java's `CLASSPATH` variable: every jar of the folder.
    pub fn classpath(&self) -> String {
        format!("{}/*", self.dir.display())
    }

    /// How the jars got here.
    pub fn origin(&self) -> Origin {
        self.origin
    }

    /// The folder of the jars.
    pub fn dir(&self) -> &Path {
        &self.dir
    }
}

/// Where copies are looked for, and the order in which a place for a new one is tried, last first: below the target
/// folder, and in the user's cache, where a fresh clone finds them.
fn cache_homes() -> Vec<PathBuf> {
    let name = format!("kafka-{VERSION}");
    let mut homes = vec![repo::target_dir().join("kafka/jars").join(&name)];
    homes.extend(repo::cache_dir().map(|dir| dir.join(name)));
    homes
}

fn is_complete(dir: &Path) -> bool {
    let server = format!("kafka_{SCALA}-");
    fs::read_dir(dir).is_ok_and(|entries| {
        entries.flatten().any(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            name.starts_with(&server) && name.ends_with(".jar")
        })
    })
}

/// Fills a new folder beside the final one and renames it when it is whole, so that a copy is never half there and two
/// processes can fetch at once.
fn fetch_into(homes: &[PathBuf], way: Way) -> Result<PathBuf> {
    let (home, staging) = homes
        .iter()
        .rev()
        .find_map(|home| {
            let staging = home.with_file_name(format!("kafka-{VERSION}.new-{:x}", repo::random()));
            fs::create_dir_all(&staging).ok().map(|()| (home, staging))
        })
        .ok_or_else(|| Error::new("no cache folder can be written"))?;
    let fetched = way(&staging).and_then(|()| {
        if is_complete(&staging) { Ok(()) } else { Err(Error::new("what was fetched holds no Kafka server jar")) }
    });
    if let Err(error) = fetched {
        remove(&staging);
        return Err(error);
    }
    match fs::rename(&staging, home) {
        Ok(()) => Ok(home.clone()),
        Err(_) if is_complete(home) => {
            remove(&staging);
            Ok(home.clone())
        }
        Err(error) => Err(error).context(|| format!("`{}` cannot be moved into place", staging.display())),
    }
}

/// Leftovers in a cache folder only cost space: that one could not be removed is no reason to stop.
fn remove(dir: &Path) {
    fs::remove_dir_all(dir).ok();
}

fn maven(dir: &Path) -> Result<()> {
    let program = repo::program("mvn").ok_or_else(|| Error::new("`mvn` is not on the PATH"))?;
    let pom = dir.with_file_name(format!("pom-{:x}.xml", repo::random()));
    fs::write(&pom, pom_text()).context(|| format!("`{}` cannot be written", pom.display()))?;
    let mut command = Command::new(program);
    command.args(["--quiet", "--batch-mode", "--file"]).arg(&pom);
    command.arg(format!("{DEPENDENCY_PLUGIN}:copy-dependencies")).arg("-DincludeScope=runtime");
    command.arg(format!("-DoutputDirectory={}", dir.display()));
    let result = run(&mut command, "mvn");
    fs::remove_file(&pom).ok();
    result.map(drop)
}

fn pom_text() -> String {
    let kafka = [
        &format!("kafka_{SCALA}"),
        "kafka-tools",
        "connect-runtime",
        "connect-json",
        "connect-transforms",
        "connect-file",
    ]
    .map(|artifact| ("org.apache.kafka", artifact.to_owned(), VERSION));
    let log4j = ["log4j-core", "log4j-slf4j-impl"].map(|name| ("org.apache.logging.log4j", name.to_owned(), LOG4J));
    let dependencies: String = kafka
        .into_iter()
        .chain(log4j)
        .map(|(group, artifact, version)| {
            format!(
                "    <dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId><version>{version}</version></dependency>\n"
            )
        })
        .collect();
    format!(
        "<project xmlns=\"http://maven.apache.org/POM/4.0.0\">\n  <modelVersion>4.0.0</modelVersion>\n  \
         <groupId>rust-connect</groupId>\n  <artifactId>test-broker</artifactId>\n  <version>1</version>\n  \
         <packaging>pom</packaging>\n  <dependencies>\n{dependencies}  </dependencies>\n</project>\n"
    )
}

fn docker(dir: &Path) -> Result<()> {
    let program = repo::program("docker").ok_or_else(|| Error::new("`docker` is not on the PATH"))?;
    let image = format!("apache/kafka:{VERSION}");
    // The container is only made, never run: it is a way to read the image's files.
    let container = run(Command::new(&program).args(["create", "--quiet", &image]), "docker create")?;
    let container = container.trim();
    let from = format!("{container}:{DOCKER_LIBS}/.");
    let copied = run(Command::new(&program).args(["cp", "--quiet", &from]).arg(dir), "docker cp");
    run(Command::new(&program).args(["rm", "--force", container]), "docker rm")?;
    copied.map(drop)
}

fn run(command: &mut Command, name: &str) -> Result<String> {
    let output = command.stdin(Stdio::null()).output().context(|| format!("`{name}` did not run"))?;
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return Ok(stdout);
    }
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    let why = stdout.lines().chain(stderr.lines()).find(|line| line.to_ascii_lowercase().contains("error"));
    let why = why.or_else(|| stderr.lines().last()).unwrap_or("no message").trim();
    Err(Error::new(format!("`{name}` failed with {}: {why}", output.status)))
}
