//! Redaction: no secret is stored, indexed, injected or sent (B-03, SEC-04). Every such text goes through
//! [`redact`] first.
//!
//! A secret becomes `[redacted:<secret_kind>]`. Only its kind and the number are reported. Each scanner below
//! recognises one way in which secrets appear in text and walks it once, by hand. A hook is a new process on
//! every prompt, and compiling a set of regular expressions would cost it more than everything else it does.
//!
//! If a scanner has to choose, it redacts a literal in a place where only a secret can be, even if it is a
//! weak password. It keeps a word in a sentence about secrets, a placeholder (`changeme`, `<your-api-key>`)
//! and a reference (`${API_KEY}`, `process.env.TOKEN`).

mod accounts;
mod assignments;
mod columns;
mod commands;
mod connectors;
mod cue_words;
mod hashes;
mod headers;
mod line_forms;
mod line_window;
mod lines;
mod literal;
mod manifests;
mod names;
mod numbers;
mod pem;
mod phrases;
mod placeholders;
mod prescan;
mod secret_kind;
mod sentences;
mod shapes;
mod tokens;
mod urls;
mod values;
mod vocabulary;
mod walk;
mod words;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::ops::Range;

use prescan::ScanMarks;
pub use secret_kind::{RedactionCounts, SecretKind};
use walk::{MASK_BYTE, SecretSpan};

const SCANNERS: [fn(&str, &ScanMarks, &mut Vec<SecretSpan>); 13] = [
    pem::scan,
    tokens::scan,
    shapes::scan,
    urls::scan,
    numbers::scan,
    accounts::scan,
    hashes::scan,
    manifests::scan,
    lines::scan,
    headers::scan,
    assignments::scan,
    commands::scan,
    sentences::scan,
];

/// The maximum number of passes. Removing a secret can expose its neighbour (two tokens joined together). One
/// more pass is nearly always the last, and the limit keeps adversarial text cheap.
const MAX_PASSES: usize = 8;

/// A text without its secrets, with their counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RedactedText<'a> {
    /// The redacted text, borrowed if there was nothing to redact.
    pub text: Cow<'a, str>,
    /// The counts of redacted secrets.
    pub counts: RedactionCounts,
}

/// The position of a secret, without its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretLocation {
    /// The kind of secret.
    pub kind: SecretKind,
    /// Its byte range in the text.
    pub range: Range<usize>,
    /// The line it begins on, counted from 1.
    pub line: usize,
}

/// Replaces every secret in `text` by `[redacted:<kind>]` and keeps everything else. Idempotent.
pub fn redact(text: &str) -> RedactedText<'_> {
    let spans = secrets(text);
    if spans.is_empty() {
        return RedactedText { text: Cow::Borrowed(text), counts: RedactionCounts::default() };
    }
    let redacted = replaced(text, &spans, |span| format!("[redacted:{}]", span.kind));
    RedactedText { text: Cow::Owned(redacted), counts: spans.iter().map(|span| span.kind).collect() }
}

/// The positions of the secrets in `text`, in order and without overlap, for reports that must not repeat
/// them.
pub fn find(text: &str) -> Vec<SecretLocation> {
    let (mut line, mut counted) = (1, 0);
    let findings = secrets(text).into_iter().map(|span| {
        line += text[counted..span.start].bytes().filter(|b| *b == b'\n').count();
        counted = span.start;
        SecretLocation { kind: span.kind, range: span.start..span.end, line }
    });
    findings.collect()
}

fn secrets(text: &str) -> Vec<SecretSpan> {
    let mut masked = replaced_if_any(text, &placeholders(text));
    let mut all = Vec::new();
    for _ in 0..MAX_PASSES {
        let mut found = Vec::new();
        let marks = ScanMarks::scan(&masked);
        SCANNERS.iter().for_each(|scan| scan(&masked, &marks, &mut found));
        if found.is_empty() {
            break;
        }
        let found = disjoint(&masked, found);
        if found.is_empty() {
            break;
        }
        masked = replaced_if_any(&masked, &found).into_owned().into();
        all.extend(found);
    }
    all.sort_unstable_by_key(|span| span.start);
    all
}

/// The placeholders that earlier redaction left in `text`.
fn placeholders(text: &str) -> Vec<SecretSpan> {
    const REDACTION_PREFIX: &str = "[redacted:";
    let mut spans = Vec::new();
    // Testing for presence is much faster than finding the position.
    if !text.contains(REDACTION_PREFIX) {
        return spans;
    }
    let mut from = 0;
    while let Some(start) = text[from..].find(REDACTION_PREFIX).map(|at| from + at) {
        from = start + REDACTION_PREFIX.len();
        let name = walk::run_end(text.as_bytes(), from, |b| b.is_ascii_lowercase() || b == b'-');
        if name > from && text.as_bytes().get(name) == Some(&b']') {
            spans.push(SecretSpan { kind: SecretKind::Secret, start, end: name + 1 });
            from = name + 1;
        }
    }
    spans
}

/// Masks `spans` in `text`. A mask has the length of its span, so positions stay the same.
fn replaced_if_any<'a>(text: &'a str, spans: &[SecretSpan]) -> Cow<'a, str> {
    if spans.is_empty() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(replaced(text, spans, |span| char::from(MASK_BYTE).to_string().repeat(span.end - span.start)))
}

fn replaced(text: &str, spans: &[SecretSpan], by: impl Fn(&SecretSpan) -> String) -> String {
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for span in spans {
        out.push_str(&text[from..span.start]);
        out.push_str(&by(span));
        from = span.end;
    }
    out.push_str(&text[from..]);
    out
}

/// Sorts spans, aligns them to character boundaries and merges overlaps under the more specific kind. Text
/// that is redacted already is left out.
fn disjoint(masked: &str, mut found: Vec<SecretSpan>) -> Vec<SecretSpan> {
    found.sort_unstable_by_key(|span| (span.start, span.end));
    let mut spans: Vec<SecretSpan> = Vec::with_capacity(found.len());
    for span in found {
        match spans.last_mut() {
            Some(last) if span.start < last.end => {
                last.end = last.end.max(span.end);
                last.kind = last.kind.min(span.kind);
            }
            _ => spans.push(span),
        }
    }
    spans.iter().flat_map(|span| outside_mask(masked, *span)).collect()
}

fn outside_mask(masked: &str, span: SecretSpan) -> Vec<SecretSpan> {
    let (start, end) = (masked.floor_char_boundary(span.start), masked.ceil_char_boundary(span.end));
    let mut at = start;
    let parts = masked[start..end].split(char::from(MASK_BYTE)).map(|part| {
        let start = at;
        at += part.len() + 1;
        SecretSpan { kind: span.kind, start, end: start + part.len() }
    });
    parts.filter(|part| part.start < part.end).collect()
}
