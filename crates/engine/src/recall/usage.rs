//! Which memories helped and which misled (REC-08): a line for every word about one, in `state/usage.jsonl`.

use std::collections::HashMap;
use std::io;
use std::path::Path;

use rekindle_core::time::{Timestamp, iso};
use serde::{Deserialize, Serialize};

use crate::disk::Lines;

/// What was said about a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Signal {
    /// It helped.
    Good,
    /// It misled.
    Wrong,
    /// It is outdated.
    Stale,
}

impl Signal {
    /// What it adds to a memory's strength.
    fn worth(self) -> f32 {
        match self {
            Self::Good => 0.2,
            Self::Wrong => -0.4,
            Self::Stale => -0.2,
        }
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct Line {
    at: String,
    id: String,
    signal: Signal,
}

/// The strength of every memory that anything was said about.
#[derive(Clone, Debug, Default)]
pub struct Usage {
    strengths: HashMap<String, f32>,
}

/// How often memories were said to be of use, or of none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Said {
    /// They helped.
    pub good: usize,
    /// They misled.
    pub wrong: usize,
    /// They were outdated.
    pub stale: usize,
}

impl Usage {
    /// Reads what was said. A line that cannot be read is passed over.
    pub fn read(path: &Path) -> Self {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let mut usage = Self::default();
        for line in text.lines().filter_map(|line| serde_json::from_str::<Line>(line).ok()) {
            let strength = usage.strengths.entry(line.id).or_insert(0.0);
            *strength = (*strength + line.signal.worth()).clamp(-1.0, 1.0);
        }
        usage
    }

    /// How often each thing was said, about whatever memory.
    pub fn said(path: &Path) -> Said {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let mut said = Said::default();
        for line in text.lines().filter_map(|line| serde_json::from_str::<Line>(line).ok()) {
            *match line.signal {
                Signal::Good => &mut said.good,
                Signal::Wrong => &mut said.wrong,
                Signal::Stale => &mut said.stale,
            } += 1;
        }
        said
    }

    /// Between -1 (misled) and 1 (helped).
    pub fn strength(&self, id: &str) -> f32 {
        self.strengths.get(id).copied().unwrap_or(0.0)
    }

    /// Adds a word about a memory.
    pub fn record(path: &Path, id: &str, signal: Signal, at: Timestamp) -> io::Result<()> {
        let line = Line { at: iso(at), id: id.to_owned(), signal };
        let text = serde_json::to_string(&line)?;
        Lines::open(path)?.append(&format!("{text}\n"), true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rec_08_words_about_a_memory_add_up_and_stay_in_bounds() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("usage.jsonl");
        assert_eq!(Usage::read(&path).strength("m"), 0.0);
        for _ in 0..9 {
            Usage::record(&path, "m", Signal::Good, Timestamp::UNIX_EPOCH).unwrap();
        }
        Usage::record(&path, "n", Signal::Wrong, Timestamp::UNIX_EPOCH).unwrap();
        let usage = Usage::read(&path);
        assert_eq!(usage.strength("m"), 1.0);
        assert!(usage.strength("n") < 0.0);
        assert_eq!(Usage::said(&path), Said { good: 9, wrong: 1, stale: 0 });
    }
}
