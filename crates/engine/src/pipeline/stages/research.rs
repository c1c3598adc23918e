//! Looking into an idea with a program of the person's, within what it may take (IDEA-04). What it finds is kept
//! beside the idea, as a quotation of nobody in particular.

use rekindle_core::knowledge::mine::research::{quotation, request};
use rekindle_core::llm::Model;
use rekindle_core::vault::journal::Actor;

use crate::jobs::context::World;
use crate::vault;

/// So many of the ideas of one session are looked into by themselves.
pub(super) const MOST_AT_ONCE: usize = 2;

/// Why an idea could not be looked into.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It is switched off.
    #[error("looking into ideas is switched off (ideas.research.when)")]
    Off,
    /// The program.
    #[error("the program that looks into ideas: {0}")]
    Program(String),
    /// It found nothing.
    #[error("the program that looks into ideas printed nothing")]
    Nothing,
    /// The notes.
    #[error(transparent)]
    Vault(#[from] vault::Error),
}

/// Looks into an idea; the path of what was found.
pub fn research(reference: &str, by: Actor, world: &World) -> Result<String, Error> {
    let failed = |error: rekindle_core::llm::Error| Error::Program(error.message);
    let model = world.researcher().map_err(failed)?.ok_or(Error::Off)?;
    let vault = vault::Vault::open(&world.places)?.in_zone(world.zone.clone());
    let idea = vault.researchable(reference)?;
    let settings = &world.config.ideas.research;
    let answer = model.answer(&request(&idea.title, &idea.summary, settings)).map_err(failed)?;
    let found = quotation(&answer.text, settings.tokens).ok_or(Error::Nothing)?;
    let path = vault.add_research(&idea, &found, &settings.program, by, &world.now())?;
    Ok(path.to_string())
}
