//! Proposals for an agent's new version of a memory that needs the person's approval.

use rekindle_core::base::provenance::Origin;
use rekindle_core::base::time::Zoned;
use rekindle_core::knowledge::proposal::revision::line_revision;
use rekindle_core::knowledge::proposal::{
    Proposal, ProposalEvidence, ProposalSource, ProposalTarget, replacement_title,
};
use rekindle_core::text::clean_and_redact;
use rekindle_core::vault::entry::EntryProperties;
use rekindle_core::vault::frontmatter::ParsedNote;
use rekindle_core::vault::path::VaultPath;
use rekindle_core::vault::review::{ProposalId, ProposalPlace, ProposalStage};

use super::{SubmitOutcome, submit};
use crate::jobs::queue::{FunctionRegistry, StepError};
use crate::platform::db::Database;
use crate::vault::Vault;

/// Proposes that the memory at `path` says `body`. Returns the proposal's id, and true if it waits: a
/// rejected version stays rejected. `session` is the agent's session.
pub fn propose_version(
    db: &mut Database,
    registry: &FunctionRegistry,
    vault: &Vault,
    path: &VaultPath,
    (body, reason): (&str, &str),
    session: &str,
    now: &Zoned,
) -> Result<(ProposalId, bool), StepError> {
    let read = vault.read_entry(path).map_err(StepError::retryable)?;
    let note = ParsedNote::parse(&read.text).map_err(StepError::fatal)?;
    let revision = line_revision(note.body(), &clean_and_redact(body).text).map_err(StepError::fatal)?;
    let title = revision.supersedes.as_deref().map(replacement_title);
    let id = ProposalId::unnumbered(ProposalStage::Reflection, now.date());
    let place = ProposalPlace::Section(path.to_string());
    let evidence = ProposalEvidence {
        sessions: vec![session.to_owned()],
        quotes: vec![clean_and_redact(reason).text],
        ..ProposalEvidence::default()
    };
    let project = EntryProperties::of(&note, path).scope.project().cloned();
    let new =
        Proposal::new(id, ProposalSource::Supersede, place, Origin::Agent, revision.text, now.timestamp());
    let title = title.unwrap_or_else(|| new.title.clone());
    let target = Some(ProposalTarget::Entry(path.to_string()));
    let new = Proposal {
        target,
        title,
        supersedes: revision.supersedes,
        confidence: 0.5,
        evidence,
        project,
        ..new
    };
    match submit(db, registry, session, &[new])?.first() {
        Some(SubmitOutcome::Proposed(id) | SubmitOutcome::Folded(id)) => Ok((*id, true)),
        Some(SubmitOutcome::Decided(id, _)) => Ok((*id, false)),
        None => Err(StepError::fatal("a proposal was handed in and none came back")),
    }
}
