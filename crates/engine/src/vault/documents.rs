//! The documents that several hands write: MEMORY.md, Ideas.md, the system log. Each change reads the
//! document under the lock, lets `core` decide what it becomes, and commits exactly that.

use std::collections::HashSet;
use std::path::PathBuf;

use rekindle_core::base::id::ChangeId;
use rekindle_core::base::provenance::Provenance;
use rekindle_core::base::scope::Scope;
use rekindle_core::base::time::{Date, Timestamp, Zoned};
use rekindle_core::text::admit;
use rekindle_core::text::normal::normalised;
use rekindle_core::text::redact::Counts;
use rekindle_core::vault::entry::{Entry, Status};
use rekindle_core::vault::frontmatter::Note;
use rekindle_core::vault::ideas::{self, Idea};
use rekindle_core::vault::journal::{Actor, Permission, Place, Root};
use rekindle_core::vault::layout::{self, Group};
use rekindle_core::vault::memory::{self, Mark};
use rekindle_core::vault::path::{VaultPath, slug};
use rekindle_core::vault::{review, system_log, waiting};

use super::incubator::SURFACED;
use super::{Committed, Draft, Error, Vault, Write};
use crate::platform::random;

/// A line that was added to a document.
#[derive(Clone, Debug)]
pub struct LineAdded<T> {
    /// What became of it.
    pub outcome: T,
    /// The change that made it; `None` if nothing had to change.
    pub change: Option<ChangeId>,
    /// The secrets that were left out.
    pub redacted: Counts,
    /// Somebody's edits that came in between and are kept here.
    pub conflicts: Vec<PathBuf>,
}

impl<T> LineAdded<T> {
    fn new(outcome: T, redacted: Counts, committed: Committed) -> Self {
        Self { outcome, change: committed.change, redacted, conflicts: committed.conflicts }
    }
}

/// An idea to be written down.
#[derive(Clone, Debug)]
pub struct NewIdea<'a> {
    /// A few words.
    pub title: &'a str,
    /// A sentence or two.
    pub summary: &'a str,
    /// Whose idea, and from where.
    pub provenance: Provenance,
    /// Where its page and its section in Ideas.md are shown.
    pub scope: Scope,
    /// What it has to do with: links to notes, one each (IDEA-03).
    pub related: Vec<String>,
    /// When it was said; `None`: now.
    pub said_at: Option<Timestamp>,
}

/// The verb of a change that promotes.
pub const PROMOTE: &str = "promote";

/// An approved proposal.
#[derive(Clone, Copy, Debug)]
pub struct Promotion<'a> {
    /// The section it is meant for.
    pub section: &'a str,
    /// What it says.
    pub statement: &'a str,
    /// The line that it takes the place of.
    pub supersedes: Option<&'a str>,
    /// Its id, and whose words support it.
    pub mark: &'a Mark,
    /// When it was said last; `None`: now.
    pub said: Option<Timestamp>,
}

impl Promotion<'_> {
    /// The day that its line carries, in the person's zone.
    fn day(&self, now: &Zoned) -> Date {
        self.said.map_or_else(|| now.clone(), |said| said.to_zoned(now.time_zone().clone())).date()
    }
}

/// What became of an approved proposal in MEMORY.md.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Promoted {
    /// Where its statement is.
    pub outcome: memory::Outcome,
    /// Whether a line was struck for it.
    pub replaced: bool,
}

/// What a promotion would do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Previewed {
    /// MEMORY.md as it is.
    pub before: String,
    /// MEMORY.md as it would be.
    pub after: String,
    /// What would become of the statement.
    pub outcome: Promoted,
}

/// MEMORY.md with an approved statement in it, and whether a line was struck for it.
fn promoted(
    place: &Place,
    text: &str,
    new: &Promotion<'_>,
    statement: &str,
    now: &Zoned,
) -> Result<(memory::Change, bool), Error> {
    let (broken, date) = (structure(place), new.day(now));
    let old = memory::sections(text).map_err(|error| broken(&error))?;
    let items = old.iter().flat_map(|section| &section.items);
    // A line that holds in more places than the new one stays: there it is not replaced.
    let reaches = |item: &memory::Item| match (&item.project, &new.mark.project) {
        (_, None) => true,
        (Some(old), Some(new)) => new.is_called(old.as_str()),
        (None, Some(_)) => false,
    };
    let replaced = new.supersedes.and_then(|gone| {
        let mut standing = items.clone().filter(|item| item.superseded.is_none() && reaches(item));
        standing.find(|item| normalised(&item.text) == normalised(gone))
    });
    let changed = match replaced {
        Some(item) => memory::supersede(text, item, date, statement, new.mark),
        None => memory::append(text, new.section, date, statement, new.mark),
    };
    let changed = changed.map_err(|error| broken(&error))?;
    let after = memory::sections(&changed.text).map_err(|error| broken(&error))?;
    let mut after = after.iter().flat_map(|section| &section.items);
    // Every line that was there is there, in order (REV-13).
    let is_kept = |kept: &memory::Item, item: &memory::Item| {
        kept.text == item.text && kept.date == item.date && kept.project == item.project
    };
    if !items.clone().all(|item| after.any(|kept| is_kept(kept, item))) {
        return Err(broken(&"the text would change the lines around it; edit it, then approve it again"));
    }
    Ok((changed, replaced.is_some()))
}

/// What became of the page of proposals.
#[derive(Debug)]
pub enum ReviewShown {
    /// It shows what waits.
    Written(Committed),
    /// It did already.
    Unchanged,
    /// It stays as it is, for this reason; what waits is in the store.
    Left(String),
}

/// What a page showed when it was written: by the version it carries, and the last one if somebody took that away. Of an
/// older copy only what is on it counts as shown, so that nothing it lacks was deleted by anybody.
fn shown_on(text: &str, known: &[review::Shown]) -> Option<review::Shown> {
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

pub(super) fn ideas_place() -> Place {
    Place { root: Root::Notes, path: layout::fixed(layout::IDEAS) }
}

pub(super) fn structure(place: &Place) -> impl Fn(&dyn std::fmt::Display) -> Error + use<> {
    let path = place.to_string();
    move |why| Error::Structure { path: path.clone(), why: why.to_string() }
}

impl Vault {
    /// Adds a statement to a section of MEMORY.md (REV-12, VLT-09). A vault without one gets it first.
    pub fn remember(
        &self,
        user: &str,
        section: &str,
        statement: &str,
        mark: &Mark,
        by: Actor,
        now: &Zoned,
    ) -> Result<LineAdded<memory::Outcome>, Error> {
        let admitted = admit(statement);
        let place = Place::vault(layout::fixed(layout::MEMORY));
        let mut writer = self.writer(now)?;
        let read = self.read(&place)?;
        let text = read.as_ref().map_or_else(|| memory::render_new(user), |note| note.text.clone());
        let changed = memory::append(&text, section, now.date(), &admitted.text, mark)
            .map_err(|error| structure(&place)(&error))?;
        let write = Write::put(place, read, changed.text);
        let committed = writer.commit(Draft::new("memory", by, vec![write]))?;
        Ok(LineAdded::new(changed.outcome, admitted.redacted, committed))
    }

    /// Puts an approved proposal where it belongs in MEMORY.md, as a change that `undo` takes back (REV-12, REV-13). A line
    /// that it was to take the place of is struck and stays; if it is not there any more, the statement stands by itself.
    pub fn promote(
        &self,
        user: &str,
        new: &Promotion<'_>,
        by: Actor,
        now: &Zoned,
    ) -> Result<LineAdded<Promoted>, Error> {
        let admitted = admit(new.statement);
        let place = Place::vault(layout::fixed(layout::MEMORY));
        let mut writer = self.writer(now)?;
        if self.read(&place)?.is_none() {
            // A change of its own, so that taking the promotion back leaves the rest.
            let text = memory::render_new(user);
            writer.commit(Draft::new("memory", by, vec![Write::Create { place: place.clone(), text }]))?;
        }
        let read = self.read(&place)?.ok_or_else(|| Error::NotFound(place.to_string()))?;
        let (changed, replaced) = promoted(&place, &read.text, new, &admitted.text, now)?;
        let outcome = Promoted { outcome: changed.outcome, replaced };
        let write = Write::Replace { place, read, text: changed.text };
        let committed = writer.commit(Draft::new(PROMOTE, by, vec![write]))?;
        Ok(LineAdded::new(outcome, admitted.redacted, committed))
    }

    /// MEMORY.md as it is, and as [`Vault::promote`] would leave it.
    pub fn preview(&self, user: &str, new: &Promotion<'_>, now: &Zoned) -> Result<Previewed, Error> {
        let place = Place::vault(layout::fixed(layout::MEMORY));
        let read = self.read(&place)?;
        let before = read.map_or_else(|| memory::render_new(user), |note| note.text);
        let (changed, replaced) = promoted(&place, &before, new, &admit(new.statement).text, now)?;
        let outcome = Promoted { outcome: changed.outcome, replaced };
        Ok(Previewed { before, after: changed.text, outcome })
    }

    /// Adds a line to the system log (FND-05).
    pub fn log_system(&self, line: &system_log::Line, by: Actor, now: &Zoned) -> Result<Committed, Error> {
        let place = Place::vault(layout::fixed(layout::SYSTEM_LOG));
        let mut writer = self.writer(now)?;
        let read = self.read(&place)?;
        let text = system_log::append(read.as_ref().map_or("", |note| &note.text), line);
        writer.commit(Draft::new("slog", by, vec![Write::put(place, read, text)]))
    }

    /// The system log.
    pub fn system_log(&self) -> Result<system_log::Log, Error> {
        let read = self.read(&Place::vault(layout::fixed(layout::SYSTEM_LOG)))?;
        Ok(read.map(|note| system_log::parse(&note.text)).unwrap_or_default())
    }

    /// Writes an idea down: a section in Ideas.md and its folder in the incubator, as one change (IDEA-02, IDEA-03).
    pub fn add_idea(&self, new: &NewIdea<'_>, by: Actor, now: &Zoned) -> Result<LineAdded<String>, Error> {
        let (title, summary) = (admit(new.title), admit(new.summary));
        let mut redacted = title.redacted;
        redacted.merge(&summary.redacted);
        let said_at = new.said_at.unwrap_or_else(|| now.timestamp());
        let idea = Idea {
            date: said_at.to_zoned(now.time_zone().clone()).date(),
            slug: slug("title", &title.text)?,
            title: title.text,
            summary: summary.text,
            project: new.scope.project().cloned(),
        };
        let id = random::entry_id().map_err(Error::io("get random bytes for", self.folder()))?;
        let entry = Entry {
            id: Some(id),
            kind: "idea".to_owned(),
            status: Status::Incubating,
            created: Some(said_at),
            updated: Some(said_at),
            tags: Vec::new(),
            group: Group::PersonalPrivate.word().to_owned(),
            scope: new.scope.clone(),
            always_load: false,
            supersedes: None,
            superseded_by: None,
            confidence: None,
            sentiment: None,
            provenance: new.provenance.clone(),
        };
        let index = Place::vault(layout::idea(&idea.slug)?);
        let ledger = ideas_place();
        let mut writer = self.writer(now)?;
        let read = self.read(&ledger)?;
        let text = ideas::append(read.as_ref().map_or("", |note| &note.text), &self.folder_name(), &idea)
            .map_err(|error| structure(&ledger)(&error))?;
        let mut body = format!("# {}\n\n{}\n", idea.title, idea.summary);
        if !new.related.is_empty() {
            body.push_str("\n## Related\n\n");
            new.related.iter().for_each(|link| body.push_str(&format!("- {link}\n")));
        }
        let mut page = entry.render(&body);
        if let Some(session) = &new.provenance.session {
            page = Note::parse(&page)
                .and_then(|note| Ok(note.head_with(&[(SURFACED, Some(session))])? + note.body()))
                .map_err(|source| Error::Document { path: index.to_string(), source })?;
        }
        let writes = vec![Write::Create { place: index, text: page }, Write::put(ledger, read, text)];
        let draft = Draft { permission: Some(Permission::Standing), ..Draft::new("idea", by, writes) };
        let committed = writer.commit(draft)?;
        Ok(LineAdded::new(idea.slug, redacted, committed))
    }

    /// The ideas in Ideas.md.
    pub fn ideas(&self) -> Result<Vec<ideas::Entry>, Error> {
        let place = ideas_place();
        let Some(note) = self.read(&place)? else { return Ok(Vec::new()) };
        ideas::parse(&note.text).map_err(|error| structure(&place)(&error))
    }

    /// Brings REVIEW.md up to `queue` without taking anything from the person who may be at it (REV-02, REV-03). `known`
    /// are the pages that were written before; `keep` is called with what the page will show before it shows it, so that
    /// no page is out there that we do not know.
    pub fn show_review(
        &self,
        queue: &review::Queue,
        known: &[review::Shown],
        renamed: &review::Renamed,
        keep: &mut dyn FnMut(&review::Shown) -> std::io::Result<()>,
        by: Actor,
        now: &Zoned,
    ) -> Result<ReviewShown, Error> {
        let place = Place::vault(layout::fixed(layout::REVIEW));
        let mut writer = self.writer(now)?;
        let read = self.read(&place)?;
        let shown = read.as_ref().and_then(|note| shown_on(&note.text, known));
        let text = read.as_ref().map(|note| note.text.as_str());
        let carried = match review::carry(text, shown.as_ref(), queue, renamed) {
            Ok(carried) => carried,
            Err(why) => return Ok(ReviewShown::Left(why.to_string())),
        };
        let remember = |error| Error::io("remember what is shown on", self.folder())(error);
        if text == Some(carried.text.as_str()) {
            // An older copy that is as good as the last one is the last one from now on.
            if known.last().is_some_and(|last| last.version != carried.shown.version) {
                keep(&carried.shown).map_err(remember)?;
            }
            return Ok(ReviewShown::Unchanged);
        }
        keep(&carried.shown).map_err(remember)?;
        let committed =
            writer.commit(Draft::new("review", by, vec![Write::put(place, read, carried.text)]))?;
        Ok(ReviewShown::Written(committed))
    }

    /// Writes down what waits behind the page, so that it can be recalled.
    pub fn show_waiting(
        &self,
        waits: &[review::Proposal],
        machine: Option<review::Machine>,
        by: Actor,
        now: &Zoned,
    ) -> Result<(), Error> {
        let mut writer = self.writer(now)?;
        let mut files = vec![(waiting::path(machine), waiting::render(waits))];
        if machine.is_some() {
            // From before it had company.
            files.push((waiting::path(None), String::new()));
        }
        let mut writes = Vec::new();
        for (path, text) in files {
            let place = Place::vault(path);
            match self.read(&place)? {
                Some(read) if text.is_empty() => writes.push(Write::Remove { place, read }),
                Some(read) if read.text == text => {}
                None if text.is_empty() => {}
                read => writes.push(Write::put(place, read, text)),
            }
        }
        if !writes.is_empty() {
            writer.commit(Draft::new("review", by, writes))?;
        }
        Ok(())
    }

    /// How many proposals wait: undecided on REVIEW.md, or behind it until there is room. From the files alone, because
    /// hooks and the status line open no database.
    pub fn pending_review(&self) -> Result<usize, Error> {
        let place = Place::vault(layout::fixed(layout::REVIEW));
        let mut ids: HashSet<review::Id> = HashSet::new();
        // What is decided on the page does not wait behind it either.
        let mut decided: HashSet<review::Id> = HashSet::new();
        if let Some(note) = self.read(&place)? {
            let parsed = review::parse(&note.text).map_err(|error| structure(&place)(&error))?;
            for entry in &parsed.entries {
                let is_open = entry.state == review::State::Pending;
                if is_open {
                    ids.insert(entry.id)
                } else {
                    decided.insert(entry.id)
                };
            }
        }
        for file in self.waiting_files() {
            let Some(note) = self.read(&Place::vault(file))? else { continue };
            let later = note.text.lines().filter_map(waiting::parse).map(|proposal| proposal.id);
            ids.extend(later.filter(|id| !decided.contains(id)));
        }
        Ok(ids.len())
    }

    /// The files of what waits behind the page, one of every machine that shares the vault.
    fn waiting_files(&self) -> Vec<VaultPath> {
        let files = std::fs::read_dir(self.folder().join(layout::META)).into_iter().flatten().flatten();
        let names = files.filter_map(|file| file.file_name().into_string().ok());
        let paths = names.map(|name| format!("{}/{name}", layout::META));
        paths.filter(|path| waiting::is_one(path)).filter_map(|path| VaultPath::parse(&path).ok()).collect()
    }
}
