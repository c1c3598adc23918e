//! Scanner for Kubernetes manifests of kind `Secret`: everything under `data` and `stringData`.

use super::SecretKind;
use super::placeholders::is_template;
use super::prescan::ScanMarks;
use super::walk::{SecretSpan, judged_part};

/// The maximum distance of a value from the line that gives the kind.
const MAX_MANIFEST_BYTES: usize = 16 * 1024;

pub(super) fn scan(text: &str, _: &ScanMarks, found: &mut Vec<SecretSpan>) {
    // Testing for presence is much faster than finding the position.
    if !text.contains("Secret") || !text.contains("ata") {
        return;
    }
    let mut from = 0;
    while let Some(at) = text[from..].find("Secret").map(|at| from + at) {
        let end = at + "Secret".len();
        if at >= from && is_kind(text, at, end) {
            let (start, stop) = document(text, at);
            values(text, start, stop, found);
            from = stop.max(end);
        } else {
            from = end;
        }
    }
}

/// True if `Secret` is the value of `kind`, in YAML or JSON.
fn is_kind(text: &str, at: usize, end: usize) -> bool {
    let before = text[..at].trim_end_matches(['"', '\'']).trim_end_matches([' ', '\t']);
    let Some(before) = before.strip_suffix(':') else { return false };
    let named = before.trim_end_matches(['"', '\'']).ends_with("kind");
    named && !text[end..].starts_with(|c: char| c.is_alphanumeric())
}

/// The document around `at`, between two separator lines.
fn document(text: &str, at: usize) -> (usize, usize) {
    let start = text.ceil_char_boundary(at.saturating_sub(MAX_MANIFEST_BYTES));
    let start = text[start..at].rfind("\n---").map_or(start, |line| start + line + 1);
    let stop = text.floor_char_boundary(at + MAX_MANIFEST_BYTES);
    let stop = text[at..stop].find("\n---").map_or(stop, |line| at + line);
    (start, stop)
}

fn values(text: &str, start: usize, stop: usize, found: &mut Vec<SecretSpan>) {
    let mut at = start;
    // The indentation of the current block, if any.
    let mut block: Option<usize> = None;
    for line in text[start..stop].split_inclusive('\n') {
        let indent = line.len() - line.trim_start_matches(' ').len();
        let content = line.trim();
        if block.is_some_and(|block| indent <= block) && !content.is_empty() {
            block = None;
        }
        match content.split_once(':') {
            Some(("data" | "stringData", "")) => block = Some(indent),
            Some((_, value)) if block.is_some() => push(at, line, value, found),
            // A value over several lines, below `key: |`.
            None if block.is_some() && content.len() >= 16 => push(at, line, content, found),
            _ => {}
        }
        for key in ["\"data\"", "\"stringData\""] {
            if let Some(open) = line.find(key) {
                inline(at + open + key.len(), text, stop, found);
            }
        }
        at += line.len();
    }
}

/// Reports the value of a line that begins at `at` in the text.
fn push(at: usize, line: &str, value: &str, found: &mut Vec<SecretSpan>) {
    let value = value.trim().trim_matches(['"', '\'']);
    // `|` and `>-` only announce a value, and a very short text is no secret.
    if value.len() < 4 || is_template(judged_part(value)) || value.starts_with('#') {
        return;
    }
    if let Some(start) = line.rfind(value) {
        found.push(SecretSpan { kind: SecretKind::Secret, start: at + start, end: at + start + value.len() });
    }
}

/// Reports the values of the JSON object that begins behind `at`.
fn inline(at: usize, text: &str, stop: usize, found: &mut Vec<SecretSpan>) {
    let rest = text[at..stop].trim_start_matches([':', ' ', '\n', '\t', '\r']);
    let Some(object) = rest.strip_prefix('{') else { return };
    let object = &object[..object.find('}').unwrap_or(object.len())];
    let base = stop - rest.len() + 1;
    let mut from = 0;
    let mut is_value = false;
    for part in object.split('"') {
        // Every second piece is inside quotes; a colon before it makes it a value.
        if is_value && part.len() >= 4 && !is_template(judged_part(part)) {
            found.push(SecretSpan {
                kind: SecretKind::Secret,
                start: base + from,
                end: base + from + part.len(),
            });
        }
        is_value = part.trim() == ":";
        from += part.len() + 1;
    }
}

#[cfg(test)]
mod tests {
    use crate::text::redact::redact;

    #[test]
    fn b_03_every_value_of_a_secret_goes_and_nothing_else_of_it() {
        for (text, expected) in [
            (
                "kind: Secret\nmetadata:\n  name: db-main\ndata:\n  a: c3dvcmRmaXNo\n  b: |\n    c3dvcmRmaXNoc3dv\ntype: Opaque\n",
                "kind: Secret\nmetadata:\n  name: db-main\ndata:\n  a: [redacted:secret]\n  b: |\n    [redacted:secret]\ntype: Opaque\n",
            ),
            (
                "{\"kind\":\"Secret\",\"data\":{\"a\":\"c3dvcmRmaXNo\"},\"type\":\"Opaque\"}",
                "{\"kind\":\"Secret\",\"data\":{\"a\":\"[redacted:secret]\"},\"type\":\"Opaque\"}",
            ),
            (
                "kind: ConfigMap\ndata:\n  a: plainword\n---\nkind: Secret\nstringData:\n  a: swordfish\n",
                "kind: ConfigMap\ndata:\n  a: plainword\n---\nkind: Secret\nstringData:\n  a: [redacted:secret]\n",
            ),
            ("kind: SecretStore\ndata:\n  a: plainword\n", "kind: SecretStore\ndata:\n  a: plainword\n"),
            (
                "kind: Secret\ndata:\n  a: \"{{ .Values.pw }}\"\n",
                "kind: Secret\ndata:\n  a: \"{{ .Values.pw }}\"\n",
            ),
        ] {
            assert_eq!(redact(text).text, expected);
        }
    }
}
