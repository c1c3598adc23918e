//! Related entries and notes of an idea (IDEA-03): those of its own project first, and none of another
//! project (B-05).

use rekindle_core::base::scope::ProjectId;
use rekindle_core::recall::document::DocumentSource;
use rekindle_core::text::clean_and_redact;
use rekindle_core::vault::link;

use super::related_memories::{RelatedMemories, RelatedQuery};

/// The most links of an idea.
const MAX_LINKS: usize = 5;

/// Links to the documents related to a text, without other ideas and its own session.
pub(super) fn related(near: &RelatedMemories<'_>, text: &str, project: Option<&ProjectId>) -> Vec<String> {
    let sources =
        [DocumentSource::Entry, DocumentSource::Skill, DocumentSource::Memory, DocumentSource::Note];
    let wanted = RelatedQuery { sources: &sources, project, limit: MAX_LINKS, anyway: false };
    let mut hits = near.related_to(text, &wanted);
    hits.sort_by_key(|document| document.project.is_none());
    let mut links: Vec<String> = Vec::new();
    for document in hits {
        // Two lines of one note are one link.
        if let Some(link) = link::render(&document.path, &clean_and_redact(&document.title).text)
            && !links.iter().any(|known| link::link_targets(known).eq([document.path.as_str()]))
        {
            links.push(link);
        }
    }
    links
}
