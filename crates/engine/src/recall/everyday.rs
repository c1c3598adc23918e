//! What everybody types and no memory answers (B-06), by the network that is part of the program. `models/README.md` tells
//! what it was taught with; the example `everyday` of this crate teaches it. Of the vectors of another model it knows nothing.

use rekindle_core::recall::everyday::Everyday;
use rekindle_embed::Quantised;

use crate::index::Embedder;

static NETWORK: &[u8] = include_bytes!("../../../../models/everyday.rke");

/// The logarithm of the odds that a prompt is an everyday one, if that can be said of this model's vectors.
pub fn odds(embedder: Embedder<'_>, prompt: &str, vector: &Quantised) -> Option<f64> {
    let network = Everyday::read(NETWORK).filter(|network| network.model() == embedder.space().model)?;
    network.odds(prompt, &values(vector))
}

/// The vector as the network was taught with it.
pub fn values(vector: &Quantised) -> Vec<f32> {
    vector.steps.iter().map(|step| f32::from(*step) * vector.scale).collect()
}

#[cfg(test)]
mod tests {
    use rekindle_embed::Model;

    use super::*;
    use crate::models::BUILTIN;

    /// Every so many lines of what it was taught with are looked at.
    const EVERY: usize = 20;

    #[test]
    fn b_06_what_is_shipped_knows_what_it_was_taught() {
        let embedder = Embedder::new(BUILTIN, Model::builtin());
        let right = |prompts: &str, is_right: fn(f64) -> bool| {
            let prompts: Vec<&str> = prompts.lines().step_by(EVERY).collect();
            let odds = |prompt: &&&str| odds(embedder, prompt, &embedder.query(prompt));
            let right = prompts.iter().filter(|prompt| {
                is_right(odds(prompt).expect("`cargo run -p rekindle-engine --example everyday` teaches it"))
            });
            (right.count() * 100) / prompts.len()
        };
        let everyday = right(include_str!("../../../../models/everyday.txt"), |odds| odds > 0.0);
        let work = right(include_str!("../../../../models/work.txt"), |odds| odds < 0.0);
        assert!(everyday >= 90 && work >= 90, "{everyday} and {work} per cent");
        let other = Embedder::new("another", Model::builtin());
        assert_eq!(odds(other, "thanks!", &other.query("thanks!")), None);
    }
}
