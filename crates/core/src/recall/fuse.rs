//! What makes a document the answer: its meaning, its words, and what stands around it.

use serde::Serialize;

use super::collection::Columns;
use super::lexical::Lexical;

/// How the arms are put together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    /// What measures best; docs/adr has the numbers.
    Measured,
    /// REC-02: similarity and the number of matching keywords, each with its weight.
    Linear {
        /// The weight of the cosine.
        similarity: f32,
        /// The weight of each keyword that matches.
        keyword: f32,
        /// The most keywords that count; `None` is as the formula says.
        cap: Option<u32>,
    },
}

/// The parts of one document's relevance, as they are added.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Parts {
    /// How close its best window is to the question.
    pub cosine: f32,
    /// BM25 of its own words, beside the best there is.
    pub lexical: f32,
    /// BM25 of its own words, beside the best there could be.
    pub coverage: f32,
    /// BM25 of it with its neighbours.
    pub context: f32,
    /// BM25 of its thread.
    pub thread: f32,
    /// The best cosine of its thread.
    pub thread_cosine: f32,
    /// The cosine of its neighbours.
    pub neighbours: f32,
    /// All of it together.
    pub relevance: f32,
}

/// A question with everything that was found for it.
#[derive(Debug)]
pub struct Fusion<'a> {
    method: Method,
    columns: &'a Columns,
    lexical: &'a Lexical,
    cosines: &'a [f32],
    /// How many terms of the question each document holds; only where the method counts them.
    matches: Vec<u32>,
    top: Tops,
    thread_best: Vec<f32>,
}

#[derive(Debug)]
struct Tops {
    own: f32,
    context: f32,
    thread: f32,
}

fn top(scores: &[f32]) -> f32 {
    let top = scores.iter().copied().fold(0.0, f32::max);
    if top > 0.0 { top } else { 1.0 }
}

impl<'a> Fusion<'a> {
    /// Puts together what was found. `cosines` may be empty: then the words alone decide (REC-11).
    pub fn new(
        method: Method,
        columns: &'a Columns,
        lexical: &'a Lexical,
        cosines: &'a [f32],
        matches: Vec<u32>,
    ) -> Self {
        let mut fusion = Self {
            method,
            columns,
            lexical,
            cosines,
            matches,
            top: Tops {
                own: top(&lexical.own),
                context: top(&lexical.context),
                thread: top(&lexical.thread),
            },
            thread_best: Vec::new(),
        };
        fusion.thread_best = fusion.best_of_threads();
        fusion
    }

    fn best_of_threads(&self) -> Vec<f32> {
        let mut best = vec![0.0; self.columns.len()];
        let mut start = 0;
        for thread in self.columns.threads.chunk_by(|a, b| a == b) {
            let range = start..start + thread.len();
            start = range.end;
            let highest = range.clone().map(|at| self.cosine(at)).fold(0.0, f32::max);
            best[range].fill(highest);
        }
        best
    }

    /// The cosine of a document that can be seen; never below 0.
    fn cosine(&self, at: usize) -> f32 {
        let visible = self.columns.visible.get(at).copied().unwrap_or(false);
        if visible { self.cosines.get(at).copied().unwrap_or(0.0).max(0.0) } else { 0.0 }
    }

    /// The relevance of a document, and what it is made of.
    pub fn parts(&self, at: usize) -> Parts {
        match self.method {
            Method::Measured => self.measured(at),
            Method::Linear { similarity, keyword, cap } => {
                let matches = self.matches.get(at).copied().unwrap_or(0);
                let counted = cap.map_or(matches, |cap| matches.min(cap));
                let parts = Parts {
                    cosine: self.cosine(at) * similarity,
                    lexical: counted as f32 * keyword,
                    ..Parts::default()
                };
                Parts { relevance: parts.cosine + parts.lexical, ..parts }
            }
        }
    }

    fn measured(&self, at: usize) -> Parts {
        let columns = self.columns;
        let short = (-(columns.words[at] as f32) / 60.0).exp();
        let same = |other: usize| columns.threads[other] == columns.threads[at];
        let before = at.checked_sub(1).filter(|other| same(*other)).map_or(0.0, |other| self.cosine(other));
        let after = Some(at + 1)
            .filter(|other| *other < columns.len() && same(*other))
            .map_or(0.0, |other| self.cosine(other));
        let parts = Parts {
            cosine: self.cosine(at),
            lexical: 0.0,
            coverage: 0.14 * self.lexical.own[at] / self.lexical.ideal.max(1e-6),
            context: (0.27 + 0.24 * short) * self.lexical.context[at] / self.top.context,
            thread: 0.08 * self.lexical.thread[at] / self.top.thread,
            thread_cosine: 0.35 * self.thread_best[at],
            neighbours: 0.26 * (before + after) / 2.0,
            relevance: 0.0,
        };
        let relevance = parts.cosine
            + parts.lexical * self.top.own
            + parts.coverage
            + parts.context
            + parts.thread
            + parts.thread_cosine
            + parts.neighbours;
        Parts { relevance, ..parts }
    }
}
