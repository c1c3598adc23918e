//! Indexes the writes of a stage (`store-index`, R-11), so that recall finds them at once, and other changes
//! when a session begins (STO-14).

use crate::index::models::ModelStore;
use crate::index::{Embedder, RecallIndex};
use crate::jobs::context::StageContext;
use crate::jobs::queue::StepError;
use crate::recall::indexer::{Indexer, RefreshExtent, SettleOutcome};

/// Returns true if the index is complete; slow work is left to the next indexer, and recall reports that
/// until then. The step is never skipped: the input of the next session must not depend on the speed of the
/// machine.
pub(super) fn index_pending(context: &StageContext) -> Result<bool, StepError> {
    with_indexer(context, |indexer| {
        Ok(indexer.index_pending().map_err(StepError::retryable)? == SettleOutcome::Current)
    })
}

/// Compares every file with the index and takes in changes from an editor or a sync. Work that needs many
/// embeddings is left to the next indexer.
pub fn refresh_index(context: &StageContext) -> Result<(), StepError> {
    with_indexer(context, |indexer| {
        indexer
            .refresh(RefreshExtent::Changed, &mut |_| !context.should_stop())
            .map_err(StepError::retryable)?;
        Ok(())
    })
}

pub(super) fn with_indexer<T>(
    context: &StageContext,
    work: impl FnOnce(&Indexer<'_>) -> Result<T, StepError>,
) -> Result<T, StepError> {
    let vault = context.vault()?;
    let model = ModelStore::open(&context.home)
        .load(context.config.embed.model.as_str())
        .map_err(StepError::retryable)?;
    let index = RecallIndex::in_folder(context.places.index());
    work(&Indexer { vault: &vault, index: &index, embedder: Embedder::new(model.name(), &model) })
}
