//! `bulk FILE`: how many memories a second the built-in model embeds on all processors. FILE has a line of JSON with a `text`
//! for each; the first two hundred count. `scripts/bench-recall.sh --onnx` runs it in turns with onnxruntime.
#![expect(clippy::print_stdout, reason = "a benchmark is there to print")]

use std::error::Error;
use std::time::Instant;

use rekindle_embed::{EmbeddingModel, TextRole};

/// As many as `scripts/embed-onnx.sh` takes.
const TEXTS: usize = 200;

fn main() -> Result<(), Box<dyn Error>> {
    let file = std::env::args().nth(1).ok_or("usage: bulk FILE")?;
    let lines = std::fs::read_to_string(file)?;
    let mut texts = Vec::new();
    for line in lines.lines().take(TEXTS) {
        let line: serde_json::Value = serde_json::from_str(line)?;
        texts.push(line["text"].as_str().ok_or("a line without a `text`")?.to_owned());
    }
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let started = Instant::now();
    std::hint::black_box(EmbeddingModel::builtin().embed_batch(TextRole::Passage, &texts, threads));
    println!("{:.1} memories/s on {threads} threads", texts.len() as f64 / started.elapsed().as_secs_f64());
    Ok(())
}
