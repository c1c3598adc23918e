//! A proposal: something that may become a line of `MEMORY.md` or an entry, if the person wants it (REV-01, REV-14, B-07).

pub mod acceptance;
pub mod rebase;
pub mod revision;
mod target;
pub mod worth;

use serde::{Deserialize, Serialize};

use crate::base::confidence::risen;
use crate::base::provenance::Origin;
use crate::base::scope::ProjectId;
use crate::base::time::Timestamp;
use crate::text::clean::one_line;
mod grade;
use crate::vault::review::{Id, Place};
pub use grade::Grade;

pub use target::Target;

/// The longest title, in characters.
const TITLE_CHARS: usize = 60;
/// The most of a line that is shown because another one would take its place, in characters.
const OLD_CHARS: usize = 160;

/// One proposal, as the store has it. The store is the truth, every surface is a view (REV-04).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Proposal {
    /// Its id.
    pub id: Id,
    /// What came to it.
    pub source: Source,
    /// Where it would go.
    pub place: Place,
    /// What it would change, if that is not the section of `MEMORY.md` that its place names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Target>,
    /// A few words.
    pub title: String,
    /// What would be written, word for word.
    pub text: String,
    /// The line of its target that it would take the place of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supersedes: Option<String>,
    /// Whose words support it (B-01).
    pub origin: Origin,
    /// Whether those are the person's own words, in so many words (FBK-06).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub explicit: bool,
    /// How sure we are, from 0 to 1.
    pub confidence: f64,
    /// What an evaluator who saw only the proposal thinks of it (SID-09). It decides nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grade: Option<Grade>,
    /// What it rests on.
    pub evidence: Evidence,
    /// The project it is about; none is everywhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<ProjectId>,
    /// When it was proposed.
    pub created: Timestamp,
    /// Where it is in its life.
    pub status: Status,
}

impl Proposal {
    /// One that nobody has looked at, for the section of `MEMORY.md` that the place names, with nothing to rest on yet.
    pub fn new(
        id: Id,
        source: Source,
        place: Place,
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
            evidence: Evidence::default(),
            project: None,
            created,
            status: Status::Pending,
        }
    }

    /// Adds another sighting; every further session makes us surer (STO-16). Says whether it came from a session that was
    /// not counted yet.
    pub fn rest_on(&mut self, evidence: &Evidence) -> bool {
        let before = self.evidence.sessions.len();
        let is_new = self.evidence.merge(evidence);
        self.confidence = risen(self.confidence, before, self.evidence.sessions.len(), self.origin);
        is_new
    }
}

/// Which stage came to a proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// Reflection on the observations of days.
    Reflection,
    /// The look at one session (SID-05).
    Sidecar,
    /// Something new that contradicts a line that is there.
    Supersede,
    /// The person corrected the agent.
    Correction,
    /// An idea that may become a project.
    Idea,
    /// Something that keeps going wrong.
    Friction,
    /// Something said in one project that may hold in all.
    Everywhere,
}

/// Where a proposal is in its life. It ends exactly once (REV-14).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Nobody has looked at it.
    Pending,
    /// Looked at by rules, and left to the person.
    Triaged,
    /// The person wants it as it is.
    Approved,
    /// The person wants it in other words.
    Edited,
    /// The person does not want it.
    Rejected,
    /// Nobody decided in time.
    Expired,
    /// It is where it belongs.
    Promoted,
}

impl Status {
    /// Every status.
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
    pub fn word(self) -> &'static str {
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

    /// Whether it waits for the person.
    pub fn is_open(self) -> bool {
        matches!(self, Self::Pending | Self::Triaged)
    }
}

impl Source {
    /// Every source.
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
    pub fn word(self) -> &'static str {
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

/// What a proposal rests on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// The sessions it came up in, each once.
    pub sessions: Vec<String>,
    /// The messages that say it.
    pub messages: Vec<String>,
    /// The words themselves, short.
    pub quotes: Vec<String>,
    /// The windows of sessions that were observed (FRI-04).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub observations: Vec<String>,
    /// When it was said last: the day of its line in `MEMORY.md`, whenever it is approved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said: Option<Timestamp>,
}

/// So many places of each kind are kept.
const MOST_PLACES: usize = 200;

impl Evidence {
    /// Adds what another sighting brings; says whether it came from a session that was not counted yet. Of what was seen
    /// hundreds of times the first and the newest places are kept.
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
            if ours.len() > MOST_PLACES {
                ours.drain(1..=ours.len() - MOST_PLACES);
            }
        }
        self.said = self.said.max(other.said);
        is_new
    }
}

/// The title of one that takes the place of a line: both are shown, what would go and what would come.
pub fn instead_of(old: &str) -> String {
    format!("Instead of: {}", one_line(old, OLD_CHARS))
}

/// A few words that name a text: its beginning, cut between words.
pub fn title(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let Some((end, _)) = line.char_indices().nth(TITLE_CHARS) else {
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
    fn r_17_evidence_knows_when_it_was_said_last() {
        let at = |second| Timestamp::from_second(second).ok();
        let said = |at| Evidence { said: at, ..Evidence::default() };
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
        let mut all = Evidence::default();
        for number in 0..1000 {
            let one = Evidence { sessions: vec![format!("s{number}")], ..Evidence::default() };
            assert!(all.merge(&one) && !all.merge(&one), "{number}");
        }
        assert_eq!(all.sessions.len(), MOST_PLACES);
        assert_eq!((all.sessions[0].as_str(), all.sessions[199].as_str()), ("s0", "s999"));
    }

    #[test]
    fn a_title_is_the_beginning_in_whole_words() {
        assert_eq!(title("Use tabs.\n"), "Use tabs");
        let long = title(&"wordy ".repeat(30));
        assert!(long.ends_with("wordy…") && long.chars().count() <= TITLE_CHARS + 1, "{long}");
        assert_eq!(title(&"絵".repeat(100)).chars().count(), TITLE_CHARS + 1);
    }

    #[test]
    fn another_session_counts_once() {
        let seen = |session: &str| Evidence { sessions: vec![session.to_owned()], ..Evidence::default() };
        let mut evidence = seen("a");
        assert!(!evidence.merge(&seen("a")));
        assert!(evidence.merge(&seen("b")));
        assert_eq!(evidence.sessions, ["a", "b"]);
    }

    #[test]
    fn words_read_back() {
        for status in Status::ALL {
            assert_eq!(serde_json::to_value(status).unwrap(), status.word());
        }
        for source in Source::ALL {
            assert_eq!(serde_json::to_value(source).unwrap(), source.word());
        }
    }
}
