//! Finds the transcripts of other programs and reads them as messages (FND-06). Nothing here writes.

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
use rekindle_core::session::host::{self, TranscriptParser, codex};

use lines::{LineSpan, TranscriptLine};

pub use error::Error;
pub use rekindle_core::session::SessionHead;

/// The result of reading a transcript.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TranscriptSummary {
    /// The metadata of the session.
    pub head: SessionHead,
    /// The position reached: the end of the last whole line. Reading again up to here gives the same result.
    pub bytes: u64,
    /// The number of messages passed on.
    pub messages: u64,
    /// The number of lines of unknown types.
    pub unknown: u64,
    /// The number of damaged lines: truncated or overwritten.
    pub damaged: u64,
    /// The number of lines longer than [`MAX_LINE_BYTES`].
    pub oversized: u64,
    /// The number of missing files with earlier parts of the session.
    pub missing: u64,
    /// True if the receiver asked to stop; the counts then cover the part before.
    pub stopped: bool,
}

/// The maximum length of a line that is parsed. No host writes words into a longer one, only images and the
/// like; it is linked into its branch but not read.
pub const MAX_LINE_BYTES: usize = 32 * 1024 * 1024;

/// A transcript that has not been read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TranscriptFile {
    /// The agent that wrote it.
    pub agent: Agent,
    /// The path of the file.
    pub path: PathBuf,
    /// The size in bytes.
    pub size: u64,
    /// The time of the last write.
    pub modified: Option<Timestamp>,
}

/// Finds all transcripts of `agent` below the user's home, oldest first. Sub-agents' transcripts are left out
/// if their path identifies them; otherwise their [`SessionHead`] does.
pub fn find(agent: Agent, home: &Path) -> Vec<TranscriptFile> {
    find::find(agent, home)
}

/// Reads the messages of the current branch, in order, in constant memory. `upto` limits the number of bytes,
/// as if the file ended there; an incomplete last line is ignored.
pub fn read(
    agent: Agent,
    path: &Path,
    upto: Option<u64>,
    each: &mut dyn FnMut(Message) -> ControlFlow<()>,
) -> Result<TranscriptSummary, Error> {
    let mut reading = TranscriptReader::new(agent);
    let parts = session_parts(agent, path, upto, &mut reading.read.missing)?;
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

/// The files of a session, earliest first, and the valid length of each.
fn session_parts(
    agent: Agent,
    path: &Path,
    upto: Option<u64>,
    missing: &mut u64,
) -> Result<Vec<(PathBuf, Option<u64>)>, Error> {
    let mut parts = vec![(path.to_owned(), upto)];
    while agent == Agent::Codex && parts.len() < MAX_PARTS {
        let Some((last, _)) = parts.last() else { break };
        let Some(base) = first_line(last)?.as_deref().and_then(codex::session_base) else { break };
        match find::find_sibling(last, &format!("{}.jsonl", base.file)) {
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
    let read =
        lines::each_line_forwards(&mut file, len.min(HEAD_BYTES), MAX_LINE_BYTES, &[], &mut |_, line| {
            if let TranscriptLine::Whole(line) = line {
                first = Some(line.to_owned());
            }
            false
        });
    read.map_err(|source| Error::Unreadable { path: path.to_owned(), source })?;
    Ok(first)
}

/// Reads the session's metadata from the first lines of a transcript.
pub fn read_head(agent: Agent, path: &Path) -> Result<SessionHead, Error> {
    let (mut file, len) = open(path)?;
    let end = len.min(HEAD_BYTES);
    let mut reading = TranscriptReader::new(agent);
    let read = lines::each_line_forwards(&mut file, end, MAX_LINE_BYTES, &[], &mut |place, line| {
        reading.line(place, &line, &mut |_| {});
        let head = reading.transcript.head();
        !(head.session.is_some() && head.cwd.is_some() && head.started.is_some())
    });
    read.map_err(|source| Error::Unreadable { path: path.to_owned(), source })?;
    let mut head = reading.finish(path)?.head;
    complete(agent, path, &mut head);
    Ok(head)
}

/// Identifies the agent of a transcript by its first lines: the agent that understands most of them.
pub fn recognise_agent(path: &Path) -> Result<Option<Agent>, Error> {
    open(path)?;
    let mut best: Option<(u64, Agent)> = None;
    for agent in Agent::ALL {
        let mut count = 0;
        let read = read(agent, path, Some(HEAD_BYTES), &mut |_| {
            count += 1;
            if count < MIN_KNOWN_MESSAGES { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        let Ok(read) = read else { continue };
        let odd = read.unknown + read.damaged;
        if count > 0 && best.is_none_or(|(least, _)| odd < least) {
            best = Some((odd, agent));
        }
    }
    Ok(best.map(|(_, agent)| agent))
}

/// The number of messages that suffices to identify the agent.
const MIN_KNOWN_MESSAGES: u64 = 8;
/// The maximum number of parts of a session.
const MAX_PARTS: usize = 256;
/// The number of bytes that contain the first lines.
const HEAD_BYTES: u64 = 1024 * 1024;
/// The maximum length of a path in a file.
const MAX_ROOT_BYTES: u64 = 64 * 1024;
/// Adds metadata from files beside the transcript: for Gemini CLI the folder, if the transcript has only a
/// hash of it.
fn complete(agent: Agent, path: &Path, head: &mut SessionHead) {
    if agent == Agent::Gemini && head.cwd.is_none() {
        let root = path.parent().and_then(Path::parent).map(|project| project.join(".project_root"));
        head.cwd = root.and_then(|root| first_words(&root));
    }
}

/// The trimmed text of a short file; `None` if it is missing, no file or too long.
fn first_words(path: &Path) -> Option<String> {
    let (file, len) = open(path).ok().filter(|(_, len)| *len <= MAX_ROOT_BYTES)?;
    let mut text = String::new();
    file.take(len).read_to_string(&mut text).ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// Opens a regular file only: opening a pipe would wait for its writer.
fn open(path: &Path) -> Result<(File, u64), Error> {
    let unreadable = |source| Error::Unreadable { path: path.to_owned(), source };
    let no_file = || unreadable(io::Error::new(io::ErrorKind::InvalidInput, "it is not a file"));
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        // Another file may have taken its place since the check.
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

/// The state of reading a transcript.
struct TranscriptReader {
    agent: Agent,
    transcript: Box<dyn TranscriptParser>,
    read: TranscriptSummary,
    /// The start of an incomplete last line.
    torn: Option<u64>,
    lines: u64,
    known_bytes: u64,
    /// The first line that was not understood: its number and type.
    odd: Option<(u64, String)>,
    strange: u64,
}

impl TranscriptReader {
    fn new(agent: Agent) -> Self {
        let transcript = host::transcript_parser(agent);
        let read = TranscriptSummary::default();
        Self { agent, transcript, read, torn: None, lines: 0, known_bytes: 0, odd: None, strange: 0 }
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
                Self::probe_format(agent, path, &mut file)?;
            }
            let marking;
            (left, marking) = branch::omitted_lines(agent, &mut file, end).map_err(unreadable)?;
            self.transcript.know(marking);
        }
        let mut messages = Vec::new();
        let mut pass = |place: LineSpan, line: &TranscriptLine<'_>| {
            self.line(place, line, &mut |message| messages.push(message));
            for message in messages.drain(..) {
                self.read.messages += 1;
                if each(message).is_break() {
                    self.read.stopped = true;
                    break;
                }
            }
            !self.read.stopped
        };
        if is_document {
            // The document is rewritten whenever it grows, so it is always read as a whole.
            let whole =
                document::lines(BufReader::new(file), &mut |line| pass((0, 0), &TranscriptLine::Whole(line)));
            self.read.damaged += u64::from(!whole);
            self.read.bytes = len;
            return Ok(());
        }
        let read_to = lines::each_line_forwards(&mut file, end, MAX_LINE_BYTES, &left, &mut |place, line| {
            pass(place, &line)
        });
        let read_to = read_to.map_err(unreadable)?;
        self.read.bytes = self.torn.unwrap_or(read_to);
        Ok(())
    }

    /// Checks that the first lines are understood, so that a long file of an unknown format need not be read
    /// to its end.
    fn probe_format(agent: Agent, path: &Path, file: &mut File) -> Result<(), Error> {
        let mut first = Self::new(agent);
        let read = lines::each_line_forwards(file, HEAD_BYTES, MAX_LINE_BYTES, &[], &mut |place, line| {
            first.line(place, &line, &mut |_| {});
            first.known_bytes == 0
        });
        read.map_err(|source| Error::Unreadable { path: path.to_owned(), source })?;
        if first.known_bytes > 0 { Ok(()) } else { first.finish(path).map(drop) }
    }

    fn line(&mut self, place: LineSpan, line: &TranscriptLine<'_>, say: &mut dyn FnMut(Message)) {
        self.lines += 1;
        let (line, last) = match line {
            TranscriptLine::Whole(line) | TranscriptLine::Last(line) if line.is_empty() => return,
            TranscriptLine::Whole(line) => (line, false),
            TranscriptLine::Last(line) => (line, true),
            TranscriptLine::Oversized => {
                self.read.oversized += 1;
                return;
            }
        };
        let odd = match self.transcript.line(line, say) {
            host::LineVerdict::Known => {
                self.known_bytes += 1;
                return;
            }
            host::LineVerdict::Damaged if last => {
                self.torn = Some(place.0);
                return;
            }
            host::LineVerdict::Damaged => {
                self.read.damaged += 1;
                "no JSON".to_owned()
            }
            host::LineVerdict::Unknown(what) => {
                self.read.unknown += 1;
                what
            }
            host::LineVerdict::Strange(what) => {
                self.read.unknown += 1;
                self.strange += 1;
                what
            }
        };
        self.odd.get_or_insert((self.lines, odd));
    }

    /// The result, or an error if no line was understood.
    fn finish(mut self, path: &Path) -> Result<TranscriptSummary, Error> {
        let foreign = self.known_bytes == 0 || (self.strange > 0 && self.read.messages == 0);
        if let (true, false, Some((line, seen))) = (foreign, self.read.stopped, self.odd) {
            return Err(Error::UnknownFormat { agent: self.agent, path: path.to_owned(), line, seen });
        }
        self.read.head = self.transcript.head().clone();
        Ok(self.read)
    }
}
