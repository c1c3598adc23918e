//! `pack_reader MODEL WEIGHTS ID OUT`: what a reader was taught (safetensors) into the file of a reader over the words of MODEL.

use std::error::Error;

use rekindle_embed::pack_reader;

#[expect(clippy::disallowed_methods, reason = "a developer's program, writing where it is told")]
fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [model, weights, id, out] = arguments.as_slice() else {
        return Err("usage: pack_reader MODEL WEIGHTS ID OUT".into());
    };
    std::fs::write(out, pack_reader(&std::fs::read(model)?, id, &std::fs::read(weights)?)?)?;
    Ok(())
}
