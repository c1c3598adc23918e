//! What everybody types and no memory answers: small talk, exercises, general knowledge, errors of well-known programs (B-06).
//!
//! `models/everyday.txt` has one such prompt on each line, written for this purpose. They are a segment of their own in the
//! program, words and vectors, so a prompt is compared with them exactly as it is compared with the notes. The example
//! `everyday` of this crate makes `models/everyday.rki` of them; with another model than the built-in one nothing is known.

use rekindle_core::recall::abstain;
use rekindle_core::recall::document::{Document, Source, Unit};
use rekindle_embed::Quantised;

use crate::index::segment::Segment;
use crate::index::{self, Embedder, Prepared, PreparedUnit, Snapshot};

/// The prompts, one on each line.
pub const PROMPTS: &str = include_str!("../../../../models/everyday.txt");
static SEGMENT: &[u8] = include_bytes!("../../../../models/everyday.rki");

/// The prompts, ready to be compared with.
#[derive(Debug)]
pub struct Everyday(Snapshot);

impl Everyday {
    /// The prompts by the vectors of this model, if there are any.
    pub fn of(embedder: Embedder<'_>) -> Option<Self> {
        let segment = Segment::open(SEGMENT.to_vec().into()).ok()?;
        let prompts = Snapshot::of_distinct(vec![segment]);
        prompts.is_of(&embedder.space()).then_some(Self(prompts))
    }

    /// How much a prompt is like the one that it is most like. `terms` are those of the prompt, and how rare each is in general.
    pub fn likeness(&self, vector: &Quantised, terms: impl Iterator<Item = (u64, f64)>) -> Option<f64> {
        let close = self.0.cosines(vector);
        let mut shared = vec![0.0; close.len()];
        for (term, rarity) in terms {
            self.0.each_posting(term, |prompt, _| {
                if let Some(shared) = shared.get_mut(prompt as usize) {
                    *shared += rarity;
                }
            });
        }
        abstain::everyday(&close, &shared)
    }
}

/// The bytes of the segment, made with this model.
pub fn make(embedder: Embedder<'_>) -> Vec<u8> {
    let unit = Unit { path: "everyday.txt".to_owned(), stamp: None, documents: Vec::new() };
    let prompt = |text: &str| {
        let document = Document::plain(Source::Note, "everyday.txt", text);
        // Nobody looks at a prompt more closely than as a whole.
        Prepared { fine: Vec::new(), ..Prepared::new(document) }
    };
    let mut unit = PreparedUnit { unit, documents: PROMPTS.lines().map(prompt).collect(), behind: None };
    embedder.fill([&mut unit], &index::embedding::Known::default(), std::time::Duration::MAX);
    index::segment_of(&embedder.space(), vec![unit])
}

#[cfg(test)]
mod tests {
    use rekindle_core::recall::query::Query;
    use rekindle_embed::Model;

    use super::*;
    use crate::models::BUILTIN;

    #[test]
    fn b_06_what_is_shipped_is_what_the_list_says() {
        let embedder = Embedder::new(BUILTIN, Model::builtin());
        let shipped =
            Everyday::of(embedder).expect("`cargo run -p rekindle-engine --example everyday` makes it");
        let like = |prompt: &str| {
            let terms = Query::new(prompt, None).terms;
            shipped.likeness(&embedder.query(prompt), terms.iter().map(|term| (term.hash, 0.0))).unwrap()
        };
        assert_eq!(shipped.0.size().documents, PROMPTS.lines().count());
        for prompt in PROMPTS.lines() {
            assert!(like(prompt) > 0.99, "{prompt}: {}", like(prompt));
        }
        assert!(like("the ledger of the Rotterdam branch is closed on the ninth") < 0.5);
    }
}
