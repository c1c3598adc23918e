//! The layout of the vault (FND-08, VLT-01, VLT-04, R-02), with the only list of folder names.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::path::{Error, VaultPath, slug};
use crate::base::time::{Date, compact_day, day};

/// The curated memory file.
pub const MEMORY: &str = "MEMORY.md";
/// The review queue as a document.
pub const REVIEW: &str = "REVIEW.md";
/// The log of infrastructure changes.
pub const SYSTEM_LOG: &str = "system-log.jsonl";
/// The ideas file, at the root of the notes beside the vault folder.
pub const IDEAS: &str = "Ideas.md";
/// The record of forgotten texts, so that they stay forgotten.
pub const TOMBSTONES: &str = "_meta/tombstones.jsonl";
/// Entries that are loaded at every session start.
pub const ALWAYS_LOAD: &str = "_always-load";
/// Entries that nobody has reviewed yet.
pub const INBOX_FOLDER: &str = "_inbox";
/// Earlier versions of entries.
pub const ARCHIVE: &str = "_archive";
/// Ideas and their research.
pub const INCUBATOR: &str = "_idea-incubator";
/// Watched skills of others, one folder per source.
pub const SKILL_WATCHLIST: &str = "_skill-watchlist";
/// The home note for note apps: derived, never recalled.
pub const HOME_NOTE: &str = "Rekindle.md";
/// A sortable table of all memories, for Obsidian.
pub const HOME_BASE: &str = "Rekindle.base";
/// The notes of projects for note apps: derived, never recalled.
pub const PROJECT_NOTES: &str = "_projects";
/// Machine-made data that has to travel with the vault.
pub const META: &str = "_meta";

/// The folders of a new vault.
pub const FOLDERS: [&str; 11] = [
    "memory",
    "personal-private",
    "personal-private/_always-load",
    "personal-private/_inbox",
    "personal-private/_archive",
    "personal-private/_idea-incubator",
    "personal-private/domains",
    "personal-projects",
    "personal-skills",
    SKILL_WATCHLIST,
    META,
];

/// The three groups of entries (VLT-08).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EntryGroup {
    /// Entries about the person and their work.
    PersonalPrivate,
    /// Entries about one project as a whole.
    PersonalProjects,
    /// Entries about how to do a thing.
    PersonalSkills,
}

impl EntryGroup {
    /// All groups, in listing order.
    pub const ALL: [Self; 3] = [Self::PersonalPrivate, Self::PersonalProjects, Self::PersonalSkills];

    /// The name of the group's folder.
    pub fn folder_name(self) -> &'static str {
        match self {
            Self::PersonalPrivate => "personal-private",
            Self::PersonalProjects => "personal-projects",
            Self::PersonalSkills => "personal-skills",
        }
    }
}

impl fmt::Display for EntryGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.folder_name())
    }
}

impl FromStr for EntryGroup {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|group| group.folder_name() == text).ok_or_else(|| {
            format!("`{text}` is not a group (personal-private, personal-projects, personal-skills)")
        })
    }
}

/// True for the derived notes, and for their folder with a final `/`. `path` is relative to the vault.
pub fn is_generated_note(path: &str) -> bool {
    path == HOME_NOTE || path.strip_prefix(PROJECT_NOTES).is_some_and(|rest| rest.starts_with('/'))
}

/// The note of a project. Its name begins with ours, so that it takes no link away from a daily note or from a note of
/// the person about the project.
pub fn project_note(name: &str) -> Result<VaultPath, Error> {
    VaultPath::parse(&format!("{PROJECT_NOTES}/Rekindle {}.md", slug("project", name)?))
}

/// The path of a fixed file, by its constant.
pub fn fixed_path(name: &'static str) -> VaultPath {
    VaultPath::from_parts(&[name])
}

/// The destination of a new entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryDestination {
    /// The folder of its kind in a group.
    Group(EntryGroup),
    /// The entries loaded at every session start.
    AlwaysLoad,
    /// The unreviewed entries (SID-06).
    Inbox,
}

impl EntryDestination {
    /// The group of this destination.
    pub fn group(self) -> EntryGroup {
        match self {
            Self::Group(group) => group,
            Self::AlwaysLoad | Self::Inbox => EntryGroup::PersonalPrivate,
        }
    }
}

/// `<group>/<kind>/<slug>.md` (VLT-01). Always-load entries have a separate folder, because session start
/// reads exactly that folder (BRF-06), and so does the inbox.
pub fn entry(to: EntryDestination, kind: &str, name: &str) -> Result<VaultPath, Error> {
    let file = format!("{}.md", slug("slug", name)?);
    let kind = slug("kind", kind)?;
    let folder = match to {
        EntryDestination::Group(_) => kind.as_str(),
        EntryDestination::AlwaysLoad => ALWAYS_LOAD,
        EntryDestination::Inbox => INBOX_FOLDER,
    };
    Ok(VaultPath::from_parts(&[to.group().folder_name(), folder, &file]))
}

/// The archive path of an entry: `personal-private/_archive/<original-path>.YYYYMMDD.md`, then
/// `.YYYYMMDD-2.md` and so on (VLT-04).
pub fn archive(original: &VaultPath, date: Date, nth: usize) -> Result<VaultPath, Error> {
    let number = if nth > 1 { format!("-{nth}") } else { String::new() };
    VaultPath::parse(&format!(
        "{}/{ARCHIVE}/{original}.{}{number}.md",
        EntryGroup::PersonalPrivate.folder_name(),
        compact_day(date)
    ))
}

/// The folder of an idea in the incubator (IDEA-03).
pub fn idea_folder(slug: &str) -> Result<VaultPath, Error> {
    VaultPath::parse(&format!("{}/{INCUBATOR}/{slug}", EntryGroup::PersonalPrivate.folder_name()))
}

/// The folder of an idea that became a project (IDEA-05).
pub fn project_folder(slug: &str) -> Result<VaultPath, Error> {
    VaultPath::parse(&format!("{}/{slug}", EntryGroup::PersonalProjects.folder_name()))
}

/// The archive path of a whole folder: `personal-private/_archive/<original-folder>.YYYYMMDD`, then
/// `.YYYYMMDD-2` and so on. Its files keep their names.
pub fn archived_folder(original: &VaultPath, date: Date, nth: usize) -> Result<VaultPath, Error> {
    let archived = archive(original, date, nth)?;
    VaultPath::parse(archived.as_str().strip_suffix(".md").unwrap_or(archived.as_str()))
}

/// The page of the week that ends with a day (O11-16). It lies in `_meta/`, which recall never reads.
pub fn week_page(last: Date) -> VaultPath {
    VaultPath::from_parts(&[META, &format!("week-{}.md", day(last))])
}

/// The daily log of a day: `memory/YYYY-MM-DD.md` (LOG-01).
pub fn daily_log(date: Date) -> VaultPath {
    VaultPath::from_parts(&["memory", &format!("{}.md", day(date))])
}

/// The index page of an idea: `personal-private/_idea-incubator/<slug>/_index.md` (IDEA-03).
pub fn idea(name: &str) -> Result<VaultPath, Error> {
    Ok(VaultPath::from_parts(&[
        EntryGroup::PersonalPrivate.folder_name(),
        INCUBATOR,
        &slug("title", name)?,
        "_index.md",
    ]))
}

/// The classification of a vault path by its location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VaultShelf {
    /// A current entry in a group.
    Entry(EntryGroup),
    /// A current entry that is loaded at every session start.
    AlwaysLoad,
    /// A captured entry that was not reviewed.
    Inbox,
    /// An earlier version of an entry.
    Archive,
    /// An idea or its research.
    Incubator,
    /// Anything else: fixed documents, daily logs, the person's own files.
    Other,
}

impl VaultShelf {
    /// True for current memories, which can get a new version.
    pub fn holds_memories(self) -> bool {
        matches!(self, Self::Entry(_) | Self::AlwaysLoad | Self::Inbox)
    }
}

/// Classifies a path by its location.
pub fn shelf_of(path: &VaultPath) -> VaultShelf {
    let mut parts = path.components();
    let Some(group) = parts.next().and_then(|part| part.parse::<EntryGroup>().ok()) else {
        return VaultShelf::Other;
    };
    match parts.next() {
        _ if !path.name().ends_with(".md") => VaultShelf::Other,
        Some(ALWAYS_LOAD) => VaultShelf::AlwaysLoad,
        Some(INBOX_FOLDER) => VaultShelf::Inbox,
        Some(ARCHIVE) => VaultShelf::Archive,
        Some(INCUBATOR) => VaultShelf::Incubator,
        Some(_) => VaultShelf::Entry(group),
        None => VaultShelf::Other,
    }
}

/// The name for the losing version of a conflict: `note (conflict 20261115-021308).md` (B-09).
pub fn conflict_copy(original: &VaultPath, stamp: &str) -> Result<VaultPath, Error> {
    let (stem, dot, extension) = match original.name().rsplit_once('.') {
        Some((stem, extension)) => (stem, ".", extension),
        None => (original.name(), "", ""),
    };
    let mark = format!(" (conflict {stamp}){dot}{extension}");
    let mut end = stem.len().min(super::path::MAX_NAME_BYTES - mark.len());
    while !stem.is_char_boundary(end) {
        end -= 1;
    }
    original.with_name(&format!("{}{mark}", &stem[..end]))
}

/// True if a sync tool (or Rekindle) names the losing side of a conflict like this. Such files are left in
/// place, hidden from listings and reported (SEC-07).
pub fn is_conflict_copy(name: &str) -> bool {
    const CONFLICT_MARKS: [&str; 6] =
        ["(conflict ", "(conflicted copy", "'s conflicted copy", ".sync-conflict-", "-conflict-", "_conf("];
    // A common substring of all patterns, which rules out nearly every name.
    if !name.as_bytes().windows(4).any(|part| part.eq_ignore_ascii_case(b"conf")) {
        return false;
    }
    let name = name.to_lowercase();
    CONFLICT_MARKS.iter().any(|mark| name.contains(mark))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vault::path::slug;

    /// Requirements: VLT-08.
    #[test]
    fn vlt_01_entries_have_their_place() {
        let path = entry(EntryDestination::Group(EntryGroup::PersonalPrivate), "Fix", "Staging DB").unwrap();
        assert_eq!(path.as_str(), "personal-private/fix/staging-db.md");
        assert_eq!(shelf_of(&path), VaultShelf::Entry(EntryGroup::PersonalPrivate));
        let always = entry(EntryDestination::AlwaysLoad, "rule", "No force push").unwrap();
        assert_eq!(always.as_str(), "personal-private/_always-load/no-force-push.md");
        assert_eq!(shelf_of(&always), VaultShelf::AlwaysLoad);
    }

    #[test]
    fn b_01_shared_documents_and_bookkeeping_are_no_memories() {
        for path in [
            MEMORY,
            REVIEW,
            SYSTEM_LOG,
            TOMBSTONES,
            "memory/2026-11-15.md",
            "personal-private/_archive/personal-private/fix/a.md.20261115.md",
            "personal-private/_idea-incubator/a/_index.md",
        ] {
            assert!(!shelf_of(&VaultPath::parse(path).unwrap()).holds_memories(), "{path}");
        }
        for path in ["personal-private/fix/a.md", "personal-private/_inbox/a.md"] {
            assert!(shelf_of(&VaultPath::parse(path).unwrap()).holds_memories(), "{path}");
        }
    }

    #[test]
    fn vlt_04_archive_names_never_collide() {
        let path = entry(EntryDestination::Group(EntryGroup::PersonalSkills), "howto", "x").unwrap();
        let date = "2026-11-15".parse().unwrap();
        assert_eq!(
            archive(&path, date, 1).unwrap().as_str(),
            "personal-private/_archive/personal-skills/howto/x.md.20261115.md"
        );
        assert!(archive(&path, date, 2).unwrap().as_str().ends_with("x.md.20261115-2.md"));
        assert_eq!(shelf_of(&archive(&path, date, 2).unwrap()), VaultShelf::Archive);
    }

    #[test]
    fn idea_06_a_folder_is_put_away_whole() {
        let folder = archived_folder(&idea_folder("x").unwrap(), "2026-11-15".parse().unwrap(), 2).unwrap();
        assert_eq!(
            folder.as_str(),
            "personal-private/_archive/personal-private/_idea-incubator/x.20261115-2"
        );
        let page = VaultPath::parse(&format!("{folder}/_index.md")).unwrap();
        assert_eq!(shelf_of(&page), VaultShelf::Archive);
        assert!(idea_folder("../x").is_err() && project_folder("").is_err());
    }

    #[test]
    fn the_longest_slug_still_has_an_archive_and_a_conflict_name() {
        let longest = slug("slug", &"ä".repeat(400)).unwrap();
        let path = entry(EntryDestination::Group(EntryGroup::PersonalPrivate), "fix", &longest).unwrap();
        assert!(archive(&path, "2026-11-15".parse().unwrap(), 99).is_ok());
        assert!(conflict_copy(&path, "20261115-021308").is_ok());
    }

    #[test]
    fn sec_07_conflict_files_of_sync_tools_are_known() {
        for name in [
            "a (conflicted copy 2026-01-02).md",
            "a.sync-conflict-20260102-030405-ABC.md",
            "a (Ada's conflicted copy).md",
        ] {
            assert!(is_conflict_copy(name), "{name}");
        }
        let path = VaultPath::parse("personal-private/fix/a.md").unwrap();
        let copy = conflict_copy(&path, "20261115-021308").unwrap();
        assert_eq!(copy.as_str(), "personal-private/fix/a (conflict 20261115-021308).md");
        assert!(is_conflict_copy(copy.name()) && !is_conflict_copy("merge-conflicts.md"));
    }
}
