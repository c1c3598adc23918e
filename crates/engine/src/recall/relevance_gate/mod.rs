//! The measures of the relevance gate for a prompt and its hits (B-06); `core` decides by them.
//!
//! - [`passage`]: the part of a memory that is read
//! - [`reading`]: the cross-encoder over the best passages
//! - [`pace`]: what reading costs on this processor
//! - [`small_talk`]: whether the prompt looks like small talk

pub mod pace;
pub mod passage;
pub mod reading;
pub mod small_talk;

use rekindle_core::recall::relevance_gate::{self, Evidence, RelevanceDecision};

use self::reading::{RescoringMode, read};
use super::search::SearchResults;

/// Decides whether the best of what was found is shown. `shown` are the numbers of the documents that would be shown, and
/// `passages` what is read of them, asked for one after the other as far as it matters; `small_talk` is the margin by which the
/// prompt looks like small talk. `None` without vectors: there is nothing to decide by, and the words have the last say.
pub fn judge(
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
    let evidence = Evidence { best_cosine, small_talk: small_talk(), ..Evidence::default() };
    let evidence = read(prompt, passages, evidence, reading);
    Some(relevance_gate::decide(Some(&evidence)))
}
