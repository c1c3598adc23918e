//! The messages of a session as evidence: whose words support a statement, when they were said, and what nobody said.

use std::collections::HashSet;

use super::fault::Fault;
use crate::base::provenance::Origin;
use crate::base::time::{Date, TimeZone};
use crate::session::{Message, Role};
use crate::text::specifics::{self, coverage, plain, stands_in, words};
use crate::vault::daily_log::{Clock, When};

/// So much of what a statement says has to be in the words that support it.
pub(crate) const COVERED: f64 = 0.5;
/// So much of it, and it may be what somebody concluded; less, and nobody said it.
const TOUCHED: f64 = 0.3;
/// So many characters in a row, taken from a tool's output, are a copy (OBS-13).
const COPIED: usize = 100;
/// The most messages that a statement points back to.
pub(super) const MAX_MESSAGES: usize = 6;

/// What a statement names, and the small numbers in it: a wrong count only makes it doubtful.
pub(super) struct Wanted {
    pub names: Vec<String>,
    pub counts: Vec<String>,
}

impl Wanted {
    pub(super) fn of(text: &str) -> Self {
        let all = specifics::specifics(text).into_iter().filter(|specific| !specifics::is_clock(specific));
        let (counts, names) = all.partition(|specific| specifics::is_count(specific));
        Self { names, counts }
    }
}

/// The messages, prepared for looking things up in them.
pub struct Evidence<'a> {
    messages: &'a [Message],
    plain: Vec<String>,
    words: Vec<HashSet<u64>>,
    clocks: Vec<Option<Clock>>,
    days: Vec<Option<Date>>,
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
        let texts: Vec<String> = messages.iter().map(said_and_done).collect();
        let clock = |message: &Message| message.at.map(|at| Clock::of(&at.to_zoned(zone.clone())));
        Self {
            messages,
            plain: texts.iter().map(|text| plain(text)).collect(),
            words: texts.iter().map(|text| words(text)).collect(),
            clocks: messages.iter().map(clock).collect(),
            days: messages.iter().map(|message| Some(message.at?.to_zoned(zone.clone()).date())).collect(),
        }
    }

    /// The day on which the first of these messages that has a time was said.
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
    pub(super) fn is_copied(&self, text: &str) -> bool {
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
    pub(super) fn when(&self, claimed: Option<When>, places: &[usize]) -> (Option<When>, bool) {
        let theirs = || places.iter().filter_map(|place| self.clocks[*place]);
        match claimed {
            Some(When::At(clock)) if theirs().any(|their| their == clock) => (claimed, false),
            Some(When::At(_)) => (theirs().next().map(When::At), true),
            other => (theirs().next().map(When::At).or(other), false),
        }
    }

    /// Whether a task or suggestion is in the words of the person and the agent.
    pub(super) fn is_spoken(&self, text: &str) -> bool {
        let wanted = Wanted::of(text);
        let (mut spoken, mut printed) = (HashSet::new(), HashSet::new());
        for (message, words) in self.messages.iter().zip(&self.words) {
            if message.role == Role::Tool { &mut printed } else { &mut spoken }.extend(words);
        }
        let named = wanted.names.iter().all(|name| {
            let heard = self.messages.iter().zip(&self.plain);
            heard.filter(|(message, _)| message.role != Role::Tool).any(|(_, text)| stands_in(name, text))
        });
        let content = words(text);
        let (said, output) = (coverage(&content, &spoken), coverage(&content, &printed));
        !text.is_empty() && named && said >= COVERED && said + 0.2 >= output
    }
}

/// What a message says, and what it does.
pub(super) fn said_and_done(message: &Message) -> String {
    let mut text = message.text.clone();
    for call in &message.calls {
        for part in [&call.tool, &call.input].into_iter().chain(&call.reads).chain(&call.writes) {
            text.push(' ');
            text.push_str(part);
        }
    }
    text
}
