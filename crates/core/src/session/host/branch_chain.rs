//! Follows a tree of entries from its newest leaf to its root, reading entries last to first.
//!
//! A host only appends, so a parent always precedes its children. The walk therefore has to remember a single
//! wanted id.

/// The state of a walk to the root.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct BranchChain {
    target: ChainTarget,
    /// The offset of the entry whose parent is wanted.
    asked_at: u64,
    /// True if entries were skipped since.
    passed: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum ChainTarget {
    /// The newest entry that can be a leaf.
    #[default]
    Leaf,
    /// The entry with this id.
    Id(String),
    /// Nothing more: the root was reached.
    Nothing,
    /// Every entry: there are too many gaps to repair one by one.
    All,
}

impl BranchChain {
    /// Starts at the leaf that a host named, if no entry was taken yet. `None` means an empty branch.
    pub(super) fn start_at(&mut self, at: u64, id: Option<String>) {
        if self.target == ChainTarget::Leaf {
            self.asked_at = at;
            self.target = id.map_or(ChainTarget::Nothing, ChainTarget::Id);
        }
    }

    /// True if the entry `id` is on the branch. `leaf` says if a branch may end in this type of entry.
    pub(super) fn is_on_branch(&mut self, at: u64, id: &str, parent: Option<&str>, leaf: bool) -> bool {
        let taken = match &self.target {
            ChainTarget::Leaf => leaf,
            ChainTarget::Id(wanted) => wanted == id,
            ChainTarget::Nothing => false,
            ChainTarget::All => return true,
        };
        if taken {
            self.target = parent.map_or(ChainTarget::Nothing, |parent| ChainTarget::Id(parent.to_owned()));
            self.asked_at = at;
            self.passed = false;
        } else {
            self.passed = true;
        }
        taken
    }

    /// After all lines: the offset of an entry whose parent is missing, if entries were skipped in search of
    /// it.
    pub(super) fn missing_parent(&self) -> Option<u64> {
        (matches!(self.target, ChainTarget::Id(_)) && self.passed).then_some(self.asked_at)
    }

    /// Continues at the next entry after a missing parent. With `all` it takes every entry from there on.
    pub(super) fn bridge_gap(&mut self, all: bool) {
        self.target = if all { ChainTarget::All } else { ChainTarget::Leaf };
        self.passed = false;
    }
}
