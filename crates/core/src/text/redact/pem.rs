//! Scanner for private key blocks: PEM of every flavour, OpenSSH, PGP; on separate lines, on one line, or
//! with escaped line breaks inside of a string.

use super::SecretKind;
use super::prescan::ScanMarks;
use super::walk::{MASK_BYTE, RunEndCache, SecretSpan, base64, starts_word};

/// The maximum length of a label between the dashes.
const MAX_LABEL_BYTES: usize = 64;

/// The minimum length of a base64 line that belongs to a key.
const MIN_KEY_LINE_BYTES: usize = 16;

pub(super) fn scan(text: &str, marks: &ScanMarks, found: &mut Vec<SecretSpan>) {
    headless(text, marks, found);
    // Testing for presence is much faster than finding the position.
    if text.contains("Private-Lines: ") {
        putty(text, found);
    }
    if !text.contains("BEGIN ") {
        return;
    }
    let mut from = 0;
    while let Some(at) = text[from..].find("BEGIN ").map(|at| from + at) {
        from = at + "BEGIN ".len();
        if let Some((start, body)) = header(text, at)
            && let Some(end) = block_end(text, body)
        {
            found.push(SecretSpan { kind: SecretKind::PrivateKey, start, end });
            from = end;
        }
    }
}

/// The start of the dashes before `BEGIN` and the start of the body, if this opens a private key.
fn header(text: &str, begin: usize) -> Option<(usize, usize)> {
    let bytes = text.as_bytes();
    let gap = usize::from(begin > 0 && bytes[begin - 1] == b' ');
    let dashes = bytes[..begin - gap].iter().rev().take(5).take_while(|b| **b == b'-').count();
    if dashes < 4 {
        return None;
    }
    let label_start = begin + "BEGIN ".len();
    let window = &text[label_start..text.floor_char_boundary(label_start + MAX_LABEL_BYTES)];
    let label = &window[..window.find("----")?];
    let private = label.contains("PRIVATE KEY") && !label.contains('\n');
    let after = label_start + label.len();
    let closing = bytes[after..].iter().take(5).take_while(|b| **b == b'-').count();
    private.then_some((begin - gap - dashes, after + closing))
}

/// Finds keys without their BEGIN line, by their first bytes.
fn headless(text: &str, marks: &ScanMarks, found: &mut Vec<SecretSpan>) {
    let bytes = text.as_bytes();
    let mut ends = RunEndCache::default();
    let mut from = 0;
    for &at in &marks.words {
        // Two letters reject nearly all of a text.
        if at < from
            || !matches!(bytes[at..], [b'M', b'I' | b'H' | b'C', ..] | [b'b', b'3', ..] | [b'L', b'S', ..])
        {
            continue;
        }
        if !starts_word(bytes, at) {
            continue;
        }
        let end = ends.find(bytes, at, |b| is_base64(char::from(b)));
        if end - at >= 40 && begins_key(&text[at..at + 40]) {
            let end = lines_end(text, end);
            found.push(SecretSpan { kind: SecretKind::PrivateKey, start: at, end });
            from = end;
        }
    }
}

/// True if base64 data begins like a private key: the version of PKCS#1, PKCS#8, SEC 1 or PKCS#12 directly
/// after the sequence's length (a certificate or a public key has another sequence there), OpenSSH's own
/// magic bytes, or a PEM block that was encoded again.
fn begins_key(head: &str) -> bool {
    let Some(bytes) = base64(head) else { return false };
    let inner = match bytes[..] {
        [0x30, 0x82, _, _, ref inner @ ..] | [0x30, 0x81, _, ref inner @ ..] => inner,
        [0x30, length, ref inner @ ..] if length < 0x80 => inner,
        _ => {
            let label = String::from_utf8_lossy(&bytes);
            let label = label.strip_prefix("-----BEGIN ").unwrap_or_default();
            let named =
                ["PRIVATE", "RSA PRIV", "EC PRIV", "DSA PRIV", "OPENSSH PRIV", "ENCRYPTED PRIV", "PGP PRIV"];
            return bytes.starts_with(b"openssh-key-v1") || named.iter().any(|name| label.starts_with(name));
        }
    };
    matches!(inner, [0x02, 0x01, 0 | 1 | 3, 0x02 | 0x04 | 0x30, ..])
}

/// The end of the base64 lines from `at` on, including an END line behind them.
fn lines_end(text: &str, at: usize) -> usize {
    let mut end = at;
    let mut full = true;
    while let Some(piece) = next_piece(text, end).filter(|piece| is_line_break(&text[end..piece.start])) {
        if let Some(closed) = footer(text, piece.start) {
            return closed;
        }
        let core = text[piece.start..piece.end].trim_end_matches(['"', '\'', ',']);
        let solid = full && !core.is_empty() && core.chars().all(is_base64);
        if !(solid && is_line_end(text, piece.start + core.len())) {
            break;
        }
        full = core.len() >= MIN_KEY_LINE_BYTES;
        // The last line is short, but so is the first word of text below it.
        if !full && !core.bytes().any(|b| b.is_ascii_digit() || b.is_ascii_uppercase() || b == b'=') {
            break;
        }
        end = piece.start + core.len();
    }
    end
}

/// True if the text between two pieces is exactly one line break.
fn is_line_break(between: &str) -> bool {
    let breaks = between.matches('\n').count() + between.matches("\\n").count();
    breaks == 1 || (breaks == 0 && between.is_empty())
}

/// Finds the private part of a PuTTY key: a given number of unlabelled lines.
fn putty(text: &str, found: &mut Vec<SecretSpan>) {
    for (at, header) in text.match_indices("Private-Lines: ") {
        let count = text[at + header.len()..].bytes().take(3).take_while(u8::is_ascii_digit).count();
        let Ok(lines) = text[at + header.len()..at + header.len() + count].parse::<usize>() else { continue };
        let Some(start) = text[at..].find('\n').map(|newline| at + newline + 1) else { continue };
        let body = text[start..].split_inclusive('\n').take(lines);
        let length: usize = body.take_while(|line| line.trim().chars().all(is_base64)).map(str::len).sum();
        let end = start + text[start..start + length].trim_end().len();
        if end > start {
            found.push(SecretSpan { kind: SecretKind::PrivateKey, start, end });
        }
    }
}

/// The maximum number of other pieces skipped in search of a key line or the END line.
const MAX_SKIPPED_PIECES: usize = 64;

/// The end of the block whose body is at `at`: after its END line or, without one, after the last line that
/// looks like part of a key. `None` if the text only mentions a key.
fn block_end(text: &str, at: usize) -> Option<usize> {
    let mut end = None;
    let mut keyed = false;
    let mut passed = 0;
    let mut at = at;
    while let Some(piece) = next_piece(text, at).filter(|_| passed < MAX_SKIPPED_PIECES) {
        if let Some(closed) = footer(text, piece.start) {
            return keyed.then_some(closed);
        }
        let word = &text[piece.start..piece.end];
        if word.contains("---BEGIN") {
            break;
        }
        let core = word.trim_matches(|c| !is_base64(c));
        let solid = core.chars().all(is_base64);
        passed += 1;
        at = piece.end;
        if solid && core.len() >= MIN_KEY_LINE_BYTES {
            keyed = true;
            passed = 0;
            end = Some(piece.end);
        } else if !keyed && word.ends_with(':') {
            // Headers inside of a block: `Proc-Type: 4,ENCRYPTED`, `Comment: …`.
            let line = &text[at..text.floor_char_boundary(at + MAX_LABEL_BYTES * 2)];
            at += line.find(['\n', '\\'])?;
        } else if solid {
            keyed |= core.len() >= 8 && core.bytes().any(|b| b.is_ascii_digit() || b.is_ascii_uppercase());
            // The last line of a key is short, but so is the first word of text below it.
            if passed == 1 && end.is_some() && is_line_end(text, piece.end) {
                end = Some(piece.end);
            }
        } else {
            break;
        }
    }
    end
}

fn is_line_end(text: &str, at: usize) -> bool {
    matches!(text.as_bytes().get(at), None | Some(b'\n' | b'\r' | b'\\'))
}

struct PemPiece {
    start: usize,
    end: usize,
}

/// The next run without white space and escaped line breaks, and without the dashes that follow it.
fn next_piece(text: &str, at: usize) -> Option<PemPiece> {
    let bytes = text.as_bytes();
    let mut start = at;
    loop {
        match bytes.get(start)? {
            b if b.is_ascii_whitespace() => start += 1,
            b'\\' => {
                start += bytes[start..].iter().take_while(|b| **b == b'\\').count();
                start += usize::from(matches!(bytes.get(start), Some(b'n' | b'r')));
            }
            &MASK_BYTE => return None,
            _ => break,
        }
    }
    let end = bytes[start..].iter().position(|b| b.is_ascii_whitespace() || matches!(*b, b'\\' | MASK_BYTE));
    let end = end.map_or(bytes.len(), |length| start + length);
    let dashes = text[start..end].find("-----").filter(|dashes| *dashes > 0);
    Some(PemPiece { start, end: dashes.map_or(end, |dashes| start + dashes) })
}

/// The end of the END line that begins at `at`.
fn footer(text: &str, at: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let dashes = bytes[at..].iter().take_while(|b| **b == b'-').count();
    if dashes < 4 {
        return None;
    }
    let rest = text[at + dashes..].trim_start_matches(' ');
    let label = rest.strip_prefix("END ")?;
    let label_start = text.len() - label.len();
    let window = &text[label_start..text.floor_char_boundary(label_start + MAX_LABEL_BYTES)];
    let after = label_start + window.find("----")?;
    Some(after + bytes[after..].iter().take(5).take_while(|b| **b == b'-').count())
}

fn is_base64(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=' | '_')
}
