//! Runs the built-in statement classifier (`models/statements.rkc`) for `core`.

use std::cell::RefCell;

use rekindle_core::knowledge::statement::Labels;
use rekindle_embed::{Classifier, PairLabels, Scratch};

/// The statement classifier and its scratch memory; one per thread.
pub struct Statements {
    classifier: &'static Classifier<'static>,
    scratch: RefCell<Scratch>,
}

impl Statements {
    /// Loads the built-in classifier.
    pub fn builtin() -> Self {
        Self { classifier: Classifier::builtin(), scratch: RefCell::new(Scratch::new()) }
    }

    /// Labels a sentence in its context ([`rekindle_core::knowledge::statement::Classify`]).
    pub fn label(&self, context: &str, sentence: &str) -> Labels {
        let said = self.classifier.label(&mut self.scratch.borrow_mut(), context, sentence);
        Labels {
            lasting: said.lasting,
            once: said.once,
            kinds: said.kinds,
            everywhere: said.everywhere,
            ends: said.ends,
        }
    }

    /// Labels a pair of statements: the newer one supersedes the older one, or both say the same.
    pub fn compare(&self, old: &str, new: &str) -> PairLabels {
        self.classifier.compare(&mut self.scratch.borrow_mut(), old, new)
    }
}
