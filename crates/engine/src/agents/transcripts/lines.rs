//! Reads the lines of a file that another program may still be writing, backwards or forwards, in constant
//! memory.
//!
//! The file is read, not mapped: a host that truncates it would crash this process.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};

/// The number of bytes per read.
pub(super) const READ_BLOCK_BYTES: usize = 256 * 1024;

/// A line, or a marker for one that exceeds the limit.
pub(super) enum TranscriptLine<'a> {
    /// A line without its line break.
    Whole(&'a [u8]),
    /// The last line, if it has no line break: it may be incomplete.
    Last(&'a [u8]),
    /// The line exceeds the limit.
    Oversized,
}

/// The range of a line: its first byte, and the first byte behind its line break.
pub(super) type LineSpan = (u64, u64);

/// Passes the lines that end at or before `end` to `each`, last first. A line longer than `longest` is passed
/// as a range only. `block` is the number of bytes per read.
pub(super) fn each_line_backwards(
    file: &mut File,
    end: u64,
    longest: usize,
    block: usize,
    each: &mut dyn FnMut(LineSpan, TranscriptLine<'_>),
) -> io::Result<()> {
    // `held` has the bytes from `start` on; those behind `until` were already passed on.
    let mut held: Vec<u8> = Vec::new();
    let mut start = end;
    let mut until = 0_usize;
    // The end of an oversized line whose start is not found yet.
    let mut oversized: Option<u64> = None;
    loop {
        // The line break that ends the line in front of `until` is not part of it.
        let searched = if oversized.is_some() { until } else { until.saturating_sub(1) };
        if let Some(found) = held[..searched].iter().rposition(|byte| *byte == b'\n') {
            let from = found + 1;
            let place = start + from as u64;
            match oversized.take() {
                Some(behind) => each((place, behind), TranscriptLine::Oversized),
                None => each((place, start + until as u64), line_kind(&held[from..until], longest)),
            }
            until = from;
            continue;
        }
        if start == 0 {
            match oversized {
                Some(behind) => each((0, behind), TranscriptLine::Oversized),
                None if until > 0 => each((0, until as u64), line_kind(&held[..until], longest)),
                None => {}
            }
            return Ok(());
        }
        // A line break may have two bytes, which do not count.
        if oversized.is_none() && until > longest + 2 {
            oversized = Some(start + until as u64);
        }
        if oversized.is_some() {
            until = 0;
        }
        // Double the size each time, so that a long line is not copied over and over.
        let more = (block.max(until) as u64).min(start);
        let size = usize::try_from(more).unwrap_or(block);
        held.truncate(until);
        held.splice(0..0, std::iter::repeat_n(0, size));
        start -= more;
        file.seek(SeekFrom::Start(start))?;
        file.read_exact(&mut held[..size])?;
        until += size;
    }
}

fn line_kind(line: &[u8], longest: usize) -> TranscriptLine<'_> {
    let whole = trimmed(line);
    if whole.len() > longest { TranscriptLine::Oversized } else { TranscriptLine::Whole(whole) }
}

fn trimmed(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Passes the lines before `end` to `each`, in order, without those in `skip` (sorted, whole lines). Stops
/// when `each` says so. Returns the position reached: the end of the last line, or of the last one that
/// `each` saw.
pub(super) fn each_line_forwards(
    file: &mut File,
    end: u64,
    longest: usize,
    skip: &[LineSpan],
    each: &mut dyn FnMut(LineSpan, TranscriptLine<'_>) -> bool,
) -> io::Result<u64> {
    let mut skip = skip.iter().peekable();
    let mut at = 0;
    let mut line = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    let mut reader = BufReader::with_capacity(READ_BLOCK_BYTES, file);
    while at < end {
        if let Some((_, behind)) = skip.next_if(|(start, behind)| *start <= at && *behind > at) {
            let distance = i64::try_from(behind - at).unwrap_or(i64::MAX);
            reader.seek_relative(distance)?;
            at = *behind;
            continue;
        }
        line.clear();
        let most = (longest as u64 + 2).min(end - at);
        let got = reader.by_ref().take(most).read_until(b'\n', &mut line)? as u64;
        if got == 0 {
            break;
        }
        let mut behind = at + got;
        let long = got == most && behind < end && !line.ends_with(b"\n");
        if long {
            behind += reader.by_ref().take(end - behind).skip_until(b'\n')? as u64;
        }
        let whole = trimmed(&line);
        let shown = match whole {
            _ if long || whole.len() > longest => TranscriptLine::Oversized,
            _ if whole.len() == line.len() => TranscriptLine::Last(whole),
            _ => TranscriptLine::Whole(whole),
        };
        let on = each((at, behind), shown);
        at = behind;
        if !on {
            break;
        }
    }
    Ok(at)
}
