//! Answers a question from memory, with citations.

use std::collections::HashSet;
use std::time::Duration;

use rekindle_core::base::scope::ProjectId;
use rekindle_core::llm::LanguageModel;
use rekindle_core::recall::answer;
use rekindle_core::recall::answer::{CitedSentence, QuestionSubject};
use rekindle_core::recall::filter::RecallFilters;
use rekindle_core::recall::select::MAX_RESULTS;
use rekindle_core::text::clean_and_redact;
use rekindle_engine::index::Embedder;
use rekindle_engine::llm::ModelJob;
use rekindle_engine::recall::ask::{RecallAnswer, RecallRequest, ask};
use rekindle_engine::recall::messages::MessageStore;
use rekindle_engine::recall::relevance_gate::reading::{RescoringMode, answer_log_odds};
use rekindle_engine::recall::search::SearchRules;
use rekindle_engine::recall::usage::UsageSummary;
use serde_json::{Value, json};

use super::CommandContext;
use super::recall::hit_location;
use crate::error::CliError;

/// The most near misses that are shown when nothing answers.
const MAX_CLOSEST: usize = 3;

/// An answer with the passages that it rests on.
pub(crate) struct CitedAnswer {
    recall: RecallAnswer,
    passages: Vec<String>,
    composed: Composed,
    /// The number of near misses.
    near_misses: usize,
    /// The nearest of the near misses: path and text.
    closest: Vec<(String, String)>,
}

/// Retrieves the passages that answer the question; a language model, if one is set up, composes the answer.
pub(crate) fn answer_question(
    context: &CommandContext<'_>,
    question: &str,
    all_projects: bool,
) -> Result<CitedAnswer, CliError> {
    let mut found = search(context, question, all_projects)?;
    let passages: Vec<String> =
        found.passages.iter().map(|shown| clean_and_redact(&shown.text).text).collect();
    let texts: Vec<&str> = passages.iter().map(String::as_str).collect();
    let subject = QuestionSubject::of_question(question);
    let titles = found.selection.hits.iter().map(|hit| hit.document.title.as_str());
    let related: Vec<bool> = answer_log_odds(question, &texts).into_iter().map(answer::is_answer).collect();
    let about = titles.zip(&texts).map(|(title, text)| subject.is_covered_by(&format!("{title}\n{text}")));
    let answers: Vec<bool> = related.iter().zip(about).map(|(related, about)| *related && about).collect();
    let near = answers.iter().filter(|answers| !**answers).count();
    let related: Vec<bool> =
        related.iter().zip(&answers).map(|(related, answers)| *related && !answers).collect();
    let shown =
        found.passages.iter().zip(&found.selection.hits).zip(&related).filter(|(_, related)| **related);
    let closest = shown.take(MAX_CLOSEST).map(|((shown, hit), _)| {
        (hit_location(&hit.document, shown), clean_and_redact(shown.text.trim()).text)
    });
    let closest = closest.collect();
    let passages = retain_marked(passages, &answers);
    found.selection.hits = retain_marked(found.selection.hits, &answers);
    found.passages = retain_marked(found.passages, &answers);
    let composed = compose_answer(context, question, &passages);
    let composed = if matches!(composed, Composed::Passages) {
        in_a_sentence(question, &subject, &passages)
    } else {
        composed
    };
    Ok(CitedAnswer { recall: found, passages, composed, near_misses: near, closest })
}

/// Filters the items by their marks.
fn retain_marked<T>(all: Vec<T>, marks: &[bool]) -> Vec<T> {
    all.into_iter().zip(marks).filter_map(|(one, kept)| kept.then_some(one)).collect()
}

/// Selects the one sentence of the passages that answers by itself, if there is one.
fn in_a_sentence(question: &str, subject: &QuestionSubject, passages: &[String]) -> Composed {
    let mut candidates = answer::candidates(passages);
    candidates.retain(|candidate| subject.agrees_with(&candidate.text));
    let texts: Vec<&str> = candidates.iter().map(|candidate| candidate.text.as_str()).collect();
    let odds = answer_log_odds(question, &texts);
    answer::best_sentence(candidates, &odds).map_or(Composed::Passages, Composed::Quoted)
}

impl CitedAnswer {
    /// The reason why the language model gave no answer, if it failed.
    pub(crate) fn model_failure(&self) -> Option<&str> {
        match &self.composed {
            Composed::Failed(why) => Some(why),
            _ => None,
        }
    }

    /// True if something comes close, though nothing answers.
    pub(crate) fn has_near_misses(&self) -> bool {
        !self.is_known() && self.near_misses + self.passages.len() > 0
    }

    /// The answer as JSON.
    pub(crate) fn report(&self, question: &str) -> Value {
        report(question, &self.recall, &self.passages, &self.composed)
    }

    fn is_known(&self) -> bool {
        !self.passages.is_empty() && !matches!(self.composed, Composed::Unknown { .. })
    }

    /// Renders the answer with its citations, line by line; `head` styles the line with the place of a
    /// passage.
    pub(crate) fn lines(&self, head: impl Fn(String) -> String) -> Vec<String> {
        if !self.is_known() {
            let mut lines = vec!["Nothing in your notes or sessions answers that.".to_owned()];
            for (place, text) in &self.closest {
                lines.push(head(format!("Near: {place}")));
                lines.extend(text.lines().map(|line| format!("  {line}")));
            }
            return lines;
        }
        let sentences = match &self.composed {
            Composed::Answer { sentences, .. } => sentences.as_slice(),
            Composed::Quoted(sentence) => std::slice::from_ref(sentence),
            Composed::Passages | Composed::Failed(_) | Composed::Unknown { .. } => &[],
        };
        let is_quoted = matches!(self.composed, Composed::Quoted(_));
        let mut lines = Vec::new();
        for sentence in sentences {
            let numbers: Vec<String> = sentence.passages.iter().map(usize::to_string).collect();
            lines.push(format!("{} [{}]", sentence.text, numbers.join(", ")));
        }
        let cited: HashSet<usize> = sentences.iter().flat_map(|sentence| sentence.passages.clone()).collect();
        if !sentences.is_empty() {
            lines.push(String::new());
        }
        for (number, (hit, shown)) in (1..).zip(self.recall.selection.hits.iter().zip(&self.recall.passages))
        {
            // A composed answer uses only the cited passages. After a quotation the other passages are still
            // shown.
            if !sentences.is_empty() && !cited.contains(&number) && !is_quoted {
                continue;
            }
            let unreviewed = if hit.document.reviewed { "" } else { " (unreviewed)" };
            lines.push(head(format!("[{number}] {}{unreviewed}", hit_location(&hit.document, shown))));
            if !cited.contains(&number) {
                lines.extend(
                    shown.text.trim().lines().map(|line| format!("  {}", clean_and_redact(line).text)),
                );
            }
        }
        lines
    }
}

fn search(
    context: &CommandContext<'_>,
    question: &str,
    all_projects: bool,
) -> Result<RecallAnswer, CliError> {
    let vault = context.vault()?;
    let (model, index) = (context.model_if_any(), context.index());
    let usage = UsageSummary::read(&context.places.usage());
    let messages = MessageStore::from_paths(&context.places);
    let rewrite = context.rewrite(question);
    let project = context.project_id().map(ProjectId::as_str);
    let request = RecallRequest {
        prompt: question,
        rewritten: rewrite.rewritten(),
        filters: &RecallFilters::default(),
        rules: SearchRules {
            include_inbox: true,
            all_projects,
            ..SearchRules::from_settings(&context.settings.config.recall, project, &context.now)
        },
        k: MAX_RESULTS,
        anyway: false,
        reading: RescoringMode::AsNeeded,
        held_ids: &HashSet::new(),
        mentions: false,
        messages: Some(&messages),
        reserved_messages: 0,
        leave_out: |_| false,
    };
    let embedder = model.as_ref().map(|model| Embedder::new(model.name(), model));
    let answer = ask(&vault, &index, embedder, &usage, &request)?;
    if answer.is_worth_indexing() {
        context.index_later();
    }
    Ok(answer)
}

/// The form of the answer that the passages were composed into.
enum Composed {
    /// There is no model, or nothing to compose.
    Passages,
    /// The model did not answer.
    Failed(String),
    /// The model answered, and no sentence passed verification.
    Unknown { model: String },
    /// One sentence of a passage answers by itself.
    Quoted(CitedSentence),
    /// Sentences that the passages support.
    Answer { model: String, sentences: Vec<CitedSentence> },
}

fn compose_answer(context: &CommandContext<'_>, question: &str, passages: &[String]) -> Composed {
    if passages.is_empty() {
        return Composed::Passages;
    }
    let model = match context.stage_context().model(ModelJob::Observer) {
        Ok(Some(model)) => model,
        Ok(None) => return Composed::Passages,
        Err(error) => return Composed::Failed(error.message),
    };
    let deadline = Duration::from_secs(context.settings.config.llm.timeout_seconds.into());
    match model.answer(&answer::request(question, passages, deadline)) {
        Ok(said) => {
            let sentences = answer::supported_sentences(&said.text, passages);
            let model = model.name().to_owned();
            if sentences.is_empty() {
                Composed::Unknown { model }
            } else {
                Composed::Answer { model, sentences }
            }
        }
        Err(error) => Composed::Failed(error.message),
    }
}

fn report(question: &str, found: &RecallAnswer, passages: &[String], composed: &Composed) -> Value {
    let citations: Vec<Value> = (1..)
        .zip(found.selection.hits.iter().zip(&found.passages).zip(passages))
        .map(|(number, ((hit, shown), text)): (usize, _)| {
            let document = &hit.document;
            json!({
                "number": number, "id": document.id, "path": document.path, "lines": shown.lines,
                "title": document.title, "text": text, "source": document.source, "origin": document.origin,
                "reviewed": document.reviewed,
            })
        })
        .collect();
    let (answer, model, failed): (Option<Value>, Option<&str>, Option<&str>) = match composed {
        Composed::Passages => (None, None, None),
        Composed::Failed(why) => (None, None, Some(why)),
        Composed::Unknown { model } => (None, Some(model), None),
        Composed::Quoted(sentence) => (Some(json!([sentence])), None, None),
        Composed::Answer { model, sentences } => (Some(json!(sentences)), Some(model), None),
    };
    let known = !passages.is_empty() && !matches!(composed, Composed::Unknown { .. });
    json!({
        "question": clean_and_redact(question).text, "known": known, "answer": answer, "model": model, "failed": failed,
        "citations": citations, "degraded": found.degraded,
    })
}
