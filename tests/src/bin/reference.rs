//! Writes the pages of `docs/reference/` anew. Run by `cargo xtask docs`.

use std::fs;

use connect_tests::reference;

fn main() {
    let dir = reference::dir();
    if dir.exists() {
        fs::remove_dir_all(&dir).expect("the old pages can be removed");
    }
    fs::create_dir_all(&dir).expect("the folder can be created");
    for (file, text) in reference::pages() {
        fs::write(dir.join(file), text).expect("a page can be written");
    }
}
