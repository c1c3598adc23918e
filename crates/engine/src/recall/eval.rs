//! Measures the recall quality on the person's own notes (B-10), with questions of known answers that run as
//! any other query does. The history keeps only numbers, one line per measurement.

use std::collections::{HashMap, HashSet};
use std::io::{self, BufRead};
use std::path::Path;
use std::time::Instant;

use rekindle_core::base::hash::ContentHash;
use rekindle_core::base::time::{Timestamp, format_utc};
use rekindle_core::recall::document::{Document, DocumentSource};
use rekindle_core::recall::filter::RecallFilters;
use rekindle_core::recall::metrics::{self, ExpectedRanks};
use rekindle_core::recall::select::MAX_RESULTS;
use rekindle_core::text::normalise::normalise;
use serde::{Deserialize, Serialize};

use super::ask::{DegradationReason, RecallRequest, ask};
use super::indexer;
use super::relevance_gate::reading::RescoringMode;
use super::search::SearchRules;
use super::usage::UsageSummary;
use crate::index::{Embedder, IndexSnapshot, RecallIndex};
use crate::platform::disk::{BackwardLines, LineFile};
use crate::vault::Vault;

/// A question with its expected answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvalPair {
    /// The text of the question.
    pub query: String,
    /// The expected ids of documents or paths of files.
    pub expect: Vec<String>,
    /// The project of the question; the default is the current project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
}

/// An error in reading pairs.
#[derive(Debug, thiserror::Error)]
pub enum EvalPairsError {
    /// A line is not a valid pair.
    #[error("line {line}: {why}")]
    Line {
        /// The number of the line, counted from 1.
        line: usize,
        /// The description of the error.
        why: String,
    },
    /// The input has no pairs.
    #[error("it contains no questions")]
    Empty,
    /// The input could not be read.
    #[error("could not read it: {0}")]
    Input(#[from] io::Error),
}

/// Parses pairs, one line of JSON each; empty lines are skipped.
pub fn read_pairs(input: impl BufRead) -> Result<Vec<EvalPair>, EvalPairsError> {
    let mut pairs = Vec::new();
    for (number, line) in input.split(b'\n').enumerate() {
        let line = line?;
        let wrong = |why: &str| EvalPairsError::Line { line: number + 1, why: why.to_owned() };
        if line.trim_ascii().is_empty() {
            continue;
        }
        let pair: EvalPair = serde_json::from_slice(&line).map_err(|error| wrong(&shortened(&error)))?;
        if pair.query.trim().is_empty() {
            return Err(wrong("`query` is empty"));
        }
        if pair.expect.is_empty() {
            return Err(wrong("`expect` is empty"));
        }
        pairs.push(pair);
    }
    if pairs.is_empty() { Err(EvalPairsError::Empty) } else { Ok(pairs) }
}

/// Each pair is parsed on its own, so the parser's line number is always 1 and would mislead.
fn shortened(error: &serde_json::Error) -> String {
    error.to_string().replace(" at line 1 column", " at column")
}

/// Pairs that were generated from the notes.
#[derive(Clone, Debug, Default)]
pub struct GeneratedPairs {
    /// The pairs, ordered by a hash of the id of the memory.
    pub pairs: Vec<EvalPair>,
    /// The number of skipped memories: their title is their whole text, or another memory has the same one.
    pub skipped: usize,
}

/// Generates at most `limit` pairs, in which the title of a memory should find it. The choice depends on the
/// ids alone, so that the same notes give the same pairs, and a new memory changes little.
pub fn generate_pairs(snapshot: &IndexSnapshot, limit: usize) -> GeneratedPairs {
    let memories: Vec<Document> = visible(snapshot)
        .filter(|document| {
            matches!(document.source, DocumentSource::Entry | DocumentSource::Skill) && document.active
        })
        .collect();
    let mut text_counts: HashMap<String, usize> = HashMap::new();
    for document in &memories {
        *text_counts.entry(normalise(&document.text)).or_default() += 1;
    }
    let is_fit = |document: &&Document| {
        let text = normalise(&document.text);
        let title = normalise(&document.title);
        !title.is_empty() && text != title && text_counts.get(&text) == Some(&1)
    };
    let mut fit: Vec<&Document> = memories.iter().filter(is_fit).collect();
    let skipped = memories.len() - fit.len();
    fit.sort_by_cached_key(|document| ContentHash::of_bytes(document.id.as_bytes()).bytes());
    let pair = |document: &Document| EvalPair {
        query: document.title.trim_end_matches('…').to_owned(),
        expect: vec![document.id.clone()],
        project: document.project.as_ref().map(|project| project.as_str().to_owned()),
    };
    GeneratedPairs { pairs: fit.into_iter().take(limit).map(pair).collect(), skipped }
}

/// The documents that no later segment replaces.
fn visible(snapshot: &IndexSnapshot) -> impl Iterator<Item = Document> {
    let visible = snapshot.columns(|_| true).visible;
    let numbers = (0..snapshot.len()).filter(move |number| visible.get(*number as usize) == Some(&true));
    numbers.filter_map(|number| snapshot.document(number))
}

/// The context of a measurement.
#[derive(Clone, Copy, Debug)]
pub struct EvalContext<'a> {
    /// The vault with the notes.
    pub vault: &'a Vault,
    /// The index of the notes.
    pub index: &'a RecallIndex,
    /// The model; `None` measures a lexical search.
    pub embedder: Option<Embedder<'a>>,
    /// The usage of memories.
    pub usage: &'a UsageSummary,
    /// The rules of the search. A pair's own project overrides theirs.
    pub rules: SearchRules<'a>,
    /// The number of hits to score.
    pub k: usize,
}

/// The origin of pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PairsOrigin {
    /// The titles of memories.
    Titles,
    /// A file of pairs.
    File,
}

/// One measurement, a line of the history. It has only numbers and no text of the notes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EvalRun {
    /// The time of the measurement.
    pub at: String,
    /// The origin of the pairs.
    pub from: PairsOrigin,
    /// The number of questions.
    pub pairs: usize,
    /// The number of hits that were scored.
    pub k: usize,
    /// The share of questions whose best hit was right.
    pub hit_at_1: f64,
    /// The share of questions with a right hit.
    pub hit_at_k: f64,
    /// The mean share of expected documents among the hits.
    pub recall_at_k: f64,
    /// The mean reciprocal rank among the hits.
    pub mrr: f64,
    /// The number of questions that the relevance gate silenced.
    pub silent: usize,
    /// The number of silenced questions with a right hit.
    pub hidden: usize,
    /// The median time of an answer in milliseconds.
    pub p50_ms: f64,
    /// The 95th percentile of the time of an answer in milliseconds.
    pub p95_ms: f64,
    /// The number of documents in the index.
    pub documents: usize,
    /// The number of windows in the index.
    pub windows: usize,
    /// The number of windows without a vector.
    pub pending: usize,
    /// The size of the index in bytes.
    pub bytes: usize,
    /// The id of the model; empty for a lexical search.
    pub model: String,
    /// The reasons why answers may be incomplete.
    pub degraded: Vec<DegradationReason>,
}

/// A question without a right hit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EvalMiss {
    /// The text of the question.
    pub query: String,
    /// The expected ids or paths.
    pub expect: Vec<String>,
    /// The best hit instead.
    pub instead: Option<String>,
}

/// The result of a measurement.
#[derive(Clone, Debug)]
pub struct EvalResult {
    /// The numbers for the history.
    pub run: EvalRun,
    /// The questions without a right hit.
    pub misses: Vec<EvalMiss>,
    /// Expected names that match no document.
    pub unknown: Vec<String>,
}

/// Asks every question and scores the answers.
pub fn run_eval(
    asking: &EvalContext<'_>,
    snapshot: &IndexSnapshot,
    from: PairsOrigin,
    pairs: &[EvalPair],
    at: Timestamp,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<EvalResult, indexer::Error> {
    let folder = asking.vault.folder_name();
    let (mut standings, mut times, mut misses) = (Vec::new(), Vec::new(), Vec::new());
    let (mut silent, mut hidden, mut degraded) = (0, 0, Vec::new());
    for (done, pair) in pairs.iter().enumerate() {
        progress(done, pairs.len());
        let rules = SearchRules { project: pair.project.as_deref().or(asking.rules.project), ..asking.rules };
        let request = RecallRequest {
            prompt: &pair.query,
            rewritten: None,
            filters: &RecallFilters::default(),
            rules,
            k: asking.k.min(MAX_RESULTS),
            anyway: true,
            reading: RescoringMode::AsNeeded,
            held_ids: &HashSet::new(),
            mentions: true,
            messages: None,
            reserved_messages: 0,
            leave_out: |_| false,
        };
        let start = Instant::now();
        let answer = ask(asking.vault, asking.index, asking.embedder, asking.usage, &request)?;
        times.push(start.elapsed().as_secs_f64() * 1000.0);
        let hits: Vec<&Document> = answer.selection.hits.iter().map(|hit| &hit.document).collect();
        let standing =
            ExpectedRanks::new(&hits, &pair.expect, |hit, name| is_named(&hit.id, &hit.path, name, &folder));
        if answer.decision.is_some_and(|decision| decision.is_silent()) {
            silent += 1;
            hidden += usize::from(standing.is_hit(asking.k));
        }
        if !standing.is_hit(asking.k) {
            let instead = hits.first().map(|hit| hit.id.clone());
            misses.push(EvalMiss { query: pair.query.clone(), expect: pair.expect.clone(), instead });
        }
        standings.push(standing);
        for reason in answer.degraded {
            if !degraded.contains(&reason) {
                degraded.push(reason);
            }
        }
    }
    progress(pairs.len(), pairs.len());
    let size = snapshot.size();
    let space = asking.embedder.map(|embedder| embedder.space());
    let model = space.filter(|space| snapshot.is_from_model(space)).map(|space| space.model);
    let run = EvalRun {
        at: format_utc(at),
        from,
        pairs: pairs.len(),
        k: asking.k,
        hit_at_1: rounded(metrics::hit_at(&standings, 1), 4),
        hit_at_k: rounded(metrics::hit_at(&standings, asking.k), 4),
        recall_at_k: rounded(metrics::recall_at(&standings, asking.k), 4),
        mrr: rounded(metrics::mean_reciprocal_rank(&standings), 4),
        silent,
        hidden,
        p50_ms: rounded(metrics::percentile(&times, 0.5), 3),
        p95_ms: rounded(metrics::percentile(&times, 0.95), 3),
        documents: size.documents,
        windows: size.windows,
        pending: size.pending,
        bytes: size.bytes,
        model: model.unwrap_or_default(),
        degraded,
    };
    Ok(EvalResult { run, misses, unknown: unknown(snapshot, pairs, &folder) })
}

/// True if `name` is the id of the document or the path of its file, relative to the notes or to the vault.
fn is_named(id: &str, path: &str, name: &str, folder: &str) -> bool {
    let below = |path: &str| path.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/')) == Some(name);
    id == name || path == name || below(path)
}

/// The expected names that match no document, so that their pairs can only fail.
fn unknown(snapshot: &IndexSnapshot, pairs: &[EvalPair], folder: &str) -> Vec<String> {
    let mut names: HashSet<String> = HashSet::new();
    for document in visible(snapshot) {
        names.extend([document.id, document.path]);
    }
    let is_known = |name: &str| names.contains(name) || names.contains(&format!("{folder}/{name}"));
    let mut unknown: Vec<String> =
        pairs.iter().flat_map(|pair| &pair.expect).filter(|name| !is_known(name)).cloned().collect();
    unknown.sort_unstable();
    unknown.dedup();
    unknown
}

/// Rounds to a number of decimal digits.
fn rounded(value: f64, digits: i32) -> f64 {
    let scale = 10f64.powi(digits);
    (value * scale).round() / scale
}

/// Appends a measurement to the history.
pub fn record(path: &Path, run: &EvalRun) -> io::Result<()> {
    let text = serde_json::to_string(run)?;
    LineFile::open(path)?.append(&format!("{text}\n"), true)
}

/// The measurements, newest first. Unreadable lines are skipped.
pub fn history(path: &Path) -> io::Result<impl Iterator<Item = EvalRun>> {
    let lines = BackwardLines::open(path)?.into_iter().flatten();
    Ok(lines.filter_map(|line| serde_json::from_slice(&line.ok()?).ok()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn refused(text: &str) -> String {
        read_pairs(text.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn b_10_a_line_that_is_no_pair_is_named() {
        let good = r#"{"query": "q", "expect": ["m-1"]}"#;
        assert_eq!(refused(""), "it contains no questions");
        assert!(refused(&format!("{good}\n\nnot json\n")).starts_with("line 3: expected ident at column"));
        assert_eq!(refused(r#"{"query": " ", "expect": ["m-1"]}"#), "line 1: `query` is empty");
        assert_eq!(refused(r#"{"query": "q", "expect": []}"#), "line 1: `expect` is empty");
        assert!(refused(r#"{"query": "q"}"#).contains("missing field `expect`"));
        assert!(refused(r#"{"query": "q", "expected": ["m-1"]}"#).contains("unknown field `expected`"));
        assert!(matches!(read_pairs(&b"\xff\xfe\n"[..]), Err(EvalPairsError::Line { line: 1, .. })));
    }

    #[test]
    fn a_document_goes_by_its_id_and_by_its_file() {
        let named = |name: &str| is_named("m-1", "Vault/fix/a.md", name, "Vault");
        assert!(named("m-1") && named("Vault/fix/a.md") && named("fix/a.md"));
        assert!(!named("a.md") && !named("m-2") && !named("/fix/a.md") && !named(""));
    }

    #[test]
    fn the_history_is_read_back_newest_first_past_what_is_no_line_of_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("eval.jsonl");
        assert_eq!(history(&path).unwrap().count(), 0);
        let runs = [run(0.5, vec![]), run(0.75, vec![DegradationReason::Pending])];
        record(&path, &runs[0]).unwrap();
        LineFile::open(&path).unwrap().append("{\"at\": 1}\n", false).unwrap();
        record(&path, &runs[1]).unwrap();
        let read: Vec<EvalRun> = history(&path).unwrap().collect();
        assert_eq!(read, [runs[1].clone(), runs[0].clone()]);
    }

    fn run(hit: f64, degraded: Vec<DegradationReason>) -> EvalRun {
        EvalRun {
            at: "2026-11-15T02:13:08Z".into(),
            from: PairsOrigin::Titles,
            pairs: 3,
            k: 5,
            hit_at_1: hit,
            hit_at_k: 1.0,
            recall_at_k: 1.0,
            mrr: 0.9,
            silent: 1,
            hidden: 1,
            p50_ms: 1.5,
            p95_ms: 2.25,
            documents: 9,
            windows: 11,
            pending: 0,
            bytes: 4096,
            model: "builtin/x@0123".into(),
            degraded,
        }
    }

    proptest! {
        #[test]
        fn pairs_are_read_as_they_are_written(query in "[^\\s].{0,40}", expect in prop::collection::vec(".{0,20}", 1..4), project in prop::option::of(".{0,9}")) {
            let pair = EvalPair { query, expect, project };
            let line = serde_json::to_string(&pair).unwrap();
            prop_assert_eq!(read_pairs(format!("\n{line}\r\n{line}").as_bytes()).unwrap(), vec![pair.clone(), pair]);
        }

        #[test]
        fn any_bytes_are_pairs_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(pairs) = read_pairs(&bytes[..]) {
                prop_assert!(!pairs.is_empty());
            }
        }
    }
}
