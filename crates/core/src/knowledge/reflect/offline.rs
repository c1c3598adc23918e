//! Reflection without a model: by kind, priority and frequency. It prefers no proposal to a guess.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::check::{MAX_QUOTE_CHARS, allowed_section, common_project};
use super::{
    DraftDropReason, DroppedDrafts, MAX_TEXT_CHARS, ProposalDraft, ReflectionPeriod, SeenFinding,
    TargetSection, distance,
};
use crate::base::confidence::confidence;
use crate::base::provenance::Origin;
use crate::base::provenance::StatementStrength;
use crate::base::time::Timestamp;
use crate::knowledge::observe::FindingKind;
use crate::knowledge::proposal::ProposalEvidence;
use crate::text::clean::one_line;
use crate::text::clean_and_redact;
use crate::text::contradiction::RULE_WORDS;
use crate::text::similarity::{AnalysedStatement, overlap};
use crate::text::specific_terms::specifics;
use crate::vault::priority::Priority;

/// The minimum number of sessions for a 🟡 finding (REF-10).
const MIN_NOTABLE_SESSIONS: usize = 2;
/// The maximum number of findings compared, most important and newest first. More is a flood, not a month of
/// work, and comparing all pairs would take minutes.
const MAX_FINDINGS: usize = 600;
/// The overlap of a problem with a fix from which it counts as resolved.
const MIN_RESOLVED_OVERLAP: f64 = 0.6;

/// The result of an offline reflection.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OfflineReflection {
    /// The possible drafts, best first within each section.
    pub drafts: Vec<ProposalDraft>,
    /// The number of dropped drafts by reason.
    pub dropped: DroppedDrafts,
}

/// Findings with the same meaning.
struct FindingGroup<'a> {
    section: TargetSection,
    /// The findings in the order of observation.
    findings: Vec<SeenFinding<'a>>,
    /// The statement of the newest finding.
    statement: AnalysedStatement,
}

/// Reflects on a period.
pub fn reflect(period: &ReflectionPeriod<'_>) -> OfflineReflection {
    let mut dropped = DroppedDrafts::default();
    let mut groups: Vec<FindingGroup<'_>> = Vec::new();
    let mut all: Vec<SeenFinding<'_>> = period.findings().collect();
    all.sort_by_key(|seen| (seen.observation.day, seen.observation.at));
    all.retain(|seen| section_of(seen).is_some());
    if all.len() > MAX_FINDINGS {
        all.sort_by_key(|seen| Reverse((seen.finding.priority, seen.observation.day, seen.observation.at)));
        all.drain(MAX_FINDINGS..).for_each(|_| dropped.add(DraftDropReason::Surplus));
        all.sort_by_key(|seen| (seen.observation.day, seen.observation.at));
    }
    let fix =
        |seen: &SeenFinding<'_>| (seen.observation.at, AnalysedStatement::from_text(&seen.finding.text));
    let fixes: Vec<_> = all.iter().filter(|seen| kind_of(seen) == FindingKind::Fix).map(fix).collect();
    for seen in all {
        let Some(section) = section_of(&seen) else { continue };
        let statement = AnalysedStatement::from_text(&seen.finding.text);
        if is_resolved(&seen, &statement, &fixes) {
            dropped.add(DraftDropReason::Resolved);
            continue;
        }
        match groups.iter_mut().find(|group| group.statement.is_same(&statement)) {
            Some(group) => {
                group.findings.push(seen);
                group.statement = statement;
            }
            None => groups.push(FindingGroup { section, findings: vec![seen], statement }),
        }
    }
    let mut drafts: Vec<(Priority, ProposalDraft)> = Vec::new();
    let notable: Vec<&FindingGroup<'_>> = groups.iter().filter(|group| group.is_notable()).collect();
    for group in &notable {
        // Only a newer assertion overrides an older one (REF-05); the age of a group is that of its newest
        // finding.
        if notable.iter().any(|other| overrides(other, group)) {
            dropped.add(DraftDropReason::Outdated);
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
    OfflineReflection { drafts: drafts.into_iter().map(|(_, draft)| draft).collect(), dropped }
}

fn overrides(new: &FindingGroup<'_>, old: &FindingGroup<'_>) -> bool {
    let at = |group: &FindingGroup<'_>| (group.newest().observation.day, group.newest().observation.at);
    at(new) > at(old)
        && distance(new.origin()) <= distance(old.origin())
        && new.statement.contradicts(&old.statement)
}

impl<'a> FindingGroup<'a> {
    /// The newest finding. A group has at least one.
    fn newest(&self) -> &SeenFinding<'a> {
        &self.findings[self.findings.len() - 1]
    }

    fn priority(&self) -> Priority {
        self.findings.iter().map(|seen| seen.finding.priority).max().unwrap_or(Priority::Low)
    }

    /// The most trusted origin in the group.
    fn origin(&self) -> Origin {
        let origins = self.findings.iter().map(|seen| seen.finding.origin);
        origins.min_by_key(|origin| distance(*origin)).unwrap_or(Origin::Tool)
    }

    fn sessions(&self) -> BTreeSet<&str> {
        self.findings.iter().map(|seen| seen.observation.session.as_str()).collect()
    }

    /// True for 🔴, and for 🟡 in several sessions (REF-10).
    fn is_notable(&self) -> bool {
        match self.priority() {
            Priority::High => true,
            Priority::Medium => self.sessions().len() >= MIN_NOTABLE_SESSIONS,
            Priority::Low => false,
        }
    }

    fn draft(&self) -> Result<ProposalDraft, DraftDropReason> {
        let origin = self.origin();
        // The newest finding of that origin: tool output must not speak for the user.
        let newest =
            self.findings.iter().rev().find(|seen| seen.finding.origin == origin).unwrap_or(self.newest());
        let mut evidence = ProposalEvidence::default();
        for seen in &self.findings {
            evidence.merge(&ProposalEvidence {
                sessions: vec![seen.observation.session.clone()],
                messages: seen.finding.messages.clone(),
                quotes: vec![one_line(&clean_and_redact(&seen.finding.text).text, MAX_QUOTE_CHARS)],
                said: Some(seen.observation.at),
                ..ProposalEvidence::default()
            });
        }
        let same_origin = self.findings.iter().filter(|seen| seen.finding.origin == origin);
        let strength =
            same_origin.map(|seen| seen.finding.strength).max().unwrap_or(StatementStrength::Inferred);
        let section = section_of(newest).unwrap_or_else(|| self.section.clone());
        Ok(ProposalDraft {
            section: allowed_section(section, origin),
            text: statement(&newest.finding.text)?,
            date: self.newest().observation.day,
            origin,
            explicit: origin == Origin::User && strength == StatementStrength::Explicit,
            confidence: confidence(strength.value(), evidence.sessions.len(), origin),
            evidence,
            project: common_project(self.findings.iter().map(|seen| seen.observation)),
            supersedes: None,
            joins: None,
        })
    }
}

/// A finding as a one-line statement within the length limit. Whole sentences are kept.
fn statement(text: &str) -> Result<String, DraftDropReason> {
    let text = one_line(&clean_and_redact(text).text, usize::MAX);
    if text.chars().count() <= MAX_TEXT_CHARS {
        return Ok(text);
    }
    let end = text.char_indices().nth(MAX_TEXT_CHARS).map_or(text.len(), |(end, _)| end);
    let cut = text[..end].rfind(". ").map(|at| &text[..=at]);
    cut.map(str::to_owned).ok_or(DraftDropReason::Long)
}

/// The kind of a finding; a model's finding has none, so its words decide.
fn kind_of(seen: &SeenFinding<'_>) -> FindingKind {
    match seen.finding.kind {
        FindingKind::Other => kind_by_words(&seen.finding.text),
        kind => kind,
    }
}

/// The target section of a finding (REF-09); `None` if it is no knowledge.
fn section_of(seen: &SeenFinding<'_>) -> Option<TargetSection> {
    let finding = seen.finding;
    if finding.priority == Priority::Low {
        return None;
    }
    let section = match kind_of(seen) {
        // An explicit rule; an implied one is a preference.
        FindingKind::Rule if finding.strength == StatementStrength::Explicit => TargetSection::HardRules,
        FindingKind::Rule | FindingKind::Preference | FindingKind::Correction => TargetSection::User,
        FindingKind::Decision | FindingKind::Change | FindingKind::Convention | FindingKind::Fact => {
            TargetSection::Architecture
        }
        FindingKind::Fix | FindingKind::Workflow => TargetSection::Patterns,
        FindingKind::Other if specifics(&finding.text).is_empty() => TargetSection::Patterns,
        FindingKind::Other => TargetSection::Architecture,
        FindingKind::Files
        | FindingKind::Question
        | FindingKind::Idea
        | FindingKind::Commit
        | FindingKind::Work => return None,
    };
    // An opinion of the agent or a tool is not the user's preference.
    let theirs =
        matches!(section, TargetSection::HardRules | TargetSection::User) && finding.origin != Origin::User;
    Some(if theirs { TargetSection::Patterns } else { section })
}

/// Words that show the kind of a statement, in the languages of the offline rules.
const DUTY_WORDS: [&str; 4] = ["must", "必ず", "总是", "永远"];
const WISH_WORDS: [&str; 16] = [
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
const CAUSE_WORDS: [&str; 16] = [
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

fn kind_by_words(text: &str) -> FindingKind {
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
        () if has(&RULE_WORDS) || has(&DUTY_WORDS) => FindingKind::Rule,
        () if has(&WISH_WORDS) => FindingKind::Preference,
        () if has(&CAUSE_WORDS) => FindingKind::Fix,
        () => FindingKind::Other,
    }
}

/// True if a finding is a problem with a fix in the same or a later session (REF-08).
fn is_resolved(
    seen: &SeenFinding<'_>,
    statement: &AnalysedStatement,
    fixes: &[(Timestamp, AnalysedStatement)],
) -> bool {
    if seen.finding.kind != FindingKind::Other || kind_of(seen) != FindingKind::Other {
        return false;
    }
    let is_fixed = |(at, fix): &(Timestamp, AnalysedStatement)| {
        *at >= seen.observation.at && overlap(statement.terms(), fix.terms()) >= MIN_RESOLVED_OVERLAP
    };
    fixes.iter().any(is_fixed)
}
