//! Documents of the vault: parsing, changing and rendering, byte for byte.

pub mod agent_edit;
pub mod amend;
pub(crate) mod as_text;
mod comment;
pub mod daily_log;
pub mod entry;
pub mod erase;
mod escape;
pub mod frontmatter;
pub mod generated_note;
pub mod ideas;
pub mod identity;
pub mod journal;
pub mod layout;
pub mod lines;
pub mod link;
pub mod marker;
pub mod memory;
pub mod path;
pub mod pending_proposals;
pub mod priority;
pub mod review;
pub mod scope_mark;
pub mod shelf_moves;
pub mod system_log;
pub mod tombstone;
