//! Learning: observations, candidates, proposals, triage and feedback.
//!
//! [`observe`] finds statements in a session, [`reflect`] turns a day of them into proposals, [`triage`] and
//! the user decide, [`feedback`] counts uses. [`mine`] finds ideas, [`friction`] finds recurring problems,
//! [`week`] puts a week on one page, [`surface`] asks for decisions in Todoist and Telegram.

pub mod feedback;
pub mod friction;
pub mod mine;
pub mod observe;
pub mod proposal;
pub mod reflect;
pub mod statement;
pub mod surface;
pub mod triage;
pub mod week;
