//! What was said in a session, one line a message: `messages/<agent>/<session>.jsonl`, for the owner only.
//!
//! A line is never changed except by `forget`, and a message is there once, whoever brings it: its id says which it is.
//! A line that a crash cut off was never acknowledged; it is cut away and comes again.

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
use rekindle_core::session::{Message, Role};
use rekindle_core::text::Counts;
use rekindle_core::vault::tombstone::Graveyard;
use serde::{Deserialize, Serialize};

use crate::platform::disk;

/// The most characters that are kept of what a person said: a page or two, more is pasted.
pub const MAX_USER: usize = 8_000;
/// The most characters of what an agent said.
pub const MAX_AGENT: usize = 4_000;
/// The most characters of a tool's output: enough to find it by.
pub const MAX_TOOL: usize = 1_000;
/// How long to wait for another process that writes into the same session.
const PATIENCE: Duration = Duration::from_secs(10);
/// So many sessions can be written into side by side; each has one of these locks.
const LOCKS: u64 = 16;
/// Written to the disk at once.
const CHUNK: usize = 256 * 1024;

/// Whose words, and where they were said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// The agent.
    pub agent: Agent,
    /// The host's id for the session.
    pub id: String,
    /// The folder it was held in.
    pub cwd: Option<String>,
    /// The project of that folder; `None` is everywhere (B-05).
    pub project: Option<ProjectId>,
}

/// One line of the archive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    /// The message's id, the same as in the transcript.
    pub id: String,
    /// When it was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// Who said it.
    pub role: Role,
    /// What, clean, without secrets, and cut. Empty: it was forgotten.
    pub text: String,
    /// The project it was said in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<ProjectId>,
    /// The folder it was said in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
}

impl Session {
    /// Its file below the archive. An id that is no file name is kept by its hash.
    pub fn file(&self) -> PathBuf {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let usable = !self.id.is_empty()
            && self.id.len() <= 100
            && !self.id.starts_with('.')
            && self.id.chars().all(plain);
        let name = if usable { self.id.clone() } else { ContentHash::of(self.id.as_bytes()).short(32) };
        Path::new(self.agent.word()).join(format!("{name}.jsonl"))
    }
}

/// What of a message is kept: `None` if it says nothing, or was forgotten.
fn kept(
    message: &Message,
    cwd: Option<&String>,
    project: Option<&ProjectId>,
    forgotten: &Graveyard,
    redacted: &mut Counts,
) -> Option<Kept> {
    let most = match message.role {
        Role::User => MAX_USER,
        Role::Assistant | Role::Summary => MAX_AGENT,
        Role::Tool => MAX_TOOL,
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
    Some(Kept {
        id: message.id.clone(),
        at: message.at,
        role: message.role,
        text: excerpt.text,
        project: project.cloned(),
        cwd: cwd.cloned(),
    })
}

/// Adds the messages of one session.
pub struct Appender<'a> {
    session: &'a Session,
    forgotten: &'a Graveyard,
    known: HashSet<u64>,
    lines: disk::Lines,
    waiting: String,
    added: u64,
    redacted: Counts,
    _lock: File,
}

/// What was added to a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Added {
    /// How many messages were new.
    pub messages: u64,
    /// What was taken out of them.
    pub redacted: Counts,
}

impl<'a> Appender<'a> {
    pub(super) fn open(folder: &Path, session: &'a Session, forgotten: &'a Graveyard) -> io::Result<Self> {
        let path = folder.join(session.file());
        if let Some(parent) = path.parent() {
            disk::make_folder(parent)?;
        }
        let lock = lock(folder, &path)?;
        let lines = disk::Lines::open(&path)?;
        let mut known = HashSet::new();
        each_line(&path, 0, &mut |_, line| {
            // A damaged line is none: what it said is brought back by whoever still has it.
            if let Ok(kept) = serde_json::from_slice::<Kept>(line) {
                known.insert(number(&kept.id));
            }
        })?;
        Ok(Self {
            session,
            forgotten,
            known,
            lines,
            waiting: String::new(),
            added: 0,
            redacted: Counts::default(),
            _lock: lock,
        })
    }

    /// Adds a message, unless it is there already. It is on the disk when [`Appender::finish`] returns.
    pub fn add(&mut self, message: &Message) -> io::Result<()> {
        self.add_from(message, self.session.cwd.as_ref(), self.session.project.as_ref())
    }

    /// The same for a message that was said in another folder than the one the session began in.
    pub fn add_from(
        &mut self,
        message: &Message,
        cwd: Option<&String>,
        project: Option<&ProjectId>,
    ) -> io::Result<()> {
        let number = number(&message.id);
        if self.known.contains(&number) {
            return Ok(());
        }
        let Some(kept) = kept(message, cwd, project, self.forgotten, &mut self.redacted) else {
            return Ok(());
        };
        self.known.insert(number);
        self.waiting.push_str(&serde_json::to_string(&kept)?);
        self.waiting.push('\n');
        self.added += 1;
        if self.waiting.len() >= CHUNK { self.write(false) } else { Ok(()) }
    }

    fn write(&mut self, durable: bool) -> io::Result<()> {
        let waiting = std::mem::take(&mut self.waiting);
        self.lines.append(&waiting, durable)
    }

    /// Waits until everything is on the disk.
    pub fn finish(mut self) -> io::Result<Added> {
        if self.added > 0 {
            self.write(true)?;
        }
        Ok(Added { messages: self.added, redacted: self.redacted })
    }
}

/// The right to change a session's file.
pub(super) fn lock(folder: &Path, path: &Path) -> io::Result<File> {
    let locks = folder.join("locks");
    disk::make_folder(&locks)?;
    let place = number(&path.file_name()) % LOCKS;
    disk::lock(&locks.join(format!("{place:02}")), PATIENCE)
}

fn number(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Passes the whole lines of a file to `each`, from byte `from` on, with where each ends. A file that is not there has
/// none.
pub(crate) fn each_line(path: &Path, from: u64, each: &mut dyn FnMut(u64, &[u8])) -> io::Result<()> {
    use std::io::{Seek as _, SeekFrom};
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    file.seek(SeekFrom::Start(from))?;
    let mut reader = BufReader::with_capacity(CHUNK, file);
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

/// A session's file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stored {
    pub(super) agent: Agent,
    /// The name of the session, or of its file.
    pub(super) session: String,
    pub(super) path: PathBuf,
    pub(super) size: u64,
}

/// Every session that is kept, in order of agent and name.
pub(super) fn sessions(folder: &Path) -> Vec<Stored> {
    sessions_where(folder, |_| true)
}

/// Those of them that `wanted` wants, of however many.
pub(super) fn sessions_where(folder: &Path, mut wanted: impl FnMut(&Stored) -> bool) -> Vec<Stored> {
    let mut all = Vec::new();
    for agent in Agent::ALL {
        let Ok(entries) = std::fs::read_dir(folder.join(agent.word())) else { continue };
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
                let stored = Stored { agent, session: session.to_owned(), size: data.len(), path };
                all.extend(wanted(&stored).then_some(stored));
            }
        }
    }
    all.sort_by(|a, b| a.path.cmp(&b.path));
    all
}
