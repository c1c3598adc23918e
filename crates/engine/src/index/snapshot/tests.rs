//! Compares the scan over all vectors with a slow, simple reference.

use std::collections::BTreeMap;
use std::time::Duration;

use rekindle_core::base::hash::ContentHash;
use rekindle_core::recall::document::{DocumentSource, FileStamp, SourceUnit};
use rekindle_core::recall::fusion::RescoredSimilarity;

use super::*;
use crate::index::build::{EmbeddedWindow, PreparedDocument};
use crate::index::nibbles;
use crate::index::scan::MIN_PARALLEL_ROWS;
use crate::index::{OldBytes, RecallIndex};

const WIDTH: usize = 32;

fn space() -> VectorSpace {
    VectorSpace { model: "test/model".to_owned(), dimension: WIDTH }
}

/// A pseudo-random number generator with a seed.
struct SnapshotRng(u64);

impl SnapshotRng {
    fn roll(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % below
    }

    /// A random vector. Scales are powers of two, so that `f32` never rounds and different orders of
    /// summation are equal to the last digit.
    fn vector(&mut self) -> QuantisedVector {
        let steps = (0..WIDTH).map(|_| (self.roll(255) as i16 - 127) as i8).collect();
        QuantisedVector { steps, scale: [1.0 / 128.0, 1.0 / 256.0, 1.0 / 512.0][self.roll(3)] }
    }

    /// Random windows, some of them without a vector.
    fn windows(&mut self, count: usize) -> Vec<EmbeddedWindow> {
        let window = |at| TextWindow { start: at, end: at + 1 };
        (0..count).map(|at| (window(at), (self.roll(10) > 0).then(|| self.vector()))).collect()
    }

    fn unit(&mut self, path: &str, documents: usize, windows: usize) -> PreparedUnit {
        let stamp = FileStamp { modified: 1, size: 1, hash: ContentHash::of_bytes(path.as_bytes()) };
        let unit = SourceUnit { path: path.to_owned(), stamp: Some(stamp), documents: Vec::new() };
        let prepared = |number: usize| {
            let document = Document {
                id: format!("{path}#{number}"),
                ..Document::unannotated(DocumentSource::Note, path, format!("word{number}"))
            };
            let fine = self.roll(4);
            PreparedDocument::with(document, self.windows(windows), self.windows(fine))
        };
        let documents = (0..documents).map(prepared).collect();
        PreparedUnit { unit, documents, behind: None }
    }
}

/// The unit of a deleted file.
fn gone(path: &str) -> PreparedUnit {
    SourceUnit { path: path.to_owned(), stamp: None, documents: Vec::new() }.into()
}

/// Removes the vectors of a unit.
fn bare(mut unit: PreparedUnit) -> PreparedUnit {
    for prepared in &mut unit.documents {
        prepared.windows.iter_mut().chain(&mut prepared.fine).for_each(|(_, vector)| *vector = None);
    }
    unit
}

/// An index, and the expected contents of its files.
struct SnapshotFixture {
    _folder: tempfile::TempDir,
    index: RecallIndex,
    files: BTreeMap<String, Vec<PreparedDocument>>,
}

impl SnapshotFixture {
    fn new(units: Vec<PreparedUnit>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let index = RecallIndex::in_folder(folder.path().to_owned());
        let files = units.iter().map(|unit| (unit.unit.path.clone(), unit.documents.clone())).collect();
        let writer = index.writer(Duration::ZERO).unwrap();
        writer.publish(&space(), units, None, None, OldBytes::Removed).unwrap();
        drop(writer);
        Self { _folder: folder, index, files }
    }

    fn append(&mut self, units: Vec<PreparedUnit>) {
        for unit in &units {
            let documents = self.files.entry(unit.unit.path.clone()).or_default();
            documents.truncate(unit.behind.unwrap_or(0) as usize);
            documents.extend(unit.documents.iter().cloned());
        }
        assert!(self.index.appender().unwrap().append(&space(), units, None).unwrap());
    }

    /// Changes as in a week of notes: files are changed, deleted, added and extended, with a fold in between.
    fn live(&mut self, dice: &mut SnapshotRng) {
        self.append(vec![dice.unit("03.md", 7, 2), dice.unit("new.md", 5, 3)]);
        self.append(vec![gone("05.md"), dice.unit("new.md", 4, 1)]);
        self.index.writer(Duration::ZERO).unwrap().fold(&space()).unwrap();
        self.append(vec![bare(dice.unit("bare.md", 3, 2)), dice.unit("07.md", 0, 0)]);
        let mut grown = dice.unit("new.md", 9, 2);
        grown.documents.drain(..2);
        grown.behind = Some(2);
        self.append(vec![grown]);
    }

    fn documents(&self) -> impl Iterator<Item = &PreparedDocument> {
        self.files.values().flatten()
    }

    fn snapshot(&self) -> IndexSnapshot {
        self.index.open().unwrap().unwrap()
    }
}

/// The cosine of two vectors, step by step.
fn cosine(query: &QuantisedVector, vector: &QuantisedVector) -> f64 {
    let number = |step: i8, scale: f32| f64::from(step) * f64::from(scale);
    let pairs = query.steps.iter().zip(&vector.steps);
    pairs.map(|(a, b)| number(*a, query.scale) * number(*b, vector.scale)).sum()
}

fn best(query: &QuantisedVector, windows: &[EmbeddedWindow]) -> f64 {
    let cosines = windows.iter().filter_map(|(_, vector)| Some(cosine(query, vector.as_ref()?)));
    cosines.fold(f64::NEG_INFINITY, f64::max)
}

/// The windows with vectors as coarse as the index stores fine ones.
fn coarse(windows: &[EmbeddedWindow]) -> Vec<EmbeddedWindow> {
    windows
        .iter()
        .map(|(window, vector)| (*window, vector.as_ref().map(nibbles::quantise_to_nibbles)))
        .collect()
}

fn ordered(mut ranking: Vec<(String, f64)>) -> Vec<(String, f64)> {
    ranking.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    ranking
}

/// The documents that no later segment replaces.
fn live(snapshot: &IndexSnapshot) -> Vec<(u32, Document)> {
    let columns = snapshot.columns(|_| true);
    let numbers = (0..snapshot.len()).filter(|number| columns.visible[*number as usize]);
    numbers.map(|number| (number, snapshot.document(number).unwrap())).collect()
}

#[test]
fn rec_01_the_order_by_vectors_is_that_of_a_slow_sum() {
    let mut dice = SnapshotRng(1);
    let mut trial = SnapshotFixture::new((0..30).map(|n| dice.unit(&format!("{n:02}.md"), 100, 8)).collect());
    trial.live(&mut dice);
    let snapshot = trial.snapshot();
    assert!(snapshot.segments[0].windows() as usize >= MIN_PARALLEL_ROWS, "both threads have work");
    assert_eq!(snapshot.segments.len(), 4);
    let documents = live(&snapshot);
    for _ in 0..5 {
        let query = dice.vector();
        let cosines = snapshot.cosines(&query);
        let of = |(number, document): &(u32, Document)| {
            (document.id.clone(), f64::from(cosines[*number as usize]))
        };
        let fast = ordered(documents.iter().map(of).collect());
        let slow = trial.documents().map(|it| (it.document.id.clone(), best(&query, &it.windows)));
        let slow = ordered(slow.collect());
        let difference = fast.iter().zip(&slow).find(|(fast, slow)| fast != slow);
        assert_eq!((fast.len(), difference), (slow.len(), None));
        assert!(fast[0].1 > 0.0 && fast.last().unwrap().1 == f64::NEG_INFINITY);
    }
}

/// The similarity of one document after rescoring.
fn looked_at(snapshot: &IndexSnapshot, number: u32, query: &QuantisedVector) -> RescoredSimilarity {
    snapshot.pick_for_rescoring(&[number], query.steps.len()).close(query).next().unwrap().1
}

#[test]
fn rec_01_a_closer_look_finds_the_best_part_of_a_document() {
    let mut dice = SnapshotRng(2);
    let mut trial = SnapshotFixture::new((0..10).map(|n| dice.unit(&format!("{n:02}.md"), 6, 5)).collect());
    trial.live(&mut dice);
    let snapshot = trial.snapshot();
    let truth: BTreeMap<&str, &PreparedDocument> =
        trial.documents().map(|prepared| (prepared.document.id.as_str(), prepared)).collect();
    let near = |fast: f32, slow: f64| {
        fast == slow as f32 || (f64::from(fast) - slow).abs() <= slow.abs() * 1e-6 + 1e-9
    };
    let documents = live(&snapshot);
    assert_eq!(documents.len(), truth.len());
    for (number, document) in documents {
        let (query, prepared) = (dice.vector(), truth[document.id.as_str()]);
        let fine = coarse(&prepared.fine);
        let (whole, finest) = (best(&query, &prepared.windows), best(&query, &fine));
        let close = looked_at(&snapshot, number, &query);
        assert!(near(close.whole, whole), "{} {} {whole}", document.id, close.whole);
        let finest = if finest.is_finite() { finest } else { whole };
        assert!(near(close.fine, finest), "{} {} {finest}", document.id, close.fine);

        let passage = snapshot.best_passage(number, &query);
        assert_eq!(passage.is_some(), whole.is_finite());
        if let Some(window) = passage {
            let (_, vector) = &prepared.windows[window.start];
            assert_eq!(cosine(&query, vector.as_ref().unwrap()), whole);
        }
        let parts = if best(&query, &fine).is_finite() { &fine } else { &prepared.windows };
        if let Some((window, vector)) = snapshot.best_window(number, &query) {
            assert_eq!(parts[window.start].1.as_ref(), Some(&vector));
            assert!((cosine(&query, &vector) - finest).abs() <= finest.abs() * 1e-6 + 1e-9);
        } else {
            assert!(!whole.is_finite());
        }
    }
}

#[test]
fn rec_01_documents_of_any_size_are_compared_whole() {
    let mut dice = SnapshotRng(3);
    let units = [1, 511, 512, 513, 1300, 3].map(|windows| dice.unit(&format!("{windows:04}.md"), 2, windows));
    let trial = SnapshotFixture::new(units.to_vec());
    let (snapshot, query) = (trial.snapshot(), dice.vector());
    let cosines = snapshot.cosines(&query);
    for (number, document) in live(&snapshot) {
        let prepared = trial.documents().find(|prepared| prepared.document.id == document.id).unwrap();
        assert_eq!(f64::from(cosines[number as usize]), best(&query, &prepared.windows), "{}", document.id);
    }
}
