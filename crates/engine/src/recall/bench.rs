//! Benchmarks of recall on external conversations, with the usual index, model and ranking, but without a
//! vault.
//!
//! Each namespace has an index in a folder of its own, so that no person's messages are found in another's.

use std::collections::{BTreeMap, HashSet};
use std::io::{self, BufRead};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rekindle_core::base::hash::ContentHash;
use rekindle_core::base::provenance::Origin;
use rekindle_core::base::time::Timestamp;
use rekindle_core::config::DecayMode;
use rekindle_core::recall::document::{Document, DocumentSource, FileStamp, SourceUnit};
use rekindle_core::recall::fusion::FusionMethod;
use serde::{Deserialize, Serialize};

use super::query_embedding::QueryEmbedding;
use super::search::{SearchResults, SearchRules, search};
use crate::index::{
    Embedder, Error, IndexSnapshot, OldBytes, PreparedDocument, PreparedUnit, RecallIndex, VectorSpace,
};

/// A message to ingest.
#[derive(Clone, Debug, Deserialize)]
pub struct BenchMessage {
    /// The namespace of the message.
    pub ns: String,
    /// The id of the conversation.
    pub session: String,
    /// The id of the message.
    pub id: String,
    /// The time of the message.
    pub ts: Timestamp,
    /// The role of the speaker.
    pub role: String,
    /// The text of the message.
    pub text: String,
}

/// A question to answer.
#[derive(Clone, Debug, Deserialize)]
pub struct BenchQuestion {
    /// The namespace to search.
    pub ns: String,
    /// The id of the question.
    pub qid: String,
    /// The time of the question; later messages are not found.
    pub ts: Timestamp,
    /// The text of the question.
    pub query: String,
}

/// The result of an ingest.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct IngestStats {
    /// The number of messages read.
    pub messages: usize,
    /// The number of new messages.
    pub added: usize,
    /// The number of namespaces with messages.
    pub namespaces: usize,
    /// The size of all indexes on disk, in bytes.
    pub bytes: u64,
}

/// An error of ingest or query.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// A line is invalid.
    #[error("line {line}: {why}")]
    Line {
        /// The number of the line, counted from 1.
        line: usize,
        /// The description of the error.
        why: String,
    },
    /// The index reported an error.
    #[error(transparent)]
    Index(#[from] Error),
    /// The input could not be read.
    #[error("could not read the input: {0}")]
    Input(#[from] io::Error),
}

/// Parses lines of JSON.
pub fn lines<T: serde::de::DeserializeOwned>(
    input: impl BufRead,
) -> impl Iterator<Item = Result<T, BenchError>> {
    let wanted = |line: &io::Result<Vec<u8>>| !line.as_ref().is_ok_and(|line| line.trim_ascii().is_empty());
    input.split(b'\n').enumerate().filter(move |(_, line)| wanted(line)).map(|(number, line)| {
        let of = |why: serde_json::Error| BenchError::Line { line: number + 1, why: why.to_string() };
        serde_json::from_slice(&line?).map_err(of)
    })
}

/// The index of a namespace.
pub fn index(store: &Path, ns: &str) -> RecallIndex {
    let name: String = ContentHash::of_bytes(ns.as_bytes()).short_hex(16);
    RecallIndex::in_folder(store.join(name))
}

/// Adds messages, with the vectors that `fill` gives them. Adding a message again changes nothing.
pub fn ingest(
    store: &Path,
    space: &VectorSpace,
    messages: Vec<BenchMessage>,
    fill: impl FnOnce(&RecallIndex, &mut [&mut PreparedUnit]) -> Result<(), Error>,
) -> Result<IngestStats, BenchError> {
    let mut done = IngestStats { messages: messages.len(), ..IngestStats::default() };
    let mut namespaces: BTreeMap<String, Vec<BenchMessage>> = BTreeMap::new();
    for message in messages {
        namespaces.entry(message.ns.clone()).or_default().push(message);
    }
    done.namespaces = namespaces.len();
    let mut changed: Vec<(RecallIndex, BTreeMap<String, PreparedUnit>)> = Vec::new();
    for (ns, messages) in namespaces {
        let index = index(store, &ns);
        let (mut units, _) = index.writer(INGEST_LOCK_TIMEOUT)?.load(space);
        let added = add(&mut units, messages);
        done.added += added;
        if added > 0 {
            changed.push((index, units));
        }
    }
    // The model is fastest on large batches, so texts of all namespaces go together.
    let keeper = RecallIndex::in_folder(store.to_owned());
    let mut all: Vec<&mut PreparedUnit> =
        changed.iter_mut().flat_map(|(_, units)| units.values_mut()).collect();
    fill(&keeper, &mut all)?;
    for (index, units) in changed {
        index.writer(INGEST_LOCK_TIMEOUT)?.publish(
            space,
            units.into_values().collect(),
            None,
            None,
            OldBytes::Removed,
        )?;
    }
    Embedder::clear_checkpoint(&keeper)?;
    done.bytes = index_folder_bytes(store);
    Ok(done)
}

/// The time to wait for another ingest.
const INGEST_LOCK_TIMEOUT: Duration = Duration::from_secs(10);

/// Adds messages to their sessions, in order of time. Returns the number of new messages.
fn add(units: &mut BTreeMap<String, PreparedUnit>, messages: Vec<BenchMessage>) -> usize {
    let mut known: HashSet<String> = units
        .values()
        .flat_map(|unit| &unit.documents)
        .map(|prepared| prepared.document.id.clone())
        .collect();
    let (mut touched, before) = (HashSet::new(), known.len());
    for message in messages {
        if !known.insert(message.id.clone()) {
            continue;
        }
        let session = message.session.clone();
        let unit = units.entry(session.clone()).or_insert_with(|| empty(&session));
        unit.documents.push(PreparedDocument::new(document(message)));
        touched.insert(session);
    }
    for session in touched {
        if let Some(unit) = units.get_mut(&session) {
            unit.documents.sort_by_key(|prepared| prepared.document.created);
        }
    }
    known.len() - before
}

fn empty(session: &str) -> PreparedUnit {
    let stamp = FileStamp { modified: 0, size: 0, hash: ContentHash::of_bytes(session.as_bytes()) };
    SourceUnit { path: session.to_owned(), stamp: Some(stamp), documents: Vec::new() }.into()
}

fn document(message: BenchMessage) -> Document {
    let named = !["user", "assistant", "system", "tool"].contains(&message.role.as_str());
    Document {
        id: message.id,
        created: Some(message.ts),
        origin: if message.role == "user" { Origin::User } else { Origin::Agent },
        thread: Some(message.session.clone()),
        speaker: named.then_some(message.role),
        ..Document::unannotated(DocumentSource::Message, message.session, message.text)
    }
}

/// The answer to a benchmark question.
#[derive(Debug)]
pub struct BenchAnswer {
    /// The snapshot that was searched.
    pub snapshot: Arc<IndexSnapshot>,
    /// The results of the search.
    pub results: SearchResults,
    /// The margin by which the question looks like small talk.
    pub small_talk: Option<f64>,
}

/// Finds the best `count` messages for a question, in order and without the cap on results. `None` if the
/// namespace is empty.
pub fn query(
    store: &Path,
    embedder: Embedder<'_>,
    question: &BenchQuestion,
    decay: DecayMode,
    count: usize,
) -> Result<Option<BenchAnswer>, BenchError> {
    let Some(snapshot) = index(store, &question.ns).open()?.map(Arc::new) else { return Ok(None) };
    let now = question.ts.as_second();
    let rules = SearchRules {
        method: FusionMethod::Measured,
        decay,
        include_inbox: false,
        project: None,
        all_projects: false,
        inactive: false,
        until: Some(now),
        now,
    };
    // The index has a resolution of seconds, so messages of the same second are compared exactly.
    let is_before = |number| {
        snapshot.document_info(number).is_none_or(|about| about.created != now)
            || snapshot
                .document(number)
                .is_none_or(|message| message.created.is_none_or(|at| at <= question.ts))
    };
    let (found, small_talk) = std::thread::scope(|scope| {
        let mut query_embedding = QueryEmbedding::new(scope, Some(embedder), &question.query, None);
        (search(&snapshot, &mut query_embedding, &rules, &is_before, count), query_embedding.small_talk())
    });
    Ok(Some(BenchAnswer { snapshot, results: found, small_talk }))
}

/// The total size in bytes of a folder.
pub fn index_folder_bytes(folder: &Path) -> u64 {
    let mut folders: Vec<PathBuf> = vec![folder.to_owned()];
    let mut bytes = 0;
    while let Some(folder) = folders.pop() {
        for item in std::fs::read_dir(&folder).into_iter().flatten().filter_map(Result::ok) {
            match item.metadata() {
                Ok(metadata) if metadata.is_dir() => folders.push(item.path()),
                Ok(metadata) => bytes += metadata.len(),
                Err(_) => {}
            }
        }
    }
    bytes
}
