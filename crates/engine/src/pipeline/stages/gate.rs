//! The write gate at work (FBK-08): every finding is held against the messages it rests on and against what is known.
//! What comes out is written beside the finding; nothing is held back for it.

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

/// So many of what is known are held against each finding.
const COMPARED: usize = 10;

/// A verdict for every finding, in order.
pub(super) fn verdicts(
    observed: &Observed,
    messages: &[Message],
    project: Option<&ProjectId>,
    world: &World,
) -> Result<Vec<Verdict>, StepError> {
    if observed.is_empty() {
        return Ok(Vec::new());
    }
    // What was written meanwhile is known as well, and no file has to be read anew for it. What cannot be indexed now is told
    // when this session is.
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

/// Writes verdicts beside the findings they are about.
pub(super) fn annotate(observed: &mut Observed, verdicts: Vec<Verdict>) {
    let findings = observed.parts.iter_mut().flat_map(|part| &mut part.findings);
    for (finding, verdict) in findings.zip(verdicts) {
        finding.gate = Some(verdict);
    }
}
