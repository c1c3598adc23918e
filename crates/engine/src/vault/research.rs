//! Research on an idea, stored beside its page in the incubator (IDEA-03): the output of a program, from any
//! source. Its properties and first line say so, and it counts as unreviewed tool output.

use rekindle_core::base::provenance::{Origin, Provenance};
use rekindle_core::base::time::{Zoned, day};
use rekindle_core::text::clean::one_line;
use rekindle_core::vault::entry::{Confidence, EntryProperties, EntryStatus};
use rekindle_core::vault::frontmatter::ParsedNote;
use rekindle_core::vault::journal::{ChangeActor, ChangedFile};
use rekindle_core::vault::layout::{self, EntryGroup};
use rekindle_core::vault::path::VaultPath;

use super::incubator::{document, idea_page_path};
use super::{ChangeDraft, Error, FileWrite, Vault};
use crate::platform::random;

/// The maximum length of a program's name, in characters.
const MAX_PROGRAM_CHARS: usize = 100;

/// An idea without research.
#[derive(Clone, Debug)]
pub struct ResearchableIdea {
    /// The name in the incubator.
    pub slug: String,
    /// The title of the idea.
    pub title: String,
    /// The text of its page, without related links.
    pub summary: String,
    scope: rekindle_core::base::scope::Scope,
}

impl Vault {
    /// An open idea that has no research yet.
    pub fn find_researchable(&self, reference: &str) -> Result<ResearchableIdea, Error> {
        let known = self.open_idea(reference)?;
        let (place, found) =
            (ChangedFile::vault(idea_page_path(&known.slug)?), ChangedFile::vault(found_page(&known.slug)?));
        if self.read(&found)?.is_some() {
            return Err(Error::Exists(found.path.to_string()));
        }
        let read = self.read(&place)?.ok_or_else(|| Error::NoFolder(known.slug.clone()))?;
        let note = ParsedNote::parse(&read.text).map_err(document(&place))?;
        // Links lead to memories, which stay private.
        let summary = note.body().split("\n## ").next().unwrap_or_default().trim();
        Ok(ResearchableIdea {
            title: known.idea.title.clone(),
            summary: summary.to_owned(),
            scope: EntryProperties::of(&note, &place.path).scope,
            slug: known.slug,
        })
    }

    /// Stores the research of a program as a quotation.
    pub fn add_research(
        &self,
        idea: &ResearchableIdea,
        quotation: &str,
        program: &str,
        by: ChangeActor,
        now: &Zoned,
    ) -> Result<VaultPath, Error> {
        let path = found_page(&idea.slug)?;
        let place = ChangedFile::vault(path.clone());
        let id = random::entry_id().map_err(Error::io("get random bytes for", self.folder()))?;
        let entry = EntryProperties {
            id: Some(id),
            kind: "research".to_owned(),
            status: EntryStatus::Incubating,
            created: Some(now.timestamp()),
            updated: Some(now.timestamp()),
            tags: Vec::new(),
            group: EntryGroup::PersonalPrivate.folder_name().to_owned(),
            scope: idea.scope.clone(),
            always_load: false,
            supersedes: None,
            superseded_by: None,
            confidence: Some(Confidence::Low),
            sentiment: None,
            provenance: Provenance { origin: Origin::Tool, session: None, messages: Vec::new() },
        };
        let program = one_line(program, MAX_PROGRAM_CHARS);
        let name = program.rsplit(['/', '\\']).next().unwrap_or_default();
        let body = format!(
            "# Research: {}\n\nFound by a program on {}; nobody has reviewed it.\n\n{quotation}\n",
            idea.title,
            day(now.date())
        );
        let rendered = entry.render(&body);
        let note = ParsedNote::parse(&rendered).map_err(document(&place))?;
        let text = note.head_with(&[("researched_by", Some(name))]).map_err(document(&place))? + note.body();
        let mut writer = self.writer(now)?;
        writer.commit(ChangeDraft::new("research", by, vec![FileWrite::Create { place, text }]))?;
        Ok(path)
    }
}

fn found_page(slug: &str) -> Result<VaultPath, Error> {
    Ok(VaultPath::parse(&format!("{}/research.md", layout::idea_folder(slug)?))?)
}
