//! Amendments: an approved proposal's line in a file that the user keeps by hand. The file is an identity
//! file, which changes only when the user applies the patch (IDN-05), or a memory, which gets a new version
//! (VLT-04).

use std::path::PathBuf;

use rekindle_core::base::hash::ContentHash;
use rekindle_core::base::provenance::Origin;
use rekindle_core::base::scope::{ProjectId, Scope};
use rekindle_core::base::time::Zoned;
use rekindle_core::knowledge::proposal::{Proposal, ProposalTarget};
use rekindle_core::text::clean_and_redact;
use rekindle_core::text::normalise::normalise;
use rekindle_core::vault::amend::{LEARNED_SECTION, amend};
use rekindle_core::vault::entry::{EntryProperties, mark_superseded};
use rekindle_core::vault::frontmatter::ParsedNote;
use rekindle_core::vault::identity::DOCUMENTS;
use rekindle_core::vault::journal::{ChangeActor, ChangeRoot, ChangedFile, WritePermission};
use rekindle_core::vault::layout::VaultShelf;
use rekindle_core::vault::path::VaultPath;
use rekindle_core::vault::shelf_moves::drop_note;

use super::documents::structure_error;
use super::entries::NewVersion;
use super::{ChangeDraft, CommittedChange, Error, FileWrite, NoteText, PROMOTE_VERB, Vault};

/// The verb of a change that archives the memories of a rejected proposal.
pub const REJECT_VERB: &str = "reject";

/// A line to write into a file.
#[derive(Clone, Copy, Debug)]
pub struct Amendment<'a> {
    /// The proposal behind the amendment.
    pub proposal: &'a Proposal,
    /// The text of the line.
    pub statement: &'a str,
    /// The line that it replaces.
    pub supersedes: Option<&'a str>,
}

/// The result of an amendment, before it is applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AmendedFile {
    /// The file, with links resolved.
    pub file: PathBuf,
    /// The current text; `None` if the file does not exist.
    pub before: Option<String>,
    /// The text with the amendment; unchanged if the file already says so.
    pub after: String,
    /// The hash of the file when it was read.
    pub hash: Option<ContentHash>,
}

impl AmendedFile {
    /// True if the file already contains the line.
    pub fn is_there(&self) -> bool {
        self.before.as_ref() == Some(&self.after)
    }
}

impl Amendment<'_> {
    fn place(&self) -> Result<ChangedFile, Error> {
        match &self.proposal.target {
            Some(ProposalTarget::Identity(name)) => {
                let known = DOCUMENTS.iter().find(|document| document.name == name);
                let known = known.ok_or_else(|| Error::NotFound(name.clone()))?;
                Ok(ChangedFile { root: ChangeRoot::Identity, path: VaultPath::parse(known.name)? })
            }
            Some(ProposalTarget::Entry(path)) => Ok(ChangedFile::vault(VaultPath::parse(path)?)),
            Some(ProposalTarget::Everywhere(path)) => Ok(ChangedFile::vault(VaultPath::parse(path)?)),
            Some(ProposalTarget::Memory(_) | ProposalTarget::Idea(_)) | None => {
                Err(Error::NotFound(self.proposal.file().to_owned()))
            }
        }
    }

    /// The text of the file with the line in it.
    fn amended_text(&self, place: &ChangedFile, text: &str) -> Result<String, Error> {
        let section = (place.root == ChangeRoot::Identity).then_some(LEARNED_SECTION);
        let amended = amend(text, &clean_and_redact(self.statement).text, self.supersedes, section);
        Ok(amended.map_err(|why| structure_error(place)(&why))?.unwrap_or_else(|| text.to_owned()))
    }
}

impl Vault {
    /// Computes the result of an amendment to the current file.
    pub fn preview_amendment(&self, new: &Amendment<'_>) -> Result<AmendedFile, Error> {
        if let Some(slug) = new.proposal.idea_slug() {
            let day = new.proposal.created.to_zoned(self.zone().clone()).date();
            return self.preview_idea_promotion(slug, day);
        }
        let place = new.place()?;
        let file = self.file(&place)?;
        let read = self.read(&place)?;
        let hash = read.as_ref().map(|read| read.hash);
        let before = read.map(|NoteText { text, .. }| text);
        let after = match (&before, place.root) {
            (Some(text), ChangeRoot::Identity) => new.amended_text(&place, text)?,
            (Some(text), _) if new.proposal.global_entry().is_some() => global_text(&place, text)?,
            (Some(text), _) => {
                let document = |source| Error::Document { path: place.to_string(), source };
                let body = ParsedNote::parse(text).map_err(document)?.body().to_owned();
                let head = text.strip_suffix(&body).unwrap_or_default();
                format!("{head}{}", new.amended_text(&place, &body)?)
            }
            (None, ChangeRoot::Identity) => new.amended_text(&place, starter_text(&place))?,
            (None, _) => return Err(Error::NotFound(place.to_string())),
        };
        Ok(AmendedFile { file, before, after, hash })
    }

    /// Applies a change to an identity file that the user has seen and requested (IDN-05). Fails if the file
    /// has changed since then.
    pub fn apply(
        &self,
        new: &Amendment<'_>,
        seen: &AmendedFile,
        now: &Zoned,
    ) -> Result<CommittedChange, Error> {
        let place = new.place()?;
        let mut writer = self.writer(now)?;
        let read = self.read(&place)?;
        if read.as_ref().map(|read| read.hash) != seen.hash {
            return Err(Error::Changed(place.to_string()));
        }
        let write = FileWrite::create_or_replace(place, read, seen.after.clone());
        writer.commit(ChangeDraft {
            permission: Some(WritePermission::Asked),
            proposal: Some(new.proposal.id.to_string()),
            ..ChangeDraft::new(PROMOTE_VERB, ChangeActor::User, vec![write])
        })
    }

    /// Gives a memory a new version with the line in it. Returns false if the line was there already.
    pub fn amend_entry(&self, new: &Amendment<'_>, by: ChangeActor, now: &Zoned) -> Result<bool, Error> {
        let place = new.place()?;
        if self.preview_amendment(new)?.is_there() {
            return Ok(false);
        }
        let id = new.proposal.id.to_string();
        let twin = self.find_twin(new.proposal, &place.path)?;
        let version = NewVersion {
            path: &place.path,
            reason: &format!("approved: {id}"),
            origin: self.less_trusted(&place, new.proposal.origin)?,
            proposal: Some(&id),
            twin: twin.as_ref(),
            by,
            said_at: None,
            sentiment: None,
        };
        self.evolve_with(&version, &mut |body| new.amended_text(&place, body), now)?;
        Ok(true)
    }

    /// Extends a memory of one project to all projects. Copies of it in other projects become
    /// redundant and are archived. Returns true if anything changed.
    pub fn make_global(&self, proposal: &Proposal, by: ChangeActor, now: &Zoned) -> Result<bool, Error> {
        let new = Amendment { proposal, statement: &proposal.text, supersedes: None };
        let place = new.place()?;
        let twins = self.entries_with_statement(&proposal.text)?;
        let mut writer = self.writer(now)?;
        let read = self.read(&place)?.ok_or_else(|| Error::NotFound(place.to_string()))?;
        let text = global_text(&place, &read.text)?;
        if text == read.text {
            return Ok(false);
        }
        let mut writes = vec![FileWrite::Replace { place: place.clone(), read, text }];
        for twin in twins.into_iter().filter(|twin| *twin != place.path) {
            let read = self.read_entry(&twin)?;
            let document = |source| Error::Document { path: twin.to_string(), source };
            let text = mark_superseded(&ParsedNote::parse(&read.text).map_err(document)?, &place.path)
                .map_err(document)?;
            writes.push(FileWrite::Create {
                place: ChangedFile::vault(self.free_archive_path(&twin, now)?),
                text,
            });
            writes.push(FileWrite::Remove { place: ChangedFile::vault(twin), read });
        }
        let about = Some(proposal.id.to_string());
        writer.commit(ChangeDraft { proposal: about, ..ChangeDraft::new("widen", by, writes) })?;
        Ok(true)
    }

    /// Archives the memories with the text of a rejected proposal, as one undoable change. Only those made
    /// from its words: memories that a user saved or reworded stay. Returns their old paths.
    pub fn archive_rejected(
        &self,
        proposal: &Proposal,
        by: ChangeActor,
        now: &Zoned,
    ) -> Result<Vec<VaultPath>, Error> {
        let here = proposal.project.as_ref().map(ProjectId::as_str);
        let mut paths = self.entries_with_statement(&proposal.text)?;
        paths.retain(|path| {
            let read = self.read_entry(path).ok();
            let note = read.as_ref().and_then(|read| ParsedNote::parse(&read.text).ok());
            note.is_some_and(|note| EntryProperties::of(&note, path).scope.is_visible_in(here))
        });
        let mut writer = self.writer(now)?;
        let mut writes = Vec::new();
        for path in &paths {
            let read = self.read_entry(path)?;
            let document = |source| Error::Document { path: path.to_string(), source };
            let text = drop_note(&read.text).map_err(document)?;
            writes.push(FileWrite::Create {
                place: ChangedFile::vault(self.free_archive_path(path, now)?),
                text,
            });
            writes.push(FileWrite::Remove { place: ChangedFile::vault(path.clone()), read });
        }
        if !writes.is_empty() {
            let about = Some(proposal.id.to_string());
            writer.commit(ChangeDraft { proposal: about, ..ChangeDraft::new(REJECT_VERB, by, writes) })?;
        }
        Ok(paths)
    }

    /// The memories that were made from these words in sessions and still say nothing else.
    fn entries_with_statement(&self, text: &str) -> Result<Vec<VaultPath>, Error> {
        let normalised = normalise(text);
        let mut found = Vec::new();
        for one in self.scan(false)?.entries {
            if one.entry.provenance.session.is_none() || one.shelf == VaultShelf::Archive {
                continue;
            }
            let read = self.read_entry(&one.path)?;
            if ParsedNote::parse(&read.text).is_ok_and(|note| normalise(note.body()) == normalised) {
                found.push(one.path);
            }
        }
        Ok(found)
    }

    /// The memory made from the same words before the user was asked.
    fn find_twin(&self, proposal: &Proposal, target: &VaultPath) -> Result<Option<VaultPath>, Error> {
        let is_evidence = |session: &Option<String>| {
            session.as_ref().is_some_and(|session| proposal.evidence.sessions.contains(session))
        };
        let entries = self.scan(false)?.entries.into_iter();
        for found in
            entries.filter(|found| is_evidence(&found.entry.provenance.session) && found.path != *target)
        {
            let read = self.read_entry(&found.path)?;
            let note = ParsedNote::parse(&read.text);
            if note.is_ok_and(|note| note.body().trim() == proposal.text.trim()) {
                return Ok(Some(found.path));
            }
        }
        Ok(None)
    }

    /// The less trusted origin of the file and the line, because the result holds both (B-01).
    fn less_trusted(&self, place: &ChangedFile, origin: Origin) -> Result<Origin, Error> {
        let text = self.read(place)?.map(|read| read.text).unwrap_or_default();
        let there =
            ParsedNote::parse(&text).ok().and_then(|note| note.text_of("origin")?.parse::<Origin>().ok());
        let both = [there.unwrap_or(Origin::User), origin];
        Ok(Origin::ALL.into_iter().rev().find(|one| both.contains(one)).unwrap_or(origin))
    }
}

/// The text of a memory with the scope of all projects.
fn global_text(place: &ChangedFile, text: &str) -> Result<String, Error> {
    let document = |source| Error::Document { path: place.to_string(), source };
    let note = ParsedNote::parse(text).map_err(document)?;
    if EntryProperties::of(&note, &place.path).scope.project().is_none() {
        return Ok(text.to_owned());
    }
    Ok(note.head_with(&[("scope", Some(Scope::Global.kind_str()))]).map_err(document)? + note.body())
}

/// The initial text of a new identity file.
fn starter_text(place: &ChangedFile) -> &'static str {
    let known = DOCUMENTS.iter().find(|document| document.name == place.path.as_str());
    known.map_or("", |document| document.starter)
}
