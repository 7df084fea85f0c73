//! Lock files: what offsets and partitions have been stored, so that a change that could not read it back is refused.
//!
//! A lock file has one line for each field, such as `Pos.position: int`; `?` behind the kind says that the field may be
//! absent. The derives check it when they are compiled, and write a test that keeps it up to date.

use super::FieldMeta;
use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

/// How a field stands to the lock file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LockState {
    /// It is as the file says, or new and allowed to be, or nothing of its type is in the file yet.
    Fits,
    /// It is not in the file, and what is stored already cannot do without.
    Missing,
    /// It is of another kind.
    Changed,
    /// It may be absent in the file, but not any more.
    LessOptional,
}

/// Stops the compiler if a field does not fit the lock file; `messages` are for a field that is missing there, that is of
/// another kind, and that may be absent.
///
/// # Panics
/// Panics with the message, which makes it the error of the constant that calls this.
#[track_caller]
pub const fn check_lock(lock: &str, type_name: &str, field: &FieldMeta, exact: bool, messages: [&str; 3]) {
    match lock_state(lock, type_name, field, exact) {
        LockState::Fits => {}
        LockState::Missing => panic!("{}", messages[0]),
        LockState::Changed => panic!("{}", messages[1]),
        LockState::LessOptional => panic!("{}", messages[2]),
    }
}

/// Stops the compiler if the lock file has a field that is not among `fields`.
///
/// # Panics
/// Panics with the message, which makes it the error of the constant that calls this.
#[track_caller]
pub const fn check_lock_is_complete(lock: &str, type_name: &str, fields: &[FieldMeta], message: &str) {
    if lock_has_more(lock, type_name, fields) {
        panic!("{}", message);
    }
}

/// Compares a field with the text of a lock file. With `exact`, no field may be new.
const fn lock_state(lock: &str, type_name: &str, field: &FieldMeta, exact: bool) -> LockState {
    let text = lock.as_bytes();
    let mut is_locked = false;
    let mut at = 0;
    while at < text.len() {
        let end = line_end(text, at);
        if let Some(name_at) = after_type(text, at, type_name) {
            is_locked = true;
            if let Some(kind_at) = after_name(text, name_at, field.name) {
                return compare(text, kind_at, end, field);
            }
        }
        at = end + 1;
    }
    if is_locked && (exact || !field.may_be_absent) { LockState::Missing } else { LockState::Fits }
}

/// True if the lock file has a field of the type that `fields` has not.
const fn lock_has_more(lock: &str, type_name: &str, fields: &[FieldMeta]) -> bool {
    let text = lock.as_bytes();
    let mut at = 0;
    while at < text.len() {
        if let Some(name_at) = after_type(text, at, type_name) {
            let mut is_known = false;
            let mut i = 0;
            while i < fields.len() {
                is_known |= after_name(text, name_at, fields[i].name).is_some();
                i += 1;
            }
            if !is_known {
                return true;
            }
        }
        at = line_end(text, at) + 1;
    }
    false
}

/// Compares the kind between `start` and `end` with that of the field.
const fn compare(text: &[u8], start: usize, end: usize, field: &FieldMeta) -> LockState {
    let Some(kind_end) = after(text, start, field.kind.word().as_bytes()) else { return LockState::Changed };
    let was_optional = kind_end < end && text[kind_end] == b'?';
    if was_optional && !field.may_be_absent {
        return LockState::LessOptional;
    }
    LockState::Fits
}

/// Where the line that begins at `at` ends.
const fn line_end(text: &[u8], mut at: usize) -> usize {
    while at < text.len() && text[at] != b'\n' && text[at] != b'\r' {
        at += 1;
    }
    at
}

/// The place behind `Type.` if it stands at `at`.
const fn after_type(text: &[u8], at: usize, type_name: &str) -> Option<usize> {
    match after(text, at, type_name.as_bytes()) {
        Some(dot) => after(text, dot, b"."),
        None => None,
    }
}

/// The place behind `name: ` if it stands at `at`.
const fn after_name(text: &[u8], at: usize, name: &str) -> Option<usize> {
    match after(text, at, name.as_bytes()) {
        Some(colon) => after(text, colon, b": "),
        None => None,
    }
}

/// The place behind `part` if it stands at `at`.
const fn after(text: &[u8], at: usize, part: &[u8]) -> Option<usize> {
    let mut i = 0;
    while i < part.len() {
        if at + i >= text.len() || text[at + i] != part[i] {
            return None;
        }
        i += 1;
    }
    Some(at + part.len())
}

const HEADER: &str = "# What has been stored of source partitions and offsets. Written by tests; commit it.\n";
/// The environment variable that, set to `accept`, lets the test write even what cannot read stored offsets.
const ACCEPT: &str = "CONNECT_LOCK";

/// Brings a lock file up to date; called by the test that the derives write.
///
/// # Panics
/// Panics if the file cannot be read or written, if what it says cannot be read back by `fields`, and once after it was
/// changed, so that the change is looked at and committed.
#[track_caller]
pub fn update_lock(
    manifest_dir: Option<&str>,
    source_file: &str,
    lock: &str,
    type_name: &str,
    fields: &[FieldMeta],
    exact: bool,
) {
    // The tests of several types may share the file.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let path = beside(manifest_dir, source_file).join(lock);
    let accept = std::env::var(ACCEPT).is_ok_and(|value| value == "accept");
    match update(&path, type_name, fields, exact, accept) {
        Ok(false) => {}
        Ok(true) => panic!("`{lock}` was brought up to date with `{type_name}`: look at what changed, and commit it"),
        Err(why) => panic!("{why}"),
    }
}

/// Writes the file if it has to change, and says whether it did.
fn update(path: &Path, type_name: &str, fields: &[FieldMeta], exact: bool, accept: bool) -> Result<bool, String> {
    let shown = path.display();
    let old = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(format!("`{shown}` cannot be read: {error}")),
    };
    if !accept {
        let hint = format!("; if nothing is stored yet, run the test with {ACCEPT}=accept");
        for field in fields {
            let name = field.name;
            match lock_state(&old, type_name, field, exact) {
                LockState::Fits => {}
                LockState::Missing => return Err(format!("`{type_name}.{name}` is not in `{shown}`{hint}")),
                LockState::Changed => {
                    return Err(format!(
                        "`{type_name}.{name}` is of the kind `{}`, but `{shown}` says otherwise{hint}",
                        field.kind.word()
                    ));
                }
                LockState::LessOptional => {
                    return Err(format!("`{type_name}.{name}` may be absent, says `{shown}`{hint}"));
                }
            }
        }
        if exact && lock_has_more(&old, type_name, fields) {
            return Err(format!("`{shown}` has a field of `{type_name}` that the struct has not{hint}"));
        }
    }
    let ours = |line: &str, field: &FieldMeta| line.starts_with(&format!("{type_name}.{}: ", field.name));
    // A removed field of an offset stays: it is still in what was stored, so its name must not get another meaning.
    let mut lines: BTreeSet<String> = old
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .filter(|line| !fields.iter().any(|field| ours(line, field)))
        .filter(|line| !((exact || accept) && line.starts_with(&format!("{type_name}."))))
        .map(str::to_owned)
        .collect();
    lines.extend(fields.iter().map(|field| {
        let optional = if field.may_be_absent { "?" } else { "" };
        format!("{type_name}.{}: {}{optional}", field.name, field.kind.word())
    }));
    let new: String = HEADER.lines().map(str::to_owned).chain(lines).map(|line| line + "\n").collect();
    if new == old {
        return Ok(false);
    }
    fs::write(path, new).map_err(|error| format!("`{shown}` cannot be written: {error}"))?;
    Ok(true)
}

/// The folder of a source file whose name is relative to the workspace, while tests run in the folder of their package.
fn beside(manifest_dir: Option<&str>, source_file: &str) -> PathBuf {
    let folder = Path::new(source_file).parent().unwrap_or(Path::new(""));
    let package = Path::new(manifest_dir.unwrap_or("."));
    let workspace = package.ancestors().find(|ancestor| ancestor.join(source_file).is_file());
    workspace.map_or_else(|| folder.to_owned(), |workspace| workspace.join(folder))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::FieldKind;

    const fn field(name: &'static str, kind: FieldKind, may_be_absent: bool) -> FieldMeta {
        FieldMeta { name, kind, may_be_absent }
    }

    const LOCK: &str = "# comment\nAt.i: int\nAt.note: text?\nAtom.i: text\n";

    #[test]
    fn what_cannot_be_read_back_is_told_from_what_can() {
        use LockState::{Changed, Fits, LessOptional, Missing};
        for (field, exact, state) in [
            (field("i", FieldKind::Int, false), false, Fits),
            (field("i", FieldKind::Int, true), true, Fits),
            (field("i", FieldKind::Text, false), false, Changed),
            (field("note", FieldKind::Text, true), false, Fits),
            (field("note", FieldKind::Text, false), false, LessOptional),
            (field("epoch", FieldKind::Int, false), false, Missing),
            (field("epoch", FieldKind::Int, true), false, Fits),
            (field("epoch", FieldKind::Int, true), true, Missing),
            (field("no", FieldKind::Text, false), false, Missing),
        ] {
            assert_eq!(lock_state(LOCK, "At", &field, exact), state, "{field:?} {exact}");
        }
        assert_eq!(lock_state(LOCK, "New", &field("x", FieldKind::Int, false), true), Fits);
        assert_eq!(lock_state("", "At", &field("x", FieldKind::Int, false), true), Fits);
    }

    #[test]
    fn a_removed_field_is_seen() {
        let all = [field("i", FieldKind::Int, false), field("note", FieldKind::Text, true)];
        assert!(!lock_has_more(LOCK, "At", &all));
        assert!(lock_has_more(LOCK, "At", &all[..1]));
        assert!(!lock_has_more(LOCK, "New", &[]));
    }

    #[test]
    fn the_file_is_written_once_and_never_against_what_is_stored() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("offsets.lock");
        let int = field("i", FieldKind::Int, false);
        let update = |fields: &[FieldMeta], exact, accept| update(&path, "At", fields, exact, accept);
        assert_eq!(update(&[int], false, false), Ok(true));
        assert_eq!(update(&[int], false, false), Ok(false));
        assert_eq!(fs::read_to_string(&path).unwrap(), format!("{HEADER}At.i: int\n"));

        let text = field("i", FieldKind::Text, false);
        assert!(update(&[text], false, false).unwrap_err().contains("CONNECT_LOCK=accept"));
        let epoch = field("epoch", FieldKind::Int, true);
        assert_eq!(update(&[epoch], false, false), Ok(true));
        assert_eq!(fs::read_to_string(&path).unwrap(), format!("{HEADER}At.epoch: int?\nAt.i: int\n"));
        assert!(update(&[int], true, false).is_err());
        assert_eq!(update(&[text], false, true), Ok(true));
        assert_eq!(fs::read_to_string(&path).unwrap(), format!("{HEADER}At.i: text\n"));
    }

    #[test]
    fn the_folder_of_a_source_file_is_found_from_its_package() {
        let found = beside(Some(env!("CARGO_MANIFEST_DIR")), file!());
        assert!(found.join("lock.rs").is_file(), "{}", found.display());
    }
}
