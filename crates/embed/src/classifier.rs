//! The statement classifier: decides if a sentence of a session stays valid beyond it, of which kind it is,
//! and if a new statement replaces an older one.
//!
//! It is a small cross-encoder over the word embeddings of the built-in model (`models/teach_statements.py`).
//! Only the worker runs it, on the few sentences left after structural filtering, so it may take some
//! milliseconds per sentence.

use std::sync::OnceLock;

use crate::forward::{EncoderScratch, score_pair};
use crate::layout::{HEADER_BYTES, ModelHeader, ModelKind, ScoringHead, checksum};
use crate::{EmbeddingModel, Error, builtin};

/// The maximum number of tokens of the context, or of the older statement.
const MAX_CONTEXT_TOKENS: usize = 150;
/// The maximum number of tokens of the sentence, or of the newer statement.
const MAX_SENTENCE_TOKENS: usize = 100;
/// The number of kinds of statements.
pub(crate) const KIND_COUNT: usize = 7;
/// The outputs: lasting, once, the kinds, everywhere, ends; replaces, same, neither.
pub(crate) const OUTPUT_COUNT: usize = 2 + KIND_COUNT + 2 + 3;

/// A classifier over the word embeddings of a [`EmbeddingModel`]. The weights are used in place.
#[derive(Debug)]
pub struct SentenceClassifier<'a> {
    model: &'a EmbeddingModel<'a>,
    header: ModelHeader,
    verdict: ScoringHead<'a>,
    bytes: &'a [u8],
}

/// The labels of a sentence, as probabilities.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SentenceLabels {
    /// It is valid beyond the current task.
    pub lasting: f32,
    /// It is an instruction for this task only.
    pub once: f32,
    /// The kind of a lasting statement: rule, preference, convention, decision, environment, cause, work.
    pub kinds: [f32; KIND_COUNT],
    /// It is about the user or all of their work, not only this project.
    pub everywhere: f32,
    /// It says that something is no longer valid.
    pub ends: f32,
}

/// The relation of a newer statement to an older one, as probabilities that add up to one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairLabels {
    /// The newer statement replaces the older one.
    pub replaces: f32,
    /// Both statements say the same.
    pub same_statement: f32,
    /// Both are valid, or they are about different things.
    pub neither: f32,
}

impl<'a> SentenceClassifier<'a> {
    /// The built-in classifier. The first call reads a few hundred bytes.
    pub fn builtin() -> &'static SentenceClassifier<'static> {
        static CLASSIFIER: OnceLock<SentenceClassifier<'static>> = OnceLock::new();
        CLASSIFIER.get_or_init(|| {
            match SentenceClassifier::from_bytes(EmbeddingModel::builtin(), builtin::classifier_bytes()) {
                Ok(classifier) => classifier,
                Err(error) => unreachable!("the tests read the same bytes: {error}"),
            }
        })
    }

    /// A classifier for the word embeddings of `model`, from a file's bytes, which must start at a multiple
    /// of 64.
    pub fn from_bytes(model: &'a EmbeddingModel<'a>, bytes: &'a [u8]) -> Result<Self, Error> {
        let header = ModelHeader::read(ModelKind::Classifier, bytes)?;
        let verdict = ScoringHead::read(&header, bytes, OUTPUT_COUNT)?;
        if (header.vocabulary, header.hidden) != model.shape() {
            return Err(Error::OtherWords { reader: header.id, model: model.id().to_owned() });
        }
        // Two texts, with a special token before, between and after them.
        if header.max_tokens < MAX_CONTEXT_TOKENS + MAX_SENTENCE_TOKENS + 3 {
            return Err(header.too_few_tokens());
        }
        Ok(Self { model, header, verdict, bytes })
    }

    /// Reads the whole file and verifies its checksum.
    pub fn verify(&self) -> Result<(), Error> {
        let (expected, found) = (self.header.checksum, checksum(&self.bytes[HEADER_BYTES..]));
        if found == expected { Ok(()) } else { Err(Error::Checksum { expected, found }) }
    }

    /// Labels `sentence` in its `context`.
    pub fn label(&self, scratch: &mut EncoderScratch, context: &str, sentence: &str) -> SentenceLabels {
        let logits = self.logits(scratch, context, sentence);
        let kinds = softmax(&logits[2..2 + KIND_COUNT]);
        SentenceLabels {
            lasting: sigmoid(logits[0]),
            once: sigmoid(logits[1]),
            kinds: std::array::from_fn(|kind| kinds[kind]),
            everywhere: sigmoid(logits[2 + KIND_COUNT]),
            ends: sigmoid(logits[3 + KIND_COUNT]),
        }
    }

    /// Compares an older statement with a newer one.
    pub fn compare(&self, scratch: &mut EncoderScratch, old: &str, new: &str) -> PairLabels {
        let logits = self.logits(scratch, old, new);
        let pair = softmax(&logits[4 + KIND_COUNT..]);
        PairLabels { replaces: pair[0], same_statement: pair[1], neither: pair[2] }
    }

    fn logits(&self, scratch: &mut EncoderScratch, first: &str, second: &str) -> Vec<f32> {
        let cut = |text: &str, most: usize| {
            let mut ids = self.model.tokenize(text);
            if ids.len() > most + 2 {
                ids.drain(most + 1..ids.len() - 1);
            }
            ids
        };
        let (first, second) = (cut(first, MAX_CONTEXT_TOKENS), cut(second, MAX_SENTENCE_TOKENS));
        // The second text has no special token at its start.
        let pair = (&*first, &second[1..]);
        let words = self.model.word_tables([].iter());
        score_pair(&self.header, words, &self.verdict, scratch, &[pair]).swap_remove(0)
    }
}

fn sigmoid(logit: f32) -> f32 {
    1.0 / (1.0 + (-logit).exp())
}

fn softmax(logits: &[f32]) -> Vec<f32> {
    let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let parts: Vec<f32> = logits.iter().map(|logit| (logit - largest).exp()).collect();
    let sum: f32 = parts.iter().sum();
    parts.iter().map(|part| part / sum).collect()
}
