//! `rekindle status`: shows agents, sessions, memories and the index.

use clap::Args;
use rekindle_core::base::time::{day, format_utc};
use rekindle_core::run::RunStatus as Run;
use rekindle_core::text::plural::count_phrase;
use rekindle_core::vault::layout::{EntryGroup, VaultShelf};
use rekindle_engine::config;
use rekindle_engine::context::alerts;
use rekindle_engine::index::Embedder;
use rekindle_engine::jobs::sessions;
use rekindle_engine::ops::gate::history;
use rekindle_engine::pipeline::stages::weekly_maintenance;
use rekindle_engine::platform::db::Database;
use rekindle_engine::platform::home::HomeFolder;
use rekindle_engine::recall::index_condition::{IndexCondition, index_condition};
use rekindle_engine::review::proposals;
use rekindle_engine::vault::{ScannedEntry, Vault};
use serde_json::{Value, json};

use super::inbox::describe_inbox;
use super::llm::LlmStatus;
use super::{engines, surfaces};
use crate::app::CommandContext;
use crate::app::status::{LearningReport, switched_off};
use crate::error::CliError;
use crate::options::GlobalOptions;
use crate::output::{Printer, TextStyle, format_bytes, pad_column};

#[derive(Args)]
#[command(after_help = "\
Shows the vault, the connected agents, how many sessions of the last 30 days were learnt from or skipped and why, and
what was learnt this week. `rekindle` alone shows the short version.

Examples:
  rekindle status
  rekindle status --json | jq '.sessions.skipped_because'
  rekindle status --line   # for the status line of an agent or a shell")]
pub(crate) struct StatusArgs {
    /// Print one line if proposals wait for you, a health check fails or memory is off, else nothing; always exits 0
    #[arg(long, conflicts_with = "json")]
    line: bool,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

impl StatusArgs {
    /// True for `--line`.
    pub(crate) fn is_line(&self) -> bool {
        self.line
    }

    /// Prints the line for a status bar (FUT-04). It runs often, so it reads only the page that the briefing
    /// counts on, and reports no errors.
    pub(crate) fn line(self, global: &GlobalOptions, out: &Printer) -> Result<(), CliError> {
        match status_bar_item(global) {
            Some(StatusBarItem::Off) => out.line("rekindle: memory is off"),
            Some(StatusBarItem::Open { pending, alerts }) => {
                let problems = match alerts {
                    0 => None,
                    1 => Some("1 problem (rekindle health)".to_owned()),
                    count => Some(format!("{count} problems (rekindle health)")),
                };
                let parts = (pending > 0).then(|| format!("{pending} to review")).into_iter().chain(problems);
                match parts.collect::<Vec<_>>().join(", ") {
                    text if text.is_empty() => Ok(()),
                    text => out.line(format!("rekindle: {text}")),
                }
            }
            None => Ok(()),
        }
    }

    pub(crate) fn run(self, context: &CommandContext<'_>) -> Result<(), CliError> {
        let vault = context.vault()?;
        let scan = vault.scan(false)?;
        let count =
            |test: &dyn Fn(&ScannedEntry) -> bool| scan.entries.iter().filter(|found| test(found)).count();
        let groups = EntryGroup::ALL
            .map(|group| (group.folder_name(), count(&|found| found.entry.group == group.folder_name())));
        let always_load = count(&|found| found.shelf == VaultShelf::AlwaysLoad);
        let waits = |found: &&ScannedEntry| found.shelf == VaultShelf::Inbox;
        let inbox: Vec<ScannedEntry> = scan.entries.iter().filter(waits).cloned().collect();
        let inbox_since = inbox.iter().filter_map(|found| found.entry.created).min().map(format_utc);
        // `doctor` reports an unreadable file.
        let ideas = vault.ideas().map_or(0, |ideas| ideas.iter().filter(|idea| idea.is_open()).count());
        // The store is authoritative, not the page.
        let db = Database::open_existing(&context.places.database())?;
        let (pending, oldest) = match &db {
            Some(db) => proposals::pending_count(db)?,
            None => (0, None),
        };
        let learnt = LearningReport::read(context, db.as_ref(), &scan.entries)?;
        let sessions = sessions::markers(&context.places.sessions())?.open.len();
        let runs = match context.queue()? {
            Some(queue) => queue.count_by_status()?,
            None => Vec::new(),
        };
        let count_runs = |status| runs.iter().find(|(is, _)| *is == status).map_or(0, |(_, count)| *count);
        let (waiting, dead) = (count_runs(Run::Running) + count_runs(Run::Failed), count_runs(Run::Dead));
        let last = vault.changes()?.next().transpose()?;
        let off = switched_off(context)?;
        let project = context.project_id().map(ToString::to_string);
        let index = index(context, &vault)?;
        let settings = &context.settings.config.llm;
        let models = LlmStatus::read(context, settings)?;
        let gate = history::read(&context.places).pop();
        if self.json {
            let mut answer = json!({
                "home": context.home.root(),
                "user": context.settings.config.user.name,
                "vault": vault.folder(),
                "state": context.places.state(),
                "enabled": off.is_none(),
                "off_because": off,
                "project": project,
                "project_claims": context.claim().map(|claim| &claim.id),
                "entries": groups.iter().copied().collect::<std::collections::BTreeMap<_, _>>(),
                "always_load": always_load,
                "inbox": inbox.len(),
                "inbox_since": inbox_since,
                "ideas_open": ideas,
                "review_pending": pending,
                "review_oldest": oldest.map(format_utc),
                "surfaces": surfaces::object(context)?,
                "engines": engines::summary(context)?,
                "open_sessions": sessions,
                "runs": runs.iter().map(|(status, count)| (status.as_str(), *count)).collect::<std::collections::BTreeMap<_, _>>(),
                "conflicts": scan.conflicts.len(),
                "unreadable": scan.problems.len(),
                "last_week": weekly_maintenance::weekly_summaries(&context.places).ok().and_then(|mut weeks| weeks.next()),
                "last_change": last.as_ref().map(|record| &record.change.at),
                "index": json(&index),
                "gate": gate,
                "llm": models.json(settings),
            });
            learnt.add_to_json(&mut answer);
            return context.out.json(&answer);
        }
        let groups: Vec<String> = groups.iter().map(|(group, count)| format!("{count} {group}")).collect();
        let row = |name: &str, value: String| {
            context.out.line(format!("{}  {value}", context.out.styled(TextStyle::Dim, pad_column(name, 10))))
        };
        row("memory", off.clone().map_or_else(|| "on".to_owned(), |why| format!("off: {why}")))?;
        row("vault", vault.folder().display().to_string())?;
        row("state", context.places.state().display().to_string())?;
        row("project", project.unwrap_or_else(|| "none (memories saved here are global)".into()))?;
        if let Some(claim) = context.claim() {
            row(
                "",
                format!(
                    "its git configuration names {}, which is in {}; decide with `rekindle project --same` or `--separate`",
                    claim.id, claim.folder
                ),
            )?;
        }
        row("entries", groups.join(", "))?;
        row("", format!("{always_load} loaded at every start, {}", describe_inbox(&inbox, &context.now)))?;
        if ideas > 0 {
            row("ideas", format!("{ideas} open"))?;
        }
        let since = oldest.map(|oldest| {
            let since = oldest.to_zoned(context.now.time_zone().clone()).date();
            format!(", the oldest from {}", day(since))
        });
        row(
            "review",
            match pending {
                0 => "nothing to review".to_owned(),
                1 => format!("1 proposal to review{}", since.unwrap_or_default()),
                count => format!("{count} proposals to review{}", since.unwrap_or_default()),
            },
        )?;
        for asked in surfaces::lines(context)? {
            row("", asked)?;
        }
        if let Some(shared) = engines::line(context)? {
            row("shared", shared)?;
        }
        for (name, value) in learnt.rows(context) {
            row(name, value)?;
        }
        row("background", background(waiting, dead))?;
        if let Some(gate) = &gate {
            let when = context.day(gate.at);
            row(
                "gate",
                match gate.ok {
                    true => format!("green on {when}, in {:.1} s", gate.seconds),
                    false => format!("red on {when} (`rekindle gate --history`)"),
                },
            )?;
        }
        row(
            "changed",
            last.map_or_else(
                || "never".into(),
                |record| format!("{} by {}", record.change.at, record.change.verb),
            ),
        )?;
        for (name, value) in ["index", ""].into_iter().zip(lines(&index)) {
            row(name, value)?;
        }
        for (name, value) in ["model", "", ""].into_iter().zip(models.lines(settings)) {
            row(name, value)?;
        }
        if !scan.problems.is_empty() || !scan.conflicts.is_empty() {
            let (unreadable, conflicts) = (scan.problems.len(), scan.conflicts.len());
            context.out.warn(format!(
                "{}, {}: see `rekindle doctor`",
                count_phrase(unreadable, "unreadable note"),
                count_phrase(conflicts, "conflict file")
            ));
        }
        Ok(())
    }
}

/// The number of waiting jobs and of failed ones.
fn background(waiting: u64, dead: u64) -> String {
    let work = if waiting == 0 { "idle".to_owned() } else { format!("{waiting} jobs queued") };
    match dead {
        0 => format!("{work}, no failures"),
        count => format!("{work}, {count} failed (`rekindle runs --dead`)"),
    }
}

/// The content of a status bar.
enum StatusBarItem {
    /// Memory is off (OPS-03, EXE-16).
    Off,
    /// The number of open proposals, and of failing health checks.
    Open { pending: usize, alerts: usize },
}

/// Reads the status from files alone.
fn status_bar_item(global: &GlobalOptions) -> Option<StatusBarItem> {
    let home = HomeFolder::find(global.home.as_deref()).ok()?;
    let settings = config::read(&home, None, &global.settings).ok()?;
    let places = home.data_paths(&settings.config).ok()?;
    if !settings.config.memory.enabled || places.stop_file().exists() {
        return Some(StatusBarItem::Off);
    }
    let pending = Vault::open(&places).ok().and_then(|vault| vault.pending_review().ok()).unwrap_or(0);
    Some(StatusBarItem::Open { pending, alerts: alerts::read(&places).alerts.len() })
}

/// The state of the index. A broken model is reported by `doctor`, not here.
fn index(context: &CommandContext<'_>, vault: &Vault) -> Result<IndexCondition, CliError> {
    let model = context.model().ok();
    let space = model.as_ref().map(|model| Embedder::new(model.name(), model).space());
    Ok(index_condition(vault, &context.index(), space.as_ref())?)
}

fn json(index: &IndexCondition) -> Value {
    match index {
        IndexCondition::Missing => json!({"state": "missing"}),
        IndexCondition::Damaged(why) => json!({"state": "damaged", "why": why}),
        IndexCondition::Usable(index) => json!({
            "state": index.label(),
            "documents": index.size.documents,
            "windows": index.size.windows,
            "bytes": index.size.bytes,
            "model": index.model,
            "behind": index.behind,
            "changed_files": index.changed,
            "other_model": index.other_model,
            "pending": index.size.pending,
        }),
    }
}

fn lines(index: &IndexCondition) -> Vec<String> {
    let index = match index {
        IndexCondition::Missing => return vec!["none yet; build it with `rekindle reindex`".into()],
        IndexCondition::Damaged(_) => {
            return vec!["damaged; rebuild it with `rekindle reindex --all`".into()];
        }
        IndexCondition::Usable(index) => index,
    };
    let lacks = [
        index.other_model.then(|| "built with another model".to_owned()),
        index.behind.then(|| "outdated".to_owned()),
        (index.changed > 0).then(|| format!("{} changed since", count_phrase(index.changed, "file"))),
        (index.size.pending > 0)
            .then(|| format!("{} without an embedding", count_phrase(index.size.pending, "text"))),
    ];
    let lacks: Vec<String> = lacks.into_iter().flatten().collect();
    let state = if lacks.is_empty() { "current".to_owned() } else { lacks.join(", ") };
    let name = index.model.split('@').next().unwrap_or_default();
    vec![
        format!("{} documents, {}, {state}", index.size.documents, format_bytes(index.size.bytes)),
        format!("embeddings: {}", if name.is_empty() { "none, keywords only" } else { name }),
    ]
}
