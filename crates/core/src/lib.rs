//! What Rekindle decides.
//!
//! Everything here is pure: text and values in, text and values out. No files, no environment, no clock, no
//! processes; `clippy.toml` beside this crate keeps it so. The rooms, in the order data passes through them:
//!
//! - [`time`], [`id`], [`hash`], [`scope`], [`provenance`]: the words everything else is made of
//! - [`text`]: what may pass, and how it is cleaned
//! - [`config`]: the settings, their layers and their defaults
//! - [`project`]: which project a folder belongs to
//! - [`vault`]: the documents on disk: parse, change, render
//! - [`journal`]: what a change to the vault was, and how to take it back
//! - [`recall`]: what is found again, and why
//! - [`jsonc`], [`install`]: settings that belong to the agents, and our lines in them
//! - [`observe`], [`reflect`], [`proposal`]: from what was said to what may become a memory
//! - [`surface`]: other places in which a person is asked, and answers
//! - [`llm`], [`prompts`]: the seam to language models, and what they are told

pub mod agent;
pub mod answer;
pub mod briefing;
pub mod capture;
pub mod config;
pub mod event;
pub mod feedback;
#[cfg(test)]
mod fixtures;
pub mod friction;
pub mod hash;
pub mod hook;
pub mod id;
pub mod inject;
pub mod install;
pub mod journal;
pub mod jsonc;
pub mod llm;
pub mod mine;
pub mod notice;
pub mod observe;
pub mod project;
pub mod prompts;
pub mod proposal;
pub mod provenance;
pub mod recall;
pub mod reference;
pub mod reflect;
pub mod run;
pub mod scope;
pub mod session;
pub mod speaker;
pub mod statement;
pub mod surface;
pub mod text;
pub mod time;
pub mod triage;
pub mod vault;
