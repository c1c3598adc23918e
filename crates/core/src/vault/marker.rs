//! Session markers (EXE-13, EXE-14): a small file per session that records its start and, by its name, its
//! reflection. Markers left over after a crash are found and processed.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::as_text;
use crate::base::hash::ContentHash;
use crate::base::time;

/// Minutes after its start from which a silent session may count as dead.
pub const DEAD_AFTER_MINUTES: u32 = 60;
/// Minutes of silence after which a session counts as idle (EXE-15).
pub const IDLE_AFTER_MINUTES: u32 = 30;
/// Days for which the marker of a reflected session is kept.
pub const MARKER_RETENTION_DAYS: u32 = 30;

const MARKER_PREFIX: &str = "session-id-";
/// The maximum length of an id in a file name, well below the limit of 255 bytes.
const MAX_NAME_BYTES: usize = 120;

/// The state in the marker's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MarkerState {
    /// The session has started.
    Start,
    /// The session was reflected on.
    Reflected,
}

/// The marker of one session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionMarker {
    /// The session's id, as the agent gave it.
    pub session: String,
    /// The start time, to the second.
    #[serde(with = "as_text")]
    pub started: Timestamp,
    /// The path of its transcript.
    pub transcript: String,
    /// The state of the session.
    pub state: MarkerState,
}

/// The reason why a marker is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Error {
    /// The session's id is empty or has control characters.
    #[error("a session's id must be one line of text; this session was not marked")]
    Session,
    /// The transcript's path has control characters.
    #[error("a transcript's path must be one line of text; this session was not marked")]
    Transcript,
    /// The file name is not that of a marker.
    #[error("the name of a session marker must be session-id-<id>.start")]
    Name,
    /// The content is not that of a marker.
    #[error("line {line} of the session marker is not {expected}; remove the file if its session is over")]
    Content {
        /// The line number of the error.
        line: usize,
        /// The expected content of the line.
        expected: &'static str,
    },
}

impl MarkerState {
    fn extension(self) -> &'static str {
        match self {
            Self::Start => ".start",
            Self::Reflected => ".reflected",
        }
    }
}

impl SessionMarker {
    /// The file name: `session-id-<id>.start`. An id that is not a portable file name (a slash, capitals, too
    /// long) becomes a readable part and a hash, in a form that no plain id has.
    pub fn file_name(&self) -> Result<String, Error> {
        if self.session.is_empty() || self.session.chars().any(char::is_control) {
            return Err(Error::Session);
        }
        let plain = |c: &char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_');
        let is_plain = self.session.len() <= MAX_NAME_BYTES && self.session.chars().all(|c| plain(&c));
        let name = if is_plain {
            self.session.clone()
        } else {
            let readable: String = self.session.to_ascii_lowercase().chars().filter(plain).take(40).collect();
            format!("{readable}.{}", ContentHash::of_bytes(self.session.as_bytes()).short_hex(32))
        };
        Ok(format!("{MARKER_PREFIX}{name}{}", self.state.extension()))
    }

    /// The file content: start time, path of the transcript, and the id as the agent gave it.
    pub fn render(&self) -> Result<String, Error> {
        if self.transcript.chars().any(char::is_control) {
            return Err(Error::Transcript);
        }
        self.file_name()?;
        Ok(format!("{}\n{}\n{}\n", time::format_utc(self.started), self.transcript, self.session))
    }

    /// A marker whose content was lost, as on a full disk. The name gives the session; `started` is the
    /// file's creation time.
    pub fn from_name(file_name: &str, started: Timestamp) -> Result<Self, Error> {
        let (session, state) = parse_file_name(file_name)?;
        Ok(Self { session: session.to_owned(), started, transcript: String::new(), state })
    }

    /// Parses a marker. One without a third line was written by another program and is identified by its
    /// name.
    pub fn parse(file_name: &str, content: &str) -> Result<Self, Error> {
        let (name, state) = parse_file_name(file_name)?;
        let mut lines = content.trim_start_matches('\u{feff}').lines();
        let started =
            lines.next().and_then(time::parse).ok_or(Error::Content { line: 1, expected: "a timestamp" })?;
        let transcript = lines.next().ok_or(Error::Content { line: 2, expected: "a transcript's path" })?;
        let session = lines.next().filter(|session| !session.is_empty()).unwrap_or(name);
        Ok(Self { session: session.to_owned(), started, transcript: transcript.to_owned(), state })
    }
}

/// The session and the state in a marker's name.
fn parse_file_name(file_name: &str) -> Result<(&str, MarkerState), Error> {
    let states = [MarkerState::Start, MarkerState::Reflected];
    let state = states.into_iter().find(|state| file_name.ends_with(state.extension())).ok_or(Error::Name)?;
    let name = file_name.strip_prefix(MARKER_PREFIX).and_then(|name| name.strip_suffix(state.extension()));
    Ok((name.filter(|name| !name.is_empty()).ok_or(Error::Name)?, state))
}

/// Time limits for sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdleLimits {
    /// Minutes after its start from which a session may be over without an end event.
    pub dead_after_minutes: u32,
    /// Minutes of silence after which it is over.
    pub idle_after_minutes: u32,
}

impl Default for IdleLimits {
    fn default() -> Self {
        Self { dead_after_minutes: DEAD_AFTER_MINUTES, idle_after_minutes: IDLE_AFTER_MINUTES }
    }
}

/// True if a session should be reflected on after the fact: it started long enough ago, was not reflected on,
/// and has been silent since `last_active`, if known. A long session is not a dead one.
pub fn is_due(
    marker: &SessionMarker,
    last_active: Option<Timestamp>,
    now: Timestamp,
    limits: &IdleLimits,
) -> bool {
    let silent = last_active.is_none_or(|last| is_older(last, now, minutes(limits.idle_after_minutes)));
    marker.state == MarkerState::Start
        && is_older(marker.started, now, minutes(limits.dead_after_minutes))
        && silent
}

/// True if the marker of a reflected session can be removed.
pub fn is_expired(marker: &SessionMarker, now: Timestamp, keep_days: u32) -> bool {
    marker.state == MarkerState::Reflected
        && is_older(marker.started, now, SignedDuration::from_hours(24 * i64::from(keep_days)))
}

fn minutes(count: u32) -> SignedDuration {
    SignedDuration::from_mins(i64::from(count))
}

/// A clock that was set back makes things look younger, never older.
fn is_older(then: Timestamp, now: Timestamp, than: SignedDuration) -> bool {
    now.duration_since(then) > than
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn marker(session: &str, state: MarkerState) -> SessionMarker {
        let started = "2026-11-15T10:00:00Z".parse().unwrap();
        SessionMarker {
            session: session.to_owned(),
            started,
            transcript: "/home/a/x.jsonl".to_owned(),
            state,
        }
    }

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        #[test]
        fn exe_13_markers_read_back(session in "\\PC{1,40}|[a-z0-9-]{1,200}", transcript in "\\PC{0,60}", done in any::<bool>()) {
            let state = if done { MarkerState::Reflected } else { MarkerState::Start };
            let marker = SessionMarker { transcript, ..marker(&session, state) };
            let name = marker.file_name().unwrap();
            prop_assert!(name.len() < 200);
            prop_assert!(name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-_.".contains(&b)));
            prop_assert_eq!(SessionMarker::parse(&name, &marker.render().unwrap()).unwrap(), marker);
        }
    }

    #[test]
    fn exe_13_a_marker_looks_like_this() {
        let marker = marker("0a1b-2c", MarkerState::Start);
        assert_eq!(marker.file_name().unwrap(), "session-id-0a1b-2c.start");
        assert_eq!(marker.render().unwrap(), "2026-11-15T10:00:00Z\n/home/a/x.jsonl\n0a1b-2c\n");
        let older =
            SessionMarker::parse("session-id-0a1b-2c.start", "2026-11-15T10:00:00Z\r\n/home/a/x.jsonl\r\n")
                .unwrap();
        assert_eq!(older, marker);
    }

    #[test]
    fn exe_14_a_marker_without_content_goes_by_its_name() {
        let started = at("2026-11-15T10:00:00Z");
        let marker = SessionMarker::from_name("session-id-0a1b-2c.start", started).unwrap();
        assert_eq!((marker.session.as_str(), marker.state), ("0a1b-2c", MarkerState::Start));
        assert_eq!((marker.started, marker.transcript.as_str()), (started, ""));
        assert_eq!(SessionMarker::from_name("notes.start", started), Err(Error::Name));
    }

    #[test]
    fn exe_13_unsafe_ids_are_made_safe_or_refused() {
        let name = |session: &str| marker(session, MarkerState::Start).file_name();
        assert_eq!(name(""), Err(Error::Session));
        assert_eq!(name("a\nb"), Err(Error::Session));
        for session in ["../../etc/passwd", "..", "a/b", "con:", "ABC", &"x".repeat(300)] {
            let safe = name(session).unwrap();
            assert!(!safe.contains("..") && !safe.contains('/') && safe.len() < 200, "{safe}");
        }
        assert_ne!(name("ABC"), name("abc"));
        assert_ne!(name("a/b"), name("ab"));
    }

    #[test]
    fn exe_13_other_files_are_not_markers() {
        assert_eq!(SessionMarker::parse("session-id-.start", ""), Err(Error::Name));
        assert_eq!(SessionMarker::parse("notes.start", ""), Err(Error::Name));
        assert_eq!(SessionMarker::parse("session-id-a.txt", ""), Err(Error::Name));
        assert!(matches!(
            SessionMarker::parse("session-id-a.start", "x"),
            Err(Error::Content { line: 1, .. })
        ));
        assert!(matches!(
            SessionMarker::parse("session-id-a.start", "2026-11-15T10:00:00Z"),
            Err(Error::Content { line: 2, .. })
        ));
    }

    /// Requirements: X-23.
    #[test]
    fn exe_14_an_hour_makes_it_due_and_thirty_days_make_it_go() {
        let (start, done) = (marker("a", MarkerState::Start), marker("a", MarkerState::Reflected));
        let limits = IdleLimits::default();
        assert!(!is_due(&start, None, at("2026-11-15T11:00:00Z"), &limits));
        assert!(is_due(&start, None, at("2026-11-15T11:00:01Z"), &limits));
        assert!(!is_due(&done, None, at("2026-11-15T12:00:00Z"), &limits));
        assert!(!is_due(&start, None, at("2020-01-01T00:00:00Z"), &limits), "a clock set back");
        let busy = Some(at("2026-11-15T12:45:00Z"));
        assert!(!is_due(&start, busy, at("2026-11-15T13:15:00Z"), &limits));
        assert!(is_due(&start, busy, at("2026-11-15T13:15:01Z"), &limits));
        assert!(!is_expired(&done, at("2026-12-15T10:00:00Z"), MARKER_RETENTION_DAYS));
        assert!(is_expired(&done, at("2026-12-15T10:00:01Z"), MARKER_RETENTION_DAYS));
        assert!(!is_expired(&start, at("2027-12-15T10:00:01Z"), MARKER_RETENTION_DAYS));
    }
}
