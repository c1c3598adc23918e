//! `everyday OUT`: what everybody types, with the vectors of the built-in model. Makes `models/everyday.rki`.

use std::error::Error;

use rekindle_embed::Model;
use rekindle_engine::index::Embedder;
use rekindle_engine::models::BUILTIN;
use rekindle_engine::recall::everyday;

#[expect(clippy::disallowed_methods, reason = "a developer's program, writing where it is told")]
fn main() -> Result<(), Box<dyn Error>> {
    let out = std::env::args().nth(1).ok_or("usage: everyday OUT")?;
    Ok(std::fs::write(out, everyday::make(Embedder::new(BUILTIN, Model::builtin())))?)
}
