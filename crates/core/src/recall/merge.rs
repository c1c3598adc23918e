//! Merges repeated observations into one hit (STO-16). The log keeps every line. Merging happens only in the
//! results, with a reference to every mention, so that edits, forgetting and rebuilds need no extra
//! work.

use std::collections::BTreeSet;

use serde::Serialize;

use super::document::{Document, DocumentSource};
use crate::base::confidence;
use crate::base::provenance::Origin;
use crate::base::provenance::StatementStrength;
use crate::base::time::Timestamp;
use crate::text::similarity::AnalysedStatement;

/// The minimum similarity of observations that may say the same.
pub const MIN_SAME_SIMILARITY: f32 = 0.85;

/// A place in the logs that mentions an observation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ObservationMention {
    /// The id of the observation.
    pub id: String,
    /// The path of the log.
    pub path: String,
    /// The lines in the log.
    pub lines: Option<(u32, u32)>,
    /// The time of the observation.
    pub created: Option<Timestamp>,
    /// The session of the observation.
    pub session: Option<String>,
}

impl ObservationMention {
    /// The mention that a document represents.
    pub fn from_document(document: &Document) -> Self {
        Self {
            id: document.id.clone(),
            path: document.path.clone(),
            lines: document.lines,
            created: document.created,
            session: document.thread.clone(),
        }
    }

    /// The sort key: oldest first, with a total order.
    pub fn sort_key(&self) -> (Option<Timestamp>, &str, Option<(u32, u32)>, &str) {
        (self.created, &self.path, self.lines, &self.id)
    }
}

/// The number of distinct sessions that mention an observation, at least 1.
pub fn sessions(mentions: &[ObservationMention]) -> usize {
    let sessions: BTreeSet<&str> = mentions.iter().filter_map(|mention| mention.session.as_deref()).collect();
    sessions.len().max(1)
}

/// The confidence in an observation, from 0 to 1. Every further session raises it, up to the limit of its
/// origin (STO-16, FBK-06). It is computed from the log, so it is not stored.
pub fn confidence(origin: Origin, mentions: &[ObservationMention]) -> f64 {
    confidence::confidence(StatementStrength::Inferred.value(), sessions(mentions), origin)
}

/// An observation that may be merged with others.
#[derive(Clone, Debug)]
pub struct MergeableObservation {
    /// The observation as a document.
    pub document: Document,
    statement: AnalysedStatement,
}

impl MergeableObservation {
    /// Analyses an observation; `None` for any other document. The stories and tasks of sessions are not
    /// merged.
    pub fn new(document: &Document) -> Option<Self> {
        let single = document.source == DocumentSource::Observation && document.priority.is_some();
        single.then(|| Self {
            document: document.clone(),
            statement: AnalysedStatement::from_text(&document.text),
        })
    }

    /// True if a document is an observation with the same text, project and origin, which needs no further
    /// comparison.
    pub fn is_repeated_by(&self, other: &Document) -> bool {
        let single = other.source == DocumentSource::Observation && other.priority.is_some();
        single
            && self.document.text == other.text
            && self.document.project == other.project
            && self.document.origin == other.origin
    }

    /// True if both say the same, given the similarity of their texts: they have the same project and origin,
    /// and no number, name, negation or value differs.
    pub fn is_same(&self, other: &Self, similar: f32) -> bool {
        let (ours, theirs) = (&self.document, &other.document);
        ours.project == theirs.project
            && ours.origin == theirs.origin
            && (self.statement.is_verbatim(&other.statement)
                || (similar >= MIN_SAME_SIMILARITY && self.statement.agrees_with(&other.statement)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::provenance::Origin;
    use crate::base::scope::ProjectId;
    use crate::vault::priority::Priority;

    fn observed(text: &str) -> MergeableObservation {
        let document = Document {
            id: "o-1".to_owned(),
            lines: Some((1, 1)),
            title: text.to_owned(),
            kind: "observation".to_owned(),
            project: Some(ProjectId::new("github.com/acme/pumps")),
            reviewed: false,
            priority: Some(Priority::High),
            ..Document::unannotated(DocumentSource::Observation, "MemoryVault/memory/2026-11-15.md", text)
        };
        MergeableObservation::new(&document).unwrap()
    }

    fn same(one: &str, other: &str, similar: f32) -> bool {
        let (one, other) = (observed(one), observed(other));
        assert_eq!(one.is_same(&other, similar), other.is_same(&one, similar));
        one.is_same(&other, similar)
    }

    #[test]
    fn sto_16_paraphrases_are_merged() {
        assert!(same("Always run pnpm test before a push", "always run `pnpm test` before a push.", 0.0));
        assert!(same(
            "The integration tests need the staging database to be up before they run",
            "Before they run, integration tests need the staging database up",
            0.9
        ));
        assert!(!same(
            "The integration tests need the staging database to be up before they run",
            "Before they run, integration tests need the staging database up",
            0.8
        ));
    }

    #[test]
    fn sto_16_another_number_name_negation_or_value_prevents_a_merge() {
        for (one, other) in [
            ("Staging Postgres listens on port 5432", "Staging Postgres listens on port 5433"),
            ("Always run the linter before a commit", "Never run the linter before a commit"),
            ("Deploys go through the blue cluster", "Deploys go through the green cluster"),
            ("Use pnpm instead of npm here", "Use npm instead of pnpm here"),
            ("Module parser owns the config grammar", "Module lexer owns the config grammar"),
            ("The parser lives in src/parser.rs", "The parser lives in src/grammar.rs"),
            ("Wait two seconds before a retry", "Wait three seconds before a retry"),
        ] {
            assert!(!same(one, other, 0.99), "{one} / {other}");
        }
    }

    #[test]
    fn sto_16_confidence_rises_with_sessions_up_to_what_the_origin_allows() {
        let mention = |session: usize| {
            let thread = Some(format!("s{session}"));
            ObservationMention::from_document(&Document { thread, ..observed("Run the linter").document })
        };
        let of = |origin, sessions: &[usize]| {
            confidence(origin, &sessions.iter().map(|session| mention(*session)).collect::<Vec<_>>())
        };
        let one = of(Origin::User, &[1]);
        assert_eq!(one, of(Origin::User, &[]));
        assert!(of(Origin::User, &[1, 2]) > one);
        assert_eq!(of(Origin::User, &[1, 1]), one, "the same session twice is one sighting");
        let many: Vec<usize> = (0..100).collect();
        assert!(of(Origin::User, &many) < 1.0);
        assert_eq!(of(Origin::Tool, &many), of(Origin::Tool, &[1]), "output of tools gains nothing");
    }

    #[test]
    fn b_05_projects_and_authorities_are_never_mixed() {
        let one = observed("Always run pnpm test before a push");
        let mut other = one.clone();
        assert!(one.is_same(&other, 1.0));
        other.document.project = Some(ProjectId::new("github.com/acme/boats"));
        assert!(!one.is_same(&other, 1.0));
        other.document.project = None;
        assert!(!one.is_same(&other, 1.0));
        assert!(one.is_repeated_by(&one.document) && !one.is_repeated_by(&other.document));
        let mut tool = one.clone();
        tool.document.origin = Origin::Tool;
        assert!(!one.is_same(&tool, 1.0));
        let story = Document { priority: None, ..one.document };
        assert!(MergeableObservation::new(&story).is_none());
    }
}
