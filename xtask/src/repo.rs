//! Where things are: the root of the repository, the target folder, the user's cache; and programs on the PATH.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The folder of the workspace's `Cargo.toml`.
pub fn root() -> PathBuf {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().unwrap_or(xtask).to_path_buf()
}

/// Cargo's target folder: the one that the running program was built into, so that a test finds the folder that its own
/// `cargo` used, wherever `CARGO_TARGET_DIR` or a config file put it.
pub fn target_dir() -> PathBuf {
    env::current_exe()
        .ok()
        .and_then(|exe| exe.ancestors().find(|dir| dir.join("CACHEDIR.TAG").is_file()).map(Path::to_path_buf))
        .or_else(|| env::var_os("CARGO_TARGET_DIR").map(|dir| root().join(dir)))
        .unwrap_or_else(|| root().join("target"))
}

/// The folder for things that outlive a clone: `$XDG_CACHE_HOME/rust-connect` or `~/.cache/rust-connect`; none when neither
/// variable is set.
pub fn cache_dir() -> Option<PathBuf> {
    let set = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let base = set("XDG_CACHE_HOME").or_else(|| set("HOME").map(|home| home.join(".cache")))?;
    Some(base.join("rust-connect"))
}

/// The path of a program on the PATH.
pub fn program(name: impl AsRef<OsStr>) -> Option<PathBuf> {
    let name = Path::new(name.as_ref());
    env::split_paths(&env::var_os("PATH")?).map(|dir| dir.join(name)).find(|path| path.is_file())
}

/// A number that differs from call to call and from process to process; not for secrets.
pub fn random() -> u64 {
    use std::hash::{BuildHasher, Hasher, RandomState};
    RandomState::new().build_hasher().finish()
}
