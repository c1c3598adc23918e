//! The write gate (FBK-08): compares every finding with its messages and with known memories. The verdict is
//! written beside the finding; it holds nothing back.

use rekindle_core::base::scope::ProjectId;
use rekindle_core::knowledge::observe::Observed;
use rekindle_core::knowledge::observe::evidence::Evidence;
use rekindle_core::knowledge::observe::finding::Verdict;
use rekindle_core::knowledge::observe::gate::{Standing, judge};
use rekindle_core::recall::document::Source;
use rekindle_core::session::Message;

use super::index;
use super::near::{Near, Wanted};
use crate::jobs::context::World;
use crate::jobs::queue::StepError;

/// The number of memories to compare with each finding.
const COMPARED: usize = 10;

/// Returns a verdict for every finding, in order.
pub(super) fn verdicts(
    observed: &Observed,
    messages: &[Message],
    project: Option<&ProjectId>,
    world: &World,
) -> Result<Vec<Verdict>, StepError> {
    if observed.is_empty() {
        return Ok(Vec::new());
    }
    // Recent writes count as known, and the index saves reading every file. The index step of this session
    // reports a failure.
    index::settle(world).unwrap_or(false);
    let vault = world.vault()?;
    let near = Near::new(&vault, world);
    let evidence = Evidence::new(messages, &world.zone);
    let sources = [Source::Entry, Source::Skill, Source::Memory, Source::Observation];
    let wanted = Wanted { sources: &sources, project, most: COMPARED, anyway: true };
    let judged = observed.findings().map(|finding| {
        let known = near.to(&finding.text, &wanted);
        let standing: Vec<Standing> =
            known.iter().map(|document| Standing::new(&document.id, &document.text)).collect();
        judge(finding, &evidence, &standing)
    });
    Ok(judged.collect())
}

/// Writes verdicts beside their findings.
pub(super) fn annotate(observed: &mut Observed, verdicts: Vec<Verdict>) {
    let findings = observed.parts.iter_mut().flat_map(|part| &mut part.findings);
    for (finding, verdict) in findings.zip(verdicts) {
        finding.gate = Some(verdict);
    }
}
