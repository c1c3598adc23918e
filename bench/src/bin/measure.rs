//! Measures recall beside its anchors. `scripts/bench-recall.sh` builds everything and runs this.

use std::fs;
use std::io::{Error, Result};

use rekindle_bench::measure::options::MeasureOptions;
use rekindle_bench::measure::rekindle::RekindleProgram;
use rekindle_bench::measure::report::{BenchmarkReport, made};
use rekindle_bench::measure::store::{BenchStore, questions, say};
use rekindle_bench::measure::{index, machine, plot, rounds, targets};

/// The corpus size, in memories, that the targets for building time and disk apply to.
const LIMITED_SIZE: usize = 20_000;

fn main() -> Result<()> {
    let options = MeasureOptions::read(std::env::args().skip(1))?;
    fs::create_dir_all(&options.work)?;
    fs::create_dir_all(&options.out)?;
    let rekindle = RekindleProgram::at(&options.rekindle, &options.work);
    let questions = questions(&options)?;
    let stores: Vec<BenchStore> = options
        .all_sizes()
        .into_iter()
        .map(|size| BenchStore::prepare(&options, &rekindle, size))
        .collect::<Result<_>>()?;
    let (Some(smallest), Some(largest)) = (stores.first(), stores.iter().rfind(|store| !store.synthetic))
    else {
        return Err(Error::other("no sizes to measure"));
    };
    let middle = stores.iter().find(|store| store.size == LIMITED_SIZE).unwrap_or(largest);
    let words = index::words(&options, &rekindle, middle)?;
    let vectors = index::vectors(&options, &rekindle, smallest)?;
    say("what is found");
    // Made-up vectors find nothing useful, and at a million memories FTS5 takes seconds per prompt.
    let telling = stores.iter().filter(|store| !store.synthetic);
    let found = telling.map(|store| Ok((store.size, rounds::found(&rekindle, store, &questions)?)));
    let found = found.collect::<Result<_>>()?;
    let before = machine::load();
    if before.is_some_and(|load| load > machine::cores() as f64) {
        say("this machine is busy with other things: trust ratios more than times, and neither much");
    }
    say(&format!("{} rounds", options.rounds));
    let colds = rounds::run(&options, &rekindle, &stores, &questions)?;
    let disk = (middle.size == LIMITED_SIZE).then(|| middle.made.get("index_bytes")?.as_f64()).flatten();
    let targets = targets::all(&colds, &words, &vectors, disk);
    let report = BenchmarkReport {
        machine: machine::about(),
        load: [before, machine::load()],
        seed: options.seed,
        rounds: options.rounds,
        colds,
        found,
        words,
        vectors,
        stores: stores.iter().map(|store| (store.size, made(store))).collect(),
        targets,
    };
    fs::write(options.out.join("recall.json"), serde_json::to_string_pretty(&report.json())? + "\n")?;
    fs::write(options.out.join("recall.md"), report.markdown())?;
    if options.plot
        && let Some(picture) = plot::svg(&report.colds)
    {
        fs::write(options.out.join("growth.svg"), picture)?;
    }
    print!("{}", report.markdown());
    let missed = report.missed();
    match missed.is_empty() {
        true => Ok(()),
        false => Err(Error::other(format!("missed targets:\n  {}", missed.join("\n  ")))),
    }
}
