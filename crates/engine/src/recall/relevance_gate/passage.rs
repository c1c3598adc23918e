//! The passage of a memory for the cross-encoder: its name, and the best window of its text.
//!
//! Windows are made as in `models/train_cross_encoder.py`: whole sentences, with at most 64 tokens including
//! the name. The best window is the one that contains most of the sentence nearest to the prompt; the index
//! has that sentence's vector.

use std::ops::Range;

use rekindle_core::recall::document::Document;
use rekindle_core::recall::windows::TextWindow;
use rekindle_embed::{CrossEncoder, MAX_PASSAGE_TOKENS};

use crate::index::{IndexSnapshot, vocabulary_for};
use crate::recall::search::SearchResults;

/// The maximum size in bytes of a text to tokenize; a longer text is cut to the nearest window of the index.
const MAX_TEXT_BYTES: usize = 6000;
/// The maximum number of tokens of the name in a passage; the text has the rest.
const MAX_NAME_TOKENS: usize = 24;

/// The passage of document `number`, whose current text is in `document`.
pub fn passage(snapshot: &IndexSnapshot, found: &SearchResults, number: u32, document: &Document) -> String {
    let searched = document.searched_text();
    // Offsets in the index are valid only for the indexed text.
    let is_as_indexed = || {
        let indexed = snapshot.document(number);
        indexed.is_some_and(|indexed| indexed.id == document.id && indexed.text == document.text)
    };
    let vector = found.vector().filter(|_| is_as_indexed());
    let nearest = vector.and_then(|vector| Some(snapshot.best_window(number, vector)?.0));
    let part = vector
        .filter(|_| searched.len() > MAX_TEXT_BYTES)
        .and_then(|vector| snapshot.best_passage(number, vector));
    let name = searched.len() - document.text.len();
    cut(&searched, name, part, nearest)
}

/// The passages of a text for any prompt: all of its windows.
pub fn windows(text: &str) -> impl Iterator<Item = &str> {
    CrossEncoder::builtin()
        .windows(vocabulary_for(text), text, MAX_PASSAGE_TOKENS)
        .into_iter()
        .map(|range| &text[range])
}

/// Cuts `searched`, whose first `name` bytes are the name of the memory, to a passage: the window of `part`
/// that contains most of `nearest`.
fn cut(searched: &str, name: usize, part: Option<TextWindow>, nearest: Option<TextWindow>) -> String {
    let cross_encoder = CrossEncoder::builtin();
    let Some((name_text, text)) = searched.split_at_checked(name) else { return searched.to_owned() };
    let part =
        part.map_or(0..text.len(), |part| part.start.saturating_sub(name)..part.end.saturating_sub(name));
    let Some(text) = text.get(part.clone()) else { return searched.to_owned() };
    // The end token of a passage is not part of the text.
    // The language of the whole, because a name rarely tells.
    let vocabulary = vocabulary_for(searched);
    let name_tokens = cross_encoder.passage_as(vocabulary, name_text).tokens() - 1;
    let room = MAX_PASSAGE_TOKENS - name_tokens.min(MAX_NAME_TOKENS);
    let windows = cross_encoder.windows(vocabulary, text, room);
    let overlap = |window: &Range<usize>| {
        let Some(nearest) = nearest else { return 0 };
        let offset = name + part.start;
        nearest.end.min(window.end + offset).saturating_sub(nearest.start.max(window.start + offset))
    };
    // Ties go to the first window.
    let best = windows.into_iter().rev().max_by_key(overlap).unwrap_or(0..text.len());
    format!("{name_text}{}", &text[best])
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAME: &str = "billing-07\n";
    const TEXT: &str = "The queue of the billing service is drained by two workers and never by three of them. Since \
                        May the export begins at three because the bank sends its file at that hour, not before. A \
                        failed export is not repeated; somebody has to start it by hand with the command in the runbook. \
                        Colours of the dashboard come from a file of tokens and never stand in a component.";

    fn nearest_to(words: &str) -> Option<TextWindow> {
        let start = NAME.len() + TEXT.find(words).unwrap();
        Some(TextWindow { start, end: start + words.len() })
    }

    #[test]
    fn the_window_that_holds_the_nearest_sentence_is_read() {
        let searched = format!("{NAME}{TEXT}");
        let read = |nearest| cut(&searched, NAME.len(), None, nearest);
        assert!(read(nearest_to("Colours of the dashboard")).ends_with("stand in a component."));
        assert!(read(nearest_to("the export begins at three")).contains("begins at three"));
        assert!(read(None).starts_with("billing-07\nThe queue"), "the first, where nothing is known");
        for words in ["Colours", "queue", "by hand"] {
            let passage = read(nearest_to(words));
            assert!(passage.starts_with(NAME) && passage.len() < searched.len(), "{passage}");
            assert!(
                CrossEncoder::builtin().passage_as(vocabulary_for(&passage), &passage).tokens()
                    <= MAX_PASSAGE_TOKENS + 1
            );
        }
    }

    #[test]
    fn a_short_memory_is_read_whole() {
        assert_eq!(cut("port\nRedis is on 6380.", 5, None, None), "port\nRedis is on 6380.");
        assert_eq!(cut("", 0, None, None), "");
    }
}
