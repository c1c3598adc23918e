//! The messages of a session as evidence: the speaker and the time of a statement, and names that nobody
//! mentioned.

use std::collections::HashSet;

use super::claim_fault::ClaimFault;
use crate::base::provenance::Origin;
use crate::base::time::{Date, TimeZone};
use crate::session::{Message, MessageRole};
use crate::text::specific_terms::{
    self, content_words, coverage, normalise_for_specifics, normalised_contains,
};
use crate::vault::daily_log::{FactTime, TimeOfDay};

/// The minimum word overlap between a statement and its support.
pub(crate) const MIN_SUPPORTED_COVERAGE: f64 = 0.5;
/// The minimum overlap of a conclusion; below it the statement is unsupported.
const MIN_INFERRED_COVERAGE: f64 = 0.3;
/// The number of consecutive characters of tool output that counts as a copy (OBS-13).
const MIN_COPIED_CHARS: usize = 100;
/// The maximum number of messages that a statement cites.
pub(super) const MAX_MESSAGES: usize = 6;

/// The names and the small numbers in a statement. A wrong number only lowers the trust.
pub(super) struct NamedSpecifics {
    pub names: Vec<String>,
    pub counts: Vec<String>,
}

impl NamedSpecifics {
    pub(super) fn from_text(text: &str) -> Self {
        let all = specific_terms::specifics(text)
            .into_iter()
            .filter(|specific| !specific_terms::is_clock(specific));
        let (counts, names) = all.partition(|specific| specific_terms::is_count(specific));
        Self { names, counts }
    }
}

/// The messages of a session, indexed for lookups.
pub struct MessageEvidence<'a> {
    messages: &'a [Message],
    plain: Vec<String>,
    words: Vec<HashSet<u64>>,
    clocks: Vec<Option<TimeOfDay>>,
    days: Vec<Option<Date>>,
}

/// The support of a statement.
#[derive(Clone, Debug, PartialEq)]
pub struct StatementSupport {
    /// The speaker of the supporting words.
    pub origin: Origin,
    /// The indexes of the supporting messages.
    pub places: Vec<usize>,
    /// The share of the statement's words found there.
    pub covered: f64,
    /// True if all small numbers occur there too.
    pub counted: bool,
}

impl<'a> MessageEvidence<'a> {
    /// Indexes the messages of a session.
    pub fn new(messages: &'a [Message], zone: &TimeZone) -> Self {
        let texts: Vec<String> = messages.iter().map(text_with_calls).collect();
        let clock =
            |message: &Message| message.at.map(|at| TimeOfDay::from_zoned(&at.to_zoned(zone.clone())));
        Self {
            messages,
            plain: texts.iter().map(|text| normalise_for_specifics(text)).collect(),
            words: texts.iter().map(|text| content_words(text)).collect(),
            clocks: messages.iter().map(clock).collect(),
            days: messages.iter().map(|message| Some(message.at?.to_zoned(zone.clone()).date())).collect(),
        }
    }

    /// The day of the first of these messages that has a time.
    pub fn day(&self, places: &[usize]) -> Option<Date> {
        places.iter().find_map(|place| *self.days.get(*place)?)
    }

    /// The ids of messages.
    pub fn ids(&self, places: &[usize]) -> Vec<String> {
        places
            .iter()
            .filter_map(|place| self.messages.get(*place))
            .map(|message| message.id.clone())
            .collect()
    }

    /// Finds the support for `text`, first in the cited messages (counted from 1). `Err` names the part that
    /// nobody said.
    pub fn find_support(&self, text: &str, cited: &[usize]) -> Result<StatementSupport, ClaimFault> {
        let specifics = NamedSpecifics::from_text(text);
        let content = content_words(text);
        let cited: Vec<usize> = cited
            .iter()
            .filter_map(|number| number.checked_sub(1))
            .filter(|place| *place < self.messages.len())
            .collect();
        let places = self.extended(&specifics, &content, cited)?;
        let mut best: Option<StatementSupport> = None;
        // Try the user's words alone, then with the agent's, then with tool output.
        for (origin, roles) in [
            (Origin::User, &[MessageRole::User][..]),
            (Origin::Agent, &[MessageRole::User, MessageRole::Assistant, MessageRole::Summary][..]),
            (
                Origin::Tool,
                &[MessageRole::User, MessageRole::Assistant, MessageRole::Summary, MessageRole::Tool][..],
            ),
        ] {
            let own: Vec<usize> =
                places.iter().copied().filter(|place| roles.contains(&self.messages[*place].role)).collect();
            let has = |name: &String| own.iter().any(|place| normalised_contains(name, &self.plain[*place]));
            let there: HashSet<u64> = own.iter().flat_map(|place| &self.words[*place]).copied().collect();
            let covered = coverage(&content, &there);
            let named = specifics.names.iter().all(has);
            let support = StatementSupport {
                origin,
                covered,
                counted: specifics.counts.iter().all(has),
                places: own.clone(),
            };
            if named && covered >= MIN_SUPPORTED_COVERAGE && !own.is_empty() {
                return Ok(support);
            }
            if named
                && covered >= MIN_INFERRED_COVERAGE
                && best.as_ref().is_none_or(|best| covered > best.covered + 0.1)
            {
                best = Some(support);
            }
        }
        // A weakly supported statement never counts as the user's own words.
        let best = best.ok_or(ClaimFault::Unsupported)?;
        let origin = if best.origin == Origin::User { Origin::Agent } else { best.origin };
        Ok(StatementSupport { origin, ..best })
    }

    /// The cited messages, plus one for each name that they lack. If they do not cover the statement, or none
    /// is cited, the messages with the most overlap are added.
    fn extended(
        &self,
        wanted: &NamedSpecifics,
        content: &HashSet<u64>,
        cited: Vec<usize>,
    ) -> Result<Vec<usize>, ClaimFault> {
        let mut places = cited;
        let there: HashSet<u64> = places.iter().flat_map(|place| &self.words[*place]).copied().collect();
        if places.is_empty() || coverage(content, &there) < MIN_SUPPORTED_COVERAGE {
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
            if places.iter().any(|place| normalised_contains(name, &self.plain[*place])) {
                continue;
            }
            let found = (0..self.plain.len()).filter(|place| normalised_contains(name, &self.plain[*place]));
            // Prefer the user's words to the agent's, and those to tool output.
            let trust = |place: &usize| match self.messages[*place].role {
                MessageRole::User => 0,
                MessageRole::Assistant | MessageRole::Summary => 1,
                MessageRole::Tool => 2,
            };
            match found.min_by_key(trust) {
                Some(place) => places.push(place),
                None => return Err(ClaimFault::Invented),
            }
        }
        places.sort_unstable();
        places.dedup();
        places.truncate(MAX_MESSAGES);
        Ok(places)
    }

    /// True if one of these messages contains the name.
    pub(super) fn has(&self, name: &str, ids: &[String]) -> bool {
        let cited = self.messages.iter().zip(&self.plain).filter(|(message, _)| ids.contains(&message.id));
        cited.into_iter().any(|(_, text)| normalised_contains(name, text))
    }

    /// True if `text` was copied from tool output.
    pub(super) fn is_copied(&self, text: &str) -> bool {
        let text: Vec<char> = normalise_for_specifics(text).chars().collect();
        let mut pieces = text.windows(MIN_COPIED_CHARS).step_by(MIN_COPIED_CHARS / 4);
        pieces.any(|piece| {
            let piece: String = piece.iter().collect();
            let tools = self
                .messages
                .iter()
                .zip(&self.plain)
                .filter(|(message, _)| message.role == MessageRole::Tool);
            tools.into_iter().any(|(_, output)| output.contains(&piece))
        })
    }

    /// The time of a statement, taken from a message or `None`; and true if the claimed time was wrong.
    pub(super) fn check_time(&self, claimed: Option<FactTime>, places: &[usize]) -> (Option<FactTime>, bool) {
        let theirs = || places.iter().filter_map(|place| self.clocks[*place]);
        match claimed {
            Some(FactTime::At(clock)) if theirs().any(|their| their == clock) => (claimed, false),
            Some(FactTime::At(_)) => (theirs().next().map(FactTime::At), true),
            other => (theirs().next().map(FactTime::At).or(other), false),
        }
    }

    /// True if a task or suggestion uses the words of the user and the agent.
    pub(super) fn is_in_session_words(&self, text: &str) -> bool {
        let specifics = NamedSpecifics::from_text(text);
        let (mut spoken, mut printed) = (HashSet::new(), HashSet::new());
        for (message, words) in self.messages.iter().zip(&self.words) {
            if message.role == MessageRole::Tool { &mut printed } else { &mut spoken }.extend(words);
        }
        let named = specifics.names.iter().all(|name| {
            let messages = self.messages.iter().zip(&self.plain);
            messages
                .filter(|(message, _)| message.role != MessageRole::Tool)
                .any(|(_, text)| normalised_contains(name, text))
        });
        let content = content_words(text);
        let (said, output) = (coverage(&content, &spoken), coverage(&content, &printed));
        !text.is_empty() && named && said >= MIN_SUPPORTED_COVERAGE && said + 0.2 >= output
    }
}

/// The text and the calls of a message.
pub(super) fn text_with_calls(message: &Message) -> String {
    let mut text = message.text.clone();
    for call in &message.calls {
        for part in [&call.tool, &call.input].into_iter().chain(&call.reads).chain(&call.writes) {
            text.push(' ');
            text.push_str(part);
        }
    }
    text
}
