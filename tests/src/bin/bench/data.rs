//! The input of the benchmarks: a file of lines of one length.

use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use crate::BUFFER_BYTES;

/// The input of one record size.
pub(crate) struct Data {
    pub(crate) file: PathBuf,
    pub(crate) value_bytes: u64,
    pub(crate) records: u64,
}

impl Data {
    /// Lines of letters and digits that differ from each other, as a log's do.
    pub(crate) fn write(dir: &Path, value_bytes: u64, bytes: u64) -> Self {
        let file = dir.join("input");
        let records = bytes / (value_bytes + 1);
        let width = usize::try_from(value_bytes).expect("a record fits into memory");
        let mut output = BufWriter::with_capacity(BUFFER_BYTES, File::create(&file).expect("a file can be created"));
        let mut line = String::with_capacity(width + 1);
        for number in 0..records {
            line.clear();
            let mut word = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
            while line.len() < width {
                line.push_str(&format!("{word:016x} "));
                word = word.rotate_left(11).wrapping_add(number);
            }
            line.truncate(width);
            line.push('\n');
            output.write_all(line.as_bytes()).expect("a file can be written");
        }
        output.flush().expect("a file can be written");
        Self { file, value_bytes, records }
    }
}

pub(crate) fn same_contents(left: &Path, right: &Path) -> bool {
    let open =
        |path: &Path| BufReader::with_capacity(BUFFER_BYTES, File::open(path).expect("an own file can be opened"));
    open(left).bytes().map(Result::ok).eq(open(right).bytes().map(Result::ok))
}
