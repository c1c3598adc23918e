//! `score_pairs [FILE]`: what the cross-encoder says of pairs, a JSON list of prompt and memory on each line of the input; FILE is
//! a cross-encoder other than the built-in one. For trying one before it becomes part of the program.

use std::error::Error;
use std::io::{BufRead, Write};

use rekindle_embed::{CrossEncoder, EmbeddingModel, EncoderScratch};

/// Bytes that begin at a multiple of 64.
fn aligned(bytes: &[u8]) -> &'static [u8] {
    let room = vec![0_u8; bytes.len() + 64].leak();
    let start = room.as_ptr().align_offset(64);
    room[start..start + bytes.len()].copy_from_slice(bytes);
    &room[start..start + bytes.len()]
}

fn main() -> Result<(), Box<dyn Error>> {
    let other = match std::env::args().nth(1) {
        Some(path) => {
            Some(CrossEncoder::from_bytes(EmbeddingModel::builtin(), aligned(&std::fs::read(path)?))?)
        }
        None => None,
    };
    let cross_encoder = other.as_ref().unwrap_or_else(|| CrossEncoder::builtin());
    let (mut scratch, mut out) = (EncoderScratch::new(), std::io::stdout().lock());
    for line in std::io::stdin().lock().lines() {
        let [prompt, memory]: [String; 2] = serde_json::from_str(&line?)?;
        writeln!(
            out,
            "{}",
            cross_encoder.score(
                &mut scratch,
                &cross_encoder.prompt(&prompt),
                &[cross_encoder.passage(&memory)]
            )[0]
        )?;
    }
    Ok(())
}
