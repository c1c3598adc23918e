//! What a text brings to mind, among what is recalled from: for links of an idea, and for what a finding may contradict.
//! Nothing here may keep anything from being written down: where nothing can be asked there is just nothing near.

use std::collections::HashSet;

use rekindle_core::base::scope::ProjectId;
use rekindle_core::config::Decay;
use rekindle_core::recall::document::{Document, Source};
use rekindle_core::recall::filter::Filters;
use rekindle_core::recall::fuse::Method;

use super::World;
use crate::index::{Embedder, Index};
use crate::models::{LoadedModel, Models};
use crate::recall::ask::{Request, ask};
use crate::recall::relevance_gate::reading::Reading;
use crate::recall::search::Rules;
use crate::recall::usage::Usage;
use crate::vault::Vault;

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted<'a> {
    /// From where.
    pub sources: &'a [Source],
    /// The project whose own memories are seen beside those of none (B-05).
    pub project: Option<&'a ProjectId>,
    /// How many at most.
    pub most: usize,
    /// Whether the nearest are wanted even where recall would rather be silent.
    pub anyway: bool,
}

/// What knows the entries and notes.
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

    /// What is nearest to a text, best first.
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
