//! The only module that asks the system for random bytes.

use rekindle_core::base::id::{ChangeId, EntryId};
use rekindle_core::base::time::Timestamp;

/// Returns random bytes. There is no fallback: ids would not be safe without them.
pub fn bytes<const N: usize>() -> std::io::Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
    Ok(bytes)
}

/// A new id for a memory.
pub fn entry_id() -> std::io::Result<EntryId> {
    Ok(EntryId::new(bytes()?))
}

/// A new id for a change made at `at`.
pub fn change_id(at: Timestamp) -> std::io::Result<ChangeId> {
    Ok(ChangeId::new(at, bytes()?))
}
