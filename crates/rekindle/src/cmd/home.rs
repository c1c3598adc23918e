//! `rekindle` alone: the home screen.

use rekindle_core::run::RunStatus;
use rekindle_core::vault::layout::VaultShelf;
use rekindle_engine::config;
use rekindle_engine::platform::db::Database;
use rekindle_engine::platform::home::HomeFolder;
use rekindle_engine::review::proposals;
use rekindle_engine::vault::Vault;

use crate::app::CommandContext;
use crate::app::status::LearningReport;
use crate::app::status::switched_off;
use crate::error::CliError;
use crate::options::GlobalOptions;
use crate::output::{Printer, TextStyle, pad_column};

/// Shows the connected agents, this week's memories, the open proposals and the next step.
pub(crate) fn home(global: &GlobalOptions, out: &Printer) -> Result<(), CliError> {
    if !is_set_up(global)? {
        out.line("Rekindle gives your coding agents a permanent memory. It is not set up yet.")?;
        out.line("")?;
        next(
            out,
            &format!("rekindle{} init", home_option(global)),
            "asks what it needs and connects your agents",
        )?;
        return more(out);
    }
    let context = CommandContext::new(global, out)?;
    let vault = context.vault()?;
    let entries = vault.scan(false)?.entries;
    let db = Database::open_existing(&context.places.database())?;
    let proposals = match &db {
        Some(db) => proposals::pending_count(db)?.0,
        None => 0,
    };
    let failed = match context.queue()? {
        Some(queue) => queue
            .count_by_status()?
            .iter()
            .find(|(is, _)| *is == RunStatus::Dead)
            .map_or(0, |(_, count)| *count),
        None => 0,
    };
    let inbox = entries.iter().filter(|found| found.shelf == VaultShelf::Inbox).count();
    let report = LearningReport::read(&context, db.as_ref(), &entries)?;
    let off = switched_off(&context)?;
    let state = Overview {
        is_off: off.is_some(),
        report: &report,
        proposals,
        failed,
        memories: entries.len() - inbox,
    };

    let row = |name: &str, value: String| {
        out.line(format!("{}  {value}", out.styled(TextStyle::Dim, pad_column(name, 8))))
    };
    let memory = off.map_or_else(|| format!("on, {} saved", state.memories), |why| format!("off: {why}"));
    row("memory", memory)?;
    if let Some(agents) = report.agents_in_words() {
        row("agents", agents)?;
    }
    for (name, value) in report.memory_rows(&context) {
        row(name, value)?;
    }
    row("waiting", waiting(proposals, inbox))?;
    if failed > 0 {
        row("failed", format!("{failed} background runs"))?;
    }
    out.line("")?;
    let (command, purpose) = state.next_step();
    next(out, &command.replacen("rekindle", &format!("rekindle{}", home_option(global)), 1), purpose)?;
    more(out)
}

/// The facts that determine the next step.
struct Overview<'a> {
    is_off: bool,
    report: &'a LearningReport<'a>,
    proposals: u64,
    failed: u64,
    memories: usize,
}

impl Overview<'_> {
    /// The next command and its purpose.
    fn next_step(&self) -> (&'static str, &'static str) {
        match self {
            Self { is_off: true, .. } => ("rekindle doctor", "shows how to turn memory on"),
            _ if self.report.needs_install() => ("rekindle install", "connects your agents"),
            Self { failed: 1.., .. } => ("rekindle runs --dead", "shows what failed and why"),
            Self { proposals: 1.., .. } => ("rekindle review", "decides about the proposals"),
            Self { memories: 0, .. } => ("rekindle save 'Use tabs here'", "saves a first memory"),
            _ => ("rekindle ask 'what did we decide about …?'", "answers from your notes and sessions"),
        }
    }
}

fn is_set_up(global: &GlobalOptions) -> Result<bool, CliError> {
    let home = HomeFolder::find(global.home.as_deref())?;
    let settings = config::read(&home, None, &global.settings)?;
    Ok(Vault::open(&home.data_paths(&settings.config)?).is_ok())
}

/// Repeats `--home DIR`, so that the next step uses the same home.
fn home_option(global: &GlobalOptions) -> String {
    global.home.as_ref().map_or_else(String::new, |home| format!(" --home {}", home.display()))
}

fn waiting(proposals: u64, inbox: usize) -> String {
    let proposals = match proposals {
        0 => None,
        1 => Some("1 proposal to review".to_owned()),
        count => Some(format!("{count} proposals to review")),
    };
    let inbox = (inbox > 0).then(|| format!("{inbox} in the inbox"));
    let all: Vec<String> = proposals.into_iter().chain(inbox).collect();
    if all.is_empty() { "nothing".to_owned() } else { all.join(", ") }
}

fn next(out: &Printer, command: &str, purpose: &str) -> Result<(), CliError> {
    out.line(format!(
        "Next: {}  {}",
        out.styled(TextStyle::Bold, command),
        out.styled(TextStyle::Dim, purpose)
    ))
}

fn more(out: &Printer) -> Result<(), CliError> {
    out.line(out.styled(TextStyle::Dim, "`rekindle help` lists the commands."))
}
