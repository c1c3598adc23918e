//! What Rekindle does: one folder per outside thing.
//!
//! - [`home`], [`config`], [`environment`], [`clock`], [`random`]: where things are, how they are set, what time it is
//! - [`project`]: which project a folder belongs to
//! - [`disk`]: the few ways a file may be written
//! - [`models`]: what turns text into vectors
//! - [`vault`]: the only writer of Markdown
//! - [`map`], [`index`]: what can be recalled, laid out so that a new process finds it in milliseconds
//! - [`sources`]: the files of the notes that can be recalled from
//! - [`recall`]: keeping the index true to the notes, and asking it
//! - [`editor`]: a text in the person's own editor
//! - [`background`]: work that goes on when a command has ended, and ends itself
//! - [`sessions`]: which sessions began and were not looked at yet
//! - [`identity`]: who the agent is, and whether every agent reads the same files
//! - [`transcripts`]: what agents wrote down about their sessions, read as messages
//! - [`messages`]: what was said in sessions, kept and found again by its words
//! - [`observations`], [`sightings`], [`proposals`], [`review`]: what was observed lately, how often, what may become a
//!   memory, and the page that asks
//! - [`surfaces`]: other places in which a person is asked, and answers: tasks, buttons
//! - [`llm`], [`cost`]: the language models, and what they cost
//! - [`inject`]: what hooks put in front of an agent
//! - [`install`]: how agents come to call us
//! - [`setup`], [`doctor`]: what `rekindle init` makes, and whether it is still in order

pub mod backfill;
pub mod background;
pub mod clock;
pub mod config;
pub mod cost;
pub mod db;
pub mod disk;
pub mod doctor;
pub mod editor;
pub mod environment;
pub mod health;
pub mod home;
pub mod hook_log;
pub mod hooks;
mod http;
pub mod identity;
pub mod index;
pub mod inject;
pub mod injected;
pub mod install;
pub mod learning;
pub mod llm;
pub mod map;
pub mod messages;
pub mod models;
pub mod notes;
pub mod notices;
pub mod observations;
pub mod patches;
pub mod project;
pub mod proposals;
pub mod queue;
pub mod random;
pub mod recall;
pub mod review;
pub mod sessions;
pub mod setup;
pub mod sightings;
pub mod sources;
pub mod spool;
pub mod stages;
pub mod statements;
pub mod surfaces;
pub mod told;
pub mod transcripts;
#[cfg(test)]
mod trial_notes;
pub mod vault;
pub mod worker;
