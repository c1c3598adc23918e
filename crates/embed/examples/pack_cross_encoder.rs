//! `pack_cross_encoder MODEL WEIGHTS ID OUT`: packs the weights of a cross-encoder (safetensors, with any number of layers), trained
//! over the word embeddings of MODEL, into a file for the program.

use std::error::Error;

use rekindle_embed::pack_cross_encoder;

#[expect(clippy::disallowed_methods, reason = "a developer's program, writing where it is told")]
fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [model, weights, id, out] = arguments.as_slice() else {
        return Err("usage: pack_cross_encoder MODEL WEIGHTS ID OUT".into());
    };
    std::fs::write(out, pack_cross_encoder(&std::fs::read(model)?, id, &std::fs::read(weights)?)?)?;
    Ok(())
}
