//! The store of proposals, and the places where you decide on them.
//!
//! - [`proposals`]: the store of proposals
//! - [`page`]: the page REVIEW.md
//! - [`patches`]: changes to project files that wait for approval
//! - [`surfaces`]: review through Todoist and Telegram

pub mod page;
pub mod patches;
pub mod proposals;
pub mod surfaces;
