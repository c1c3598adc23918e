//! `rekindle bench`: measures recall on a data set.

use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use clap::{Args, Subcommand};
use rekindle_core::config::DecayMode;
use rekindle_embed::EmbeddingModel;
use rekindle_engine::index::Embedder;
use rekindle_engine::index::embedding::WindowSelection;
use rekindle_engine::recall::bench::{self, BenchAnswer, BenchMessage, BenchQuestion};
use rekindle_engine::recall::relevance_gate::decide_relevance;
use rekindle_engine::recall::relevance_gate::passage::passage;
use rekindle_engine::recall::relevance_gate::reading::RescoringMode;
use serde_json::{Value, json};

use crate::error::CliError;
use crate::output::{Printer, ProgressLine};

#[derive(Args)]
#[command(after_help = "\
Reads lines of JSON from stdin and keeps a separate index in --store; your vault is not used. Index, model and ranking
are those of a prompt, but without the limit on results; `abstain` says whether recall would show nothing.

  ingest reads  {\"ns\",\"session\",\"id\",\"ts\",\"role\",\"text\"}
  query reads   {\"ns\",\"qid\",\"ts\",\"query\"}
  and answers   {\"qid\",\"results\":[{\"id\",\"score\"}],\"latency_ms\",\"context_tokens\",\"abstain\"}

Examples:
  rekindle bench ingest --store /tmp/store < corpus.jsonl
  rekindle bench query --store /tmp/store --k 50 < queries.jsonl > run.jsonl")]
pub(crate) struct BenchArgs {
    #[command(subcommand)]
    verb: BenchCommand,
}

#[derive(Subcommand)]
enum BenchCommand {
    /// Index messages
    Ingest {
        /// The folder of the index
        #[arg(long, value_name = "DIR")]
        store: PathBuf,
    },
    /// Answer questions
    Query {
        /// The folder of the index
        #[arg(long, value_name = "DIR")]
        store: PathBuf,
        /// Return this many messages
        #[arg(long, default_value_t = 50, value_name = "N")]
        k: usize,
        /// The weight of age: bounded, literal or off
        #[arg(long, default_value = "bounded", value_name = "HOW", value_parser = decay)]
        decay: DecayMode,
    },
}

/// Parses a value of the setting `recall.decay`.
fn decay(word: &str) -> Result<DecayMode, String> {
    serde_json::from_value(Value::from(word)).map_err(|_| "must be bounded, literal or off".to_owned())
}

/// The number of hits that an agent would get.
const SHOWN_HITS: usize = 5;
/// The approximate number of characters of a token.
const CHARS_PER_TOKEN: usize = 4;

impl BenchArgs {
    pub(crate) fn run(self, out: &Printer) -> Result<(), CliError> {
        let embedder =
            Embedder::new(rekindle_engine::index::models::BUILTIN_MODEL, EmbeddingModel::builtin());
        match self.verb {
            BenchCommand::Ingest { store } => {
                let messages: Vec<BenchMessage> =
                    bench::lines(io::stdin().lock()).collect::<Result<_, _>>()?;
                let mut progress = ProgressLine::new("embedding");
                let mut show = |done: usize, of: usize| {
                    progress.show_progress("embedding", done, of);
                    true
                };
                let done = bench::ingest(&store, &embedder.space(), messages, |keeper, units| {
                    embedder.fill_all(keeper, units, WindowSelection::All, &mut show).map(drop)
                })?;
                progress.end();
                out.json(&done)
            }
            BenchCommand::Query { store, k, decay } => {
                let mut answers = BufWriter::new(io::stdout().lock());
                for question in bench::lines::<BenchQuestion>(io::stdin().lock()) {
                    let answer = answer(&store, embedder, &question?, decay, k)?;
                    let line = serde_json::to_string(&answer).map_err(CliError::new)?;
                    writeln!(answers, "{line}")?;
                }
                Ok(answers.flush()?)
            }
        }
    }
}

fn answer(
    store: &std::path::Path,
    embedder: Embedder<'_>,
    question: &BenchQuestion,
    decay: DecayMode,
    k: usize,
) -> Result<Value, CliError> {
    let answered = bench::query(store, embedder, question, decay, k.max(SHOWN_HITS))?;
    let Some(BenchAnswer { snapshot, results: found, small_talk }) = answered else {
        return Ok(
            json!({"qid": question.qid, "results": [], "latency_ms": 0, "context_tokens": 0, "abstain": true}),
        );
    };
    let mut documents: Vec<_> = found
        .ranked
        .iter()
        .filter_map(|ranked| Some((snapshot.document(ranked.document)?, ranked.score)))
        .collect();
    documents.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.id.cmp(&b.0.id)));
    documents.truncate(k);
    let top: Vec<u32> = found.ranked.iter().take(SHOWN_HITS).map(|ranked| ranked.document).collect();
    let passages = top
        .iter()
        .filter_map(|number| Some(passage(&snapshot, &found, *number, &snapshot.document(*number)?)));
    let (prompt, mode) = (&question.query, RescoringMode::Thorough);
    let decision = decide_relevance(prompt, &found, || small_talk, &top, passages, &mode);
    let shown: usize =
        documents.iter().take(SHOWN_HITS).map(|(document, _)| document.text.chars().count()).sum();
    let results: Vec<Value> =
        documents.iter().map(|(document, score)| json!({"id": document.id, "score": score})).collect();
    Ok(json!({
        "qid": question.qid,
        "results": results,
        "latency_ms": found.searching.as_secs_f64() * 1000.0,
        "context_tokens": shown.div_ceil(CHARS_PER_TOKEN),
        "abstain": decision.is_none_or(|decision| decision.is_silent()),
        "silence": decision,
    }))
}
