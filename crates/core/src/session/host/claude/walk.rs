//! Selects the entries on the current branch of a Claude Code session.

use std::collections::{BTreeSet, VecDeque};

use serde::Deserialize;

use super::{MAX_PENDING_ENTRIES, parse};
use crate::session::host::branch_chain::BranchChain;
use crate::session::host::content::MessageContent;
use crate::session::host::recent_ids::RecentIds;
use crate::session::host::{BranchVerdict, BranchWalk};

/// The backwards walk over a Claude Code session.
#[derive(Default)]
pub struct ClaudeWalk {
    chain: BranchChain,
    /// Host versions that mark the source of prompts.
    marking: BTreeSet<String>,
    pending: VecDeque<PendingEntry>,
    /// Model answers with at least one block on the branch.
    answers: RecentIds,
}

/// An entry off the chain that may belong to an answer on it.
struct PendingEntry {
    at: u64,
    answer: Option<String>,
    calls: Vec<String>,
    results: Vec<String>,
}

/// Only the fields that say to which answer an entry belongs.
#[derive(Deserialize)]
struct MessageIds {
    id: Option<String>,
    content: MessageContent<IdOnlyBlock>,
}

#[derive(Deserialize)]
struct IdOnlyBlock {
    #[serde(rename = "type")]
    kind: Option<String>,
    id: Option<String>,
    tool_use_id: Option<String>,
}

impl ClaudeWalk {
    /// Releases entries that waited for the answer `answer`, or for one of `calls`.
    fn free(&mut self, answer: Option<&str>, calls: Vec<String>) -> Vec<u64> {
        let mut freed = Vec::new();
        let mut calls = calls;
        if let Some(answer) = answer {
            self.answers.insert(answer);
            self.pending.retain_mut(|pending| {
                let same = pending.answer.as_deref() == Some(answer);
                if same {
                    freed.push(pending.at);
                    calls.append(&mut pending.calls);
                }
                !same
            });
        }
        if !calls.is_empty() {
            self.pending.retain(|pending| {
                let answers = pending.results.iter().any(|result| calls.contains(result));
                if answers {
                    freed.push(pending.at);
                }
                !answers
            });
        }
        freed
    }
}

impl BranchWalk for ClaudeWalk {
    fn visit_line(&mut self, at: u64, line: &[u8]) -> BranchVerdict {
        let Some(entry) = parse(line) else { return BranchVerdict::Kept };
        let kind = entry.kind.as_deref();
        if kind == Some("user")
            && entry.is_prompt_mark()
            && let Some(version) = &entry.version
            && !self.marking.contains(version)
        {
            self.marking.insert(version.clone());
        }
        if kind == Some("last-prompt")
            && let Some(leaf) = entry.leaf_uuid
            && (entry.explicit || entry.rewound)
        {
            self.chain.start_at(at, leaf);
            return BranchVerdict::Kept;
        }
        let (Some(uuid), false) = (entry.uuid, entry.is_sidechain) else { return BranchVerdict::Kept };
        let is_message = matches!(kind, Some("user" | "assistant"));
        let ids = entry
            .message
            .filter(|_| is_message)
            .and_then(|raw| serde_json::from_str::<MessageIds>(raw.get()).ok());
        // A message of unknown shape proves nothing about what was taken back.
        let whole = !is_message || ids.is_some();
        let parent = entry.parent_uuid.as_ref().and_then(Option::as_deref);
        let parent = parent.or(entry.logical_parent_uuid.as_deref());
        let taken = self.chain.is_on_branch(at, &uuid, parent, is_message && whole);
        if taken && parent.is_none() && (entry.parent_uuid.is_none() || !whole) {
            // The entry has no parent and is not marked as the first, so its predecessor counts as its
            // parent.
            self.chain.bridge_gap(false);
        }
        let Some(ids) = ids else { return BranchVerdict::Kept };
        let blocks = match ids.content {
            MessageContent::Parts(blocks) => blocks,
            MessageContent::Text(_) => Vec::new(),
        };
        let answer = ids.id.filter(|_| kind == Some("assistant"));
        let (mut calls, mut results) = (Vec::new(), Vec::new());
        for block in blocks {
            match block.kind.as_deref() {
                Some("tool_use") => calls.extend(block.id),
                Some("tool_result") => results.extend(block.tool_use_id),
                _ => {}
            }
        }
        if taken || answer.as_deref().is_some_and(|answer| self.answers.contains(answer)) {
            let freed = self.free(answer.as_deref(), calls);
            return if freed.is_empty() { BranchVerdict::Kept } else { BranchVerdict::KeptWith(freed) };
        }
        if answer.is_some() || !results.is_empty() {
            if self.pending.len() == MAX_PENDING_ENTRIES {
                self.pending.pop_front();
            }
            self.pending.push_back(PendingEntry { at, answer, calls, results });
        }
        BranchVerdict::Left
    }

    fn missing_parent(&self) -> Option<u64> {
        self.chain.missing_parent()
    }

    fn bridge_gap(&mut self, all: bool) {
        self.chain.bridge_gap(all);
    }

    fn marking(&self) -> BTreeSet<String> {
        self.marking.clone()
    }
}
