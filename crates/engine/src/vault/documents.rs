//! The shared documents: MEMORY.md, Ideas.md, the system log. Each change reads the document under the lock,
//! lets `core` compute the new text, and commits exactly that.

use std::collections::HashSet;
use std::path::PathBuf;

use rekindle_core::base::id::ChangeId;
use rekindle_core::base::provenance::Provenance;
use rekindle_core::base::scope::Scope;
use rekindle_core::base::time::{Date, Timestamp, Zoned};
use rekindle_core::text::clean_and_redact;
use rekindle_core::text::normalise::normalise;
use rekindle_core::text::redact::RedactionCounts;
use rekindle_core::vault::entry::{EntryProperties, EntryStatus};
use rekindle_core::vault::frontmatter::ParsedNote;
use rekindle_core::vault::ideas::{self, IdeaDraft};
use rekindle_core::vault::journal::{ChangeActor, ChangeRoot, ChangedFile, WritePermission};
use rekindle_core::vault::layout::{self, EntryGroup};
use rekindle_core::vault::memory::{self, StatementMark};
use rekindle_core::vault::path::{VaultPath, slug};
use rekindle_core::vault::{pending_proposals, review, system_log};

use super::{ChangeDraft, CommittedChange, Error, FileWrite, Vault};
use crate::platform::random;

/// The property of an idea that lists the sessions with it (IDEA-03).
pub(super) const SURFACED_PROPERTY: &str = "surfaced_in_session";

/// A line added to a document.
#[derive(Clone, Debug)]
pub struct AddedLine<T> {
    /// The outcome of the addition.
    pub outcome: T,
    /// The id of the change; `None` if nothing had to change.
    pub change: Option<ChangeId>,
    /// The number of redacted secrets by type.
    pub redacted: RedactionCounts,
    /// The conflict copies of concurrent edits.
    pub conflicts: Vec<PathBuf>,
}

impl<T> AddedLine<T> {
    fn new(outcome: T, redacted: RedactionCounts, committed: CommittedChange) -> Self {
        Self { outcome, change: committed.change, redacted, conflicts: committed.conflicts }
    }
}

/// An idea to be saved.
#[derive(Clone, Debug)]
pub struct NewIdea<'a> {
    /// A short title of the idea.
    pub title: &'a str,
    /// A summary of one or two sentences.
    pub summary: &'a str,
    /// The speaker and the source of the idea.
    pub provenance: Provenance,
    /// The scope of its page and of its section in Ideas.md.
    pub scope: Scope,
    /// Links to related notes, one each (IDEA-03).
    pub related: Vec<String>,
    /// The time of the statement; `None` for now.
    pub said_at: Option<Timestamp>,
}

/// The verb of a change that promotes.
pub const PROMOTE_VERB: &str = "promote";

/// An approved proposal for MEMORY.md.
#[derive(Clone, Copy, Debug)]
pub struct Promotion<'a> {
    /// The section that it is meant for.
    pub section: &'a str,
    /// The text of the statement.
    pub statement: &'a str,
    /// The line that it replaces.
    pub supersedes: Option<&'a str>,
    /// The id and the origin of the supporting words.
    pub mark: &'a StatementMark,
    /// The time of the latest statement; `None` for now.
    pub said_at: Option<Timestamp>,
}

impl Promotion<'_> {
    /// The day on the line, in the user's time zone.
    fn day(&self, now: &Zoned) -> Date {
        self.said_at.map_or_else(|| now.clone(), |said| said.to_zoned(now.time_zone().clone())).date()
    }
}

/// The outcome of a promotion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PromotionOutcome {
    /// The place of the statement.
    pub outcome: memory::StatementOutcome,
    /// True if another line was struck for it.
    pub replaced: bool,
}

/// A preview of a promotion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromotionPreview {
    /// The current text of MEMORY.md.
    pub before: String,
    /// MEMORY.md after the promotion.
    pub after: String,
    /// The outcome of the promotion.
    pub outcome: PromotionOutcome,
}

/// MEMORY.md with an approved statement in it, and true if a line was struck for it.
fn promoted_text(
    place: &ChangedFile,
    text: &str,
    new: &Promotion<'_>,
    statement: &str,
    now: &Zoned,
) -> Result<(memory::MemoryChange, bool), Error> {
    let (broken, date) = (structure_error(place), new.day(now));
    let old = memory::sections(text).map_err(|error| broken(&error))?;
    let items = old.iter().flat_map(|section| &section.items);
    // A line with a wider scope than the new one stays: elsewhere nothing replaces it.
    let reaches = |item: &memory::MemoryItem| match (&item.project, &new.mark.project) {
        (_, None) => true,
        (Some(old), Some(new)) => new.matches_name(old.as_str()),
        (None, Some(_)) => false,
    };
    let replaced = new.supersedes.and_then(|gone| {
        let mut standing = items.clone().filter(|item| item.superseded.is_none() && reaches(item));
        standing.find(|item| normalise(&item.text) == normalise(gone))
    });
    let changed = match replaced {
        Some(item) => memory::supersede(text, item, date, statement, new.mark),
        None => memory::append(text, new.section, date, statement, new.mark),
    };
    let changed = changed.map_err(|error| broken(&error))?;
    let after = memory::sections(&changed.text).map_err(|error| broken(&error))?;
    let mut after = after.iter().flat_map(|section| &section.items);
    // Every earlier line is still there, in order (REV-13).
    let is_kept = |kept: &memory::MemoryItem, item: &memory::MemoryItem| {
        kept.text == item.text && kept.date == item.date && kept.project == item.project
    };
    if !items.clone().all(|item| after.any(|kept| is_kept(kept, item))) {
        return Err(broken(&"the text would change the lines around it; edit it and approve it again"));
    }
    Ok((changed, replaced.is_some()))
}

/// The outcome of updating the page of proposals.
#[derive(Debug)]
pub enum ReviewPageOutcome {
    /// The page was updated.
    Written(CommittedChange),
    /// The page was up to date.
    Unchanged,
    /// The page was left unchanged, for this reason; the proposals are in the store.
    Left(String),
}

/// The proposals that a page showed when it was written: by its version, or by the latest version if the user
/// removed the mark. For an older copy only its remaining proposals count as shown, so that none it lacks
/// counts as deleted by the user.
fn find_shown_page(text: &str, known: &[review::ShownPage]) -> Option<review::ShownPage> {
    let page = review::parse(text).ok()?;
    let version = page.footer.and_then(|footer| footer.version);
    let (last, older) = known.split_last()?;
    if version.as_ref().is_none_or(|version| *version == last.version) {
        return Some(last.clone());
    }
    let mut shown = older.iter().find(|shown| Some(&shown.version) == version.as_ref())?.clone();
    shown.proposals.retain(|proposal| page.entries.iter().any(|entry| entry.id == proposal.id));
    Some(shown)
}

pub(super) fn ideas_file() -> ChangedFile {
    ChangedFile { root: ChangeRoot::Notes, path: layout::fixed_path(layout::IDEAS) }
}

pub(super) fn structure_error(place: &ChangedFile) -> impl Fn(&dyn std::fmt::Display) -> Error + use<> {
    let path = place.to_string();
    move |why| Error::Structure { path: path.clone(), why: why.to_string() }
}

impl Vault {
    /// Adds a statement to a section of MEMORY.md (REV-12, VLT-09). Creates the file if it is missing.
    pub fn remember(
        &self,
        user: &str,
        section: &str,
        statement: &str,
        mark: &StatementMark,
        by: ChangeActor,
        now: &Zoned,
    ) -> Result<AddedLine<memory::StatementOutcome>, Error> {
        let admitted = clean_and_redact(statement);
        let place = ChangedFile::vault(layout::fixed_path(layout::MEMORY));
        let mut writer = self.writer(now)?;
        let read = self.read(&place)?;
        let text = read.as_ref().map_or_else(|| memory::render_new(user), |note| note.text.clone());
        let changed = memory::append(&text, section, now.date(), &admitted.text, mark)
            .map_err(|error| structure_error(&place)(&error))?;
        let write = FileWrite::create_or_replace(place, read, changed.text);
        let committed = writer.commit(ChangeDraft::new("memory", by, vec![write]))?;
        Ok(AddedLine::new(changed.outcome, admitted.redacted, committed))
    }

    /// Adds an approved proposal to MEMORY.md, as an undoable change (REV-12, REV-13). The line that it
    /// replaces is struck and stays; if that line is gone, the statement is simply added.
    pub fn promote(
        &self,
        user: &str,
        new: &Promotion<'_>,
        by: ChangeActor,
        now: &Zoned,
    ) -> Result<AddedLine<PromotionOutcome>, Error> {
        let admitted = clean_and_redact(new.statement);
        let place = ChangedFile::vault(layout::fixed_path(layout::MEMORY));
        let mut writer = self.writer(now)?;
        if self.read(&place)?.is_none() {
            // A separate change, so that undoing the promotion keeps the file.
            let text = memory::render_new(user);
            writer.commit(ChangeDraft::new(
                "memory",
                by,
                vec![FileWrite::Create { place: place.clone(), text }],
            ))?;
        }
        let read = self.read(&place)?.ok_or_else(|| Error::NotFound(place.to_string()))?;
        let (changed, replaced) = promoted_text(&place, &read.text, new, &admitted.text, now)?;
        let outcome = PromotionOutcome { outcome: changed.outcome, replaced };
        let write = FileWrite::Replace { place, read, text: changed.text };
        let committed = writer.commit(ChangeDraft::new(PROMOTE_VERB, by, vec![write]))?;
        Ok(AddedLine::new(outcome, admitted.redacted, committed))
    }

    /// The current MEMORY.md, and the result of [`Vault::promote`].
    pub fn preview_promotion(
        &self,
        user: &str,
        new: &Promotion<'_>,
        now: &Zoned,
    ) -> Result<PromotionPreview, Error> {
        let place = ChangedFile::vault(layout::fixed_path(layout::MEMORY));
        let read = self.read(&place)?;
        let before = read.map_or_else(|| memory::render_new(user), |note| note.text);
        let (changed, replaced) =
            promoted_text(&place, &before, new, &clean_and_redact(new.statement).text, now)?;
        let outcome = PromotionOutcome { outcome: changed.outcome, replaced };
        Ok(PromotionPreview { before, after: changed.text, outcome })
    }

    /// Appends a line to the system log (FND-05).
    pub fn log_system(
        &self,
        line: &system_log::SystemLogLine,
        by: ChangeActor,
        now: &Zoned,
    ) -> Result<CommittedChange, Error> {
        let place = ChangedFile::vault(layout::fixed_path(layout::SYSTEM_LOG));
        let mut writer = self.writer(now)?;
        let read = self.read(&place)?;
        let text = system_log::append(read.as_ref().map_or("", |note| &note.text), line);
        writer.commit(ChangeDraft::new("slog", by, vec![FileWrite::create_or_replace(place, read, text)]))
    }

    /// Reads the system log.
    pub fn system_log(&self) -> Result<system_log::SystemLog, Error> {
        let read = self.read(&ChangedFile::vault(layout::fixed_path(layout::SYSTEM_LOG)))?;
        Ok(read.map(|note| system_log::parse(&note.text)).unwrap_or_default())
    }

    /// Saves an idea: a section in Ideas.md and a folder in the incubator, as one change (IDEA-02, IDEA-03).
    pub fn add_idea(
        &self,
        new: &NewIdea<'_>,
        by: ChangeActor,
        now: &Zoned,
    ) -> Result<AddedLine<String>, Error> {
        let (title, summary) = (clean_and_redact(new.title), clean_and_redact(new.summary));
        let mut redacted = title.redacted;
        redacted.merge(&summary.redacted);
        let said_at = new.said_at.unwrap_or_else(|| now.timestamp());
        let idea = IdeaDraft {
            date: said_at.to_zoned(now.time_zone().clone()).date(),
            slug: slug("title", &title.text)?,
            title: title.text,
            summary: summary.text,
            project: new.scope.project().cloned(),
        };
        let id = random::entry_id().map_err(Error::io("get random bytes for", self.folder()))?;
        let entry = EntryProperties {
            id: Some(id),
            kind: "idea".to_owned(),
            status: EntryStatus::Incubating,
            created: Some(said_at),
            updated: Some(said_at),
            tags: Vec::new(),
            group: EntryGroup::PersonalPrivate.folder_name().to_owned(),
            scope: new.scope.clone(),
            always_load: false,
            supersedes: None,
            superseded_by: None,
            confidence: None,
            sentiment: None,
            provenance: new.provenance.clone(),
        };
        let index = ChangedFile::vault(layout::idea(&idea.slug)?);
        let ledger = ideas_file();
        let mut writer = self.writer(now)?;
        let read = self.read(&ledger)?;
        let text = ideas::append(read.as_ref().map_or("", |note| &note.text), &self.folder_name(), &idea)
            .map_err(|error| structure_error(&ledger)(&error))?;
        let mut body = format!("# {}\n\n{}\n", idea.title, idea.summary);
        if !new.related.is_empty() {
            body.push_str("\n## Related\n\n");
            new.related.iter().for_each(|link| body.push_str(&format!("- {link}\n")));
        }
        let mut page = entry.render(&body);
        if let Some(session) = &new.provenance.session {
            page = ParsedNote::parse(&page)
                .and_then(|note| Ok(note.head_with(&[(SURFACED_PROPERTY, Some(session))])? + note.body()))
                .map_err(|source| Error::Document { path: index.to_string(), source })?;
        }
        let writes = vec![
            FileWrite::Create { place: index, text: page },
            FileWrite::create_or_replace(ledger, read, text),
        ];
        let draft = ChangeDraft {
            permission: Some(WritePermission::Standing),
            ..ChangeDraft::new("idea", by, writes)
        };
        let committed = writer.commit(draft)?;
        Ok(AddedLine::new(idea.slug, redacted, committed))
    }

    /// The ideas in Ideas.md.
    pub fn ideas(&self) -> Result<Vec<ideas::IdeaEntry>, Error> {
        let place = ideas_file();
        let Some(note) = self.read(&place)? else { return Ok(Vec::new()) };
        ideas::parse(&note.text).map_err(|error| structure_error(&place)(&error))
    }

    /// Updates REVIEW.md to `queue` without losing concurrent edits of the user (REV-02, REV-03). `known` are
    /// the earlier versions of the page; `keep` receives the new version before it is written, so that no
    /// unknown version of the page can exist.
    pub fn show_review(
        &self,
        queue: &review::ReviewPage,
        known: &[review::ShownPage],
        keep: &mut dyn FnMut(&review::ShownPage) -> std::io::Result<()>,
        by: ChangeActor,
        now: &Zoned,
    ) -> Result<ReviewPageOutcome, Error> {
        let place = ChangedFile::vault(layout::fixed_path(layout::REVIEW));
        let mut writer = self.writer(now)?;
        let read = self.read(&place)?;
        let shown = read.as_ref().and_then(|note| find_shown_page(&note.text, known));
        let text = read.as_ref().map(|note| note.text.as_str());
        let carried = match review::carry_page(text, shown.as_ref(), queue) {
            Ok(carried) => carried,
            Err(why) => return Ok(ReviewPageOutcome::Left(why.to_string())),
        };
        let remember = |error| Error::io("remember what is shown on", self.folder())(error);
        if text == Some(carried.text.as_str()) {
            // An equivalent older copy becomes the latest version.
            if known.last().is_some_and(|last| last.version != carried.shown_page.version) {
                keep(&carried.shown_page).map_err(remember)?;
            }
            return Ok(ReviewPageOutcome::Unchanged);
        }
        keep(&carried.shown_page).map_err(remember)?;
        let committed = writer.commit(ChangeDraft::new(
            "review",
            by,
            vec![FileWrite::create_or_replace(place, read, carried.text)],
        ))?;
        Ok(ReviewPageOutcome::Written(committed))
    }

    /// Writes the proposals that do not fit on the page to a file, so that recall finds them.
    pub fn show_waiting(
        &self,
        waits: &[review::ListedProposal],
        machine: Option<review::MachineId>,
        by: ChangeActor,
        now: &Zoned,
    ) -> Result<(), Error> {
        let mut writer = self.writer(now)?;
        let mut files = vec![(pending_proposals::path(machine), pending_proposals::render(waits))];
        if machine.is_some() {
            // The file name used before machines shared a vault.
            files.push((pending_proposals::path(None), String::new()));
        }
        let mut writes = Vec::new();
        for (path, text) in files {
            let place = ChangedFile::vault(path);
            match self.read(&place)? {
                Some(read) if text.is_empty() => writes.push(FileWrite::Remove { place, read }),
                Some(read) if read.text == text => {}
                None if text.is_empty() => {}
                read => writes.push(FileWrite::create_or_replace(place, read, text)),
            }
        }
        if !writes.is_empty() {
            writer.commit(ChangeDraft::new("review", by, writes))?;
        }
        Ok(())
    }

    /// The number of pending proposals: undecided on REVIEW.md, or waiting behind it. Reads files only,
    /// because hooks and the status line open no database.
    pub fn pending_review(&self) -> Result<usize, Error> {
        let place = ChangedFile::vault(layout::fixed_path(layout::REVIEW));
        let mut ids: HashSet<review::ProposalId> = HashSet::new();
        // A proposal decided on the page does not wait behind it either.
        let mut decided: HashSet<review::ProposalId> = HashSet::new();
        if let Some(note) = self.read(&place)? {
            let parsed = review::parse(&note.text).map_err(|error| structure_error(&place)(&error))?;
            for entry in &parsed.entries {
                let is_open = entry.state == review::CheckboxState::Pending;
                if is_open {
                    ids.insert(entry.id)
                } else {
                    decided.insert(entry.id)
                };
            }
        }
        for file in self.waiting_files() {
            let Some(note) = self.read(&ChangedFile::vault(file))? else { continue };
            let later = note.text.lines().filter_map(pending_proposals::parse).map(|proposal| proposal.id);
            ids.extend(later.filter(|id| !decided.contains(id)));
        }
        Ok(ids.len())
    }

    /// The files of waiting proposals, one for each machine that shares the vault.
    fn waiting_files(&self) -> Vec<VaultPath> {
        let files = std::fs::read_dir(self.folder().join(layout::META)).into_iter().flatten().flatten();
        let names = files.filter_map(|file| file.file_name().into_string().ok());
        let paths = names.map(|name| format!("{}/{name}", layout::META));
        paths
            .filter(|path| pending_proposals::is_queue_file(path))
            .filter_map(|path| VaultPath::parse(&path).ok())
            .collect()
    }
}
