//! The agent's answers by sentence, with the classifier's labels. Conclusions and digests both use it, so
//! every sentence is labelled once.

use super::session_view::SessionView;
use super::turn::SessionTurn;
use crate::knowledge::statement;
use crate::knowledge::statement::{
    ClassifyFn, MAX_SENTENCE_CHARS, StatementContext, StatementLabels, StatementSpeaker,
};
use crate::text::phrases::truncate_head;
use crate::text::sentences::{self, strip_markdown};

/// The number of bytes read of an answer.
const MAX_ANSWER_BYTES: usize = 16 * 1024;
/// The maximum number of sentences examined per answer.
const MAX_CLASSIFIED_SENTENCES: usize = 40;
/// The minimum number of words of an agent's statement.
const MIN_WORDS: usize = 6;

/// A sentence of an answer.
pub(super) struct AnswerSentence {
    /// The index of the message.
    pub at: usize,
    /// The position in that message.
    pub place: usize,
    /// The sentence, without Markdown.
    pub text: String,
    /// The labels, if it can be a statement and there is a classifier.
    pub labels: Option<StatementLabels>,
}

impl AnswerSentence {
    /// The probability that it holds beyond the session. `None` without labels.
    pub(super) fn lasting_probability(&self) -> Option<f32> {
        self.labels.map(|labels| labels.lasting)
    }
}

/// The sentences of the agent's answers in a turn, in order.
pub(super) fn read(
    view: &SessionView<'_>,
    turn: &SessionTurn,
    classify: Option<&ClassifyFn<'_>>,
) -> Vec<AnswerSentence> {
    let request = turn.request(view).unwrap_or_default();
    let mut read = Vec::new();
    for (at, text) in turn.answers(view) {
        let text = truncate_head(text, MAX_ANSWER_BYTES);
        let sentences: Vec<&str> =
            sentences::lines(text).into_iter().flat_map(sentences::split_sentences).collect();
        for (place, sentence) in sentences.iter().enumerate().take(MAX_CLASSIFIED_SENTENCES) {
            let text = strip_markdown(sentence);
            let around = StatementContext {
                stopped: None,
                before: request,
                ahead: if place > 0 { sentences[place - 1] } else { "" },
                behind: sentences.get(place + 1).copied().unwrap_or_default(),
            };
            let labels = classify
                .filter(|_| can_state(&text))
                .map(|classify| classify(&statement::context(StatementSpeaker::Agent, &around), &text));
            read.push(AnswerSentence { at, place, text, labels });
        }
    }
    read
}

/// True if a sentence can be a statement.
fn can_state(text: &str) -> bool {
    text.split_whitespace().count() >= MIN_WORDS
        && !text.ends_with(['?', '？', ':', '：'])
        && text.chars().count() <= MAX_SENTENCE_CHARS
}
