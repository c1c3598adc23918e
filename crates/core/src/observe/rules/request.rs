//! What a message of the person asks for, in their own words.

use super::judge::chosen;
use super::line::{begins, content};
use super::person::own_lines;
use super::view::Said;
use super::words::common;
use crate::session::own;

/// The words with which a request can be told: its first line that says something.
pub(super) fn request(said: &Said) -> Option<&str> {
    let lines = own_lines(&said.text);
    lines.into_iter().find(|line| content(line).len() >= 2 && !is_approval(line))
}

/// Whether a line only says go on.
fn is_approval(line: &str) -> bool {
    let folded = own::folded(line);
    let rest = begins(&folded, common::APPROVALS, "");
    rest.is_some_and(|rest| content(rest).len() < 2)
}

/// Whether a message goes on with what was asked before: it agrees, chooses, or asks for nothing by itself.
pub(super) fn goes_on(said: &Said) -> bool {
    let Some(line) = request(said) else { return true };
    let folded = own::folded(line);
    begins(&folded, common::APPROVALS, "").is_some() || chosen(line).is_some()
}
