//! Brings what a stage wrote into the index (`store-index`, R-11), so that it can be recalled at once; and what changed
//! elsewhere, when a session begins (STO-14).

use super::World;
use crate::index::{Embedder, Index};
use crate::models::Models;
use crate::queue::StepError;
use crate::recall::indexer::{Extent, Indexer, Settled};

/// Whether everything is in it; what takes longer is left to the next indexer, and recall says so until then. It is never
/// put off: what the next session is held against must not depend on how fast the machine is.
pub(super) fn settle(world: &World) -> Result<bool, StepError> {
    with_indexer(world, |indexer| Ok(indexer.settle().map_err(StepError::passing)? == Settled::Current))
}

/// Compares every file with what the index knows of it, and takes in what changed in an editor or came by a sync. What needs
/// many vectors is left to the next indexer.
pub fn look_around(world: &World) -> Result<(), StepError> {
    with_indexer(world, |indexer| {
        indexer.refresh(Extent::Changed, &mut |_| !world.should_stop()).map_err(StepError::passing)?;
        Ok(())
    })
}

pub(super) fn with_indexer<T>(
    world: &World,
    work: impl FnOnce(&Indexer<'_>) -> Result<T, StepError>,
) -> Result<T, StepError> {
    let vault = world.vault()?;
    let model =
        Models::open(&world.home).load(world.config.embed.model.as_str()).map_err(StepError::passing)?;
    let index = Index::at(world.places.index());
    work(&Indexer { vault: &vault, index: &index, embedder: Embedder::new(model.name(), &model) })
}
