//! Lines that the session wrote into the project's own memory (`CLAUDE.md`, `AGENTS.md`, `.learnings/`) and
//! into plan files: they are distilled already. They stay the agent's word (B-01).

use super::answer_text::answer_sentences;
use super::draft::FindingDraft;
use super::one_offs::is_one_off;
use super::output::CallState;
use super::plans;
use super::published::whole_sentences;
use super::session_view::{SessionView, ToolStep};
use crate::knowledge::observe::FindingKind;
use crate::session::notes::{NoteFileKind, note_file_kind};
use crate::text::phrases::{MAX_FINDING_CHARS, content};

/// The maximum number of findings per write.
const MAX_NOTES_PER_WRITE: usize = 2;
/// The parts of a path outside of the project that name it.
const MAX_OUTSIDE_PARTS: usize = 2;
/// The maximum number of findings per session.
const MAX_NOTES: usize = 12;
/// The maximum number of sentences of a plan.
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

/// The added lines, joined as far as one finding has room: lines of one write belong together.
fn note_lines(step: &ToolStep<'_>, file: &str) -> Vec<FindingDraft> {
    let at = step.result.unwrap_or(step.at);
    let lead = format!("Noted in {}: ", short_name(file));
    let room = MAX_FINDING_CHARS.saturating_sub(lead.chars().count());
    let statements = answer_sentences(without_front_matter(&step.call.notes)).into_iter();
    let statements = statements
        .filter(|line| content(line).len() >= MIN_WORDS && !is_one_off(line) && !line.ends_with([':', '：']));
    let mut notes: Vec<String> = Vec::new();
    for statement in statements.filter(|statement| statement.chars().count() <= room) {
        let end = if statement.ends_with(['.', '!', '?', '。']) { "" } else { "." };
        match notes.last_mut().filter(|note| note.chars().count() + statement.chars().count() + 2 <= room) {
            Some(note) => note.push_str(&format!(" {statement}{end}")),
            None => notes.push(format!("{statement}{end}")),
        }
    }
    notes.truncate(MAX_NOTES_PER_WRITE);
    let draft = |note: String| {
        let mut draft = FindingDraft::of_agent(FindingKind::Fact, at, format!("{lead}{note}"));
        draft.messages.push(step.at);
        draft
    };
    notes.into_iter().map(draft).collect()
}

/// A path outside of the project by its last parts.
fn short_name(file: &str) -> String {
    let is_outside = file.starts_with(['/', '~']) || file.contains(":\\");
    let parts: Vec<&str> = file.split(['/', '\\']).filter(|part| !part.is_empty()).collect();
    match is_outside {
        true => parts[parts.len().saturating_sub(MAX_OUTSIDE_PARTS)..].join("/"),
        false => file.to_owned(),
    }
}

/// A note without the properties at its top.
fn without_front_matter(text: &str) -> &str {
    let rest = text.trim_start().strip_prefix("---\n");
    rest.and_then(|rest| rest.split_once("\n---")).map_or(text, |(_, body)| body)
}

/// True for a step of a list: a plan is told by its reasons.
fn is_checkbox(line: &str) -> bool {
    ["- [ ]", "- [x]", "- [X]", "* [ ]", "* [x]"].iter().any(|mark| line.trim_start().starts_with(mark))
}

fn planned(step: &ToolStep<'_>, file: &str) -> Option<FindingDraft> {
    let title = plans::title(&step.call.notes).filter(|title| !is_checkbox(title))?;
    let lead = format!("Plan in {}: “{}”. ", short_name(file), crate::text::phrases::line(title, 100));
    let room = MAX_FINDING_CHARS.saturating_sub(lead.chars().count());
    let text: String = plans::after_title(&step.call.notes)
        .lines()
        .filter(|line| !is_checkbox(line))
        .fold(String::new(), |text, line| format!("{text}{line}\n"));
    let sentences = whole_sentences(&text, room, MAX_SENTENCES);
    let mut draft = FindingDraft::of_agent(
        FindingKind::Files,
        step.result.unwrap_or(step.at),
        format!("{lead}{sentences}").trim().to_owned(),
    );
    draft.messages.push(step.at);
    Some(draft)
}
