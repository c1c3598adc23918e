//! One memory with everything about it: its text, its versions, its origin, its links and its use.

pub(crate) mod change;
pub(crate) mod history;

use rekindle_core::base::provenance::{Origin, Provenance};
use rekindle_core::recall::document::{Document, DocumentSource};
use rekindle_core::recall::filter::RecallFilters;
use rekindle_core::recall::memory_usage::MemoryUsage;
use rekindle_core::recall::select::MAX_LISTED_RESULTS;
use rekindle_core::recall::trust::TrustDoubt;
use rekindle_core::vault::entry::{EntryProperties, is_reviewed, title};
use rekindle_core::vault::frontmatter::ParsedNote;
use rekindle_core::vault::layout::{self, VaultShelf};
use rekindle_core::vault::link::link_targets;
use rekindle_core::vault::path::VaultPath;
use rekindle_engine::recall::find;
use rekindle_engine::recall::messages::MessageStore;
use rekindle_engine::recall::messages::conversation::Conversation;
use rekindle_engine::recall::usage::UsageSummary;
use rekindle_engine::vault::{self, ScannedEntry};

use self::history::MemoryVersion;
use super::inspect::{MemoryInjection, injections_of};
use super::recall::{RecallQuestion, recall};
use super::{CommandContext, feedback};
use crate::error::CliError;

/// The most documents that link to a memory.
const MAX_BACKLINKS: usize = 50;

/// A memory with everything about it.
pub(crate) struct MemoryView {
    pub(crate) found: ScannedEntry,
    pub(crate) body: String,
    pub(crate) is_reviewed: bool,
    pub(crate) versions: Vec<MemoryVersion>,
    /// The earlier versions in the archive, the newest first.
    pub(crate) archived: Vec<ScannedEntry>,
    /// The version that replaced this one.
    pub(crate) successor: Option<ScannedEntry>,
    pub(crate) links: Vec<MemoryLink>,
    pub(crate) backlinks: Vec<Document>,
    /// The memories that cannot hold together with this one.
    pub(crate) contradictions: Vec<ContradictingMemory>,
    pub(crate) usage: MemoryUsage,
    pub(crate) injections: Vec<MemoryInjection>,
    /// The conversation that it was made from; empty if it was not kept.
    pub(crate) conversation: Conversation,
}

/// A memory that cannot hold together with another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ContradictingMemory {
    pub(crate) id: String,
    pub(crate) title: String,
    /// True if recall trusts it more than the other one.
    pub(crate) prevails: bool,
}

/// A link in the text of a memory.
pub(crate) struct MemoryLink {
    pub(crate) target: String,
    /// The memory that it leads to.
    pub(crate) to: Option<ScannedEntry>,
}

/// What a name on the page leads to.
pub(crate) enum NamedMemory {
    Entry(Box<MemoryView>),
    /// A line of a document, a section of a note or a message, as it is indexed.
    Document(Box<Document>),
}

/// The memory that a name means. Names of files lead to memories only, wherever the file is.
pub(crate) fn find_path(context: &CommandContext<'_>, reference: &str) -> Result<VaultPath, CliError> {
    let vault = context.vault()?;
    let path = vault.find(reference, vault.folder())?;
    match layout::shelf_of(&path) {
        VaultShelf::Other => Err(vault::Error::NotAMemory(path.to_string()).into()),
        _ => Ok(path),
    }
}

/// Reads the memory or the document behind a name.
pub(crate) fn look_up(context: &CommandContext<'_>, reference: &str) -> Result<NamedMemory, CliError> {
    let path = match find_path(context, reference) {
        Ok(path) => path,
        Err(failure) => {
            let messages = MessageStore::from_paths(&context.places);
            let found = find::document_by_id(&context.index(), &messages, reference).ok().flatten();
            return found.map(|found| NamedMemory::Document(Box::new(found))).ok_or(failure);
        }
    };
    view(context, &path).map(|view| NamedMemory::Entry(Box::new(view)))
}

fn view(context: &CommandContext<'_>, path: &VaultPath) -> Result<MemoryView, CliError> {
    let vault = context.vault()?;
    let note = vault.read_entry(path)?;
    let document = |source| vault::Error::Document { path: path.to_string(), source };
    let parsed = ParsedNote::parse(&note.text).map_err(document)?;
    let entry = EntryProperties::of(&parsed, path);
    let body = parsed.body().trim_start_matches(['\n', '\r']).to_owned();
    let id = feedback::id_of(&vault, path)?;
    let entries = vault.scan(true)?.entries;
    let session = entry.provenance.session.clone();
    let found = ScannedEntry {
        shelf: layout::shelf_of(path),
        title: title(parsed.body(), path),
        path: path.clone(),
        entry,
    };
    Ok(MemoryView {
        is_reviewed: found.shelf != VaultShelf::Inbox
            && (is_reviewed(&parsed) || is_by_hand(&found.entry.provenance)),
        contradictions: contradictions(context, &found, &id),
        versions: history::versions(&vault, path, &note.text)?,
        archived: archived_versions(&found, &entries),
        successor: successor(&found, &entries),
        links: links(&body, &found.path, &entries),
        backlinks: backlinks(context, &found, &id),
        usage: UsageSummary::read(&context.places.usage()).memory_usage(&id),
        injections: injections_of(context, &id),
        conversation: conversation(context, session.as_deref()),
        found,
        body,
    })
}

/// True for words that the person saved outside of any session.
fn is_by_hand(provenance: &Provenance) -> bool {
    provenance.origin == Origin::User && provenance.session.is_none()
}

/// The memories that the trust check of recall sets against this one. A search that fails finds none.
fn contradictions(context: &CommandContext<'_>, found: &ScannedEntry, id: &str) -> Vec<ContradictingMemory> {
    let question = RecallQuestion {
        query: &found.title,
        k: MAX_LISTED_RESULTS,
        filters: RecallFilters::default(),
        project: Some(found.entry.scope.project().map_or_else(|| "all".to_owned(), ToString::to_string)),
        include_inbox: true,
        anyway: false,
    };
    let Ok((answer, _)) = recall(context, &question) else { return Vec::new() };
    let selection = &answer.selection;
    let shown = selection.hits.iter().map(|hit| (&hit.document.id, &hit.document.title, &hit.doubts));
    let dropped = selection.dropped.iter().map(|hit| (&hit.id, &hit.title, &hit.doubts));
    let near: Vec<_> = shown.chain(dropped).collect();
    let mut found: Vec<ContradictingMemory> = Vec::new();
    for (own, _, doubts) in &near {
        for doubt in *doubts {
            let TrustDoubt::Contradicted { by } = doubt else { continue };
            let (other, prevails) = match (own.as_str() == id, by == id) {
                (true, false) => (by.as_str(), true),
                (false, true) => (own.as_str(), false),
                _ => continue,
            };
            let title =
                near.iter().find(|(near, _, _)| near.as_str() == other).map(|(_, title, _)| title.as_str());
            let title = title.filter(|title| !title.is_empty()).unwrap_or(other).to_owned();
            let one = ContradictingMemory { id: other.to_owned(), title, prevails };
            if !found.contains(&one) {
                found.push(one);
            }
        }
    }
    found
}

/// True if a link or a property names this memory: by its path, its name or its id.
fn is_named(target: &str, found: &ScannedEntry) -> bool {
    let target = target.trim().trim_start_matches("[[").trim_end_matches("]]");
    let target = target.split(['|', '#']).next().unwrap_or_default().trim_end_matches(".md").to_lowercase();
    let path = found.path.as_str().trim_end_matches(".md").to_lowercase();
    let id = found.entry.id.as_ref().map(|id| id.as_str().to_lowercase());
    !target.is_empty()
        && (id.as_ref() == Some(&target)
            || path == target
            || target.ends_with(&format!("/{path}"))
            || (!target.contains('/') && path.ends_with(&format!("/{target}"))))
}

fn archived_versions(found: &ScannedEntry, entries: &[ScannedEntry]) -> Vec<ScannedEntry> {
    let mut versions: Vec<ScannedEntry> = Vec::new();
    let mut next = found.entry.supersedes.clone();
    while let Some(name) = next {
        let Some(version) = entries.iter().find(|one| is_named(&name, one) && one.path != found.path) else {
            break;
        };
        if versions.iter().any(|known| known.path == version.path) {
            break;
        }
        next = version.entry.supersedes.clone();
        versions.push(version.clone());
    }
    versions
}

fn successor(found: &ScannedEntry, entries: &[ScannedEntry]) -> Option<ScannedEntry> {
    let name = found.entry.superseded_by.as_ref()?;
    entries.iter().find(|one| is_named(name, one) && one.path != found.path).cloned()
}

fn links(body: &str, own: &VaultPath, entries: &[ScannedEntry]) -> Vec<MemoryLink> {
    let mut links: Vec<MemoryLink> = Vec::new();
    for target in link_targets(body) {
        if links.iter().any(|known| known.target == target) {
            continue;
        }
        let to = entries.iter().find(|one| one.path != *own && is_named(target, one)).cloned();
        links.push(MemoryLink { target: target.to_owned(), to });
    }
    links
}

/// The documents that link to a memory, as they are indexed. An unusable index has none; the page says so elsewhere.
fn backlinks(context: &CommandContext<'_>, found: &ScannedEntry, id: &str) -> Vec<Document> {
    let Ok(Some(snapshot)) = context.index().open() else { return Vec::new() };
    (0..snapshot.len())
        .filter_map(|number| snapshot.document(number))
        .filter(|document| document.id != id && document.source != DocumentSource::Message)
        .filter(|document| document.text.contains("[["))
        .filter(|document| link_targets(&document.text).any(|target| is_named(target, found)))
        .take(MAX_BACKLINKS)
        .collect()
}

/// The conversation of the session that a memory comes from.
fn conversation(context: &CommandContext<'_>, session: Option<&str>) -> Conversation {
    let store = MessageStore::from_paths(&context.places);
    let read = session.map(|session| store.conversation(session));
    match read {
        Some(Ok(conversation)) => conversation,
        Some(Err(error)) => {
            context.out.warn(error);
            Conversation::default()
        }
        None => Conversation::default(),
    }
}
