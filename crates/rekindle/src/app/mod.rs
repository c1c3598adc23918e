//! Use cases that the commands, the hooks, the MCP server, the review screen and the page share.

pub(crate) mod ask;
pub(crate) mod browse;
pub(crate) mod changes;
pub(crate) mod context;
pub(crate) mod entities;
pub(crate) mod events;
pub(crate) mod evolve;
pub(crate) mod explain;
pub(crate) mod feedback;
pub(crate) mod forget;
pub(crate) mod gate;
pub(crate) mod health;
pub(crate) mod home_notes;
pub(crate) mod inbox;
pub(crate) mod insight;
pub(crate) mod inspect;
pub(crate) mod memory;
pub(crate) mod milestones;
pub(crate) mod note;
pub(crate) mod otel;
pub(crate) mod probe;
pub(crate) mod recall;
pub(crate) mod review;
pub(crate) mod save;
pub(crate) mod sessions;
pub(crate) mod settings;
pub(crate) mod status;
pub(crate) mod today;
pub(crate) mod undo;
pub(crate) mod week;

pub(crate) use self::context::CommandContext;
