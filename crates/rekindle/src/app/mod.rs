//! Use cases that the commands, the hooks, the MCP server and the review screen share.

pub(crate) mod ask;
pub(crate) mod context;
pub(crate) mod events;
pub(crate) mod evolve;
pub(crate) mod feedback;
pub(crate) mod forget;
pub(crate) mod gate;
pub(crate) mod health;
pub(crate) mod milestones;
pub(crate) mod note;
pub(crate) mod otel;
pub(crate) mod recall;
pub(crate) mod review;
pub(crate) mod save;
pub(crate) mod status;
pub(crate) mod week;

pub(crate) use self::context::CommandContext;
