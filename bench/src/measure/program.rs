//! The programs under measurement.

use std::fmt;
use std::path::Path;

use super::run::ProgramRun;

/// A program under measurement, with the number of memories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeasuredProgram {
    /// The empty program.
    Empty,
    /// One FTS5 query over this many memories.
    Fts5(usize),
    /// One tantivy query over this many memories.
    Tantivy(usize),
    /// One cold recall over this many memories.
    Recall(usize),
    /// The same search over a line store of this size with made-up vectors, through `rekindle bench query`.
    /// Neither people nor hooks run it, so no target applies to it.
    Query(usize),
}

impl MeasuredProgram {
    /// The number of memories, if the program reads any.
    pub fn size(self) -> Option<usize> {
        match self {
            Self::Empty => None,
            Self::Fts5(size) | Self::Tantivy(size) | Self::Recall(size) | Self::Query(size) => Some(size),
        }
    }

    /// The name without the size.
    pub fn name(self) -> &'static str {
        match self {
            Self::Empty => "empty program",
            Self::Fts5(_) => "FTS5",
            Self::Tantivy(_) => "tantivy",
            Self::Recall(_) => "rekindle recall",
            Self::Query(_) => "bench query, made-up vectors",
        }
    }
}

impl fmt::Display for MeasuredProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.size() {
            Some(size) => write!(f, "{} at {}", self.name(), thousands(size)),
            None => f.write_str(self.name()),
        }
    }
}

/// Runs one FTS5 query with the words of a prompt.
pub fn fts5_query(database: &Path, folder: &Path, words: &str) -> ProgramRun {
    ProgramRun::new(sibling("fts5"), folder).arg("query").arg(database).arg(words)
}

/// Builds the FTS5 table.
pub fn fts5_build(lines: &Path, database: &Path, folder: &Path) -> ProgramRun {
    ProgramRun::new(sibling("fts5"), folder).arg("build").arg(database).input(lines)
}

/// Runs one tantivy query with the words of a prompt.
pub fn tantivy_query(index: &Path, folder: &Path, words: &str) -> ProgramRun {
    ProgramRun::new(sibling("tantivy_bm25"), folder).arg("query").arg(index).arg(words)
}

/// Builds the tantivy index.
pub fn tantivy_build(lines: &Path, index: &Path, folder: &Path) -> ProgramRun {
    ProgramRun::new(sibling("tantivy_bm25"), folder).arg("build").arg(index).input(lines)
}

/// Runs the program that generates memories.
pub fn corpus(folder: &Path, seed: u64) -> ProgramRun {
    ProgramRun::new(sibling("corpus"), folder).args(&["--seed", &seed.to_string()])
}

/// Fills the missing vectors of an index with pseudo-random ones.
pub fn synthetic_fill(index: &Path, folder: &Path) -> ProgramRun {
    ProgramRun::new(sibling("synthetic_vectors"), folder).arg("index").arg(index)
}

/// Ingests lines into a store, with pseudo-random vectors.
pub fn synthetic_ingest(store: &Path, lines: &Path, folder: &Path) -> ProgramRun {
    ProgramRun::new(sibling("synthetic_vectors"), folder).arg("ingest").arg(store).input(lines)
}

/// Returns the path of a program built beside this one.
fn sibling(name: &str) -> std::path::PathBuf {
    std::env::current_exe().map_or_else(|_| name.into(), |me| me.with_file_name(name))
}

/// Formats a number with thousands separators: `20000` as `20,000`.
pub fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_commas() {
        assert_eq!(
            [7, 999, 1000, 20_000, 1_000_000].map(thousands),
            ["7", "999", "1,000", "20,000", "1,000,000"]
        );
    }
}
