//! Recent conversation in a folder: the context that a vague question may refer to (REC-05).

use std::fs::Metadata;
use std::path::Path;
use std::time::SystemTime;

use rekindle_core::base::time::Timestamp;
use rekindle_core::session::Role;

use super::Messages;
use super::archive::{self, Kept};

/// The number of seconds after its last message for which a session is current.
const GOES_ON: i64 = 60 * 60;
/// The number of sessions considered, the latest first.
const SESSIONS: usize = 32;
/// The number of bytes read from the end of a session.
const TAIL: u64 = 256 * 1024;

impl Messages {
    /// The last `most` messages of the person and the agent in the current session of `folder`, in order.
    /// Empty if there is no such session or it cannot be read: nothing depends on them.
    pub fn recent(&self, folder: &Path, most: usize, now: Timestamp) -> Vec<Kept> {
        let changed = |path: &Path| path.metadata().and_then(|data: Metadata| data.modified()).ok();
        let mut sessions: Vec<(Option<SystemTime>, archive::Stored)> =
            archive::sessions(&self.folder).into_iter().map(|one| (changed(&one.path), one)).collect();
        sessions.sort_by_key(|(changed, _)| std::cmp::Reverse(*changed));
        let is_now = |kept: &Kept| kept.at.is_some_and(|at| (now - at).get_seconds().abs() <= GOES_ON);
        let is_here = |kept: &Kept| kept.cwd.as_deref().is_some_and(|cwd| Path::new(cwd) == folder);
        sessions
            .iter()
            .take(SESSIONS)
            .map(|(_, stored)| last(stored))
            .find(|said| said.last().is_some_and(|last| is_now(last) && is_here(last)))
            .map(|mut said| said.split_off(said.len().saturating_sub(most)))
            .unwrap_or_default()
    }
}

/// The messages of the person and the agent at the end of a session.
fn last(stored: &archive::Stored) -> Vec<Kept> {
    let mut said = Vec::new();
    let read = archive::each_line(&stored.path, stored.size.saturating_sub(TAIL), &mut |_, line| {
        let spoken = |kept: &Kept| matches!(kept.role, Role::User | Role::Assistant) && !kept.text.is_empty();
        said.extend(serde_json::from_slice::<Kept>(line).ok().filter(spoken));
    });
    if read.is_ok() { said } else { Vec::new() }
}
