//! `pack_classifier MODEL WEIGHTS ID OUT`: trained weights (safetensors) into the file of a statement classifier over the words of
//! MODEL.

use std::error::Error;

use rekindle_embed::pack_classifier;

#[expect(clippy::disallowed_methods, reason = "a developer's program, writing where it is told")]
fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [model, weights, id, out] = arguments.as_slice() else {
        return Err("usage: pack_classifier MODEL WEIGHTS ID OUT".into());
    };
    std::fs::write(out, pack_classifier(&std::fs::read(model)?, id, &std::fs::read(weights)?)?)?;
    Ok(())
}
