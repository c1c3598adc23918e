//! `rekindle backfill`: learns from sessions of the time before Rekindle.

use std::time::Duration;

use clap::Args;
use rekindle_core::base::agent::Agent;
use rekindle_core::base::scope::ProjectId;
use rekindle_core::base::time::TypedTime;
use rekindle_core::config::LlmProvider;
use rekindle_core::text::clean::one_line;
use rekindle_core::text::plural::count_phrase;
use rekindle_engine::jobs::context::StageContext;
use rekindle_engine::pipeline::backfill::{
    BackfillContext as Engine, BackfillPlan, BackfillProgress as Step, BackfillReport, BackfillScope,
    ProjectLearnings, UnknownTranscript,
};
use rekindle_engine::pipeline::sightings::{self, FrequentSighting};
use rekindle_engine::platform::background;
use rekindle_engine::platform::db::Database;
use rekindle_engine::platform::environment;
use rekindle_engine::project;
use serde_json::{Value, json};

use super::reflect::LEARN;
use crate::app::CommandContext;
use crate::dialog;
use crate::error::CliError;
use crate::output::{ProgressLine, TextStyle, format_bytes, join_names, pad_column};

/// The number of frequent statements that are printed.
const MAX_FREQUENT: u32 = 3;
/// The most characters of a frequent statement.
const MAX_FREQUENT_CHARS: usize = 100;
/// The most unreadable files that are named.
const MAX_NAMED_FILES: usize = 5;

#[derive(Args)]
#[command(after_help = "\
Finds the sessions of Claude Code, Codex, Gemini CLI and pi in your home and learns from them as if they ended now:
the newest first, each under its own dates. What you said outright applies from your next session on, the rest waits
for your review, and `rekindle recall` finds the messages. Nothing leaves this machine, and secrets are removed. At a
terminal it asks first; elsewhere it only lists the sessions, unless you add --yes. You can stop it at any time, and
the next run continues; it reads each session once. It skips sessions between agents. An agent can only list the
sessions.

--again learns once more from sessions that were read before, for example after you rolled your notes back, or with
other settings (`-c`). What your notes or your decisions already hold is not added twice.

Examples:
  rekindle backfill
  rekindle backfill --dry-run
  rekindle backfill --yes
  rekindle backfill --agent claude --agent pi --since 2w --yes
  rekindle backfill --again --since 2026-11-01 --until 2026-11-14 -c memory.confidence.medium=0.8
  rekindle backfill --json")]
pub(crate) struct BackfillArgs {
    /// Only this agent: claude, codex, gemini, pi; may be given several times
    #[arg(long)]
    agent: Vec<Agent>,
    /// Only sessions of this date or later: 2026-11-15, yesterday, 2w, "3 days ago"
    #[arg(long, value_name = "DATE")]
    since: Option<TypedTime>,
    /// Only sessions of this date or earlier
    #[arg(long, value_name = "DATE")]
    until: Option<TypedTime>,
    /// Learn again from sessions that were read before
    #[arg(long)]
    again: bool,
    /// List the sessions without reading them
    #[arg(long, conflicts_with = "yes")]
    dry_run: bool,
    /// Learn from them without asking
    #[arg(long, short = 'y')]
    yes: bool,
    /// Use your language model, within its daily limits, instead of the built-in rules
    #[arg(long)]
    with_model: bool,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

impl BackfillArgs {
    pub(crate) fn run(self, context: &CommandContext<'_>) -> Result<(), CliError> {
        if !context.settings.config.memory.enabled && self.yes {
            return Err(CliError::new("memory is off (memory.enabled), so nothing is written")
                .hint("turn it on with `rekindle config set memory.enabled true`"));
        }
        let mut extent = all_closed(context);
        extent.since = self.since.map(|since| since.start(&context.now));
        extent.until = self.until.map(|until| until.end(&context.now));
        extent.again = self.again;
        if !self.agent.is_empty() {
            extent.agents = self.agent;
        }
        let plan = plan(context, &extent)?;
        if self.json && !self.yes {
            return context.out.json(&plan_json(&plan));
        }
        if !self.json && !self.yes {
            print_plan(context, &plan)?;
            let asks = !self.dry_run && !plan.candidates.is_empty() && dialog::is_possible();
            if !asks || !dialog::yes("Learn from these sessions now?", true)? {
                if asks {
                    context.out.note(dialog::CANCELLED_TEXT);
                } else if !plan.candidates.is_empty() {
                    context.out.note("To learn from them, run `rekindle backfill --yes`.");
                }
                return Ok(());
            }
        }
        let report = run_plan(context, &plan, self.with_model)?;
        let frequent = frequent(context)?;
        if self.json {
            let mut answer = plan_json(&plan);
            answer["dryRun"] = json!(false);
            answer["unknown"] = unknown(&report.unknown);
            answer["done"] = report_json(&report, &frequent);
            return context.out.json(&answer);
        }
        print_summary(context, &report, &frequent)
    }
}

/// The extent of a full backfill: every finished session.
fn all_closed(context: &CommandContext<'_>) -> BackfillScope {
    BackfillScope::all_closed(context.now.timestamp(), context.settings.config.capture.idle_minutes)
}

fn plan(context: &CommandContext<'_>, extent: &BackfillScope) -> Result<BackfillPlan, CliError> {
    let home = environment::home_folder()
        .ok_or_else(|| CliError::new("no home folder found, so there are no transcripts to read"))?;
    let projects = project::load(&context.places.projects_file());
    Ok(Engine { places: &context.places, home: &home, projects: &projects }.plan(extent)?)
}

/// Learns from all planned sessions for `rekindle init`, and prints the outcome.
pub(super) fn backfill_all(context: &CommandContext<'_>, plan: &BackfillPlan) -> Result<(), CliError> {
    let report = run_plan(context, plan, false)?;
    print_summary(context, &report, &frequent(context)?)
}

/// The sessions that `rekindle init` offers to learn from.
pub(super) fn find(context: &CommandContext<'_>) -> Result<BackfillPlan, CliError> {
    plan(context, &all_closed(context))
}

/// Describes a plan: `212 sessions of Claude Code and Codex in 6 projects`.
pub(super) fn describe_plan(plan: &BackfillPlan) -> String {
    let names: Vec<&str> = plan.agents().iter().map(|agent| agent.name()).collect();
    let agents = join_names(&names);
    let projects = match plan.project_count() {
        0 => String::new(),
        count => format!(" in {}", count_phrase(count as u64, "project")),
    };
    format!("{} of {agents}{projects}", count_phrase(plan.candidates.len() as u64, "session"))
}

fn run_plan(
    context: &CommandContext<'_>,
    plan: &BackfillPlan,
    with_model: bool,
) -> Result<BackfillReport, CliError> {
    context.require_person(LEARN)?;
    // The vault is opened for a change, so that the index is updated at the end of the command.
    context.writable_vault()?;
    let home = environment::home_folder().ok_or_else(|| CliError::new("no home folder found"))?;
    let projects = project::load(&context.places.projects_file());
    background::lower_priority();
    let (places, mut config) = (context.places.clone(), context.settings.config.clone());
    if !with_model {
        config.llm.provider = LlmProvider::Offline;
    }
    let (root, zone) = (context.home.clone(), context.now.time_zone().clone());
    let worlds = || StageContext::new(root.clone(), places.clone(), config.clone(), zone.clone());
    let mut bar = ProgressLine::new("learning from sessions");
    let mut waited = false;
    let engine = Engine { places: &context.places, home: &home, projects: &projects };
    let report = engine.run(plan, &context.stage_context(), &worlds, &mut |step| {
        match step {
            Step::Sessions(done, of) => bar.show_progress("learning from sessions", done, of),
            Step::Waiting(since) if since > Duration::from_secs(1) && !waited => {
                waited = true;
                context.out.note("Another worker is running; waiting for it to finish.");
            }
            Step::Waiting(_) => {}
        }
        true
    });
    bar.end();
    Ok(report?)
}

fn frequent(context: &CommandContext<'_>) -> Result<Vec<FrequentSighting>, CliError> {
    match Database::open_existing(&context.places.database())? {
        Some(db) => Ok(sightings::most_frequent(&db, MAX_FREQUENT)?),
        None => Ok(Vec::new()),
    }
}

fn plan_json(plan: &BackfillPlan) -> Value {
    let shares: Vec<Value> = plan
        .shares_by_project()
        .into_iter()
        .map(|((agent, project), share)| {
            json!({"agent": agent, "project": project, "sessions": share.sessions, "bytes": share.bytes})
        })
        .collect();
    json!({
        "dryRun": true,
        "sessions": plan.candidates.len(),
        "bytes": plan.bytes(),
        "shares": shares,
        "alreadyDone": plan.done,
        "stillOpen": plan.open,
        "folderGone": plan.gone_folders(),
        "leftOut": plan.subagents,
        "unknown": unknown(&plan.unknown),
        "unknownBefore": plan.unknown_before,
    })
}

fn unknown(unknown: &[UnknownTranscript]) -> Value {
    unknown.iter().map(|one| json!({"agent": one.agent, "path": one.path, "why": one.seen})).collect()
}

fn report_json(report: &BackfillReport, frequent: &[FrequentSighting]) -> Value {
    let problems: Vec<Value> =
        report.problems.iter().map(|(path, why)| json!({"path": path, "why": why})).collect();
    let projects: Vec<Value> = report
        .projects
        .iter()
        .map(|(project, learnt)| {
            json!({
                "project": project,
                "sessions": learnt.sessions.len(),
                "saved": learnt.saved,
                "proposed": learnt.proposed,
                "inboxed": learnt.inboxed,
                "ideas": learnt.ideas,
                "observations": learnt.observations,
            })
        })
        .collect();
    let frequent: Vec<Value> = frequent
        .iter()
        .map(|one| json!({"text": one.text, "project": one.project, "sessions": one.sessions}))
        .collect();
    json!({
        "sessions": report.sessions,
        "messages": report.messages,
        "added": report.added,
        "found": report.indexed_messages,
        "projects": projects,
        "frequent": frequent,
        "skipped": report.skipped,
        "nothingToKeep": report.silent.len(),
        "folderGone": report.lost_sessions.len(),
        "secretsLeftOut": report.redacted,
        "problems": problems,
        "stopped": report.stopped,
    })
}

fn print_plan(context: &CommandContext<'_>, plan: &BackfillPlan) -> Result<(), CliError> {
    let out = context.out;
    let shares = plan.shares_by_project();
    let width =
        shares.keys().map(|(_, project)| project_name(project.as_ref()).chars().count()).max().unwrap_or(0);
    for ((agent, project), share) in &shares {
        let project = pad_column(project_name(project.as_ref()), width);
        let much = format!(
            "{:>6} sessions  {:>9}",
            share.sessions,
            format_bytes(usize::try_from(share.bytes).unwrap_or(usize::MAX))
        );
        out.line(format!(
            "{}  {project}  {much}",
            out.styled(TextStyle::Bold, pad_column(agent.as_str(), 6))
        ))?;
    }
    name_unknown(context, &plan.unknown);
    let mut text = match plan.candidates.len() {
        0 => "No new sessions.".to_owned(),
        _ => {
            let bytes = format_bytes(usize::try_from(plan.bytes()).unwrap_or(usize::MAX));
            format!("{}, {bytes}.", describe_plan(plan))
        }
    };
    for (count, what) in [
        (plan.done, "unchanged since they were last read"),
        (plan.open, "still open, to be read when they end"),
        (plan.gone_folders(), "from deleted folders, kept separate from your projects"),
    ] {
        if count > 0 {
            text.push_str(&format!(" {count} {what}."));
        }
    }
    out.note(text);
    Ok(())
}

/// Prints what each project taught, what came up most, and why some sessions taught nothing.
fn print_summary(
    context: &CommandContext<'_>,
    report: &BackfillReport,
    frequent: &[FrequentSighting],
) -> Result<(), CliError> {
    let out = context.out;
    for (path, why) in report.problems.iter().take(MAX_NAMED_FILES) {
        out.warn(format!("{} was skipped for now: {why}", path.display()));
    }
    name_unknown(context, &report.unknown);
    let taught: usize = report.projects.values().map(|learnt| learnt.sessions.len()).sum();
    out.line(format!(
        "Read {} and learnt from {taught}. You can now search {} messages.",
        count_phrase(report.sessions, "session"),
        report.indexed_messages
    ))?;
    let rows: Vec<_> = report.projects.iter().filter(|(_, learnt)| !learnt.sessions.is_empty()).collect();
    let width = rows.iter().map(|(project, _)| project_name(project.as_ref()).chars().count()).max();
    for (project, learnt) in rows {
        let name = pad_column(project_name(project.as_ref()), width.unwrap_or(0));
        out.line(format!("  {}  {}", out.styled(TextStyle::Bold, name), learnt_words(learnt)))?;
    }
    if !frequent.is_empty() {
        out.line("Most frequent:")?;
        for one in frequent {
            let place = one.project.as_deref().map_or_else(String::new, |project| format!(" · {project}"));
            let text = one_line(&one.text, MAX_FREQUENT_CHARS);
            out.line(format!("  “{text}” ({}{place})", count_phrase(u64::from(one.sessions), "session")))?;
        }
    }
    for (reason, count) in &report.skipped {
        out.note(format!("{} skipped: {reason}.", count_phrase(*count, "session")));
    }
    if !report.silent.is_empty() {
        out.note(format!(
            "{} contained nothing worth keeping.",
            count_phrase(report.silent.len() as u64, "session")
        ));
    }
    if !report.lost_sessions.is_empty() {
        out.note(format!(
            "{} ran in deleted folders that belong to no known project. What was learnt there is stored under `gone/…` and shown in no project.",
            count_phrase(report.lost_sessions.len() as u64, "session")
        ));
    }
    if report.redacted > 0 {
        out.note(format!("{} removed.", count_phrase(report.redacted, "secret")));
    }
    if report.stopped {
        out.note("Stopped early. Run `rekindle backfill` to continue.");
    }
    Ok(())
}

fn learnt_words(learnt: &ProjectLearnings) -> String {
    let parts = [
        (learnt.saved.len(), "memory saved", "memories saved"),
        (learnt.proposed.len(), "proposal to review", "proposals to review"),
        (learnt.inboxed.len(), "in the inbox", "in the inbox"),
        (learnt.ideas.len(), "idea", "ideas"),
    ];
    let named = parts.iter().filter(|(count, ..)| *count > 0);
    let mut parts: Vec<String> =
        named.map(|(count, one, many)| format!("{count} {}", if *count == 1 { one } else { many })).collect();
    if parts.is_empty() {
        parts.push(format!("{} in the daily logs", count_phrase(learnt.observations, "line")));
    }
    format!("{} from {}", parts.join(", "), count_phrase(learnt.sessions.len() as u64, "session"))
}

fn project_name(project: Option<&ProjectId>) -> &str {
    project.map_or("(no project)", |project| project.as_str())
}

/// Warns about unknown transcript formats, once for each agent.
fn name_unknown(context: &CommandContext<'_>, unknown: &[UnknownTranscript]) {
    for agent in Agent::ALL {
        let of: Vec<&UnknownTranscript> = unknown.iter().filter(|one| one.agent == agent).collect();
        let Some(first) = of.first() else { continue };
        let others = match of.len() {
            1 => String::new(),
            count => format!(" (and {} more of {})", count - 1, agent.name()),
        };
        context.out.warn(format!("unknown format, skipped: {}{others}", first.seen));
    }
}
