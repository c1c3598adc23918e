//! `rekindle eval`: measures recall on the person's own memories.

use std::fs::File;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use clap::Args;
use rekindle_core::base::scope::ProjectId;
use rekindle_core::recall::select::{DEFAULT_RESULTS, MAX_RESULTS};
use rekindle_core::text;
use rekindle_engine::index::{Embedder, IndexSnapshot};
use rekindle_engine::recall::eval::{
    self, EvalContext, EvalPair, EvalPairsError, EvalResult, EvalRun, PairsOrigin,
};
use rekindle_engine::recall::log::RecallLog;
use rekindle_engine::recall::search::SearchRules;
use rekindle_engine::recall::usage::{UsageCounts, UsageSummary};
use serde_json::{Value, json};

use crate::app::CommandContext;
use crate::error::CliError;
use crate::output::{ProgressLine, TextStyle, format_bytes, pad_column};

#[derive(Args)]
#[command(after_help = "\
Runs questions with known answers through recall, and counts how often the right memory comes first (hit@1), among the
first K (hit@5), and how high it ranks (MRR). It also ranks where recall would show nothing, and counts how often that
would have hidden the right memory.

Without --pairs it asks for every memory by its title, except those without text beyond their title. A file has one
line per question; `expect` lists ids or files, and `project` may name the project in which to ask:

  {\"query\": \"which port does staging use?\", \"expect\": [\"personal-private/fix/staging-port.md\"]}

Each run adds a line of numbers, without any of your text, to eval.jsonl in the state folder.

Examples:
  rekindle eval
  rekindle eval --pairs questions.jsonl --k 3
  rekindle eval --limit 1000 --json
  rekindle eval --history")]
pub(crate) struct EvalArgs {
    /// A file of questions with the memories they should find; - for stdin
    #[arg(long, value_name = "FILE")]
    pairs: Option<PathBuf>,
    /// Count a hit among the first K results, up to 10
    #[arg(long, short = 'k', default_value_t = DEFAULT_RESULTS, value_name = "N")]
    k: usize,
    /// Ask at most this many questions; the default is 200 of those made from titles, or all of a file
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// List earlier results
    #[arg(long, conflicts_with_all = ["pairs", "limit"])]
    history: bool,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

/// The default number of questions made from titles.
const MAX_GENERATED_PAIRS: usize = 200;
/// The most missed questions that are printed.
const MAX_SHOWN_MISSES: usize = 5;

impl EvalArgs {
    pub(crate) fn run(self, context: &CommandContext<'_>) -> Result<(), CliError> {
        if self.history {
            return self.list(context);
        }
        if self.k == 0 || self.k > MAX_RESULTS {
            return Err(CliError::usage(format!("--k must be from 1 to {MAX_RESULTS}, not {}", self.k)));
        }
        if !context.settings.config.memory.enabled {
            return Err(CliError::new("memory is off (memory.enabled), so there is nothing to measure")
                .hint("to measure anyway, add `-c memory.enabled=true`"));
        }
        let (vault, model, index) = (context.vault()?, context.model_if_any(), context.index());
        let Some(snapshot) = index.open()? else {
            return Err(CliError::new("there is no index yet, so there is nothing to measure")
                .hint("run `rekindle reindex` to build it"));
        };
        let (from, pairs, skipped) = self.pairs(context, &snapshot)?;
        let usage = UsageSummary::read(&context.places.usage());
        let asking = EvalContext {
            vault: &vault,
            index: &index,
            embedder: model.as_ref().map(|model| Embedder::new(model.name(), model)),
            usage: &usage,
            rules: SearchRules::from_settings(
                &context.settings.config.recall,
                context.project_id().map(ProjectId::as_str),
                &context.now,
            ),
            k: self.k,
        };
        let mut progress = ProgressLine::new("asking");
        let mut show = |done: usize, of: usize| progress.show_progress("asking", done, of);
        let now = context.now.timestamp();
        let measured = eval::run_eval(&asking, &snapshot, from, &pairs, now, &mut show);
        progress.end();
        let measured = measured?;
        self.report(context, &measured, skipped)?;
        // Recorded last, so that only a reported run counts.
        if let Err(error) = eval::record(&context.places.evaluations_file(), &measured.run) {
            context.out.warn(format!("could not add this run to the history: {error}"));
        }
        Ok(())
    }

    /// Returns the questions, and the number of memories without one.
    fn pairs(
        &self,
        context: &CommandContext<'_>,
        snapshot: &IndexSnapshot,
    ) -> Result<(PairsOrigin, Vec<EvalPair>, usize), CliError> {
        if let Some(file) = &self.pairs {
            let mut pairs = read(file, &context.cwd)?;
            pairs.truncate(self.limit.unwrap_or(usize::MAX));
            return Ok((PairsOrigin::File, require_pairs(pairs)?, 0));
        }
        let made = eval::generate_pairs(snapshot, self.limit.unwrap_or(MAX_GENERATED_PAIRS));
        if made.pairs.is_empty() && self.limit != Some(0) {
            let what = match made.skipped {
                0 => "there are no memories to ask for yet".to_owned(),
                skipped => {
                    format!(
                        "no questions could be made from titles: {skipped} memories have no text beyond their title, or share it with another"
                    )
                }
            };
            return Err(CliError::new(what)
                .hint("to use your own questions, add `--pairs FILE`; `--help` shows an example"));
        }
        Ok((PairsOrigin::Titles, require_pairs(made.pairs)?, made.skipped))
    }

    fn report(
        &self,
        context: &CommandContext<'_>,
        measured: &EvalResult,
        skipped: usize,
    ) -> Result<(), CliError> {
        let out = context.out;
        let (run, live) = (&measured.run, live_usage(context)?);
        if self.json {
            let mut report = serde_json::to_value(run).map_err(CliError::new)?;
            if let Some(report) = report.as_object_mut() {
                report.insert("skipped".into(), json!(skipped));
                report.insert("unknown".into(), json!(measured.unknown));
                report.insert("misses".into(), json!(measured.misses));
                report.insert("lived".into(), live.json());
            }
            return out.json(&report);
        }
        let row = |name: &str, value: String| {
            out.line(format!("{}  {value}", out.styled(TextStyle::Dim, pad_column(name, 10))))
        };
        let from = match (run.from, skipped) {
            (PairsOrigin::File, _) => "from a file".to_owned(),
            (PairsOrigin::Titles, 0) => "made from titles".to_owned(),
            (PairsOrigin::Titles, skipped) => format!("made from titles, {skipped} memories skipped"),
        };
        row("questions", format!("{} {from}", run.pairs))?;
        row("hit@1", format!("{:.3}", run.hit_at_1))?;
        if run.k > 1 {
            row(&format!("hit@{}", run.k), format!("{:.3}", run.hit_at_k))?;
        }
        if run.from == PairsOrigin::File {
            row(&format!("recall@{}", run.k), format!("{:.3}", run.recall_at_k))?;
        }
        row("MRR", format!("{:.3}", run.mrr))?;
        row(
            "silence",
            format!("{} of {} questions; {} of them hid the right memory", run.silent, run.pairs, run.hidden),
        )?;
        row("time", format!("{:.1} ms median, {:.1} ms at the 95th percentile", run.p50_ms, run.p95_ms))?;
        row(
            "index",
            format!("{} documents in {} windows, {}", run.documents, run.windows, format_bytes(run.bytes)),
        )?;
        row("model", if run.model.is_empty() { "none".into() } else { run.model.clone() })?;
        row("lived", live.text())?;
        for miss in measured.misses.iter().take(MAX_SHOWN_MISSES) {
            let query = text::clean_and_redact(&miss.query).text.replace('\n', " ");
            row("missed", format!("{query} ({})", miss.expect.join(", ")))?;
        }
        if measured.misses.len() > MAX_SHOWN_MISSES {
            row("", format!("and {} more; --json lists all", measured.misses.len() - MAX_SHOWN_MISSES))?;
        }
        for name in measured.unknown.iter().take(MAX_SHOWN_MISSES) {
            out.warn(format!("no memory is called {name}, so it cannot be found"));
        }
        for degraded in &run.degraded {
            out.warn(degraded.explain());
        }
        Ok(())
    }

    fn list(&self, context: &CommandContext<'_>) -> Result<(), CliError> {
        let out = context.out;
        let runs: Vec<EvalRun> = eval::history(&context.places.evaluations_file())?.collect();
        if self.json {
            return out.json(&runs);
        }
        if runs.is_empty() {
            out.note("No measurements yet. Run `rekindle eval` to make one.");
            return Ok(());
        }
        let head = "when                  asked  hit@1  hit@k   k  MRR    silent  hidden  p50 ms  p95 ms  documents  size      model";
        out.line(out.styled(TextStyle::Dim, head))?;
        for run in runs {
            let name = run.model.split('@').next().unwrap_or_default();
            let asked = format!("{}{}", run.pairs, if run.from == PairsOrigin::File { "f" } else { "" });
            out.line(format!(
                "{}  {asked:>5}  {:.3}  {:.3}  {:>2}  {:.3}  {:>6}  {:>6}  {:>6.1}  {:>6.1}  {:>9}  {}  {}",
                pad_column(&run.at, 20),
                run.hit_at_1,
                run.hit_at_k,
                run.k,
                run.mrr,
                run.silent,
                run.hidden,
                run.p50_ms,
                run.p95_ms,
                run.documents,
                pad_column(&format_bytes(run.bytes), 8),
                if name.is_empty() { "none" } else { name },
            ))?;
        }
        Ok(())
    }
}

/// Refuses an empty list of questions.
fn require_pairs(pairs: Vec<EvalPair>) -> Result<Vec<EvalPair>, CliError> {
    if pairs.is_empty() { Err(CliError::usage("--limit 0 leaves no questions to ask")) } else { Ok(pairs) }
}

fn read(file: &Path, cwd: &Path) -> Result<Vec<EvalPair>, CliError> {
    let is_stdin = file == Path::new("-");
    let (name, read) = if is_stdin {
        ("stdin".to_owned(), eval::read_pairs(io::stdin().lock()))
    } else {
        let path = cwd.join(file);
        let opened = File::open(&path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => CliError::usage(format!("no such file: {}", path.display())),
            _ => CliError::usage(format!("could not read {}: {error}", path.display())),
        })?;
        (path.display().to_string(), eval::read_pairs(BufReader::new(opened)))
    };
    read.map_err(|error| match error {
        EvalPairsError::Line { .. } | EvalPairsError::Empty => {
            CliError::usage(format!("{name}: {error}")).hint("see `rekindle eval --help` for the line format")
        }
        EvalPairsError::Input(_) => CliError::usage(format!("{name}: {error}")),
    })
}

/// Counts of recall in use: shown to a person, injected into a prompt, and feedback. These counts differ, and
/// none of them measures quality.
struct LiveUsage {
    shown_count: usize,
    injected: usize,
    counts: UsageCounts,
}

fn live_usage(context: &CommandContext<'_>) -> Result<LiveUsage, CliError> {
    let counts = UsageSummary::usage_counts(&context.places.usage());
    let mut live = LiveUsage { shown_count: 0, injected: 0, counts };
    for line in RecallLog::in_folder(&context.places.logs_folder()).read()? {
        let count = line["results"].as_array().map_or(0, Vec::len);
        match line["by"].as_str() {
            Some("command") => live.shown_count += count,
            _ => live.injected += count,
        }
    }
    Ok(live)
}

impl LiveUsage {
    fn json(&self) -> Value {
        let UsageCounts { good, wrong, stale, used, ignored, missed, misled } = self.counts;
        json!({
            "shown": self.shown_count,
            "injected": self.injected,
            "feedback": {"good": good, "wrong": wrong, "stale": stale},
            "turns": {"used": used, "ignored": ignored, "missed": missed, "misled": misled},
        })
    }

    fn text(&self) -> String {
        let UsageCounts { good, wrong, stale, used, ignored, missed, misled } = self.counts;
        format!(
            "{} shown, {} injected; rated {good} good, {wrong} wrong, {stale} stale; {used} used, {ignored} ignored, {missed} missed, {misled} misled",
            self.shown_count, self.injected
        )
    }
}
