//! A bounded map of recent ids to notes.

use std::collections::{HashMap, VecDeque};

/// The maximum number of ids. Related lines are close together, so older ones are never needed.
const MAX_IDS: usize = 16_384;

/// A map from ids to notes that drops the oldest id when full.
#[derive(Default)]
pub(super) struct RecentIds {
    notes: HashMap<String, String>,
    order: VecDeque<String>,
}

impl RecentIds {
    /// Stores `note` for `id`.
    pub(super) fn set(&mut self, id: &str, note: &str) {
        if self.notes.insert(id.to_owned(), note.to_owned()).is_none() {
            if self.order.len() == MAX_IDS
                && let Some(oldest) = self.order.pop_front()
            {
                self.notes.remove(&oldest);
            }
            self.order.push_back(id.to_owned());
        }
    }

    /// Inserts `id` and returns true if it was new.
    pub(super) fn insert(&mut self, id: &str) -> bool {
        let new = !self.contains(id);
        if new {
            self.set(id, "");
        }
        new
    }

    /// True if `id` was inserted recently.
    pub(super) fn contains(&self, id: &str) -> bool {
        self.notes.contains_key(id)
    }

    /// The note stored for `id`.
    pub(super) fn get(&self, id: &str) -> Option<&str> {
        self.notes.get(id).map(String::as_str)
    }
}
