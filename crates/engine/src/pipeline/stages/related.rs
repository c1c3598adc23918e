//! Related entries and notes of an idea (IDEA-03): those of its own project first, and none of another
//! project (B-05).

use rekindle_core::base::scope::ProjectId;
use rekindle_core::recall::document::Source;
use rekindle_core::text::admit;
use rekindle_core::vault::link;

use super::near::{Near, Wanted};

/// The most links of an idea.
const MOST: usize = 5;

/// Links to the documents related to a text, without other ideas and its own session.
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
