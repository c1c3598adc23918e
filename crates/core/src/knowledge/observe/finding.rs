//! What an observer found in a session, whoever it was.

use crate::base::provenance::Strength;
use crate::base::sentiment::Sentiment;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::base::provenance::Origin;
use crate::base::time::Date;
use crate::session::Message;
use crate::vault::as_text;
use crate::vault::daily_log::{self, Body, Fact, Mark, Segment, When};
use crate::vault::priority::Priority;

/// Words in the marker of a line of the daily log.
const EVERYWHERE: &str = "everywhere";
const PERHAPS_EVERYWHERE: &str = "perhaps-everywhere";
const ENDS: &str = "ends";

/// The word for a value in files and JSON.
fn word(value: &impl Serialize) -> Option<String> {
    serde_json::to_value(value).ok()?.as_str().map(str::to_owned)
}

/// The inverse of [`word`].
fn read<T: DeserializeOwned>(word: &str) -> Option<T> {
    serde_json::from_value(word.into()).ok()
}

/// What came of a session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Observed {
    /// By topic, in the order of the session (OBS-14).
    pub parts: Vec<Part>,
    /// What the session was doing when it ended.
    pub current_task: Option<String>,
    /// How it could go on.
    pub suggested_response: Option<String>,
}

/// One topic: what happened, and what to retain of it (OBS-15).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// The day on which it was over, where the messages have times.
    #[serde(default, with = "as_text::option", skip_serializing_if = "Option::is_none")]
    pub day: Option<Date>,
    /// One to three sentences.
    pub narrative: String,
    /// What is worth keeping.
    pub findings: Vec<Finding>,
}

/// One thing worth keeping.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// What sort of thing.
    pub kind: Kind,
    /// How long it is worth keeping (OBS-04…06).
    pub priority: Priority,
    /// When it was said; never made up (OBS-07).
    pub when: Option<When>,
    /// The thing itself, in one or two sentences that stand alone.
    pub text: String,
    /// Whose words support it (B-01).
    pub origin: Origin,
    /// How plainly it was said.
    pub strength: Strength,
    /// It is about the person or all of their work, not this project alone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub everywhere: bool,
    /// It may be, and the person is asked.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub perhaps_everywhere: bool,
    /// It says that something which held before no longer does.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ends: bool,
    /// How the person felt about it, where the words tell (FBK-07).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sentiment: Option<Sentiment>,
    /// What the gate thinks of it; it was not asked where there is nothing (FBK-08).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<Verdict>,
    /// The ids of the messages that support it.
    pub messages: Vec<String>,
}

/// What the gate thinks of a finding.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// What speaks against keeping it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<Doubt>,
    /// What it contradicts: the name under which recall shows it, and none of its words, which may be forgotten one day.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against: Option<String>,
}

/// What speaks against keeping a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Doubt {
    /// It names what the messages it rests on do not have, or rests on none.
    Unfounded,
    /// It names nothing that could be looked up, and nobody said it in these words.
    Vague,
    /// It tells a step on the way.
    Step,
    /// It was meant for once.
    Once,
}

impl Verdict {
    /// Whether it can be looked up.
    pub fn verifiable(&self) -> bool {
        !self.doubts.iter().any(|doubt| matches!(doubt, Doubt::Unfounded | Doubt::Vague))
    }

    /// Whether a colleague would want it next time.
    pub fn useful(&self) -> bool {
        !self.doubts.iter().any(|doubt| matches!(doubt, Doubt::Step | Doubt::Once))
    }

    /// Whether it contradicts something that stands.
    pub fn conflicting(&self) -> bool {
        self.against.is_some()
    }

    /// Whether a gate that decides would let it through as it is.
    pub fn passes(&self) -> bool {
        self.doubts.is_empty() && self.against.is_none()
    }
}

/// What sort of thing was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The person wants something done always, or never.
    Rule,
    /// The person likes it one way rather than another.
    Preference,
    /// The person told the agent that it was wrong.
    Correction,
    /// Something was decided, by the person.
    Decision,
    /// What was broken, why, and what mended it.
    Fix,
    /// How things are done in this project, said in passing.
    Convention,
    /// A fact of the environment: a host, a version, where something lives, who owns it.
    Fact,
    /// What is left to be done.
    Work,
    /// Title and body of a commit, a pull request or an issue.
    Commit,
    /// A service, a tool or a setting is different now.
    Change,
    /// Files that were changed, and what for.
    Files,
    /// A way of doing something that worked.
    Workflow,
    /// Something that nobody answered.
    Question,
    /// Something to be done or looked into one day.
    Idea,
    /// Anything else, as a model puts it.
    Other,
}

impl Observed {
    /// Every finding, in order.
    pub fn findings(&self) -> impl Iterator<Item = &Finding> {
        self.parts.iter().flat_map(|part| &part.findings)
    }

    /// The same for a session without a person at the keyboard: what a program told the agent is nobody's own word.
    #[must_use]
    pub fn without_person(mut self) -> Self {
        for finding in self.parts.iter_mut().flat_map(|part| &mut part.findings) {
            if finding.origin == Origin::User {
                (finding.origin, finding.everywhere, finding.perhaps_everywhere) =
                    (Origin::Agent, false, false);
            }
        }
        self
    }

    /// Whether there is nothing worth a line in the log.
    pub fn is_empty(&self) -> bool {
        self.findings().next().is_none() && self.parts.iter().all(|part| part.narrative.is_empty())
    }

    /// The observation that a section of a daily log of `day` holds: the inverse of [`Self::body`]. What the gate holds it to
    /// contradict is not in the log.
    pub fn of_section(section: &daily_log::Observation, day: Date) -> Self {
        let part = |narrative: &str, facts: &[Fact]| Part {
            day: Some(day),
            narrative: narrative.to_owned(),
            findings: facts.iter().map(Finding::of_fact).collect(),
        };
        let parts = match &section.body {
            Body::Flat { facts, .. } => vec![part("", facts)],
            Body::Segments(segments) => {
                segments.iter().map(|segment| part(&segment.narrative, &segment.facts)).collect()
            }
            Body::Unparsed(_) => Vec::new(),
        };
        let (current_task, suggested_response) =
            (section.current_task.clone(), section.suggested_response.clone());
        Self { parts, current_task, suggested_response }
    }

    /// Puts a finding where it belongs in the order of the session, whose messages are `messages`.
    pub fn insert(&mut self, finding: Finding, messages: &[Message]) {
        let place =
            |finding: &Finding| messages.iter().position(|message| finding.messages.contains(&message.id));
        let own = place(&finding);
        let earlier = |part: &Part| part.findings.iter().any(|other| place(other) <= own);
        let part = match self.parts.iter().rposition(earlier) {
            Some(number) => &mut self.parts[number],
            None => {
                if self.parts.is_empty() {
                    self.parts.push(Part::default());
                }
                &mut self.parts[0]
            }
        };
        let at = part.findings.iter().position(|other| place(other) > own).unwrap_or(part.findings.len());
        part.findings.insert(at, finding);
    }

    /// The days it is about, in order, each with its part of it; what has no day counts for `otherwise`.
    pub fn days(&self, otherwise: Date) -> Vec<(Date, Observed)> {
        let mut days: Vec<(Date, Observed)> = Vec::new();
        for part in &self.parts {
            let day = part.day.unwrap_or(otherwise);
            match days.last_mut().filter(|(known, _)| *known == day) {
                Some((_, observed)) => observed.parts.push(part.clone()),
                None => days.push((day, Observed { parts: vec![part.clone()], ..Observed::default() })),
            }
        }
        // How it ended belongs to the last day.
        if let Some((_, last)) = days.last_mut() {
            last.current_task.clone_from(&self.current_task);
            last.suggested_response.clone_from(&self.suggested_response);
        }
        days
    }

    /// As the log of the day holds it (LOG-03). Each fact has an id by its place, so that it can be pointed at.
    pub fn body(&self, dedupe_key: &str) -> Body {
        self.body_from(dedupe_key, 0)
    }

    /// The same for the rest of a session, of which so many facts are in the log of an earlier day.
    pub fn body_from(&self, dedupe_key: &str, mut number: usize) -> Body {
        let parts = self.parts.iter().filter(|part| !part.findings.is_empty() || !part.narrative.is_empty());
        let segment = |part: &Part| Segment {
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
        Body::Segments(parts.map(segment).collect())
    }
}

impl Finding {
    fn fact(&self, id: String) -> Fact {
        let mark = Mark {
            id: Some(id),
            origin: Some(self.origin),
            messages: self.messages.clone(),
            sentiment: self.sentiment,
            traits: self.traits(),
            doubts: self.gate.as_ref().map(|verdict| verdict.doubts.iter().filter_map(word).collect()),
        };
        Fact { priority: self.priority, when: self.when, text: self.text.clone(), mark }
    }

    /// Its kind, its strength and where it holds, in words.
    fn traits(&self) -> Vec<String> {
        let flags =
            [(self.everywhere, EVERYWHERE), (self.perhaps_everywhere, PERHAPS_EVERYWHERE), (self.ends, ENDS)];
        let flags = flags.into_iter().filter(|(is_set, _)| *is_set).map(|(_, flag)| flag.to_owned());
        word(&self.kind).into_iter().chain(word(&self.strength)).chain(flags).collect()
    }

    /// What a line of the daily log holds. One without traits was written by an earlier version, or by a person.
    fn of_fact(fact: &Fact) -> Self {
        let Fact { priority, when, text, mark } = fact;
        let is = |flag: &str| mark.traits.iter().any(|word| word == flag);
        let doubts = |words: &Vec<String>| words.iter().filter_map(|word| read(word)).collect();
        Self {
            kind: mark.traits.first().and_then(|word| read(word)).unwrap_or(Kind::Other),
            priority: *priority,
            when: *when,
            text: text.clone(),
            origin: mark.origin.unwrap_or(Origin::Agent),
            strength: mark.traits.get(1).and_then(|word| read(word)).unwrap_or(Strength::Inferred),
            everywhere: is(EVERYWHERE),
            perhaps_everywhere: is(PERHAPS_EVERYWHERE),
            ends: is(ENDS),
            sentiment: mark.sentiment,
            gate: mark.doubts.as_ref().map(|words| Verdict { doubts: doubts(words), against: None }),
            messages: mark.messages.clone(),
        }
    }
}
