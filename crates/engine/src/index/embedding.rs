//! Computes missing vectors: a few at once after a save, all of them when the index is built.
//!
//! A long run writes its vectors to the checkpoint `embedding.partial`, from which an interrupted run resumes
//! (STO-15). The file holds vectors and hashes of texts, but no text.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rekindle_core::base::hash::ContentHash;
use rekindle_core::recall::windows::TextWindow;
use rekindle_core::text::language;
use rekindle_embed::{EmbeddingModel, EncoderScratch, QuantisedVector, TextRole, TextVocabulary, quantise};

use super::build::PreparedUnit;
use super::error::Error;
use super::format::VectorSpace;
use super::frames;
use super::store::{CHECKPOINT_FILE, RecallIndex};
use crate::platform::disk;

/// The time that a save may spend on vectors; the next indexing run computes the rest (STO-15).
pub const SAVE_BUDGET: Duration = Duration::from_millis(50);
/// The number of texts between two checks of the clock and two checkpoints.
const BATCH_TEXTS: usize = 64;

/// The windows whose vectors a run computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowSelection {
    /// The whole windows, by which a query finds a document.
    Whole,
    /// All windows, including the fine ones that only rescoring reads.
    All,
}

/// An embedder: a model and the name of its vectors.
#[derive(Clone, Copy, Debug)]
pub struct Embedder<'a> {
    model: &'a EmbeddingModel<'a>,
    name: &'a str,
}

impl<'a> Embedder<'a> {
    /// Creates an embedder; `name` is the model's name in the settings.
    pub fn new(name: &'a str, model: &'a EmbeddingModel<'a>) -> Self {
        Self { model, name }
    }

    /// The space of its vectors.
    pub fn space(&self) -> VectorSpace {
        let own = self.model_name();
        // With another multilingual vocabulary, texts in other languages have other vectors.
        let model = match self.model.multilingual_checksum() {
            Some(checksum) => format!("{own}+{checksum:016x}"),
            None => own,
        };
        VectorSpace { model, dimension: self.model.dimension() }
    }

    /// The name and the checksum of its model, by which classifiers of vectors name it.
    pub fn model_name(&self) -> String {
        format!("{}@{:016x}", self.name, self.model.checksum())
    }

    /// Computes the embedding of a query.
    pub fn query(&self, text: &str) -> QuantisedVector {
        let vocabulary = vocabulary_for(text);
        quantise(&self.model.embed_as(&mut EncoderScratch::default(), TextRole::Query, vocabulary, text))
    }

    /// Loads the weights that [`Embedder::query`] reads on another thread.
    pub fn prefetch(&self) {
        self.model.prefetch_layers();
    }

    /// The id of a word in the model's vocabulary, which is ordered by frequency; `None` if the word is not a
    /// single token.
    pub fn word_id(&self, word: &str) -> Option<u32> {
        match self.model.tokenize(word).as_slice() {
            [_, only, _] => Some(*only),
            _ => None,
        }
    }

    /// Fills in the vectors that `known` has, then computes missing ones until `budget` is spent. Returns the
    /// number of vectors that are still missing.
    pub fn fill_missing<'u>(
        &self,
        units: impl IntoIterator<Item = &'u mut PreparedUnit>,
        known: &VectorCache,
        budget: Duration,
    ) -> usize {
        let (start, mut scratch, mut missing) = (Instant::now(), EncoderScratch::default(), 0);
        let mut slowest = Duration::ZERO;
        for prepared in units.into_iter().flat_map(|unit| &mut unit.documents) {
            let searched = prepared.document.searched_text();
            let all = prepared.windows.iter_mut().chain(&mut prepared.fine);
            for (window, vector) in all.filter(|(_, vector)| vector.is_none()) {
                let text = &*prepared.document.passage(&searched, *window);
                let before = start.elapsed();
                *vector = known.get(text).cloned();
                // Assume that the next text takes as long as the slowest so far.
                if vector.is_none() && before + slowest < budget {
                    let vocabulary = vocabulary_for(text);
                    let made = self.model.embed_as(&mut scratch, TextRole::Passage, vocabulary, text);
                    *vector = Some(quantise(&made));
                    slowest = slowest.max(start.elapsed().saturating_sub(before));
                }
                missing += usize::from(vector.is_none());
            }
        }
        missing
    }

    /// Computes the missing vectors of the selected windows, on all cores. `progress` gets the number done and
    /// the total of all windows, and may stop the run; the next run resumes from the checkpoint.
    pub fn fill_all(
        &self,
        index: &RecallIndex,
        units: &mut [&mut PreparedUnit],
        selection: WindowSelection,
        progress: &mut dyn FnMut(usize, usize) -> bool,
    ) -> Result<usize, Error> {
        let texts: Vec<String> = missing_texts(units, selection);
        if texts.is_empty() {
            return Ok(0);
        }
        let windows = units.iter().flat_map(|unit| &unit.documents);
        let windows = windows.flat_map(|prepared| prepared.windows.iter().chain(&prepared.fine));
        let total = windows.filter(|(_, vector)| vector.is_none()).count();
        let partial = EmbeddingCheckpoint { path: index.folder().join(CHECKPOINT_FILE), space: self.space() };
        disk::create_private_folder(index.folder()).map_err(Error::io("made", index.folder()))?;
        let mut known = partial.read()?;
        let mut wanted: Vec<&str> =
            texts.iter().map(String::as_str).filter(|text| known.get(text).is_none()).collect();
        // Batches of equal length waste no work on padding. The longest come first, so that estimates of the
        // remaining time are not too low.
        wanted.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        wanted.dedup();
        let done = texts.len() - wanted.len();
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let mut go_on = progress(done, total);
        let mut made = 0;
        for batch in wanted.chunks(BATCH_TEXTS) {
            if !go_on {
                break;
            }
            let read: Vec<(TextVocabulary, &str)> =
                batch.iter().map(|text| (vocabulary_for(text), *text)).collect();
            let vectors = self.model.embed_batch_as(TextRole::Passage, &read, threads);
            let vectors: Vec<QuantisedVector> = vectors.iter().map(|vector| quantise(vector)).collect();
            partial.append(batch, &vectors)?;
            made += vectors.len();
            for (text, vector) in batch.iter().zip(vectors) {
                known.checkpoint_vector(text, vector);
            }
            go_on = progress(done + made, total);
        }
        self.fill_missing(units.iter_mut().map(|unit| &mut **unit), &known, Duration::ZERO);
        Ok(made)
    }

    /// Deletes the checkpoint: its vectors are in the index now, or must not be kept.
    pub fn clear_checkpoint(index: &RecallIndex) -> Result<(), Error> {
        let path = index.folder().join(CHECKPOINT_FILE);
        disk::shred(&path).map_err(Error::io("removed", &path))
    }
}

/// The vocabulary to read `text` with, by its language.
pub fn vocabulary_for(text: &str) -> TextVocabulary {
    match language::guess(text) {
        Some(_) => TextVocabulary::Multilingual,
        None => TextVocabulary::English,
    }
}

fn missing_texts(units: &[&mut PreparedUnit], selection: WindowSelection) -> Vec<String> {
    let mut texts = Vec::new();
    for prepared in units.iter().flat_map(|unit| &unit.documents) {
        let fine = match selection {
            WindowSelection::Whole => &[],
            WindowSelection::All => prepared.fine.as_slice(),
        };
        let missing = prepared.windows.iter().chain(fine).filter(|(_, vector)| vector.is_none());
        let missing: Vec<TextWindow> = missing.map(|(window, _)| *window).collect();
        if !missing.is_empty() {
            let searched = prepared.document.searched_text();
            texts.extend(
                missing.iter().map(|window| prepared.document.passage(&searched, *window).into_owned()),
            );
        }
    }
    texts
}

/// Vectors by the hash of their text.
#[derive(Debug, Default)]
pub struct VectorCache(HashMap<ContentHash, QuantisedVector>);

impl VectorCache {
    /// Collects the vectors of units.
    pub fn of<'a>(units: impl IntoIterator<Item = &'a PreparedUnit>) -> Self {
        let mut known = Self::default();
        for prepared in units.into_iter().flat_map(|unit| &unit.documents) {
            let searched = prepared.document.searched_text();
            for (window, vector) in prepared.windows.iter().chain(&prepared.fine) {
                if let Some(vector) = vector {
                    known.checkpoint_vector(&prepared.document.passage(&searched, *window), vector.clone());
                }
            }
        }
        known
    }

    /// Adds the vectors of another cache.
    pub fn add_all(&mut self, others: Option<&Self>) {
        let others = others.into_iter().flat_map(|others| &others.0);
        self.0.extend(others.map(|(hash, vector)| (*hash, vector.clone())));
    }

    /// True if it has no vectors.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn get(&self, text: &str) -> Option<&QuantisedVector> {
        if self.0.is_empty() {
            return None;
        }
        self.0.get(&ContentHash::of_bytes(text.as_bytes()))
    }

    fn checkpoint_vector(&mut self, text: &str, vector: QuantisedVector) {
        self.0.insert(ContentHash::of_bytes(text.as_bytes()), vector);
    }
}

/// The checkpoint of a long run. The first frame names the model; another model starts afresh.
struct EmbeddingCheckpoint {
    path: PathBuf,
    space: VectorSpace,
}

impl EmbeddingCheckpoint {
    fn read(&self) -> Result<VectorCache, Error> {
        let bytes = frames::read(&self.path).map_err(Error::io("read", &self.path))?;
        let (found, whole) = frames::frames(&bytes);
        if whole < bytes.len() {
            // Cut off the torn tail: readers stop at it, so later frames would be lost.
            frames::append(&self.path, whole, &[]).map_err(Error::io("written", &self.path))?;
        }
        let mut known = VectorCache::default();
        let mut found = found.into_iter();
        let is_ours = found.next().is_some_and(|first| bytes[first] == *self.space.model.as_bytes());
        if !is_ours {
            let head = frames::frame(self.space.model.as_bytes());
            frames::append(&self.path, 0, &head).map_err(Error::io("written", &self.path))?;
            return Ok(known);
        }
        let row = 32 + 4 + self.space.dimension;
        for row in found.flat_map(|range| bytes[range].chunks_exact(row)) {
            let (Some(hash), Some(scale)) = (row.first_chunk::<32>(), row[32..].first_chunk::<4>()) else {
                continue;
            };
            let steps = row[36..].iter().map(|byte| byte.cast_signed()).collect();
            known.0.insert(
                ContentHash::from_bytes(*hash),
                QuantisedVector { steps, scale: f32::from_le_bytes(*scale) },
            );
        }
        Ok(known)
    }

    fn append(&self, texts: &[&str], vectors: &[QuantisedVector]) -> Result<(), Error> {
        let mut payload = Vec::new();
        for (text, vector) in texts.iter().zip(vectors) {
            payload.extend_from_slice(&ContentHash::of_bytes(text.as_bytes()).bytes());
            payload.extend_from_slice(&vector.scale.to_le_bytes());
            payload.extend(vector.steps.iter().map(|step| step.cast_unsigned()));
        }
        let length = std::fs::metadata(&self.path).map_or(0, |metadata| metadata.len());
        frames::append(&self.path, length as usize, &frames::frame(&payload))
            .map_err(Error::io("written", &self.path))
    }
}

#[cfg(test)]
mod tests;
