//! Candidates for memories, and their destinations.

use serde::{Deserialize, Serialize};

use crate::base::provenance::Origin;
use crate::base::provenance::StatementStrength;
use crate::base::sentiment::Sentiment;
use crate::knowledge::observe::{Finding, FindingKind, ObservedSession};
use crate::knowledge::proposal::title;
use crate::vault::entry::Confidence;

/// The three categories of candidates (SID-03).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MemoryCategory {
    /// The user's preferences, corrections and decisions.
    Preference,
    /// A problem, its cause and its solution.
    Fix,
    /// A procedure that worked.
    Workflow,
}

impl MemoryCategory {
    /// All categories, in order.
    pub const ALL: [Self; 3] = [Self::Preference, Self::Fix, Self::Workflow];

    /// The category's word; also the kind of an entry.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Preference => "preference",
            Self::Fix => "fix",
            Self::Workflow => "workflow",
        }
    }
}

/// A candidate for a memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MemoryCandidate {
    /// The category of the candidate.
    pub category: MemoryCategory,
    /// The kind of the finding.
    pub kind: FindingKind,
    /// A short title of the memory.
    pub title: String,
    /// The text to remember.
    pub text: String,
    /// The origin of the words.
    pub origin: Origin,
    /// The confidence in it.
    pub confidence: Confidence,
    /// True if it concerns the user or all of their work, not only this project.
    #[serde(default)]
    pub everywhere: bool,
    /// True if that is possible, and the user is asked.
    #[serde(default)]
    pub perhaps_everywhere: bool,
    /// True if it says that something no longer holds.
    #[serde(default)]
    pub ends: bool,
    /// The user's sentiment (FBK-07).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sentiment: Option<Sentiment>,
    /// The ids of the supporting messages.
    pub messages: Vec<String>,
}

impl MemoryCandidate {
    /// The kind folder of the resulting entry.
    pub fn entry_kind(&self) -> &'static str {
        match self.kind {
            FindingKind::Decision => "decision",
            FindingKind::Rule => "rule",
            FindingKind::Convention => "convention",
            FindingKind::Fact => "fact",
            _ => self.category.as_str(),
        }
    }

    /// True if it gives agents an instruction rather than a fact.
    pub fn is_instruction(&self) -> bool {
        matches!(
            self.kind,
            FindingKind::Rule
                | FindingKind::Preference
                | FindingKind::Convention
                | FindingKind::Correction
                | FindingKind::Workflow
        )
    }

    /// The section of `MEMORY.md` for it (REF-09); `user` names the user's own section.
    pub fn section<'a>(&self, user: &'a str) -> &'a str {
        match (self.category, self.kind) {
            // A hard rule comes from the user, never from tool output.
            (_, FindingKind::Rule) if self.origin == Origin::User => "Hard Rules",
            (_, FindingKind::Correction) if self.origin == Origin::User => "Lessons",
            (
                _,
                FindingKind::Decision | FindingKind::Change | FindingKind::Convention | FindingKind::Fact,
            ) => "System Architecture",
            (MemoryCategory::Preference, _) => user,
            (MemoryCategory::Fix | MemoryCategory::Workflow, _) => "Patterns",
        }
    }
}

/// The minimum strengths of explicit and inferred candidates (SID-07).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CandidateThresholds {
    /// The minimum strength of an explicit statement.
    pub high: f64,
    /// The minimum strength of an inferred statement.
    pub medium: f64,
}

impl CandidateThresholds {
    /// The confidence for a strength and an origin. Only the user's own words are ever more than inferred.
    pub fn confidence(self, strength: StatementStrength, origin: Origin) -> Confidence {
        let value = strength.value();
        match origin {
            Origin::User if value >= self.high => Confidence::High,
            Origin::User if value >= self.medium => Confidence::Medium,
            _ => Confidence::Low,
        }
    }
}

/// The candidates among the observed findings.
pub fn candidates(observed: &ObservedSession, thresholds: CandidateThresholds) -> Vec<MemoryCandidate> {
    observed.findings().filter_map(|finding| candidate(finding, thresholds)).collect()
}

/// The candidate made from a finding, if any.
pub fn candidate(finding: &Finding, thresholds: CandidateThresholds) -> Option<MemoryCandidate> {
    let category = match finding.kind {
        FindingKind::Rule
        | FindingKind::Preference
        | FindingKind::Correction
        | FindingKind::Decision
        | FindingKind::Convention
        | FindingKind::Fact => MemoryCategory::Preference,
        FindingKind::Fix => MemoryCategory::Fix,
        FindingKind::Workflow => MemoryCategory::Workflow,
        FindingKind::Change
        | FindingKind::Files
        | FindingKind::Question
        | FindingKind::Idea
        | FindingKind::Work
        | FindingKind::Commit
        | FindingKind::Other => return None,
    };
    // Tool output is never a preference (B-01).
    if category == MemoryCategory::Preference && finding.origin != Origin::User {
        return None;
    }
    Some(MemoryCandidate {
        category,
        kind: finding.kind,
        title: title(&finding.text),
        text: finding.text.clone(),
        origin: finding.origin,
        confidence: thresholds.confidence(finding.strength, finding.origin),
        everywhere: finding.everywhere,
        perhaps_everywhere: finding.perhaps_everywhere,
        ends: finding.ends,
        sentiment: finding.sentiment,
        messages: finding.messages.clone(),
    })
}

/// An idea for later.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MinedIdea {
    /// A short title of the idea.
    pub title: String,
    /// A summary of at most two sentences.
    pub summary: String,
    /// The origin of the idea.
    pub origin: Origin,
    /// The ids of the supporting messages.
    pub messages: Vec<String>,
}

/// The ideas among the observations; all surface (IDEA-01), except those found only in tool output.
pub fn ideas(observed: &ObservedSession) -> Vec<MinedIdea> {
    let ideas = observed
        .findings()
        .filter(|finding| finding.kind == FindingKind::Idea && finding.origin != Origin::Tool);
    ideas
        .map(|finding| MinedIdea {
            title: title(&finding.text),
            summary: finding.text.clone(),
            origin: finding.origin,
            messages: finding.messages.clone(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knowledge::observe::ObservedTopic;
    use crate::vault::priority::Priority;

    fn found(kind: FindingKind, strength: StatementStrength, origin: Origin) -> ObservedSession {
        let finding = Finding {
            kind,
            priority: Priority::High,
            when: None,
            text: "Never use sleep in tests".to_owned(),
            origin,
            strength,
            everywhere: false,
            perhaps_everywhere: false,
            ends: false,
            sentiment: None,
            gate: None,
            messages: vec!["m1".to_owned()],
        };
        ObservedSession {
            parts: vec![ObservedTopic { findings: vec![finding], ..ObservedTopic::default() }],
            ..ObservedSession::default()
        }
    }

    const USUAL: CandidateThresholds = CandidateThresholds { high: 0.9, medium: 0.7 };

    fn routed(kind: FindingKind, strength: StatementStrength, origin: Origin) -> Option<Confidence> {
        candidates(&found(kind, strength, origin), USUAL).first().map(|candidate| candidate.confidence)
    }

    #[test]
    fn sid_04_sid_05_sid_06_the_strength_of_a_statement_sets_its_confidence() {
        assert_eq!(
            routed(FindingKind::Rule, StatementStrength::Explicit, Origin::User),
            Some(Confidence::High)
        );
        assert_eq!(
            routed(FindingKind::Decision, StatementStrength::Implied, Origin::User),
            Some(Confidence::Medium)
        );
        assert_eq!(
            routed(FindingKind::Preference, StatementStrength::Inferred, Origin::User),
            Some(Confidence::Low)
        );
    }

    #[test]
    fn b_01_r_06_only_user_statements_exceed_low_confidence() {
        for origin in [Origin::Agent, Origin::Tool, Origin::Import] {
            assert_eq!(routed(FindingKind::Fix, StatementStrength::Explicit, origin), Some(Confidence::Low));
            assert_eq!(routed(FindingKind::Rule, StatementStrength::Explicit, origin), None);
        }
        assert_eq!(ideas(&found(FindingKind::Idea, StatementStrength::Explicit, Origin::Tool)), []);
        assert_eq!(ideas(&found(FindingKind::Idea, StatementStrength::Explicit, Origin::User)).len(), 1);
    }

    #[test]
    fn ref_09_each_has_its_section() {
        let section = |kind, origin| {
            let candidates = candidates(&found(kind, StatementStrength::Explicit, origin), USUAL);
            candidates[0].section("Ada").to_owned()
        };
        assert_eq!(section(FindingKind::Rule, Origin::User), "Hard Rules");
        assert_eq!(section(FindingKind::Preference, Origin::User), "Ada");
        assert_eq!(section(FindingKind::Correction, Origin::User), "Lessons", "FBK-05");
        assert_eq!(section(FindingKind::Decision, Origin::User), "System Architecture");
        assert_eq!(section(FindingKind::Fix, Origin::Agent), "Patterns");
    }

    #[test]
    fn fbk_07_a_candidate_keeps_the_sentiment() {
        let mut observed = found(FindingKind::Rule, StatementStrength::Explicit, Origin::User);
        observed.parts[0].findings[0].sentiment = Some(Sentiment::Frustrated);
        assert_eq!(candidates(&observed, USUAL)[0].sentiment, Some(Sentiment::Frustrated));
    }

    #[test]
    fn a_mere_event_is_no_memory() {
        for kind in [
            FindingKind::Files,
            FindingKind::Change,
            FindingKind::Question,
            FindingKind::Idea,
            FindingKind::Other,
        ] {
            assert_eq!(routed(kind, StatementStrength::Explicit, Origin::User), None);
        }
    }
}
