//! The write gate (FBK-08): compares every finding with its messages and with known memories. The verdict is
//! written beside the finding; it holds nothing back.

use rekindle_core::base::scope::ProjectId;
use rekindle_core::knowledge::observe::ObservedSession;
use rekindle_core::knowledge::observe::evidence::MessageEvidence;
use rekindle_core::knowledge::observe::finding::GateVerdict;
use rekindle_core::knowledge::observe::write_gate::{EstablishedStatement, judge_finding};
use rekindle_core::recall::document::DocumentSource;
use rekindle_core::session::Message;

use super::index;
use super::related_memories::{RelatedMemories, RelatedQuery};
use crate::jobs::context::StageContext;
use crate::jobs::queue::StepError;

/// The number of memories to compare with each finding.
const MAX_COMPARED_STATEMENTS: usize = 10;

/// Returns a verdict for every finding, in order.
pub(super) fn gate_verdicts(
    observed: &ObservedSession,
    messages: &[Message],
    project: Option<&ProjectId>,
    context: &StageContext,
) -> Result<Vec<GateVerdict>, StepError> {
    if observed.is_empty() {
        return Ok(Vec::new());
    }
    // Recent writes count as known, and the index saves reading every file. The index step of this session
    // reports a failure.
    index::index_pending(context).unwrap_or(false);
    let vault = context.vault()?;
    let near = RelatedMemories::new(&vault, context);
    let evidence = MessageEvidence::new(messages, &context.zone);
    let sources =
        [DocumentSource::Entry, DocumentSource::Skill, DocumentSource::Memory, DocumentSource::Observation];
    let wanted = RelatedQuery { sources: &sources, project, limit: MAX_COMPARED_STATEMENTS, anyway: true };
    let judged = observed.findings().map(|finding| {
        let known = near.related_to(&finding.text, &wanted);
        let standing: Vec<EstablishedStatement> =
            known.iter().map(|document| EstablishedStatement::new(&document.id, &document.text)).collect();
        judge_finding(finding, &evidence, &standing)
    });
    Ok(judged.collect())
}

/// Writes verdicts beside their findings.
pub(super) fn annotate_findings(observed: &mut ObservedSession, verdicts: Vec<GateVerdict>) {
    let findings = observed.parts.iter_mut().flat_map(|part| &mut part.findings);
    for (finding, verdict) in findings.zip(verdicts) {
        finding.gate = Some(verdict);
    }
}
