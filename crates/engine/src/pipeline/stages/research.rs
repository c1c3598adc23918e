//! Research on an idea by a program of the person, within its limits (IDEA-04). The result is stored
//! beside the idea as an unattributed quotation.

use rekindle_core::knowledge::mine::research::{quotation, request};
use rekindle_core::llm::LanguageModel;
use rekindle_core::vault::journal::ChangeActor;

use crate::jobs::context::StageContext;
use crate::vault;

/// The most ideas of one session that are researched automatically.
pub(super) const MAX_IDEAS_PER_SESSION: usize = 2;

/// The reason an idea could not be researched.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Research is turned off.
    #[error("research of ideas is off (ideas.research.when)")]
    Off,
    /// The program failed, with this error.
    #[error("the research program failed: {0}")]
    Program(String),
    /// The program printed nothing.
    #[error("the research program printed nothing")]
    Nothing,
    /// The notes could not be read or written.
    #[error(transparent)]
    Vault(#[from] vault::Error),
}

/// Researches an idea and returns the path of the result.
pub fn research(reference: &str, by: ChangeActor, context: &StageContext) -> Result<String, Error> {
    let failed = |error: rekindle_core::llm::Error| Error::Program(error.message);
    let model = context.researcher().map_err(failed)?.ok_or(Error::Off)?;
    let vault = vault::Vault::open(&context.places)?.in_zone(context.zone.clone());
    let idea = vault.find_researchable(reference)?;
    let settings = &context.config.ideas.research;
    let answer = model.answer(&request(&idea.title, &idea.summary, settings)).map_err(failed)?;
    let found = quotation(&answer.text, settings.tokens).ok_or(Error::Nothing)?;
    let path = vault.add_research(&idea, &found, &settings.program, by, &context.now())?;
    Ok(path.to_string())
}
