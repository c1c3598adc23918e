//! `synthetic_vectors index FOLDER` fills the missing vectors of an index with pseudo-random ones, and
//! `synthetic_vectors ingest STORE <LINES` is `rekindle bench ingest` with such vectors. `scripts/bench-recall.sh`
//! measures time with them where computing a million vectors would take hours; they say nothing of quality.
#![expect(clippy::print_stdout, reason = "a developer's program, printing what it was asked for")]

use std::error::Error;
use std::path::Path;
use std::time::Duration;

use rekindle_core::base::hash::checksum;
use rekindle_embed::{EmbeddingModel, QuantisedVector};
use rekindle_engine::index::models::BUILTIN_MODEL;
use rekindle_engine::index::{Embedder, IndexSnapshot, OldBytes, PreparedUnit, RecallIndex, VectorSpace};
use rekindle_engine::recall::bench::{self, BenchMessage};

/// Nobody else writes to a store that is measured.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let space = Embedder::new(BUILTIN_MODEL, EmbeddingModel::builtin()).space();
    match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["index", folder] => fill_index(&RecallIndex::in_folder(folder.into()), &space),
        ["ingest", store] => {
            let messages: Vec<BenchMessage> =
                bench::lines(std::io::stdin().lock()).collect::<Result<_, _>>()?;
            let stats = bench::ingest(Path::new(store), &space, messages, |_, units| {
                fill(units.iter_mut().map(|unit| &mut **unit), &space);
                Ok(())
            })?;
            println!("{}", serde_json::to_string(&stats)?);
            Ok(())
        }
        _ => Err("usage: synthetic_vectors index FOLDER | ingest STORE <LINES".into()),
    }
}

fn fill_index(index: &RecallIndex, space: &VectorSpace) -> Result<(), Box<dyn Error>> {
    let writer = index.writer(LOCK_TIMEOUT)?;
    let (mut all, basis) = writer.load(space);
    fill(all.values_mut(), space);
    let seen = basis.as_ref().and_then(IndexSnapshot::last_seen_change).cloned();
    let all = all.into_values().collect();
    writer.publish(space, all, basis.as_ref(), seen.as_ref(), OldBytes::Removed)?;
    Ok(())
}

/// Derives a vector of approximately unit length from each text that has none.
fn fill<'u>(units: impl Iterator<Item = &'u mut PreparedUnit>, space: &VectorSpace) {
    for prepared in units.flat_map(|unit| &mut unit.documents) {
        let searched = prepared.document.searched_text();
        let windows = prepared.windows.iter_mut().chain(&mut prepared.fine);
        for (window, vector) in windows.filter(|(_, vector)| vector.is_none()) {
            let mut state = checksum(prepared.document.passage(&searched, *window).as_bytes());
            let mut step = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 56) as u8
            };
            let steps = (0..space.dimension).map(|_| step().cast_signed().max(-127)).collect();
            let scale = 1.0 / (73.0 * (space.dimension as f32).sqrt());
            *vector = Some(QuantisedVector { steps, scale });
        }
    }
}
