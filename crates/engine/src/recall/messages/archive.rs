//! Message archive: one line per message in `messages/<agent>/<session>.jsonl`, readable by the owner only.
//!
//! Only `forget` changes a line. The id of a message makes it unique, whoever adds it. A line that a crash
//! cut off was never acknowledged; it is truncated and added again.

use std::collections::HashSet;
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rekindle_core::base::agent::Agent;
use rekindle_core::base::hash::ContentHash;
use rekindle_core::base::scope::ProjectId;
use rekindle_core::base::time::Timestamp;
use rekindle_core::session::serialise::excerpt;
use rekindle_core::session::{Message, MessageRole};
use rekindle_core::text::RedactionCounts;
use rekindle_core::vault::tombstone::Graveyard;
use serde::{Deserialize, Serialize};

use crate::platform::disk;

/// The most characters kept of a user message: a page or two; longer text is pasted.
pub const MAX_USER_CHARS: usize = 8_000;
/// The most characters kept of an agent message.
pub const MAX_AGENT_CHARS: usize = 4_000;
/// The most characters kept of a tool's output: enough to find it.
pub const MAX_TOOL_CHARS: usize = 1_000;
/// The longest wait for another process that writes to the same session.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);
/// The number of locks that the sessions share.
const LOCK_COUNT: u64 = 16;
/// The number of bytes buffered before a write.
const WRITE_CHUNK_BYTES: usize = 256 * 1024;

/// The origin of messages: agent, session and place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageSession {
    /// The agent of the session.
    pub agent: Agent,
    /// The host's id for the session.
    pub id: String,
    /// The folder of the session.
    pub cwd: Option<String>,
    /// The project of that folder; `None` means everywhere (B-05).
    pub project: Option<ProjectId>,
}

/// One line of the archive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArchivedMessage {
    /// The message's id, the same as in the transcript.
    pub id: String,
    /// The time of the message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// The speaker of the message.
    pub role: MessageRole,
    /// The text: cleaned, redacted and truncated. An empty text was forgotten.
    pub text: String,
    /// The project of the message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<ProjectId>,
    /// The folder of the message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
}

impl MessageSession {
    /// Its file below the archive. An id that is no valid file name is replaced by its hash.
    pub fn file(&self) -> PathBuf {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let usable = !self.id.is_empty()
            && self.id.len() <= 100
            && !self.id.starts_with('.')
            && self.id.chars().all(plain);
        let name =
            if usable { self.id.clone() } else { ContentHash::of_bytes(self.id.as_bytes()).short_hex(32) };
        Path::new(self.agent.as_str()).join(format!("{name}.jsonl"))
    }
}

/// Converts a message for the archive: `None` if it is empty or was forgotten.
fn archived_form(
    message: &Message,
    cwd: Option<&String>,
    project: Option<&ProjectId>,
    forgotten: &Graveyard,
    redacted: &mut RedactionCounts,
) -> Option<ArchivedMessage> {
    let most = match message.role {
        MessageRole::User => MAX_USER_CHARS,
        MessageRole::Assistant | MessageRole::Summary => MAX_AGENT_CHARS,
        MessageRole::Tool => MAX_TOOL_CHARS,
    };
    let mut said = message.text.clone();
    for call in &message.calls {
        if !said.is_empty() {
            said.push('\n');
        }
        said.push_str(&format!("{}: {}", call.tool, call.input));
    }
    if !forgotten.is_empty() {
        if forgotten.holds_message(&message.id) || forgotten.holds_text(&said) {
            return None;
        }
        if said.lines().any(|line| forgotten.holds_text(line)) {
            let left: Vec<&str> = said.lines().filter(|line| !forgotten.holds_text(line)).collect();
            said = left.join("\n");
        }
    }
    let excerpt = excerpt(&said, most);
    if excerpt.text.trim().is_empty() {
        return None;
    }
    let counts = redacted.iter().chain(excerpt.redacted.iter());
    *redacted = counts.flat_map(|(kind, count)| std::iter::repeat_n(kind, count)).collect();
    Some(ArchivedMessage {
        id: message.id.clone(),
        at: message.at,
        role: message.author(),
        text: excerpt.text,
        project: project.cloned(),
        cwd: cwd.cloned(),
    })
}

/// Appends the messages of one session.
pub struct ArchiveAppender<'a> {
    session: &'a MessageSession,
    forgotten: &'a Graveyard,
    known_ids: HashSet<u64>,
    lines: disk::LineFile,
    waiting: String,
    added: u64,
    redacted: RedactionCounts,
    _lock: File,
}

/// The result of appending to a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AppendResult {
    /// The number of new messages.
    pub messages: u64,
    /// The secrets redacted from them.
    pub redacted: RedactionCounts,
}

impl<'a> ArchiveAppender<'a> {
    pub(super) fn open(
        folder: &Path,
        session: &'a MessageSession,
        forgotten: &'a Graveyard,
    ) -> io::Result<Self> {
        let path = folder.join(session.file());
        if let Some(parent) = path.parent() {
            disk::create_private_folder(parent)?;
        }
        let lock = lock(folder, &path)?;
        let lines = disk::LineFile::open(&path)?;
        let mut known = HashSet::new();
        each_line(&path, 0, &mut |_, line| {
            // A damaged line does not count: a later capture adds its message again.
            if let Ok(kept) = serde_json::from_slice::<ArchivedMessage>(line) {
                known.insert(number(&kept.id));
            }
        })?;
        Ok(Self {
            session,
            forgotten,
            known_ids: known,
            lines,
            waiting: String::new(),
            added: 0,
            redacted: RedactionCounts::default(),
            _lock: lock,
        })
    }

    /// Appends a message unless it is already there. It is durable once [`ArchiveAppender::finish`] returns.
    pub fn add(&mut self, message: &Message) -> io::Result<()> {
        self.add_in_folder(message, self.session.cwd.as_ref(), self.session.project.as_ref())
    }

    /// Appends a message from another folder than the one the session began in.
    pub fn add_in_folder(
        &mut self,
        message: &Message,
        cwd: Option<&String>,
        project: Option<&ProjectId>,
    ) -> io::Result<()> {
        let number = number(&message.id);
        if self.known_ids.contains(&number) {
            return Ok(());
        }
        let Some(kept) = archived_form(message, cwd, project, self.forgotten, &mut self.redacted) else {
            return Ok(());
        };
        self.known_ids.insert(number);
        self.waiting.push_str(&serde_json::to_string(&kept)?);
        self.waiting.push('\n');
        self.added += 1;
        if self.waiting.len() >= WRITE_CHUNK_BYTES { self.write(false) } else { Ok(()) }
    }

    fn write(&mut self, durable: bool) -> io::Result<()> {
        let waiting = std::mem::take(&mut self.waiting);
        self.lines.append(&waiting, durable)
    }

    /// Waits until everything is durable.
    pub fn finish(mut self) -> io::Result<AppendResult> {
        if self.added > 0 {
            self.write(true)?;
        }
        Ok(AppendResult { messages: self.added, redacted: self.redacted })
    }
}

/// Locks a session's file for a change.
pub(super) fn lock(folder: &Path, path: &Path) -> io::Result<File> {
    let locks = folder.join("locks");
    disk::create_private_folder(&locks)?;
    let place = number(&path.file_name()) % LOCK_COUNT;
    disk::lock(&locks.join(format!("{place:02}")), LOCK_TIMEOUT)
}

fn number(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Passes each complete line of a file from byte `from` on, with its end, to `each`. A missing file has none.
pub(crate) fn each_line(path: &Path, from: u64, each: &mut dyn FnMut(u64, &[u8])) -> io::Result<()> {
    use std::io::{Seek as _, SeekFrom};
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    file.seek(SeekFrom::Start(from))?;
    let mut reader = BufReader::with_capacity(WRITE_CHUNK_BYTES, file);
    let (mut at, mut line) = (from, Vec::new());
    loop {
        line.clear();
        let read = reader.read_until(b'\n', &mut line)? as u64;
        if read == 0 || !line.ends_with(b"\n") {
            return Ok(());
        }
        at += read;
        each(at, &line[..line.len() - 1]);
    }
}

/// The file of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ArchiveFile {
    pub(super) agent: Agent,
    /// The name of the session, or of its file.
    pub(super) session: String,
    pub(super) path: PathBuf,
    pub(super) size: u64,
}

/// Lists every archived session, in order of agent and name.
pub(super) fn sessions(folder: &Path) -> Vec<ArchiveFile> {
    find_sessions(folder, |_| true)
}

/// Lists the archived sessions that `wanted` accepts.
pub(super) fn find_sessions(folder: &Path, mut wanted: impl FnMut(&ArchiveFile) -> bool) -> Vec<ArchiveFile> {
    let mut all = Vec::new();
    for agent in Agent::ALL {
        let Ok(entries) = std::fs::read_dir(folder.join(agent.as_str())) else { continue };
        for entry in entries.flatten() {
            let path = entry.path();
            let (Some(session), Ok(data)) =
                (path.file_stem().and_then(|name| name.to_str()), entry.metadata())
            else {
                continue;
            };
            if data.is_file()
                && path.extension().is_some_and(|end| end == "jsonl")
                && !session.starts_with('.')
            {
                let stored = ArchiveFile { agent, session: session.to_owned(), size: data.len(), path };
                all.extend(wanted(&stored).then_some(stored));
            }
        }
    }
    all.sort_by(|a, b| a.path.cmp(&b.path));
    all
}
