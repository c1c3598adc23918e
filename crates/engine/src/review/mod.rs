//! Proposals and the places where the person decides on them.
//!
//! - [`proposals`]: the store of proposals
//! - [`page`]: REVIEW.md
//! - [`patches`]: changes to project files that wait for approval
//! - [`surfaces`]: review through Todoist and Telegram

pub mod page;
pub mod patches;
pub mod proposals;
pub mod surfaces;
