//! What an idea has to do with: the entries and notes that its words bring to mind (IDEA-03), those of its own project
//! first, and nothing of another project's (B-05).

use rekindle_core::base::scope::ProjectId;
use rekindle_core::recall::document::Source;
use rekindle_core::text::admit;
use rekindle_core::vault::link;

use super::near::{Near, Wanted};

/// So many links at most.
const MOST: usize = 5;

/// Links to what a text brings to mind. Other ideas are left out, and so is the session it came up in.
pub(super) fn related(near: &Near<'_>, text: &str, project: Option<&ProjectId>) -> Vec<String> {
    let sources = [Source::Entry, Source::Skill, Source::Memory, Source::Note];
    let wanted = Wanted { sources: &sources, project, most: MOST, anyway: false };
    let mut hits = near.to(text, &wanted);
    hits.sort_by_key(|document| document.project.is_none());
    let mut links: Vec<String> = Vec::new();
    for document in hits {
        // Two lines of one note are one link.
        if let Some(link) = link::render(&document.path, &admit(&document.title).text)
            && !links.iter().any(|known| link::targets(known).eq([document.path.as_str()]))
        {
            links.push(link);
        }
    }
    links
}
