//! The one place that asks the system for randomness.

use rekindle_core::base::id::{ChangeId, EntryId};
use rekindle_core::base::time::Timestamp;

/// Random bytes. A system that has none cannot be trusted with ids either, so this is an error and not a fallback.
pub fn bytes<const N: usize>() -> std::io::Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
    Ok(bytes)
}

/// A fresh id for a memory.
pub fn entry_id() -> std::io::Result<EntryId> {
    Ok(EntryId::new(bytes()?))
}

/// A fresh id for a change made at `at`.
pub fn change_id(at: Timestamp) -> std::io::Result<ChangeId> {
    Ok(ChangeId::new(at, bytes()?))
}
