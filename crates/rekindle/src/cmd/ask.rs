//! `rekindle ask`

use std::collections::HashSet;
use std::time::Duration;

use clap::Args;
use rekindle_core::base::scope::ProjectId;
use rekindle_core::llm::Model;
use rekindle_core::recall::answer;
use rekindle_core::recall::answer::{Sentence, Subject};
use rekindle_core::recall::filter::Filters;
use rekindle_core::recall::select::MOST;
use rekindle_core::text::admit;
use rekindle_engine::index::Embedder;
use rekindle_engine::llm::Job;
use rekindle_engine::messages::Messages;
use rekindle_engine::recall::ask::{Answer, Request, ask};
use rekindle_engine::recall::relevance_gate::reading::{Reading, odds};
use rekindle_engine::recall::search::Rules;
use rekindle_engine::recall::usage::Usage;
use serde_json::{Value, json};

use super::body;
use super::recall::place;
use crate::compose::Context;
use crate::error::Failure;
use crate::output::Style;

/// At most so many passages are shown that are near, when none answers.
const MOST_UNSURE: usize = 3;

#[derive(Args)]
#[command(after_help = "\
Looks through memories, MEMORY.md, observations, daily logs, your other notes and what was said in sessions, and answers
with citations: the sentence that says it, then the passages, best first. A language model (`rekindle llm`) can put the
passages together instead; every sentence that its passages do not say is dropped. If nothing answers the question, it
says so.

Examples:
  rekindle ask 'what did we decide about Redis TTLs?'
  rekindle ask 'why is the pool limited to 20?' --json")]
pub(crate) struct Ask {
    /// The question: TEXT, @FILE, or - for stdin
    question: String,
    /// Look into every project, not only the one you are in
    #[arg(long)]
    all_projects: bool,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

impl Ask {
    pub(crate) fn run(self, context: &Context<'_>) -> Result<(), Failure> {
        let question = body::prompt(&self.question, &context.cwd)?;
        let told = answered(context, &question, self.all_projects)?;
        if let Put::Failed(why) = &told.put {
            context.out.warn(format!("the model did not answer ({why}); these are the passages"));
        }
        if self.json {
            return context.out.json(&report(&question, &told.found, &told.passages, &told.put));
        }
        for line in told.lines(|head| context.out.styled(Style::Dim, head)) {
            context.out.line(line)?;
        }
        if !told.is_known() && told.near + told.passages.len() > 0 {
            context.out.note(
                "Some notes touch the topic, but none answers it: `rekindle recall --anyway` shows them.",
            );
        }
        Ok(())
    }
}

/// What came of a question.
pub(crate) struct Told {
    found: Answer,
    passages: Vec<String>,
    put: Put,
    /// How many more are near, but do not answer.
    near: usize,
    /// Those of them that come nearest: where they are, and their text.
    unsure: Vec<(String, String)>,
}

/// Looks for what answers the question, and has it put together where a model is set up.
pub(crate) fn answered(context: &Context<'_>, question: &str, all_projects: bool) -> Result<Told, Failure> {
    let mut found = search(context, question, all_projects)?;
    let passages: Vec<String> = found.shown.iter().map(|shown| admit(&shown.text).text).collect();
    let texts: Vec<&str> = passages.iter().map(String::as_str).collect();
    let subject = Subject::of(question);
    let titles = found.selection.hits.iter().map(|hit| hit.document.title.as_str());
    let related: Vec<bool> = odds(question, &texts).into_iter().map(answer::is_answer).collect();
    let about = titles.zip(&texts).map(|(title, text)| subject.is_in(&format!("{title}\n{text}")));
    let answers: Vec<bool> = related.iter().zip(about).map(|(related, about)| *related && about).collect();
    let near = answers.iter().filter(|answers| !**answers).count();
    let related: Vec<bool> =
        related.iter().zip(&answers).map(|(related, answers)| *related && !answers).collect();
    let shown = found.shown.iter().zip(&found.selection.hits).zip(&related).filter(|(_, related)| **related);
    let unsure = shown
        .take(MOST_UNSURE)
        .map(|((shown, hit), _)| (place(&hit.document, shown), admit(shown.text.trim()).text));
    let unsure = unsure.collect();
    let passages = kept(passages, &answers);
    found.selection.hits = kept(found.selection.hits, &answers);
    found.shown = kept(found.shown, &answers);
    let put = put_together(context, question, &passages);
    let put = if matches!(put, Put::Passages) { in_a_sentence(question, &subject, &passages) } else { put };
    Ok(Told { found, passages, put, near, unsure })
}

/// What is marked.
fn kept<T>(all: Vec<T>, marks: &[bool]) -> Vec<T> {
    all.into_iter().zip(marks).filter_map(|(one, kept)| kept.then_some(one)).collect()
}

/// The one sentence of the passages that answers by itself, where there is one.
fn in_a_sentence(question: &str, subject: &Subject, passages: &[String]) -> Put {
    let mut candidates = answer::candidates(passages);
    candidates.retain(|candidate| subject.is_not_contradicted_by(&candidate.text));
    let texts: Vec<&str> = candidates.iter().map(|candidate| candidate.text.as_str()).collect();
    let odds = odds(question, &texts);
    answer::the_answer(candidates, &odds).map_or(Put::Passages, Put::Quoted)
}

impl Told {
    fn is_known(&self) -> bool {
        !self.passages.is_empty() && !matches!(self.put, Put::Unknown { .. })
    }

    /// The answer with what it rests on, line by line; `head` styles the line that says where a passage is.
    pub(crate) fn lines(&self, head: impl Fn(String) -> String) -> Vec<String> {
        if !self.is_known() {
            let mut lines = vec!["Nothing in your notes or sessions answers that.".to_owned()];
            for (place, text) in &self.unsure {
                lines.push(head(format!("Near: {place}")));
                lines.extend(text.lines().map(|line| format!("  {line}")));
            }
            return lines;
        }
        let sentences = match &self.put {
            Put::Answer { sentences, .. } => sentences.as_slice(),
            Put::Quoted(sentence) => std::slice::from_ref(sentence),
            Put::Passages | Put::Failed(_) | Put::Unknown { .. } => &[],
        };
        let is_quoted = matches!(self.put, Put::Quoted(_));
        let mut lines = Vec::new();
        for sentence in sentences {
            let numbers: Vec<String> = sentence.passages.iter().map(usize::to_string).collect();
            lines.push(format!("{} [{}]", sentence.text, numbers.join(", ")));
        }
        let cited: HashSet<usize> = sentences.iter().flat_map(|sentence| sentence.passages.clone()).collect();
        if !sentences.is_empty() {
            lines.push(String::new());
        }
        for (number, (hit, shown)) in (1..).zip(self.found.selection.hits.iter().zip(&self.found.shown)) {
            // A model has put all of them together; a quotation leaves the rest unsaid.
            if !sentences.is_empty() && !cited.contains(&number) && !is_quoted {
                continue;
            }
            let unreviewed = if hit.document.reviewed { "" } else { " (unreviewed)" };
            lines.push(head(format!("[{number}] {}{unreviewed}", place(&hit.document, shown))));
            if !cited.contains(&number) {
                lines.extend(shown.text.trim().lines().map(|line| format!("  {}", admit(line).text)));
            }
        }
        lines
    }
}

fn search(context: &Context<'_>, question: &str, all_projects: bool) -> Result<Answer, Failure> {
    let vault = context.vault()?;
    let (model, index) = (context.model_if_any(), context.index());
    let usage = Usage::read(&context.places.usage());
    let messages = Messages::of(&context.places);
    let rewrite = context.rewrite(question);
    let project = context.project_id().map(ProjectId::as_str);
    let request = Request {
        prompt: question,
        rewritten: rewrite.rewritten(),
        filters: &Filters::default(),
        rules: Rules {
            include_inbox: true,
            all_projects,
            ..Rules::of(&context.settings.config.recall, project, &context.now)
        },
        k: MOST,
        anyway: false,
        reading: Reading::AsNeeded,
        held: &HashSet::new(),
        mentions: false,
        messages: Some(&messages),
        leave_out: |_| false,
    };
    let embedder = model.as_ref().map(|model| Embedder::new(model.name(), model));
    let answer = ask(&vault, &index, embedder, &usage, &request)?;
    if answer.is_worth_indexing() {
        context.index_later();
    }
    Ok(answer)
}

/// What became of the passages.
enum Put {
    /// There is no model, or nothing to put together.
    Passages,
    /// The model did not answer.
    Failed(String),
    /// The model answered, and nothing of it could be believed.
    Unknown { model: String },
    /// One sentence of a passage answers by itself.
    Quoted(Sentence),
    /// Sentences that the passages say.
    Answer { model: String, sentences: Vec<Sentence> },
}

fn put_together(context: &Context<'_>, question: &str, passages: &[String]) -> Put {
    if passages.is_empty() {
        return Put::Passages;
    }
    let model = match context.world().model(Job::Observer) {
        Ok(Some(model)) => model,
        Ok(None) => return Put::Passages,
        Err(error) => return Put::Failed(error.message),
    };
    let deadline = Duration::from_secs(context.settings.config.llm.timeout_seconds.into());
    match model.answer(&answer::request(question, passages, deadline)) {
        Ok(said) => {
            let sentences = answer::believed(&said.text, passages);
            let model = model.name().to_owned();
            if sentences.is_empty() { Put::Unknown { model } } else { Put::Answer { model, sentences } }
        }
        Err(error) => Put::Failed(error.message),
    }
}

fn report(question: &str, found: &Answer, passages: &[String], put: &Put) -> Value {
    let citations: Vec<Value> = (1..)
        .zip(found.selection.hits.iter().zip(&found.shown).zip(passages))
        .map(|(number, ((hit, shown), text)): (usize, _)| {
            let document = &hit.document;
            json!({
                "number": number, "id": document.id, "path": document.path, "lines": shown.lines,
                "title": document.title, "text": text, "source": document.source, "origin": document.origin,
                "reviewed": document.reviewed,
            })
        })
        .collect();
    let (answer, model, failed): (Option<Value>, Option<&str>, Option<&str>) = match put {
        Put::Passages => (None, None, None),
        Put::Failed(why) => (None, None, Some(why)),
        Put::Unknown { model } => (None, Some(model), None),
        Put::Quoted(sentence) => (Some(json!([sentence])), None, None),
        Put::Answer { model, sentences } => (Some(json!(sentences)), Some(model), None),
    };
    let known = !passages.is_empty() && !matches!(put, Put::Unknown { .. });
    json!({
        "question": admit(question).text, "known": known, "answer": answer, "model": model, "failed": failed,
        "citations": citations, "degraded": found.degraded,
    })
}
