//! The user's request in a message, in their own words.

use super::plans;
use super::sentence_verdict::chosen_number;
use super::session_view::PersonMessage;
use crate::session::{handed_back_plan, pasted};
use crate::text::common_words;
use crate::text::phrases::{content, strip_phrase};
use crate::text::sentences;

/// The line that describes a request: its first line with content. "Implement the following plan:" is
/// described by the title of the plan.
pub(super) fn request(message: &PersonMessage) -> Option<&str> {
    // An agent's plan sent as a user message is described by its title.
    if let Some(plan) = handed_back_plan(&message.text) {
        return plans::title(plan);
    }
    if plans::is_plan_approval(&message.text) {
        return None;
    }
    let lines: Vec<&str> = pasted::lines(&message.text).iter().map(|line| line.text).collect();
    let line = lines.into_iter().find(|line| content(line).len() >= 2 && !is_approval(line))?;
    let title = line.ends_with(':').then(|| title_behind(&message.text, line)).flatten();
    Some(title.unwrap_or(line))
}

/// The heading right after a line of a message.
fn title_behind<'a>(message: &'a str, line: &str) -> Option<&'a str> {
    let mut lines = message.lines().skip_while(|other| other.trim() != line).skip(1);
    let next = lines.find(|other| !other.trim().is_empty())?;
    let title = next.trim().strip_prefix('#')?.trim_start_matches('#').trim();
    (content(title).len() >= 2).then_some(title)
}

/// True if a line only says to continue.
fn is_approval(line: &str) -> bool {
    let folded = sentences::fold(line);
    let rest = strip_phrase(&folded, common_words::APPROVALS, "");
    rest.is_some_and(|rest| content(rest).len() < 2)
}

/// True if a message continues the earlier request: it agrees, chooses, or asks for nothing new.
pub(super) fn is_continuation(message: &PersonMessage) -> bool {
    let Some(line) = request(message) else { return true };
    let folded = sentences::fold(line);
    strip_phrase(&folded, common_words::APPROVALS, "").is_some() || chosen_number(line).is_some()
}
