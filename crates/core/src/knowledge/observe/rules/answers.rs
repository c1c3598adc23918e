//! What the agent answered, sentence by sentence, with what the classifier says of each. Conclusions and digests are both made
//! from it, so every sentence is labelled once.

use super::statements::plain;
use super::turn::Turn;
use super::view::View;
use crate::knowledge::statement;
use crate::knowledge::statement::{Classify, Labels, SENTENCE_CHARS, Speaker, Surroundings};
use crate::text::phrases::head;
use crate::text::sentences;

/// What is read of an answer.
const ANSWER_BYTES: usize = 16 * 1024;
/// The most sentences of one answer that are looked at.
const MAX_LOOKED_AT: usize = 40;
/// Fewer words of an agent state nothing that is worth a line.
const MIN_WORDS: usize = 6;

/// One sentence of an answer.
pub(super) struct AnswerSentence {
    /// The message it stands in.
    pub at: usize,
    /// Its place in that message.
    pub place: usize,
    /// The sentence, without Markdown.
    pub text: String,
    /// Only where it can be a statement and there is a classifier.
    pub labels: Option<Labels>,
}

impl AnswerSentence {
    /// How likely it holds beyond the session. `None` where nobody asked.
    pub(super) fn lasting(&self) -> Option<f32> {
        self.labels.map(|labels| labels.lasting)
    }
}

/// The sentences of the agent's answers in a turn, in their order.
pub(super) fn read(view: &View<'_>, turn: &Turn, classify: Option<&Classify<'_>>) -> Vec<AnswerSentence> {
    let request = turn.request(view).unwrap_or_default();
    let mut read = Vec::new();
    for (at, text) in turn.answers(view) {
        let text = head(text, ANSWER_BYTES);
        let sentences: Vec<&str> =
            sentences::lines(text).into_iter().flat_map(sentences::sentences).collect();
        for (place, sentence) in sentences.iter().enumerate().take(MAX_LOOKED_AT) {
            let text = plain(sentence);
            let around = Surroundings {
                stopped: None,
                before: request,
                ahead: if place > 0 { sentences[place - 1] } else { "" },
                behind: sentences.get(place + 1).copied().unwrap_or_default(),
            };
            let labels = classify
                .filter(|_| can_state(&text))
                .map(|classify| classify(&statement::context(Speaker::Agent, &around), &text));
            read.push(AnswerSentence { at, place, text, labels });
        }
    }
    read
}

/// Whether a sentence can be a statement at all.
fn can_state(text: &str) -> bool {
    text.split_whitespace().count() >= MIN_WORDS
        && !text.ends_with(['?', '？', ':', '：'])
        && text.chars().count() <= SENTENCE_CHARS
}
