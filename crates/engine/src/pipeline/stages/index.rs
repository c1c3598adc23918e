//! Indexes the writes of a stage (`store-index`, R-11), so that recall finds them at once, and other changes
//! when a session begins (STO-14).

use crate::index::models::Models;
use crate::index::{Embedder, Index};
use crate::jobs::context::World;
use crate::jobs::queue::StepError;
use crate::recall::indexer::{Extent, Indexer, Settled};

/// Returns true if the index is complete; slow work is left to the next indexer, and recall reports that
/// until then. The step is never skipped: the input of the next session must not depend on the speed of the
/// machine.
pub(super) fn settle(world: &World) -> Result<bool, StepError> {
    with_indexer(world, |indexer| Ok(indexer.settle().map_err(StepError::passing)? == Settled::Current))
}

/// Compares every file with the index and takes in changes from an editor or a sync. Work that needs many
/// embeddings is left to the next indexer.
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
