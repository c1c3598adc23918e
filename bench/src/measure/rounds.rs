//! Runs programs cold in turns, and counts hits.

use std::collections::BTreeMap;
use std::io::Result;

use serde_json::{Value, json};

use super::options::MeasureOptions;
use super::program::MeasuredProgram;
use super::rekindle::RekindleProgram;
use super::run::{ProgramRun, RunSample};
use super::store::{BenchStore, StoredQuestion};
use crate::corpus::random::SplitMix64;

/// The largest size measured in every round. Beyond it one FTS5 query takes about a second.
const MAX_FREQUENT_SIZE: usize = 100_000;
/// The number of rounds between two runs of a larger size.
const RARE_TURN_INTERVAL: usize = 10;

/// The cold runs of one program.
#[derive(Debug)]
pub struct ColdRuns {
    /// The program under measurement.
    pub program: MeasuredProgram,
    /// The measurements, in order.
    pub samples: Vec<RunSample>,
    /// The kind of the question of each measurement.
    pub kinds: Vec<String>,
}

impl ColdRuns {
    /// Returns the quantile of a measurement: this share of the runs is at or below it.
    pub fn quantile(&self, share: f64, of: fn(&RunSample) -> f64) -> f64 {
        let mut values: Vec<f64> = self.samples.iter().map(of).collect();
        values.sort_unstable_by(f64::total_cmp);
        let at = (values.len() as f64 * share).ceil() as usize;
        values.get(at.saturating_sub(1)).copied().unwrap_or(f64::NAN)
    }

    /// The measurements for questions of each kind.
    pub fn by_kind(&self) -> BTreeMap<&str, Self> {
        let mut parts: BTreeMap<&str, Self> = BTreeMap::new();
        for (kind, sample) in self.kinds.iter().zip(&self.samples) {
            let part = parts.entry(kind).or_insert_with(|| Self::of(self.program));
            part.samples.push(*sample);
        }
        parts
    }

    /// No runs yet.
    pub fn of(program: MeasuredProgram) -> Self {
        Self { program, samples: Vec::new(), kinds: Vec::new() }
    }

    /// The median time, in milliseconds.
    pub fn p50(&self) -> f64 {
        self.quantile(0.5, |sample| sample.wall)
    }

    /// The 90th percentile of the time, in milliseconds.
    pub fn p90(&self) -> f64 {
        self.quantile(0.9, |sample| sample.wall)
    }

    /// The 95th percentile of the time, in milliseconds.
    pub fn p95(&self) -> f64 {
        self.quantile(0.95, |sample| sample.wall)
    }

    /// The median processor time, in milliseconds.
    pub fn processor(&self) -> f64 {
        self.quantile(0.5, |sample| sample.cpu)
    }

    /// The peak memory of all runs, in bytes.
    pub fn peak(&self) -> u64 {
        self.samples.iter().map(|sample| sample.peak).max().unwrap_or(0)
    }
}

/// Lists the programs to run: the empty program, and FTS5, tantivy and Rekindle at every size.
pub fn programs(stores: &[BenchStore]) -> Vec<MeasuredProgram> {
    let mut programs = vec![MeasuredProgram::Empty];
    for store in stores {
        programs.push(MeasuredProgram::Fts5(store.size));
        programs.push(MeasuredProgram::Tantivy(store.size));
        if store.indexed {
            let ours = if store.synthetic { MeasuredProgram::Query } else { MeasuredProgram::Recall };
            programs.push(ours(store.size));
        }
    }
    programs
}

/// Runs each program once a round, in a new random order, so that other load on the machine and the state of
/// the caches affect all programs alike. All programs of a round get the same question.
pub fn run(
    options: &MeasureOptions,
    rekindle: &RekindleProgram,
    stores: &[BenchStore],
    questions: &[StoredQuestion],
) -> Result<Vec<ColdRuns>> {
    let mut colds: Vec<ColdRuns> = programs(stores).into_iter().map(ColdRuns::of).collect();
    let mut order: Vec<usize> = (0..colds.len()).collect();
    let mut random = SplitMix64::of(options.seed, 0);
    for round in 0..options.rounds {
        let question = &questions[round % questions.len()];
        for place in (1..order.len()).rev() {
            order.swap(place, random.below(place + 1));
        }
        for number in &order {
            let cold = &mut colds[*number];
            if cold.program.size().is_some_and(|size| size > MAX_FREQUENT_SIZE)
                && round % RARE_TURN_INTERVAL != 0
            {
                continue;
            }
            if let Some(run) = command(cold.program, options, rekindle, stores, question) {
                cold.samples.push(run.timed()?);
                cold.kinds.push(question.kind.clone());
            }
        }
    }
    Ok(colds)
}

fn command(
    program: MeasuredProgram,
    options: &MeasureOptions,
    rekindle: &RekindleProgram,
    stores: &[BenchStore],
    question: &StoredQuestion,
) -> Option<ProgramRun> {
    let store = || stores.iter().find(|store| Some(store.size) == program.size());
    match program {
        MeasuredProgram::Empty => Some(ProgramRun::new(&options.empty, &options.work)),
        MeasuredProgram::Fts5(_) => Some(store()?.fts5(question)),
        MeasuredProgram::Tantivy(_) => Some(store()?.tantivy(question)),
        MeasuredProgram::Recall(_) | MeasuredProgram::Query(_) => Some(store()?.recall(rekindle, question)),
    }
}

/// Counts hits of one store by kind of question: asked, hits of FTS5, hits of Rekindle, empty answers of
/// Rekindle, hits of tantivy. An empty answer is fast but useless, so speed needs these counts beside it. The questions also
/// load all files into the page cache.
pub fn found(rekindle: &RekindleProgram, store: &BenchStore, questions: &[StoredQuestion]) -> Result<Value> {
    let mut kinds: BTreeMap<&str, [usize; 5]> = BTreeMap::new();
    let few =
        if store.size > MAX_FREQUENT_SIZE { questions.len() / RARE_TURN_INTERVAL } else { questions.len() };
    for question in &questions[..few] {
        let counts = kinds.entry(&question.kind).or_default();
        counts[0] += 1;
        let ids = store.fts5(question).printed()?;
        counts[1] += usize::from(ids.lines().any(|id| id == question.gold));
        let ids = store.tantivy(question).printed()?;
        counts[4] += usize::from(ids.lines().any(|id| id == question.gold));
        if store.indexed {
            let answer: Value = serde_json::from_str(&store.recall(rekindle, question).printed()?)?;
            let results = answer["results"].as_array().map(Vec::as_slice).unwrap_or_default();
            let hit = results.iter().take(5).any(|result| result["id"] == question.gold.as_str());
            counts[2] += usize::from(hit);
            counts[3] += usize::from(results.is_empty());
        }
    }
    let kinds = kinds.into_iter().map(|(kind, [asked, fts5, recall, silent, tantivy])| {
        let ours = |count: usize| if store.indexed { json!(count) } else { Value::Null };
        (
            kind.to_owned(),
            json!({"asked": asked, "fts5": fts5, "tantivy": tantivy, "recall": ours(recall), "silent": ours(silent)}),
        )
    });
    Ok(Value::Object(kinds.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_values_that_were_measured() {
        let samples = (1..=100).rev().map(|wall| RunSample { wall: f64::from(wall), ..RunSample::default() });
        let cold = ColdRuns { samples: samples.collect(), ..ColdRuns::of(MeasuredProgram::Empty) };
        assert_eq!((cold.p50(), cold.p90(), cold.p95()), (50.0, 90.0, 95.0));
        let one = ColdRuns {
            samples: vec![RunSample { wall: 3.0, ..RunSample::default() }],
            ..ColdRuns::of(MeasuredProgram::Empty)
        };
        assert_eq!((one.p50(), one.p95()), (3.0, 3.0));
    }

    #[test]
    fn each_kind_of_question_has_its_own_quantiles() {
        let runs = [("keyword", 1.0), ("paraphrase", 9.0), ("keyword", 2.0), ("keyword", 3.0)];
        let cold = ColdRuns {
            samples: runs.map(|(_, wall)| RunSample { wall, ..RunSample::default() }).to_vec(),
            kinds: runs.map(|(kind, _)| kind.to_owned()).to_vec(),
            ..ColdRuns::of(MeasuredProgram::Empty)
        };
        let kinds = cold.by_kind();
        assert_eq!((kinds["keyword"].p50(), kinds["keyword"].samples.len()), (2.0, 3));
        assert_eq!(kinds["paraphrase"].p95(), 9.0);
    }
}
