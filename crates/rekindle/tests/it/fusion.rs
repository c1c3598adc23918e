//! Hybrid search keeps the hits of keywords and of embeddings (REC-01, R-08). The memories are made for it: a
//! question shares words with its memory, names, or neither.
//!
//! The single rankers are as plain as possible: BM25 over unchanged words, and the cosine of whole texts.

use std::collections::BTreeSet;
use std::sync::LazyLock;
use std::thread::available_parallelism;
use std::time::Duration;

use rekindle_embed::{EmbeddingModel, TextRole};
use rekindle_testkit::fusion_set::{self, FusionSet};
use rekindle_testkit::{Sandbox, TestCommand};
use serde_json::Value;

use crate::{found, text};

const SHOWN: usize = 5;
/// The time limit for a thousand memories on a busy machine.
const INDEX_TIMEOUT: Duration = Duration::from_secs(300);

/// One question, and the rankers that have its memory among the first five.
struct AskedQuestion {
    qid: String,
    kind: String,
    by_words: bool,
    by_meaning: bool,
    by_both: bool,
}

static ASKED: LazyLock<Vec<AskedQuestion>> = LazyLock::new(measure);

fn measure() -> Vec<AskedQuestion> {
    let set = fusion_set::generate();
    let [memories, questions, answers] =
        [&set.memories, &set.queries, &set.answers].map(|lines| parsed(lines));
    let texts: Vec<&str> = memories.iter().map(|memory| text(memory, "text")).collect();
    let queries: Vec<&str> = questions.iter().map(|question| text(question, "query")).collect();
    let documents: Vec<Vec<String>> = texts.iter().map(|text| words(text)).collect();
    let threads = available_parallelism().map_or(1, usize::from);
    let passages = EmbeddingModel::builtin().embed_batch(TextRole::Passage, &texts, threads);
    let vectors = EmbeddingModel::builtin().embed_batch(TextRole::Query, &queries, threads);

    let mut asked = Vec::new();
    for (at, (answer, ours)) in answers.iter().zip(product(&set)).enumerate() {
        let qid = text(answer, "qid");
        assert_eq!((qid, qid), (text(&questions[at], "qid"), text(&ours, "qid")));
        let wanted = answer["gold"][0].as_str().unwrap();
        let has = |scores: &[f64]| best(scores).any(|place| text(&memories[place], "id") == wanted);
        asked.push(AskedQuestion {
            qid: qid.to_owned(),
            kind: text(answer, "type").to_owned(),
            by_words: has(&bm25(&documents, queries[at])),
            by_meaning: has(&cosines(&passages, &vectors[at])),
            by_both: found(&ours).into_iter().take(SHOWN).any(|id| id == wanted),
        });
    }
    assert_eq!(asked.len(), 200);
    asked
}

fn parsed<T: AsRef<str>>(lines: &[T]) -> Vec<Value> {
    lines.iter().map(|line| serde_json::from_str(line.as_ref()).unwrap()).collect()
}

/// Returns the answers of the program.
fn product(set: &FusionSet) -> Vec<Value> {
    let sandbox = Sandbox::new(env!("CARGO_BIN_EXE_rekindle"));
    let bench = |verb: &str, lines: &[String]| -> TestCommand {
        let store = sandbox.home().join("store");
        let command = sandbox.rekindle(&["bench", verb, "--store"]).arg(store);
        command.stdin(lines.join("\n")).limit(INDEX_TIMEOUT)
    };
    bench("ingest", &set.memories).run().ok();
    let output = bench("query", &set.queries).run().ok();
    parsed(&output.stdout.lines().collect::<Vec<_>>())
}

/// Returns the five best positions by score; a score of zero is not a hit.
fn best(scores: &[f64]) -> impl Iterator<Item = usize> {
    let mut places: Vec<usize> = (0..scores.len()).filter(|place| scores[*place] > 0.0).collect();
    places.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]));
    places.into_iter().take(SHOWN)
}

fn words(text: &str) -> Vec<String> {
    let words = text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

fn bm25(documents: &[Vec<String>], question: &str) -> Vec<f64> {
    let all = documents.len() as f64;
    let average = documents.iter().map(Vec::len).sum::<usize>() as f64 / all;
    let mut scores = vec![0.0; documents.len()];
    for term in words(question).into_iter().collect::<BTreeSet<String>>() {
        let times = |document: &Vec<String>| document.iter().filter(|word| **word == term).count() as f64;
        let counts: Vec<f64> = documents.iter().map(times).collect();
        let holding = counts.iter().filter(|count| **count > 0.0).count() as f64;
        let rarity = (1.0 + (all - holding + 0.5) / (holding + 0.5)).ln();
        for (place, count) in counts.into_iter().enumerate() {
            let length = documents[place].len() as f64 / average;
            scores[place] += rarity * count * 2.2 / (count + 1.2 * (0.25 + 0.75 * length));
        }
    }
    scores
}

/// Cosine similarity of normalised vectors.
fn cosines(passages: &[Vec<f32>], question: &[f32]) -> Vec<f64> {
    let cosine = |passage: &Vec<f32>| {
        passage.iter().zip(question).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>()
    };
    passages.iter().map(cosine).collect()
}

/// Counts the questions of these kinds that one ranker answers, and lists those that the hybrid search loses.
fn lost(kinds: &[&str], alone: fn(&AskedQuestion) -> bool) -> (usize, Vec<String>) {
    let answered: Vec<&AskedQuestion> =
        ASKED.iter().filter(|asked| kinds.contains(&asked.kind.as_str()) && alone(asked)).collect();
    let lost = answered.iter().filter(|asked| !asked.by_both).map(|asked| asked.qid.clone()).collect();
    (answered.len(), lost)
}

#[test]
fn rec_01_r_08_of_what_words_alone_find_98_in_100_are_still_found() {
    let (found, lost) = lost(&["keyword", "identifier"], |asked| asked.by_words);
    assert!(found >= 90, "words alone find {found} of 100: nothing can be told from that");
    assert!(lost.len() * 100 <= found * 2, "{} of {found} are lost: {lost:?}", lost.len());
}

#[test]
fn rec_01_r_08_of_what_meaning_alone_finds_95_in_100_are_still_found() {
    let (found, lost) = lost(&["paraphrase"], |asked| asked.by_meaning);
    assert!(found >= 70, "meaning alone finds {found} of 100: nothing can be told from that");
    assert!(lost.len() * 100 <= found * 5, "{} of {found} are lost: {lost:?}", lost.len());
}
