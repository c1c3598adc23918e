//! Reflection without a model: by kind, priority and frequency. It prefers no proposal to a guess.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::check::{MAX_QUOTE_CHARS, allowed, common_project};
use super::{Draft, Dropped, MAX_TEXT_CHARS, Period, Section, Seen, Why, distance};
use crate::base::confidence::confidence;
use crate::base::provenance::Origin;
use crate::base::provenance::Strength;
use crate::base::time::Timestamp;
use crate::knowledge::observe::Kind;
use crate::knowledge::proposal::Evidence;
use crate::text::admit;
use crate::text::clean::one_line;
use crate::text::contradiction::ABSOLUTE;
use crate::text::similarity::{Statement, share};
use crate::text::specifics::specifics;
use crate::vault::priority::Priority;

/// The minimum number of sessions for a 🟡 finding (REF-10).
const NOTABLE_SESSIONS: usize = 2;
/// The maximum number of findings compared, most important and newest first. More is a flood, not a month of
/// work, and comparing all pairs would take minutes.
const MOST_FINDINGS: usize = 600;
/// The overlap of a problem with a fix from which it counts as resolved.
const RESOLVED: f64 = 0.6;

/// The result of an offline reflection.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reflected {
    /// The possible drafts, best first within each section.
    pub drafts: Vec<Draft>,
    /// The number of dropped drafts by reason.
    pub dropped: Dropped,
}

/// Findings with the same meaning.
struct Group<'a> {
    section: Section,
    /// The findings in the order of observation.
    seen: Vec<Seen<'a>>,
    /// The statement of the newest finding.
    statement: Statement,
}

/// Reflects on a period.
pub fn reflect(period: &Period<'_>) -> Reflected {
    let mut dropped = Dropped::default();
    let mut groups: Vec<Group<'_>> = Vec::new();
    let mut all: Vec<Seen<'_>> = period.findings().collect();
    all.sort_by_key(|seen| (seen.observation.day, seen.observation.at));
    all.retain(|seen| section_of(seen).is_some());
    if all.len() > MOST_FINDINGS {
        all.sort_by_key(|seen| Reverse((seen.finding.priority, seen.observation.day, seen.observation.at)));
        all.drain(MOST_FINDINGS..).for_each(|_| dropped.add(Why::Surplus));
        all.sort_by_key(|seen| (seen.observation.day, seen.observation.at));
    }
    let fix = |seen: &Seen<'_>| (seen.observation.at, Statement::of(&seen.finding.text));
    let fixes: Vec<_> = all.iter().filter(|seen| kind_of(seen) == Kind::Fix).map(fix).collect();
    for seen in all {
        let Some(section) = section_of(&seen) else { continue };
        let statement = Statement::of(&seen.finding.text);
        if is_resolved(&seen, &statement, &fixes) {
            dropped.add(Why::Resolved);
            continue;
        }
        match groups.iter_mut().find(|group| group.statement.is_same(&statement)) {
            Some(group) => {
                group.seen.push(seen);
                group.statement = statement;
            }
            None => groups.push(Group { section, seen: vec![seen], statement }),
        }
    }
    let mut drafts: Vec<(Priority, Draft)> = Vec::new();
    let notable: Vec<&Group<'_>> = groups.iter().filter(|group| group.is_notable()).collect();
    for group in &notable {
        // Only a newer assertion overrides an older one (REF-05); the age of a group is that of its newest
        // finding.
        if notable.iter().any(|other| overrides(other, group)) {
            dropped.add(Why::Outdated);
            continue;
        }
        match group.draft() {
            Ok(draft) => drafts.push((group.priority(), draft)),
            Err(why) => dropped.add(why),
        }
    }
    drafts.sort_by_key(|(priority, draft)| {
        (
            draft.section.clone(),
            Reverse(*priority),
            Reverse(draft.evidence.sessions.len()),
            Reverse(draft.date),
        )
    });
    Reflected { drafts: drafts.into_iter().map(|(_, draft)| draft).collect(), dropped }
}

fn overrides(new: &Group<'_>, old: &Group<'_>) -> bool {
    let at = |group: &Group<'_>| (group.newest().observation.day, group.newest().observation.at);
    at(new) > at(old)
        && distance(new.origin()) <= distance(old.origin())
        && new.statement.contradicts(&old.statement)
}

impl<'a> Group<'a> {
    /// The newest finding. A group has at least one.
    fn newest(&self) -> &Seen<'a> {
        &self.seen[self.seen.len() - 1]
    }

    fn priority(&self) -> Priority {
        self.seen.iter().map(|seen| seen.finding.priority).max().unwrap_or(Priority::Low)
    }

    /// The most trusted origin in the group.
    fn origin(&self) -> Origin {
        let origins = self.seen.iter().map(|seen| seen.finding.origin);
        origins.min_by_key(|origin| distance(*origin)).unwrap_or(Origin::Tool)
    }

    fn sessions(&self) -> BTreeSet<&str> {
        self.seen.iter().map(|seen| seen.observation.session.as_str()).collect()
    }

    /// True for 🔴, and for 🟡 in several sessions (REF-10).
    fn is_notable(&self) -> bool {
        match self.priority() {
            Priority::High => true,
            Priority::Medium => self.sessions().len() >= NOTABLE_SESSIONS,
            Priority::Low => false,
        }
    }

    fn draft(&self) -> Result<Draft, Why> {
        let origin = self.origin();
        // The newest finding of that origin: tool output must not speak for the user.
        let told = self.seen.iter().rev().find(|seen| seen.finding.origin == origin).unwrap_or(self.newest());
        let mut evidence = Evidence::default();
        for seen in &self.seen {
            evidence.merge(&Evidence {
                sessions: vec![seen.observation.session.clone()],
                messages: seen.finding.messages.clone(),
                quotes: vec![one_line(&admit(&seen.finding.text).text, MAX_QUOTE_CHARS)],
                said: Some(seen.observation.at),
                ..Evidence::default()
            });
        }
        let theirs = self.seen.iter().filter(|seen| seen.finding.origin == origin);
        let strength = theirs.map(|seen| seen.finding.strength).max().unwrap_or(Strength::Inferred);
        let section = section_of(told).unwrap_or_else(|| self.section.clone());
        Ok(Draft {
            section: allowed(section, origin),
            text: statement(&told.finding.text)?,
            date: self.newest().observation.day,
            origin,
            explicit: origin == Origin::User && strength == Strength::Explicit,
            confidence: confidence(strength.value(), evidence.sessions.len(), origin),
            evidence,
            project: common_project(self.seen.iter().map(|seen| seen.observation)),
            supersedes: None,
            joins: None,
        })
    }
}

/// A finding as a one-line statement within the length limit. Whole sentences are kept.
fn statement(text: &str) -> Result<String, Why> {
    let text = one_line(&admit(text).text, usize::MAX);
    if text.chars().count() <= MAX_TEXT_CHARS {
        return Ok(text);
    }
    let end = text.char_indices().nth(MAX_TEXT_CHARS).map_or(text.len(), |(end, _)| end);
    let cut = text[..end].rfind(". ").map(|at| &text[..=at]);
    cut.map(str::to_owned).ok_or(Why::Long)
}

/// The kind of a finding; a model's finding has none, so its words decide.
fn kind_of(seen: &Seen<'_>) -> Kind {
    match seen.finding.kind {
        Kind::Other => kind_by_words(&seen.finding.text),
        kind => kind,
    }
}

/// The target section of a finding (REF-09); `None` if it is no knowledge.
fn section_of(seen: &Seen<'_>) -> Option<Section> {
    let finding = seen.finding;
    if finding.priority == Priority::Low {
        return None;
    }
    let section = match kind_of(seen) {
        // An explicit rule; an implied one is a preference.
        Kind::Rule if finding.strength == Strength::Explicit => Section::HardRules,
        Kind::Rule | Kind::Preference | Kind::Correction => Section::User,
        Kind::Decision | Kind::Change | Kind::Convention | Kind::Fact => Section::Architecture,
        Kind::Fix | Kind::Workflow => Section::Patterns,
        Kind::Other if specifics(&finding.text).is_empty() => Section::Patterns,
        Kind::Other => Section::Architecture,
        Kind::Files | Kind::Question | Kind::Idea | Kind::Commit | Kind::Work => return None,
    };
    // An opinion of the agent or a tool is not the user's preference.
    let theirs = matches!(section, Section::HardRules | Section::User) && finding.origin != Origin::User;
    Some(if theirs { Section::Patterns } else { section })
}

/// Words that show the kind of a statement, in the languages of the offline rules.
const DUTIES: [&str; 4] = ["must", "必ず", "总是", "永远"];
const WISHES: [&str; 16] = [
    "prefers",
    "prefer",
    "likes",
    "wants",
    "bevorzugt",
    "möchte",
    "prefiere",
    "quiere",
    "préfère",
    "veut",
    "prefere",
    "quer",
    "предпочитает",
    "хочет",
    "好む",
    "喜欢",
];
const CAUSES: [&str; 16] = [
    "because",
    "caused",
    "fixed",
    "cause",
    "workaround",
    "weil",
    "behoben",
    "ursache",
    "porque",
    "causa",
    "cause:",
    "corrigé",
    "исправлено",
    "причина",
    "原因",
    "修复",
];

fn kind_by_words(text: &str) -> Kind {
    let text = text.to_lowercase();
    let words: BTreeSet<&str> =
        text.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric())).collect();
    let has = |cues: &[&str]| {
        // In scripts without spaces a match may be anywhere.
        cues.iter().any(|cue| {
            words.contains(cue) || (!cue.is_ascii() && cue.chars().count() <= 2 && text.contains(cue))
        })
    };
    match () {
        () if has(&ABSOLUTE) || has(&DUTIES) => Kind::Rule,
        () if has(&WISHES) => Kind::Preference,
        () if has(&CAUSES) => Kind::Fix,
        () => Kind::Other,
    }
}

/// True if a finding is a problem with a fix in the same or a later session (REF-08).
fn is_resolved(seen: &Seen<'_>, statement: &Statement, fixes: &[(Timestamp, Statement)]) -> bool {
    if seen.finding.kind != Kind::Other || kind_of(seen) != Kind::Other {
        return false;
    }
    let is_fixed = |(at, fix): &(Timestamp, Statement)| {
        *at >= seen.observation.at && share(statement.terms(), fix.terms()) >= RESOLVED
    };
    fixes.iter().any(is_fixed)
}
