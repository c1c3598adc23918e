//! The agent's answers by sentence, with the classifier's labels. Conclusions and digests both use it, so
//! every sentence is labelled once.

use super::answer_text::answer_sentences;
use super::session_view::SessionView;
use super::turn::SessionTurn;
use crate::knowledge::statement;
use crate::knowledge::statement::{
    ClassifyFn, MAX_SENTENCE_CHARS, StatementContext, StatementLabels, StatementSpeaker,
};
use crate::text::phrases::truncate_head;

/// The number of bytes read of an answer.
const MAX_ANSWER_BYTES: usize = 16 * 1024;
/// The maximum number of sentences examined per answer.
const MAX_CLASSIFIED_SENTENCES: usize = 40;
/// The minimum number of words of an agent's statement.
const MIN_WORDS: usize = 6;
/// The maximum number of sentences examined per turn that the agent wrote between its calls.
const MAX_REMARK_SENTENCES: usize = 60;
/// The minimum probability that such a remark lasts. Most of them announce the next call.
const MIN_LASTING_REMARK: f32 = 0.2;

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
    /// True if the agent went on working after it, so that it may have been refuted since.
    pub is_remark: bool,
}

impl AnswerSentence {
    /// The probability that it holds beyond the session. `None` without labels.
    pub(super) fn lasting_probability(&self) -> Option<f32> {
        self.labels.map(|labels| labels.lasting)
    }
}

/// The sentences of the agent's answers in a turn, in order. With a classifier, also what lasts of its remarks
/// between the calls.
pub(super) fn read(
    view: &SessionView<'_>,
    turn: &SessionTurn,
    classify: Option<&ClassifyFn<'_>>,
) -> Vec<AnswerSentence> {
    let request = turn.request(view).unwrap_or_default();
    let answers = turn.answers(view);
    let mut read: Vec<AnswerSentence> = Vec::new();
    for (at, text) in &answers {
        read.extend(label_sentences(*at, text, MAX_CLASSIFIED_SENTENCES, request, classify));
    }
    let mut room = MAX_REMARK_SENTENCES;
    let is_remark = |at: usize| !answers.iter().any(|(answer, _)| *answer == at);
    // The later remarks know more.
    for (at, text) in
        view.agent(turn.from, turn.to).rev().filter(|(at, _)| classify.is_some() && is_remark(*at))
    {
        let labelled = label_sentences(at, text, room.min(MAX_CLASSIFIED_SENTENCES), request, classify);
        room -= labelled.len().min(room);
        let lasting = labelled.into_iter().filter(|sentence| {
            sentence.labels.is_some_and(|labels| labels.lasting >= MIN_LASTING_REMARK.max(labels.once))
        });
        read.extend(lasting.map(|sentence| AnswerSentence { is_remark: true, ..sentence }));
    }
    read.sort_by_key(|sentence| (sentence.at, sentence.place));
    read
}

/// The first `most` sentences of a message, labelled.
fn label_sentences(
    at: usize,
    text: &str,
    most: usize,
    request: &str,
    classify: Option<&ClassifyFn<'_>>,
) -> Vec<AnswerSentence> {
    let sentences = answer_sentences(truncate_head(text, MAX_ANSWER_BYTES));
    let labelled = sentences.iter().enumerate().take(most).map(|(place, text)| {
        let around = StatementContext {
            stopped: None,
            before: request,
            ahead: place.checked_sub(1).map_or("", |before| &sentences[before]),
            behind: sentences.get(place + 1).map_or("", String::as_str),
        };
        let labels = classify
            .filter(|_| can_state(text))
            .map(|classify| classify(&statement::context(StatementSpeaker::Agent, &around), text));
        AnswerSentence { at, place, text: text.clone(), labels, is_remark: false }
    });
    labelled.collect()
}

/// True if a sentence can be a statement.
fn can_state(text: &str) -> bool {
    text.split_whitespace().count() >= MIN_WORDS
        && !text.ends_with(['?', '？', ':', '：'])
        && text.chars().count() <= MAX_SENTENCE_CHARS
}
