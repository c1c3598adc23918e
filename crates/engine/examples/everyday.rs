//! `everyday OUT`: teaches the machine that tells what everybody types from what is about somebody's own work, with the prompts
//! in `models/everyday.txt`, `models/work.txt` and `models/pairs.jsonl.gz` and the vectors of the built-in model. Makes
//! `models/everyday.rke`. The same prompts give the same machine.
//!
//! A support vector machine with a Gaussian kernel, found by moving one multiplier after the other to where it is best given
//! the rest. Both kinds count the same. Takes some minutes, and memory for each pair of prompts (two gigabytes for twenty-two
//! thousand).
#![expect(clippy::print_stdout, reason = "a developer's program, saying how well it did")]
#![expect(clippy::indexing_slicing, reason = "loops over numbers whose lengths are set here")]

use std::error::Error;

use rekindle_core::recall::relevance_gate::small_talk::{Example, nearness, write};
use rekindle_embed::{Model, dots};
use rekindle_engine::index::Embedder;
use rekindle_engine::models::BUILTIN;
use rekindle_engine::recall::relevance_gate::small_talk::unit;
use rekindle_testkit::training_data;
use serde_json::Value;

const EVERYDAY: &str = include_str!("../../../models/everyday.txt");
const WORK: &str = include_str!("../../../models/work.txt");
/// Of the prompts there that a memory answers, one of so many is taught: they are about as many then as those off topic.
const ANSWERED: usize = 5;

/// How narrowly it looks: the larger, the nearer a prompt has to be for its word to count.
const NARROW: f32 = 1.5;
/// The most that a prompt may say: what is labelled wrong or said by nobody else must not outshout the rest.
const LOUDEST: f32 = 3.0;
/// Nobody moved further than this in a whole round: it is done.
const STILL: f32 = 0.02;
const ROUNDS: usize = 200;
/// How far apart those are who move one after the other.
const STRIDE: usize = 97;
/// One prompt of so many is kept to see how well it does with what it was not taught.
const KEPT: usize = 10;

/// The prompts, and how near each is to each.
struct Taught {
    steps: Vec<i8>,
    width: usize,
    scales: Vec<f32>,
    is_everyday: Vec<bool>,
    near: Vec<f32>,
}

#[expect(clippy::disallowed_methods, reason = "a developer's program, writing where it is told")]
fn main() -> Result<(), Box<dyn Error>> {
    let out = std::env::args().nth(1).ok_or("usage: everyday OUT")?;
    let embedder = Embedder::new(BUILTIN, Model::builtin());
    let taught = Taught::new(embedder)?;
    let is_kept = |place: usize| place.is_multiple_of(KEPT);
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
    let needed: Vec<Example> = (0..taught.len())
        .filter(|place| says[*place] != 0.0)
        .map(|place| Example {
            steps: taught.row(place).to_vec(),
            scale: taught.scales[place],
            says: says[place],
        })
        .collect();
    println!("{} of {} prompts are needed", needed.len(), taught.len());
    let space = embedder.space();
    let bytes = write(&space.model, space.dimension as u32, NARROW, &needed);
    Ok(std::fs::write(out, bytes)?)
}

impl Taught {
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
            near.extend(cosines.map(|cosine| nearness(cosine, NARROW)));
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

    /// How near every prompt is to this one.
    fn near(&self, place: usize) -> &[f32] {
        &self.near[place * self.len()..(place + 1) * self.len()]
    }

    /// What the others say of it.
    fn margin(&self, place: usize, says: &[f32]) -> f32 {
        self.near(place).iter().zip(says).map(|(near, says)| near * says).sum()
    }
}

/// What each prompt says.
fn teach(taught: &Taught, is_taught: impl Fn(usize) -> bool) -> Vec<f32> {
    // In turns of both kinds, far from each other.
    let turns = (0..STRIDE).flat_map(|first| (first..taught.len()).step_by(STRIDE));
    let places: Vec<usize> = turns.filter(|place| is_taught(*place)).collect();
    let count = |kind| places.iter().filter(|place| taught.is_everyday[**place] == kind).count() as f32;
    let loudest = [false, true].map(|kind| LOUDEST * places.len() as f32 / (2.0 * count(kind)));
    let (mut says, mut margins) = (vec![0.0_f32; taught.len()], vec![0.0_f32; taught.len()]);
    for _ in 0..ROUNDS {
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
        if moved < STILL {
            break;
        }
    }
    says
}
