//! Memories related to a text, for links of an idea and contradictions of a finding. It never blocks a write:
//! if the search fails, nothing is related.

use std::collections::HashSet;

use rekindle_core::base::scope::ProjectId;
use rekindle_core::config::Decay;
use rekindle_core::recall::document::{Document, Source};
use rekindle_core::recall::filter::Filters;
use rekindle_core::recall::fuse::Method;

use crate::index::models::{LoadedModel, Models};
use crate::index::{Embedder, Index};
use crate::jobs::context::World;
use crate::recall::ask::{Request, ask};
use crate::recall::relevance_gate::reading::Reading;
use crate::recall::search::Rules;
use crate::recall::usage::Usage;
use crate::vault::Vault;

/// The filter of a search.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted<'a> {
    /// The sources to search.
    pub sources: &'a [Source],
    /// The project whose memories are searched besides global ones (B-05).
    pub project: Option<&'a ProjectId>,
    /// The most results to return.
    pub most: usize,
    /// True to return the nearest even if the relevance gate rejects them.
    pub anyway: bool,
}

/// A search over entries and notes.
pub(super) struct Near<'a> {
    vault: &'a Vault,
    index: Option<Index>,
    model: Option<LoadedModel>,
    now: i64,
}

impl<'a> Near<'a> {
    pub(super) fn new(vault: &'a Vault, world: &World) -> Self {
        let index = world.places.index();
        let index = index.exists().then(|| Index::at(index));
        let model = index
            .as_ref()
            .and_then(|_| Models::open(&world.home).load(world.config.embed.model.as_str()).ok());
        Self { vault, index, model, now: world.now().timestamp().as_second() }
    }

    /// Finds the memories nearest to a text, best first.
    pub(super) fn to(&self, text: &str, wanted: &Wanted<'_>) -> Vec<Document> {
        let Some(index) = &self.index else { return Vec::new() };
        let filters = Filters { sources: wanted.sources.to_vec(), ..Filters::default() };
        let request = Request {
            prompt: text,
            rewritten: None,
            filters: &filters,
            rules: Rules {
                method: Method::Measured,
                decay: Decay::Off,
                include_inbox: false,
                project: wanted.project.map(ProjectId::as_str),
                all_projects: false,
                inactive: false,
                until: None,
                now: self.now,
            },
            k: wanted.most,
            anyway: wanted.anyway,
            reading: Reading::Never,
            held: &HashSet::new(),
            mentions: false,
            messages: None,
            leave_out: |_| false,
        };
        let embedder = self.model.as_ref().map(|model| Embedder::new(model.name(), model));
        let Ok(answer) = ask(self.vault, index, embedder, &Usage::default(), &request) else {
            return Vec::new();
        };
        answer.selection.hits.into_iter().map(|hit| hit.document).collect()
    }
}
