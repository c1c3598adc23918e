//! The locations of each host's transcripts.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use rekindle_core::base::agent::Agent;
use rekindle_core::base::time::Timestamp;

use super::TranscriptFile;

/// The maximum number of transcripts per agent.
const MAX_TRANSCRIPTS: usize = 1_000_000;

/// One step of the search: a folder, or the matching files.
enum PathStep {
    /// The folder with this name.
    Into(&'static str),
    /// All folders at this level.
    Each,
    /// The files with this prefix and one of these suffixes.
    Files(&'static str, &'static [&'static str]),
}

use PathStep::{Each, Files, Into};

const JSONL_EXTENSIONS: &[&str] = &[".jsonl"];

fn path_patterns(agent: Agent) -> &'static [&'static [PathStep]] {
    match agent {
        // Transcripts of sub-agents are in separate folders, or begin with `agent-` in older versions.
        Agent::Claude => &[&[Into(".claude"), Into("projects"), Each, Files("", JSONL_EXTENSIONS)]],
        Agent::Codex => &[
            &[Into(".codex"), Into("sessions"), Each, Each, Each, Files("rollout-", JSONL_EXTENSIONS)],
            &[Into(".codex"), Into("archived_sessions"), Files("rollout-", JSONL_EXTENSIONS)],
        ],
        Agent::Gemini => {
            &[&[Into(".gemini"), Into("tmp"), Each, Into("chats"), Files("session-", &[".jsonl", ".json"])]]
        }
        Agent::Pi => &[&[Into(".pi"), Into("agent"), Into("sessions"), Each, Files("", JSONL_EXTENSIONS)]],
    }
}

/// The search behind [`super::find`].
pub(super) fn find(agent: Agent, home: &Path) -> Vec<TranscriptFile> {
    let mut found = Vec::new();
    for steps in path_patterns(agent) {
        collect_files(agent, home, steps, &mut found);
    }
    if agent == Agent::Codex {
        without_reverted(&mut found);
    }
    // A session resumed in the newer format exists in both formats.
    let newer: Vec<PathBuf> =
        found.iter().map(|one| one.path.clone()).filter(|path| has_end(path, ".jsonl")).collect();
    found.retain(|one| {
        has_end(&one.path, ".jsonl") || newer.binary_search(&one.path.with_extension("jsonl")).is_err()
    });
    found.sort_by(|a, b| a.modified.cmp(&b.modified).then_with(|| a.path.cmp(&b.path)));
    found
}

/// Drops reverted parts. After a revert Codex continues in a new file,
/// `rollout-<time>-<session>_<part>.jsonl`; only the newest has the session's current state, and it leads to
/// the valid parts of the older ones.
fn without_reverted(found: &mut Vec<TranscriptFile>) {
    let named = |one: &TranscriptFile| {
        let name = one.path.file_stem()?.to_str()?;
        let (time, rest) = name.strip_prefix("rollout-")?.split_at_checked(TIMESTAMP_CHARS)?;
        let rest = rest.strip_prefix('-')?;
        let (session, part) = rest.split_once('_').unwrap_or((rest, ""));
        Some((session.to_owned(), time.to_owned(), part.to_owned()))
    };
    let mut newest: HashMap<String, (String, String)> = HashMap::new();
    for (session, time, part) in found.iter().filter_map(named) {
        let known = newest.entry(session).or_default();
        *known = std::mem::take(known).max((time, part));
    }
    found.retain(|one| {
        named(one).is_none_or(|(session, time, part)| newest.get(&session) == Some(&(time, part)))
    });
}

/// The length of `2026-11-15T09-12-57`.
const TIMESTAMP_CHARS: usize = 19;

/// A transcript of the same host whose name ends in `end`: beside `path`, or in the folder of another day.
pub(super) fn find_sibling(path: &Path, end: &str) -> Option<PathBuf> {
    let beside = |folder: &Path| {
        let entries = std::fs::read_dir(folder).ok()?.flatten();
        entries.map(|entry| entry.path()).find(|path| has_end(path, end))
    };
    let folder = path.parent()?;
    beside(folder).or_else(|| {
        let sessions =
            folder.ancestors().find(|above| above.file_name().is_some_and(|name| name == "sessions"))?;
        let mut folders = vec![sessions.to_owned()];
        while let Some(folder) = folders.pop() {
            if let Some(found) = beside(&folder) {
                return Some(found);
            }
            let Ok(entries) = std::fs::read_dir(&folder) else { continue };
            let inner = entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
            folders.extend(inner.map(|entry| entry.path()));
        }
        None
    })
}

fn has_end(path: &Path, end: &str) -> bool {
    path.to_str().is_some_and(|path| path.ends_with(end))
}

fn collect_files(agent: Agent, folder: &Path, steps: &[PathStep], found: &mut Vec<TranscriptFile>) {
    let Some((step, rest)) = steps.split_first() else { return };
    if let Into(name) = step {
        return collect_files(agent, &folder.join(name), rest, found);
    }
    // An unreadable folder counts as empty.
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut entries: Vec<_> = entries.flatten().collect();
    entries.sort_by_key(std::fs::DirEntry::path);
    for entry in entries {
        let (Ok(kind), Some(name)) = (entry.file_type(), entry.file_name().to_str().map(str::to_owned))
        else {
            continue;
        };
        match step {
            Each if kind.is_dir() => collect_files(agent, &entry.path(), rest, found),
            Files(begin, ends) if kind.is_file() => {
                let ours = name.starts_with(begin) && ends.iter().any(|end| name.ends_with(end));
                if !ours || name.starts_with("agent-") || found.len() >= MAX_TRANSCRIPTS {
                    continue;
                }
                let Ok(data) = entry.metadata() else { continue };
                let modified = data.modified().ok().and_then(|at| Timestamp::try_from(at).ok());
                found.push(TranscriptFile { agent, path: entry.path(), size: data.len(), modified });
            }
            _ => {}
        }
    }
}
