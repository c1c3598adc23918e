//! Turns patterns into fixes: one line for one file each, not proposed before (FRI-04, FRI-05).

use std::cmp::Reverse;

use super::{
    EarlierProposal, FixContext, FixDropReason, FrictionFix, FrictionFixes, FrictionKind, FrictionPattern,
    LESSONS_SECTION, MAX_FIXES, PATTERNS_SECTION,
};
use crate::base::confidence::confidence;
use crate::base::provenance::Origin;
use crate::base::time::{Date, Timestamp};
use crate::knowledge::proposal::{
    Proposal, ProposalSource, ProposalStatus, ProposalTarget, replacement_title,
};
use crate::knowledge::reflect::is_forged;
use crate::knowledge::reflect::memory::MemoryDocument;
use crate::text::normalise::normalise;
use crate::text::similarity::AnalysedStatement;
use crate::vault::identity::SHARED_DOCUMENT;
use crate::vault::layout;
use crate::vault::review::{ProposalId, ProposalPlace, ProposalStage as Letter};

/// The fixes to propose, most severe first, and the reasons for dropping the others.
pub fn propose_fixes(patterns: Vec<FrictionPattern>, known: &FixContext<'_>) -> FrictionFixes {
    let memory = MemoryDocument::read(known.period.memory);
    let before: Vec<(&EarlierProposal, AnalysedStatement)> = known
        .before
        .iter()
        .map(|earlier| (earlier, AnalysedStatement::from_text(&earlier.proposal.text)))
        .collect();
    let mut patterns = patterns;
    patterns.sort_by_key(|pattern| (Reverse(pattern.severity()), pattern.kind, pattern.text.clone()));
    let mut found = FrictionFixes::default();
    for pattern in patterns {
        let (target, statement) = (target(&pattern, known), AnalysedStatement::from_text(&pattern.text));
        let taken =
            found.fixes.iter().any(|fix| AnalysedStatement::from_text(&fix.pattern.text).is_same(&statement));
        let why = match judge_pattern(&pattern, &target, &statement, &memory, &before, known) {
            JudgedPattern::Again(id) => {
                found.again.push((id, pattern.evidence));
                FixDropReason::Waiting
            }
            JudgedPattern::Dropped(why) => why,
            JudgedPattern::New if taken => FixDropReason::Waiting,
            JudgedPattern::New if found.fixes.len() >= MAX_FIXES => FixDropReason::Surplus,
            JudgedPattern::New => {
                found.fixes.push(FrictionFix { pattern, target });
                continue;
            }
        };
        *found.dropped.entry(why).or_default() += 1;
    }
    found
}

enum JudgedPattern {
    New,
    Again(ProposalId),
    Dropped(FixDropReason),
}

fn judge_pattern(
    pattern: &FrictionPattern,
    target: &ProposalTarget,
    statement: &AnalysedStatement,
    memory: &MemoryDocument,
    before: &[(&EarlierProposal, AnalysedStatement)],
    known: &FixContext<'_>,
) -> JudgedPattern {
    if pattern.evidence.sessions.len() < known.gate.sessions || is_forged(&pattern.text) {
        return JudgedPattern::Dropped(FixDropReason::Rare);
    }
    let is_agents = matches!(target, ProposalTarget::Identity(_));
    let said = match (is_agents, known.agents) {
        (true, Some(agents)) => normalise(agents).contains(&normalise(&pattern.text)),
        _ => memory.visible_in(pattern.project.as_ref()).contains_statement(statement),
    };
    if said {
        return JudgedPattern::Dropped(FixDropReason::Said);
    }
    for (earlier, _) in before.iter().rev().filter(|(_, other)| other.is_same(statement)) {
        let proposal = &earlier.proposal;
        match proposal.status {
            status if status.is_open() => return JudgedPattern::Again(proposal.id),
            // It is in memory and still had to be repeated: an instruction that all agents read is a new
            // proposal.
            ProposalStatus::Promoted if is_agents && proposal.section().is_some() => {
                if sessions_since(pattern, earlier.decided) < known.gate.sessions {
                    return JudgedPattern::Dropped(FixDropReason::Decided);
                }
            }
            _ => return JudgedPattern::Dropped(FixDropReason::Decided),
        }
    }
    JudgedPattern::New
}

/// The number of sessions in which it came up after a time.
fn sessions_since(pattern: &FrictionPattern, then: Option<Timestamp>) -> usize {
    pattern.times.iter().filter(|at| then.is_none_or(|then| **at > then)).count()
}

/// The target file of a fix.
fn target(pattern: &FrictionPattern, known: &FixContext<'_>) -> ProposalTarget {
    match pattern.kind {
        FrictionKind::RepeatedCorrection if known.agents.is_some() => {
            ProposalTarget::Identity(SHARED_DOCUMENT.to_owned())
        }
        FrictionKind::RepeatedCorrection => ProposalTarget::Memory(LESSONS_SECTION.to_owned()),
        FrictionKind::RecurringFailure => ProposalTarget::Memory(PATTERNS_SECTION.to_owned()),
        FrictionKind::Reported if known.agents.is_some() && pattern.origin == Origin::User => {
            ProposalTarget::Identity(SHARED_DOCUMENT.to_owned())
        }
        FrictionKind::StaleMemory | FrictionKind::Reported => {
            ProposalTarget::Memory(pattern.section.clone().unwrap_or_else(|| PATTERNS_SECTION.to_owned()))
        }
    }
}

impl FrictionFix {
    /// The fix as a proposal. The store assigns the id.
    pub fn proposal(&self, day: Date, created: Timestamp) -> Proposal {
        let Self { pattern, target } = self;
        let sessions = pattern.evidence.sessions.len();
        let file = match target {
            ProposalTarget::Identity(name)
            | ProposalTarget::Entry(name)
            | ProposalTarget::Idea(name)
            | ProposalTarget::Everywhere(name) => name.clone(),
            ProposalTarget::Memory(section) => format!("{}, {section}", layout::MEMORY),
        };
        let what = match pattern.kind {
            FrictionKind::RepeatedCorrection => "said",
            FrictionKind::RecurringFailure => "failed",
            FrictionKind::StaleMemory => "contradicted",
            FrictionKind::Reported => "came up",
        };
        let title = match &pattern.supersedes {
            Some(old) => replacement_title(old),
            None => format!("{file}: {what} in {sessions} sessions, severity {}", pattern.severity()),
        };
        let (id, place) = (ProposalId::unnumbered(Letter::Friction, day), ProposalPlace::Friction(day));
        Proposal {
            target: Some(target.clone()),
            title,
            supersedes: pattern.supersedes.clone(),
            confidence: confidence(pattern.strength.value(), sessions, pattern.origin),
            evidence: pattern.evidence.clone(),
            project: pattern.project.clone(),
            ..Proposal::new(
                id,
                ProposalSource::Friction,
                place,
                pattern.origin,
                pattern.text.clone(),
                created,
            )
        }
    }
}
