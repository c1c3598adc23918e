//! Decisions about ideas: promotion to a project (IDEA-05), or the user's choice after a long time without
//! progress (IDEA-06). Folder and line in Ideas.md always change together.

use std::path::PathBuf;

use rekindle_core::base::id::ChangeId;
use rekindle_core::base::ignore_failure::IgnoreFailure as _;
use rekindle_core::base::time::{Date, TimeZone, Zoned, parse};
use rekindle_core::vault::frontmatter::{self, ParsedNote};
use rekindle_core::vault::ideas::{self, IdeaEntry};
use rekindle_core::vault::journal::{ChangeActor, ChangedFile, WritePermission};
use rekindle_core::vault::layout;
use rekindle_core::vault::link::mentions_idea;
use rekindle_core::vault::path::{VaultPath, fold_name, slug};
use rekindle_core::vault::shelf_moves;
use serde::Serialize;

use super::documents::{SURFACED_PROPERTY, ideas_file, structure_error};
use super::scan::all_files;
use super::{AmendedFile, ChangeDraft, Error, FileWrite, NoteText, Vault};
use crate::platform::disk::{self, TEMPORARY_PREFIX};
use crate::vault::sources;

/// The main page of an idea.
const IDEA_PAGE: &str = "_index.md";
/// The maximum number of sessions recorded.
const MAX_NOTED_SESSIONS: usize = 20;

/// The result of moving an idea.
#[derive(Clone, Debug)]
pub struct MovedIdea {
    /// The name in the incubator.
    pub slug: String,
    /// The title of the idea.
    pub title: String,
    /// The new path of the folder; `None` if it was deleted or stayed.
    pub folder: Option<VaultPath>,
    /// The id of the change.
    pub change: Option<ChangeId>,
    /// The conflict copies of concurrent edits.
    pub conflicts: Vec<PathBuf>,
}

/// An idea without progress.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OverdueIdea {
    /// The name in the incubator.
    pub slug: String,
    /// The title of the idea.
    pub title: String,
    /// The day on which it came up.
    pub date: String,
    /// The day from which its age counts: when it came up, or when the user last chose to keep it.
    pub since: String,
    /// The age in days.
    pub days: i32,
}

/// Ideas.md as it was read, and one idea in it.
pub(super) struct IdeaInFile {
    read: NoteText,
    pub(super) idea: IdeaEntry,
    pub(super) slug: String,
}

impl Vault {
    /// Promotes an idea to a project: its folder moves to `personal-projects/`, and its section records this.
    pub fn promote_idea(&self, reference: &str, by: ChangeActor, now: &Zoned) -> Result<MovedIdea, Error> {
        self.promote_idea_for(reference, None, by, now)
    }

    /// The same as [`Vault::promote_idea`] for the proposal `about`, which the change names.
    pub fn promote_idea_for(
        &self,
        reference: &str,
        about: Option<String>,
        by: ChangeActor,
        now: &Zoned,
    ) -> Result<MovedIdea, Error> {
        let mut writer = self.writer(now)?;
        let known = self.known_idea(reference)?;
        if known.idea.promoted.is_some() {
            return Err(Error::Decided(known.slug));
        }
        let to = layout::project_folder(&known.slug)?;
        let folder = self.file(&ChangedFile::vault(to.clone()))?;
        if disk::name_exists(&folder).map_err(Error::io("read", &folder))?
            && !all_files_in(&folder)?.is_empty()
        {
            return Err(Error::Exists(format!("{to}/")));
        }
        let mut writes = self
            .relocate_idea(&known.slug, &to, &|text| shelf_moves::promote_idea_page(text, now.timestamp()))?;
        if writes.is_empty() {
            return Err(Error::NoFolder(known.slug));
        }
        let text = ideas::mark_promoted(&known.read.text, &self.folder_name(), &known.slug, now.date());
        writes.push(ledger(&known, text)?);
        let committed =
            writer.commit(ChangeDraft { proposal: about, ..ideas_draft("promote", by, writes) })?;
        self.remove_empty_folders(&known.slug)?;
        Ok(known.into_moved(Some(to), committed))
    }

    /// Previews the promotion's effect on Ideas.md; the folder moves unchanged.
    pub fn preview_idea_promotion(&self, reference: &str, today: Date) -> Result<AmendedFile, Error> {
        let known = self.open_idea(reference)?;
        let text = ideas::mark_promoted(&known.read.text, &self.folder_name(), &known.slug, today);
        let after = text.map_err(|error| structure_error(&ideas_file())(&error))?;
        let file = self.file(&ideas_file())?;
        Ok(AmendedFile { file, before: Some(known.read.text), after, hash: Some(known.read.hash) })
    }

    /// Records on the idea's page that it came up in this session too. Returns all sessions recorded so far.
    pub fn record_idea_session(
        &self,
        reference: &str,
        session: &str,
        by: ChangeActor,
        now: &Zoned,
    ) -> Result<Vec<String>, Error> {
        let mut writer = self.writer(now)?;
        let known = self.open_idea(reference)?;
        let place = ChangedFile::vault(idea_page_path(&known.slug)?);
        let read = self.read(&place)?.ok_or_else(|| Error::NoFolder(known.slug.clone()))?;
        let note = ParsedNote::parse(&read.text).map_err(document(&place))?;
        let before = note.text_of(SURFACED_PROPERTY).unwrap_or_default();
        let mut sessions: Vec<String> =
            before.split(',').map(str::trim).filter(|id| !id.is_empty()).map(str::to_owned).collect();
        if sessions.len() >= MAX_NOTED_SESSIONS || sessions.iter().any(|known| known == session) {
            return Ok(sessions);
        }
        sessions.push(session.to_owned());
        let head =
            note.head_with(&[(SURFACED_PROPERTY, Some(&sessions.join(", ")))]).map_err(document(&place))?;
        let text = head + note.body();
        writer.commit(ChangeDraft::new("surface", by, vec![FileWrite::Replace { place, read, text }]))?;
        Ok(sessions)
    }

    /// Archives an idea: its folder moves to the archive, and its section records this.
    pub fn archive_idea(&self, reference: &str, by: ChangeActor, now: &Zoned) -> Result<MovedIdea, Error> {
        let mut writer = self.writer(now)?;
        let known = self.open_idea(reference)?;
        let to = self.free_archived_folder(&known.slug, now.date())?;
        let mut writes = self.relocate_idea(&known.slug, &to, &shelf_moves::archive_idea_page)?;
        let text = ideas::mark_archived(&known.read.text, &self.folder_name(), &known.slug, &to, now.date());
        writes.push(ledger(&known, text)?);
        let committed = writer.commit(ideas_draft("archive", by, writes))?;
        self.remove_empty_folders(&known.slug)?;
        Ok(known.into_moved(Some(to), committed))
    }

    /// Deletes an idea with its folder and section. `undo` restores both, so files that are not text are
    /// excluded.
    pub fn delete_idea(&self, reference: &str, by: ChangeActor, now: &Zoned) -> Result<MovedIdea, Error> {
        let mut writer = self.writer(now)?;
        let known = self.open_idea(reference)?;
        let mut writes = Vec::new();
        for path in self.idea_files(&known.slug)? {
            let place = ChangedFile::vault(path);
            let read = self.read(&place)?.ok_or_else(|| Error::Changed(place.to_string()))?;
            writes.push(FileWrite::Remove { place, read });
        }
        writes.push(ledger(&known, ideas::remove(&known.read.text, &known.slug))?);
        let committed = writer.commit(ideas_draft("delete", by, writes))?;
        self.remove_empty_folders(&known.slug)?;
        Ok(known.into_moved(None, committed))
    }

    /// Keeps an idea in the incubator: its age counts from today.
    pub fn keep_idea(&self, reference: &str, by: ChangeActor, now: &Zoned) -> Result<MovedIdea, Error> {
        let mut writer = self.writer(now)?;
        let known = self.open_idea(reference)?;
        let place = ChangedFile::vault(idea_page_path(&known.slug)?);
        let read = self.read(&place)?.ok_or_else(|| Error::NoFolder(known.slug.clone()))?;
        let text = shelf_moves::keep_idea_page(&read.text, now.timestamp()).map_err(document(&place))?;
        let committed =
            writer.commit(ChangeDraft::new("keep", by, vec![FileWrite::Replace { place, read, text }]))?;
        Ok(known.into_moved(None, committed))
    }

    /// The ideas from before `before` that are neither promoted nor archived, and that no other note
    /// mentions, oldest first.
    pub fn overdue_ideas(&self, before: Date, today: Date) -> Result<Vec<OverdueIdea>, Error> {
        let place = ideas_file();
        let Some(ledger) = self.read(&place)? else { return Ok(Vec::new()) };
        let all = ideas::parse(&ledger.text).map_err(|error| structure_error(&place)(&error))?;
        let mut overdue = Vec::new();
        for idea in all.iter().filter(|idea| idea.is_open() && idea.date < before) {
            let Some(slug) = &idea.slug else { continue };
            let since = self.last_kept(slug)?.map_or(idea.date, |kept| kept.max(idea.date));
            if since < before {
                overdue.push((since, idea, slug));
            }
        }
        if overdue.is_empty() {
            return Ok(Vec::new());
        }
        let others = self.other_texts()?;
        overdue.retain(|(_, idea, slug)| {
            let own = format!("{}/{slug}/", layout::INCUBATOR);
            let rest = [&ledger.text[..idea.range.start], "\n", &ledger.text[idea.range.end..]].concat();
            let is_other = |path: &str| !path.contains(&own);
            !mentions_idea(&rest, slug)
                && !others.iter().any(|(path, text)| is_other(path) && mentions_idea(text, slug))
        });
        overdue.sort_by_key(|(since, ..)| *since);
        let ideas = overdue.into_iter().map(|(since, idea, slug)| OverdueIdea {
            slug: slug.clone(),
            title: idea.title.clone(),
            date: rekindle_core::base::time::day(idea.date),
            since: rekindle_core::base::time::day(since),
            days: since.until(today).map_or(0, |age| age.get_days()),
        });
        Ok(ideas.collect())
    }

    /// All texts that could mention an idea: the notes, without Ideas.md and the archive.
    fn other_texts(&self) -> Result<Vec<(String, String)>, Error> {
        let archive = format!("/{}/", layout::ARCHIVE);
        let mut texts = Vec::new();
        for file in sources::names(self)?.files {
            if file == layout::IDEAS || file.contains(&archive) {
                continue;
            }
            let path = self.notes().join(&file);
            // An unreadable file mentions nothing.
            if let Ok(disk::FileContent::Bytes(bytes)) = disk::read(&path, super::MAX_NOTE_BYTES)
                && let Ok(text) = String::from_utf8(bytes)
            {
                texts.push((file, text));
            }
        }
        Ok(texts)
    }

    /// The day on which the user last chose to keep an idea.
    fn last_kept(&self, slug: &str) -> Result<Option<Date>, Error> {
        let Ok(page) = idea_page_path(slug) else { return Ok(None) };
        let Some(read) = self.read(&ChangedFile::vault(page))? else { return Ok(None) };
        let at = ParsedNote::parse(&read.text).ok().and_then(|note| parse(note.text_of("reviewed")?));
        Ok(at.map(|at| at.to_zoned(TimeZone::clone(self.zone())).date()))
    }

    /// Finds an idea by its name in the incubator or by its title.
    fn known_idea(&self, reference: &str) -> Result<IdeaInFile, Error> {
        let place = ideas_file();
        let no_such = || Error::NoIdea(reference.to_owned());
        let read = self.read(&place)?.ok_or_else(no_such)?;
        let all = ideas::parse(&read.text).map_err(|error| structure_error(&place)(&error))?;
        let name = fold_name(reference.trim());
        let as_slug = slug("title", reference).ok();
        let by_slug = |idea: &&IdeaEntry| {
            idea.slug.as_ref().is_some_and(|slug| fold_name(slug) == name || Some(slug) == as_slug.as_ref())
        };
        let by_title = |idea: &&IdeaEntry| fold_name(&idea.title) == name;
        let mut found: Vec<&IdeaEntry> = all.iter().filter(by_slug).collect();
        if found.is_empty() {
            found = all.iter().filter(by_title).collect();
        }
        let idea = match found.as_slice() {
            [] => return Err(no_such()),
            [only] => (*only).clone(),
            several => {
                let name =
                    |idea: &&IdeaEntry| idea.slug.clone().unwrap_or_else(|| format!("line {}", idea.line));
                let matches = several.iter().map(name).collect();
                return Err(Error::Ambiguous { wanted: reference.to_owned(), matches });
            }
        };
        let slug = idea.slug.clone().ok_or_else(|| Error::NoFolder(reference.to_owned()))?;
        Ok(IdeaInFile { read, idea, slug })
    }

    pub(super) fn open_idea(&self, reference: &str) -> Result<IdeaInFile, Error> {
        let known = self.known_idea(reference)?;
        if known.idea.is_open() { Ok(known) } else { Err(Error::Decided(known.slug)) }
    }

    /// The files of an idea, including hidden ones.
    fn idea_files(&self, slug: &str) -> Result<Vec<VaultPath>, Error> {
        let folder = self.file(&ChangedFile::vault(layout::idea_folder(slug)?))?;
        let mut paths = Vec::new();
        for file in all_files_in(&folder)? {
            let path = self.vault_path(&file).ok_or_else(|| Error::OddName(file.clone()))?;
            paths.push(path);
        }
        paths.sort();
        Ok(paths)
    }

    /// The writes that move the folder of an idea to `to`, with a new main page.
    fn relocate_idea(
        &self,
        slug: &str,
        to: &VaultPath,
        turn: &dyn Fn(&str) -> Result<String, frontmatter::Error>,
    ) -> Result<Vec<FileWrite>, Error> {
        let (from, page) = (layout::idea_folder(slug)?, idea_page_path(slug)?);
        let (mut writes, mut last) = (Vec::new(), None);
        for path in self.idea_files(slug)? {
            let below = path.as_str().strip_prefix(from.as_str()).unwrap_or_default();
            let target = ChangedFile::vault(VaultPath::parse(&format!("{to}{below}"))?);
            let place = ChangedFile::vault(path.clone());
            if path == page {
                let read = self.read(&place)?.ok_or_else(|| Error::Changed(place.to_string()))?;
                let text = turn(&read.text).map_err(document(&place))?;
                writes.push(FileWrite::Create { place: target, text });
                last = Some(FileWrite::Remove { place, read });
            } else {
                let file = self.file(&place)?;
                let hash = disk::hash(&file).map_err(Error::io("read", &file))?;
                let hash = hash.ok_or_else(|| Error::Changed(place.to_string()))?;
                writes.push(FileWrite::Move { from: place, to: target, hash });
            }
        }
        writes.extend(last);
        Ok(writes)
    }

    fn free_archived_folder(&self, slug: &str, today: Date) -> Result<VaultPath, Error> {
        let from = layout::idea_folder(slug)?;
        for number in 1.. {
            let folder = layout::archived_folder(&from, today, number)?;
            let file = self.file(&ChangedFile::vault(folder.clone()))?;
            if !disk::name_exists(&file).map_err(Error::io("read", &file))? {
                return Ok(folder);
            }
        }
        Err(Error::Exists(from.to_string()))
    }

    /// Removes empty folders. A folder that cannot be removed is empty and harmless.
    fn remove_empty_folders(&self, slug: &str) -> Result<(), Error> {
        let root = self.file(&ChangedFile::vault(layout::idea_folder(slug)?))?;
        let mut folders = vec![root];
        let mut at = 0;
        while let Some(folder) = folders.get(at).cloned() {
            let below = std::fs::read_dir(&folder).into_iter().flatten().flatten();
            let is_folder = |item: &std::fs::DirEntry| item.file_type().is_ok_and(|kind| kind.is_dir());
            folders.extend(below.filter(is_folder).map(|item| item.path()));
            at += 1;
        }
        for folder in folders.iter().rev() {
            disk::remove_empty_folder(folder).ignore_failure("an empty folder that stays does no harm");
        }
        Ok(())
    }
}

impl IdeaInFile {
    fn into_moved(self, folder: Option<VaultPath>, committed: super::CommittedChange) -> MovedIdea {
        MovedIdea {
            slug: self.slug,
            title: self.idea.title,
            folder,
            change: committed.change,
            conflicts: committed.conflicts,
        }
    }
}

/// All files below a folder without our temporary files; empty if the folder does not exist.
fn all_files_in(folder: &std::path::Path) -> Result<Vec<PathBuf>, Error> {
    let mut files = match all_files(folder) {
        Ok(files) => files,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Error::io("read", folder)(error)),
    };
    files.retain(|file| {
        !file.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(TEMPORARY_PREFIX.as_bytes()))
    });
    Ok(files)
}

pub(super) fn idea_page_path(slug: &str) -> Result<VaultPath, Error> {
    Ok(VaultPath::parse(&format!("{}/{IDEA_PAGE}", layout::idea_folder(slug)?))?)
}

pub(super) fn document(place: &ChangedFile) -> impl FnOnce(frontmatter::Error) -> Error {
    let path = place.to_string();
    move |source| Error::Document { path, source }
}

/// The change to Ideas.md.
fn ledger(known: &IdeaInFile, text: Result<String, ideas::Error>) -> Result<FileWrite, Error> {
    let place = ideas_file();
    let text = text.map_err(|error| structure_error(&place)(&error))?;
    Ok(FileWrite::Replace { place, read: known.read.clone(), text })
}

/// A change that may write to Ideas.md, the one standing exception (VLT-07).
fn ideas_draft(verb: &'static str, by: ChangeActor, writes: Vec<FileWrite>) -> ChangeDraft {
    ChangeDraft { permission: Some(WritePermission::Standing), ..ChangeDraft::new(verb, by, writes) }
}
