//! Writes a corpus: `memories.jsonl` and `questions.jsonl` for every program, and a vault of notes for
//! Rekindle.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use serde_json::json;

use super::memory::TextGenerator;
use super::note::{GeneratedNote, id, iso};
use super::question::question;

/// The version of generated texts. Increase it when the same seed gives other texts, so that cached corpora
/// are rebuilt.
pub const CORPUS_VERSION: u64 = 1;
/// The number of questions in a corpus.
pub const QUESTION_COUNT: usize = 200;
/// The number of memories generated and written at a time; it bounds the memory in use.
const BLOCK_MEMORIES: usize = 4096;

/// Writes `count` memories as JSON lines.
pub fn lines(seed: u64, count: usize, to: &Path) -> io::Result<()> {
    let voice = TextGenerator::default();
    let mut file = BufWriter::with_capacity(1 << 20, File::create(to)?);
    for start in (0..count).step_by(BLOCK_MEMORIES) {
        let end = (start + BLOCK_MEMORIES).min(count);
        for part in in_parallel(start..end, &|range| {
            let mut text = String::new();
            for index in range {
                text.push_str(&GeneratedNote::of(&voice.memory(seed, index), seed).line());
                text.push('\n');
            }
            Ok(text)
        })? {
            file.write_all(part.as_bytes())?;
        }
    }
    file.flush()
}

/// Writes the questions as JSON lines, each with the id of its memory.
pub fn questions(seed: u64, to: &Path) -> io::Result<()> {
    let voice = TextGenerator::default();
    let mut file = BufWriter::new(File::create(to)?);
    for number in 0..QUESTION_COUNT {
        let question = question(&voice, seed, number);
        let now = iso(1_793_610_000);
        let line = json!({
            "ns": "bench", "qid": format!("q-{number}"), "ts": now, "kind": question.kind,
            "gold": id(seed, question.gold), "query": question.text
        });
        writeln!(file, "{line}")?;
    }
    file.flush()
}

/// Writes `count` memories as notes into the vault at `folder`, the parent of the group folders.
pub fn vault(seed: u64, count: usize, folder: &Path) -> io::Result<()> {
    let voice = TextGenerator::default();
    in_parallel(0..count, &|range| {
        let mut made = HashSet::new();
        for index in range {
            let memory = voice.memory(seed, index);
            let note = GeneratedNote::of(&memory, seed);
            let path = folder.join(note.path());
            if let Some(parent) = path.parent()
                && made.insert(parent.to_owned())
            {
                fs::create_dir_all(parent)?;
            }
            fs::write(path, note.render())?;
        }
        Ok(())
    })?;
    Ok(())
}

/// Splits a range among one thread per processor and returns the results in order.
fn in_parallel<T: Send>(
    range: std::ops::Range<usize>,
    work: &(dyn Fn(std::ops::Range<usize>) -> io::Result<T> + Sync),
) -> io::Result<Vec<T>> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let share = range.len().div_ceil(threads).max(1);
    let starts: Vec<usize> = range.clone().step_by(share).collect();
    std::thread::scope(|scope| {
        let parts: Vec<_> = starts
            .into_iter()
            .map(|start| {
                let part = start..(start + share).min(range.end);
                scope.spawn(move || work(part))
            })
            .collect();
        parts
            .into_iter()
            .map(|part| part.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_corpus_is_the_beginning_of_a_large_one() {
        let folder = std::env::temp_dir().join(format!("rekindle-bench-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        lines(7, 100, &folder.join("small")).unwrap();
        lines(7, BLOCK_MEMORIES + 100, &folder.join("large")).unwrap();
        let (small, large) = (
            fs::read_to_string(folder.join("small")).unwrap(),
            fs::read_to_string(folder.join("large")).unwrap(),
        );
        assert_eq!((small.lines().count(), large.lines().count()), (100, BLOCK_MEMORIES + 100));
        assert!(large.starts_with(&small));
        vault(7, 100, &folder.join("vault")).unwrap();
        fs::remove_dir_all(folder).unwrap();
    }
}
