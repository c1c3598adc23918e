//! Deduplicates drafts against `MEMORY.md`, earlier proposals and each other.

use super::memory::MemoryDocument;
use super::{DraftDropReason, DroppedDrafts, MAX_PROPOSALS, ProposalDraft, distance, is_forged};
use crate::knowledge::proposal::Proposal;
use crate::text::similarity::AnalysedStatement;

/// The remaining drafts, in their original order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SettledDrafts {
    /// The drafts to propose.
    pub drafts: Vec<ProposalDraft>,
    /// The number of dropped drafts by reason.
    pub dropped: DroppedDrafts,
}

/// Settles drafts. `before` are all earlier proposals, of any status.
pub fn settle_drafts(
    drafts: Vec<ProposalDraft>,
    memory: &MemoryDocument,
    before: &[Proposal],
) -> SettledDrafts {
    let before: Vec<(&Proposal, AnalysedStatement)> =
        before.iter().map(|proposal| (proposal, AnalysedStatement::from_text(&proposal.text))).collect();
    let mut dropped = DroppedDrafts::default();
    let mut settled: Vec<(ProposalDraft, AnalysedStatement)> = Vec::new();
    for mut draft in drafts {
        let statement = AnalysedStatement::from_text(&draft.text);
        let outcome = settle_draft(&mut draft, &statement, memory, &before)
            .and_then(|()| join(&draft, &statement, &mut settled));
        match outcome {
            Err(why) => dropped.add(why),
            Ok(()) if settled.len() >= MAX_PROPOSALS => dropped.add(DraftDropReason::Surplus),
            Ok(()) => settled.push((draft, statement)),
        }
    }
    SettledDrafts { drafts: settled.into_iter().map(|(draft, _)| draft).collect(), dropped }
}

/// Compares a draft with `MEMORY.md` and earlier proposals.
fn settle_draft(
    draft: &mut ProposalDraft,
    statement: &AnalysedStatement,
    memory: &MemoryDocument,
    before: &[(&Proposal, AnalysedStatement)],
) -> Result<(), DraftDropReason> {
    if draft.text.trim().is_empty() || is_forged(&draft.text) {
        return Err(DraftDropReason::Forged);
    }
    let memory = memory.visible_in(draft.project.as_ref());
    if memory.contains_statement(statement) {
        return Err(DraftDropReason::Said);
    }
    if let Some(line) = memory.contradicted_by(statement) {
        // Only a newer assertion overrides an older one (REF-05).
        if line.date.is_some_and(|since| since > draft.date) {
            return Err(DraftDropReason::Outdated);
        }
        draft.supersedes = Some(line.statement.text().to_owned());
    }
    let same = |(proposal, other): &&(&Proposal, AnalysedStatement)| {
        let is_here = proposal.project.is_none() || proposal.project == draft.project;
        is_here && proposal.global_entry().is_none() && other.is_same(statement)
    };
    match before.iter().rev().find(same) {
        Some((other, _)) if other.status.is_open() => draft.joins = Some(other.id),
        Some(_) => return Err(DraftDropReason::Decided),
        None => {}
    }
    Ok(())
}

/// Compares a draft with those before it. Duplicates merge into one with all the evidence. Of two
/// contradicting drafts the newer stays, unless its origin is less trusted; then the user sees both.
fn join(
    draft: &ProposalDraft,
    statement: &AnalysedStatement,
    settled: &mut [(ProposalDraft, AnalysedStatement)],
) -> Result<(), DraftDropReason> {
    if let Some((same, words)) = settled.iter_mut().find(|(_, other)| other.is_same(statement)) {
        same.evidence.merge(&draft.evidence);
        same.confidence = same.confidence.max(draft.confidence);
        same.date = same.date.max(draft.date);
        if distance(draft.origin) < distance(same.origin) {
            same.origin = draft.origin;
            same.explicit = draft.explicit;
            same.section = draft.section.clone();
            same.text.clone_from(&draft.text);
            *words = statement.clone();
        }
        return Err(DraftDropReason::Merged);
    }
    let overrides = |new: &ProposalDraft, old: &ProposalDraft| {
        new.date > old.date && distance(new.origin) <= distance(old.origin)
    };
    for (other, words) in settled.iter_mut().filter(|(_, other)| other.contradicts(statement)) {
        if overrides(other, draft) {
            return Err(DraftDropReason::Outdated);
        }
        if overrides(draft, other) {
            (*other, *words) = (draft.clone(), statement.clone());
            return Err(DraftDropReason::Outdated);
        }
    }
    Ok(())
}
