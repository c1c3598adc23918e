//! The general rarity of a word, from its rank in the vocabulary of an embedding model. The store's own
//! counts are no measure of that: in a small store every word is rare.

/// The first ids of a BERT vocabulary are no words: special marks, unused places, characters.
const FIRST_WORD_ID: f64 = 1996.0;
/// The vocabulary's size, from which its scale of rarity is made.
const LAST_WORD_ID: f64 = 30_496.0;
/// Ids closer together than this are told apart little.
const WORD_ID_STEP: f64 = 50.0;

/// The rarity of a word, from 0 (said all the time) to 1, from its id in the embedder's WordPiece vocabulary, which is ordered by
/// frequency. A word that has no id of its own, being made of several pieces, is as rare as can be.
pub fn rarity(vocabulary_id: Option<u32>) -> f64 {
    let scale = |id: f64| ((id - FIRST_WORD_ID).max(1.0) / WORD_ID_STEP + 1.0).ln();
    vocabulary_id.map_or(1.0, |id| (scale(f64::from(id)) / scale(LAST_WORD_ID)).clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_the_rarer_the_later_they_stand_in_the_vocabulary() {
        assert!(rarity(Some(0)).abs() < 0.01);
        assert!((rarity(Some(30_496)) - 1.0).abs() < 1e-9);
        assert!((rarity(None) - 1.0).abs() < 1e-9);
        let ids = [1996, 2050, 2500, 5000, 10_000, 20_000, 30_000];
        assert!(ids.windows(2).all(|pair| rarity(Some(pair[0])) < rarity(Some(pair[1]))));
    }
}
