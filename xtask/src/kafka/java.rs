//! The Java program that runs the jars: where it is, whether it is new enough, and how a class is started.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::jars::Jars;
use crate::error::{Context, Error, Result};
use crate::repo;

/// Kafka 4 brokers and its Connect worker need at least this version.
const MAJOR_MIN: u32 = 17;

/// A Java installation that can run Kafka.
#[derive(Debug, Clone)]
pub struct Java {
    program: PathBuf,
}

impl Java {
    /// Finds `$JAVA_HOME/bin/java`, else `java` on the PATH.
    ///
    /// # Errors
    /// There is none, or it is older than Java 17.
    pub fn find() -> Result<Self> {
        let install =
            format!("install Java {MAJOR_MIN} or newer (Debian, Ubuntu: `apt-get install openjdk-17-jre-headless`)");
        let home = env::var_os("JAVA_HOME").map(|home| Path::new(&home).join("bin/java")).filter(|java| java.is_file());
        let program =
            home.or_else(|| repo::program("java")).ok_or_else(|| Error::new(format!("no `java` found: {install}")))?;
        let output = Command::new(&program)
            .arg("-version")
            .output()
            .context(|| format!("`{} -version` did not run", program.display()))?;
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        match major(&text) {
            Some(found) if found >= MAJOR_MIN => Ok(Self { program }),
            Some(found) => {
                Err(Error::new(format!("`{}` is Java {found}, Kafka needs {MAJOR_MIN}: {install}", program.display())))
            }
            None => Err(Error::new(format!("`{} -version` names no version: `{}`", program.display(), text.trim()))),
        }
    }

    /// A command that runs `main_class` of `jars`, with at most `heap_mb` MiB of heap. Arguments are added by the caller.
    pub fn command(&self, jars: &Jars, main_class: &str, heap_mb: u32, system: &[(&str, &str)]) -> Command {
        let mut command = Command::new(&self.program);
        command.env("CLASSPATH", jars.classpath()).env_remove("JAVA_TOOL_OPTIONS").env_remove("KAFKA_OPTS");
        command.arg(format!("-Xmx{heap_mb}m")).arg(format!("-Xms{}m", heap_mb.min(256)));
        command.args(["-Djava.awt.headless=true", "-XX:+ExitOnOutOfMemoryError"]);
        command.args(system.iter().map(|(key, value)| format!("-D{key}={value}")));
        command.arg(main_class);
        command
    }
}

/// The major version in the output of `java -version`: `17.0.15` is 17, the old form `1.8.0_392` is 8.
fn major(text: &str) -> Option<u32> {
    let version = text.split('"').nth(1)?;
    let mut numbers = version.split(|c: char| !c.is_ascii_digit());
    match numbers.next()?.parse().ok()? {
        1 => numbers.next()?.parse().ok(),
        major => Some(major),
    }
}

#[cfg(test)]
mod tests {
    use super::major;

    #[test]
    fn the_major_version_is_read_from_every_form() {
        for (text, expected) in [
            ("openjdk version \"17.0.15\" 2025-04-15\nOpenJDK Runtime Environment", Some(17)),
            ("openjdk version \"21\" 2023-09-19", Some(21)),
            ("openjdk version \"22-ea\" 2024-03-19", Some(22)),
            ("java version \"1.8.0_392\"", Some(8)),
            ("no version at all", None),
        ] {
            assert_eq!(major(text), expected, "{text}");
        }
    }
}
