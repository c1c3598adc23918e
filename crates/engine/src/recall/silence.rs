//! What the rule of silence needs to know about a prompt and its hits (B-06).

use rekindle_core::recall::abstain::{self, Decision, Evidence, PromptTerm};
use rekindle_core::text::domain_stopwords::is_commonplace;

use super::reading::{Reading, read};
use super::search::Found;
use crate::index::Embedder;

/// The place in the order whose cosine says whether the notes are about such things at all.
const TENTH: usize = 10;

/// Whether the best of what was found is worth saying. `shown` are the numbers of the documents that would be shown, and
/// `texts` what they say, asked for one after the other as far as it matters; `reading` says how far that is, and `everyday` how
/// much the prompt looks like what everybody types. Without vectors there is nothing to go by, and the words decide.
pub fn judge(
    prompt: &str,
    found: &Found,
    embedder: Option<Embedder<'_>>,
    everyday: impl FnOnce() -> Option<f64>,
    shown: &[u32],
    texts: impl IntoIterator<Item = String>,
    reading: Reading,
) -> Option<Decision> {
    let embedder = embedder.filter(|_| found.compared.is_some())?;
    if shown.is_empty() {
        return Some(abstain::decide(None));
    }
    let seen = found.cosines().iter().zip(&found.columns.visible);
    let (store_size, tenth) =
        tenth(seen.filter(|(cosine, visible)| **visible && cosine.is_finite()).map(|(cosine, _)| *cosine));
    let terms: Vec<PromptTerm> = found
        .terms
        .iter()
        .map(|(term, _)| PromptTerm {
            rarity: abstain::rarity(embedder.word(&term.word)),
            commonplace: is_commonplace(&term.text),
            identifier: term.identifier,
        })
        .collect();
    let holds = |number: u32| {
        let in_postings =
            |postings: &Vec<(u32, _)>| postings.binary_search_by_key(&number, |(at, _)| *at).is_ok();
        found.postings.iter().map(in_postings).collect::<Vec<bool>>()
    };
    let held: Vec<Vec<bool>> = shown.iter().map(|number| holds(*number)).collect();
    let cosine =
        |number: &u32| f64::from(found.cosines().get(*number as usize).copied().unwrap_or(0.0).max(-1.0));
    let cosines: Vec<f64> = shown.iter().map(cosine).collect();
    let evidence = abstain::evidence(&terms, &held, &cosines, tenth, store_size);
    let evidence = read(prompt, texts, Evidence { everyday: everyday(), ..evidence }, reading);
    Some(abstain::decide(Some(&evidence)))
}

/// How many there are, and the tenth of them from above.
fn tenth(cosines: impl Iterator<Item = f32>) -> (usize, Option<f64>) {
    let (mut count, mut best) = (0, [f32::NEG_INFINITY; TENTH]);
    for cosine in cosines {
        count += 1;
        if cosine > best[TENTH - 1] {
            let place = best.partition_point(|better| *better >= cosine);
            best[place..].rotate_right(1);
            best[place] = cosine;
        }
    }
    (count, (TENTH <= count).then(|| f64::from(best[TENTH - 1])))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn b_06_the_tenth_is_the_one_that_sorting_finds(cosines in prop::collection::vec(-5_i8..5, 0..40)) {
            let cosines: Vec<f32> = cosines.into_iter().map(f32::from).collect();
            let mut sorted = cosines.clone();
            sorted.sort_by(|a, b| b.total_cmp(a));
            let truth = sorted.get(TENTH - 1).map(|cosine| f64::from(*cosine));
            prop_assert_eq!(tenth(cosines.iter().copied()), (cosines.len(), truth));
        }
    }
}
