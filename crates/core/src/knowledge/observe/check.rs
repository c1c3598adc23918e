//! Checks an observer's answer against the cited messages. Its names must occur there, its time must be
//! theirs, and the supporting speaker is determined here and not taken from the model (B-01).

use std::collections::HashSet;

use super::claim_fault::{ClaimFault, FaultCounts};
use super::evidence::{MAX_MESSAGES, MIN_SUPPORTED_COVERAGE, MessageEvidence, NamedSpecifics};
use super::finding::{Finding, FindingKind, ObservedSession, ObservedTopic};
use super::noise::NoiseDetector;
use super::parse::{ObserverOutput, parse_bullet};
use crate::base::provenance::Origin;
use crate::base::provenance::StatementStrength;
use crate::base::sentiment::Sentiment;
use crate::base::time::{Date, TimeZone};
use crate::session::Message;
use crate::text::clean::one_line;
use crate::text::clean_and_redact;
use crate::vault::daily_log::FactTime;
use crate::vault::priority::Priority;

/// The maximum length of a statement, in characters.
pub const MAX_TEXT_CHARS: usize = 400;
/// The maximum length of a narrative, a task or a suggestion, in characters.
pub const MAX_NARRATIVE_CHARS: usize = 600;
/// The maximum number of statements per window. An answer with more has copied, not distilled.
pub const MAX_FINDINGS: usize = 40;

/// The result of checking an observer's answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CheckedAnswer {
    /// The observations that passed the checks.
    pub observed: ObservedSession,
    /// The faults in the rest.
    pub faults: FaultCounts,
}

/// The fixed text for a finished session (OBS-16).
pub const COMPLETED_TEXT: &str = "Session completed normally.";

/// Checks an observer's answer against its messages.
pub fn check(output: &ObserverOutput, messages: &[Message], zone: &TimeZone) -> CheckedAnswer {
    let evidence = MessageEvidence::new(messages, zone);
    let noise = NoiseDetector::new(messages, zone);
    let mut checked = CheckedAnswer::default();
    let mut seen = HashSet::new();
    let mut count = 0;
    let flat = super::parse::DistilledSegment {
        narrative: String::new(),
        facts: output.observations.lines().map(str::to_owned).collect(),
    };
    let segments = if output.segments.is_empty() { std::slice::from_ref(&flat) } else { &output.segments };
    for segment in segments {
        let mut parts = DaySplitter::from_segment(narrative(&segment.narrative, &evidence));
        for line in &segment.facts {
            let Some(claim) = claim(line) else { continue };
            let mut fault = |fault: ClaimFault| *checked.faults.entry(fault).or_default() += 1;
            if count >= MAX_FINDINGS {
                fault(ClaimFault::TooMany);
                continue;
            }
            match finding(&claim, &evidence, &noise, &mut fault) {
                Ok((found, day)) if seen.insert(crate::text::normalise::normalise(&found.text)) => {
                    count += 1;
                    parts.add(found, day);
                }
                Ok(_) => fault(ClaimFault::Repeated),
                Err(why) => fault(why),
            }
        }
        checked.observed.parts.extend(parts.all);
    }
    // A model need not keep the order of days; parts without a day count for the last one.
    checked.observed.parts.sort_by_key(|part| part.day.unwrap_or(Date::MAX));
    let spoken = |text: &str| {
        Some(one_line(&clean_and_redact(text).text, MAX_NARRATIVE_CHARS))
            .filter(|text| evidence.is_in_session_words(text))
    };
    checked.observed.current_task = output.current_task.as_deref().and_then(spoken);
    checked.observed.suggested_response = output.suggested_response.as_deref().and_then(|text| {
        if text.trim() == COMPLETED_TEXT { Some(COMPLETED_TEXT.to_owned()) } else { spoken(text) }
    });
    checked
}

/// A narrative, and the day on which it was said.
fn narrative(text: &str, evidence: &MessageEvidence<'_>) -> (String, Option<Date>) {
    let text = one_line(&clean_and_redact(text).text, MAX_NARRATIVE_CHARS);
    match evidence.find_support(&text, &[]) {
        Ok(support) if !evidence.is_copied(&text) => {
            let day = evidence.day(&support.places);
            (text, day)
        }
        _ => (String::new(), None),
    }
}

/// A segment, divided by day: a session may continue past midnight.
struct DaySplitter {
    all: Vec<ObservedTopic>,
}

impl DaySplitter {
    fn from_segment((narrative, day): (String, Option<Date>)) -> Self {
        let part = ObservedTopic { narrative, day, ..ObservedTopic::default() };
        Self { all: if part.narrative.is_empty() { Vec::new() } else { vec![part] } }
    }

    /// Adds a finding. Without a time it joins the one before.
    fn add(&mut self, finding: Finding, day: Option<Date>) {
        let day = day.or_else(|| self.all.last()?.day);
        match self.all.iter_mut().find(|part| part.day == day) {
            Some(part) => part.findings.push(finding),
            None => self.all.push(ObservedTopic { day, findings: vec![finding], ..ObservedTopic::default() }),
        }
    }
}

/// A statement of an observer.
struct ObserverClaim {
    priority: Priority,
    time: Option<FactTime>,
    text: String,
    cited: Vec<usize>,
    feels: Option<Sentiment>,
}

fn claim(line: &str) -> Option<ObserverClaim> {
    let (priority, rest) = parse_bullet(line)?;
    let (when, rest) =
        FactTime::strip_time(rest).map_or((None, rest), |(when, rest)| (Some(when), rest.trim_start()));
    let (rest, feels) = feeling(rest);
    let (text, cited) = parse_citations(rest);
    let text = one_line(&clean_and_redact(text).text, MAX_TEXT_CHARS);
    (!text.is_empty()).then_some(ObserverClaim { priority, time: when, text, cited, feels })
}

/// Splits `… [#3] {urgent}` into the line and its sentiment, if the word in braces is a known one (FBK-07).
/// Braces without a citation before them belong to the text.
fn feeling(text: &str) -> (&str, Option<Sentiment>) {
    let braced = || {
        let (before, word) = text.trim_end().strip_suffix('}')?.rsplit_once('{')?;
        let before = before.trim_end();
        let word = word.trim().to_lowercase();
        let feels = Sentiment::from_word(&word);
        before.ends_with([']', ')']).then_some((before, feels))
    };
    braced().unwrap_or((text, None))
}

/// Splits `… [#3, #7]` into the text and the cited numbers.
pub fn parse_citations(text: &str) -> (&str, Vec<usize>) {
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

fn finding(
    claim: &ObserverClaim,
    evidence: &MessageEvidence<'_>,
    noise: &NoiseDetector<'_>,
    fault: &mut impl FnMut(ClaimFault),
) -> Result<(Finding, Option<Date>), ClaimFault> {
    let support = evidence.find_support(&claim.text, &claim.cited)?;
    if evidence.is_copied(&claim.text) {
        return Err(ClaimFault::Copied);
    }
    noise.check_noise(&claim.text, &support)?;
    let (when, wrong) = evidence.check_time(claim.time, &support.places);
    if wrong {
        fault(ClaimFault::Time);
    }
    let certain = support.covered >= MIN_SUPPORTED_COVERAGE && support.counted;
    let question = claim.text.trim_end().ends_with(['?', '？']);
    let most = match support.origin {
        _ if !certain => Priority::Low,
        Origin::User if !question => Priority::High,
        // An agent's statement of a fault and its fix counts as knowledge if it names something.
        Origin::Agent if !question && !NamedSpecifics::from_text(&claim.text).names.is_empty() => {
            Priority::High
        }
        _ => Priority::Medium,
    };
    if claim.priority > most {
        fault(ClaimFault::Lowered);
    }
    let day = evidence.day(&support.places);
    let found = Finding {
        kind: if question { FindingKind::Question } else { FindingKind::Other },
        priority: claim.priority.min(most),
        when,
        text: claim.text.clone(),
        origin: support.origin,
        strength: match support.origin {
            Origin::User if certain => StatementStrength::Implied,
            _ => StatementStrength::Inferred,
        },
        everywhere: false,
        perhaps_everywhere: false,
        ends: false,
        // Sentiment exists only for the user's own words.
        sentiment: claim.feels.filter(|_| support.origin == Origin::User),
        gate: None,
        messages: evidence.ids(&support.places),
    };
    Ok((found, day))
}

#[cfg(test)]
mod tests;
