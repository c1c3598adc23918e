//! BM25 term scores: the one formula of notes and messages.

/// Term saturation.
const K1: f32 = 1.2;
/// Length normalisation.
const B: f32 = 0.75;

/// The inverse document frequency of a term that `holding` of `all` documents contain.
pub fn inverse_document_frequency(all: usize, holding: usize) -> f32 {
    let (all, holding) = (all as f32, holding as f32);
    (1.0 + (all - holding + 0.5) / (holding + 0.5)).ln()
}

/// The score of a document that is nothing but a term of this inverse document frequency: the upper bound.
pub fn upper_bound(idf: f32) -> f32 {
    idf * (K1 + 1.0)
}

/// The formula for texts of one average length.
#[derive(Clone, Copy, Debug)]
pub struct Bm25 {
    flat: f32,
    by_length: f32,
}

impl Bm25 {
    /// The formula for texts of `average` terms.
    pub fn with_average_length(average: f32) -> Self {
        Self { flat: K1 * (1.0 - B), by_length: K1 * B / average }
    }

    /// The score of a term that occurs `count` times in a text of `length`.
    pub fn score(self, idf: f32, count: f32, length: f32) -> f32 {
        idf * (K1 + 1.0) * count / (count + self.flat + self.by_length * length)
    }
}
