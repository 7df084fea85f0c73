//! The lower end of a terminal, which the live view redraws and log lines must not tear apart.

use std::{
    io::{self, Write, stderr, stdout},
    sync::{Mutex, PoisonError},
};

/// How many lines of the live view stand above the cursor.
static DRAWN: Mutex<usize> = Mutex::new(0);

/// Replaces the lines of the last call, if they still stand there, by these.
///
/// # Errors
/// Standard output cannot be written.
pub(super) fn redraw(lines: &[String]) -> io::Result<()> {
    let mut drawn = DRAWN.lock().unwrap_or_else(PoisonError::into_inner);
    let mut out = stdout().lock();
    erase(&mut out, &mut drawn)?;
    for line in lines {
        writeln!(out, "{line}")?;
    }
    *drawn = lines.len();
    out.flush()
}

/// Prints lines below whatever is there.
///
/// # Errors
/// Standard output cannot be written.
pub(super) fn print(lines: &[String]) -> io::Result<()> {
    let mut out = stdout().lock();
    for line in lines {
        writeln!(out, "{line}")?;
    }
    out.flush()
}

fn erase(out: &mut impl Write, drawn: &mut usize) -> io::Result<()> {
    match std::mem::take(drawn) {
        0 => Ok(()),
        n => write!(out, "\x1b[{n}A\x1b[J"),
    }
}

/// Standard error for log lines: takes the live view away first, so that the line stands above the next one.
#[derive(Debug, Clone, Copy)]
pub(super) struct LogWriter;

impl Write for LogWriter {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let mut drawn = DRAWN.lock().unwrap_or_else(PoisonError::into_inner);
        if *drawn > 0 {
            let mut out = stdout().lock();
            erase(&mut out, &mut drawn)?;
            out.flush()?;
        }
        stderr().lock().write(line)
    }

    fn flush(&mut self) -> io::Result<()> {
        stderr().lock().flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_drawn_is_taken_away() {
        let mut out = Vec::new();
        let mut drawn = 0;
        erase(&mut out, &mut drawn).unwrap();
        assert!(out.is_empty());
        drawn = 3;
        erase(&mut out, &mut drawn).unwrap();
        erase(&mut out, &mut drawn).unwrap();
        assert_eq!(out, b"\x1b[3A\x1b[J");
    }
}
