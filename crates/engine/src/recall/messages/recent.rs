//! Recent conversation in a folder: the context that a vague question may refer to (REC-05).

use std::fs::Metadata;
use std::path::Path;
use std::time::SystemTime;

use rekindle_core::base::time::Timestamp;
use rekindle_core::session::MessageRole;

use super::MessageStore;
use super::archive::{self, ArchivedMessage};

/// The number of seconds after its last message for which a session is current.
const MAX_SESSION_GAP_SECONDS: i64 = 60 * 60;
/// The number of sessions considered, the latest first.
const MAX_SESSIONS: usize = 32;
/// The number of bytes read from the end of a session.
const TAIL_BYTES: u64 = 256 * 1024;

impl MessageStore {
    /// The last `most` messages of the person and the agent in the current session of `folder`, in order.
    /// Empty if there is no such session or it cannot be read: nothing depends on them.
    pub fn recent_messages(&self, folder: &Path, most: usize, now: Timestamp) -> Vec<ArchivedMessage> {
        let changed = |path: &Path| path.metadata().and_then(|data: Metadata| data.modified()).ok();
        let mut sessions: Vec<(Option<SystemTime>, archive::ArchiveFile)> =
            archive::sessions(&self.folder).into_iter().map(|one| (changed(&one.path), one)).collect();
        sessions.sort_by_key(|(changed, _)| std::cmp::Reverse(*changed));
        let is_now = |kept: &ArchivedMessage| {
            kept.at.is_some_and(|at| (now - at).get_seconds().abs() <= MAX_SESSION_GAP_SECONDS)
        };
        let is_here =
            |kept: &ArchivedMessage| kept.cwd.as_deref().is_some_and(|cwd| Path::new(cwd) == folder);
        sessions
            .iter()
            .take(MAX_SESSIONS)
            .map(|(_, stored)| last_messages(stored))
            .find(|said| said.last().is_some_and(|last| is_now(last) && is_here(last)))
            .map(|mut said| said.split_off(said.len().saturating_sub(most)))
            .unwrap_or_default()
    }
}

/// The messages of the person and the agent at the end of a session.
fn last_messages(stored: &archive::ArchiveFile) -> Vec<ArchivedMessage> {
    let mut said = Vec::new();
    let read = archive::each_line(&stored.path, stored.size.saturating_sub(TAIL_BYTES), &mut |_, line| {
        let spoken = |kept: &ArchivedMessage| {
            matches!(kept.role, MessageRole::User | MessageRole::Assistant) && !kept.text.is_empty()
        };
        said.extend(serde_json::from_slice::<ArchivedMessage>(line).ok().filter(spoken));
    });
    if read.is_ok() { said } else { Vec::new() }
}
