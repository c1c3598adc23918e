//! The cross-encoder: reads a prompt and a passage of a memory together and scores whether the passage helps with the prompt.
//!
//! Two embeddings tell what two texts are about, and lose what each of them says. A cross-encoder sees the words of both at
//! once, so it can tell a note on the same thing from one that answers. It costs as much as embedding both texts, for every
//! pair, so recall runs it on its few best hits only.
//!
//! [`windows`](CrossEncoder::windows) cuts passages exactly as `models/train_cross_encoder.py` does.

use std::ops::Range;
use std::sync::OnceLock;

use crate::forward::{EncoderScratch, score_pair};
use crate::layout::{HEADER_BYTES, ModelHeader, ModelKind, ScoringHead, checksum};
use crate::{EmbeddingModel, Error, TextVocabulary, builtin};

/// Tokens of a prompt that are read, from its beginning and its end: pasted text stands between.
const MAX_PROMPT_TOKENS: usize = 40;
/// Tokens of a passage that are read.
pub const MAX_PASSAGE_TOKENS: usize = 64;
/// Tokens the tokenizer adds to a text: `[CLS]` before and `[SEP]` after it.
const MARKS: usize = 2;

/// A cross-encoder whose weights stay where the bytes are, over the word embeddings of a [`EmbeddingModel`].
#[derive(Debug)]
pub struct CrossEncoder<'a> {
    model: &'a EmbeddingModel<'a>,
    header: ModelHeader,
    verdict: ScoringHead<'a>,
    bytes: &'a [u8],
}

/// A tokenized prompt, to be read with any number of passages.
#[derive(Debug, Clone)]
pub struct TokenizedPrompt(Vec<u32>);

impl TokenizedPrompt {
    /// The number of its tokens that are read, marks included.
    pub fn tokens(&self) -> usize {
        self.0.len()
    }
}

/// A tokenized passage.
#[derive(Debug, Clone)]
pub struct Passage(Vec<u32>);

impl Passage {
    /// The number of its tokens that are read, the mark at its end included.
    pub fn tokens(&self) -> usize {
        self.0.len()
    }
}

impl<'a> CrossEncoder<'a> {
    /// The cross-encoder in this program. The first call looks at a few hundred bytes.
    pub fn builtin() -> &'static CrossEncoder<'static> {
        static CROSS_ENCODER: OnceLock<CrossEncoder<'static>> = OnceLock::new();
        CROSS_ENCODER.get_or_init(|| {
            match CrossEncoder::from_bytes(EmbeddingModel::builtin(), builtin::cross_encoder()) {
                Ok(cross_encoder) => cross_encoder,
                Err(error) => unreachable!("the tests read the same bytes: {error}"),
            }
        })
    }

    /// A cross-encoder from a file's bytes, which must start at a multiple of 64, made over the word embeddings of `model`.
    pub fn from_bytes(model: &'a EmbeddingModel<'a>, bytes: &'a [u8]) -> Result<Self, Error> {
        let header = ModelHeader::read(ModelKind::CrossEncoder, bytes)?;
        let verdict = ScoringHead::read(&header, bytes, 1)?;
        if (header.vocabulary, header.hidden) != model.shape() {
            return Err(Error::OtherWords { reader: header.id, model: model.id().to_owned() });
        }
        // Two texts, with a mark before, between and after them.
        if header.max_tokens < MAX_PROMPT_TOKENS + MAX_PASSAGE_TOKENS + 3 {
            return Err(header.too_few_tokens());
        }
        Ok(Self { model, header, verdict, bytes })
    }

    /// Reads the whole file to see whether it is as it was made.
    pub fn verify(&self) -> Result<(), Error> {
        let (expected, found) = (self.header.checksum, checksum(&self.bytes[HEADER_BYTES..]));
        if found == expected { Ok(()) } else { Err(Error::Checksum { expected, found }) }
    }

    /// Touches the layers, so that they are mapped when a new process scores its first passage.
    pub fn prefetch_layers(&self) {
        self.verdict.encoder.prefetch();
    }

    /// The number of its layers.
    pub fn layers(&self) -> usize {
        self.header.layers
    }

    /// Tokenizes a prompt. Of a long one the first and the last tokens are read.
    pub fn prompt(&self, text: &str) -> TokenizedPrompt {
        self.prompt_as(TextVocabulary::English, text)
    }

    /// The same with a vocabulary.
    pub fn prompt_as(&self, vocabulary: TextVocabulary, text: &str) -> TokenizedPrompt {
        let mut ids = self.model.tokenize_as(vocabulary, text);
        if ids.len() > MAX_PROMPT_TOKENS + MARKS {
            // Before the first half stands a mark, and after the second.
            let halves = (1 + MAX_PROMPT_TOKENS / 2, ids.len() - MAX_PROMPT_TOKENS / 2 - 1);
            ids.drain(halves.0..halves.1);
        }
        TokenizedPrompt(ids)
    }

    /// Tokenizes a passage. Of a long one the first tokens are read.
    pub fn passage(&self, text: &str) -> Passage {
        self.passage_as(TextVocabulary::English, text)
    }

    /// The same with a vocabulary. Prompt and passage may be in different languages.
    pub fn passage_as(&self, vocabulary: TextVocabulary, text: &str) -> Passage {
        let mut ids = self.model.tokenize_as(vocabulary, text);
        if ids.len() > MAX_PASSAGE_TOKENS + MARKS {
            ids.drain(MAX_PASSAGE_TOKENS + 1..ids.len() - 1);
        }
        // A second text has no mark at its beginning.
        ids.remove(0);
        Passage(ids)
    }

    /// Runs of whole sentences of at most `tokens` tokens that together cover `text`; neighbours share a sentence. A text that
    /// fits is one window, a sentence that does not fit alone is a window of its own.
    pub fn windows(&self, vocabulary: TextVocabulary, text: &str, tokens: usize) -> Vec<Range<usize>> {
        let length =
            |range: &Range<usize>| self.model.tokenize_as(vocabulary, &text[range.clone()]).len() - MARKS;
        let whole = 0..text.len();
        if length(&whole) <= tokens {
            return vec![whole];
        }
        let sentences = sentences(text);
        let lengths: Vec<usize> = sentences.iter().map(length).collect();
        let (mut windows, mut at) = (Vec::new(), 0);
        while at < sentences.len() {
            let (mut end, mut sum) = (at, 0);
            while end < sentences.len() && (end == at || sum + lengths[end] <= tokens) {
                sum += lengths[end];
                end += 1;
            }
            windows.push(sentences[at].start..sentences[end - 1].end);
            at = if end < sentences.len() { (at + 1).max(end - 1) } else { end };
        }
        if windows.is_empty() { vec![whole] } else { windows }
    }

    /// The log odds that each passage helps with `prompt`. All are read in one pass, which reads the weights once. The same
    /// bits on every processor, alone or in a batch.
    pub fn score(
        &self,
        scratch: &mut EncoderScratch,
        prompt: &TokenizedPrompt,
        passages: &[Passage],
    ) -> Vec<f32> {
        let pairs: Vec<(&[u32], &[u32])> = passages.iter().map(|passage| (&*prompt.0, &*passage.0)).collect();
        let words =
            self.model.word_tables(pairs.iter().flat_map(|(first, second)| first.iter().chain(*second)));
        let logits = score_pair(&self.header, words, &self.verdict, scratch, &pairs);
        logits.into_iter().map(|outputs| outputs[0]).collect()
    }

    /// The same on up to `threads` threads, each with a run of the passages.
    pub fn score_batch(&self, prompt: &TokenizedPrompt, passages: &[Passage], threads: usize) -> Vec<f32> {
        let share = passages.len().div_ceil(threads.max(1)).max(1);
        let mut shares = passages.chunks(share);
        let Some(own) = shares.next() else { return Vec::new() };
        let score = |passages| self.score(&mut EncoderScratch::new(), prompt, passages);
        std::thread::scope(|scope| {
            let helpers: Vec<_> = shares.map(|share| scope.spawn(move || score(share))).collect();
            let mut scores = score(own);
            for helper in helpers {
                match helper.join() {
                    Ok(more) => scores.extend(more),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            scores
        })
    }
}

/// The sentences of a text: they end before a line break, or before the blanks after one of `.!?;:`.
fn sentences(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let (mut start, mut before) = (0, ' ');
    let mut rest = text.char_indices().peekable();
    while let Some((at, character)) = rest.next() {
        let ends = character == '\n' || (character.is_whitespace() && ".!?;:".contains(before));
        before = character;
        if ends {
            found.push(start..at);
            while rest.next_if(|(_, next)| next.is_whitespace()).is_some() {}
            start = rest.peek().map_or(text.len(), |(next, _)| *next);
            before = ' ';
        }
    }
    found.push(start..text.len());
    found.retain(|range| !text[range.clone()].trim().is_empty());
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str, tokens: usize) -> Vec<&str> {
        CrossEncoder::builtin()
            .windows(TextVocabulary::English, text, tokens)
            .into_iter()
            .map(|range| &text[range])
            .collect()
    }

    #[test]
    fn windows_are_runs_of_whole_sentences_as_in_training() {
        assert_eq!(cut("One two. Three four.", 64), ["One two. Three four."]);
        let text = "one two three. four five six! seven eight nine; ten eleven\ntwelve";
        assert_eq!(
            cut(text, 8),
            [
                "one two three. four five six!",
                "four five six! seven eight nine;",
                "seven eight nine; ten eleven\ntwelve"
            ]
        );
        assert_eq!(cut("a b c d e f. g", 3), ["a b c d e f.", "g"], "a long sentence is a window of its own");
        assert_eq!(cut("", 8), [""]);
    }

    #[test]
    fn a_batch_scores_as_each_passage_does_alone() {
        let cross_encoder = CrossEncoder::builtin();
        let prompt = cross_encoder.prompt("when does the export run?");
        let texts = ["The export runs at three.", "Colours are in tokens.json; never inline them.", "", "x"];
        let passages: Vec<Passage> = texts.iter().map(|text| cross_encoder.passage(text)).collect();
        let alone: Vec<u32> = passages
            .iter()
            .map(|passage| {
                cross_encoder.score(&mut EncoderScratch::new(), &prompt, std::slice::from_ref(passage))[0]
            })
            .map(f32::to_bits)
            .collect();
        for threads in [0, 1, 2, 3, 9] {
            let batch = cross_encoder.score_batch(&prompt, &passages, threads);
            assert_eq!(batch.into_iter().map(f32::to_bits).collect::<Vec<_>>(), alone, "{threads} threads");
        }
        assert_eq!(cross_encoder.score_batch(&prompt, &[], 2), Vec::<f32>::new());
    }
}
