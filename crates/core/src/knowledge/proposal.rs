//! A proposal: a candidate for a line of `MEMORY.md` or an entry, subject to the user's approval (REV-01,
//! REV-14, B-07).

pub mod acceptance;
pub mod rebase;
pub mod review_priority;
pub mod revision;
mod target;

use serde::{Deserialize, Serialize};

use crate::base::confidence::raised_confidence;
use crate::base::provenance::Origin;
use crate::base::scope::ProjectId;
use crate::base::time::Timestamp;
use crate::text::clean::one_line;
mod grade;
use crate::vault::review::{ProposalId, ProposalPlace};
pub use grade::ProposalGrade;

pub use target::ProposalTarget;

/// The maximum length of a title, in characters.
const MAX_TITLE_CHARS: usize = 60;
/// The maximum length of a replaced line in a title, in characters.
const MAX_REPLACED_CHARS: usize = 160;

/// A proposal in the store. The store is the source of truth, every surface is a view (REV-04).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Proposal {
    /// The id of the proposal.
    pub id: ProposalId,
    /// The stage that made it.
    pub source: ProposalSource,
    /// The place that it is meant for.
    pub place: ProposalPlace,
    /// The target, if it is not the section of `MEMORY.md` that the place names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<ProposalTarget>,
    /// A short title of the proposal.
    pub title: String,
    /// The text to write, verbatim.
    pub text: String,
    /// The line of the target that it replaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supersedes: Option<String>,
    /// The origin of the supporting words (B-01).
    pub origin: Origin,
    /// True if those are the user's own explicit words (FBK-06).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub explicit: bool,
    /// The confidence, from 0 to 1.
    pub confidence: f64,
    /// The grade of an evaluator who saw only the proposal (SID-09). It decides nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grade: Option<ProposalGrade>,
    /// The evidence that supports it.
    pub evidence: ProposalEvidence,
    /// The project that it concerns; `None` for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<ProjectId>,
    /// The time of the proposal.
    pub created: Timestamp,
    /// The status in its life cycle.
    pub status: ProposalStatus,
}

impl Proposal {
    /// A pending proposal without evidence, for the section of `MEMORY.md` that the place names.
    pub fn new(
        id: ProposalId,
        source: ProposalSource,
        place: ProposalPlace,
        origin: Origin,
        text: String,
        created: Timestamp,
    ) -> Self {
        Self {
            id,
            source,
            place,
            target: None,
            title: title(&text),
            text,
            supersedes: None,
            origin,
            explicit: false,
            confidence: 0.0,
            grade: None,
            evidence: ProposalEvidence::default(),
            project: None,
            created,
            status: ProposalStatus::Pending,
        }
    }

    /// Adds a sighting; every further session raises the confidence (STO-16). Returns true if its session was
    /// not counted yet.
    pub fn add_evidence(&mut self, evidence: &ProposalEvidence) -> bool {
        let before = self.evidence.sessions.len();
        let is_new = self.evidence.merge(evidence);
        self.confidence =
            raised_confidence(self.confidence, before, self.evidence.sessions.len(), self.origin);
        is_new
    }
}

/// The stage that made a proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProposalSource {
    /// Reflection on the observations of several days.
    Reflection,
    /// The sidecar's extraction from one session (SID-05).
    Sidecar,
    /// A new statement that contradicts an existing line.
    Supersede,
    /// A correction of the agent by the user.
    Correction,
    /// An idea that may become a project.
    Idea,
    /// A problem that recurs (friction).
    Friction,
    /// A statement from one project that may hold in all.
    Everywhere,
}

/// The status of a proposal. It is closed exactly once (REV-14).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ProposalStatus {
    /// It is new and not judged.
    Pending,
    /// Triage left it to the user.
    Triaged,
    /// The user approved it unchanged.
    Approved,
    /// The user approved it with other words.
    Edited,
    /// The user rejected it.
    Rejected,
    /// It expired without a decision.
    Expired,
    /// It was written to its target.
    Promoted,
}

impl ProposalStatus {
    /// All statuses, in order.
    pub const ALL: [Self; 7] = [
        Self::Pending,
        Self::Triaged,
        Self::Approved,
        Self::Edited,
        Self::Rejected,
        Self::Expired,
        Self::Promoted,
    ];

    /// The word in the store and in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Triaged => "triaged",
            Self::Approved => "approved",
            Self::Edited => "edited",
            Self::Rejected => "rejected",
            Self::Expired => "expired",
            Self::Promoted => "promoted",
        }
    }

    /// True if it waits for the user.
    pub fn is_open(self) -> bool {
        matches!(self, Self::Pending | Self::Triaged)
    }
}

impl ProposalSource {
    /// All sources, in order.
    pub const ALL: [Self; 7] = [
        Self::Reflection,
        Self::Sidecar,
        Self::Supersede,
        Self::Correction,
        Self::Idea,
        Self::Friction,
        Self::Everywhere,
    ];

    /// The word in the store and in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Reflection => "reflection",
            Self::Sidecar => "sidecar",
            Self::Supersede => "supersede",
            Self::Correction => "correction",
            Self::Idea => "idea",
            Self::Friction => "friction",
            Self::Everywhere => "everywhere",
        }
    }
}

/// The evidence for a proposal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProposalEvidence {
    /// The sessions with a sighting, without duplicates.
    pub sessions: Vec<String>,
    /// The ids of the supporting messages.
    pub messages: Vec<String>,
    /// Short quotations of those messages.
    pub quotes: Vec<String>,
    /// The observed windows of sessions (FRI-04).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub observations: Vec<String>,
    /// The time of the latest statement: the day on its line in `MEMORY.md`, regardless of the
    /// approval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said: Option<Timestamp>,
}

/// The maximum number of places kept of each type.
const MAX_EVIDENCE_PLACES: usize = 200;

impl ProposalEvidence {
    /// Adds another sighting. Returns true if its session was not counted yet. Of hundreds of sightings the
    /// first and the newest places are kept.
    pub fn merge(&mut self, other: &Self) -> bool {
        let is_new = other.sessions.iter().any(|session| !self.sessions.contains(session));
        let lists = [
            (&mut self.sessions, &other.sessions),
            (&mut self.messages, &other.messages),
            (&mut self.quotes, &other.quotes),
            (&mut self.observations, &other.observations),
        ];
        for (ours, theirs) in lists {
            for item in theirs {
                if !ours.contains(item) {
                    ours.push(item.clone());
                }
            }
            if ours.len() > MAX_EVIDENCE_PLACES {
                ours.drain(1..=ours.len() - MAX_EVIDENCE_PLACES);
            }
        }
        self.said = self.said.max(other.said);
        is_new
    }
}

/// The title of a replacement: the user sees the old line in the title and the new one in the text.
pub fn replacement_title(old: &str) -> String {
    format!("Instead of: {}", one_line(old, MAX_REPLACED_CHARS))
}

/// The title of a text: its start, cut between words.
pub fn title(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let Some((end, _)) = line.char_indices().nth(MAX_TITLE_CHARS) else {
        return line.trim_end_matches(['.', '。', ';', ',']).to_owned();
    };
    let cut = line.get(..end).unwrap_or_default();
    let whole = cut.rfind(' ').filter(|space| *space > end / 2).and_then(|space| cut.get(..space));
    format!("{}…", whole.unwrap_or(cut).trim_end_matches(['.', ',', ';', ':']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r_17_evidence_has_the_time_of_its_last_statement() {
        let at = |second| Timestamp::from_second(second).ok();
        let said = |at| ProposalEvidence { said: at, ..ProposalEvidence::default() };
        for (first, then, last) in [(1, 2, 2), (2, 1, 2)] {
            let mut evidence = said(at(first));
            evidence.merge(&said(at(then)));
            assert_eq!(evidence.said, at(last));
            evidence.merge(&said(None));
            assert_eq!(evidence.said, at(last));
        }
    }

    #[test]
    fn sid_05_of_what_is_seen_again_and_again_the_first_and_the_newest_places_are_kept() {
        let mut all = ProposalEvidence::default();
        for number in 0..1000 {
            let one =
                ProposalEvidence { sessions: vec![format!("s{number}")], ..ProposalEvidence::default() };
            assert!(all.merge(&one) && !all.merge(&one), "{number}");
        }
        assert_eq!(all.sessions.len(), MAX_EVIDENCE_PLACES);
        assert_eq!((all.sessions[0].as_str(), all.sessions[199].as_str()), ("s0", "s999"));
    }

    #[test]
    fn a_title_is_the_beginning_in_whole_words() {
        assert_eq!(title("Use tabs.\n"), "Use tabs");
        let long = title(&"wordy ".repeat(30));
        assert!(long.ends_with("wordy…") && long.chars().count() <= MAX_TITLE_CHARS + 1, "{long}");
        assert_eq!(title(&"絵".repeat(100)).chars().count(), MAX_TITLE_CHARS + 1);
    }

    #[test]
    fn another_session_counts_once() {
        let seen = |session: &str| ProposalEvidence {
            sessions: vec![session.to_owned()],
            ..ProposalEvidence::default()
        };
        let mut evidence = seen("a");
        assert!(!evidence.merge(&seen("a")));
        assert!(evidence.merge(&seen("b")));
        assert_eq!(evidence.sessions, ["a", "b"]);
    }

    #[test]
    fn words_read_back() {
        for status in ProposalStatus::ALL {
            assert_eq!(serde_json::to_value(status).unwrap(), status.as_str());
        }
        for source in ProposalSource::ALL {
            assert_eq!(serde_json::to_value(source).unwrap(), source.as_str());
        }
    }
}
