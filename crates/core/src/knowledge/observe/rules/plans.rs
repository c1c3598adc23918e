//! Plans that an agent showed the user: approved, or still waiting. The user's comment when rejecting one is
//! a message of its own, as the host's reader returns it.

use super::draft::FindingDraft;
use super::output::CallState;
use super::published::whole_sentences;
use super::session_view::{SessionView, ToolStep};
use crate::base::provenance::StatementStrength;
use crate::knowledge::observe::FindingKind;
use crate::session::MessageRole;
use crate::session::notes::{NoteFileKind, PLAN_TOOLS, note_file_kind};
use crate::text::phrases::{MAX_FINDING_CHARS, content, line};

/// The user message that Codex writes when a plan is approved.
const APPROVAL_TEXT: &str = "Implement the plan.";
/// The tags around a plan in an answer of Codex.
const PROPOSED_PLAN_TAGS: (&str, &str) = ("<proposed_plan>", "</proposed_plan>");
/// The tool results for an approved plan.
const APPROVED_TEXTS: &[&str] = &["approved your plan", "The approved implementation plan is stored at:"];
/// The maximum number of sentences of a plan.
const MAX_SENTENCES: usize = 3;
/// The maximum length of a plan's title, in characters.
const MAX_TITLE_CHARS: usize = 100;

/// True if a message only approves the agent's plan.
pub(super) fn is_plan_approval(message: &str) -> bool {
    message.trim() == APPROVAL_TEXT
}

/// The first heading of a plan, or its first line with words.
pub(super) fn title(plan: &str) -> Option<&str> {
    let lines = || plan.lines().map(str::trim).filter(|line| !line.is_empty());
    let heading = lines().find(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#').trim());
    let heading = heading.map(|text| text.strip_prefix("Plan: ").unwrap_or(text));
    heading
        .filter(|text| content(text).len() >= 2)
        .or_else(|| lines().find(|line| content(line).len() >= 2 && !line.starts_with('#')))
}

/// The text of a plan after its title.
pub(super) fn after_title(plan: &str) -> &str {
    let end = title(plan).map_or(0, |title| title.as_ptr().addr() + title.len() - plan.as_ptr().addr());
    plan.get(end..).unwrap_or_default()
}

/// The approved plans: the agent's words, chosen by the user.
pub(super) fn plan_drafts(view: &SessionView<'_>) -> Vec<FindingDraft> {
    let mut drafts = Vec::new();
    for step in view.steps.iter().filter(|step| PLAN_TOOLS.contains(&step.call.tool.as_str())) {
        let Some(result) = step.result.filter(|_| step.state == CallState::Passed) else { continue };
        let output = &view.messages[result].text;
        if APPROVED_TEXTS.iter().any(|words| output.contains(words)) {
            drafts.extend(shown_plan(view, step).and_then(|plan| approved(plan, step.at, result)));
        }
    }
    for message in view.person_messages.iter().filter(|message| is_plan_approval(&message.text)) {
        if let Some((at, plan)) =
            view.agent(0, message.at).next_back().and_then(|(at, text)| Some((at, proposed(text)?)))
        {
            drafts.extend(approved(plan, at, message.at));
        }
    }
    drafts
}

fn approved(plan: &str, at: usize, by: usize) -> Option<FindingDraft> {
    let lead = format!("The user approved the plan “{}”. ", line(title(plan)?, MAX_TITLE_CHARS));
    let said = whole_sentences(
        after_title(plan),
        MAX_FINDING_CHARS.saturating_sub(lead.chars().count()),
        MAX_SENTENCES,
    );
    let mut draft =
        FindingDraft::of_agent(FindingKind::Decision, by, format!("{lead}{said}").trim().to_owned());
    draft.strength = StatementStrength::Implied;
    draft.messages.push(at);
    Some(draft)
}

/// The plan that a call shows: in the call itself, or in a file written before.
fn shown_plan<'v>(view: &'v SessionView<'_>, step: &'v ToolStep<'_>) -> Option<&'v str> {
    if !step.call.notes.is_empty() {
        return Some(&step.call.notes);
    }
    let earlier = view.steps_between(0, step.at).rev();
    let plan = |other: &&ToolStep<'_>| {
        !other.call.notes.is_empty()
            && other.call.writes.iter().any(|path| note_file_kind(path) == Some(NoteFileKind::Plan))
    };
    earlier.into_iter().find(plan).map(|other| other.call.notes.as_str())
}

/// The plan in an answer.
fn proposed(answer: &str) -> Option<&str> {
    let (_, rest) = answer.split_once(PROPOSED_PLAN_TAGS.0)?;
    Some(rest.split_once(PROPOSED_PLAN_TAGS.1).map_or(rest, |(plan, _)| plan).trim())
}

/// True if the session ended with an undecided plan.
pub(super) fn has_pending_plan(view: &SessionView<'_>) -> bool {
    let after = |at: usize| view.person_messages.last().is_none_or(|said| said.at <= at);
    let shown = view.steps.iter().rev().find(|step| PLAN_TOOLS.contains(&step.call.tool.as_str()));
    let undecided = shown.is_some_and(|step| step.state == CallState::Open && after(step.at));
    let last = view.messages.iter().rposition(|message| message.role == MessageRole::Assistant);
    undecided || last.is_some_and(|at| after(at) && proposed(&view.messages[at].text).is_some())
}

/// The plan file that was written last, as the user would name it.
pub(super) fn file(view: &SessionView<'_>) -> Option<String> {
    let written = view.steps.iter().rev().filter(|step| step.state == CallState::Passed);
    let mut paths = written.flat_map(|step| &step.call.writes);
    paths.find(|path| note_file_kind(path) == Some(NoteFileKind::Plan)).map(|path| view.name(path))
}
