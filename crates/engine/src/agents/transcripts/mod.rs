//! The transcripts of other programs: found, and read as messages (FND-06). Nothing here writes.

mod branch;
mod document;
mod error;
mod find;
mod lines;
mod skeleton;
#[cfg(test)]
mod tests;

use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, Read as _};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use rekindle_core::base::agent::Agent;
use rekindle_core::base::time::Timestamp;
use rekindle_core::session::Message;
use rekindle_core::session::host::{self, Transcript, codex};

use lines::{Line, Place};

pub use error::Error;
pub use rekindle_core::session::Head;

/// What reading a transcript came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Read {
    /// What it says about the session.
    pub head: Head,
    /// Up to where it was read: the end of the last whole line. Reading again up to here gives the same.
    pub bytes: u64,
    /// How many messages were passed on.
    pub messages: u64,
    /// Lines of kinds that we do not know.
    pub unknown: u64,
    /// Lines that are not whole: cut off in the middle, or overwritten.
    pub damaged: u64,
    /// Lines that are too long to be looked into ([`MAX_LINE`]).
    pub oversized: u64,
    /// Files with an earlier part of the session that are not there any more.
    pub missing: u64,
    /// Whether the receiver asked to stop; then the counts are of what was read until there.
    pub stopped: bool,
}

/// A longer line is followed and not read: no host writes words into one, only pictures and the like.
pub const MAX_LINE: usize = 32 * 1024 * 1024;

/// A transcript, unread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Whose.
    pub agent: Agent,
    /// Where.
    pub path: PathBuf,
    /// In bytes.
    pub size: u64,
    /// When it was last written.
    pub modified: Option<Timestamp>,
}

/// Every transcript of `agent` below the person's home, oldest first. Those of sub-agents are left out where their
/// place tells; elsewhere their [`Head`] does.
pub fn find(agent: Agent, home: &Path) -> Vec<Found> {
    find::find(agent, home)
}

/// Reads the messages of the current branch, in order, in flat memory. `upto` reads only so many bytes, as if the file
/// ended there; a last line that is not whole is ignored.
pub fn read(
    agent: Agent,
    path: &Path,
    upto: Option<u64>,
    each: &mut dyn FnMut(Message) -> ControlFlow<()>,
) -> Result<Read, Error> {
    let mut reading = Reading::new(agent);
    let parts = parts(agent, path, upto, &mut reading.read.missing)?;
    for (path, upto) in parts {
        reading.file(&path, upto, each)?;
        if reading.read.stopped {
            break;
        }
    }
    let mut read = reading.finish(path)?;
    complete(agent, path, &mut read.head);
    Ok(read)
}

/// The files that make up a session, the earliest first, and how much of each counts.
fn parts(
    agent: Agent,
    path: &Path,
    upto: Option<u64>,
    missing: &mut u64,
) -> Result<Vec<(PathBuf, Option<u64>)>, Error> {
    let mut parts = vec![(path.to_owned(), upto)];
    while agent == Agent::Codex && parts.len() < MAX_PARTS {
        let Some((last, _)) = parts.last() else { break };
        let Some(base) = first_line(last)?.as_deref().and_then(codex::base) else { break };
        match find::sibling(last, &format!("{}.jsonl", base.file)) {
            Some(file) if parts.iter().all(|(known, _)| *known != file) => {
                parts.push((file, Some(base.bytes)));
            }
            _ => {
                *missing += 1;
                break;
            }
        }
    }
    parts.reverse();
    Ok(parts)
}

fn first_line(path: &Path) -> Result<Option<Vec<u8>>, Error> {
    let (mut file, len) = open(path)?;
    let mut first = None;
    let read = lines::forwards(&mut file, len.min(HEAD_BYTES), MAX_LINE, &[], &mut |_, line| {
        if let Line::Whole(line) = line {
            first = Some(line.to_owned());
        }
        false
    });
    read.map_err(|source| Error::Unreadable { path: path.to_owned(), source })?;
    Ok(first)
}

/// What a transcript says about its session in its first lines, without reading the rest.
pub fn head(agent: Agent, path: &Path) -> Result<Head, Error> {
    let (mut file, len) = open(path)?;
    let end = len.min(HEAD_BYTES);
    let mut reading = Reading::new(agent);
    let read = lines::forwards(&mut file, end, MAX_LINE, &[], &mut |place, line| {
        reading.line(place, &line, &mut |_| {});
        let head = reading.transcript.head();
        !(head.session.is_some() && head.cwd.is_some() && head.started.is_some())
    });
    read.map_err(|source| Error::Unreadable { path: path.to_owned(), source })?;
    let mut head = reading.finish(path)?.head;
    complete(agent, path, &mut head);
    Ok(head)
}

/// Whose transcript a file is, by its first lines: the agent that understands most of them.
pub fn recognise(path: &Path) -> Result<Option<Agent>, Error> {
    open(path)?;
    let mut best: Option<(u64, Agent)> = None;
    for agent in Agent::ALL {
        let mut count = 0;
        let read = read(agent, path, Some(HEAD_BYTES), &mut |_| {
            count += 1;
            if count < RECOGNISED { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        let Ok(read) = read else { continue };
        let odd = read.unknown + read.damaged;
        if count > 0 && best.is_none_or(|(least, _)| odd < least) {
            best = Some((odd, agent));
        }
    }
    Ok(best.map(|(_, agent)| agent))
}

/// So many messages are enough to know whose they are.
const RECOGNISED: u64 = 8;
/// Nobody reverts a session more often.
const MAX_PARTS: usize = 256;
/// The first lines are within this.
const HEAD_BYTES: u64 = 1024 * 1024;
/// No folder has a longer path.
const MAX_ROOT: u64 = 64 * 1024;
/// Adds what a host keeps beside its transcripts. Gemini CLI: the folder, where the transcript has only a hash of it.
fn complete(agent: Agent, path: &Path, head: &mut Head) {
    if agent == Agent::Gemini && head.cwd.is_none() {
        let root = path.parent().and_then(Path::parent).map(|project| project.join(".project_root"));
        head.cwd = root.and_then(|root| first_words(&root));
    }
}

/// What a short file says, trimmed; nothing where it is no file or too long.
fn first_words(path: &Path) -> Option<String> {
    let (file, len) = open(path).ok().filter(|(_, len)| *len <= MAX_ROOT)?;
    let mut text = String::new();
    file.take(len).read_to_string(&mut text).ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// Opens a file, and nothing else: to open a pipe would be to wait for whoever writes into it.
fn open(path: &Path) -> Result<(File, u64), Error> {
    let unreadable = |source| Error::Unreadable { path: path.to_owned(), source };
    let no_file = || unreadable(io::Error::new(io::ErrorKind::InvalidInput, "it is not a file"));
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        // Whatever stands there by the time it is opened.
        let flags = OFlags::NONBLOCK.bits().cast_signed();
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, flags);
    }
    #[cfg(not(unix))]
    if std::fs::metadata(path).is_ok_and(|data| !data.is_file()) {
        return Err(no_file());
    }
    let file = options.open(path).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => Error::Missing(path.to_owned()),
        _ => unreadable(source),
    })?;
    let data = file.metadata().map_err(unreadable)?;
    if !data.is_file() {
        return Err(no_file());
    }
    Ok((file, data.len()))
}

/// A transcript while it is read.
struct Reading {
    agent: Agent,
    transcript: Box<dyn Transcript>,
    read: Read,
    /// Where a last line begins that is still being written.
    torn: Option<u64>,
    lines: u64,
    known: u64,
    /// The first line that was not understood: its number, and what it called itself.
    odd: Option<(u64, String)>,
    strange: u64,
}

impl Reading {
    fn new(agent: Agent) -> Self {
        let transcript = host::transcript(agent);
        let read = Read::default();
        Self { agent, transcript, read, torn: None, lines: 0, known: 0, odd: None, strange: 0 }
    }

    fn file(
        &mut self,
        path: &Path,
        upto: Option<u64>,
        each: &mut dyn FnMut(Message) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        let unreadable = |source| Error::Unreadable { path: path.to_owned(), source };
        let (mut file, len) = open(path)?;
        let agent = self.agent;
        self.torn = None;
        let is_document = agent == Agent::Gemini && path.extension().is_some_and(|end| end == "json");
        let end = upto.unwrap_or(len).min(len);
        let mut left = Vec::new();
        if !is_document {
            if end > HEAD_BYTES {
                Self::glance(agent, path, &mut file)?;
            }
            let marking;
            (left, marking) = branch::left(agent, &mut file, end).map_err(unreadable)?;
            self.transcript.know(marking);
        }
        let mut said = Vec::new();
        let mut pass = |place: Place, line: &Line<'_>| {
            self.line(place, line, &mut |message| said.push(message));
            for message in said.drain(..) {
                self.read.messages += 1;
                if each(message).is_break() {
                    self.read.stopped = true;
                    break;
                }
            }
            !self.read.stopped
        };
        if is_document {
            // Rewritten as a whole whenever it grows, so there is no reading a part of it.
            let whole = document::lines(BufReader::new(file), &mut |line| pass((0, 0), &Line::Whole(line)));
            self.read.damaged += u64::from(!whole);
            self.read.bytes = len;
            return Ok(());
        }
        let came = lines::forwards(&mut file, end, MAX_LINE, &left, &mut |place, line| pass(place, &line));
        let came = came.map_err(unreadable)?;
        self.read.bytes = self.torn.unwrap_or(came);
        Ok(())
    }

    /// Whether anything of the first lines is understood; a long file of which nothing is need not be read to its end.
    fn glance(agent: Agent, path: &Path, file: &mut File) -> Result<(), Error> {
        let mut first = Self::new(agent);
        let read = lines::forwards(file, HEAD_BYTES, MAX_LINE, &[], &mut |place, line| {
            first.line(place, &line, &mut |_| {});
            first.known == 0
        });
        read.map_err(|source| Error::Unreadable { path: path.to_owned(), source })?;
        if first.known > 0 { Ok(()) } else { first.finish(path).map(drop) }
    }

    fn line(&mut self, place: Place, line: &Line<'_>, say: &mut dyn FnMut(Message)) {
        self.lines += 1;
        let (line, last) = match line {
            Line::Whole(line) | Line::Last(line) if line.is_empty() => return,
            Line::Whole(line) => (line, false),
            Line::Last(line) => (line, true),
            Line::Oversized => {
                self.read.oversized += 1;
                return;
            }
        };
        let odd = match self.transcript.line(line, say) {
            host::Line::Known => {
                self.known += 1;
                return;
            }
            host::Line::Damaged if last => {
                self.torn = Some(place.0);
                return;
            }
            host::Line::Damaged => {
                self.read.damaged += 1;
                "no JSON".to_owned()
            }
            host::Line::Unknown(what) => {
                self.read.unknown += 1;
                what
            }
            host::Line::Strange(what) => {
                self.read.unknown += 1;
                self.strange += 1;
                what
            }
        };
        self.odd.get_or_insert((self.lines, odd));
    }

    /// What was read, unless nothing of it was understood.
    fn finish(mut self, path: &Path) -> Result<Read, Error> {
        let foreign = self.known == 0 || (self.strange > 0 && self.read.messages == 0);
        if let (true, false, Some((line, seen))) = (foreign, self.read.stopped, self.odd) {
            return Err(Error::UnknownFormat { agent: self.agent, path: path.to_owned(), line, seen });
        }
        self.read.head = self.transcript.head().clone();
        Ok(self.read)
    }
}
