//! The options of `measure`. `scripts/bench-recall.sh` describes them for users.

use std::io::{Error, Result};
use std::path::PathBuf;

const USAGE: &str = "usage: measure --empty PROGRAM --bulk PROGRAM --rekindle PROGRAM --work DIR --out DIR
    [--sizes 1000,20000] [--made-up 100000] [--synthetic 300000,1000000] [--rounds 200] [--seed 7] [--plot] [--onnx FOLDER]";

/// The options of one measurement.
#[derive(Debug)]
pub struct MeasureOptions {
    /// The path of the program that does nothing.
    pub empty: PathBuf,
    /// The path of the program that only embeds texts.
    pub bulk: PathBuf,
    /// The path of the `rekindle` binary.
    pub rekindle: PathBuf,
    /// The folder of corpora and stores; a kept folder is reused.
    pub work: PathBuf,
    /// The folder of the results.
    pub out: PathBuf,
    /// Sizes of vaults with vectors of the model, ascending.
    pub sizes: Vec<usize>,
    /// Sizes of vaults with made-up vectors.
    pub made_up: Vec<usize>,
    /// Sizes at which embedding would take hours: a line store with made-up vectors.
    pub synthetic: Vec<usize>,
    /// The number of cold runs of each program.
    pub rounds: usize,
    /// The seed of the corpus.
    pub seed: u64,
    /// True if the growth plot is drawn.
    pub plot: bool,
    /// The folder in which `models/make.sh --keep` left the published model, if onnxruntime is to be measured
    /// too.
    pub onnx: Option<PathBuf>,
}

impl MeasureOptions {
    /// Parses the command line.
    pub fn read(arguments: impl Iterator<Item = String>) -> Result<Self> {
        let mut options = Self {
            empty: PathBuf::new(),
            bulk: PathBuf::new(),
            rekindle: PathBuf::new(),
            work: PathBuf::new(),
            out: PathBuf::new(),
            sizes: vec![1000, 20_000],
            made_up: Vec::new(),
            synthetic: Vec::new(),
            rounds: 200,
            seed: 7,
            plot: false,
            onnx: None,
        };
        let mut arguments = arguments;
        while let Some(name) = arguments.next() {
            if name == "--plot" {
                options.plot = true;
                continue;
            }
            let value = arguments.next().ok_or_else(|| Error::other(USAGE))?;
            match name.as_str() {
                "--empty" => options.empty = PathBuf::from(value),
                "--bulk" => options.bulk = PathBuf::from(value),
                "--rekindle" => options.rekindle = PathBuf::from(value),
                "--work" => options.work = PathBuf::from(value),
                "--out" => options.out = PathBuf::from(value),
                "--sizes" => options.sizes = numbers(&value)?,
                "--made-up" => options.made_up = numbers(&value)?,
                "--synthetic" => options.synthetic = numbers(&value)?,
                "--rounds" => options.rounds = number(&value)?.max(1),
                "--seed" => options.seed = number(&value)? as u64,
                "--onnx" => options.onnx = Some(PathBuf::from(value)),
                _ => return Err(Error::other(USAGE)),
            }
        }
        let needed = [&options.empty, &options.bulk, &options.rekindle, &options.work, &options.out];
        match needed.iter().all(|path| !path.as_os_str().is_empty()) && !options.sizes.is_empty() {
            true => Ok(options),
            false => Err(Error::other(USAGE)),
        }
    }

    /// Returns the largest size below this one with vectors of the model.
    pub fn computed_below(&self, size: usize) -> Option<usize> {
        self.sizes.iter().copied().filter(|&other| other < size).max()
    }

    /// Returns every size, ascending.
    pub fn all_sizes(&self) -> Vec<usize> {
        let mut sizes = [self.sizes.as_slice(), self.made_up.as_slice(), self.synthetic.as_slice()].concat();
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    }
}

fn number(text: &str) -> Result<usize> {
    text.parse().map_err(|_| Error::other(format!("`{text}` is not a number\n{USAGE}")))
}

fn numbers(text: &str) -> Result<Vec<usize>> {
    text.split(',').filter(|part| !part.is_empty()).map(number).collect()
}
