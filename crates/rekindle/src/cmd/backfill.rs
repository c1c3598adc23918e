//! `rekindle backfill`

use std::sync::{Mutex, PoisonError};

use clap::Args;
use rekindle_core::agent::Agent;
use rekindle_core::time::Timestamp;
use rekindle_engine::messages::Messages;
use rekindle_engine::messages::backfill::{Backfill as Engine, Extent, Plan, Report, Unknown};
use rekindle_engine::{environment, project};
use serde_json::{Value, json};

use crate::compose::Context;
use crate::error::Failure;
use crate::output::{Progress, Style, column, size};

#[derive(Args)]
#[command(after_help = "\
Finds the transcripts of Claude Code, Codex, Gemini CLI and pi in your home and makes what was said in them searchable:
`rekindle recall` shows such messages last, unreviewed. No model is asked and nothing leaves this machine; secrets are
left out. Without --yes it only says what there is. It can be stopped at any time and goes on where it was; what is
there already is not added again. Sessions between agents are left out.

Examples:
  rekindle backfill
  rekindle backfill --yes
  rekindle backfill --agent claude --agent pi --since 2026-01-01 --yes
  rekindle backfill --json")]
pub(crate) struct Backfill {
    /// Only this agent: claude, codex, gemini, pi; may be given several times
    #[arg(long)]
    agent: Vec<Agent>,
    /// Only sessions that were written to at this date or time, or later
    #[arg(long, value_name = "DATE", value_parser = super::recall::moment)]
    since: Option<Timestamp>,
    /// Do it
    #[arg(long, short = 'y')]
    yes: bool,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

impl Backfill {
    pub(crate) fn run(self, context: &Context<'_>) -> Result<(), Failure> {
        if !context.settings.config.memory.enabled && self.yes {
            return Err(Failure::new("memory is switched off by memory.enabled, so nothing is written")
                .hint("`rekindle config set memory.enabled true`"));
        }
        let home = environment::home_folder()
            .ok_or_else(|| Failure::new("there is no home folder in which agents could keep transcripts"))?;
        let messages = Messages::of(&context.places);
        let (projects, forgotten) =
            (project::load(&context.places.projects_file()), context.vault()?.graveyard()?);
        let backfill = Engine {
            messages: &messages,
            home: &home,
            state: context.places.state(),
            projects: &projects,
            forgotten: &forgotten,
        };
        let agents = if self.agent.is_empty() { Agent::ALL.to_vec() } else { self.agent.clone() };
        let plan = backfill.plan(&Extent { agents, since: self.since })?;
        if !self.yes {
            return if self.json { context.out.json(&told(&plan)) } else { say(context, &plan) };
        }
        let bar = Mutex::new(Progress::new("reading"));
        let show = |what: &'static str, done: u64, of: u64| {
            let megabytes = |bytes: u64| usize::try_from(bytes / 1_000_000).unwrap_or(usize::MAX);
            let mut bar = bar.lock().unwrap_or_else(PoisonError::into_inner);
            bar.show(what, megabytes(done), megabytes(of));
        };
        let report = backfill.run(&plan, &|done, of| {
            show("reading (MB)", done, of);
            true
        })?;
        let found = messages.update(&mut |done, of| show("indexing (MB)", done, of))?;
        bar.into_inner().unwrap_or_else(PoisonError::into_inner).end();
        if self.json {
            let mut answer = told(&plan);
            answer["dryRun"] = json!(false);
            answer["unknown"] = unknown(&report.unknown);
            answer["done"] = done(&report, found.messages);
            return context.out.json(&answer);
        }
        for (path, why) in report.problems.iter().take(MOST_NAMED) {
            context.out.warn(format!("{} was left out: {why}", path.display()));
        }
        name_unknown(context, &report.unknown);
        context.out.line(format!(
            "{} messages of {} sessions read, {} of them new; {} can be found now",
            report.messages, report.sessions, report.added, found.messages
        ))?;
        if report.redacted > 0 {
            context.out.note(format!("{} secrets were left out.", report.redacted));
        }
        Ok(())
    }
}

/// So many files are named that could not be read.
const MOST_NAMED: usize = 5;

fn told(plan: &Plan) -> Value {
    let shares: Vec<Value> = plan
        .shares()
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
        "leftOut": plan.subagents,
        "unknown": unknown(&plan.unknown),
        "unknownBefore": plan.unknown_before,
    })
}

fn unknown(unknown: &[Unknown]) -> Value {
    unknown.iter().map(|one| json!({"agent": one.agent, "path": one.path, "why": one.seen})).collect()
}

fn done(report: &Report, found: u64) -> Value {
    let problems: Vec<Value> =
        report.problems.iter().map(|(path, why)| json!({"path": path, "why": why})).collect();
    json!({
        "sessions": report.sessions,
        "messages": report.messages,
        "added": report.added,
        "found": found,
        "secretsLeftOut": report.redacted,
        "oddLines": report.odd_lines,
        "problems": problems,
    })
}

fn say(context: &Context<'_>, plan: &Plan) -> Result<(), Failure> {
    let out = context.out;
    let shares = plan.shares();
    let width =
        shares.keys().map(|(_, project)| project_name(project.as_ref()).chars().count()).max().unwrap_or(0);
    for ((agent, project), share) in &shares {
        let project = column(project_name(project.as_ref()), width);
        let much = format!(
            "{:>6} sessions  {:>9}",
            share.sessions,
            size(usize::try_from(share.bytes).unwrap_or(usize::MAX))
        );
        out.line(format!("{}  {project}  {much}", out.styled(Style::Bold, column(agent.word(), 6))))?;
    }
    name_unknown(context, &plan.unknown);
    let before = match plan.done {
        0 => String::new(),
        done => format!(" {done} were read before and have not changed."),
    };
    match plan.candidates.len() {
        0 => out.note(format!("There is nothing new to read.{before}")),
        count => {
            let bytes = size(usize::try_from(plan.bytes()).unwrap_or(usize::MAX));
            out.note(format!("{count} sessions, {bytes}.{before} `rekindle backfill --yes` reads them."));
        }
    }
    Ok(())
}

fn project_name(project: Option<&rekindle_core::scope::ProjectId>) -> &str {
    project.map_or("(no project)", |project| project.as_str())
}

/// Formats that are not known are told once, an agent at a time.
fn name_unknown(context: &Context<'_>, unknown: &[Unknown]) {
    for agent in Agent::ALL {
        let of: Vec<&Unknown> = unknown.iter().filter(|one| one.agent == agent).collect();
        let Some(first) = of.first() else { continue };
        let others = match of.len() {
            1 => String::new(),
            count => format!(" (and {} more of {})", count - 1, agent.name()),
        };
        context.out.warn(format!("left out: {}{others}", first.seen));
    }
}
