//! Files of lines: read from the last line to the first, and appended to after an unfinished last line was
//! cut off.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use super::private;

/// An append-only file of whole lines.
#[derive(Debug)]
pub struct LineFile {
    file: File,
}

impl LineFile {
    /// Opens the file for reading and appending; creates it for the owner only if it is missing. A last line
    /// without newline comes from a crash in an unacknowledged write, so it is cut off.
    pub fn open(path: &Path) -> io::Result<Self> {
        let mut file = private(OpenOptions::new().read(true).append(true).create(true)).open(path)?;
        let length = file.seek(SeekFrom::End(0))?;
        if length > 0 {
            let mut last = [0u8];
            file.seek(SeekFrom::End(-1))?;
            file.read_exact(&mut last)?;
            if last != *b"\n" {
                let whole = last_newline(&mut file, length)?;
                file.set_len(whole)?;
            }
        }
        Ok(Self { file })
    }

    /// Appends a line. `durable` waits until it is on the disk. A partial write is undone.
    pub fn append(&mut self, line: &str, durable: bool) -> io::Result<()> {
        let before = self.file.metadata()?.len();
        let written = self.file.write_all(line.as_bytes()).and_then(|()| match durable {
            true => self.file.sync_data(),
            false => Ok(()),
        });
        if written.is_err() {
            self.file.set_len(before)?;
        }
        written
    }
}

/// The end of the last whole line before `length`.
fn last_newline(file: &mut File, length: u64) -> io::Result<u64> {
    let mut end = length;
    while end > 0 {
        let start = end.saturating_sub(8192);
        let mut chunk = vec![0; usize::try_from(end - start).unwrap_or(0)];
        file.seek(SeekFrom::Start(start))?;
        file.read_exact(&mut chunk)?;
        if let Some(at) = chunk.iter().rposition(|byte| *byte == b'\n') {
            return Ok(start + at as u64 + 1);
        }
        end = start;
    }
    Ok(0)
}

/// An iterator over the lines of a file from the last to the first, which reads only as far as needed.
pub struct BackwardLines {
    file: File,
    /// The offset before which everything is unread.
    unread: u64,
    /// The bytes read but not yet returned, in file order.
    buffer: Vec<u8>,
}

impl BackwardLines {
    /// Opens the file; `None` if it does not exist.
    pub fn open(path: &Path) -> io::Result<Option<Self>> {
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let unread = file.metadata()?.len();
        Ok(Some(Self { file, unread, buffer: Vec::new() }))
    }

    fn fill(&mut self) -> io::Result<()> {
        let size = self.unread.min(64 * 1024);
        self.unread -= size;
        let mut chunk = vec![0; usize::try_from(size).unwrap_or(0)];
        self.file.seek(SeekFrom::Start(self.unread))?;
        self.file.read_exact(&mut chunk)?;
        chunk.append(&mut self.buffer);
        self.buffer = chunk;
        Ok(())
    }
}

impl Iterator for BackwardLines {
    type Item = io::Result<Vec<u8>>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let body = self.buffer.strip_suffix(b"\n").unwrap_or(&self.buffer);
            if let Some(at) = body.iter().rposition(|byte| *byte == b'\n') {
                let line = body[at + 1..].to_vec();
                self.buffer.truncate(at + 1);
                return Some(Ok(line));
            }
            if self.unread == 0 {
                let line = body.to_vec();
                self.buffer.clear();
                return (!line.is_empty()).then_some(Ok(line));
            }
            if let Err(error) = self.fill() {
                self.unread = 0;
                self.buffer.clear();
                return Some(Err(error));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_torn_last_line_is_cut_off() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        std::fs::write(&path, "one\ntwo\nthr").unwrap();
        let mut lines = LineFile::open(&path).unwrap();
        lines.append("four\n", true).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "one\ntwo\nfour\n");
    }

    #[test]
    fn lines_come_from_the_last_to_the_first() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let lines: Vec<String> = (0..5000).map(|n| format!("{n} {}", "x".repeat(n % 97))).collect();
        std::fs::write(&path, lines.join("\n") + "\n").unwrap();
        let back: Vec<String> = BackwardLines::open(&path)
            .unwrap()
            .unwrap()
            .map(|line| String::from_utf8(line.unwrap()).unwrap())
            .collect();
        assert!(back.iter().eq(lines.iter().rev()));
        assert!(BackwardLines::open(&folder.path().join("none")).unwrap().is_none());
    }
}
