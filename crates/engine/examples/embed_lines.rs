//! `embed_lines NAME`: embeds the lines on stdin with a model of the Rekindle home and prints JSON, one
//! object a line. `scripts/models-cross.sh` compares the vectors with a reference.
#![expect(clippy::print_stdout, reason = "a developer's program, printing what it was asked for")]

use std::error::Error;
use std::io::BufRead as _;

use rekindle_embed::{EncoderScratch, TextRole};
use rekindle_engine::index::models::ModelStore;
use rekindle_engine::platform::home::HomeFolder;

fn main() -> Result<(), Box<dyn Error>> {
    let name = std::env::args().nth(1).ok_or("usage: embed_lines NAME <TEXTS")?;
    let model = ModelStore::open(&HomeFolder::find(None)?).load(&name)?;
    let mut scratch = EncoderScratch::new();
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let mut embed = |role| model.embed(&mut scratch, role, &line);
        println!(
            "{}",
            serde_json::json!({"query": embed(TextRole::Query), "passage": embed(TextRole::Passage)})
        );
    }
    Ok(())
}
