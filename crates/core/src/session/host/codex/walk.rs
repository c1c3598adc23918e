//! Selects the records of a Codex session that were not rolled back.

use super::{CodexEvent, CodexItem, parse, user_text};
use crate::session::host::{BranchVerdict, BranchWalk};

/// The backwards walk over a Codex session.
#[derive(Default)]
pub struct CodexWalk {
    /// The number of turns still to skip.
    back: u64,
    /// The rollback that is being applied.
    rollback: Option<PendingRollback>,
    /// True if further rollbacks are ignored.
    ignored: bool,
}

/// A rollback whose turns have not all been found yet.
struct PendingRollback {
    /// The offset of its record.
    at: u64,
    /// The number of turns to roll back.
    turns: u64,
    /// The maximum number of turns before it, including those whose text is unknown.
    possible: u64,
}

impl CodexWalk {
    fn roll_back(&mut self, at: u64, turns: u64) {
        if self.ignored {
            return;
        }
        if self.back == 0 {
            self.rollback = Some(PendingRollback { at, turns, possible: 0 });
        }
        self.back = self.back.saturating_add(turns);
    }

    fn possible_turn(&mut self) {
        if let Some(rollback) = self.rollback.as_mut().filter(|_| self.back > 0) {
            rollback.possible += 1;
        }
    }
}

impl BranchWalk for CodexWalk {
    fn visit_line(&mut self, at: u64, line: &[u8]) -> BranchVerdict {
        let Some(record) = parse(line) else { return BranchVerdict::Kept };
        match record.kind.as_deref() {
            Some("event_msg") => {
                let event: Option<CodexEvent> = record.payload();
                match event.as_ref().map(|event| event.kind.as_str()) {
                    Some("thread_rolled_back") => {
                        self.roll_back(at, event.and_then(|event| event.num_turns).unwrap_or(1));
                    }
                    Some("task_started") => self.possible_turn(),
                    _ => {}
                }
                BranchVerdict::Kept
            }
            Some("response_item" | "compacted") if self.back > 0 => {
                let item: Option<CodexItem> = record.payload();
                let prompt = item
                    .filter(|item| item.kind == "message" && item.role.as_deref() == Some("user"))
                    .map(|item| (item.about.map(|about| about.content_item_kinds), item.content));
                if let Some((kinds, content)) = prompt {
                    self.possible_turn();
                    if !user_text(content, &kinds.unwrap_or_default(), false).is_empty() {
                        self.back -= 1;
                    }
                }
                BranchVerdict::Left
            }
            _ => BranchVerdict::Kept,
        }
    }

    fn missing_parent(&self) -> Option<u64> {
        let rollback = self.rollback.as_ref().filter(|_| self.back > 0)?;
        (rollback.turns > rollback.possible).then_some(rollback.at)
    }

    fn bridge_gap(&mut self, all: bool) {
        // It rolls back more turns than ever existed, so ignore it.
        (self.back, self.rollback) = (0, None);
        self.ignored |= all;
    }
}
