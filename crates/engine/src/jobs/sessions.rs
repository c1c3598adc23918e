//! Session files in the state folder, besides the database: markers (EXE-13), and the messages of sessions
//! whose host keeps no transcript.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

use rekindle_core::base::agent::Agent;
use rekindle_core::base::hash::ContentHash;
use rekindle_core::base::time::Timestamp;
use rekindle_core::hosts::hook::{HookKind, HookSignal};
use rekindle_core::session::Message;
use rekindle_core::vault::marker::{self, MARKER_RETENTION_DAYS, MarkerState, SessionMarker};

use crate::platform::db::{self, Database, OptionalExtension, params};
use crate::platform::disk::{self, FileContent, LineFile};
use crate::platform::home::DataPaths;

/// The size limit of a marker, far above any real one.
const MAX_MARKER_BYTES: u64 = 64 * 1024;

/// The markers in the folder.
#[derive(Clone, Debug, Default)]
pub struct SessionMarkers {
    /// Open sessions that were not reflected on.
    pub open: Vec<SessionMarker>,
    /// Unreadable files, with the reason.
    pub broken: Vec<(PathBuf, String)>,
}

/// Reads all markers in the sessions folder. A missing folder has none.
pub fn markers(folder: &Path) -> io::Result<SessionMarkers> {
    let mut found = SessionMarkers::default();
    let files = match std::fs::read_dir(folder) {
        Ok(files) => files,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(found),
        Err(error) => return Err(error),
    };
    for file in files {
        let path = file?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        // Messages and injection logs are in folders of their own; the temporary file of a killed command is
        // no marker.
        if path.is_dir() || name.starts_with(disk::TEMPORARY_PREFIX) {
            continue;
        }
        let marker = match disk::read(&path, MAX_MARKER_BYTES)? {
            FileContent::Bytes(bytes) => read_marker(&path, &name, &bytes).map_err(|e| e.to_string()),
            FileContent::Missing => continue,
            FileContent::TooLarge(_) | FileContent::NotAFile => Err("not a marker".to_owned()),
        };
        match marker {
            Ok(marker) if marker.state == MarkerState::Start => found.open.push(marker),
            Ok(_) => {}
            Err(why) => found.broken.push((path, why)),
        }
    }
    Ok(found)
}

/// Reads one marker. After a full disk its content may be missing or cut off, and its name must do.
fn read_marker(path: &Path, name: &str, bytes: &[u8]) -> Result<SessionMarker, marker::Error> {
    let text = String::from_utf8_lossy(bytes);
    let made = || Timestamp::try_from(std::fs::metadata(path).ok()?.modified().ok()?).ok();
    match SessionMarker::parse(name, &text) {
        Err(error @ marker::Error::Content { line, .. }) if text.trim().is_empty() || line > 1 => {
            made().map_or(Err(error), |started| SessionMarker::from_name(name, started))
        }
        other => other,
    }
}

/// The paths of a session's marker in both states.
fn paths(folder: &Path, marker: &SessionMarker) -> Option<(PathBuf, PathBuf)> {
    let name = |state| SessionMarker { state, ..marker.clone() }.file_name().ok();
    Some((folder.join(name(MarkerState::Start)?), folder.join(name(MarkerState::Reflected)?)))
}

fn marker_for(signal: &HookSignal, at: Timestamp) -> SessionMarker {
    SessionMarker {
        session: signal.session.clone(),
        started: at,
        transcript: signal.transcript.clone().unwrap_or_default(),
        state: MarkerState::Start,
    }
}

/// Writes the marker of a new session (EXE-13). An existing marker stays unchanged.
pub fn mark_started(folder: &Path, signal: &HookSignal, at: Timestamp) -> io::Result<()> {
    let marker = marker_for(signal, at);
    let (Some((start, reflected)), Ok(text)) = (paths(folder, &marker), marker.render()) else {
        return Ok(());
    };
    if start.exists() || reflected.exists() {
        return Ok(());
    }
    disk::create_private_folder(folder)?;
    // A sync is too slow for a hook, and the spool holds the same data durably.
    match disk::write_unsynced(&start, text.as_bytes()) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        other => other,
    }
}

/// Reopens a session after an event, even if it was reflected on.
pub fn mark_reopened(folder: &Path, signal: &HookSignal, at: Timestamp) -> io::Result<()> {
    if signal.subagent || matches!(signal.kind, HookKind::End) {
        return Ok(());
    }
    let Some((start, reflected)) = paths(folder, &marker_for(signal, at)) else { return Ok(()) };
    match reflected.exists() {
        true => disk::move_aside(&reflected, &start),
        false => mark_started(folder, signal, at),
    }
}

/// Marks a session as fully reflected on.
pub fn mark_reflected(folder: &Path, session: &str) -> io::Result<()> {
    let marker = SessionMarker {
        session: session.to_owned(),
        started: Timestamp::UNIX_EPOCH,
        transcript: String::new(),
        state: MarkerState::Start,
    };
    let Some((start, reflected)) = paths(folder, &marker) else { return Ok(()) };
    match disk::move_aside(&start, &reflected) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// The host's transcript of a session, if known.
pub fn transcript_path(db: &Database, agent: Agent, session: &str) -> Result<Option<String>, db::Error> {
    let found = db.run(|connection| {
        connection
            .query_row(
                "SELECT transcript FROM sessions WHERE agent = ?1 AND id = ?2",
                params![agent.as_str(), session],
                |row| row.get::<_, Option<String>>(0),
            )
            .optional()
    })?;
    Ok(found.flatten())
}

/// Deletes the markers of sessions that were reflected on long ago (EXE-14, MNT-08). Returns their number.
pub fn remove_old_markers(folder: &Path, now: Timestamp) -> io::Result<u64> {
    let mut swept = 0;
    let files = match std::fs::read_dir(folder) {
        Ok(files) => files,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        Err(error) => return Err(error),
    };
    for file in files {
        let path = file?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let FileContent::Bytes(bytes) = disk::read(&path, MAX_MARKER_BYTES)? else { continue };
        let Ok(marker) = read_marker(&path, &name, &bytes) else { continue };
        if marker::is_expired(&marker, now, MARKER_RETENTION_DAYS) {
            disk::remove(&path)?;
            swept += 1;
        }
    }
    Ok(swept)
}

/// The file for the messages of a session whose host keeps no transcript.
fn kept_at(places: &DataPaths, agent: Agent, session: &str) -> PathBuf {
    let name = ContentHash::of_bytes(session.as_bytes()).short_hex(32);
    places.sessions().join("said").join(format!("{agent}-{name}.jsonl"))
}

/// Stores messages of a session whose host keeps no transcript. A repeated message counts once.
pub fn keep_messages(places: &DataPaths, signal: &HookSignal, messages: &[Message]) -> io::Result<()> {
    let path = kept_at(places, signal.agent, &signal.session);
    let known: HashSet<String> =
        kept_messages(places, signal.agent, &signal.session)?.into_iter().map(|message| message.id).collect();
    if let Some(folder) = path.parent() {
        disk::create_private_folder(folder)?;
    }
    let mut lines = LineFile::open(&path)?;
    for message in messages.iter().filter(|message| !known.contains(&message.id)) {
        lines.append(&format!("{}\n", serde_json::to_string(message)?), true)?;
    }
    Ok(())
}

/// Reads the stored messages of a session, in order.
pub fn kept_messages(places: &DataPaths, agent: Agent, session: &str) -> io::Result<Vec<Message>> {
    match std::fs::read_to_string(kept_at(places, agent, session)) {
        Ok(text) => Ok(text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signal(kind: HookKind) -> HookSignal {
        HookSignal {
            agent: Agent::Claude,
            kind,
            session: "abc".to_owned(),
            transcript: Some("/t.jsonl".to_owned()),
            cwd: None,
            reason: None,
            prompt: None,
            answer: None,
            subagent: false,
        }
    }

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|file| file.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn exe_13_a_marker_says_whether_a_session_was_looked_at_and_activity_reopens_it() {
        let folder = tempfile::tempdir().unwrap();
        let at: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        mark_started(folder.path(), &signal(HookKind::Start), at).unwrap();
        assert_eq!(names(folder.path()), ["session-id-abc.start"]);
        mark_reflected(folder.path(), "abc").unwrap();
        mark_reflected(folder.path(), "abc").unwrap();
        assert_eq!(names(folder.path()), ["session-id-abc.reflected"]);
        mark_reopened(folder.path(), &signal(HookKind::End), at).unwrap();
        assert_eq!(names(folder.path()), ["session-id-abc.reflected"]);
        mark_reopened(folder.path(), &signal(HookKind::Stop), at).unwrap();
        assert_eq!(names(folder.path()), ["session-id-abc.start"]);
    }

    #[test]
    fn exe_14_old_markers_of_what_was_looked_at_go() {
        let folder = tempfile::tempdir().unwrap();
        let at: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        mark_started(folder.path(), &signal(HookKind::Start), at).unwrap();
        let later: Timestamp = "2026-03-01T00:00:00Z".parse().unwrap();
        assert_eq!(remove_old_markers(folder.path(), later).unwrap(), 0);
        mark_reflected(folder.path(), "abc").unwrap();
        assert_eq!(remove_old_markers(folder.path(), at).unwrap(), 0);
        assert_eq!(remove_old_markers(folder.path(), later).unwrap(), 1);
        assert!(names(folder.path()).is_empty());
    }
}
