//! Values that stand outside of a configuration: `${provider:path:key}`, and the providers file, env and directory.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use connect_sdk::config::{ConfigError, ConfigErrors};
use connect_sdk::config_provider::ConfigProvider;
use connect_sdk::java::properties;
use connect_sdk::java::regex::JavaRegex;
use connect_sdk::nearest::nearest;

/// The largest file that a provider reads.
const FILE_BYTES_MAX: u64 = 4 << 20;
/// The classes of the providers, by their simple names.
const CLASSES: [&str; 3] = ["FileConfigProvider", "EnvVarConfigProvider", "DirectoryConfigProvider"];

/// The configuration providers of a worker.
#[derive(Clone, Debug, Default)]
pub struct ConfigProviders {
    providers: BTreeMap<String, Arc<dyn ConfigProvider>>,
}

/// A configuration whose references were replaced.
#[derive(Clone)]
#[non_exhaustive]
pub struct Resolved {
    /// The configuration with the values that the references stood for.
    pub properties: BTreeMap<String, String>,
    /// References that were left as they are, because their provider or their key is unknown.
    pub warnings: Vec<String>,
    /// Each value that came from a provider, with its reference.
    secrets: Vec<(String, String)>,
}

impl std::fmt::Debug for Resolved {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Resolved").field("keys", &self.properties.keys()).field("warnings", &self.warnings).finish()
    }
}

impl Resolved {
    /// The text with every value that came from a provider put back to its reference: for messages and logs.
    #[must_use]
    pub fn hide(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        // A reference that was put in is not looked through: short values would be found in it and make it grow and grow.
        while let Some(c) = rest.chars().next() {
            let secret = self.secrets.iter().find(|(value, _)| rest.starts_with(value.as_str()));
            let hidden = secret.map_or(c.len_utf8(), |(value, _)| value.len());
            out.push_str(secret.map_or(&rest[..hidden], |(_, reference)| reference));
            rest = &rest[hidden..];
        }
        out
    }

    /// The errors with every value that came from a provider put back to its reference.
    #[must_use]
    pub fn hide_in(&self, errors: ConfigErrors) -> ConfigErrors {
        let hide = |error: ConfigError| match error.key() {
            Some(key) => ConfigError::on(key, self.hide(error.message())),
            None => ConfigError::new(self.hide(error.message())),
        };
        errors.into_iter().map(hide).collect()
    }
}

impl ConfigProviders {
    /// The providers that a worker's properties name in `config.providers`; `environment` is what `EnvVarConfigProvider`
    /// reads.
    ///
    /// # Errors
    /// A provider has no class, an unknown one, or wrong parameters; all of them at once.
    pub fn from_properties(
        worker: &BTreeMap<String, String>,
        environment: &BTreeMap<String, String>,
    ) -> Result<Self, ConfigErrors> {
        let names = worker.get("config.providers").map_or("", String::as_str);
        let mut errors = ConfigErrors::new();
        let mut providers: BTreeMap<String, Arc<dyn ConfigProvider>> = BTreeMap::new();
        for name in names.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            let class_key = format!("config.providers.{name}.class");
            let Some(class) = worker.get(&class_key).map(|class| class.trim()) else {
                let text = format!("Missing required configuration \"{class_key}\" which has no default value.");
                errors.push(ConfigError::on(class_key, text));
                continue;
            };
            let prefix = format!("config.providers.{name}.param.");
            let param = |key: &str| {
                let key = format!("{prefix}{key}");
                worker.get(&key).map(|value| (key, value.as_str()))
            };
            let provider = match class.rsplit('.').next().unwrap_or(class) {
                "FileConfigProvider" => AllowedPaths::read(param("allowed.paths"))
                    .map(|allowed| -> Arc<dyn ConfigProvider> { Arc::new(FileProvider { allowed }) }),
                "DirectoryConfigProvider" => AllowedPaths::read(param("allowed.paths"))
                    .map(|allowed| -> Arc<dyn ConfigProvider> { Arc::new(DirectoryProvider { allowed }) }),
                "EnvVarConfigProvider" => EnvProvider::new(param("allowlist.pattern"), environment)
                    .map(|env| -> Arc<dyn ConfigProvider> { Arc::new(env) }),
                simple => {
                    let meant = nearest(simple, CLASSES).map(|near| format!("; did you mean `{near}`?"));
                    let (meant, known) = (meant.unwrap_or_default(), CLASSES.join("`, `"));
                    let text = format!("unknown configuration provider class `{class}`{meant} (known: `{known}`)");
                    Err(ConfigError::on(class_key, text))
                }
            };
            match provider {
                Ok(provider) => drop(providers.insert(name.to_owned(), provider)),
                Err(error) => errors.push(error),
            }
        }
        errors.into_result(Self { providers })
    }

    /// Adds a provider that is linked into the worker, or replaces one.
    pub fn insert(&mut self, name: impl Into<String>, provider: Arc<dyn ConfigProvider>) {
        self.providers.insert(name.into(), provider);
    }

    /// Replaces the references in a configuration. Values that come from a provider are not looked through again.
    ///
    /// Reads files: to be called where blocking is allowed.
    ///
    /// # Errors
    /// A provider cannot read a path that is referred to; all of them at once.
    pub fn resolve(&self, raw: &BTreeMap<String, String>) -> Result<Resolved, ConfigErrors> {
        let mut wanted: BTreeMap<(&str, &str), BTreeSet<String>> = BTreeMap::new();
        for reference in raw.values().flat_map(|value| references(value)) {
            if self.providers.contains_key(reference.provider) {
                wanted.entry((reference.provider, reference.path)).or_default().insert(reference.key.to_owned());
            }
        }
        let mut errors = ConfigErrors::new();
        let mut found: BTreeMap<(&str, &str), BTreeMap<String, String>> = BTreeMap::new();
        for ((name, path), keys) in &wanted {
            match self.providers[*name].get(path, keys) {
                Ok(values) => drop(found.insert((name, path), values)),
                Err(error) => errors.push(error),
            }
        }
        errors.into_result(())?;
        let (mut warnings, mut secrets) = (Vec::new(), Vec::new());
        let mut replace = |key: &String, value: &String| {
            let mut out = String::with_capacity(value.len());
            let mut copied = 0;
            for reference in references(value) {
                let text = &value[reference.start..reference.end];
                let looked_up =
                    found.get(&(reference.provider, reference.path)).and_then(|values| values.get(reference.key));
                let Some(new) = looked_up else {
                    let why = if self.providers.contains_key(reference.provider) {
                        "has no value"
                    } else {
                        "names no configuration provider of this worker"
                    };
                    warnings.push(format!("`{text}` in `{key}` {why}; it is left as it is"));
                    continue;
                };
                out.push_str(&value[copied..reference.start]);
                out.push_str(new);
                copied = reference.end;
                // A blank value hides nothing, and replacing it back would tear texts apart.
                if !new.trim().is_empty() {
                    secrets.push((new.trim().to_owned(), text.to_owned()));
                }
            }
            out.push_str(&value[copied..]);
            (key.clone(), out)
        };
        let properties = raw.iter().map(|(key, value)| replace(key, value)).collect();
        // The longest first: one secret may be part of another.
        secrets.sort_by_key(|(value, _)| std::cmp::Reverse(value.len()));
        secrets.dedup();
        Ok(Resolved { properties, warnings, secrets })
    }
}

/// One `${provider:path:key}` or `${provider:key}` in a value.
struct Reference<'a> {
    start: usize,
    end: usize,
    provider: &'a str,
    path: &'a str,
    key: &'a str,
}

fn references(value: &str) -> Vec<Reference<'_>> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(start) = value[from..].find("${").map(|at| from + at) {
        let Some(end) = value[start..].find('}').map(|at| start + at) else { break };
        let inner = &value[start + 2..end];
        from = start + 2;
        if let Some((provider, rest)) = inner.split_once(':') {
            let (path, key) = rest.split_once(':').unwrap_or(("", rest));
            found.push(Reference { start, end: end + 1, provider, path, key });
            from = end + 1;
        }
    }
    found
}

/// The folders and files that a provider may read; none said means all.
#[derive(Debug)]
struct AllowedPaths(Option<Vec<PathBuf>>);

impl AllowedPaths {
    fn read(param: Option<(String, &str)>) -> Result<Self, ConfigError> {
        let Some((key, text)) = param.filter(|(_, text)| !text.trim().is_empty()) else { return Ok(Self(None)) };
        let path = |text: &str| {
            let path = Path::new(text.trim());
            let wrong = |why: &str| ConfigError::on(&key, format!("path `{}` of `{key}` {why}", path.display()));
            if !path.is_absolute() {
                return Err(wrong("is not absolute"));
            }
            path.canonicalize().map_err(|error| wrong(&format!("cannot be used: {error}")))
        };
        text.split(',').map(path).collect::<Result<_, _>>().map(|paths| Self(Some(paths)))
    }

    /// The path, if it may be read. Links are followed first.
    fn check(&self, path: &str) -> Result<PathBuf, ConfigError> {
        let real = Path::new(path).canonicalize();
        let real =
            real.map_err(|error| ConfigError::new(format!("Could not read properties from file {path}: {error}")))?;
        match &self.0 {
            Some(allowed) if !allowed.iter().any(|allowed| real.starts_with(allowed)) => {
                Err(ConfigError::new(format!("path `{path}` is outside of the provider's `allowed.paths`")))
            }
            _ => Ok(real),
        }
    }
}

fn read_small_file(path: &Path) -> Result<Vec<u8>, ConfigError> {
    let wrong = |why: &str| ConfigError::new(format!("Could not read properties from file {}: {why}", path.display()));
    let file = File::open(path).map_err(|error| wrong(&error.to_string()))?;
    let mut bytes = Vec::new();
    // What the file says of its size is not asked: a device has none and no end.
    file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(|error| wrong(&error.to_string()))?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(wrong(&format!("it is too large; at most {FILE_BYTES_MAX} bytes are allowed")));
    }
    Ok(bytes)
}

/// Values are properties of a file.
#[derive(Debug)]
struct FileProvider {
    allowed: AllowedPaths,
}

impl ConfigProvider for FileProvider {
    fn get(&self, path: &str, keys: &BTreeSet<String>) -> Result<BTreeMap<String, String>, ConfigError> {
        if path.is_empty() {
            return Ok(BTreeMap::new());
        }
        let bytes = read_small_file(&self.allowed.check(path)?)?;
        let mut values = properties::load(&bytes)
            .map_err(|error| ConfigError::new(format!("Could not read properties from file {path}: {error}")))?;
        values.retain(|key, _| keys.contains(key));
        Ok(values)
    }
}

/// Values are files of a folder, whole, with the line feed at their end if there is one.
#[derive(Debug)]
struct DirectoryProvider {
    allowed: AllowedPaths,
}

impl ConfigProvider for DirectoryProvider {
    fn get(&self, path: &str, keys: &BTreeSet<String>) -> Result<BTreeMap<String, String>, ConfigError> {
        if path.is_empty() {
            return Ok(BTreeMap::new());
        }
        let folder = self.allowed.check(path)?;
        let mut values = BTreeMap::new();
        for key in keys {
            // A key is the name of a file in the folder, never a way out of it.
            let name = Path::new(key);
            if name.components().count() != 1 || name.file_name().is_none() {
                continue;
            }
            let file = folder.join(name);
            if !file.is_file() {
                continue;
            }
            let file = self.allowed.check(&file.to_string_lossy())?;
            let text = String::from_utf8(read_small_file(&file)?);
            let text = text.map_err(|_| ConfigError::new(format!("file `{key}` in `{path}` is not UTF-8 text")))?;
            values.insert(key.clone(), text);
        }
        Ok(values)
    }
}

/// Values are variables of the environment in which the worker was started.
struct EnvProvider {
    variables: BTreeMap<String, String>,
}

impl std::fmt::Debug for EnvProvider {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "EnvProvider({} variables)", self.variables.len())
    }
}

impl EnvProvider {
    fn new(pattern: Option<(String, &str)>, environment: &BTreeMap<String, String>) -> Result<Self, ConfigError> {
        let mut variables = environment.clone();
        if let Some((key, text)) = pattern {
            let wrong = |error| ConfigError::on(&key, format!("`{key}` is not a regular expression: {error}"));
            let allowed = JavaRegex::new(text).map_err(wrong)?;
            variables.retain(|name, _| allowed.matches(name).unwrap_or(false));
        }
        Ok(Self { variables })
    }
}

impl ConfigProvider for EnvProvider {
    fn get(&self, path: &str, keys: &BTreeSet<String>) -> Result<BTreeMap<String, String>, ConfigError> {
        if !path.is_empty() {
            let text = format!("the environment has no path `{path}`; write `${{provider:NAME}}`");
            return Err(ConfigError::new(text));
        }
        let wanted = self.variables.iter().filter(|(name, _)| keys.contains(*name));
        Ok(wanted.map(|(name, value)| (name.clone(), value.clone())).collect())
    }
}

#[cfg(test)]
mod tests;
