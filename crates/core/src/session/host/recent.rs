//! The last few things that were seen, by id: enough to look back a little, and no more than that.

use std::collections::{HashMap, VecDeque};

/// Looking back further than this is never needed: what belongs together is written together.
const MOST: usize = 16_384;

/// Ids and what was noted for them, the oldest forgotten first.
#[derive(Default)]
pub(super) struct Recent {
    notes: HashMap<String, String>,
    order: VecDeque<String>,
}

impl Recent {
    /// Notes `note` for `id`.
    pub(super) fn set(&mut self, id: &str, note: &str) {
        if self.notes.insert(id.to_owned(), note.to_owned()).is_none() {
            if self.order.len() == MOST
                && let Some(oldest) = self.order.pop_front()
            {
                self.notes.remove(&oldest);
            }
            self.order.push_back(id.to_owned());
        }
    }

    /// Remembers `id`; whether it was new.
    pub(super) fn insert(&mut self, id: &str) -> bool {
        let new = !self.contains(id);
        if new {
            self.set(id, "");
        }
        new
    }

    /// Whether `id` was seen lately.
    pub(super) fn contains(&self, id: &str) -> bool {
        self.notes.contains_key(id)
    }

    /// What was noted for `id`.
    pub(super) fn get(&self, id: &str) -> Option<&str> {
        self.notes.get(id).map(String::as_str)
    }
}
