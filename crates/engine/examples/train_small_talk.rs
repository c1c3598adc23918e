//! `train_small_talk OUT`: trains the small-talk classifier on the vectors of the built-in model. The prompts come
//! from `models/everyday.txt`, `models/work.txt` and `models/pairs.jsonl.gz`; the output is
//! `models/everyday.rke`. The same prompts give the same classifier.
//!
//! The classifier is a support vector machine with a Gaussian kernel, trained by coordinate ascent: one
//! multiplier after the other moves to its best value given the rest. Both classes weigh the same. Training
//! takes some minutes and memory for each pair of prompts (two gigabytes for twenty-two thousand prompts).
#![expect(clippy::print_stdout, reason = "a developer's program, saying how well it did")]
#![expect(clippy::indexing_slicing, reason = "loops over numbers whose lengths are set here")]

use std::error::Error;

use rekindle_core::recall::relevance_gate::small_talk::{SupportVector, kernel_value, write};
use rekindle_embed::{EmbeddingModel, dots};
use rekindle_engine::index::Embedder;
use rekindle_engine::index::models::BUILTIN_MODEL;
use rekindle_engine::recall::relevance_gate::small_talk::unit;
use rekindle_testkit::training_data;
use serde_json::Value;

const EVERYDAY: &str = include_str!("../../../models/everyday.txt");
const WORK: &str = include_str!("../../../models/work.txt");
/// Of the prompts there that a memory answers, one of so many is taught: they are about as many then as those off topic.
const ANSWERED: usize = 5;

/// The gamma of the kernel: the larger, the nearer a prompt has to be to count.
const NARROW: f32 = 1.5;
/// The upper bound of a multiplier. It limits the influence of mislabelled and isolated prompts.
const LOUDEST: f32 = 3.0;
/// Training ends when no multiplier moved further than this in a whole round.
const CONVERGENCE_THRESHOLD: f32 = 0.02;
const MAX_ROUNDS: usize = 200;
/// The distance between two prompts that are trained one after the other.
const STRIDE: usize = 97;
/// One of this many prompts is held out for validation.
const HOLDOUT_INTERVAL: usize = 10;

/// The training set, with the kernel of every pair.
struct TrainedSmallTalkModel {
    steps: Vec<i8>,
    width: usize,
    scales: Vec<f32>,
    is_everyday: Vec<bool>,
    near: Vec<f32>,
}

#[expect(clippy::disallowed_methods, reason = "a developer's program, writing where it is told")]
fn main() -> Result<(), Box<dyn Error>> {
    let out = std::env::args().nth(1).ok_or("usage: everyday OUT")?;
    let embedder = Embedder::new(BUILTIN_MODEL, EmbeddingModel::builtin());
    let taught = TrainedSmallTalkModel::new(embedder)?;
    let is_kept = |place: usize| place.is_multiple_of(HOLDOUT_INTERVAL);
    let says = teach(&taught, |place| !is_kept(place));
    let kept: Vec<usize> = (0..taught.len()).filter(|place| is_kept(*place)).collect();
    let is_right = |place: &&usize| (taught.margin(**place, &says) > 0.0) == taught.is_everyday[**place];
    println!(
        "{} prompts taught: right on {} of {} others",
        taught.len() - kept.len(),
        kept.iter().filter(is_right).count(),
        kept.len()
    );
    let says = teach(&taught, |_| true);
    let needed: Vec<SupportVector> = (0..taught.len())
        .filter(|place| says[*place] != 0.0)
        .map(|place| SupportVector {
            steps: taught.row(place).to_vec(),
            scale: taught.scales[place],
            coefficient: says[place],
        })
        .collect();
    println!("{} of {} prompts are needed", needed.len(), taught.len());
    let space = embedder.space();
    let bytes = write(&space.model, space.dimension as u32, NARROW, &needed);
    Ok(std::fs::write(out, bytes)?)
}

impl TrainedSmallTalkModel {
    fn new(embedder: Embedder<'_>) -> Result<Self, Box<dyn Error>> {
        let pairs: Vec<Value> =
            training_data("pairs.jsonl.gz").lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
        let of = |kind: &'static str| {
            let pairs = pairs.iter().filter(move |pair| pair["type"] == kind);
            pairs.filter_map(|pair| pair["prompt"].as_str())
        };
        let mut prompts: Vec<&str> = EVERYDAY.lines().chain(of("off topic")).collect();
        let everyday = prompts.len();
        prompts.extend(WORK.lines().chain(of("answerable").step_by(ANSWERED)));
        let vectors: Vec<Vec<i8>> = prompts.iter().map(|prompt| embedder.query(prompt).steps).collect();
        let scales: Vec<f32> = vectors.iter().map(|steps| unit(steps)).collect();
        let width = vectors[0].len();
        let steps = vectors.concat();
        let rows: Vec<u8> = steps.iter().map(|step| step.cast_unsigned()).collect();
        let mut near = Vec::with_capacity(prompts.len() * prompts.len());
        let mut products = vec![0; prompts.len()];
        for (vector, own) in vectors.iter().zip(&scales) {
            dots(vector, &rows, &mut products);
            let cosines = products.iter().zip(&scales).map(|(product, scale)| *product as f32 * scale * own);
            near.extend(cosines.map(|cosine| kernel_value(cosine, NARROW)));
        }
        let is_everyday = (0..prompts.len()).map(|place| place < everyday).collect();
        Ok(Self { steps, width, scales, is_everyday, near })
    }

    fn len(&self) -> usize {
        self.scales.len()
    }

    fn row(&self, place: usize) -> &[i8] {
        &self.steps[place * self.width..(place + 1) * self.width]
    }

    /// The kernel between one prompt and every prompt.
    fn near(&self, place: usize) -> &[f32] {
        &self.near[place * self.len()..(place + 1) * self.len()]
    }

    /// The output of the classifier for one prompt.
    fn margin(&self, place: usize, says: &[f32]) -> f32 {
        self.near(place).iter().zip(says).map(|(near, says)| near * says).sum()
    }
}

/// Trains the multipliers by coordinate ascent.
fn teach(taught: &TrainedSmallTalkModel, is_taught: impl Fn(usize) -> bool) -> Vec<f32> {
    // The order alternates between both classes and takes distant prompts in turn.
    let turns = (0..STRIDE).flat_map(|first| (first..taught.len()).step_by(STRIDE));
    let places: Vec<usize> = turns.filter(|place| is_taught(*place)).collect();
    let count = |kind| places.iter().filter(|place| taught.is_everyday[**place] == kind).count() as f32;
    let loudest = [false, true].map(|kind| LOUDEST * places.len() as f32 / (2.0 * count(kind)));
    let (mut says, mut margins) = (vec![0.0_f32; taught.len()], vec![0.0_f32; taught.len()]);
    for _ in 0..MAX_ROUNDS {
        let mut moved = 0.0_f32;
        for &place in &places {
            let kind = taught.is_everyday[place];
            let side = if kind { 1.0 } else { -1.0 };
            let own = taught.near(place)[place];
            let wanted = (says[place] * side + (1.0 - side * margins[place]) / own)
                .clamp(0.0, loudest[usize::from(kind)]);
            let step = wanted * side - says[place];
            if step == 0.0 {
                continue;
            }
            says[place] = wanted * side;
            moved = moved.max(step.abs());
            margins.iter_mut().zip(taught.near(place)).for_each(|(margin, near)| *margin += step * near);
        }
        if moved < CONVERGENCE_THRESHOLD {
            break;
        }
    }
    says
}
