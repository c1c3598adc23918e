//! The measures of the relevance gate for a prompt and its hits (B-06); `core` decides by them.
//!
//! - [`passage`]: the passage of a memory for the cross-encoder
//! - [`reading`]: the cross-encoder over the best passages
//! - [`pace`]: the cost of the cross-encoder on this processor
//! - [`small_talk`]: the small-talk margin of the prompt

pub mod pace;
pub mod passage;
pub mod reading;
pub mod small_talk;

use rekindle_core::recall::relevance_gate::{self, RelevanceDecision, RelevanceEvidence};

use self::reading::{RescoringMode, read};
use super::search::SearchResults;

/// Decides if the best hits are shown. `shown` are the numbers of the documents to show, and `passages` their
/// passages, taken one by one as long as they can change the decision. `small_talk` is the margin by which
/// the prompt looks like small talk. `None` without vectors: the lexical search alone decides then.
pub fn decide_relevance(
    prompt: &str,
    found: &SearchResults,
    small_talk: impl FnOnce() -> Option<f64>,
    shown: &[u32],
    passages: impl IntoIterator<Item = String>,
    reading: &RescoringMode<'_>,
) -> Option<RelevanceDecision> {
    found.compared.as_ref()?;
    if shown.is_empty() {
        return Some(relevance_gate::decide(None));
    }
    let cosine =
        |number: &u32| f64::from(found.cosines().get(*number as usize).copied().unwrap_or(0.0).max(-1.0));
    let best_cosine = shown.iter().map(cosine).fold(-1.0, f64::max);
    let evidence =
        RelevanceEvidence { best_cosine, small_talk: small_talk(), ..RelevanceEvidence::default() };
    let evidence = read(prompt, passages, evidence, reading);
    Some(relevance_gate::decide(Some(&evidence)))
}
