//! Following a tree of entries from its newest leaf to its root, when the entries come last to first.
//!
//! A host appends, so a parent always stands before its children, and one wanted id is all that has to be remembered.

/// Where a walk is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Chain {
    wanted: Wanted,
    /// Where the entry stands whose parent is wanted.
    asked_at: u64,
    /// Whether anything was passed over since.
    passed: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Wanted {
    /// The newest entry that can be a leaf, whichever it is.
    #[default]
    Leaf,
    /// This entry.
    Id(String),
    /// Nothing more: the root was reached.
    Nothing,
    /// Everything: there are more gaps than can be mended one by one.
    All,
}

impl Chain {
    /// Starts at an entry that a host named as its leaf, if no entry was taken yet. No id: at no entry at all.
    pub(super) fn start_at(&mut self, at: u64, id: Option<String>) {
        if self.wanted == Wanted::Leaf {
            self.asked_at = at;
            self.wanted = id.map_or(Wanted::Nothing, Wanted::Id);
        }
    }

    /// Whether the entry `id` is on the branch; `leaf` says whether a branch may end in an entry of its kind.
    pub(super) fn take(&mut self, at: u64, id: &str, parent: Option<&str>, leaf: bool) -> bool {
        let taken = match &self.wanted {
            Wanted::Leaf => leaf,
            Wanted::Id(wanted) => wanted == id,
            Wanted::Nothing => false,
            Wanted::All => return true,
        };
        if taken {
            self.wanted = parent.map_or(Wanted::Nothing, |parent| Wanted::Id(parent.to_owned()));
            self.asked_at = at;
            self.passed = false;
        } else {
            self.passed = true;
        }
        taken
    }

    /// When all lines were seen: where the entry stands whose parent is not there, if entries were passed over in vain.
    pub(super) fn gap(&self) -> Option<u64> {
        (matches!(self.wanted, Wanted::Id(_)) && self.passed).then_some(self.asked_at)
    }

    /// Goes on at the next entry that comes, because the parent is missing. `all`: takes every one from here on.
    pub(super) fn mend(&mut self, all: bool) {
        self.wanted = if all { Wanted::All } else { Wanted::Leaf };
        self.passed = false;
    }
}
