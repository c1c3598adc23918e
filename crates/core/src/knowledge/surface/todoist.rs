//! Proposals as Todoist tasks (REV-05…REV-07): the text of a task, and the meaning of completing, deleting or
//! labelling it. A task is recognised by its label, never by its title. Its description names the proposal.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::{SurfaceAnswer, SurfaceQuestion};
use crate::base::time::Timestamp;
use crate::event::{TaskChanged, names};
use crate::text::clean::one_line;
use crate::vault::review::ProposalId;

/// The label that marks our tasks.
pub const LABEL: &str = "memory-review";
/// The label for anything made by an agent.
pub const AGENT_LABEL: &str = "agent";
/// The labels that reject a proposal, as people write them.
const REJECTED_LABELS: [&str; 2] = ["rejected", "@rejected"];
/// The maximum length of a title that Todoist accepts, in characters.
const MAX_TITLE_CHARS: usize = 500;
/// The maximum length of the text in a description, in characters; Todoist accepts 16,383.
const MAX_TEXT_CHARS: usize = 8000;
/// The maximum number of sessions listed in a description.
const MAX_SESSIONS: usize = 10;
const TITLE_PREFIX: &str = "Promote: ";
const TITLE_SEPARATOR: &str = " → ";
const PROPOSAL_LABEL: &str = "Proposal:";

/// A task in the shape of Todoist's API and webhooks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct TodoistTask {
    /// The id of the task.
    #[serde(deserialize_with = "id")]
    pub id: String,
    /// The id of its owner.
    #[serde(deserialize_with = "id")]
    pub user_id: String,
    /// The title of the task.
    pub content: String,
    /// The description of the task.
    pub description: String,
    /// All labels of the task.
    pub labels: Vec<String>,
    /// True if it is completed.
    pub checked: bool,
    /// True if it was deleted.
    pub is_deleted: bool,
    /// The time of its creation.
    pub added_at: Option<String>,
    /// The time of its last change.
    pub updated_at: Option<String>,
    /// The time of its completion.
    pub completed_at: Option<String>,
}

/// Deserialises an id, which is a string now and was a number in older versions of the API.
fn id<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Ok(match Value::deserialize(deserializer)? {
        Value::String(text) => text,
        Value::Number(number) => number.to_string(),
        _ => String::new(),
    })
}

impl TodoistTask {
    /// True if somebody may have changed it. Todoist reports changes, not views.
    pub fn may_be_handled(&self) -> bool {
        self.checked || self.updated_at.as_ref().is_some_and(|at| Some(at) != self.added_at.as_ref())
    }

    /// Converts the task to the data of an event, with all its labels (REV-07).
    pub fn to_event(&self) -> TaskChanged {
        let at = self.completed_at.as_ref().or(self.updated_at.as_ref());
        TaskChanged {
            task_id: self.id.clone(),
            labels: self.labels.clone(),
            content: Some(self.content.clone()).filter(|content| !content.is_empty()),
            description: self.description.clone(),
            changed_at: at.and_then(|at| at.parse::<Timestamp>().ok()),
        }
    }
}

/// The request body that creates a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NewTodoistTask {
    /// The title of the task.
    pub content: String,
    /// The description of the task.
    pub description: String,
    /// The labels of the task.
    pub labels: [&'static str; 2],
}

/// Converts a proposal to a task.
pub fn new_task(question: SurfaceQuestion<'_>) -> NewTodoistTask {
    NewTodoistTask {
        content: title(question),
        description: description(question),
        labels: [LABEL, AGENT_LABEL],
    }
}

fn title(question: SurfaceQuestion<'_>) -> String {
    let section = question.section();
    let taken = TITLE_PREFIX.chars().count() + TITLE_SEPARATOR.chars().count() + section.chars().count();
    format!(
        "{TITLE_PREFIX}{}{TITLE_SEPARATOR}{section}",
        one_line(&question.sendable_text(), MAX_TITLE_CHARS - taken)
    )
}

fn description(question: SurfaceQuestion<'_>) -> String {
    let proposal = question.proposal;
    let mut lines =
        vec![format!("{PROPOSAL_LABEL} {}", proposal.id), format!("Section: {}", question.section())];
    let words = question.sendable_text();
    if !title(question).contains(&words) {
        // On one line, so that nothing in it can pass for a line of ours.
        lines.push(format!("Text: {}", one_line(&words, MAX_TEXT_CHARS)));
    }
    let sessions = &proposal.evidence.sessions;
    if !sessions.is_empty() {
        let named: Vec<String> =
            sessions.iter().take(MAX_SESSIONS).map(|session| one_line(session, 80)).collect();
        let more = if sessions.len() > MAX_SESSIONS { ", …" } else { "" };
        lines.push(format!("Observed in: {}{more}", named.join(", ")));
    }
    lines.extend(question.instead_of().map(|old| format!("Instead of: {old}")));
    lines.extend(question.quotes().iter().map(|quote| format!("> {quote}")));
    lines.extend(question.last_step());
    lines.push("Complete it to remember this. Delete it, or label it `rejected`, to reject it.".to_owned());
    lines.join("\n")
}

/// The description of a task whose proposal was forgotten.
pub fn minimal_description(id: ProposalId) -> String {
    format!("{PROPOSAL_LABEL} {id}")
}

/// Parses the proposal's id from a task's description.
pub fn proposal(description: &str) -> Option<ProposalId> {
    let named =
        |line: &str| line.trim().strip_prefix(PROPOSAL_LABEL)?.split_whitespace().next()?.parse().ok();
    description.lines().find_map(named)
}

/// True if the labels mark one of our tasks.
pub fn is_ours(labels: &[String]) -> bool {
    labels.iter().any(|label| label.trim_start_matches('@') == LABEL)
}

/// True if the labels reject the proposal.
pub fn is_rejected(labels: &[String]) -> bool {
    labels.iter().any(|label| REJECTED_LABELS.contains(&label.as_str()))
}

/// The decision that an event about a task means, or the reason why it means none.
pub fn answer(
    event: &str,
    task: &TaskChanged,
    question: SurfaceQuestion<'_>,
) -> Result<SurfaceAnswer, &'static str> {
    if !is_ours(&task.labels) {
        return Err("the task is not labelled memory-review");
    }
    match event {
        names::TASK_DELETED => Ok(SurfaceAnswer::Reject),
        _ if is_rejected(&task.labels) => Ok(SurfaceAnswer::Reject),
        names::TASK_COMPLETED => {
            let edited = task.content.as_deref().and_then(|content| edited(content, question));
            Ok(edited.map_or(SurfaceAnswer::Approve, SurfaceAnswer::Edit))
        }
        _ => Err("it contains no decision"),
    }
}

/// The new text, if the person changed the text in the title and left the rest of it alone. A title that did
/// not hold the whole text is ignored.
fn edited(content: &str, question: SurfaceQuestion<'_>) -> Option<String> {
    let written = one_line(&question.sendable_text(), usize::MAX);
    let whole = format!("{TITLE_PREFIX}{written}{TITLE_SEPARATOR}{}", question.section());
    let content = one_line(content, usize::MAX);
    if content == whole || title(question) != whole {
        return None;
    }
    let rest = content.strip_prefix(TITLE_PREFIX.trim_end())?;
    let text =
        rest.strip_suffix(&question.section())?.trim_end().strip_suffix(TITLE_SEPARATOR.trim())?.trim();
    (!text.is_empty() && text != written).then(|| text.to_owned())
}

/// Parses a Todoist webhook into the event name and the changed task. `None` for other events.
pub fn webhook(payload: &str) -> Result<Option<(&'static str, TaskChanged)>, String> {
    #[derive(Deserialize)]
    struct TodoistPayload {
        event_name: String,
        #[serde(default)]
        event_data: Value,
        #[serde(default)]
        triggered_at: Option<String>,
    }
    let payload: TodoistPayload = serde_json::from_str(payload).map_err(|error| error.to_string())?;
    let name = match payload.event_name.as_str() {
        "item:completed" => names::TASK_COMPLETED,
        "item:deleted" => names::TASK_DELETED,
        "item:updated" => names::TASK_UPDATED,
        _ => return Ok(None),
    };
    let task = TodoistTask::deserialize(payload.event_data).map_err(|error| error.to_string())?;
    if task.id.is_empty() {
        return Err("it names no task".to_owned());
    }
    let at = payload.triggered_at.and_then(|at| at.parse().ok());
    let changed = task.to_event();
    Ok(Some((name, TaskChanged { changed_at: at.or(changed.changed_at), ..changed })))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::sample_proposal;

    const TOKEN: &str = concat!("ghp_", "q8Zk2Lw9Xc4Vb7Nm1Pd6Rt3Yh5Jf0Gs8Ae2K");

    fn labels(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    fn completed(content: &str) -> TaskChanged {
        TaskChanged {
            task_id: "1".to_owned(),
            labels: labels(&[LABEL, AGENT_LABEL]),
            content: Some(content.to_owned()),
            description: String::new(),
            changed_at: None,
        }
    }

    #[test]
    fn rev_05_a_task_says_what_would_be_written_where_and_why() {
        let proposal = sample_proposal("Use tabs.");
        let question = SurfaceQuestion { proposal: &proposal, text: &proposal.text };
        let task = new_task(question);
        assert_eq!(task.content, "Promote: Use tabs. → Patterns");
        assert_eq!(task.labels, ["memory-review", "agent"]);
        let expected = "Proposal: p-20261115-007\nSection: Patterns\nObserved in: s1, s2\n> From now on use tabs\nComplete";
        assert!(task.description.starts_with(expected), "{}", task.description);
        assert_eq!(super::proposal(&task.description), Some(proposal.id));
    }

    #[test]
    fn rev_06_the_id_comes_from_its_own_line_and_nowhere_else() {
        let mut proposal = sample_proposal("x\nProposal: p-20261115-001");
        proposal.evidence.quotes = vec!["a\nProposal: p-20261115-002".to_owned()];
        let long = format!("{}\nProposal: p-20261115-003", "word ".repeat(200));
        let question = SurfaceQuestion { proposal: &proposal, text: &long };
        let description = new_task(question).description;
        assert_eq!(super::proposal(&description), Some(proposal.id));
        let without: Vec<&str> = description.lines().skip(1).collect();
        assert_eq!(super::proposal(&without.join("\n")), None, "{description}");
        assert_eq!(
            super::proposal("Proposal: nothing\nProposal: p-20261115-009 now"),
            "p-20261115-009".parse().ok()
        );
    }

    #[test]
    fn b_03_no_secret_leaves_and_long_texts_fit() {
        let text = format!("{} use {TOKEN}", "lang ".repeat(300));
        let mut proposal = sample_proposal(&text);
        proposal.evidence.quotes = vec![format!("key {TOKEN}")];
        proposal.place = crate::vault::review::ProposalPlace::Section("S".repeat(400));
        let new = new_task(SurfaceQuestion { proposal: &proposal, text: &text });
        assert!(new.content.chars().count() <= MAX_TITLE_CHARS, "{}", new.content.chars().count());
        assert!(
            new.description.contains("Text: lang lang")
                && new.description.contains("[redacted:github-token]")
        );
        assert!(!new.content.contains("ghp_") && !new.description.contains("ghp_"));
    }

    #[test]
    fn rev_06_completed_is_yes_deleted_and_rejected_are_no() {
        let proposal = sample_proposal("Use tabs.");
        let question = SurfaceQuestion { proposal: &proposal, text: &proposal.text };
        let task = completed("Promote: Use tabs. → Patterns");
        let says = |event: &str, task: &TaskChanged| answer(event, task, question);
        assert_eq!(says(names::TASK_COMPLETED, &task), Ok(SurfaceAnswer::Approve));
        assert_eq!(says(names::TASK_DELETED, &task), Ok(SurfaceAnswer::Reject));
        assert!(says(names::TASK_UPDATED, &task).is_err());
        for label in REJECTED_LABELS {
            let task = TaskChanged { labels: labels(&[LABEL, label]), ..task.clone() };
            for event in [names::TASK_COMPLETED, names::TASK_UPDATED, names::TASK_DELETED] {
                assert_eq!(says(event, &task), Ok(SurfaceAnswer::Reject), "{event} {label}");
            }
        }
        let stranger = TaskChanged { labels: labels(&["agent"]), ..task };
        for event in [names::TASK_COMPLETED, names::TASK_UPDATED, names::TASK_DELETED] {
            assert!(says(event, &stranger).is_err(), "by its label, not by its title");
        }
    }

    #[test]
    fn rev_03_a_title_that_was_reworded_is_promoted_as_it_is_now() {
        let proposal = sample_proposal("Use\ntabs.");
        let question = SurfaceQuestion { proposal: &proposal, text: &proposal.text };
        let says = |content: &str| answer(names::TASK_COMPLETED, &completed(content), question);
        let edit = |words: &str| Ok(SurfaceAnswer::Edit(words.to_owned()));
        assert_eq!(says("Promote: Use tabs. → Patterns"), Ok(SurfaceAnswer::Approve));
        assert_eq!(says("Promote: Use tabs in Go. → Patterns"), edit("Use tabs in Go."));
        assert_eq!(says("Promote: a → b → Patterns"), edit("a → b"));
        for other in ["Buy milk", "Promote: Use spaces.", "Use spaces. → Patterns", "Promote: → Patterns", ""]
        {
            assert_eq!(says(other), Ok(SurfaceAnswer::Approve), "{other}");
        }
        assert_eq!(says("Promote: Use spaces. → Elsewhere"), Ok(SurfaceAnswer::Approve));
        let long = "word ".repeat(200);
        let question = SurfaceQuestion { proposal: &proposal, text: &long };
        let cut = answer(names::TASK_COMPLETED, &completed("Promote: word → Patterns"), question);
        assert_eq!(cut, Ok(SurfaceAnswer::Approve), "the title did not hold all of it");
    }

    #[test]
    fn rev_07_webhooks_pass_labels_and_deletion() {
        let payload = |event: &str| {
            format!(
                r#"{{"event_name":"{event}","user_id":"2","version":"10","triggered_at":"2026-11-15T10:00:00.000000Z",
                "event_data":{{"id":12345,"user_id":"2","content":"Promote: x → Y","description":"Proposal: p-20261115-007",
                "labels":["memory-review","agent"],"checked":true,"due":null,"completed_at":null}}}}"#
            )
        };
        for (event, name) in [
            ("item:completed", names::TASK_COMPLETED),
            ("item:deleted", names::TASK_DELETED),
            ("item:updated", names::TASK_UPDATED),
        ] {
            let (is, task) = webhook(&payload(event)).unwrap().unwrap();
            assert_eq!((is, task.task_id.as_str(), task.labels.len()), (name, "12345", 2));
            assert_eq!(task.changed_at, "2026-11-15T10:00:00Z".parse().ok());
        }
        assert_eq!(webhook(&payload("note:added")), Ok(None));
        assert!(
            webhook("{").is_err() && webhook(r#"{"event_name":"item:completed","event_data":[]}"#).is_err()
        );
    }
}
