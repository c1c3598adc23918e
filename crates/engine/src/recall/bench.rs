//! Conversations from outside, for measuring recall: the same index, model and ranking as everywhere, without a vault.
//!
//! One index for each namespace, in a folder of its own: what is one person's is never found by another.

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
use crate::index::{Embedder, Error, IndexSnapshot, OldBytes, PreparedDocument, PreparedUnit, RecallIndex};

/// One message to be remembered.
#[derive(Clone, Debug, Deserialize)]
pub struct BenchMessage {
    /// Whose memory.
    pub ns: String,
    /// The conversation.
    pub session: String,
    /// Its name.
    pub id: String,
    /// When it was said.
    pub ts: Timestamp,
    /// Who said it.
    pub role: String,
    /// What.
    pub text: String,
}

/// One question.
#[derive(Clone, Debug, Deserialize)]
pub struct BenchQuestion {
    /// Whose memory is asked.
    pub ns: String,
    /// Its name.
    pub qid: String,
    /// When it is asked: nothing later is found.
    pub ts: Timestamp,
    /// What is asked.
    pub query: String,
}

/// What an ingest did.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct IngestStats {
    /// Messages read.
    pub messages: usize,
    /// Messages that were new.
    pub added: usize,
    /// Namespaces they belong to.
    pub namespaces: usize,
    /// Bytes of all indexes on disk.
    pub bytes: u64,
}

/// Where vectors come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VectorSource {
    /// The model.
    Real,
    /// Nowhere: for measuring how time grows with a million memories, which no model has to read for that.
    MadeUp,
}

/// Why a line could not be used.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// A line is not what it should be.
    #[error("line {line}: {why}")]
    Line {
        /// Counted from 1.
        line: usize,
        /// What is wrong.
        why: String,
    },
    /// The index.
    #[error(transparent)]
    Index(#[from] Error),
    /// The input.
    #[error("the input could not be read: {0}")]
    Input(#[from] io::Error),
}

/// Reads lines of JSON.
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
    let name: String = ContentHash::of(ns.as_bytes()).short(16);
    RecallIndex::at(store.join(name))
}

/// Adds messages. The same message again changes nothing.
pub fn ingest(
    store: &Path,
    embedder: Embedder<'_>,
    messages: Vec<BenchMessage>,
    vectors: VectorSource,
    progress: &mut dyn FnMut(usize, usize) -> bool,
) -> Result<IngestStats, BenchError> {
    let mut done = IngestStats { messages: messages.len(), ..IngestStats::default() };
    let mut namespaces: BTreeMap<String, Vec<BenchMessage>> = BTreeMap::new();
    for message in messages {
        namespaces.entry(message.ns.clone()).or_default().push(message);
    }
    done.namespaces = namespaces.len();
    let space = embedder.space();
    let mut changed: Vec<(RecallIndex, BTreeMap<String, PreparedUnit>)> = Vec::new();
    for (ns, messages) in namespaces {
        let index = index(store, &ns);
        let (mut units, _) = index.writer(INGEST_LOCK_TIMEOUT)?.load(&space);
        let added = add(&mut units, messages);
        done.added += added;
        if added > 0 {
            changed.push((index, units));
        }
    }
    // The model works best on many texts at a time, whichever namespace they are from.
    let keeper = RecallIndex::at(store.to_owned());
    let mut all: Vec<&mut PreparedUnit> =
        changed.iter_mut().flat_map(|(_, units)| units.values_mut()).collect();
    match vectors {
        VectorSource::Real => drop(embedder.fill_all(&keeper, &mut all, progress)?),
        VectorSource::MadeUp => embedder.fill_made_up(all.iter_mut().map(|unit| &mut **unit)),
    }
    for (index, units) in changed {
        index.writer(INGEST_LOCK_TIMEOUT)?.publish(
            &space,
            units.into_values().collect(),
            None,
            None,
            OldBytes::Removed,
        )?;
    }
    Embedder::clear_partial(&keeper)?;
    done.bytes = folder_bytes(store);
    Ok(done)
}

/// How long to wait for another ingest.
const INGEST_LOCK_TIMEOUT: Duration = Duration::from_secs(10);

/// Puts messages into the sessions they belong to, in order of time. Says how many were new.
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
    let stamp = FileStamp { modified: 0, size: 0, hash: ContentHash::of(session.as_bytes()) };
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
        ..Document::plain(DocumentSource::Message, message.session, message.text)
    }
}

/// What was found for a question.
#[derive(Debug)]
pub struct BenchAnswer {
    /// Where.
    pub snapshot: Arc<IndexSnapshot>,
    /// What.
    pub found: SearchResults,
    /// How much the question looks like what everybody types.
    pub small_talk: Option<f64>,
}

/// The best `count` messages for a question, below the cap: everything, in order. `None` where nothing was ingested.
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
    // The index knows seconds, which is not enough for what was said in the same one.
    let is_before = |number| {
        snapshot.about(number).is_none_or(|about| about.created != now)
            || snapshot
                .document(number)
                .is_none_or(|message| message.created.is_none_or(|at| at <= question.ts))
    };
    let (found, small_talk) = std::thread::scope(|scope| {
        let mut query_embedding = QueryEmbedding::new(scope, Some(embedder), &question.query, None);
        (search(&snapshot, &mut query_embedding, &rules, &is_before, count), query_embedding.small_talk())
    });
    Ok(Some(BenchAnswer { snapshot, found, small_talk }))
}

/// The folder of an index, for its size.
pub fn folder_bytes(folder: &Path) -> u64 {
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
