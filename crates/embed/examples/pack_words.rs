//! `pack_words MODEL WORDS WEIGHTS ID OUT`: packs a multilingual vocabulary, a piece per line, and its rows (safetensors), trained
//! for the layers of MODEL, into a file for the program.

use std::error::Error;

use rekindle_embed::pack_words;

#[expect(clippy::disallowed_methods, reason = "a developer's program, writing where it is told")]
fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [model, words, weights, id, out] = arguments.as_slice() else {
        return Err("usage: pack_words MODEL WORDS WEIGHTS ID OUT".into());
    };
    let words = std::fs::read_to_string(words)?;
    std::fs::write(out, pack_words(&std::fs::read(model)?, id, &words, &std::fs::read(weights)?)?)?;
    Ok(())
}
