//! Runs the built-in statement classifier (`models/statements.rkc`) for `core`.

use std::cell::RefCell;

use rekindle_core::knowledge::statement::StatementLabels;
use rekindle_embed::{EncoderScratch, PairLabels, SentenceClassifier};

/// The statement classifier and its scratch memory; one per thread.
pub struct StatementClassifier {
    classifier: &'static SentenceClassifier<'static>,
    scratch: RefCell<EncoderScratch>,
}

impl StatementClassifier {
    /// Loads the built-in classifier.
    pub fn builtin() -> Self {
        Self { classifier: SentenceClassifier::builtin(), scratch: RefCell::new(EncoderScratch::new()) }
    }

    /// Labels a sentence in its context ([`rekindle_core::knowledge::statement::ClassifyFn`]).
    pub fn label(&self, context: &str, sentence: &str) -> StatementLabels {
        let labels = self.classifier.label(&mut self.scratch.borrow_mut(), context, sentence);
        StatementLabels {
            lasting: labels.lasting,
            once: labels.once,
            kinds: labels.kinds,
            everywhere: labels.everywhere,
            ends: labels.ends,
        }
    }

    /// Labels a pair of statements: the newer one supersedes the older one, or both say the same.
    pub fn compare(&self, old: &str, new: &str) -> PairLabels {
        self.classifier.compare(&mut self.scratch.borrow_mut(), old, new)
    }
}
