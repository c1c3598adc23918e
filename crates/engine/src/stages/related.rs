//! What an idea has to do with: the entries and notes that its words bring to mind (IDEA-03). Nothing here may keep an idea
//! from being written down: without an index, or where nothing fits, there are just no links.

use std::collections::HashSet;

use rekindle_core::config::Decay;
use rekindle_core::recall::document::Source;
use rekindle_core::recall::filter::Filters;
use rekindle_core::recall::fuse::Method;
use rekindle_core::text::admit;
use rekindle_core::vault::link;

use super::World;
use crate::index::{Embedder, Index};
use crate::models::{LoadedModel, Models};
use crate::recall::ask::{Request, ask};
use crate::recall::search::Rules;
use crate::recall::usage::Usage;
use crate::vault::Vault;

/// So many links at most.
const MOST: usize = 5;

/// What knows the entries and notes.
pub(super) struct Relations<'a> {
    vault: &'a Vault,
    index: Option<Index>,
    model: Option<LoadedModel>,
}

impl<'a> Relations<'a> {
    pub(super) fn new(vault: &'a Vault, world: &World) -> Self {
        let index = world.places.index();
        let index = index.exists().then(|| Index::at(index));
        let model = index
            .as_ref()
            .and_then(|_| Models::open(&world.home).load(world.config.embed.model.as_str()).ok());
        Self { vault, index, model }
    }

    /// Links to what the text brings to mind. An idea belongs to no project, so no project's own memories are named in it
    /// (B-05); other ideas are left out, and so is the session it came up in.
    pub(super) fn of(&self, text: &str, world: &World) -> Vec<String> {
        let Some(index) = &self.index else { return Vec::new() };
        let filters = Filters {
            sources: vec![Source::Entry, Source::Skill, Source::Memory, Source::Note],
            ..Filters::default()
        };
        let request = Request {
            prompt: text,
            rewritten: None,
            filters: &filters,
            rules: Rules {
                method: Method::Measured,
                decay: Decay::Off,
                include_inbox: false,
                project: None,
                all_projects: false,
                inactive: false,
                until: None,
                now: world.now().timestamp().as_second(),
            },
            k: MOST,
            anyway: false,
            held: &HashSet::new(),
            messages: None,
        };
        let embedder = self.model.as_ref().map(|model| Embedder::new(model.name(), model));
        let Ok(answer) = ask(self.vault, index, embedder, &Usage::default(), &request) else {
            return Vec::new();
        };
        let mut links = Vec::new();
        for hit in &answer.selection.hits {
            // Two lines of one note are one link.
            if let Some(link) = link::render(&hit.document.path, &admit(&hit.document.title).text)
                && !links.iter().any(|known: &String| link::targets(known).eq([hit.document.path.as_str()]))
            {
                links.push(link);
            }
        }
        links
    }
}
