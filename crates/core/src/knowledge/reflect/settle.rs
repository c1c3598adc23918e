//! Deduplicates drafts against `MEMORY.md`, earlier proposals and each other.

use super::memory::Memory;
use super::{Draft, Dropped, MAX_PROPOSALS, Why, distance, is_forged};
use crate::knowledge::proposal::Proposal;
use crate::text::similarity::Statement;

/// The remaining drafts, in their original order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settled {
    /// The drafts to propose.
    pub drafts: Vec<Draft>,
    /// The number of dropped drafts by reason.
    pub dropped: Dropped,
}

/// Settles drafts. `before` are all earlier proposals, of any status.
pub fn settle(drafts: Vec<Draft>, memory: &Memory, before: &[Proposal]) -> Settled {
    let before: Vec<(&Proposal, Statement)> =
        before.iter().map(|proposal| (proposal, Statement::of(&proposal.text))).collect();
    let mut dropped = Dropped::default();
    let mut settled: Vec<(Draft, Statement)> = Vec::new();
    for mut draft in drafts {
        let statement = Statement::of(&draft.text);
        let outcome = place(&mut draft, &statement, memory, &before)
            .and_then(|()| join(&draft, &statement, &mut settled));
        match outcome {
            Err(why) => dropped.add(why),
            Ok(()) if settled.len() >= MAX_PROPOSALS => dropped.add(Why::Surplus),
            Ok(()) => settled.push((draft, statement)),
        }
    }
    Settled { drafts: settled.into_iter().map(|(draft, _)| draft).collect(), dropped }
}

/// Compares a draft with `MEMORY.md` and earlier proposals.
fn place(
    draft: &mut Draft,
    statement: &Statement,
    memory: &Memory,
    before: &[(&Proposal, Statement)],
) -> Result<(), Why> {
    if draft.text.trim().is_empty() || is_forged(&draft.text) {
        return Err(Why::Forged);
    }
    let memory = memory.seen_from(draft.project.as_ref());
    if memory.says(statement) {
        return Err(Why::Said);
    }
    if let Some(line) = memory.contradicted_by(statement) {
        // Only a newer assertion overrides an older one (REF-05).
        if line.date.is_some_and(|since| since > draft.date) {
            return Err(Why::Outdated);
        }
        draft.supersedes = Some(line.statement.text().to_owned());
    }
    let same = |(proposal, other): &&(&Proposal, Statement)| {
        let is_here = proposal.project.is_none() || proposal.project == draft.project;
        is_here && proposal.widened().is_none() && other.is_same(statement)
    };
    match before.iter().rev().find(same) {
        Some((other, _)) if other.status.is_open() => draft.joins = Some(other.id),
        Some(_) => return Err(Why::Decided),
        None => {}
    }
    Ok(())
}

/// Compares a draft with those before it. Duplicates merge into one with all the evidence. Of two
/// contradicting drafts the newer stays, unless its origin is less trusted; then the user sees both.
fn join(draft: &Draft, statement: &Statement, settled: &mut [(Draft, Statement)]) -> Result<(), Why> {
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
        return Err(Why::Merged);
    }
    let overrides =
        |new: &Draft, old: &Draft| new.date > old.date && distance(new.origin) <= distance(old.origin);
    for (other, words) in settled.iter_mut().filter(|(_, other)| other.contradicts(statement)) {
        if overrides(other, draft) {
            return Err(Why::Outdated);
        }
        if overrides(draft, other) {
            (*other, *words) = (draft.clone(), statement.clone());
            return Err(Why::Outdated);
        }
    }
    Ok(())
}
