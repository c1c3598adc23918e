//! The journal of vault changes, and their reversal (B-09).
//!
//! A change is a list of operations on files. It stores hashes of whole files but text only of the changed
//! ranges. So the journal stays small and records exactly what a change did.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::base::hash::ContentHash;
use crate::base::id::ChangeId;
use crate::vault::path::VaultPath;

/// The number of context bytes stored around a change, to find its place in a file that was edited since.
const CONTEXT_BYTES: usize = 48;

/// The folder that a path is relative to. All except the vault need a permission (VLT-07).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeRoot {
    /// The vault folder, `MemoryVault/`.
    Vault,
    /// The person's notes around the vault.
    Notes,
    /// The folder of identity files.
    Identity,
}

/// The location of a changed file.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ChangedFile {
    /// The folder it is relative to.
    pub root: ChangeRoot,
    /// The path below that folder.
    pub path: VaultPath,
}

impl ChangedFile {
    /// A file in the vault.
    pub fn vault(path: VaultPath) -> Self {
        Self { root: ChangeRoot::Vault, path }
    }
}

impl From<ChangedFile> for String {
    fn from(place: ChangedFile) -> Self {
        // A colon cannot occur in a vault path, so the prefix is unambiguous.
        match place.root {
            ChangeRoot::Vault => place.path.into(),
            ChangeRoot::Notes => format!("notes:{}", place.path),
            ChangeRoot::Identity => format!("identity:{}", place.path),
        }
    }
}

impl TryFrom<String> for ChangedFile {
    type Error = crate::vault::path::Error;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let (root, path) = match text.split_once(':') {
            Some(("notes", path)) => (ChangeRoot::Notes, path),
            Some(("identity", path)) => (ChangeRoot::Identity, path),
            _ => (ChangeRoot::Vault, text.as_str()),
        };
        Ok(Self { root, path: VaultPath::parse(path)? })
    }
}

impl std::fmt::Display for ChangedFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&String::from(self.clone()))
    }
}

/// The permission for a write outside the vault; recorded with the change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WritePermission {
    /// The standing permission for `Ideas.md`, the only one.
    Standing,
    /// The person ran the command that does exactly this.
    Asked,
}

/// The author of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeActor {
    /// The person, through a command.
    User,
    /// An agent, through a tool.
    Agent,
    /// Rekindle itself, in the background.
    Worker,
}

impl ChangeActor {
    /// The author's name in listings.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "you",
            Self::Agent => "agent",
            Self::Worker => "rekindle",
        }
    }
}

/// Verbs of changes that only follow another change: the page of proposals, and receipts of decisions.
pub const BOOKKEEPING_VERBS: [&str; 3] = ["review", "receipt", "week"];

/// A replaced range: position, old text, new text, and some context.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RangePatch {
    at: usize,
    removed: String,
    inserted: String,
    lead: String,
    trail: String,
}

/// The reason why a patch cannot be reversed.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum PatchError {
    /// The changed place was edited again since.
    #[error("the lines it wrote have changed since")]
    Gone,
    /// The new text occurs more than once.
    #[error("the lines it wrote now occur more than once")]
    Ambiguous,
}

impl RangePatch {
    /// The smallest single range that turns `before` into `after`.
    pub fn from_texts(before: &str, after: &str) -> Self {
        let shortest = before.len().min(after.len());
        let same = |(a, b): &(u8, u8)| a == b;
        let mut start = before.bytes().zip(after.bytes()).take_while(same).count();
        while !(before.is_char_boundary(start) && after.is_char_boundary(start)) {
            start -= 1;
        }
        let mut end =
            before.bytes().rev().zip(after.bytes().rev()).take_while(same).count().min(shortest - start);
        while !(before.is_char_boundary(before.len() - end) && after.is_char_boundary(after.len() - end)) {
            end -= 1;
        }
        let (lead, trail) = (&before[..start], &before[before.len() - end..]);
        Self {
            at: start,
            removed: before[start..before.len() - end].to_owned(),
            inserted: after[start..after.len() - end].to_owned(),
            lead: lead[ceil(lead, lead.len().saturating_sub(CONTEXT_BYTES))..].to_owned(),
            trail: trail[..ceil(trail, trail.len().min(CONTEXT_BYTES))].to_owned(),
        }
    }

    /// The patch that appends `inserted` to a text of `at` bytes that ends in `end`.
    pub fn from_append(at: usize, end: &str, inserted: String) -> Self {
        let lead = end[ceil(end, end.len().saturating_sub(CONTEXT_BYTES))..].to_owned();
        Self { at, removed: String::new(), inserted, lead, trail: String::new() }
    }

    /// Reverses the change. If `now` differs from the text after the change, the place is found by the new
    /// text and its context. A place that is gone or ambiguous is an error, never a guess.
    pub fn reverse(&self, now: &str) -> Result<String, PatchError> {
        let replaced = self.find_range(now)?;
        Ok([&now[..replaced.start], &self.removed, &now[replaced.end..]].concat())
    }

    fn find_range(&self, now: &str) -> Result<Range<usize>, PatchError> {
        let around = [&self.lead, self.inserted.as_str(), &self.trail].concat();
        let whole = |start: usize| start..start + self.inserted.len();
        let expected = self.at.checked_sub(self.lead.len());
        if let Some(start) = expected
            && now.get(start..).is_some_and(|rest| rest.starts_with(&around))
        {
            return Ok(whole(self.at));
        }
        match only_match(now, &around) {
            // The context may have changed, but the new text must still occur exactly once.
            Err(PatchError::Gone) => match only_match(now, &self.inserted) {
                Err(PatchError::Gone) if self.removed.trim().is_empty() => self.lines_place(now),
                found => found.map(whole),
            },
            found => found.map(|start| whole(start + self.lead.len())),
        }
    }

    /// The range of added lines without the blank lines around them, which may be shared with lines added
    /// since.
    fn lines_place(&self, now: &str) -> Result<Range<usize>, PatchError> {
        let lines = self.inserted.trim_matches(['\n', '\r']);
        let start = only_match(now, lines)?;
        let rest = &now[start + lines.len()..];
        let ending = ["\r\n", "\n"].into_iter().find(|ending| rest.starts_with(ending)).unwrap_or("");
        let whole_lines = now[..start].is_empty() || now[..start].ends_with('\n');
        match whole_lines && (!ending.is_empty() || rest.is_empty()) {
            true => Ok(start..start + lines.len() + ending.len()),
            false => Err(PatchError::Gone),
        }
    }

    /// The text that was removed.
    pub fn removed(&self) -> &str {
        &self.removed
    }

    /// The text that was inserted.
    pub fn inserted(&self) -> &str {
        &self.inserted
    }

    /// True if any text in this patch satisfies `test`.
    pub fn any_text(&self, test: impl Fn(&str) -> bool) -> bool {
        let Self { at: _, removed, inserted, lead, trail } = self;
        [removed, inserted, lead, trail].into_iter().any(|text| test(text))
    }
}

/// `index`, or the next character boundary of `text` after it.
fn ceil(text: &str, mut index: usize) -> usize {
    while !text.is_char_boundary(index) {
        index += 1;
    }
    index
}

fn only_match(text: &str, wanted: &str) -> Result<usize, PatchError> {
    if wanted.is_empty() {
        return Err(PatchError::Gone);
    }
    let first = text.find(wanted).ok_or(PatchError::Gone)?;
    match text[first + 1..].is_char_boundary(0) && text[ceil(text, first + 1)..].contains(wanted) {
        true => Err(PatchError::Ambiguous),
        false => Ok(first),
    }
}

/// The change of one file. The text of a range becomes `None` once it is forgotten.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "lowercase")]
pub enum FileOperation {
    /// A file was created.
    Create {
        /// The location of the file.
        place: ChangedFile,
        /// The hash of its content.
        after: ContentHash,
    },
    /// A file was changed.
    Edit {
        /// The location of the file.
        place: ChangedFile,
        /// The hash before the change.
        before: ContentHash,
        /// The hash after the change.
        after: ContentHash,
        /// The difference; `None` once it is forgotten.
        patch: Option<RangePatch>,
    },
    /// A file grew at its end, in place.
    Append {
        /// The location of the file.
        place: ChangedFile,
        /// The hash before the change.
        before: ContentHash,
        /// The size before the change, in bytes.
        size: u64,
        /// The hash after the change.
        after: ContentHash,
        /// The appended text; `None` once it is forgotten.
        patch: Option<RangePatch>,
    },
    /// A file was removed, as the reversal of [`FileOperation::Create`].
    Remove {
        /// The location of the file.
        place: ChangedFile,
        /// The hash of its content.
        before: ContentHash,
        /// The text of the file; `None` once it is forgotten.
        text: Option<String>,
    },
    /// A file was moved, whatever its content.
    Move {
        /// The location after the move.
        place: ChangedFile,
        /// The location before the move.
        from: ChangedFile,
        /// The hash of its content.
        before: ContentHash,
    },
    /// A forgotten operation. A file name reveals as much as the text, so neither is kept.
    Forgotten,
}

impl FileOperation {
    /// The location of the file; `None` once it is forgotten.
    pub fn changed_file(&self) -> Option<&ChangedFile> {
        match self {
            Self::Create { place, .. }
            | Self::Edit { place, .. }
            | Self::Append { place, .. }
            | Self::Remove { place, .. }
            | Self::Move { place, .. } => Some(place),
            Self::Forgotten => None,
        }
    }

    /// All locations that it touched.
    pub fn changed_files(&self) -> impl Iterator<Item = &ChangedFile> {
        let from = match self {
            Self::Move { from, .. } => Some(from),
            _ => None,
        };
        self.changed_file().into_iter().chain(from)
    }

    /// True if the operation still has the data to reverse it.
    pub fn can_be_undone(&self) -> bool {
        match self {
            Self::Create { .. } | Self::Move { .. } => true,
            Self::Edit { patch, .. } | Self::Append { patch, .. } => patch.is_some(),
            Self::Remove { text, .. } => text.is_some(),
            Self::Forgotten => false,
        }
    }

    /// Drops stored text of a file that stays.
    pub fn forget_text(&mut self) {
        match self {
            Self::Edit { patch, .. } | Self::Append { patch, .. } => *patch = None,
            Self::Remove { text, .. } => *text = None,
            Self::Create { .. } | Self::Move { .. } | Self::Forgotten => {}
        }
    }

    /// True if any stored text satisfies `test`.
    pub fn any_text(&self, test: impl Fn(&str) -> bool) -> bool {
        match self {
            Self::Edit { patch: Some(patch), .. } | Self::Append { patch: Some(patch), .. } => {
                patch.any_text(test)
            }
            Self::Remove { text: Some(text), .. } => test(text),
            _ => false,
        }
    }
}

/// One change, applied atomically.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VaultChange {
    /// The id, which sorts by time.
    pub id: ChangeId,
    /// The time in ISO 8601.
    pub at: String,
    /// The command: `save`, `evolve`, `undo`, `forget`, …
    pub verb: String,
    /// The author of the change.
    pub by: ChangeActor,
    /// The permission to write outside the vault.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission: Option<WritePermission>,
    /// The change that it reverses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undoes: Option<ChangeId>,
    /// The proposal that it carries out, if its text does not name it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// The operations, in order.
    pub ops: Vec<FileOperation>,
}

impl VaultChange {
    /// True if it only follows another change.
    pub fn is_bookkeeping(&self) -> bool {
        BOOKKEEPING_VERBS.contains(&self.verb.as_str())
    }

    /// True if a person made it by a command.
    pub fn is_by_user(&self) -> bool {
        self.by == ChangeActor::User && !self.is_bookkeeping()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_patch_holds_only_the_changed_range() {
        let patch = RangePatch::from_texts("one\ntwo\nthree\n", "one\n2\nthree\n");
        assert_eq!((patch.removed.as_str(), patch.inserted.as_str()), ("two", "2"));
    }

    #[test]
    fn b_09_a_change_is_taken_back_after_others_came() {
        let before = "# Memory\n\n- a\n";
        let after = "# Memory\n\n- a\n- b\n";
        let patch = RangePatch::from_texts(before, after);
        let now = "# Memory of Ada\n\n- zero\n- a\n- b\n- c\n";
        assert_eq!(patch.reverse(now).unwrap(), "# Memory of Ada\n\n- zero\n- a\n- c\n");
        assert_eq!(patch.reverse("# Memory\n\n- a\n- B!\n"), Err(PatchError::Gone));
        assert_eq!(patch.reverse("- b\n x - b\n"), Err(PatchError::Ambiguous));
        // The first line of a list, after others were added below it.
        let first = RangePatch::from_texts("## A\n\n## B\n", "## A\n\n- a\n\n## B\n");
        assert_eq!(first.reverse("## A\n\n- a\n- b\n\n## B\n").unwrap(), "## A\n\n- b\n\n## B\n");
        assert_eq!(first.reverse("## A\n\nx - a\n- b\n"), Err(PatchError::Gone));
    }

    #[test]
    fn log_01_what_was_added_at_the_end_is_the_patch_between() {
        let before = "# Ä day of the log, with more words than a patch keeps around it: äöü\n";
        let after = format!("{before}\n### More\n");
        let patch =
            RangePatch::from_append(before.len(), &before[before.len() - 52..], "\n### More\n".to_owned());
        assert_eq!(patch, RangePatch::from_texts(before, &after));
        assert_eq!(patch.reverse(&after).unwrap(), before);
    }

    #[test]
    fn places_outside_the_vault_say_so() {
        let path = VaultPath::parse("Ideas.md").unwrap();
        let place = ChangedFile { root: ChangeRoot::Notes, path };
        assert_eq!(place.to_string(), "notes:Ideas.md");
        assert_eq!(ChangedFile::try_from(place.to_string()).unwrap(), place);
        assert!(ChangedFile::try_from("notes:../x".to_owned()).is_err());
    }

    #[test]
    fn idea_05_a_move_touches_two_places_and_reads_back() {
        let place = |path: &str| ChangedFile::vault(VaultPath::parse(path).unwrap());
        let before = ContentHash::of_bytes(b"x");
        let op = FileOperation::Move { place: place("b/x.pdf"), from: place("a/x.pdf"), before };
        let touched: Vec<String> = op.changed_files().map(ToString::to_string).collect();
        assert_eq!((touched.join(" "), op.can_be_undone()), ("b/x.pdf a/x.pdf".to_owned(), true));
        let json = serde_json::to_string(&op).unwrap();
        assert_eq!(serde_json::from_str::<FileOperation>(&json).unwrap(), op);
    }

    proptest! {
        #[test]
        fn every_patch_is_taken_back(start in any::<String>(), old in any::<String>(), new in any::<String>(), end in any::<String>()) {
            let before = format!("{start}{old}{end}");
            let after = format!("{start}{new}{end}");
            let patch = RangePatch::from_texts(&before, &after);
            prop_assert_eq!(patch.reverse(&after).unwrap(), before);
            prop_assert!(patch.removed.len() <= old.len() + 3 && patch.inserted.len() <= new.len() + 3);
            let json = serde_json::to_string(&patch).unwrap();
            prop_assert_eq!(serde_json::from_str::<RangePatch>(&json).unwrap(), patch);
        }
    }
}
