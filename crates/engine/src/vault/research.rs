//! Research on an idea, stored beside its page in the incubator (IDEA-03): the output of a program, from any
//! source. Its properties and first line say so, and it counts as unreviewed tool output.

use rekindle_core::base::provenance::{Origin, Provenance};
use rekindle_core::base::time::{Zoned, day};
use rekindle_core::text::clean::one_line;
use rekindle_core::vault::entry::{Confidence, Entry, Status};
use rekindle_core::vault::frontmatter::Note;
use rekindle_core::vault::journal::{Actor, Place};
use rekindle_core::vault::layout::{self, Group};
use rekindle_core::vault::path::VaultPath;

use super::incubator::{document, page};
use super::{Draft, Error, Vault, Write};
use crate::platform::random;

/// The maximum length of a program's name, in characters.
const MAX_PROGRAM: usize = 100;

/// An idea without research.
#[derive(Clone, Debug)]
pub struct Researchable {
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
    pub fn researchable(&self, reference: &str) -> Result<Researchable, Error> {
        let known = self.open_idea(reference)?;
        let (place, found) = (Place::vault(page(&known.slug)?), Place::vault(found_page(&known.slug)?));
        if self.read(&found)?.is_some() {
            return Err(Error::Exists(found.path.to_string()));
        }
        let read = self.read(&place)?.ok_or_else(|| Error::NoFolder(known.slug.clone()))?;
        let note = Note::parse(&read.text).map_err(document(&place))?;
        // Links lead to memories, which stay private.
        let summary = note.body().split("\n## ").next().unwrap_or_default().trim();
        Ok(Researchable {
            title: known.idea.title.clone(),
            summary: summary.to_owned(),
            scope: Entry::of(&note, &place.path).scope,
            slug: known.slug,
        })
    }

    /// Stores the research of a program as a quotation.
    pub fn add_research(
        &self,
        idea: &Researchable,
        quotation: &str,
        program: &str,
        by: Actor,
        now: &Zoned,
    ) -> Result<VaultPath, Error> {
        let path = found_page(&idea.slug)?;
        let place = Place::vault(path.clone());
        let id = random::entry_id().map_err(Error::io("get random bytes for", self.folder()))?;
        let entry = Entry {
            id: Some(id),
            kind: "research".to_owned(),
            status: Status::Incubating,
            created: Some(now.timestamp()),
            updated: Some(now.timestamp()),
            tags: Vec::new(),
            group: Group::PersonalPrivate.word().to_owned(),
            scope: idea.scope.clone(),
            always_load: false,
            supersedes: None,
            superseded_by: None,
            confidence: Some(Confidence::Low),
            sentiment: None,
            provenance: Provenance { origin: Origin::Tool, session: None, messages: Vec::new() },
        };
        let program = one_line(program, MAX_PROGRAM);
        let name = program.rsplit(['/', '\\']).next().unwrap_or_default();
        let body = format!(
            "# Research: {}\n\nFound by a program on {}; nobody has reviewed it.\n\n{quotation}\n",
            idea.title,
            day(now.date())
        );
        let rendered = entry.render(&body);
        let note = Note::parse(&rendered).map_err(document(&place))?;
        let text = note.head_with(&[("researched_by", Some(name))]).map_err(document(&place))? + note.body();
        let mut writer = self.writer(now)?;
        writer.commit(Draft::new("research", by, vec![Write::Create { place, text }]))?;
        Ok(path)
    }
}

fn found_page(slug: &str) -> Result<VaultPath, Error> {
    Ok(VaultPath::parse(&format!("{}/research.md", layout::idea_folder(slug)?))?)
}
