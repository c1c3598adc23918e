//! Learning report: connected agents, the outcome of their sessions, and the memories of this week.

use jiff::SignedDuration;
use rekindle_core::base::agent::Agent;
use rekindle_core::base::time::{Timestamp, day, format_utc};
use rekindle_core::text::clean::one_line;
use rekindle_core::vault::layout::VaultShelf;
use rekindle_engine::agents::install::{self, InstallEnvironment, InstallState, Installer};
use rekindle_engine::ops::learning::{self, LearningStats};
use rekindle_engine::platform::db::Database;
use rekindle_engine::vault::ScannedEntry;
use serde_json::{Value, json};

use super::CommandContext;
use crate::error::CliError;

/// The number of recent memories on a terminal.
const SHOWN_MEMORIES: usize = 3;
/// The number of recent memories with `--json`.
const SHOWN_MEMORIES_JSON: usize = 20;
/// The number of skip reasons that are named; the rest is counted.
const MAX_SKIP_REASONS: usize = 3;
const MAX_TITLE_CHARS: usize = 80;

/// Connected agents, the outcome of their sessions, and the memories of this week.
pub(crate) struct LearningReport<'a> {
    agents: Option<Vec<install::InstallStatus>>,
    sessions: LearningStats,
    /// Memories of this week, the newest first.
    week: Vec<(Timestamp, &'a ScannedEntry)>,
}

/// The connection of one agent, in words.
pub(crate) struct AgentState {
    pub(crate) agent: Agent,
    /// True if the agent is on this machine.
    pub(crate) is_found: bool,
    pub(crate) is_connected: bool,
    /// Its name, with the reason why it does not call us.
    pub(crate) words: String,
}

impl<'a> LearningReport<'a> {
    pub(crate) fn read(
        context: &CommandContext<'_>,
        db: Option<&Database>,
        entries: &'a [ScannedEntry],
    ) -> Result<Self, CliError> {
        let now = context.now.timestamp();
        let sessions = match db {
            Some(db) => learning::session_stats(db, now)?,
            None => LearningStats::default(),
        };
        let since = now - SignedDuration::from_hours(7 * 24);
        let mut week: Vec<(Timestamp, &ScannedEntry)> = entries
            .iter()
            .filter(|found| found.shelf != VaultShelf::Inbox && found.entry.provenance.session.is_some())
            .filter_map(|found| Some((found.entry.updated.max(found.entry.created)?, found)))
            .filter(|(at, _)| *at >= since)
            .collect();
        week.sort_by_key(|(at, found)| (std::cmp::Reverse(*at), &found.path));
        Ok(Self { agents: agents(context), sessions, week })
    }

    /// The state of every agent; empty without a home folder to look in.
    pub(crate) fn agent_states(&self) -> Vec<AgentState> {
        let state = |status: &install::InstallStatus| AgentState {
            agent: status.agent,
            is_found: status.found,
            is_connected: is_connected(status),
            words: if is_connected(status) {
                name_with_problem(status)
            } else {
                status.agent.name().to_owned()
            },
        };
        self.agents.iter().flatten().map(state).collect()
    }

    /// Counts of the sessions by outcome.
    pub(crate) fn sessions(&self) -> &LearningStats {
        &self.sessions
    }

    /// The memories of this week with the time of their last change, the newest first.
    pub(crate) fn memories(&self) -> &[(Timestamp, &'a ScannedEntry)] {
        &self.week
    }

    /// Adds the report to the answer of `--json`.
    pub(crate) fn add_to_json(&self, answer: &mut Value) {
        let agent = |status: &install::InstallStatus| {
            json!({
                "agent": status.agent,
                "found": status.found,
                "connected": is_connected(status),
                "state": status.state,
                "trusted": status.trusted,
                "plugin": status.plugin,
            })
        };
        let LearningStats { seen_sessions: seen, learnt, waiting, given_up, skipped } = &self.sessions;
        let reasons = skipped.iter().map(|(reason, count)| json!({"reason": reason, "count": count}));
        let memory = |(at, found): &(Timestamp, &ScannedEntry)| {
            json!({
                "at": format_utc(*at),
                "path": found.path,
                "title": found.title,
                "project": found.entry.scope.project(),
            })
        };
        answer["agents"] = self.agents.as_ref().map_or(Value::Null, |all| all.iter().map(agent).collect());
        answer["sessions"] = json!({
            "days": learning::LEARNING_DAYS,
            "seen": seen,
            "learnt": learnt,
            "skipped": self.sessions.skipped_sessions(),
            "skipped_because": reasons.collect::<Vec<_>>(),
            "waiting": waiting,
            "given_up": given_up,
        });
        answer["learnt_this_week"] = json!({
            "count": self.week.len(),
            "newest": self.week.iter().take(SHOWN_MEMORIES_JSON).map(memory).collect::<Vec<_>>(),
        });
    }

    /// Renders the rows for a terminal: label and text.
    pub(crate) fn rows(&self, context: &CommandContext<'_>) -> Vec<(&'static str, String)> {
        let mut rows: Vec<(&'static str, String)> = Vec::new();
        rows.extend(self.agents_in_words().map(|agents| ("agents", agents)));
        rows.push(("sessions", self.counts()));
        let reasons = &self.sessions.skipped;
        for (reason, count) in reasons.iter().take(MAX_SKIP_REASONS) {
            rows.push(("", format!("{count} skipped: {reason}")));
        }
        let others: u64 = reasons.iter().skip(MAX_SKIP_REASONS).map(|(_, count)| count).sum();
        if others > 0 {
            rows.push(("", format!("{others} skipped for other reasons (`rekindle runs --status SKIPPED`)")));
        }
        rows.extend(self.memory_rows(context));
        rows
    }

    /// Lists the agents in a sentence; `None` without a home folder to look in.
    pub(crate) fn agents_in_words(&self) -> Option<String> {
        self.agents.as_deref().map(connected)
    }

    /// True if an agent is on this machine and none is connected.
    pub(crate) fn needs_install(&self) -> bool {
        let agents = self.agents.as_deref().unwrap_or_default();
        agents.iter().any(|agent| agent.found) && !agents.iter().any(is_connected)
    }

    /// The rows about the memories of this week, the newest first.
    pub(crate) fn memory_rows(&self, context: &CommandContext<'_>) -> Vec<(&'static str, String)> {
        let mut rows = vec![("learnt", self.this_week())];
        for (at, found) in self.week.iter().take(SHOWN_MEMORIES) {
            let on = day(at.to_zoned(context.now.time_zone().clone()).date());
            let title = one_line(&found.title, MAX_TITLE_CHARS);
            let project = found.entry.scope.project().map_or("everywhere", |project| project.as_str());
            rows.push(("", format!("{on}  {title}  ({project})")));
        }
        rows
    }

    fn counts(&self) -> String {
        let LearningStats { seen_sessions: seen, learnt, waiting, given_up, .. } = &self.sessions;
        let skipped = self.sessions.skipped_sessions();
        if *seen == 0 {
            return format!("none in {} days", learning::LEARNING_DAYS);
        }
        let optional = [(*waiting, "not processed yet"), (*given_up, "failed (`rekindle runs --dead`)")];
        let optional = optional.iter().filter(|(count, _)| *count > 0);
        let rest: String = optional.map(|(count, what)| format!(", {count} {what}")).collect();
        format!("{seen} in {} days: {learnt} learnt from, {skipped} skipped{rest}", learning::LEARNING_DAYS)
    }

    fn this_week(&self) -> String {
        match self.week.len() {
            0 => "nothing this week".to_owned(),
            1 => "1 memory this week".to_owned(),
            count => format!("{count} memories this week, the newest:"),
        }
    }
}

/// The reason why memory is off; `None` while it is on (OPS-03, EXE-16).
pub(crate) fn switched_off(context: &CommandContext<'_>) -> Result<Option<String>, CliError> {
    let stop = context.places.stop_file();
    if stop.exists() {
        return Ok(Some(format!("{} exists; delete it to resume", stop.display())));
    }
    if context.settings.config.memory.enabled {
        return Ok(None);
    }
    let place = context.settings.get("memory.enabled")?.place.to_string();
    Ok(Some(format!(
        "memory.enabled is false ({place}); turn it on with `rekindle config set memory.enabled true`"
    )))
}

/// The state of every agent; `None` if there is no home folder to look in.
fn agents(context: &CommandContext<'_>) -> Option<Vec<install::InstallStatus>> {
    let machine = InstallEnvironment::from_environment();
    let before_tools = context.settings.config.recall.before_tools;
    let invocation = install::invocation(&machine, &context.home, before_tools).ok()?;
    let installer = Installer::new(&machine, &context.places, &invocation);
    Some(Agent::ALL.into_iter().filter_map(|agent| installer.status(agent).ok()).collect())
}

fn is_connected(status: &install::InstallStatus) -> bool {
    status.state != InstallState::Absent || status.plugin
}

fn connected(all: &[install::InstallStatus]) -> String {
    let names: Vec<String> =
        all.iter().filter(|status| is_connected(status)).map(name_with_problem).collect();
    let others = all.iter().filter(|status| status.found && !is_connected(status));
    let others: Vec<&str> = others.map(|status| status.agent.name()).collect();
    let connected = if names.is_empty() { "none connected".to_owned() } else { names.join(", ") };
    match (names.is_empty(), others.is_empty()) {
        (false, true) => connected,
        (true, true) => format!("{connected}; connect agents with `rekindle install`"),
        (_, false) => format!("{connected}; not connected: {} (`rekindle install`)", others.join(", ")),
    }
}

/// An agent's name, with the reason why it does not call us.
fn name_with_problem(status: &install::InstallStatus) -> String {
    let doubt = match status.state {
        _ if status.obstacle.is_some() => Some("its hooks are disabled"),
        _ if status.trusted == Some(false) => Some("hooks not trusted: `rekindle install codex --trust`"),
        InstallState::Outdated => Some("outdated: `rekindle install`"),
        InstallState::ForeignHome => Some("uses another Rekindle home"),
        InstallState::Absent | InstallState::Current => None,
    };
    let name = status.agent.name();
    doubt.map_or_else(|| name.to_owned(), |doubt| format!("{name} ({doubt})"))
}
