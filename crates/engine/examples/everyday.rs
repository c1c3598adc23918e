//! `everyday OUT`: teaches the network that tells what everybody types from what is about somebody's own work, with the
//! prompts in `models/everyday.txt` and `models/work.txt` and the vectors of the built-in model. Makes `models/everyday.rke`.
//! The same prompts give the same network.
//!
//! Two networks of one layer are taught from different beginnings, by all prompts at once (Adam, both kinds count the same,
//! large weights are held back), and put side by side: the mean of two is steadier than either.
#![expect(clippy::print_stdout, reason = "a developer's program, saying how well it did")]
#![expect(clippy::indexing_slicing, reason = "loops over numbers whose lengths are set here")]

use std::error::Error;

use rekindle_core::recall::everyday::{Everyday, write};
use rekindle_embed::Model;
use rekindle_engine::index::Embedder;
use rekindle_engine::models::BUILTIN;
use rekindle_engine::recall::everyday::values;

const EVERYDAY: &str = include_str!("../../../models/everyday.txt");
const WORK: &str = include_str!("../../../models/work.txt");

/// How many units each of the two has.
const UNITS: usize = 32;
const STEPS: i32 = 500;
const PACE: f64 = 0.01;
/// How much large weights are held back.
const RESTRAINT: f64 = 3e-4;
/// One prompt of so many is kept to see how well it does with what it was not taught.
const KEPT: usize = 10;

struct Example {
    vector: Vec<f64>,
    is_everyday: bool,
}

#[expect(clippy::disallowed_methods, reason = "a developer's program, writing where it is told")]
fn main() -> Result<(), Box<dyn Error>> {
    let out = std::env::args().nth(1).ok_or("usage: everyday OUT")?;
    let embedder = Embedder::new(BUILTIN, Model::builtin());
    let space = embedder.space();
    let examples = |prompts: &str, is_everyday| -> Vec<Example> {
        let vector = |prompt| values(&embedder.query(prompt)).into_iter().map(f64::from).collect();
        prompts.lines().map(|prompt| Example { vector: vector(prompt), is_everyday }).collect()
    };
    let mut all = examples(EVERYDAY, true);
    all.extend(examples(WORK, false));
    let (kept, taught): (Vec<_>, Vec<_>) = all.iter().enumerate().partition(|(place, _)| place % KEPT == 0);
    let of =
        |these: Vec<(usize, _)>| -> Vec<&Example> { these.into_iter().map(|(_, example)| example).collect() };
    let (kept, taught) = (of(kept), of(taught));
    let bytes = |examples: &[&Example]| write(&space.model, space.dimension as u32, &both(examples));
    let trial = bytes(&taught);
    let network = Everyday::read(&trial).ok_or("the network cannot be read back")?;
    let is_right = |example: &&&Example| {
        let vector: Vec<f32> = example.vector.iter().map(|value| *value as f32).collect();
        network.by_vector(&vector).is_some_and(|odds| (odds > 0.0) == example.is_everyday)
    };
    println!(
        "{} prompts taught: right on {} of {} others",
        taught.len(),
        kept.iter().filter(is_right).count(),
        kept.len()
    );
    Ok(std::fs::write(out, bytes(&all.iter().collect::<Vec<_>>()))?)
}

/// Two networks as one.
fn both(examples: &[&Example]) -> Vec<f32> {
    let (first, second) = std::thread::scope(|scope| {
        let other = scope.spawn(|| teach(examples, 2));
        (teach(examples, 1), other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    });
    let width = examples[0].vector.len();
    let halved = |(place, number): (usize, &f64)| {
        let is_start_of_sum = place == UNITS * (width + 2);
        let counts = place % (width + 2) == width + 1;
        (if counts || is_start_of_sum { number / 2.0 } else { *number }) as f32
    };
    let [first, second] =
        [first, second].map(|numbers| numbers.iter().enumerate().map(halved).collect::<Vec<f32>>());
    let units = UNITS * (width + 2);
    [&first[..units], &second[..units], &[first[units] + second[units]]].concat()
}

/// The numbers of one network, as the file has them.
fn teach(examples: &[&Example], seed: u64) -> Vec<f64> {
    let width = examples[0].vector.len();
    let unit = width + 2;
    let mut random = Random(seed);
    let mut numbers: Vec<f64> = (0..UNITS * unit + 1)
        .map(|place| match place % unit {
            _ if place == UNITS * unit => 0.0,
            at if at < width => random.normal() / (width as f64).sqrt(),
            at if at == width => 0.0,
            _ => random.normal() / (UNITS as f64).sqrt(),
        })
        .collect();
    let count =
        |is_everyday| examples.iter().filter(|example| example.is_everyday == is_everyday).count() as f64;
    let weight = [0.5 / count(false), 0.5 / count(true)];
    let (mut mean, mut square) = (vec![0.0; numbers.len()], vec![0.0; numbers.len()]);
    for step in 1..=STEPS {
        let mut slope: Vec<f64> = numbers
            .iter()
            .enumerate()
            .map(|(place, number)| {
                let is_start = place % unit == width || place == UNITS * unit;
                if is_start { 0.0 } else { RESTRAINT * number }
            })
            .collect();
        let mut above = [0.0; UNITS];
        for example in examples {
            let mut odds = numbers[UNITS * unit];
            for (place, above) in above.iter_mut().enumerate() {
                let own = &numbers[place * unit..(place + 1) * unit];
                let sum: f64 = own.iter().zip(&example.vector).map(|(weight, value)| weight * value).sum();
                *above = (sum + own[width]).max(0.0);
                odds += own[width + 1] * *above;
            }
            let truth = f64::from(u8::from(example.is_everyday));
            let error = weight[usize::from(example.is_everyday)] * (1.0 / (1.0 + (-odds).exp()) - truth);
            slope[UNITS * unit] += error;
            for (place, above) in above.iter().enumerate().filter(|(_, above)| **above > 0.0) {
                let through = error * numbers[place * unit + width + 1];
                let own = &mut slope[place * unit..(place + 1) * unit];
                own.iter_mut().zip(&example.vector).for_each(|(slope, value)| *slope += through * value);
                own[width] += through;
                own[width + 1] += error * above;
            }
        }
        for (place, slope) in slope.iter().enumerate() {
            mean[place] = 0.9 * mean[place] + 0.1 * slope;
            square[place] = 0.999 * square[place] + 0.001 * slope * slope;
            let (mean, square): (f64, f64) =
                (mean[place] / (1.0 - 0.9_f64.powi(step)), square[place] / (1.0 - 0.999_f64.powi(step)));
            numbers[place] -= PACE * mean / (square.sqrt() + 1e-8);
        }
    }
    numbers
}

/// Numbers that look random, the same on every machine (SplitMix64).
struct Random(u64);

impl Random {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Twelve of them are as good as a bell.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.unit()).sum::<f64>() - 6.0
    }
}
