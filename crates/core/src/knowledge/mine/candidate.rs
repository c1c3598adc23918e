//! Candidates for memories, and where each goes.

use serde::{Deserialize, Serialize};

use crate::base::provenance::Origin;
use crate::base::provenance::Strength;
use crate::base::sentiment::Sentiment;
use crate::knowledge::observe::{Finding, Kind, Observed};
use crate::knowledge::proposal::title;
use crate::vault::entry::Confidence;

/// The three categories (SID-03).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Category {
    /// How the person wants things done, what they corrected and decided.
    Preference,
    /// What went wrong, why, and what helps.
    Fix,
    /// A way that worked.
    Workflow,
}

impl Category {
    /// Every category.
    pub const ALL: [Self; 3] = [Self::Preference, Self::Fix, Self::Workflow];

    /// The word for it; also the kind of an entry.
    pub fn word(self) -> &'static str {
        match self {
            Self::Preference => "preference",
            Self::Fix => "fix",
            Self::Workflow => "workflow",
        }
    }
}

/// Something that may become a memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// Which category.
    pub category: Category,
    /// What sort of thing was found.
    pub kind: Kind,
    /// A few words.
    pub title: String,
    /// What would be remembered.
    pub text: String,
    /// Whose words.
    pub origin: Origin,
    /// How sure we are.
    pub confidence: Confidence,
    /// It is about the person or all of their work, not this project alone.
    #[serde(default)]
    pub everywhere: bool,
    /// It may be, and the person is asked.
    #[serde(default)]
    pub perhaps_everywhere: bool,
    /// It says that something which held before no longer does.
    #[serde(default)]
    pub ends: bool,
    /// How the person felt when they said it (FBK-07).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sentiment: Option<Sentiment>,
    /// The messages that say it.
    pub messages: Vec<String>,
}

impl Candidate {
    /// The folder of the entry it becomes.
    pub fn entry_kind(&self) -> &'static str {
        match self.kind {
            Kind::Decision => "decision",
            Kind::Rule => "rule",
            Kind::Convention => "convention",
            Kind::Fact => "fact",
            _ => self.category.word(),
        }
    }

    /// Whether it tells agents what to do, rather than how things are.
    pub fn instructs(&self) -> bool {
        matches!(
            self.kind,
            Kind::Rule | Kind::Preference | Kind::Convention | Kind::Correction | Kind::Workflow
        )
    }

    /// The section of `MEMORY.md` that it belongs to (REF-09); `user` is what the person's own section is called.
    pub fn section<'a>(&self, user: &'a str) -> &'a str {
        match (self.category, self.kind) {
            // A hard rule is what the person laid down, never what a tool printed.
            (_, Kind::Rule) if self.origin == Origin::User => "Hard Rules",
            (_, Kind::Correction) if self.origin == Origin::User => "Lessons",
            (_, Kind::Decision | Kind::Change | Kind::Convention | Kind::Fact) => "System Architecture",
            (Category::Preference, _) => user,
            (Category::Fix | Category::Workflow, _) => "Patterns",
        }
    }
}

/// From which strength on a candidate counts as explicit, and as inferred (SID-07).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thresholds {
    /// From here up it was said outright.
    pub high: f64,
    /// From here up it was meant.
    pub medium: f64,
}

impl Thresholds {
    /// How sure we are of something of this strength and origin. Only the person's own words are ever more than meant.
    pub fn confidence(self, strength: Strength, origin: Origin) -> Confidence {
        let value = strength.value();
        match origin {
            Origin::User if value >= self.high => Confidence::High,
            Origin::User if value >= self.medium => Confidence::Medium,
            _ => Confidence::Low,
        }
    }
}

/// What should be known later, of what was observed.
pub fn candidates(observed: &Observed, thresholds: Thresholds) -> Vec<Candidate> {
    observed.findings().filter_map(|finding| candidate(finding, thresholds)).collect()
}

/// What should be known later of one finding, if anything.
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
    // A tool's output is nobody's preference (B-01).
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

/// Something to be done or looked into one day.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Idea {
    /// A few words.
    pub title: String,
    /// At most two sentences.
    pub summary: String,
    /// Whose idea.
    pub origin: Origin,
    /// The messages that say it.
    pub messages: Vec<String>,
}

/// The ideas in what was observed; all of them surface (IDEA-01), but none that only a tool printed.
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
