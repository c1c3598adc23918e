//! Memories related to a text, for links of an idea and contradictions of a finding. It never blocks a write:
//! if the search fails, nothing is related.

use std::collections::HashSet;

use rekindle_core::base::scope::ProjectId;
use rekindle_core::config::DecayMode;
use rekindle_core::recall::document::{Document, DocumentSource};
use rekindle_core::recall::filter::RecallFilters;
use rekindle_core::recall::fusion::FusionMethod;

use crate::index::models::{LoadedModel, ModelStore};
use crate::index::{Embedder, RecallIndex};
use crate::jobs::context::StageContext;
use crate::recall::ask::{RecallRequest, ask};
use crate::recall::relevance_gate::reading::RescoringMode;
use crate::recall::search::SearchRules;
use crate::recall::usage::UsageSummary;
use crate::vault::Vault;

/// The filter of a search.
#[derive(Clone, Copy, Debug)]
pub(super) struct RelatedQuery<'a> {
    /// The sources to search.
    pub sources: &'a [DocumentSource],
    /// The project whose memories are searched besides global ones (B-05).
    pub project: Option<&'a ProjectId>,
    /// The most results to return.
    pub limit: usize,
    /// True to return the nearest even if the relevance gate rejects them.
    pub anyway: bool,
}

/// A search over entries and notes.
pub(super) struct RelatedMemories<'a> {
    vault: &'a Vault,
    index: Option<RecallIndex>,
    model: Option<LoadedModel>,
    now: i64,
}

impl<'a> RelatedMemories<'a> {
    pub(super) fn new(vault: &'a Vault, context: &StageContext) -> Self {
        let index = context.places.index();
        let index = index.exists().then(|| RecallIndex::in_folder(index));
        let model = index
            .as_ref()
            .and_then(|_| ModelStore::open(&context.home).load(context.config.embed.model.as_str()).ok());
        Self { vault, index, model, now: context.now().timestamp().as_second() }
    }

    /// Finds the memories nearest to a text, best first.
    pub(super) fn related_to(&self, text: &str, wanted: &RelatedQuery<'_>) -> Vec<Document> {
        let Some(index) = &self.index else { return Vec::new() };
        let filters = RecallFilters { sources: wanted.sources.to_vec(), ..RecallFilters::default() };
        let request = RecallRequest {
            prompt: text,
            rewritten: None,
            filters: &filters,
            rules: SearchRules {
                method: FusionMethod::Measured,
                decay: DecayMode::Off,
                include_inbox: false,
                project: wanted.project.map(ProjectId::as_str),
                all_projects: false,
                inactive: false,
                until: None,
                now: self.now,
            },
            k: wanted.limit,
            anyway: wanted.anyway,
            reading: RescoringMode::Never,
            held_ids: &HashSet::new(),
            mentions: false,
            messages: None,
            reserved_messages: 0,
            leave_out: |_| false,
        };
        let embedder = self.model.as_ref().map(|model| Embedder::new(model.name(), model));
        let Ok(answer) = ask(self.vault, index, embedder, &UsageSummary::default(), &request) else {
            return Vec::new();
        };
        answer.selection.hits.into_iter().map(|hit| hit.document).collect()
    }
}
