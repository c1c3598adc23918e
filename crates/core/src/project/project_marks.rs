//! The marks that identify a project, and their comparison between two sightings.

use serde::{Deserialize, Serialize};

use super::remote::LOCAL_ID_PREFIX;
use crate::base::hash::ContentHash;
use crate::base::scope::ProjectId;

/// The maximum length of a folder name in an id. The digits after it distinguish projects.
const MAX_NAME_BYTES: usize = 40;

/// The name in an id if the folder has no printable name.
const DEFAULT_PROJECT_NAME: &str = "project";

/// The number of digits after a folder's name in an id.
const ID_HASH_DIGITS: usize = 8;

/// The identifying marks of a project at one sighting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectMarks {
    /// The project's name for people: the name of its main folder.
    pub name: String,
    /// The remote that it is pushed to, normalised by [`super::normalise_remote`].
    pub remote: Option<String>,
    /// The hash of its first commit.
    pub initial_commit: Option<String>,
    /// The folder that all its worktrees share: the git common dir, or without git the folder itself.
    pub folder: FolderMark,
    /// For a repository, the folder around its `.git`: the project's folder before `git init`.
    pub before_git: Option<FolderMark>,
    /// The top folder of a linked worktree outside of the main folder. Once the worktree is removed, nothing
    /// else identifies its project.
    pub worktree: Option<String>,
    /// True if git itself has fetched or cloned here. A configuration that was copied by hand leaves no trace of that.
    pub has_fetched: bool,
}

impl ProjectMarks {
    /// An id for a project that was never seen before.
    ///
    /// Without a remote the digits come from the first commit, so that copies agree, or else from the folder
    /// itself. Random digits would be as unique, but a hook may not write: it would give the same folder
    /// another name on every prompt until something else records one.
    pub fn new_id(&self) -> ProjectId {
        if let Some(remote) = &self.remote {
            return ProjectId::new(remote.as_str());
        }
        let digits = match &self.initial_commit {
            Some(commit) => commit.chars().take(ID_HASH_DIGITS).collect(),
            None => self.folder.digits(),
        };
        ProjectId::new(format!("{LOCAL_ID_PREFIX}/{}-{digits}", safe_name(&self.name)))
    }

    /// The name to display: the server's name for it, else its folder's, without control characters.
    pub fn display_name(&self) -> String {
        let on_server = self.remote.as_deref().filter(|remote| !is_local(remote));
        let name = on_server.and_then(|remote| remote.rsplit('/').next()).unwrap_or(&self.name);
        let name: String = name.chars().filter(|c| !c.is_control()).collect();
        if name.is_empty() { DEFAULT_PROJECT_NAME.to_owned() } else { name }
    }
}

/// The identity of one folder on this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FolderMark {
    /// The canonical path, with invalid UTF-8 replaced.
    pub path: String,
    /// The device number. Systems assign device numbers anew at every start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<u64>,
    /// The inode on that device. A move keeps it, a copy does not, and it is reused once the folder is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inode: Option<u64>,
    /// The birth time in nanoseconds since 1970. Distinguishes a folder from a later one with the same inode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub born: Option<i64>,
}

/// The relation of a folder seen now to one seen before, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum FolderRelation {
    /// A different folder, even if it has taken the path or the inode of the old one.
    Elsewhere,
    /// The same path, and nothing known contradicts it.
    SamePath,
    /// The same folder at another path.
    Moved,
    /// The same folder at the same path.
    Here,
}

impl FolderMark {
    pub(super) fn relation_to(&self, before: &Self) -> FolderRelation {
        let same_path = self.path == before.path;
        let same_birth = both_known_and_equal(self.born, before.born);
        if same_birth == Some(false) || both_known_and_equal(self.inode, before.inode) == Some(false) {
            return FolderRelation::Elsewhere;
        }
        let same_inode = both_known_and_equal(self.inode, before.inode) == Some(true);
        let same_device = both_known_and_equal(self.device, before.device) == Some(true);
        // An inode alone may have been reused: without a birth time it proves no move.
        if same_inode && same_device && same_birth == Some(true) {
            if same_path { FolderRelation::Here } else { FolderRelation::Moved }
        } else if same_path && (same_inode && same_device || same_birth == Some(true)) {
            FolderRelation::Here
        } else if same_path {
            FolderRelation::SamePath
        } else {
            FolderRelation::Elsewhere
        }
    }

    /// True if `other` already has everything that this mark says. A folder that is gone has only its path.
    pub(super) fn is_subset_of(&self, other: &Self) -> bool {
        self == other || (self.path == other.path && self.inode.is_none() && self.born.is_none())
    }

    /// The digits for an id. The device is left out, because it changes when the machine restarts.
    fn digits(&self) -> String {
        let number = |value: Option<u64>| value.unwrap_or_default().to_le_bytes();
        let born = self.born.unwrap_or_default().to_le_bytes();
        ContentHash::of_parts(&[self.path.as_bytes(), &number(self.inode), &born]).short_hex(ID_HASH_DIGITS)
    }
}

/// True if an id was made on this machine, not taken from a server.
pub(super) fn is_local(id: &str) -> bool {
    id.split('/').next() == Some(LOCAL_ID_PREFIX)
}

/// True if two values agree; `None` if either is unknown.
fn both_known_and_equal<T: PartialEq>(one: Option<T>, other: Option<T>) -> Option<bool> {
    Some(one? == other?)
}

/// A folder's name as allowed in an id: lower case, digits and `-_.`, never empty.
fn safe_name(name: &str) -> String {
    let mut safe = String::with_capacity(name.len());
    for c in name.chars() {
        let c = if c.is_ascii_alphanumeric() || "_.".contains(c) { c.to_ascii_lowercase() } else { '-' };
        // Collapse runs of `-` and of `.`, so that neither `..` nor a flag can appear.
        if !(safe.ends_with(c) && "-.".contains(c)) {
            safe.push(c);
        }
    }
    safe.truncate(MAX_NAME_BYTES);
    let safe = safe.trim_matches(['-', '.']);
    if safe.is_empty() { DEFAULT_PROJECT_NAME.to_owned() } else { safe.to_owned() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn folder(path: &str, device: u64, inode: u64, born: Option<i64>) -> FolderMark {
        FolderMark { path: path.to_owned(), device: Some(device), inode: Some(inode), born }
    }

    fn marks(name: &str) -> ProjectMarks {
        let folder = folder("/a/.git", 1, 2, Some(3));
        ProjectMarks {
            name: name.to_owned(),
            remote: None,
            initial_commit: None,
            folder,
            before_git: None,
            worktree: None,
            has_fetched: true,
        }
    }

    #[test]
    fn b_05_a_folder_is_known_by_number_and_birth() {
        let before = folder("/a", 1, 2, Some(3));
        let now = |path, device, inode, born| folder(path, device, inode, born).relation_to(&before);
        assert_eq!(now("/a", 1, 2, Some(3)), FolderRelation::Here);
        assert_eq!(now("/b", 1, 2, Some(3)), FolderRelation::Moved);
        assert_eq!(now("/a", 1, 9, Some(3)), FolderRelation::Elsewhere, "another folder took the path");
        assert_eq!(
            now("/a", 1, 2, Some(4)),
            FolderRelation::Elsewhere,
            "another folder took path and number"
        );
        assert_eq!(now("/b", 1, 2, Some(4)), FolderRelation::Elsewhere, "another folder took the number");
        assert_eq!(
            now("/b", 1, 2, None),
            FolderRelation::Elsewhere,
            "a number without a birth proves no move"
        );
        assert_eq!(now("/a", 1, 2, None), FolderRelation::Here);
        assert_eq!(now("/a", 8, 2, None), FolderRelation::SamePath, "devices are numbered anew at a start");
        assert_eq!(now("/a", 8, 2, Some(3)), FolderRelation::Here);
        assert_eq!(now("/b", 8, 2, Some(3)), FolderRelation::Elsewhere);
    }

    #[test]
    fn where_folders_have_no_numbers_birth_and_path_do() {
        let windows =
            |path: &str, born| FolderMark { path: path.to_owned(), device: None, inode: None, born };
        let before = windows("C:/a", Some(3));
        assert_eq!(windows("C:/a", Some(3)).relation_to(&before), FolderRelation::Here);
        assert_eq!(windows("C:/a", Some(4)).relation_to(&before), FolderRelation::Elsewhere);
        assert_eq!(windows("C:/b", Some(3)).relation_to(&before), FolderRelation::Elsewhere);
        assert_eq!(windows("C:/a", None).relation_to(&before), FolderRelation::SamePath);
    }

    #[test]
    fn b_05_ids_without_a_remote() {
        let mut first = marks("My Widgets!");
        assert!(first.new_id().as_str().starts_with("local/my-widgets-"));
        assert_eq!(first.new_id(), first.new_id(), "a hook that cannot write gives the same answer twice");
        let unborn = first.new_id();
        first.folder.device = Some(77);
        assert_eq!(first.new_id(), unborn);
        first.folder.born = Some(4);
        assert_ne!(first.new_id(), unborn);
        first.initial_commit = Some("1a2b3c4d5e".repeat(4));
        assert_eq!(first.new_id().as_str(), "local/my-widgets-1a2b3c4d");
        first.remote = Some("github.com/acme/widgets".to_owned());
        assert_eq!(first.new_id().as_str(), "github.com/acme/widgets");
    }

    #[test]
    fn a_project_is_called_what_its_server_calls_it() {
        let mut marks = marks("Wid\u{1b}[31mgets\n");
        assert_eq!(marks.display_name(), "Wid[31mgets");
        marks.remote = Some("local/other-1a2b3c4d".to_owned());
        assert_eq!(marks.display_name(), "Wid[31mgets");
        marks.remote = Some("gitlab.com/acme/tools/gadgets".to_owned());
        assert_eq!(marks.display_name(), "gadgets");
        (marks.remote, marks.name) = (None, String::new());
        assert_eq!(marks.display_name(), "project");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        #[test]
        fn any_folder_name_makes_a_safe_id(name in any::<String>()) {
            let id = marks(&name).new_id();
            let text = id.as_str();
            prop_assert!(text.len() <= "local/".len() + MAX_NAME_BYTES + 1 + ID_HASH_DIGITS);
            prop_assert!(text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_./".contains(&b)), "{}", text);
            prop_assert_eq!(text.matches('/').count(), 1);
            prop_assert!(!text.contains("..") && !text.contains("/-") && !text.contains("/."), "{}", text);
        }
    }
}
