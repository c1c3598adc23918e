//! Preview of the effect of an approval on its file.

use rekindle_core::hosts::install::diff;
use rekindle_core::knowledge::proposal::ProposalTarget;
use rekindle_core::vault::layout;

use super::{current_section, mark, promotion};
use crate::jobs::context::StageContext;
use crate::jobs::queue::StepError;
use crate::review::proposals::ProposalRecord;
use crate::vault::{Amendment, Promotion, PromotionOutcome};

/// The effect of an approval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApprovalPreview {
    /// The change of the file, as a unified diff.
    pub diff: String,
    /// The outcome for the statement.
    pub does: ApprovalEffect,
}

/// The outcome for a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApprovalEffect {
    /// It is added to MEMORY.md.
    Memory(PromotionOutcome),
    /// An identity file gets a patch, which the person applies (IDN-05).
    Patch,
    /// A memory gets a new version.
    Version,
    /// An idea becomes a project.
    Project,
    /// A memory holds in every project.
    Everywhere,
    /// The file already says so.
    Nothing,
}

/// Computes the effect of an approval. It supersedes the named line if `superseding`, otherwise it adds a
/// line. The error says why the file cannot take it.
pub fn preview_approval(
    context: &StageContext,
    record: &ProposalRecord,
    superseding: bool,
) -> Result<ApprovalPreview, StepError> {
    let supersedes = record.proposal.supersedes.as_deref().filter(|_| superseding);
    let vault = context.vault()?;
    let Some(section) = current_section(record, &vault, context)? else {
        let proposal = &record.proposal;
        let new = Amendment { proposal, statement: record.text(), supersedes };
        let amended = match proposal.idea_slug() {
            Some(slug) => vault.preview_idea_promotion(slug, context.now().date()),
            None => vault.preview_amendment(&new),
        };
        let amended = amended.map_err(StepError::retryable)?;
        let does = match proposal.target {
            _ if amended.is_there() => ApprovalEffect::Nothing,
            Some(ProposalTarget::Idea(_)) => ApprovalEffect::Project,
            Some(ProposalTarget::Identity(_)) => ApprovalEffect::Patch,
            Some(ProposalTarget::Everywhere(_)) => ApprovalEffect::Everywhere,
            _ => ApprovalEffect::Version,
        };
        let diff = diff::unified_diff(proposal.file(), amended.before.as_deref(), Some(&amended.after));
        return Ok(ApprovalPreview { diff, does });
    };
    let mark = mark(record, &vault)?;
    let new = Promotion { supersedes, ..promotion(record, &section, &mark) };
    let previewed = vault.preview_promotion(&context.config.user.name, &new, &context.now());
    let previewed = previewed.map_err(StepError::retryable)?;
    let diff = diff::unified_diff(layout::MEMORY, Some(&previewed.before), Some(&previewed.after));
    Ok(ApprovalPreview { diff, does: ApprovalEffect::Memory(previewed.outcome) })
}
