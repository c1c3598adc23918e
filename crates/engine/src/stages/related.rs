//! What an idea has to do with: the entries and notes that its words bring to mind (IDEA-03), those of its own project
//! first, and nothing of another project's (B-05).

use rekindle_core::recall::document::Source;
use rekindle_core::scope::ProjectId;
use rekindle_core::text::admit;
use rekindle_core::vault::link;

use super::near::{Near, Wanted};

/// So many links at most.
const MOST: usize = 5;

/// What an idea has to do with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Related {
    /// A link to each.
    pub(super) links: Vec<String>,
    /// Whether one of them belongs to the project alone: then so does whatever names it.
    pub(super) is_private: bool,
}

/// What a text brings to mind. Other ideas are left out, and so is the session it came up in.
pub(super) fn related(near: &Near<'_>, text: &str, project: Option<&ProjectId>) -> Related {
    let sources = [Source::Entry, Source::Skill, Source::Memory, Source::Note];
    let wanted = Wanted { sources: &sources, project, most: MOST, anyway: false };
    let mut hits = near.to(text, &wanted);
    hits.sort_by_key(|document| document.project.is_none());
    let mut related = Related::default();
    for document in hits {
        // Two lines of one note are one link.
        if let Some(link) = link::render(&document.path, &admit(&document.title).text)
            && !related.links.iter().any(|known| link::targets(known).eq([document.path.as_str()]))
        {
            related.is_private |= document.project.is_some();
            related.links.push(link);
        }
    }
    related
}
