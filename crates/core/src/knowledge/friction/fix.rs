//! Turns patterns into fixes: one line for one file each, not proposed before (FRI-04, FRI-05).

use std::cmp::Reverse;

use super::{Earlier, Fix, Fixes, Kind, Known, LESSONS, MOST_FIXES, PATTERNS, Pattern, Why};
use crate::base::confidence::confidence;
use crate::base::provenance::Origin;
use crate::base::time::{Date, Timestamp};
use crate::knowledge::proposal::{Proposal, Source, Status, Target, instead_of};
use crate::knowledge::reflect::is_forged;
use crate::knowledge::reflect::memory::Memory;
use crate::text::normal::normalised;
use crate::text::similarity::Statement;
use crate::vault::identity::SHARED;
use crate::vault::layout;
use crate::vault::review::{Id, Kind as Letter, Place};

/// The fixes to propose, most severe first, and the reasons for dropping the others.
pub fn fixes(patterns: Vec<Pattern>, known: &Known<'_>) -> Fixes {
    let memory = Memory::read(known.period.memory);
    let before: Vec<(&Earlier, Statement)> =
        known.before.iter().map(|earlier| (earlier, Statement::of(&earlier.proposal.text))).collect();
    let mut patterns = patterns;
    patterns.sort_by_key(|pattern| (Reverse(pattern.severity()), pattern.kind, pattern.text.clone()));
    let mut found = Fixes::default();
    for pattern in patterns {
        let (target, statement) = (target(&pattern, known), Statement::of(&pattern.text));
        let taken = found.fixes.iter().any(|fix| Statement::of(&fix.pattern.text).is_same(&statement));
        let why = match judge(&pattern, &target, &statement, &memory, &before, known) {
            Judged::Again(id) => {
                found.again.push((id, pattern.evidence));
                Why::Waiting
            }
            Judged::Dropped(why) => why,
            Judged::New if taken => Why::Waiting,
            Judged::New if found.fixes.len() >= MOST_FIXES => Why::Surplus,
            Judged::New => {
                found.fixes.push(Fix { pattern, target });
                continue;
            }
        };
        *found.dropped.entry(why).or_default() += 1;
    }
    found
}

enum Judged {
    New,
    Again(Id),
    Dropped(Why),
}

fn judge(
    pattern: &Pattern,
    target: &Target,
    statement: &Statement,
    memory: &Memory,
    before: &[(&Earlier, Statement)],
    known: &Known<'_>,
) -> Judged {
    if pattern.evidence.sessions.len() < known.gate.sessions || is_forged(&pattern.text) {
        return Judged::Dropped(Why::Rare);
    }
    let is_agents = matches!(target, Target::Identity(_));
    let said = match (is_agents, known.agents) {
        (true, Some(agents)) => normalised(agents).contains(&normalised(&pattern.text)),
        _ => memory.seen_from(pattern.project.as_ref()).says(statement),
    };
    if said {
        return Judged::Dropped(Why::Said);
    }
    for (earlier, _) in before.iter().rev().filter(|(_, other)| other.is_same(statement)) {
        let proposal = &earlier.proposal;
        match proposal.status {
            status if status.is_open() => return Judged::Again(proposal.id),
            // It is in memory and still had to be repeated: an instruction that all agents read is a new
            // proposal.
            Status::Promoted if is_agents && proposal.section().is_some() => {
                if since(pattern, earlier.decided) < known.gate.sessions {
                    return Judged::Dropped(Why::Decided);
                }
            }
            _ => return Judged::Dropped(Why::Decided),
        }
    }
    Judged::New
}

/// The number of sessions in which it came up after a time.
fn since(pattern: &Pattern, then: Option<Timestamp>) -> usize {
    pattern.times.iter().filter(|at| then.is_none_or(|then| **at > then)).count()
}

/// The target file of a fix.
fn target(pattern: &Pattern, known: &Known<'_>) -> Target {
    match pattern.kind {
        Kind::RepeatedCorrection if known.agents.is_some() => Target::Identity(SHARED.to_owned()),
        Kind::RepeatedCorrection => Target::Memory(LESSONS.to_owned()),
        Kind::RecurringFailure => Target::Memory(PATTERNS.to_owned()),
        Kind::Reported if known.agents.is_some() && pattern.origin == Origin::User => {
            Target::Identity(SHARED.to_owned())
        }
        Kind::StaleMemory | Kind::Reported => {
            Target::Memory(pattern.section.clone().unwrap_or_else(|| PATTERNS.to_owned()))
        }
    }
}

impl Fix {
    /// The fix as a proposal. The store assigns the id.
    pub fn proposal(&self, day: Date, created: Timestamp) -> Proposal {
        let Self { pattern, target } = self;
        let sessions = pattern.evidence.sessions.len();
        let file = match target {
            Target::Identity(name) | Target::Entry(name) | Target::Idea(name) | Target::Everywhere(name) => {
                name.clone()
            }
            Target::Memory(section) => format!("{}, {section}", layout::MEMORY),
        };
        let what = match pattern.kind {
            Kind::RepeatedCorrection => "said",
            Kind::RecurringFailure => "failed",
            Kind::StaleMemory => "contradicted",
            Kind::Reported => "came up",
        };
        let title = match &pattern.supersedes {
            Some(old) => instead_of(old),
            None => format!("{file}: {what} in {sessions} sessions, severity {}", pattern.severity()),
        };
        let (id, place) = (Id::uncounted(Letter::Friction, day), Place::Friction(day));
        Proposal {
            target: Some(target.clone()),
            title,
            supersedes: pattern.supersedes.clone(),
            confidence: confidence(pattern.strength.value(), sessions, pattern.origin),
            evidence: pattern.evidence.clone(),
            project: pattern.project.clone(),
            ..Proposal::new(id, Source::Friction, place, pattern.origin, pattern.text.clone(), created)
        }
    }
}
