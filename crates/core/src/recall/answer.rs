//! Answers to questions, composed from retrieved passages (REC-16). A model may combine the passages. Each of
//! its sentences must cite passages that support it; unsupported sentences are dropped.

mod subject;

use std::time::Duration;

use serde_json::json;

use crate::llm::prompts::ANSWER;
use crate::llm::{AnswerFormat, Cost, LlmBudget, LlmPrompt, LlmRequest};
use crate::text::clean::one_line;
use crate::text::clean_and_redact;
use crate::text::sentences;
use crate::text::specific_terms::{
    content_words, coverage, normalise_for_specifics, normalised_contains, specifics,
};

pub use subject::QuestionSubject;

/// The budget for one answer.
const BUDGET: LlmBudget = LlmBudget { tokens: 600, cost: Cost { micro_dollars: 50_000 } };
/// The maximum number of characters of one passage in the model's prompt.
const MAX_PASSAGE_CHARS: usize = 2_000;
/// The maximum number of characters of one sentence of the answer.
const MAX_SENTENCE_CHARS: usize = 600;
/// The minimum share of a sentence's words that the cited passages must contain.
const MIN_CITED_COVERAGE: f64 = 0.4;

/// The log-odds, from the cross-encoder, that a passage must exceed to answer the question.
const MIN_PASSAGE_LOG_ODDS: f64 = 0.0;
/// The minimum log-odds for a sentence to be the answer by itself.
const MIN_SENTENCE_LOG_ODDS: f64 = 2.0;
/// The log-odds by which a sentence of a later passage must exceed an earlier one. Later passages are older
/// or less trusted.
const MIN_LATER_SENTENCE_MARGIN: f64 = 2.0;
/// The maximum number of sentences that the cross-encoder scores.
const MAX_SCORED_SENTENCES: usize = 24;

/// True if a passage with these log-odds answers the question well enough to show.
pub fn is_answer(odds: f64) -> bool {
    odds > MIN_PASSAGE_LOG_ODDS
}

/// The sentences that could be the answer by themselves, each with its passage, in the order of the passages.
pub fn candidates(passages: &[String]) -> Vec<CitedSentence> {
    let of = |(place, text): (usize, &String)| {
        let lines = text
            .lines()
            .flat_map(sentences::split_sentences)
            .map(|text| text.trim_start_matches(['-', '*', '#', ' ']));
        let fitting = lines.filter(|text| text.chars().count() <= MAX_SENTENCE_CHARS && text.contains(' '));
        fitting
            .map(|text| CitedSentence { text: text.to_owned(), passages: vec![place + 1] })
            .collect::<Vec<_>>()
    };
    passages.iter().enumerate().flat_map(of).take(MAX_SCORED_SENTENCES).collect()
}

/// Selects the candidate that answers the question, given the log-odds of each; `None` if none is likely
/// enough. The order of the passages decides, with newer passages and the user's own words first, unless a
/// later sentence is clearly likelier.
pub fn best_sentence(candidates: Vec<CitedSentence>, odds: &[f64]) -> Option<CitedSentence> {
    let scored =
        candidates.into_iter().zip(odds.iter().copied()).filter(|(_, odds)| *odds >= MIN_SENTENCE_LOG_ODDS);
    let best = scored.reduce(|best, next| {
        let margin = if best.0.passages == next.0.passages { 0.0 } else { MIN_LATER_SENTENCE_MARGIN };
        if next.1 > best.1 + margin { next } else { best }
    })?;
    Some(best.0)
}

/// A sentence and the passages that it cites, numbered from 1.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct CitedSentence {
    /// The text of the sentence.
    pub text: String,
    /// The numbers of the passages.
    pub passages: Vec<usize>,
}

/// Builds the request for an answer from passages.
pub fn request(question: &str, passages: &[String], deadline: Duration) -> LlmRequest {
    let passages: Vec<_> = passages
        .iter()
        .enumerate()
        .map(|(place, text)| json!({"number": place + 1, "text": one_line(text, MAX_PASSAGE_CHARS)}))
        .collect();
    let material = json!({"question": question, "passages": passages}).to_string();
    LlmRequest {
        prompt: LlmPrompt::new(ANSWER, &material),
        expects: AnswerFormat::Tags(&["answer"]),
        deadline,
        budget: BUDGET,
    }
}

/// Parses an answer and keeps the sentences that their cited passages support. Empty if the model does not
/// know the answer.
pub fn supported_sentences(answer: &str, passages: &[String]) -> Vec<CitedSentence> {
    let body = answer.split_once("<answer>").map_or(answer, |(_, body)| body);
    let body = body.split_once("</answer>").map_or(body, |(body, _)| body);
    let mut believed = Vec::new();
    let mut rest = body.trim();
    // A sentence ends at the citations that follow it.
    while let Some((text, numbers, after)) = next_cited(rest) {
        rest = after;
        let text = one_line(&clean_and_redact(text).text, MAX_SENTENCE_CHARS);
        let cited: Vec<usize> =
            numbers.into_iter().filter(|number| (1..=passages.len()).contains(number)).collect();
        if supports(&text, &cited, passages) {
            believed.push(CitedSentence { text, passages: cited });
        }
    }
    believed
}

fn next_cited(text: &str) -> Option<(&str, Vec<usize>, &str)> {
    let mut from = 0;
    loop {
        let open = from + text.get(from..)?.find('[')?;
        let close = open + text.get(open..)?.find(']')?;
        let numbers: Option<Vec<usize>> = text
            .get(open + 1..close)?
            .split([',', ';', ' '])
            .filter(|part| !part.is_empty())
            .map(|part| part.trim_start_matches('#').parse().ok())
            .collect();
        match numbers.filter(|numbers| !numbers.is_empty()) {
            Some(mut numbers) => {
                let mut after = text.get(close + 1..)?.trim_start_matches(['.', '。', ' ', '\n']);
                // `[1][2]` means `[1, 2]`.
                while let Some((more, rest)) = after.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
                    let Ok(number) = more.trim_start_matches('#').parse() else { break };
                    numbers.push(number);
                    after = rest.trim_start_matches(['.', '。', ' ', '\n']);
                }
                return Some((text.get(..open)?.trim(), numbers, after));
            }
            None => from = close + 1,
        }
    }
}

fn supports(text: &str, cited: &[usize], passages: &[String]) -> bool {
    let texts: Vec<String> = cited
        .iter()
        .filter_map(|number| passages.get(number - 1))
        .map(|text| normalise_for_specifics(text))
        .collect();
    let all = texts.join("\n");
    let named = specifics(text).iter().all(|name| normalised_contains(name, &all));
    !text.is_empty()
        && !texts.is_empty()
        && named
        && coverage(&content_words(text), &content_words(&all)) >= MIN_CITED_COVERAGE
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passages() -> Vec<String> {
        vec![
            "We set the Redis TTL to 3600 seconds because sessions must not outlive an hour.".to_owned(),
            "Redis runs on port 6379 in staging.".to_owned(),
        ]
    }

    #[test]
    fn rec_16_a_sentence_that_its_passages_do_not_say_is_not_passed_on() {
        let answer = "<answer>The Redis TTL is 3600 seconds [1]. Redis runs on port 6379 in staging. [2] It is 7200 in \
                      production [1]. Redis listens on port 6380 [2]. Kafka was replaced last week [1].</answer>";
        let believed = supported_sentences(answer, &passages());
        let texts: Vec<&str> = believed.iter().map(|sentence| sentence.text.as_str()).collect();
        assert_eq!(texts, ["The Redis TTL is 3600 seconds", "Redis runs on port 6379 in staging."]);
        assert_eq!(believed[0].passages, [1]);
    }

    #[test]
    fn rec_16_the_sentence_that_says_it_is_the_answer() {
        let all =
            vec!["# Staging\n- Redis moved in May. It listens on port 6379.".to_owned(), "One".to_owned()];
        let candidates = candidates(&all);
        let texts: Vec<&str> = candidates.iter().map(|one| one.text.as_str()).collect();
        assert_eq!(texts, ["Redis moved in May.", "It listens on port 6379."]);
        let said = best_sentence(candidates.clone(), &[-1.0, 4.0]).unwrap();
        assert_eq!((said.text.as_str(), said.passages), ("It listens on port 6379.", vec![1]));
        assert_eq!(best_sentence(candidates, &[-1.0, 0.5]), None, "not likely enough to stand alone");
        assert_eq!(best_sentence(Vec::new(), &[]), None);
    }

    #[test]
    fn rec_16_a_later_passage_answers_only_if_it_is_clearly_likelier() {
        let all = vec!["Redis listens on 6380.".to_owned(), "Redis listens on 6379.".to_owned()];
        let said = |odds: &[f64]| best_sentence(candidates(&all), odds).map(|sentence| sentence.passages);
        assert_eq!(said(&[2.5, 3.5]), Some(vec![1]));
        assert_eq!(said(&[2.5, 5.0]), Some(vec![2]));
        assert_eq!(said(&[1.0, 2.5]), Some(vec![2]), "the first does not answer");
    }

    #[test]
    fn sentences_without_support_are_dropped() {
        assert_eq!(supported_sentences("I do not know.", &passages()), []);
        assert_eq!(supported_sentences("The Redis TTL is 3600 seconds.", &passages()), []);
        assert_eq!(supported_sentences("The Redis TTL is 3600 seconds [7].", &passages()), []);
        assert_eq!(supported_sentences("", &passages()), []);
    }

    #[test]
    fn several_passages_may_say_it() {
        let found = supported_sentences(
            "Redis runs on port 6379 in staging with a TTL of 3600 seconds [1][2].",
            &passages(),
        );
        assert_eq!(found[0].passages, [1, 2]);
        let found = supported_sentences("Keys such as a[0] in Redis have a TTL [1, 2]", &passages());
        assert!(found.len() <= 1);
    }
}
