//! `rekindle reindex`: updates the index.

use std::time::Duration;

use clap::Args;
use rekindle_engine::index::{self, Embedder};
use rekindle_engine::platform::background;
use rekindle_engine::recall::indexer::{self, Indexer, IndexingProgress, RefreshExtent};
use rekindle_engine::recall::messages::MessageStore;
use rekindle_engine::recall::usage::UsageSummary;
use serde_json::json;

use crate::app::CommandContext;
use crate::error::CliError;
use crate::output::ProgressLine;

#[derive(Args)]
#[command(after_help = "\
The index is built from your notes, and you can delete it at any time. Saving keeps it up to date; run this after
changes from elsewhere: an editor, a sync, another embedding model. You can stop it, and the next run continues.

Examples:
  rekindle reindex
  rekindle reindex --all
  rekindle reindex --no-embed --json")]
pub(crate) struct ReindexArgs {
    /// Read every file again, not only those that changed
    #[arg(long)]
    all: bool,
    /// Leave the embeddings for later; until then, only keywords find new text
    #[arg(long)]
    no_embed: bool,
    /// On its own, without a word, while nobody waits
    #[arg(long, hide = true)]
    background: bool,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

impl ReindexArgs {
    pub(crate) fn run(self, context: &CommandContext<'_>) -> Result<(), CliError> {
        if self.background {
            background::detach();
        }
        let (vault, model, index) = (context.vault()?, context.model()?, context.index());
        let indexer = Indexer { vault: &vault, index: &index, embedder: Embedder::new(model.name(), &model) };
        let mut progress = ProgressLine::new("reading");
        // A STOP file ends a long run at the next file (EXE-16).
        let stop = context.places.stop_file();
        let mut show = |step: IndexingProgress| {
            if stop.exists() {
                return false;
            }
            match step {
                IndexingProgress::Reading(done, of) => progress.show_progress("reading", done, of),
                IndexingProgress::Embedding(done, of) => progress.show_progress("embedding", done, of),
            }
            true
        };
        let extent = if self.all { RefreshExtent::Everything } else { RefreshExtent::Changed };
        let mut report = indexer.refresh(extent, &mut show)?;
        // A prompt should not have to read everything that was ever recalled, line by line.
        if let Err(error) = UsageSummary::write_summary(&context.places.usage()) {
            context.out.warn(format!("could not write the usage summary: {error}"));
        }
        let messages = MessageStore::from_paths(&context.places);
        let message_report = match self.all {
            _ if report.stopped => None,
            true => {
                messages.replace_citations(&vault.message_citations()?)?;
                Some(messages.rebuild(&mut |_, _| {})?)
            }
            false => Some(messages.update(&mut |_, _| {})?),
        };
        let files_are_read = !report.stopped;
        if !self.no_embed && report.pending > 0 && files_are_read {
            let mut embedded = indexer.embed(Duration::ZERO, &mut show);
            if matches!(embedded, Err(indexer::Error::Index(index::Error::Busy))) && !self.background {
                context.out.note("another process is computing embeddings; waiting for it");
                embedded = indexer.embed(INDEX_LOCK_TIMEOUT, &mut show);
            }
            match embedded {
                Ok(embedded) => {
                    (report.embedded, report.pending) = (embedded.embedded, embedded.pending);
                    (report.documents, report.stopped) = (embedded.documents, embedded.stopped);
                }
                Err(indexer::Error::Index(index::Error::Busy)) if self.background => {}
                Err(error) => return Err(error.into()),
            }
        }
        progress.end();
        if report.stopped {
            context
                .out
                .warn(format!("stopped because {} exists; delete it and run this again", stop.display()));
        }
        for (path, why) in report.problems.iter().take(MAX_NAMED_FILES) {
            context.out.warn(format!("skipped {path}: {why}"));
        }
        if report.problems.len() > MAX_NAMED_FILES {
            context.out.warn(format!("skipped {} more files", report.problems.len() - MAX_NAMED_FILES));
        }
        if self.json {
            return context.out.json(&json!({
                "files": report.files,
                "read": report.read,
                "gone": report.gone,
                "documents": report.documents,
                "embedded": report.embedded,
                "pending": report.pending,
                "messages": message_report.map(|message_report| message_report.messages),
                "stopped": report.stopped,
                "problems": report.problems.iter().map(|(path, why)| json!({"path": path, "why": why})).collect::<Vec<_>>(),
            }));
        }
        let later = match report.pending {
            0 => String::new(),
            pending => format!("; {pending} still without an embedding"),
        };
        if !files_are_read {
            return context.out.line(format!(
                "{} of {} files read; the index is unchanged, with {} memories",
                report.read, report.files, report.documents
            ));
        }
        context.out.line(format!(
            "{} memories in {} files; {} read, {} deleted, {} embedded{later}",
            report.documents, report.files, report.read, report.gone, report.embedded
        ))
    }
}

/// The longest wait for another process. Indexing a hundred thousand memories takes most of an hour.
const INDEX_LOCK_TIMEOUT: Duration = Duration::from_secs(60 * 60);
/// The most unreadable files that are named.
const MAX_NAMED_FILES: usize = 5;
