//! Targets of recall, reported beside the measurements. A run that misses one fails once everything is written: a
//! busy machine is not a bug, but nobody reads a table for what is wrong with it.

use serde_json::{Value, json};

use super::program::MeasuredProgram;
use super::rounds::ColdRuns;

/// The rate of onnxruntime on a quiet machine with two cores, for runs that did not measure it.
const DEFAULT_ONNX_RATE: f64 = 36.0;

/// One row of the table of targets.
#[derive(Debug)]
pub struct CostTarget {
    /// The quantity that the target limits.
    pub what: String,
    /// The measured value, if there is one.
    pub measured: Option<f64>,
    /// The same ratio by processor time, for cold runs: better when the machine is busy, worse when a program
    /// uses two processors at once.
    pub by_processor: Option<f64>,
    /// The limit.
    pub limit: f64,
    /// The unit: `x` for ratios.
    pub unit: &'static str,
    /// True if the limit is a lower bound.
    pub at_least: bool,
    /// True if the divisor was measured in the same run; otherwise there is no verdict.
    pub judged: bool,
}

impl CostTarget {
    /// True if the target is met; `None` without a verdict.
    pub fn holds(&self) -> Option<bool> {
        let at_least = self.at_least;
        let measured = self.measured.filter(|_| self.judged);
        measured.map(|measured| if at_least { measured >= self.limit } else { measured <= self.limit })
    }

    /// Renders the target as JSON.
    pub fn json(&self) -> Value {
        let rule = if self.at_least { "at least" } else { "at most" };
        json!({
            "what": self.what, "measured": self.measured, "by_processor": self.by_processor, "rule": rule, "limit": self.limit, "unit": self.unit,
            "holds": self.holds()
        })
    }
}

/// Computes all targets from the cold runs, the built indexes (`words` and `vectors`) and the size of the
/// index at 20,000 memories.
pub fn all(colds: &[ColdRuns], words: &Value, vectors: &Value, index_bytes: Option<f64>) -> Vec<CostTarget> {
    let of = |program: MeasuredProgram| colds.iter().find(|cold| cold.program == program);
    let ratio = |ours: MeasuredProgram, anchor: MeasuredProgram, middle: fn(&ColdRuns) -> f64| {
        Some(middle(of(ours)?) / middle(of(anchor)?))
    };
    let times = |what: &str, ours: MeasuredProgram, anchor: MeasuredProgram, limit: f64| CostTarget {
        what: what.to_owned(),
        measured: ratio(ours, anchor, ColdRuns::p50),
        by_processor: ratio(ours, anchor, ColdRuns::processor),
        limit,
        unit: "x",
        at_least: false,
        judged: true,
    };
    let mut targets = vec![
        times(
            "1,000 memories, p50 / empty program",
            MeasuredProgram::Recall(1000),
            MeasuredProgram::Empty,
            15.0,
        ),
        times(
            "20,000 memories, p50 / empty program",
            MeasuredProgram::Recall(20_000),
            MeasuredProgram::Empty,
            18.0,
        ),
        times(
            "20,000 memories, p50 / FTS5",
            MeasuredProgram::Recall(20_000),
            MeasuredProgram::Fts5(20_000),
            0.35,
        ),
        times(
            "100,000 memories, p50 / FTS5",
            MeasuredProgram::Recall(100_000),
            MeasuredProgram::Fts5(100_000),
            0.1,
        ),
    ];
    // Over all kinds of prompts: those that are read by the cross-encoder are the slow ones.
    for (what, size, limit) in
        [("20,000 memories, p95 / FTS5", 20_000, 0.6), ("100,000 memories, p95 / FTS5", 100_000, 0.2)]
    {
        let (ours, anchor) = (MeasuredProgram::Recall(size), MeasuredProgram::Fts5(size));
        let slow = |cold: &ColdRuns| cold.quantile(0.95, |sample| sample.cpu);
        targets.push(CostTarget {
            measured: ratio(ours, anchor, ColdRuns::p95),
            by_processor: ratio(ours, anchor, slow),
            ..times(what, ours, anchor, limit)
        });
    }
    let peak = of(MeasuredProgram::Recall(20_000)).map(|cold| cold.peak() as f64 / 1e6);
    targets.push(CostTarget {
        what: "peak memory at 20,000".to_owned(),
        measured: peak,
        by_processor: None,
        limit: 120.0,
        unit: "MB",
        at_least: false,
        judged: true,
    });
    let built = words["rekindle_ms"].as_f64().zip(words["fts5_ms"].as_f64());
    let processed = words["rekindle_processor_ms"].as_f64().zip(words["fts5_processor_ms"].as_f64());
    targets.push(CostTarget {
        what: "words of 20,000 indexed / FTS5 build".to_owned(),
        measured: built.filter(|_| words["memories"] == 20_000).map(|(ours, theirs)| ours / theirs),
        by_processor: processed.filter(|_| words["memories"] == 20_000).map(|(ours, theirs)| ours / theirs),
        limit: 2.0,
        unit: "x",
        at_least: false,
        judged: true,
    });
    let (onnx, anchor, same_run) = match vectors["onnxruntime_per_second"].as_f64() {
        Some(rate) => (rate, "onnxruntime f32 on the same texts", true),
        None => (DEFAULT_ONNX_RATE, "the 36 a second of onnxruntime f32 on another machine", false),
    };
    // The comparison of equal work comes first. A full index also has a vector for each thought, about as
    // much work again.
    let rates = [
        ("embedding in bulk", "texts_per_second", same_run),
        ("a whole index", "rekindle_per_second", false),
    ];
    for (what, rate, judged) in rates {
        targets.push(CostTarget {
            what: format!("{what} / {anchor}"),
            measured: vectors[rate].as_f64().map(|rate| rate / onnx),
            by_processor: None,
            limit: 2.0,
            unit: "x",
            at_least: true,
            judged,
        });
    }
    targets.push(CostTarget {
        what: "index on disk at 20,000".to_owned(),
        measured: index_bytes.map(|bytes| bytes / 1e6),
        by_processor: None,
        limit: 60.0,
        unit: "MB",
        at_least: false,
        judged: true,
    });
    targets
}
