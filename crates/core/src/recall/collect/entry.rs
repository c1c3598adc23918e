//! Documents of entries and of the other shelves of the groups: skills (REC-22), the inbox, the
//! archive (REC-10), the incubator. Each file is one document; long ones are split into windows later.
//!
//! An entry counts as reviewed in two cases. Either it is outside the inbox and its words came from the
//! person outside of any session: saved by command, typed into a note without an origin, or given by
//! `evolve`. Or the person took it out of the inbox, which sets the time in its `reviewed` property; anyone
//! who edits the entry may set it too. Any other entry that a machine distilled from a session is unreviewed,
//! even if it quotes the person. A changed file proves nothing: an agent with a file tool edits it as a
//! person with an editor does (B-01).

use super::visible::visible_words;
use super::{CollectedFile, LocatedText};
use crate::base::provenance::Origin;
use crate::recall::document::{Document, DocumentSource};
use crate::vault::entry::{EntryProperties, EntryStatus, is_reviewed, title};
use crate::vault::frontmatter::{ParsedNote, render_scalar};
use crate::vault::layout::{self, ARCHIVE, EntryGroup, VaultShelf};
use crate::vault::path::VaultPath;

/// The maximum number of lines to search for the end of a properties block that is not valid YAML.
const MAX_LINES: usize = 200;

/// The document of a file on one of the shelves; `None` for any other file.
pub(super) fn documents(file: &CollectedFile<'_>, inside: &str) -> Option<Vec<Document>> {
    let path = shelved(inside)?;
    let shelf = layout::shelf_of(&path);
    if shelf == VaultShelf::Other {
        return None;
    }
    let document = with_properties(file.text, |note, body| {
        let text = visible_words(&file.lines, first_line(file, body)..file.lines.len())?;
        Some(document(file, text, note, &path, shelf))
    });
    Some(document.into_iter().collect())
}

fn document(
    file: &CollectedFile<'_>,
    text: LocatedText,
    note: &ParsedNote<'_>,
    path: &VaultPath,
    shelf: VaultShelf,
) -> Document {
    let entry = EntryProperties::of(note, original(path).as_ref().unwrap_or(path));
    let has = |key| note.text_of(key).is_some();
    let is_direct = !has("session") || !has("origin") || has("evolved_because");
    let source = match shelf {
        VaultShelf::Incubator => DocumentSource::Idea,
        _ if entry.group == EntryGroup::PersonalSkills.folder_name() => DocumentSource::Skill,
        _ => DocumentSource::Entry,
    };
    let holds = match entry.status {
        EntryStatus::Active => true,
        EntryStatus::Incubating => shelf == VaultShelf::Incubator,
        EntryStatus::Resolved | EntryStatus::Superseded | EntryStatus::Other(_) => false,
    };
    let is_inbox = shelf == VaultShelf::Inbox;
    let is_theirs = entry.provenance.origin == Origin::User && is_direct;
    let looked_at = is_reviewed(note);
    let title = title(&text.text, path);
    Document {
        id: entry.id.as_ref().map(|id| id.as_str().to_owned()).unwrap_or_default(),
        tags: entry.tags,
        group: entry.group,
        kind: if entry.kind == path.name() { String::new() } else { entry.kind },
        // A new version dates from its own update, not from the first version.
        created: entry.updated.filter(|_| has("evolved_because")).or(entry.created).or(file.context.modified),
        project: entry.scope.project().cloned(),
        origin: entry.provenance.origin,
        reviewed: !is_inbox && (is_theirs || looked_at),
        inbox: is_inbox,
        active: holds && shelf != VaultShelf::Archive,
        stale: note.text_of("stale") == Some("true"),
        confidence: entry.confidence,
        ..file.titled(source, text, title)
    }
}

/// Parses the path as a vault path. Names that some systems cannot store do not matter here, because the
/// folders alone decide the shelf.
fn shelved(inside: &str) -> Option<VaultPath> {
    VaultPath::parse(inside).ok().or_else(|| {
        let mut parts = inside.split('/');
        let (group, kind) = (parts.next()?, parts.next()?);
        let name = if inside.ends_with(".md") { "note.md" } else { "note" };
        VaultPath::parse(&format!("{group}/{kind}/{name}")).ok()
    })
}

/// The original path of an archived version: `personal-private/_archive/<path>.20261115.md`.
fn original(path: &VaultPath) -> Option<VaultPath> {
    let (_, archived) = path.as_str().split_once(ARCHIVE)?;
    let (original, _) = archived.strip_prefix('/')?.strip_suffix(".md")?.rsplit_once('.')?;
    VaultPath::parse(original).ok()
}

/// Passes the properties of a note and the start of its body to `take`. From invalid YAML it recovers the
/// readable properties: a missing quote must not make a memory public or active again.
pub(super) fn with_properties<T>(text: &str, take: impl FnOnce(&ParsedNote<'_>, usize) -> T) -> T {
    if let Ok(note) = ParsedNote::parse(text) {
        return take(&note, note.head().len());
    }
    let (head, body) = mended(text);
    take(&ParsedNote::parse(&head).unwrap_or_else(|_| ParsedNote::body_only("")), body)
}

/// The index of the first line of the body.
pub(super) fn first_line(file: &CollectedFile<'_>, body: usize) -> usize {
    file.lines.partition_point(|line| line.start < body)
}

/// Typical properties of an entry: an unclosed block without any of these is a horizontal rule followed by
/// text.
const ENTRY_PROPERTIES: [&str; 8] = ["id", "kind", "status", "created", "scope", "project", "origin", "tags"];

/// Rebuilds the `key: value` lines of an invalid YAML block as valid YAML. Also returns the end of the block:
/// its closing line, or the end of such lines.
fn mended(text: &str) -> (String, usize) {
    let is_edge = |line: &str| matches!(line.trim_end(), "---" | "...");
    let opening = text.split_inclusive('\n').next().unwrap_or_default().len();
    let is_closed = text[opening..].lines().take(MAX_LINES).any(is_edge);
    let mut fields: Vec<(&str, &str)> = Vec::new();
    let mut end = opening;
    for line in text[opening..].split_inclusive('\n') {
        let field = line.split_once(':').filter(|(key, _)| is_key(key));
        if !is_closed && field.is_none() {
            break;
        }
        end += line.len();
        if is_edge(line) {
            break;
        }
        let Some((key, value)) = field else { continue };
        let value = value.split(" #").next().unwrap_or_default().trim().trim_matches(['"', '\'']);
        if !value.is_empty() && value != "null" && !fields.iter().any(|(known, _)| *known == key) {
            fields.push((key, value));
        }
    }
    if !is_closed && !fields.iter().any(|(key, _)| ENTRY_PROPERTIES.contains(key)) {
        return (String::new(), 0);
    }
    let lines: String =
        fields.iter().map(|(key, value)| format!("{key}: {}\n", render_scalar(value))).collect();
    (format!("---\n{lines}---\n"), end)
}

fn is_key(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
}
