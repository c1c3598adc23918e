//! Nothing a model says is believed unchecked. A statement is held against the messages it cites: what it names has to be
//! there, its time has to be theirs, and whose words support it is found out here and not taken from the model (B-01).

use std::collections::{BTreeMap, HashSet};

use super::finding::{Finding, Kind, Observed, Part, Sentiment, Strength};
use super::parse::{ObserverOutput, bullet};
use crate::provenance::Origin;
use crate::session::{Message, Role};
use crate::text::admit;
use crate::text::clean::one_line;
use crate::text::specifics::{self, coverage, plain, stands_in, words};
use crate::time::TimeZone;
use crate::vault::daily_log::{Clock, When};
use crate::vault::priority::Priority;

/// The most characters of one statement.
pub const MAX_TEXT: usize = 400;
/// The most characters of a narrative, a task or a suggestion.
pub const MAX_NARRATIVE: usize = 600;
/// The most statements of one window: whoever finds more has copied, not distilled.
pub const MAX_FINDINGS: usize = 40;
/// So much of what a statement says has to be in the words that support it.
const COVERED: f64 = 0.5;
/// So much of it, and it may be what somebody concluded; less, and nobody said it.
const TOUCHED: f64 = 0.3;
/// So many characters in a row, taken from a tool's output, are a copy (OBS-13).
const COPIED: usize = 100;
/// The most messages that a statement points back to.
const MAX_MESSAGES: usize = 6;

/// What a statement names, and the small numbers in it: a wrong count only makes it doubtful.
struct Wanted {
    names: Vec<String>,
    counts: Vec<String>,
}

impl Wanted {
    fn of(text: &str) -> Self {
        let all = specifics::specifics(text).into_iter().filter(|specific| !specifics::is_clock(specific));
        let (counts, names) = all.partition(|specific| specifics::is_count(specific));
        Self { names, counts }
    }
}

/// What was wrong with a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fault {
    /// It names what nobody said: dropped.
    Invented,
    /// Nothing that was said supports it: dropped.
    Unsupported,
    /// It was copied from output: dropped.
    Copied,
    /// It says what another says: dropped.
    Repeated,
    /// There were too many: dropped.
    TooMany,
    /// Its time is no message's: the time is taken from the message, or away.
    Time,
    /// It was marked higher than what supports it allows: lowered.
    Lowered,
}

impl Fault {
    /// Whether the statement is gone for it.
    pub fn drops(self) -> bool {
        !matches!(self, Self::Time | Self::Lowered)
    }
}

/// How often each thing was wrong.
pub type Faults = BTreeMap<Fault, u64>;

/// What is left of an observer's answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Checked {
    /// What can be believed.
    pub observed: Observed,
    /// What was wrong with the rest.
    pub faults: Faults,
}

/// The messages, prepared for looking things up in them.
pub struct Evidence<'a> {
    messages: &'a [Message],
    plain: Vec<String>,
    words: Vec<HashSet<u64>>,
    clocks: Vec<Option<Clock>>,
}

/// What supports a statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Support {
    /// Whose words.
    pub origin: Origin,
    /// Which messages, by their place.
    pub places: Vec<usize>,
    /// How much of what it says is there.
    pub covered: f64,
    /// Whether every small number is there, too.
    pub counted: bool,
}

impl<'a> Evidence<'a> {
    /// Reads the messages once.
    pub fn new(messages: &'a [Message], zone: &TimeZone) -> Self {
        let full = |message: &Message| {
            let mut text = message.text.clone();
            for call in &message.calls {
                for part in [&call.tool, &call.input].into_iter().chain(&call.reads).chain(&call.writes) {
                    text.push(' ');
                    text.push_str(part);
                }
            }
            text
        };
        let texts: Vec<String> = messages.iter().map(full).collect();
        let clock = |message: &Message| message.at.map(|at| Clock::of(&at.to_zoned(zone.clone())));
        Self {
            messages,
            plain: texts.iter().map(|text| plain(text)).collect(),
            words: texts.iter().map(|text| words(text)).collect(),
            clocks: messages.iter().map(clock).collect(),
        }
    }

    /// The ids of messages.
    pub fn ids(&self, places: &[usize]) -> Vec<String> {
        places
            .iter()
            .filter_map(|place| self.messages.get(*place))
            .map(|message| message.id.clone())
            .collect()
    }

    /// What supports `text`, looking first at the messages it cites, counted from 1. `Err` says what it names that nobody
    /// said.
    pub fn support(&self, text: &str, cited: &[usize]) -> Result<Support, Fault> {
        let wanted = Wanted::of(text);
        let content = words(text);
        let cited: Vec<usize> = cited
            .iter()
            .filter_map(|number| number.checked_sub(1))
            .filter(|place| *place < self.messages.len())
            .collect();
        let places = self.extended(&wanted, &content, cited)?;
        let mut best: Option<Support> = None;
        // The person's own words alone, then with the agent's, then with whatever tools printed.
        for (origin, roles) in [
            (Origin::User, &[Role::User][..]),
            (Origin::Agent, &[Role::User, Role::Assistant, Role::Summary][..]),
            (Origin::Tool, &[Role::User, Role::Assistant, Role::Summary, Role::Tool][..]),
        ] {
            let own: Vec<usize> =
                places.iter().copied().filter(|place| roles.contains(&self.messages[*place].role)).collect();
            let has = |name: &String| own.iter().any(|place| stands_in(name, &self.plain[*place]));
            let there: HashSet<u64> = own.iter().flat_map(|place| &self.words[*place]).copied().collect();
            let covered = coverage(&content, &there);
            let named = wanted.names.iter().all(has);
            let support =
                Support { origin, covered, counted: wanted.counts.iter().all(has), places: own.clone() };
            if named && covered >= COVERED && !own.is_empty() {
                return Ok(support);
            }
            if named && covered >= TOUCHED && best.as_ref().is_none_or(|best| covered > best.covered + 0.1) {
                best = Some(support);
            }
        }
        // What is only touched upon is nobody's own word.
        let best = best.ok_or(Fault::Unsupported)?;
        let origin = if best.origin == Origin::User { Origin::Agent } else { best.origin };
        Ok(Support { origin, ..best })
    }

    /// The cited messages, and for every name that is in none of them one that has it. Where they do not cover the
    /// statement, or none was cited, those that share most with it as well.
    fn extended(
        &self,
        wanted: &Wanted,
        content: &HashSet<u64>,
        cited: Vec<usize>,
    ) -> Result<Vec<usize>, Fault> {
        let mut places = cited;
        let there: HashSet<u64> = places.iter().flat_map(|place| &self.words[*place]).copied().collect();
        if places.is_empty() || coverage(content, &there) < COVERED {
            let mut near: Vec<(usize, usize)> = self
                .words
                .iter()
                .enumerate()
                .map(|(place, words)| (content.iter().filter(|word| words.contains(word)).count(), place))
                .filter(|(shared, _)| *shared >= 2)
                .collect();
            near.sort_by_key(|(shared, place)| (std::cmp::Reverse(*shared), *place));
            places.extend(near.into_iter().take(2).map(|(_, place)| place));
        }
        for name in &wanted.names {
            if places.iter().any(|place| stands_in(name, &self.plain[*place])) {
                continue;
            }
            let found = (0..self.plain.len()).filter(|place| stands_in(name, &self.plain[*place]));
            // The person's words before the agent's before a tool's.
            let trust = |place: &usize| match self.messages[*place].role {
                Role::User => 0,
                Role::Assistant | Role::Summary => 1,
                Role::Tool => 2,
            };
            match found.min_by_key(trust) {
                Some(place) => places.push(place),
                None => return Err(Fault::Invented),
            }
        }
        places.sort_unstable();
        places.dedup();
        places.truncate(MAX_MESSAGES);
        Ok(places)
    }

    /// Whether a name stands in one of these messages.
    pub(super) fn has(&self, name: &str, ids: &[String]) -> bool {
        let cited = self.messages.iter().zip(&self.plain).filter(|(message, _)| ids.contains(&message.id));
        cited.into_iter().any(|(_, text)| stands_in(name, text))
    }

    /// Whether `text` was copied from a tool's output.
    fn is_copied(&self, text: &str) -> bool {
        let text: Vec<char> = plain(text).chars().collect();
        let mut pieces = text.windows(COPIED).step_by(COPIED / 4);
        pieces.any(|piece| {
            let piece: String = piece.iter().collect();
            let tools =
                self.messages.iter().zip(&self.plain).filter(|(message, _)| message.role == Role::Tool);
            tools.into_iter().any(|(_, output)| output.contains(&piece))
        })
    }

    /// The time of a statement, which is a message's or none; and whether what was claimed was wrong.
    fn when(&self, claimed: Option<When>, places: &[usize]) -> (Option<When>, bool) {
        let theirs = || places.iter().filter_map(|place| self.clocks[*place]);
        match claimed {
            Some(When::At(clock)) if theirs().any(|their| their == clock) => (claimed, false),
            Some(When::At(_)) => (theirs().next().map(When::At), true),
            other => (theirs().next().map(When::At).or(other), false),
        }
    }

    /// A task or suggestion: one line in the words of the person and the agent, or nothing.
    fn spoken(&self, text: &str) -> Option<String> {
        let text = one_line(&admit(text).text, MAX_NARRATIVE);
        let wanted = Wanted::of(&text);
        let (mut spoken, mut printed) = (HashSet::new(), HashSet::new());
        for (message, words) in self.messages.iter().zip(&self.words) {
            if message.role == Role::Tool { &mut printed } else { &mut spoken }.extend(words);
        }
        let named = wanted.names.iter().all(|name| {
            let heard = self.messages.iter().zip(&self.plain);
            heard.filter(|(message, _)| message.role != Role::Tool).any(|(_, text)| stands_in(name, text))
        });
        let content = words(&text);
        let (said, output) = (coverage(&content, &spoken), coverage(&content, &printed));
        (!text.is_empty() && named && said >= COVERED && said + 0.2 >= output).then_some(text)
    }
}

/// The fixed words for a session that is done (OBS-16).
pub const DONE: &str = "Session completed normally.";

/// Holds an observer's answer against the messages it is about.
pub fn check(output: &ObserverOutput, messages: &[Message], zone: &TimeZone) -> Checked {
    let evidence = Evidence::new(messages, zone);
    let mut checked = Checked::default();
    let mut seen = HashSet::new();
    let mut count = 0;
    let flat = super::parse::DistilledSegment {
        narrative: String::new(),
        facts: output.observations.lines().map(str::to_owned).collect(),
    };
    let segments = if output.segments.is_empty() { std::slice::from_ref(&flat) } else { &output.segments };
    for segment in segments {
        let mut part = Part { narrative: narrative(&segment.narrative, &evidence), findings: Vec::new() };
        for line in &segment.facts {
            let Some(claim) = claim(line) else { continue };
            let mut fault = |fault: Fault| *checked.faults.entry(fault).or_default() += 1;
            if count >= MAX_FINDINGS {
                fault(Fault::TooMany);
                continue;
            }
            match finding(&claim, &evidence, &mut fault) {
                Ok(found) if seen.insert(crate::text::normal::normalised(&found.text)) => {
                    count += 1;
                    part.findings.push(found);
                }
                Ok(_) => fault(Fault::Repeated),
                Err(why) => fault(why),
            }
        }
        if !part.narrative.is_empty() || !part.findings.is_empty() {
            checked.observed.parts.push(part);
        }
    }
    checked.observed.current_task = output.current_task.as_deref().and_then(|task| evidence.spoken(task));
    checked.observed.suggested_response = output
        .suggested_response
        .as_deref()
        .and_then(|text| if text.trim() == DONE { Some(DONE.to_owned()) } else { evidence.spoken(text) });
    checked
}

fn narrative(text: &str, evidence: &Evidence<'_>) -> String {
    let text = one_line(&admit(text).text, MAX_NARRATIVE);
    let keeps = evidence.support(&text, &[]).is_ok() && !evidence.is_copied(&text);
    if keeps { text } else { String::new() }
}

/// What an observer claims.
struct Claim {
    priority: Priority,
    when: Option<When>,
    text: String,
    cited: Vec<usize>,
    feels: Option<Sentiment>,
}

fn claim(line: &str) -> Option<Claim> {
    let (priority, rest) = bullet(line)?;
    let (when, rest) =
        When::prefix(rest).map_or((None, rest), |(when, rest)| (Some(when), rest.trim_start()));
    let (rest, feels) = feeling(rest);
    let (text, cited) = citations(rest);
    let text = one_line(&admit(text).text, MAX_TEXT);
    (!text.is_empty()).then_some(Claim { priority, when, text, cited, feels })
}

/// `… [#3] {urgent}`: the line without its last word in braces, and what that word says, if it is one of the few that say
/// something (FBK-07). Braces that follow no citation are part of the text.
fn feeling(text: &str) -> (&str, Option<Sentiment>) {
    let braced = || {
        let (before, word) = text.trim_end().strip_suffix('}')?.rsplit_once('{')?;
        let before = before.trim_end();
        let word = word.trim().to_lowercase();
        let feels = Sentiment::ALL.into_iter().find(|feels| feels.word() == word);
        before.ends_with([']', ')']).then_some((before, feels))
    };
    braced().unwrap_or((text, None))
}

/// `… [#3, #7]`: the text, and the numbers behind it.
pub fn citations(text: &str) -> (&str, Vec<usize>) {
    let trimmed = text.trim_end();
    let numbers = |open: usize| -> Option<Vec<usize>> {
        let inside = trimmed.get(open + 1..trimmed.len() - 1)?;
        let parts = inside.split([',', ';', ' ']).filter(|part| !part.is_empty());
        let mut numbers = Vec::new();
        for part in parts {
            let part = part.trim_start_matches('#');
            match part.split_once(['-', '–']) {
                Some((from, to)) => {
                    let (from, to): (usize, usize) =
                        (from.parse().ok()?, to.trim_start_matches('#').parse().ok()?);
                    numbers.extend((from..=to).take(MAX_MESSAGES));
                }
                None => numbers.push(part.parse().ok()?),
            }
        }
        (!numbers.is_empty()).then_some(numbers)
    };
    let open = match trimmed.chars().next_back() {
        Some(']') => trimmed.rfind('['),
        Some(')') => trimmed.rfind("(#"),
        _ => None,
    };
    let found = open.and_then(|open| Some((trimmed.get(..open)?.trim_end(), numbers(open)?)));
    found.unwrap_or((trimmed, Vec::new()))
}

fn finding(claim: &Claim, evidence: &Evidence<'_>, fault: &mut impl FnMut(Fault)) -> Result<Finding, Fault> {
    let support = evidence.support(&claim.text, &claim.cited)?;
    if evidence.is_copied(&claim.text) {
        return Err(Fault::Copied);
    }
    let (when, wrong) = evidence.when(claim.when, &support.places);
    if wrong {
        fault(Fault::Time);
    }
    let certain = support.covered >= COVERED && support.counted;
    let question = claim.text.trim_end().ends_with(['?', '？']);
    let most = match support.origin {
        _ if !certain => Priority::Low,
        Origin::User if !question => Priority::High,
        // What an agent says of a fault and its cure is what it knows; without a name in it, it is talk.
        Origin::Agent if !question && !Wanted::of(&claim.text).names.is_empty() => Priority::High,
        _ => Priority::Medium,
    };
    if claim.priority > most {
        fault(Fault::Lowered);
    }
    Ok(Finding {
        kind: if question { Kind::Question } else { Kind::Other },
        priority: claim.priority.min(most),
        when,
        text: claim.text.clone(),
        origin: support.origin,
        strength: match support.origin {
            Origin::User if certain => Strength::Implied,
            _ => Strength::Inferred,
        },
        // Only a person feels something, and only about what they said themselves.
        sentiment: claim.feels.filter(|_| support.origin == Origin::User),
        gate: None,
        messages: evidence.ids(&support.places),
    })
}

#[cfg(test)]
mod tests;
