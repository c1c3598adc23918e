//! Renders the results as Markdown and as JSON.

use serde_json::{Value, json};

use super::program::{MeasuredProgram, thousands};
use super::rekindle::UNSUPPORTED_TEXT;
use super::rounds::ColdRuns;
use super::store::BenchStore;
use super::targets::CostTarget;

/// All measurements of one run.
#[derive(Debug)]
pub struct BenchmarkReport {
    /// The description of the machine.
    pub machine: Value,
    /// The load average before and after.
    pub load: [Option<f64>; 2],
    /// The seed of the corpus.
    pub seed: u64,
    /// The planned number of runs of each program.
    pub rounds: usize,
    /// The measurements of cold runs.
    pub colds: Vec<ColdRuns>,
    /// The hit counts, by size.
    pub found: Vec<(usize, Value)>,
    /// The cost of building the keyword index.
    pub words: Value,
    /// The cost of building the whole index.
    pub vectors: Value,
    /// The cost of building each store.
    pub stores: Vec<(usize, Value)>,
    /// The targets with their results.
    pub targets: Vec<CostTarget>,
}

impl BenchmarkReport {
    fn of(&self, program: MeasuredProgram) -> Option<&ColdRuns> {
        self.colds.iter().find(|cold| cold.program == program)
    }

    /// Renders the report as JSON, for programs.
    pub fn json(&self) -> Value {
        let empty = self.of(MeasuredProgram::Empty).map_or(f64::NAN, ColdRuns::p50);
        let colds = self.colds.iter().map(|cold| {
            let fts5 = cold.program.size().and_then(|size| self.of(MeasuredProgram::Fts5(size)));
            let kinds = cold.by_kind().into_iter().map(|(kind, part)| {
                let figures = json!({"runs": part.samples.len(), "p50_ms": part.p50(), "p90_ms": part.p90(), "p95_ms": part.p95()});
                (kind.to_owned(), figures)
            });
            json!({
                "program": cold.program.name(),
                "memories": cold.program.size(),
                "runs": cold.samples.len(),
                "p50_ms": cold.p50(),
                "p90_ms": cold.p90(),
                "p95_ms": cold.p95(),
                "kinds": Value::Object(kinds.collect()),
                "least_ms": cold.quantile(0.0, |sample| sample.wall),
                "cpu_p50_ms": cold.processor(),
                "peak_bytes": cold.peak(),
                "times_empty": cold.p50() / empty,
                "times_fts5": fts5.map(|fts5| cold.p50() / fts5.p50()),
            })
        });
        let by_size = |of: &[(usize, Value)]| {
            Value::Object(of.iter().map(|(size, value)| (size.to_string(), value.clone())).collect())
        };
        json!({
            "machine": self.machine,
            "load": {"before": self.load[0], "after": self.load[1]},
            "seed": self.seed,
            "rounds": self.rounds,
            "cold": colds.collect::<Vec<_>>(),
            "targets": self.targets.iter().map(CostTarget::json).collect::<Vec<_>>(),
            "index_of_words": self.words,
            "index_with_vectors": self.vectors,
            "stores": by_size(&self.stores),
            "found": by_size(&self.found),
        })
    }

    /// Renders the report as Markdown, for people.
    pub fn markdown(&self) -> String {
        let mut text = String::from("# Recall, cold\n\n");
        let word = |value: &Value| value.as_str().unwrap_or("unknown").to_owned();
        let load = |load: Option<f64>| load.map_or("unknown".to_owned(), |load| format!("{load:.1}"));
        text += &format!(
            "{}, {} cores, {} {}; load {} before, {} after. {} rounds in turns, warm page cache, corpus {}.\n\n",
            word(&self.machine["processor"]),
            self.machine["cores"],
            word(&self.machine["system"]),
            word(&self.machine["kernel"]),
            load(self.load[0]),
            load(self.load[1]),
            self.rounds,
            self.seed
        );
        text += &self.cold_table();
        text += &self.kinds_table();
        text += &self.target_table();
        text += &self.building();
        text += &self.found_table();
        text
    }

    fn cold_table(&self) -> String {
        let mut text = String::from(
            "| program | memories | p50 ms | p90 ms | p95 ms | processor p50 ms | x empty | x FTS5 | peak MB |\n\
             |---|---:|---:|---:|---:|---:|---:|---:|---:|\n",
        );
        let empty = self.of(MeasuredProgram::Empty).map_or(f64::NAN, ColdRuns::p50);
        for cold in &self.colds {
            let size = cold.program.size();
            let fts5 = size.and_then(|size| self.of(MeasuredProgram::Fts5(size)));
            let ratio = fts5.map_or(String::new(), |fts5| number(cold.p50() / fts5.p50()));
            text += &format!(
                "| {} | {} | {} | {} | {} | {} | {} | {ratio} | {} |\n",
                cold.program.name(),
                size.map_or(String::new(), thousands),
                number(cold.p50()),
                number(cold.p90()),
                number(cold.p95()),
                number(cold.processor()),
                number(cold.p50() / empty),
                number(cold.peak() as f64 / 1e6)
            );
        }
        if !self.colds.iter().any(|cold| matches!(cold.program, MeasuredProgram::Recall(_))) {
            text += &format!("| rekindle recall | | {UNSUPPORTED_TEXT} | | | | | | |\n");
        }
        text + "\n"
    }

    /// The percentiles of every program by the kind of the prompt, because a median over all hides the slow ones.
    fn kinds_table(&self) -> String {
        let mut text = String::from(
            "| prompts | program | memories | runs | p50 ms | p90 ms | p95 ms |\n|---|---|---:|---:|---:|---:|---:|\n",
        );
        for cold in self.colds.iter().filter(|cold| cold.program != MeasuredProgram::Empty) {
            for (kind, part) in cold.by_kind() {
                text += &format!(
                    "| {kind} | {} | {} | {} | {} | {} | {} |\n",
                    cold.program.name(),
                    cold.program.size().map_or(String::new(), thousands),
                    part.samples.len(),
                    number(part.p50()),
                    number(part.p90()),
                    number(part.p95())
                );
            }
        }
        text + "\n"
    }

    /// The targets that were missed, one in each line.
    pub fn missed(&self) -> Vec<String> {
        let missed = self.targets.iter().filter(|target| target.holds() == Some(false));
        missed
            .map(|target| {
                let rule = if target.at_least { "at least" } else { "at most" };
                let measured = target.measured.map_or(String::new(), number);
                format!("{}: {measured} {}, wanted {rule} {}", target.what, target.unit, target.limit)
            })
            .collect()
    }

    fn target_table(&self) -> String {
        let mut text =
            String::from("| what | measured | by processor time | wanted | |\n|---|---:|---:|---:|---|\n");
        for target in &self.targets {
            let rule = if target.at_least { "at least" } else { "at most" };
            let verdict = match target.holds() {
                Some(true) => "holds",
                Some(false) => "**missed**",
                None => "",
            };
            let cell = |value: Option<f64>| value.map(|value| format!("{} {}", number(value), target.unit));
            text += &format!(
                "| {} | {} | {} | {rule} {} {} | {verdict} |\n",
                target.what,
                cell(target.measured).unwrap_or("not measured".to_owned()),
                cell(target.by_processor).unwrap_or_default(),
                target.limit,
                target.unit
            );
        }
        text + "\n"
    }

    fn building(&self) -> String {
        let with = |value: &Value, unit: &str| match value {
            Value::String(why) => why.clone(),
            value => {
                value.as_f64().map_or("not measured".to_owned(), |value| format!("{} {unit}", number(value)))
            }
        };
        let (words, vectors) = (&self.words, &self.vectors);
        let count = |value: &Value| thousands(value["memories"].as_u64().unwrap_or(0) as usize);
        format!(
            "Index of words, {} memories, from nothing: FTS5 {}, Rekindle {}.\n\n\
             Everything, {} memories, from nothing: Rekindle {}. One vector for each text: Rekindle {}, onnxruntime {}.\n\n",
            count(words),
            with(&words["fts5_ms"], "ms"),
            with(&words["rekindle_ms"], "ms"),
            count(vectors),
            with(&vectors["rekindle_per_second"], "memories/s"),
            with(&vectors["texts_per_second"], "memories/s"),
            with(&vectors["onnxruntime_per_second"], "memories/s")
        ) + &self.stores_table()
    }

    fn stores_table(&self) -> String {
        let mut text = String::from(
            "What is below was built once each, one after the other, and with `--keep` perhaps by an earlier run: not \
             to be divided by each other.\n\n\
             | memories | FTS5 build s | FTS5 MB | tantivy build s | tantivy MB | index with vectors s | index MB | peak MB of indexing |\n\
             |---:|---:|---:|---:|---:|---:|---:|---:|\n",
        );
        for (size, made) in &self.stores {
            let cell = |name: &str, unit: f64| {
                made[name].as_f64().map_or(String::new(), |value| number(value / unit))
            };
            text += &format!(
                "| {} | {} | {} | {} | {} | {} | {} | {} |\n",
                thousands(*size),
                cell("fts5_build_ms", 1e3),
                cell("fts5_bytes", 1e6),
                cell("tantivy_build_ms", 1e3),
                cell("tantivy_bytes", 1e6),
                cell("index_ms", 1e3),
                cell("index_bytes", 1e6),
                cell("index_peak_bytes", 1e6)
            );
        }
        text + "\n"
    }

    fn found_table(&self) -> String {
        let mut text = String::from(
            "Whether the memory a question was made for is among the five (a quick program that finds nothing is worth \
             nothing):\n\n\
             | memories | questions | asked | FTS5 | tantivy | Rekindle | Rekindle silent |\n|---:|---|---:|---:|---:|---:|---:|\n",
        );
        for (size, kinds) in &self.found {
            for (kind, counts) in kinds.as_object().into_iter().flatten() {
                let cell = |name: &str| match &counts[name] {
                    Value::Null => String::new(),
                    value => value.to_string(),
                };
                text += &format!(
                    "| {} | {kind} | {} | {} | {} | {} | {} |\n",
                    thousands(*size),
                    cell("asked"),
                    cell("fts5"),
                    cell("tantivy"),
                    cell("recall"),
                    cell("silent")
                );
            }
        }
        text
    }
}

/// Returns the build costs of a store without the cache key.
pub fn made(store: &BenchStore) -> Value {
    let kept = store.made.iter().filter(|(name, _)| *name != "key");
    let mut made: serde_json::Map<_, _> = kept.map(|(name, value)| (name.clone(), value.clone())).collect();
    made.insert("synthetic_vectors".to_owned(), json!(store.synthetic || store.made_up));
    Value::Object(made)
}

/// Formats a number with three significant digits.
fn number(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        size if size >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}
