//! Lines that the session wrote into the project's own memory (`CLAUDE.md`, `AGENTS.md`, `.learnings/`) and
//! into plan files: they are distilled already. They stay the agent's word (B-01).

use super::digest::is_once;
use super::draft::Draft;
use super::output::State;
use super::plans;
use super::published::whole_sentences;
use super::view::{Step, View};
use crate::knowledge::observe::Kind;
use crate::session::notes::{Place, place};
use crate::text::phrases::{MOST, content};
use crate::text::sentences;

/// The maximum number of lines kept per write.
const MAX_OF_WRITE: usize = 4;
/// The maximum number of lines per session.
const MAX_NOTES: usize = 12;
/// The maximum number of sentences of a line or a plan.
const MAX_SENTENCES: usize = 3;
/// The minimum number of significant words.
const MIN_WORDS: usize = 3;
/// The tool for the host's own memory; its calls contain no path.
const SAVING_TOOL: &str = "save_memory";

/// The lines added to the project's memory, and the plans written.
pub(super) fn drafts(view: &View<'_>) -> Vec<Draft> {
    let mut drafts = Vec::new();
    for step in view.steps.iter().filter(|step| step.state == State::Passed && !step.call.notes.is_empty()) {
        match noted_in(view, step) {
            Some((file, Place::Memory)) => drafts.extend(remembered(step, &file)),
            Some((file, Place::Plan)) if is_last_write(view, step) => drafts.extend(planned(step, &file)),
            _ => {}
        }
    }
    drafts.truncate(MAX_NOTES);
    drafts
}

/// The notes file that a call writes, as the user would name it.
pub(super) fn noted_in(view: &View<'_>, step: &Step<'_>) -> Option<(String, Place)> {
    if step.call.tool == SAVING_TOOL {
        return Some(("GEMINI.md".to_owned(), Place::Memory));
    }
    step.call.writes.iter().find_map(|path| Some((view.name(path), place(path)?)))
}

/// True if no later call writes the same files.
fn is_last_write(view: &View<'_>, step: &Step<'_>) -> bool {
    let later = view.steps.iter().filter(|other| other.at > step.at && other.state == State::Passed);
    !later.into_iter().any(|other| other.call.writes == step.call.writes)
}

fn remembered(step: &Step<'_>, file: &str) -> Vec<Draft> {
    let at = step.result.unwrap_or(step.at);
    let lines = sentences::lines(&step.call.notes).into_iter();
    let statements = lines.filter(|line| content(line).len() >= MIN_WORDS && !is_once(line));
    statements
        .filter_map(|line| {
            let lead = format!("Noted in {file}: ");
            let room = MOST.saturating_sub(lead.chars().count());
            let said = whole_sentences(line, room, MAX_SENTENCES);
            (!said.is_empty()).then(|| {
                let mut draft = Draft::of_agent(Kind::Fact, at, format!("{lead}{said}"));
                draft.messages.push(step.at);
                draft
            })
        })
        .take(MAX_OF_WRITE)
        .collect()
}

fn planned(step: &Step<'_>, file: &str) -> Option<Draft> {
    let title = plans::title(&step.call.notes)?;
    let lead = format!("Plan in {file}: “{}”. ", crate::text::phrases::line(title, 100));
    let room = MOST.saturating_sub(lead.chars().count());
    let said = whole_sentences(plans::after_title(&step.call.notes), room, MAX_SENTENCES);
    let mut draft = Draft::of_agent(
        Kind::Files,
        step.result.unwrap_or(step.at),
        format!("{lead}{said}").trim().to_owned(),
    );
    draft.messages.push(step.at);
    Some(draft)
}
