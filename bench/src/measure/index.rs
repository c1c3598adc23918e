//! Measures the cost of building an index: keywords against FTS5, embeddings against onnxruntime.

use std::fs;
use std::io::{Error, Result};
use std::path::Path;

use serde_json::{Value, json};

use super::options::MeasureOptions;
use super::program::fts5_build;
use super::rekindle::{RekindleProgram, UNSUPPORTED_TEXT};
use super::run::{ProgramRun, RunSample};
use super::store::{BenchStore, say};

/// The number of builds of each keyword index; the median counts. One build takes less than a second, so a
/// busy machine would distort a single one.
const WORD_INDEX_TURNS: usize = 15;
/// The number of builds of each index with vectors.
const VECTOR_INDEX_TURNS: usize = 3;

/// Builds the keyword index of one store from nothing, in turns with the FTS5 table of the same texts.
pub fn words(options: &MeasureOptions, rekindle: &RekindleProgram, store: &BenchStore) -> Result<Value> {
    say(&format!("index of words, {WORD_INDEX_TURNS} times in turns with FTS5"));
    let (database, state) = (options.work.join("scratch.db"), options.work.join("scratch-state"));
    let ours_too = store.indexed && rekindle.indexes_words_only;
    let (mut theirs, mut ours) = (Vec::new(), Vec::new());
    for _ in 0..WORD_INDEX_TURNS {
        gone(&database)?;
        theirs.push(fts5_build(&store.lines(), &database, store.folder()).timed()?);
        if ours_too {
            gone(&state)?;
            ours.push(rekindle.reindex_into(&store.home(), &state, true).timed()?);
        }
    }
    gone(&database)?;
    gone(&state)?;
    let of = |samples: &[RunSample], what: fn(&RunSample) -> f64| middle(samples.iter().map(what).collect());
    let ours_of =
        |what: fn(&RunSample) -> f64| if ours_too { json!(of(&ours, what)) } else { json!(UNSUPPORTED_TEXT) };
    Ok(json!({
        "memories": store.size,
        "fts5_ms": of(&theirs, |sample| sample.wall),
        "fts5_processor_ms": of(&theirs, |sample| sample.cpu),
        "rekindle_ms": ours_of(|sample| sample.wall),
        "rekindle_processor_ms": ours_of(|sample| sample.cpu),
    }))
}

/// Measures memories per second of a full build: reading the vault, the keyword index, vectors of each memory
/// and each of its thoughts, and publishing. With `--onnx` it also embeds the same texts with onnxruntime,
/// and right before and after with the built-in model alone, one vector a text.
pub fn vectors(options: &MeasureOptions, rekindle: &RekindleProgram, store: &BenchStore) -> Result<Value> {
    let state = options.work.join("scratch-state");
    let mut ours = Vec::new();
    let (mut onnx, mut alone) = (Value::Null, Value::Null);
    for turn in 0..VECTOR_INDEX_TURNS {
        if store.indexed {
            say(&format!("index with vectors, {} of {VECTOR_INDEX_TURNS}", turn + 1));
            gone(&state)?;
            ours.push(rekindle.reindex_into(&store.home(), &state, false).timed()?.wall);
        }
        if turn == 0
            && let Some(folder) = &options.onnx
        {
            say("the same texts with onnxruntime");
            let before = texts_alone(options, store)?;
            onnx = onnxruntime(folder, store)?;
            alone = json!(f64::midpoint(before, texts_alone(options, store)?));
        }
    }
    gone(&state)?;
    let ours = match ours.is_empty() {
        true => json!(UNSUPPORTED_TEXT),
        false => json!(store.size as f64 / middle(ours) * 1e3),
    };
    Ok(json!({
        "memories": store.size,
        "rekindle_per_second": ours,
        "texts_per_second": alone,
        "onnxruntime_per_second": onnx,
    }))
}

/// Measures the texts per second of the built-in model alone.
fn texts_alone(options: &MeasureOptions, store: &BenchStore) -> Result<f64> {
    let printed = ProgramRun::new(&options.bulk, store.folder()).arg(store.lines()).printed()?;
    let rate = printed.split_whitespace().next().and_then(|rate| rate.parse().ok());
    rate.ok_or_else(|| Error::other(format!("no rate in what bulk printed:\n{printed}")))
}

/// Returns the best rate that the script reports, or null if it says that it skipped.
fn onnxruntime(model: &Path, store: &BenchStore) -> Result<Value> {
    let script = std::env::current_dir()?.join("scripts").join("embed-onnx.sh");
    let home = std::env::var_os("HOME").unwrap_or_default();
    let run =
        ProgramRun::new("bash", store.folder()).env("HOME", home).arg(script).arg(model).arg(store.lines());
    let printed = run.printed()?;
    let rate = |line: &str| {
        line.split_once("batches of")?.1.split_once(':')?.1.split_whitespace().next()?.parse().ok()
    };
    let rates: Vec<f64> = printed.lines().filter_map(rate).collect();
    match rates.iter().copied().max_by(f64::total_cmp) {
        Some(best) => Ok(json!(best)),
        None if printed.contains("skipped") => {
            say(printed.trim());
            Ok(Value::Null)
        }
        None => Err(Error::other(format!("no rate in what embed-onnx.sh printed:\n{printed}"))),
    }
}

fn gone(path: &Path) -> Result<()> {
    let gone = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    match gone {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn middle(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
