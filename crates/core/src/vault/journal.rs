//! What a change to the vault was, and how to take it back (B-09).
//!
//! A change is a list of operations on files. It holds hashes of whole files but the text only of the ranges that
//! changed, so the journal stays small and says exactly what a change did.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::base::hash::ContentHash;
use crate::base::id::ChangeId;
use crate::vault::path::VaultPath;

/// How many bytes around a change are kept to find its place again in a file that has changed since.
const CONTEXT_BYTES: usize = 48;

/// Which folder a path is relative to. All but the vault need a permission (VLT-07).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Root {
    /// `MemoryVault/`.
    Vault,
    /// The person's notes around it.
    Notes,
    /// The identity folder.
    Identity,
}

/// A file that a change touched.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Place {
    /// Below which folder.
    pub root: Root,
    /// Where there.
    pub path: VaultPath,
}

impl Place {
    /// A file in the vault.
    pub fn vault(path: VaultPath) -> Self {
        Self { root: Root::Vault, path }
    }
}

impl From<Place> for String {
    fn from(place: Place) -> Self {
        // A colon cannot occur in a vault path, so the prefix is unambiguous.
        match place.root {
            Root::Vault => place.path.into(),
            Root::Notes => format!("notes:{}", place.path),
            Root::Identity => format!("identity:{}", place.path),
        }
    }
}

impl TryFrom<String> for Place {
    type Error = crate::vault::path::Error;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let (root, path) = match text.split_once(':') {
            Some(("notes", path)) => (Root::Notes, path),
            Some(("identity", path)) => (Root::Identity, path),
            _ => (Root::Vault, text.as_str()),
        };
        Ok(Self { root, path: VaultPath::parse(path)? })
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&String::from(self.clone()))
    }
}

/// Why a write outside the vault was allowed; recorded with the change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Permission {
    /// `Ideas.md`, the one standing exception.
    Standing,
    /// The person gave the command that does exactly this.
    Asked,
}

/// Who made a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Actor {
    /// The person, by a command.
    User,
    /// An agent, through a tool.
    Agent,
    /// Rekindle itself, in the background.
    Worker,
}

impl Actor {
    /// A word for listings.
    pub fn word(self) -> &'static str {
        match self {
            Self::User => "you",
            Self::Agent => "agent",
            Self::Worker => "rekindle",
        }
    }
}

/// Changes that only follow another: the page of proposals, and the receipts of decisions.
pub const BOOKKEEPING: [&str; 2] = ["review", "receipt"];

/// A replaced range: where, what went, what came, and a little of what stands around it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Patch {
    at: usize,
    removed: String,
    inserted: String,
    lead: String,
    trail: String,
}

/// Why a patch could not be taken back.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum PatchError {
    /// The place it changed was changed again since.
    #[error("the lines it wrote were changed since")]
    Gone,
    /// What it wrote stands there more than once.
    #[error("the lines it wrote now stand there more than once")]
    Ambiguous,
}

impl Patch {
    /// The smallest single range that turns `before` into `after`.
    pub fn between(before: &str, after: &str) -> Self {
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

    /// The range that turns a text of `at` bytes, which ends in `end`, into one with `inserted` behind it.
    pub fn at_end(at: usize, end: &str, inserted: String) -> Self {
        let lead = end[ceil(end, end.len().saturating_sub(CONTEXT_BYTES))..].to_owned();
        Self { at, removed: String::new(), inserted, lead, trail: String::new() }
    }

    /// Takes the change back. Where `now` is not the text the change made, its place is found by what it wrote and
    /// what stood around it; a place that is gone or not unique is an error, never a guess.
    pub fn reverse(&self, now: &str) -> Result<String, PatchError> {
        let replaced = self.place(now)?;
        Ok([&now[..replaced.start], &self.removed, &now[replaced.end..]].concat())
    }

    fn place(&self, now: &str) -> Result<Range<usize>, PatchError> {
        let around = [&self.lead, self.inserted.as_str(), &self.trail].concat();
        let whole = |start: usize| start..start + self.inserted.len();
        let expected = self.at.checked_sub(self.lead.len());
        if let Some(start) = expected
            && now.get(start..).is_some_and(|rest| rest.starts_with(&around))
        {
            return Ok(whole(self.at));
        }
        match only_match(now, &around) {
            // The neighbours may have changed; what was written still has to stand there once.
            Err(PatchError::Gone) => match only_match(now, &self.inserted) {
                Err(PatchError::Gone) if self.removed.trim().is_empty() => self.lines_place(now),
                found => found.map(whole),
            },
            found => found.map(|start| whole(start + self.lead.len())),
        }
    }

    /// Lines that were added, without the blank lines around them: whatever was added next to them since has taken
    /// those for its own.
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

    /// What went from the range.
    pub fn removed(&self) -> &str {
        &self.removed
    }

    /// What came in the range.
    pub fn inserted(&self) -> &str {
        &self.inserted
    }

    /// Whether any text this patch holds satisfies `test`.
    pub fn any_text(&self, test: impl Fn(&str) -> bool) -> bool {
        let Self { at: _, removed, inserted, lead, trail } = self;
        [removed, inserted, lead, trail].into_iter().any(|text| test(text))
    }
}

/// `index` or the next character boundary of `text` after it.
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

/// What a change did to one file. The text of a range becomes `None` once it was forgotten.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "lowercase")]
pub enum Op {
    /// A file that was not there.
    Create {
        /// Which.
        place: Place,
        /// Its content.
        after: ContentHash,
    },
    /// A file that was there.
    Edit {
        /// Which.
        place: Place,
        /// What it was.
        before: ContentHash,
        /// What it became.
        after: ContentHash,
        /// The difference; `None` once it was forgotten.
        patch: Option<Patch>,
    },
    /// A file that grew at its end, in its place.
    Append {
        /// Which.
        place: Place,
        /// What it was.
        before: ContentHash,
        /// How many bytes that were.
        size: u64,
        /// What it became.
        after: ContentHash,
        /// What was added; `None` once it was forgotten.
        patch: Option<Patch>,
    },
    /// A file that is there no more: the taking back of a [`Op::Create`].
    Remove {
        /// Which.
        place: Place,
        /// What it was.
        before: ContentHash,
        /// Its text; `None` once it was forgotten.
        text: Option<String>,
    },
    /// A file that has another place now, whatever is in it.
    Move {
        /// Where it is.
        place: Place,
        /// Where it was.
        from: Place,
        /// What it was.
        before: ContentHash,
    },
    /// Something that was forgotten: its name said as much as its text, so neither is kept.
    Forgotten,
}

impl Op {
    /// The file; `None` once it was forgotten.
    pub fn place(&self) -> Option<&Place> {
        match self {
            Self::Create { place, .. }
            | Self::Edit { place, .. }
            | Self::Append { place, .. }
            | Self::Remove { place, .. }
            | Self::Move { place, .. } => Some(place),
            Self::Forgotten => None,
        }
    }

    /// Every file it touched.
    pub fn places(&self) -> impl Iterator<Item = &Place> {
        let from = match self {
            Self::Move { from, .. } => Some(from),
            _ => None,
        };
        self.place().into_iter().chain(from)
    }

    /// Whether the operation still holds what is needed to take it back.
    pub fn can_be_undone(&self) -> bool {
        match self {
            Self::Create { .. } | Self::Move { .. } => true,
            Self::Edit { patch, .. } | Self::Append { patch, .. } => patch.is_some(),
            Self::Remove { text, .. } => text.is_some(),
            Self::Forgotten => false,
        }
    }

    /// Drops the text it holds of a file that stays.
    pub fn forget_text(&mut self) {
        match self {
            Self::Edit { patch, .. } | Self::Append { patch, .. } => *patch = None,
            Self::Remove { text, .. } => *text = None,
            Self::Create { .. } | Self::Move { .. } | Self::Forgotten => {}
        }
    }

    /// Whether any text it holds satisfies `test`.
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

/// One change: everything in it happens, or nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Its id, in order of time.
    pub id: ChangeId,
    /// When, ISO 8601.
    pub at: String,
    /// The command: `save`, `evolve`, `undo`, `forget`, …
    pub verb: String,
    /// Who.
    pub by: Actor,
    /// Why it was allowed to write outside the vault.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission: Option<Permission>,
    /// The change that it takes back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undoes: Option<ChangeId>,
    /// The proposal that it carries out, where its text does not name it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// What it did, in order.
    pub ops: Vec<Op>,
}

impl Change {
    /// Whether it only follows another change.
    pub fn is_bookkeeping(&self) -> bool {
        BOOKKEEPING.contains(&self.verb.as_str())
    }

    /// Whether a person made it by a command.
    pub fn is_a_persons(&self) -> bool {
        self.by == Actor::User && !self.is_bookkeeping()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_patch_holds_only_the_changed_range() {
        let patch = Patch::between("one\ntwo\nthree\n", "one\n2\nthree\n");
        assert_eq!((patch.removed.as_str(), patch.inserted.as_str()), ("two", "2"));
    }

    #[test]
    fn b_09_a_change_is_taken_back_after_others_came() {
        let before = "# Memory\n\n- a\n";
        let after = "# Memory\n\n- a\n- b\n";
        let patch = Patch::between(before, after);
        let now = "# Memory of Ada\n\n- zero\n- a\n- b\n- c\n";
        assert_eq!(patch.reverse(now).unwrap(), "# Memory of Ada\n\n- zero\n- a\n- c\n");
        assert_eq!(patch.reverse("# Memory\n\n- a\n- B!\n"), Err(PatchError::Gone));
        assert_eq!(patch.reverse("- b\n x - b\n"), Err(PatchError::Ambiguous));
        // The first line of a list, after others were put below it.
        let first = Patch::between("## A\n\n## B\n", "## A\n\n- a\n\n## B\n");
        assert_eq!(first.reverse("## A\n\n- a\n- b\n\n## B\n").unwrap(), "## A\n\n- b\n\n## B\n");
        assert_eq!(first.reverse("## A\n\nx - a\n- b\n"), Err(PatchError::Gone));
    }

    #[test]
    fn log_01_what_was_added_at_the_end_is_the_patch_between() {
        let before = "# Ä day of the log, with more words than a patch keeps around it: äöü\n";
        let after = format!("{before}\n### More\n");
        let patch = Patch::at_end(before.len(), &before[before.len() - 52..], "\n### More\n".to_owned());
        assert_eq!(patch, Patch::between(before, &after));
        assert_eq!(patch.reverse(&after).unwrap(), before);
    }

    #[test]
    fn places_outside_the_vault_say_so() {
        let path = VaultPath::parse("Ideas.md").unwrap();
        let place = Place { root: Root::Notes, path };
        assert_eq!(place.to_string(), "notes:Ideas.md");
        assert_eq!(Place::try_from(place.to_string()).unwrap(), place);
        assert!(Place::try_from("notes:../x".to_owned()).is_err());
    }

    #[test]
    fn idea_05_a_move_touches_two_places_and_reads_back() {
        let place = |path: &str| Place::vault(VaultPath::parse(path).unwrap());
        let before = ContentHash::of(b"x");
        let op = Op::Move { place: place("b/x.pdf"), from: place("a/x.pdf"), before };
        let touched: Vec<String> = op.places().map(ToString::to_string).collect();
        assert_eq!((touched.join(" "), op.can_be_undone()), ("b/x.pdf a/x.pdf".to_owned(), true));
        let json = serde_json::to_string(&op).unwrap();
        assert_eq!(serde_json::from_str::<Op>(&json).unwrap(), op);
    }

    proptest! {
        #[test]
        fn every_patch_is_taken_back(start in any::<String>(), old in any::<String>(), new in any::<String>(), end in any::<String>()) {
            let before = format!("{start}{old}{end}");
            let after = format!("{start}{new}{end}");
            let patch = Patch::between(&before, &after);
            prop_assert_eq!(patch.reverse(&after).unwrap(), before);
            prop_assert!(patch.removed.len() <= old.len() + 3 && patch.inserted.len() <= new.len() + 3);
            let json = serde_json::to_string(&patch).unwrap();
            prop_assert_eq!(serde_json::from_str::<Patch>(&json).unwrap(), patch);
        }
    }
}
