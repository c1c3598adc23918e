#![expect(clippy::disallowed_methods, reason = "the test plays the crash and the disk")]

use std::path::Path;

use proptest::prelude::*;
use rekindle_core::recall::document::{Document, DocumentSource, SourceUnit};

use super::*;
use rekindle_testkit::damage::damage;

const TEXTS: usize = 150;

fn units() -> Vec<PreparedUnit> {
    let text = |number: usize| format!("The lamp of lighthouse {number} turns once in {number} seconds.");
    let documents =
        (0..TEXTS).map(|number| Document::unannotated(DocumentSource::Note, "a.md", text(number))).collect();
    vec![SourceUnit { path: "a.md".to_owned(), stamp: None, documents }.into()]
}

/// The result of an embedding run.
struct EmbeddingRun {
    embedded: usize,
    /// The reported progress: the number done and the total.
    progress: Vec<(usize, usize)>,
    vectors: Vec<Option<QuantisedVector>>,
}

/// Runs the embedder until `until` texts are done.
fn run(embedder: Embedder<'_>, index: &RecallIndex, until: usize) -> EmbeddingRun {
    let (mut units, mut told) = (units(), Vec::new());
    let mut all: Vec<&mut PreparedUnit> = units.iter_mut().collect();
    let mut progress = |done: usize, total: usize| {
        told.push((done, total));
        done < until
    };
    let made = embedder.fill_all(index, &mut all, WindowSelection::All, &mut progress).unwrap();
    let windows = units.iter().flat_map(|unit| &unit.documents).flat_map(|prepared| &prepared.windows);
    let vectors = windows.map(|(_, vector)| vector.clone()).collect();
    EmbeddingRun { embedded: made, progress: told, vectors }
}

#[test]
fn sto_15_a_run_that_is_stopped_goes_on_where_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| RecallIndex::in_folder(folder.path().join(name));
    let (index, embedder) = (at("index"), Embedder::new("one", EmbeddingModel::builtin()));
    let stopped = run(embedder, &index, BATCH_TEXTS);
    assert_eq!((stopped.embedded, stopped.progress), (BATCH_TEXTS, vec![(0, TEXTS), (BATCH_TEXTS, TEXTS)]));
    assert_eq!(stopped.vectors.iter().flatten().count(), BATCH_TEXTS, "what was made is used");

    let next = run(embedder, &index, usize::MAX);
    assert_eq!(
        (next.embedded, next.progress[0]),
        (TEXTS - BATCH_TEXTS, (BATCH_TEXTS, TEXTS)),
        "fewer are left to do"
    );
    let at_once = run(embedder, &at("other"), usize::MAX);
    assert_eq!((at_once.embedded, at_once.progress[0]), (TEXTS, (0, TEXTS)));
    assert_eq!(next.vectors, at_once.vectors);
    assert!(next.vectors.iter().all(Option::is_some));

    let again = run(embedder, &index, usize::MAX);
    assert_eq!((again.embedded, again.progress), (0, vec![(TEXTS, TEXTS)]));
    Embedder::clear_checkpoint(&index).unwrap();
    assert!(!index.folder().join(CHECKPOINT_FILE).exists());
    assert_eq!(run(embedder, &index, 0).progress, [(0, TEXTS)]);
}

#[test]
fn sto_11_vectors_name_the_vocabulary_of_every_language() {
    let embedder = Embedder::new("one", EmbeddingModel::builtin());
    let (space, own) = (embedder.space().model, embedder.model_name());
    let other = space.strip_prefix(&own).and_then(|rest| rest.strip_prefix('+')).unwrap();
    assert!(u64::from_str_radix(other, 16).unwrap() != 0, "{space}");
}

#[test]
fn rec_01_a_query_is_read_in_its_language() {
    let embedder = Embedder::new("one", EmbeddingModel::builtin());
    let cosine = |one: &str, other: &str| {
        let (one, other) = (embedder.query(one), embedder.query(other));
        let dot: i32 =
            one.steps.iter().zip(&other.steps).map(|(one, other)| i32::from(*one) * i32::from(*other)).sum();
        dot as f32 * one.scale * other.scale
    };
    let english = "Why does the backup fail at night?";
    assert!(cosine("Warum schlägt das Backup in der Nacht fehl?", english) > 0.6);
    assert!(cosine("Preise werden erst bei der Anzeige gerundet.", english) < 0.3);
}

#[test]
fn sto_11_what_another_model_has_made_is_of_no_use() {
    let folder = tempfile::tempdir().unwrap();
    let index = RecallIndex::in_folder(folder.path().to_owned());
    let [one, other] = ["one", "other"].map(|name| Embedder::new(name, EmbeddingModel::builtin()));
    assert_eq!(run(one, &index, BATCH_TEXTS).embedded, BATCH_TEXTS);
    let started = run(other, &index, 0);
    assert_eq!(started.progress, [(0, TEXTS)]);
    assert!(started.vectors.iter().all(Option::is_none));
}

/// A checkpoint file for generated vectors.
fn partial(folder: &Path) -> EmbeddingCheckpoint {
    let space = VectorSpace { model: "test@1".to_owned(), dimension: 8 };
    EmbeddingCheckpoint { path: folder.join(CHECKPOINT_FILE), space }
}

/// The number of vectors in each frame.
const ROWS: [usize; 3] = [2, 1, 3];
const ALL: usize = 6;
/// The size in bytes of a frame's header: its length and its checksum.
const HEAD: usize = 12;
/// The size in bytes of a vector in the file: the hash of its text, the scale, the steps.
const ROW: usize = 32 + 4 + 8;

fn text(number: usize) -> String {
    format!("text {number}")
}

fn vector(number: usize) -> QuantisedVector {
    let steps = (0..8).map(|at| (number * 8 + at) as i8).collect();
    QuantisedVector { steps, scale: number as f32 + 0.5 }
}

fn append(partial: &EmbeddingCheckpoint, numbers: std::ops::Range<usize>) {
    let texts: Vec<String> = numbers.clone().map(text).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let vectors: Vec<QuantisedVector> = numbers.map(vector).collect();
    partial.append(&texts, &vectors).unwrap();
}

/// Writes the vectors of all frames and returns the bytes of the file.
fn written(partial: &EmbeddingCheckpoint) -> Vec<u8> {
    assert!(partial.read().unwrap().is_empty());
    let mut first = 0;
    for rows in ROWS {
        append(partial, first..first + rows);
        first += rows;
    }
    std::fs::read(&partial.path).unwrap()
}

/// Reads the vectors back, checks each against its text, and returns their number.
fn read_back(partial: &EmbeddingCheckpoint) -> usize {
    let known = partial.read().unwrap();
    let is_right = |number: &usize| known.get(&text(*number)) == Some(&vector(*number));
    let right = (0..=ALL).filter(is_right).count();
    assert_eq!(right, known.0.len(), "nothing else is read");
    right
}

#[test]
fn sto_15_what_was_kept_whole_is_read_wherever_the_file_is_cut() {
    let folder = tempfile::tempdir().unwrap();
    let partial = partial(folder.path());
    let bytes = written(&partial);
    let mut end = HEAD + partial.space.model.len();
    let ends = ROWS.map(|rows| {
        end += HEAD + rows * ROW;
        (end, rows)
    });
    assert_eq!(end, bytes.len());
    for cut in 0..=bytes.len() {
        std::fs::write(&partial.path, &bytes[..cut]).unwrap();
        let whole: usize = ends.iter().filter(|(end, _)| *end <= cut).map(|(_, rows)| rows).sum();
        assert_eq!((read_back(&partial), read_back(&partial)), (whole, whole), "cut at {cut}");
        append(&partial, ALL..ALL + 1);
        assert_eq!(read_back(&partial), whole + 1, "cut at {cut}, and gone on");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn sto_15_damage_takes_vectors_away_and_makes_none(damage in damage()) {
        let folder = tempfile::tempdir().unwrap();
        let partial = partial(folder.path());
        let bytes = damage.to(&written(&partial));
        std::fs::write(&partial.path, bytes).unwrap();
        let first = read_back(&partial);
        prop_assert_eq!(read_back(&partial), first);
    }

    #[test]
    fn any_bytes_are_begun_anew(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let folder = tempfile::tempdir().unwrap();
        let partial = partial(folder.path());
        std::fs::write(&partial.path, bytes).unwrap();
        prop_assert_eq!(read_back(&partial), 0);
        append(&partial, 0..1);
        prop_assert_eq!(read_back(&partial), 1);
    }

    #[test]
    fn any_bytes_behind_the_name_of_the_model_are_no_vectors(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let folder = tempfile::tempdir().unwrap();
        let partial = partial(folder.path());
        let mut file = frames::frame(partial.space.model.as_bytes());
        file.extend(bytes);
        std::fs::write(&partial.path, file).unwrap();
        prop_assert_eq!(read_back(&partial), 0);
    }
}
