//! Private key blocks: PEM of every flavour, OpenSSH, PGP; on lines of their own, on one line, or with their line
//! breaks escaped inside a string.

use super::Kind;
use super::marks::Marks;
use super::walk::{MASK, Span};

/// The longest label a block may have between its dashes.
const LABEL: usize = 64;

/// A line this long and made of nothing but base64 is part of a key.
const LINE: usize = 16;

pub(super) fn scan(text: &str, _: &Marks, found: &mut Vec<Span>) {
    // Whether it is there at all is told much faster than where.
    if !text.contains("BEGIN ") {
        return;
    }
    let mut from = 0;
    while let Some(at) = text[from..].find("BEGIN ").map(|at| from + at) {
        from = at + "BEGIN ".len();
        if let Some((start, body)) = header(text, at)
            && let Some(end) = block_end(text, body)
        {
            found.push(Span { kind: Kind::PrivateKey, start, end });
            from = end;
        }
    }
}

/// Where the dashes before `BEGIN` start and where the body begins, if this opens a private key.
fn header(text: &str, begin: usize) -> Option<(usize, usize)> {
    let bytes = text.as_bytes();
    let gap = usize::from(begin > 0 && bytes[begin - 1] == b' ');
    let dashes = bytes[..begin - gap].iter().rev().take(5).take_while(|b| **b == b'-').count();
    if dashes < 4 {
        return None;
    }
    let label_start = begin + "BEGIN ".len();
    let window = &text[label_start..text.floor_char_boundary(label_start + LABEL)];
    let label = &window[..window.find("----")?];
    let private = label.contains("PRIVATE KEY") && !label.contains('\n');
    let after = label_start + label.len();
    let closing = bytes[after..].iter().take(5).take_while(|b| **b == b'-').count();
    private.then_some((begin - gap - dashes, after + closing))
}

/// How many pieces that are no line of a key are passed over in search of one, or of the END line.
const PATIENCE: usize = 64;

/// Where the block ends that has its body at `at`: after its END line, or, where that is missing, after the last
/// line that looks like part of a key. `None` if there is no key, only talk about one.
fn block_end(text: &str, at: usize) -> Option<usize> {
    let mut end = None;
    let mut keyed = false;
    let mut passed = 0;
    let mut at = at;
    while let Some(piece) = next_piece(text, at).filter(|_| passed < PATIENCE) {
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
        if solid && core.len() >= LINE {
            keyed = true;
            passed = 0;
            end = Some(piece.end);
        } else if !keyed && word.ends_with(':') {
            // `Proc-Type: 4,ENCRYPTED`, `Comment: …`
            let line = &text[at..text.floor_char_boundary(at + LABEL * 2)];
            at += line.find(['\n', '\\'])?;
        } else if solid {
            keyed |= core.len() >= 8 && core.bytes().any(|b| b.is_ascii_digit() || b.is_ascii_uppercase());
            // The last line of a key is short; so is the first word of what somebody wrote below it.
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

struct Piece {
    start: usize,
    end: usize,
}

/// The next run without whitespace and without escaped line breaks.
fn next_piece(text: &str, at: usize) -> Option<Piece> {
    let bytes = text.as_bytes();
    let mut start = at;
    loop {
        match bytes.get(start)? {
            b if b.is_ascii_whitespace() => start += 1,
            b'\\' => {
                start += bytes[start..].iter().take_while(|b| **b == b'\\').count();
                start += usize::from(matches!(bytes.get(start), Some(b'n' | b'r')));
            }
            &MASK => return None,
            _ => break,
        }
    }
    let end = bytes[start..].iter().position(|b| b.is_ascii_whitespace() || matches!(*b, b'\\' | MASK));
    Some(Piece { start, end: end.map_or(bytes.len(), |length| start + length) })
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
    let window = &text[label_start..text.floor_char_boundary(label_start + LABEL)];
    let after = label_start + window.find("----")?;
    Some(after + bytes[after..].iter().take(5).take_while(|b| **b == b'-').count())
}

fn is_base64(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=' | '_')
}
