//! Where each host keeps its transcripts.

use std::path::{Path, PathBuf};

use rekindle_core::agent::Agent;
use rekindle_core::time::Timestamp;

use super::Found;

/// Nobody held more sessions with one agent.
const MOST: usize = 1_000_000;

/// One step down: a folder, or the files that count.
enum Step {
    /// This folder.
    Into(&'static str),
    /// Every folder.
    Each,
    /// The files with these beginnings and ends.
    Files(&'static str, &'static [&'static str]),
}

use Step::{Each, Files, Into};

const JSONL: &[&str] = &[".jsonl"];

fn places(agent: Agent) -> &'static [&'static [Step]] {
    match agent {
        // Those of sub-agents are in folders of their own, or begin with `agent-` in older versions.
        Agent::Claude => &[&[Into(".claude"), Into("projects"), Each, Files("", JSONL)]],
        Agent::Codex => &[
            &[Into(".codex"), Into("sessions"), Each, Each, Each, Files("rollout-", JSONL)],
            &[Into(".codex"), Into("archived_sessions"), Files("rollout-", JSONL)],
        ],
        Agent::Gemini => {
            &[&[Into(".gemini"), Into("tmp"), Each, Into("chats"), Files("session-", &[".jsonl", ".json"])]]
        }
        Agent::Pi => &[&[Into(".pi"), Into("agent"), Into("sessions"), Each, Files("", JSONL)]],
    }
}

/// See [`super::find`].
pub(super) fn find(agent: Agent, home: &Path) -> Vec<Found> {
    let mut found = Vec::new();
    for steps in places(agent) {
        descend(agent, home, steps, &mut found);
    }
    // A session that was taken up again in the newer format is there in both.
    let newer: Vec<PathBuf> =
        found.iter().map(|one| one.path.clone()).filter(|path| has_end(path, ".jsonl")).collect();
    found.retain(|one| {
        has_end(&one.path, ".jsonl") || newer.binary_search(&one.path.with_extension("jsonl")).is_err()
    });
    found.sort_by(|a, b| a.modified.cmp(&b.modified).then_with(|| a.path.cmp(&b.path)));
    found
}

fn has_end(path: &Path, end: &str) -> bool {
    path.to_str().is_some_and(|path| path.ends_with(end))
}

fn descend(agent: Agent, folder: &Path, steps: &[Step], found: &mut Vec<Found>) {
    let Some((step, rest)) = steps.split_first() else { return };
    if let Into(name) = step {
        return descend(agent, &folder.join(name), rest, found);
    }
    // What cannot be looked into holds nothing that could be read.
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut entries: Vec<_> = entries.flatten().collect();
    entries.sort_by_key(std::fs::DirEntry::path);
    for entry in entries {
        let (Ok(kind), Some(name)) = (entry.file_type(), entry.file_name().to_str().map(str::to_owned))
        else {
            continue;
        };
        match step {
            Each if kind.is_dir() => descend(agent, &entry.path(), rest, found),
            Files(begin, ends) if kind.is_file() => {
                let ours = name.starts_with(begin) && ends.iter().any(|end| name.ends_with(end));
                if !ours || name.starts_with("agent-") || found.len() >= MOST {
                    continue;
                }
                let Ok(data) = entry.metadata() else { continue };
                let modified = data.modified().ok().and_then(|at| Timestamp::try_from(at).ok());
                found.push(Found { agent, path: entry.path(), size: data.len(), modified });
            }
            _ => {}
        }
    }
}
