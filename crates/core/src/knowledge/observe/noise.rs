//! Detects true statements that are not worth keeping: copied messages, and retold steps of a session
//! (OBS-03, OBS-13).
//!
//! Small models produce little else. The user's explicit statements are kept in any wording, as the rules
//! find them.

use super::claim_fault::ClaimFault;
use super::evidence::{MIN_SUPPORTED_COVERAGE, StatementSupport, text_with_calls};
use super::finding::{Finding, FindingKind};
use super::retold_steps::{is_retold_request, is_retold_step};
use super::rules::observe;
use super::rules::words::{cause, idea, retold, wish};
use crate::base::provenance::Origin;
use crate::base::time::TimeZone;
use crate::session::{Message, MessageRole};
use crate::text::common_words;
use crate::text::phrases::{contains_dense, content, has, strip_phrase};
use crate::text::sentences;
use crate::text::sentences::fold;
use crate::text::specific_terms::{content_words, coverage, specifics};

/// The minimum number of significant words of a statement.
const MIN_WORDS: usize = 4;

/// A session, prepared for detecting noise.
pub struct NoiseDetector<'a> {
    messages: &'a [Message],
    /// The words of each message, with spaces around them.
    lines: Vec<String>,
    /// The findings of the rules.
    findings: Vec<Finding>,
}

impl<'a> NoiseDetector<'a> {
    /// Indexes the messages of a session.
    pub fn new(messages: &'a [Message], zone: &TimeZone) -> Self {
        Self {
            messages,
            lines: messages.iter().map(|message| in_words(&text_with_calls(message))).collect(),
            findings: observe(messages, zone, None).findings().cloned().collect(),
        }
    }

    /// Checks that a statement with this support is worth keeping. The error is the reason if not.
    pub fn check_noise(&self, text: &str, support: &StatementSupport) -> Result<(), ClaimFault> {
        if self.laid_down(text, &support.places) {
            return Ok(());
        }
        if self.is_idle_copy(text) {
            return Err(ClaimFault::Quoted);
        }
        // The user's words are never a step of the agent, in any wording.
        let step = support.origin != Origin::User && is_retold_step(text);
        if step || is_retold_request(text) { Err(ClaimFault::Retold) } else { Ok(()) }
    }

    /// True if the rules find the statement in one of these messages.
    fn laid_down(&self, text: &str, places: &[usize]) -> bool {
        let said = content_words(text);
        let here = |finding: &&Finding| {
            let ids = places.iter().filter_map(|place| self.messages.get(*place)).map(|message| &message.id);
            ids.into_iter().any(|id| finding.messages.contains(id))
        };
        let found = self
            .findings
            .iter()
            .filter(|finding| !matches!(finding.kind, FindingKind::Files | FindingKind::Workflow));
        found
            .filter(here)
            .any(|finding| coverage(&said, &content_words(&finding.text)) >= MIN_SUPPORTED_COVERAGE)
    }

    /// True if a statement copies a message, or a part of one, that states nothing lasting.
    fn is_idle_copy(&self, text: &str) -> bool {
        let line = in_words(text);
        // Prefer the user's message to the agent's, and that to tool output: repetitions have the same words.
        let of = |role: fn(MessageRole) -> bool| {
            self.messages
                .iter()
                .zip(&self.lines)
                .any(|(message, words)| role(message.role) && contains_statement(words, &line))
        };
        if of(|role| role == MessageRole::User) {
            return !asserts(text);
        }
        if of(|role| matches!(role, MessageRole::Assistant | MessageRole::Summary)) {
            return !explains(text);
        }
        of(|role| role == MessageRole::Tool)
    }

    /// True if one of these messages considers something for later, as an idea requires.
    pub fn is_about_future(&self, places: &[usize]) -> bool {
        let said = |message: &&Message| message.role != MessageRole::Tool;
        let here = places.iter().filter_map(|place| self.messages.get(*place)).filter(said);
        let found = |id: &String| {
            self.findings.iter().any(|found| found.kind == FindingKind::Idea && found.messages.contains(id))
        };
        here.into_iter().any(|message| {
            let text = fold(&message.text);
            found(&message.id)
                || has(&text, idea::THOUGHT_OF)
                || contains_dense(&text, idea::DENSE_THOUGHT_OF)
        })
    }

    /// The user's explicit statements, in their own words.
    pub fn user_findings(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|finding| {
            let kind = finding.kind;
            finding.origin == Origin::User
                && matches!(
                    kind,
                    FindingKind::Rule
                        | FindingKind::Preference
                        | FindingKind::Correction
                        | FindingKind::Decision
                        | FindingKind::Change
                )
        })
    }

    /// The explicit statements that are missing in these statements.
    pub fn missing_findings(&self, said: &[&str]) -> impl Iterator<Item = &Finding> {
        self.user_findings().filter(move |finding| !said.iter().any(|text| states_finding(text, finding)))
    }
}

/// True if a statement contains a finding.
pub fn states_finding(statement: &str, finding: &Finding) -> bool {
    coverage(&content_words(&finding.text), &content_words(statement)) >= MIN_SUPPORTED_COVERAGE
}

/// The words of a text, separated and surrounded by single spaces.
fn in_words(text: &str) -> String {
    let mut line = String::from(" ");
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        line.extend(word.chars().flat_map(char::to_lowercase));
        line.push(' ');
    }
    line
}

/// True if a message contains the statement, except for an added first or last word.
fn contains_statement(message: &str, statement: &str) -> bool {
    let inner = statement.trim();
    let after = inner.split_once(' ').map(|(_, rest)| format!(" {rest} "));
    let before = inner.rsplit_once(' ').map(|(rest, _)| format!(" {rest} "));
    let long = |part: &String| part.split_whitespace().count() >= 2;
    !inner.is_empty()
        && (message.contains(statement)
            || after.filter(long).is_some_and(|part| message.contains(&part))
            || before.filter(long).is_some_and(|part| message.contains(&part)))
}

/// True if a sentence of the user states something verifiable and asks for nothing.
fn asserts(text: &str) -> bool {
    let folded = fold(text);
    let asks = sentences::asks_or_quotes(&folded)
        || has(&folded, wish::REQUESTS)
        || has(&folded, retold::PLEASE)
        || contains_dense(&folded, retold::DENSE_ORDERS);
    let orders = folded.split([',', ';', '.', '!', ':']).any(|clause| {
        let clause = crate::session::remember_requests::strip_lead(clause.trim());
        strip_phrase(clause, retold::ORDERS, "").is_some()
    });
    let approves = strip_phrase(&folded, common_words::APPROVALS, "").is_some();
    !asks && !orders && !approves && content(text).len() >= MIN_WORDS && !specifics(text).is_empty()
}

/// True if the agent explains something, rather than announcing its next step.
fn explains(text: &str) -> bool {
    sentences::split_sentences(text).into_iter().any(|sentence| {
        let folded = fold(sentence);
        let plans = sentences::asks_or_quotes(&folded) || strip_phrase(&folded, cause::PLANS, "").is_some();
        let causes = has(&folded, cause::NAMED) || contains_dense(&folded, cause::DENSE_NAMED);
        !plans && content(sentence).len() >= MIN_WORDS && (causes || !specifics(sentence).is_empty())
    })
}

#[cfg(test)]
mod tests;
