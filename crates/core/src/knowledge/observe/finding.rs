//! The observations of a session, from any observer.

use crate::base::provenance::StatementStrength;
use crate::base::sentiment::Sentiment;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::base::provenance::Origin;
use crate::base::time::Date;
use crate::session::Message;
use crate::vault::as_text;
use crate::vault::daily_log::{self, FactTime, LogMark, LoggedFact, LoggedSegment, ObservationBody};
use crate::vault::priority::Priority;

/// Traits in the marker of a line of the daily log.
const EVERYWHERE: &str = "everywhere";
const PERHAPS_EVERYWHERE: &str = "perhaps-everywhere";
const ENDS: &str = "ends";

/// The word of a value in files and JSON.
fn word(value: &impl Serialize) -> Option<String> {
    serde_json::to_value(value).ok()?.as_str().map(str::to_owned)
}

/// The inverse of [`word`].
fn read<T: DeserializeOwned>(word: &str) -> Option<T> {
    serde_json::from_value(word.into()).ok()
}

/// The observations of a session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ObservedSession {
    /// The topics, in the order of the session (OBS-14).
    pub parts: Vec<ObservedTopic>,
    /// The task at the end of the session.
    pub current_task: Option<String>,
    /// The suggested next step.
    pub suggested_response: Option<String>,
}

/// One topic: a narrative, and the findings to keep (OBS-15).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ObservedTopic {
    /// The day on which the topic ended, if the messages have times.
    #[serde(default, with = "as_text::option", skip_serializing_if = "Option::is_none")]
    pub day: Option<Date>,
    /// A narrative of one to three sentences.
    pub narrative: String,
    /// The findings worth keeping.
    pub findings: Vec<Finding>,
}

/// A statement worth keeping.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The kind of the finding.
    pub kind: FindingKind,
    /// The priority, by the time it stays useful (OBS-04…06).
    pub priority: Priority,
    /// The time of the statement; never made up (OBS-07).
    pub when: Option<FactTime>,
    /// The statement in one or two self-contained sentences.
    pub text: String,
    /// The origin of the supporting words (B-01).
    pub origin: Origin,
    /// The strength of the statement.
    pub strength: StatementStrength,
    /// True if it concerns the user or all of their work, not only this project.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub everywhere: bool,
    /// True if that is possible, and the user is asked.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub perhaps_everywhere: bool,
    /// True if it says that something no longer holds.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ends: bool,
    /// The user's sentiment, if the words show it (FBK-07).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sentiment: Option<Sentiment>,
    /// The verdict of the write gate; `None` if it was not asked (FBK-08).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<GateVerdict>,
    /// The ids of the supporting messages.
    pub messages: Vec<String>,
}

/// The write gate's verdict on a finding.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateVerdict {
    /// The reasons against keeping it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<GateDoubt>,
    /// The name under which recall shows the contradicted memory. It holds no words of it, since they may be
    /// forgotten one day.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against: Option<String>,
}

/// A reason against keeping a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GateDoubt {
    /// It names things that its messages lack, or it has no messages.
    Unfounded,
    /// It names nothing that can be looked up, and nobody said it in these words.
    Vague,
    /// It reports an intermediate step.
    Step,
    /// It was meant for one occasion.
    Once,
}

impl GateVerdict {
    /// True if it can be verified.
    pub fn is_verifiable(&self) -> bool {
        !self.doubts.iter().any(|doubt| matches!(doubt, GateDoubt::Unfounded | GateDoubt::Vague))
    }

    /// True if it is useful next time.
    pub fn is_useful(&self) -> bool {
        !self.doubts.iter().any(|doubt| matches!(doubt, GateDoubt::Step | GateDoubt::Once))
    }

    /// True if it contradicts an existing memory.
    pub fn is_conflicting(&self) -> bool {
        self.against.is_some()
    }

    /// True if an enforcing gate would let it pass unchanged.
    pub fn is_passing(&self) -> bool {
        self.doubts.is_empty() && self.against.is_none()
    }
}

/// The kind of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingKind {
    /// The user wants something done always, or never.
    Rule,
    /// The user prefers one way to another.
    Preference,
    /// The user told the agent that it was wrong.
    Correction,
    /// The user made a decision.
    Decision,
    /// A problem, its cause and its solution.
    Fix,
    /// A convention of this project, mentioned in passing.
    Convention,
    /// A fact about the environment: a host, a version, a location, an owner.
    Fact,
    /// Work that remains to be done.
    Work,
    /// The title and body of a commit, a pull request or an issue.
    Commit,
    /// A changed service, tool or setting.
    Change,
    /// Changed files, and the purpose.
    Files,
    /// A procedure that worked.
    Workflow,
    /// A question that nobody answered.
    Question,
    /// Something to do or research one day.
    Idea,
    /// Any other statement, in a model's words.
    Other,
}

impl ObservedSession {
    /// All findings, in order.
    pub fn findings(&self) -> impl Iterator<Item = &Finding> {
        self.parts.iter().flat_map(|part| &part.findings)
    }

    /// The same for a session without a user at the keyboard: a program's prompt is nobody's own word.
    #[must_use]
    pub fn without_user_origin(mut self) -> Self {
        for finding in self.parts.iter_mut().flat_map(|part| &mut part.findings) {
            if finding.origin == Origin::User {
                (finding.origin, finding.everywhere, finding.perhaps_everywhere) =
                    (Origin::Agent, false, false);
            }
        }
        self
    }

    /// True if there is nothing to write to the log.
    pub fn is_empty(&self) -> bool {
        self.findings().next().is_none() && self.parts.iter().all(|part| part.narrative.is_empty())
    }

    /// Reads the observation from a section of the daily log of `day`: the inverse of [`Self::body`]. The
    /// contradiction found by the gate is not in the log.
    pub fn of_section(section: &daily_log::LoggedObservation, day: Date) -> Self {
        let part = |narrative: &str, facts: &[LoggedFact]| ObservedTopic {
            day: Some(day),
            narrative: narrative.to_owned(),
            findings: facts.iter().map(Finding::of_fact).collect(),
        };
        let parts = match &section.body {
            ObservationBody::Flat { facts, .. } => vec![part("", facts)],
            ObservationBody::Segments(segments) => {
                segments.iter().map(|segment| part(&segment.narrative, &segment.facts)).collect()
            }
            ObservationBody::Unparsed(_) => Vec::new(),
        };
        let (current_task, suggested_response) =
            (section.current_task.clone(), section.suggested_response.clone());
        Self { parts, current_task, suggested_response }
    }

    /// Inserts a finding at its place in the order of `messages`.
    pub fn insert(&mut self, finding: Finding, messages: &[Message]) {
        let place =
            |finding: &Finding| messages.iter().position(|message| finding.messages.contains(&message.id));
        let own = place(&finding);
        let earlier = |part: &ObservedTopic| part.findings.iter().any(|other| place(other) <= own);
        let part = match self.parts.iter().rposition(earlier) {
            Some(number) => &mut self.parts[number],
            None => {
                if self.parts.is_empty() {
                    self.parts.push(ObservedTopic::default());
                }
                &mut self.parts[0]
            }
        };
        let at = part.findings.iter().position(|other| place(other) > own).unwrap_or(part.findings.len());
        part.findings.insert(at, finding);
    }

    /// The days in order, each with its part; parts without a day count for `otherwise`.
    pub fn days(&self, otherwise: Date) -> Vec<(Date, ObservedSession)> {
        let mut days: Vec<(Date, ObservedSession)> = Vec::new();
        for part in &self.parts {
            let day = part.day.unwrap_or(otherwise);
            match days.last_mut().filter(|(known, _)| *known == day) {
                Some((_, observed)) => observed.parts.push(part.clone()),
                None => days
                    .push((day, ObservedSession { parts: vec![part.clone()], ..ObservedSession::default() })),
            }
        }
        // The ending belongs to the last day.
        if let Some((_, last)) = days.last_mut() {
            last.current_task.clone_from(&self.current_task);
            last.suggested_response.clone_from(&self.suggested_response);
        }
        days
    }

    /// The text of the section in the daily log (LOG-03). Each fact has an id by its position, so that it can
    /// be cited.
    pub fn body(&self, dedupe_key: &str) -> ObservationBody {
        self.body_from(dedupe_key, 0)
    }

    /// The same for the rest of a session, whose first `number` facts are in the log of an earlier day.
    pub fn body_from(&self, dedupe_key: &str, mut number: usize) -> ObservationBody {
        let parts = self.parts.iter().filter(|part| !part.findings.is_empty() || !part.narrative.is_empty());
        let segment = |part: &ObservedTopic| LoggedSegment {
            title: daily_log::segment_title(&part.narrative),
            narrative: part.narrative.clone(),
            facts: part
                .findings
                .iter()
                .map(|finding| {
                    number += 1;
                    let key: String = dedupe_key.chars().take(8).collect();
                    finding.fact(format!("o-{key}-{number}"))
                })
                .collect(),
        };
        ObservationBody::Segments(parts.map(segment).collect())
    }
}

impl Finding {
    fn fact(&self, id: String) -> LoggedFact {
        let mark = LogMark {
            id: Some(id),
            origin: Some(self.origin),
            messages: self.messages.clone(),
            sentiment: self.sentiment,
            traits: self.traits(),
            doubts: self.gate.as_ref().map(|verdict| verdict.doubts.iter().filter_map(word).collect()),
        };
        LoggedFact { priority: self.priority, when: self.when, text: self.text.clone(), mark }
    }

    /// The kind, the strength and the scope, in words.
    fn traits(&self) -> Vec<String> {
        let flags =
            [(self.everywhere, EVERYWHERE), (self.perhaps_everywhere, PERHAPS_EVERYWHERE), (self.ends, ENDS)];
        let flags = flags.into_iter().filter(|(is_set, _)| *is_set).map(|(_, flag)| flag.to_owned());
        word(&self.kind).into_iter().chain(word(&self.strength)).chain(flags).collect()
    }

    /// Reads a finding from a line of the daily log. A line without traits is from an earlier version, or
    /// written by a user.
    fn of_fact(fact: &LoggedFact) -> Self {
        let LoggedFact { priority, when, text, mark } = fact;
        let is = |flag: &str| mark.traits.iter().any(|word| word == flag);
        let doubts = |words: &Vec<String>| words.iter().filter_map(|word| read(word)).collect();
        Self {
            kind: mark.traits.first().and_then(|word| read(word)).unwrap_or(FindingKind::Other),
            priority: *priority,
            when: *when,
            text: text.clone(),
            origin: mark.origin.unwrap_or(Origin::Agent),
            strength: mark.traits.get(1).and_then(|word| read(word)).unwrap_or(StatementStrength::Inferred),
            everywhere: is(EVERYWHERE),
            perhaps_everywhere: is(PERHAPS_EVERYWHERE),
            ends: is(ENDS),
            sentiment: mark.sentiment,
            gate: mark.doubts.as_ref().map(|words| GateVerdict { doubts: doubts(words), against: None }),
            messages: mark.messages.clone(),
        }
    }
}
