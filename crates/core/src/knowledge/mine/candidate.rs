//! Candidates for memories, and their destinations.

use serde::{Deserialize, Serialize};

use crate::base::provenance::Origin;
use crate::base::provenance::Strength;
use crate::base::sentiment::Sentiment;
use crate::knowledge::observe::{Finding, Kind, Observed};
use crate::knowledge::proposal::title;
use crate::vault::entry::Confidence;

/// The three categories of candidates (SID-03).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Category {
    /// The user's preferences, corrections and decisions.
    Preference,
    /// A problem, its cause and its solution.
    Fix,
    /// A procedure that worked.
    Workflow,
}

impl Category {
    /// All categories, in order.
    pub const ALL: [Self; 3] = [Self::Preference, Self::Fix, Self::Workflow];

    /// The category's word; also the kind of an entry.
    pub fn word(self) -> &'static str {
        match self {
            Self::Preference => "preference",
            Self::Fix => "fix",
            Self::Workflow => "workflow",
        }
    }
}

/// A candidate for a memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// The category of the candidate.
    pub category: Category,
    /// The kind of the finding.
    pub kind: Kind,
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

impl Candidate {
    /// The kind folder of the resulting entry.
    pub fn entry_kind(&self) -> &'static str {
        match self.kind {
            Kind::Decision => "decision",
            Kind::Rule => "rule",
            Kind::Convention => "convention",
            Kind::Fact => "fact",
            _ => self.category.word(),
        }
    }

    /// True if it gives agents an instruction rather than a fact.
    pub fn instructs(&self) -> bool {
        matches!(
            self.kind,
            Kind::Rule | Kind::Preference | Kind::Convention | Kind::Correction | Kind::Workflow
        )
    }

    /// The section of `MEMORY.md` for it (REF-09); `user` names the user's own section.
    pub fn section<'a>(&self, user: &'a str) -> &'a str {
        match (self.category, self.kind) {
            // A hard rule comes from the user, never from tool output.
            (_, Kind::Rule) if self.origin == Origin::User => "Hard Rules",
            (_, Kind::Correction) if self.origin == Origin::User => "Lessons",
            (_, Kind::Decision | Kind::Change | Kind::Convention | Kind::Fact) => "System Architecture",
            (Category::Preference, _) => user,
            (Category::Fix | Category::Workflow, _) => "Patterns",
        }
    }
}

/// The minimum strengths of explicit and inferred candidates (SID-07).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thresholds {
    /// The minimum strength of an explicit statement.
    pub high: f64,
    /// The minimum strength of an inferred statement.
    pub medium: f64,
}

impl Thresholds {
    /// The confidence for a strength and an origin. Only the user's own words are ever more than inferred.
    pub fn confidence(self, strength: Strength, origin: Origin) -> Confidence {
        let value = strength.value();
        match origin {
            Origin::User if value >= self.high => Confidence::High,
            Origin::User if value >= self.medium => Confidence::Medium,
            _ => Confidence::Low,
        }
    }
}

/// The candidates among the observed findings.
pub fn candidates(observed: &Observed, thresholds: Thresholds) -> Vec<Candidate> {
    observed.findings().filter_map(|finding| candidate(finding, thresholds)).collect()
}

/// The candidate made from a finding, if any.
pub fn candidate(finding: &Finding, thresholds: Thresholds) -> Option<Candidate> {
    let category = match finding.kind {
        Kind::Rule | Kind::Preference | Kind::Correction | Kind::Decision | Kind::Convention | Kind::Fact => {
            Category::Preference
        }
        Kind::Fix => Category::Fix,
        Kind::Workflow => Category::Workflow,
        Kind::Change
        | Kind::Files
        | Kind::Question
        | Kind::Idea
        | Kind::Work
        | Kind::Commit
        | Kind::Other => return None,
    };
    // Tool output is never a preference (B-01).
    if category == Category::Preference && finding.origin != Origin::User {
        return None;
    }
    Some(Candidate {
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
pub struct Idea {
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
pub fn ideas(observed: &Observed) -> Vec<Idea> {
    let ideas =
        observed.findings().filter(|finding| finding.kind == Kind::Idea && finding.origin != Origin::Tool);
    ideas
        .map(|finding| Idea {
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
    use crate::knowledge::observe::Part;
    use crate::vault::priority::Priority;

    fn found(kind: Kind, strength: Strength, origin: Origin) -> Observed {
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
        Observed { parts: vec![Part { findings: vec![finding], ..Part::default() }], ..Observed::default() }
    }

    const USUAL: Thresholds = Thresholds { high: 0.9, medium: 0.7 };

    fn routed(kind: Kind, strength: Strength, origin: Origin) -> Option<Confidence> {
        candidates(&found(kind, strength, origin), USUAL).first().map(|candidate| candidate.confidence)
    }

    #[test]
    fn sid_04_sid_05_sid_06_how_plainly_it_was_said_decides() {
        assert_eq!(routed(Kind::Rule, Strength::Explicit, Origin::User), Some(Confidence::High));
        assert_eq!(routed(Kind::Decision, Strength::Implied, Origin::User), Some(Confidence::Medium));
        assert_eq!(routed(Kind::Preference, Strength::Inferred, Origin::User), Some(Confidence::Low));
    }

    #[test]
    fn b_01_r_06_only_the_persons_own_words_are_more_than_seen_once() {
        for origin in [Origin::Agent, Origin::Tool, Origin::Import] {
            assert_eq!(routed(Kind::Fix, Strength::Explicit, origin), Some(Confidence::Low));
            assert_eq!(routed(Kind::Rule, Strength::Explicit, origin), None);
        }
        assert_eq!(ideas(&found(Kind::Idea, Strength::Explicit, Origin::Tool)), []);
        assert_eq!(ideas(&found(Kind::Idea, Strength::Explicit, Origin::User)).len(), 1);
    }

    #[test]
    fn ref_09_each_has_its_section() {
        let section = |kind, origin| {
            let candidates = candidates(&found(kind, Strength::Explicit, origin), USUAL);
            candidates[0].section("Ada").to_owned()
        };
        assert_eq!(section(Kind::Rule, Origin::User), "Hard Rules");
        assert_eq!(section(Kind::Preference, Origin::User), "Ada");
        assert_eq!(section(Kind::Correction, Origin::User), "Lessons", "FBK-05");
        assert_eq!(section(Kind::Decision, Origin::User), "System Architecture");
        assert_eq!(section(Kind::Fix, Origin::Agent), "Patterns");
    }

    #[test]
    fn fbk_07_a_candidate_keeps_the_sentiment() {
        let mut observed = found(Kind::Rule, Strength::Explicit, Origin::User);
        observed.parts[0].findings[0].sentiment = Some(Sentiment::Frustrated);
        assert_eq!(candidates(&observed, USUAL)[0].sentiment, Some(Sentiment::Frustrated));
    }

    #[test]
    fn what_only_happened_is_no_memory() {
        for kind in [Kind::Files, Kind::Change, Kind::Question, Kind::Idea, Kind::Other] {
            assert_eq!(routed(kind, Strength::Explicit, Origin::User), None);
        }
    }
}
