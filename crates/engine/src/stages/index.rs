//! Brings what a stage wrote into the index (`store-index`, R-11), so that it can be recalled at once.

use super::World;
use crate::index::{Embedder, Index};
use crate::models::Models;
use crate::queue::StepError;
use crate::recall::upkeep::{Settled, Upkeep};

/// Whether everything is in it; what takes longer is left to the next indexer, and recall says so until then. It is never
/// put off: what the next session is held against must not depend on how fast the machine is.
pub(super) fn settle(world: &World) -> Result<bool, StepError> {
    let vault = world.vault()?;
    let model =
        Models::open(&world.home).load(world.config.embed.model.as_str()).map_err(StepError::passing)?;
    let index = Index::at(world.places.index());
    let upkeep = Upkeep { vault: &vault, index: &index, embedder: Embedder::new(model.name(), &model) };
    Ok(upkeep.settle().map_err(StepError::passing)? == Settled::Current)
}
