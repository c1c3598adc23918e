//! The statement classifier: does a sentence of a session hold beyond it, of which kind is it, and does a new statement end an
//! older one?
//!
//! A small cross-encoder over the words of the built-in model (`models/teach_statements.py`). Only the worker runs it, on the
//! few sentences that structure left over, so it may take some milliseconds for each.

use std::sync::OnceLock;

use crate::layout::{HEADER, Header, Kind, Verdict, checksum};
use crate::pass::{Scratch, judge};
use crate::{Error, Model, builtin};

/// Tokens of the context, or of the older statement.
const CONTEXT_TOKENS: usize = 150;
/// Tokens of the sentence, or of the newer statement.
const SENTENCE_TOKENS: usize = 100;
/// How many kinds of statements it tells apart.
pub(crate) const KINDS: usize = 7;
/// lasting, once, the kinds, everywhere, ends; replaces, same, neither.
pub(crate) const OUTPUTS: usize = 2 + KINDS + 2 + 3;

/// A classifier whose weights stay where the bytes are, over the words of a [`Model`].
#[derive(Debug)]
pub struct Classifier<'a> {
    model: &'a Model<'a>,
    header: Header,
    verdict: Verdict<'a>,
    bytes: &'a [u8],
}

/// What it says of a sentence: probabilities.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Labels {
    /// It holds beyond the present task.
    pub lasting: f32,
    /// It is an instruction for this once.
    pub once: f32,
    /// Which kind it is if it lasts: rule, preference, convention, decision, environment, cause, work.
    pub kinds: [f32; KINDS],
    /// It is about the person or all of their work, not this project alone.
    pub everywhere: f32,
    /// It says that something which held before no longer does.
    pub ends: f32,
}

/// What it says of an older and a newer statement: probabilities that add up to one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairLabels {
    /// The newer one takes the older one's place.
    pub replaces: f32,
    /// Both say the same.
    pub same: f32,
    /// Both hold, or they are about different things.
    pub neither: f32,
}

impl<'a> Classifier<'a> {
    /// The classifier in this program. The first call looks at a few hundred bytes.
    pub fn builtin() -> &'static Classifier<'static> {
        static CLASSIFIER: OnceLock<Classifier<'static>> = OnceLock::new();
        CLASSIFIER.get_or_init(|| match Classifier::from_bytes(Model::builtin(), builtin::classifier()) {
            Ok(classifier) => classifier,
            Err(error) => unreachable!("the tests read the same bytes: {error}"),
        })
    }

    /// A classifier from a file's bytes, which must start at a multiple of 64, made over the words of `model`.
    pub fn from_bytes(model: &'a Model<'a>, bytes: &'a [u8]) -> Result<Self, Error> {
        let header = Header::read(Kind::Classifier, bytes)?;
        let verdict = Verdict::read(&header, bytes, OUTPUTS)?;
        if (header.vocabulary, header.hidden) != model.shape() {
            return Err(Error::OtherWords { reader: header.id, model: model.id().to_owned() });
        }
        // Two texts, with a mark before, between and after them.
        if header.max_tokens < CONTEXT_TOKENS + SENTENCE_TOKENS + 3 {
            return Err(header.too_few_tokens());
        }
        Ok(Self { model, header, verdict, bytes })
    }

    /// Reads the whole file to see whether it is as it was made.
    pub fn verify(&self) -> Result<(), Error> {
        let (expected, found) = (self.header.checksum, checksum(&self.bytes[HEADER..]));
        if found == expected { Ok(()) } else { Err(Error::Checksum { expected, found }) }
    }

    /// Labels `sentence`, said in `context`.
    pub fn label(&self, scratch: &mut Scratch, context: &str, sentence: &str) -> Labels {
        let logits = self.logits(scratch, context, sentence);
        let kinds = softmax(&logits[2..2 + KINDS]);
        Labels {
            lasting: sigmoid(logits[0]),
            once: sigmoid(logits[1]),
            kinds: std::array::from_fn(|kind| kinds[kind]),
            everywhere: sigmoid(logits[2 + KINDS]),
            ends: sigmoid(logits[3 + KINDS]),
        }
    }

    /// Compares an older statement with a newer one.
    pub fn compare(&self, scratch: &mut Scratch, old: &str, new: &str) -> PairLabels {
        let logits = self.logits(scratch, old, new);
        let pair = softmax(&logits[4 + KINDS..]);
        PairLabels { replaces: pair[0], same: pair[1], neither: pair[2] }
    }

    fn logits(&self, scratch: &mut Scratch, first: &str, second: &str) -> Vec<f32> {
        let cut = |text: &str, most: usize| {
            let mut ids = self.model.tokenize(text);
            if ids.len() > most + 2 {
                ids.drain(most + 1..ids.len() - 1);
            }
            ids
        };
        let (first, second) = (cut(first, CONTEXT_TOKENS), cut(second, SENTENCE_TOKENS));
        // A second text has no mark at its beginning.
        let pair = (&*first, &second[1..]);
        judge(&self.header, self.model.words(), &self.verdict, scratch, &[pair]).swap_remove(0)
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
