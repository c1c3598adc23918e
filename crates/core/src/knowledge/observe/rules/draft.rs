//! Drafts: findings that refer to messages by index.

use super::session_view::SessionView;
use crate::base::provenance::Origin;
use crate::base::provenance::StatementStrength;
use crate::base::sentiment::Sentiment;
use crate::knowledge::observe::{Finding, FindingKind};
use crate::text::normalise::normalise;
use crate::text::phrases::{self, line};
use crate::vault::priority::Priority;

/// The maximum number of messages that a finding cites.
const MAX_MESSAGES: usize = 8;

/// The maximum length of the text of a commit, a pull request or an issue, in characters: its author wrote
/// down the reasons.
pub(super) const MAX_COMMIT_CHARS: usize = 600;

/// A finding under construction.
#[derive(Clone, Debug)]
pub(super) struct FindingDraft {
    pub kind: FindingKind,
    pub priority: Priority,
    pub strength: StatementStrength,
    pub sentiment: Option<Sentiment>,
    pub origin: Origin,
    pub everywhere: bool,
    pub perhaps_everywhere: bool,
    pub ends: bool,
    /// The topic that the text refers to.
    pub topic: Option<String>,
    pub text: String,
    /// The message that determines its date.
    pub at: usize,
    /// The supporting messages, including `at`.
    pub messages: Vec<usize>,
}

impl FindingDraft {
    /// A draft about the agent's actions, derived from the course of the session.
    pub(super) fn of_agent(kind: FindingKind, at: usize, text: String) -> Self {
        Self {
            kind,
            priority: Priority::Medium,
            strength: StatementStrength::Inferred,
            sentiment: None,
            origin: Origin::Agent,
            everywhere: false,
            perhaps_everywhere: false,
            ends: false,
            topic: None,
            text,
            at,
            messages: vec![at],
        }
    }

    /// The same draft with less trust, because the words may be quoted: the user is asked, and it holds at
    /// most in this project.
    pub(super) fn made_uncertain(self) -> Self {
        Self {
            strength: self.strength.min(StatementStrength::Implied),
            everywhere: false,
            perhaps_everywhere: false,
            ..self
        }
    }

    pub(super) fn finding_in(&self, view: &SessionView<'_>) -> Finding {
        let mut messages = self.messages.clone();
        messages.push(self.at);
        Finding {
            kind: self.kind,
            priority: self.priority,
            when: view.message_time(self.at),
            text: line(
                &self.text,
                if self.kind == FindingKind::Commit { MAX_COMMIT_CHARS } else { phrases::MAX_FINDING_CHARS },
            ),
            origin: self.origin,
            strength: self.strength,
            everywhere: self.everywhere,
            perhaps_everywhere: self.perhaps_everywhere && !self.everywhere,
            ends: self.ends,
            sentiment: self.sentiment,
            gate: None,
            messages: view.message_ids(&messages, MAX_MESSAGES),
        }
    }

    /// The rank of a draft if there are too many.
    fn sort_key(&self) -> (Priority, StatementStrength, u8) {
        let kind = match self.kind {
            FindingKind::Rule | FindingKind::Correction => 5,
            FindingKind::Decision | FindingKind::Preference | FindingKind::Convention | FindingKind::Fact => {
                4
            }
            FindingKind::Fix | FindingKind::Commit => 3,
            FindingKind::Change | FindingKind::Work => 2,
            FindingKind::Files | FindingKind::Workflow | FindingKind::Idea => 1,
            FindingKind::Question | FindingKind::Other => 0,
        };
        (self.priority, self.strength, kind)
    }
}

/// Merges duplicates into the strongest form, with the messages of both.
pub(super) fn deduplicate(drafts: Vec<FindingDraft>) -> Vec<FindingDraft> {
    let mut kept: Vec<(String, FindingDraft)> = Vec::new();
    for draft in drafts {
        let key = normalise(&draft.text);
        // A part counts as duplicate only within the same kind: a purpose quotes the decision.
        let within = |one: &str, other: &str| one.len() > 24 && other.contains(one);
        let same = |(other, known): &&mut (String, FindingDraft)| {
            *other == key || known.kind == draft.kind && (within(&key, other) || within(other, &key))
        };
        match kept.iter_mut().find(same) {
            // Only duplicates of the same origin add support: tool output never becomes the user's word.
            Some((_, known)) if known.origin == draft.origin => {
                if draft.sort_key() > known.sort_key() {
                    known.kind = draft.kind;
                    known.priority = draft.priority;
                    known.strength = draft.strength;
                }
                known.sentiment = known.sentiment.or(draft.sentiment);
                known.messages.extend(draft.messages);
            }
            Some(_) => {}
            None => kept.push((key, draft)),
        }
    }
    kept.into_iter().map(|(_, draft)| draft).collect()
}

/// The best `most` drafts, in the order of the session.
pub(super) fn best_drafts(mut drafts: Vec<FindingDraft>, most: usize) -> Vec<FindingDraft> {
    drafts.sort_by_key(|draft| std::cmp::Reverse(draft.sort_key()));
    drafts.truncate(most);
    drafts.sort_by_key(|draft| draft.at);
    drafts
}
