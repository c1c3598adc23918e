//! Lines that the session wrote into the project's own memory (`CLAUDE.md`, `AGENTS.md`, `.learnings/`) and
//! into plan files: they are distilled already. They stay the agent's word (B-01).

use super::draft::FindingDraft;
use super::one_offs::is_one_off;
use super::output::CallState;
use super::plans;
use super::published::whole_sentences;
use super::session_view::{SessionView, ToolStep};
use crate::knowledge::observe::FindingKind;
use crate::session::notes::{NoteFileKind, note_file_kind};
use crate::text::phrases::{MAX_FINDING_CHARS, content};
use crate::text::sentences;

/// The maximum number of lines kept per write.
const MAX_NOTES_PER_WRITE: usize = 4;
/// The maximum number of lines per session.
const MAX_NOTES: usize = 12;
/// The maximum number of sentences of a line or a plan.
const MAX_SENTENCES: usize = 3;
/// The minimum number of significant words.
const MIN_WORDS: usize = 3;
/// The tool for the host's own memory; its calls contain no path.
const SAVE_MEMORY_TOOL: &str = "save_memory";

/// The lines added to the project's memory, and the plans written.
pub(super) fn note_drafts(view: &SessionView<'_>) -> Vec<FindingDraft> {
    let mut drafts = Vec::new();
    for step in
        view.steps.iter().filter(|step| step.state == CallState::Passed && !step.call.notes.is_empty())
    {
        match note_file(view, step) {
            Some((file, NoteFileKind::Memory)) => drafts.extend(note_lines(step, &file)),
            Some((file, NoteFileKind::Plan)) if is_last_write(view, step) => {
                drafts.extend(planned(step, &file));
            }
            _ => {}
        }
    }
    drafts.truncate(MAX_NOTES);
    drafts
}

/// The notes file that a call writes, as the user would name it.
pub(super) fn note_file(view: &SessionView<'_>, step: &ToolStep<'_>) -> Option<(String, NoteFileKind)> {
    if step.call.tool == SAVE_MEMORY_TOOL {
        return Some(("GEMINI.md".to_owned(), NoteFileKind::Memory));
    }
    step.call.writes.iter().find_map(|path| Some((view.name(path), note_file_kind(path)?)))
}

/// True if no later call writes the same files.
fn is_last_write(view: &SessionView<'_>, step: &ToolStep<'_>) -> bool {
    let later = view.steps.iter().filter(|other| other.at > step.at && other.state == CallState::Passed);
    !later.into_iter().any(|other| other.call.writes == step.call.writes)
}

fn note_lines(step: &ToolStep<'_>, file: &str) -> Vec<FindingDraft> {
    let at = step.result.unwrap_or(step.at);
    let lines = sentences::lines(&step.call.notes).into_iter();
    let statements = lines.filter(|line| content(line).len() >= MIN_WORDS && !is_one_off(line));
    statements
        .filter_map(|line| {
            let lead = format!("Noted in {file}: ");
            let room = MAX_FINDING_CHARS.saturating_sub(lead.chars().count());
            let sentences = whole_sentences(line, room, MAX_SENTENCES);
            (!sentences.is_empty()).then(|| {
                let mut draft = FindingDraft::of_agent(FindingKind::Fact, at, format!("{lead}{sentences}"));
                draft.messages.push(step.at);
                draft
            })
        })
        .take(MAX_NOTES_PER_WRITE)
        .collect()
}

fn planned(step: &ToolStep<'_>, file: &str) -> Option<FindingDraft> {
    let title = plans::title(&step.call.notes)?;
    let lead = format!("Plan in {file}: “{}”. ", crate::text::phrases::line(title, 100));
    let room = MAX_FINDING_CHARS.saturating_sub(lead.chars().count());
    let sentences = whole_sentences(plans::after_title(&step.call.notes), room, MAX_SENTENCES);
    let mut draft = FindingDraft::of_agent(
        FindingKind::Files,
        step.result.unwrap_or(step.at),
        format!("{lead}{sentences}").trim().to_owned(),
    );
    draft.messages.push(step.at);
    Some(draft)
}
