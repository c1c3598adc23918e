//! `rekindle reflect`: learns from one session now.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use rekindle_core::base::agent::Agent;
use rekindle_core::event::{ASKED_CAUSE, CaptureRequested, CaptureTrigger, Event, names};
use rekindle_core::knowledge::observe::Finding;
use rekindle_core::run::RunStatus;
use rekindle_engine::agents::transcripts;
use rekindle_engine::jobs::queue::{RunFilter, RunQueue, RunRecord};
use rekindle_engine::pipeline::observations;
use rekindle_engine::pipeline::stages::STAGE_REGISTRY;
use rekindle_engine::platform::db::Database;
use rekindle_engine::platform::environment;
use rekindle_engine::platform::random;
use serde_json::{Value, json};

use super::worker::{self, WorkerMode};
use super::{id_match, inbox};
use crate::app::CommandContext;
use crate::error::CliError;

/// The longest wait for a running worker.
const WORKER_LOCK_TIMEOUT: Duration = Duration::from_secs(15 * 60);

/// The action that an agent's shell may not take: a transcript written by the agent would speak for the
/// person (B-01).
pub(super) const LEARN: &str = "learn from a transcript that it may have written";

#[derive(Args)]
#[command(after_help = "\
Processes a session now, as if it had ended. Observations go to the log of the day. What you said outright is saved,
what Rekindle infers is proposed, what it saw only once goes to the inbox, and ideas go to Ideas.md. A session is
processed only once; after that, you see the earlier result. An agent cannot run this.

Examples:
  rekindle reflect                                   # the newest session of this folder
  rekindle reflect --session ~/.claude/projects/-home-ada-pumps/3f2a.jsonl
  rekindle reflect --json | jq '.observations[].text'")]
pub(crate) struct ReflectArgs {
    /// The session: its transcript, its id, or the beginning of its id
    #[arg(long, value_name = "PATH|ID")]
    session: Option<PathBuf>,
    /// The agent that wrote the transcript, if it cannot be recognised
    #[arg(long, value_name = "AGENT")]
    agent: Option<Agent>,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

impl ReflectArgs {
    pub(crate) fn run(self, context: &CommandContext<'_>) -> Result<(), CliError> {
        context.require_person(LEARN)?;
        context.writable_vault()?;
        let (agent, path) = self.transcript(context)?;
        let head = transcripts::read_head(agent, &path)?;
        let name = || path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let Some(session) = head.session.clone().or_else(name) else {
            return Err(CliError::usage(format!("{} is not a transcript", path.display())));
        };
        let at = context.now.timestamp();
        let request = CaptureRequested {
            agent,
            session_id: session.clone(),
            trigger: CaptureTrigger::Shutdown,
            cause: ASKED_CAUSE.to_owned(),
            transcript: path.to_str().map(str::to_owned),
            upto: None,
            cwd: head.cwd,
        };
        let event = Event {
            id: random::change_id(at)?.as_str().to_owned(),
            name: names::CAPTURE_REQUESTED.to_owned(),
            data: serde_json::to_value(request).map_err(CliError::new)?,
            at,
        };
        let mut queue = RunQueue::new(Database::open(&context.places.database())?);
        queue.enqueue(&STAGE_REGISTRY, std::slice::from_ref(&event), at)?;
        if worker::run_worker(context, WorkerMode::Drain { patience: WORKER_LOCK_TIMEOUT })?.is_none() {
            return Err(CliError::new("timed out waiting for another worker")
                .hint("see `rekindle runs` for its progress; the session is queued and will be processed"));
        }
        let session_report = ReflectedSession::new(&session, &event, &queue, context)?;
        match self.json {
            true => context.out.json(&session_report.json()),
            false => session_report.show(context),
        }
    }

    /// True for an argument that is not a file but could be a session id.
    fn is_id(&self, context: &CommandContext<'_>, session: &Path) -> bool {
        let plain = session.components().count() == 1 && session.extension().is_none();
        plain && !context.cwd.join(session).exists()
    }

    /// Finds the transcript: the named one, or the newest of this folder.
    fn transcript(&self, context: &CommandContext<'_>) -> Result<(Agent, PathBuf), CliError> {
        if let Some(path) = self.session.as_ref().filter(|path| !self.is_id(context, path)) {
            let path = context.cwd.join(path);
            let agent = match self.agent {
                Some(agent) => Some(agent),
                None => transcripts::recognise_agent(&path)?,
            };
            return match agent {
                Some(agent) => Ok((agent, path)),
                None => {
                    Err(CliError::usage(format!("{} is not a transcript of a known agent", path.display()))
                        .hint("name the agent with --agent: claude, codex, gemini or pi"))
                }
            };
        }
        let home = environment::home_folder()
            .ok_or_else(|| CliError::new("no home folder found, so there are no transcripts to read"))?;
        let agents = self.agent.map_or_else(|| Agent::ALL.to_vec(), |agent| vec![agent]);
        let mut found: Vec<(Agent, transcripts::TranscriptFile)> = agents
            .into_iter()
            .flat_map(|agent| transcripts::find(agent, &home).into_iter().map(move |found| (agent, found)))
            .collect();
        found.sort_by_key(|(_, found)| std::cmp::Reverse(found.modified));
        if let Some(typed) = self.session.as_ref().and_then(|session| session.to_str()) {
            return by_session(typed, &found);
        }
        let here = |agent: Agent, path: &Path| {
            transcripts::read_head(agent, path).is_ok_and(|head| {
                !head.subagent && head.cwd.is_some_and(|cwd| Path::new(&cwd) == context.cwd)
            })
        };
        let newest = found.into_iter().find(|(agent, found)| here(*agent, &found.path));
        newest.map(|(agent, found)| (agent, found.path)).ok_or_else(|| {
            CliError::usage("found no transcript of a session in this folder")
                .hint("to use any transcript, run `rekindle reflect --session PATH`")
        })
    }
}

/// Finds the transcript of a session by the beginning of its id.
fn by_session(
    typed: &str,
    found: &[(Agent, transcripts::TranscriptFile)],
) -> Result<(Agent, PathBuf), CliError> {
    let ids: Vec<(String, &(Agent, transcripts::TranscriptFile))> = found
        .iter()
        .filter_map(|one| {
            let (agent, file) = (one.0, &one.1.path);
            let name = file.file_stem().map(|stem| stem.to_string_lossy().into_owned());
            let id = transcripts::read_head(agent, file).ok().and_then(|head| head.session);
            Some((id.or(name)?, one))
        })
        .collect();
    let session = id_match::session(typed, ids.iter().map(|(id, _)| id.as_str()))?;
    let one = session.and_then(|session| ids.into_iter().find(|(id, _)| *id == session));
    one.map(|(_, (agent, found))| (*agent, found.path.clone())).ok_or_else(|| {
        CliError::usage(format!("found no transcript of session `{typed}`"))
            .hint("use the path of the transcript, or at least four characters of the session's id")
    })
}

/// The outcome of a session.
struct ReflectedSession {
    session: String,
    findings: Vec<Finding>,
    lists: [(&'static str, Vec<String>); 4],
    /// The reason for an empty result, and the failures.
    word: Option<String>,
}

impl ReflectedSession {
    fn new(
        session: &str,
        event: &Event,
        queue: &RunQueue,
        context: &CommandContext<'_>,
    ) -> Result<Self, CliError> {
        let runs = queue.history(&RunFilter { session: Some(session.to_owned()), ..RunFilter::default() })?;
        let mut lists = ["saved", "proposed", "inboxed", "ideas"].map(|name| (name, Vec::new()));
        for run in runs
            .iter()
            .rev()
            .filter(|run| run.function == "observe" || run.function == "observe-session-noted")
        {
            for (name, list) in &mut lists {
                let items = run.output.as_ref().and_then(|output| output.get(*name)?.as_array());
                list.extend(items.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned));
            }
        }
        let db = Database::open(&context.places.database())?;
        let entries = observations::in_session(&db, session)?;
        let findings: Vec<Finding> = entries
            .into_iter()
            .flat_map(|entry| entry.observed.parts)
            .flat_map(|part| part.findings)
            .collect();
        let failed = runs.iter().find(|run| matches!(run.status, RunStatus::Failed | RunStatus::Dead));
        let skipped = |run: &&RunRecord| run.event == event.id && run.status == RunStatus::Skipped;
        let word = match failed {
            Some(run) => Some(format!(
                "{} failed: {}; see `rekindle run {}`",
                run.function,
                run.error.as_deref().unwrap_or("unknown reason"),
                run.id
            )),
            None if findings.is_empty() => {
                let reason = runs.iter().find(skipped).and_then(|run| run.reason.clone());
                Some(reason.unwrap_or_else(|| "it contains nothing worth keeping".to_owned()))
            }
            None => None,
        };
        Ok(Self { session: session.to_owned(), findings, lists, word })
    }

    fn json(&self) -> Value {
        let time =
            |finding: &Finding| finding.when.map(|when| when.to_string().trim_matches(['(', ')']).to_owned());
        let findings: Vec<Value> = self
            .findings
            .iter()
            .map(|finding| {
                let gate = finding.gate.as_ref().map(|verdict| {
                    json!({
                        "verifiable": verdict.is_verifiable(), "useful": verdict.is_useful(),
                        "conflicting": verdict.is_conflicting(), "doubts": verdict.doubts, "against": verdict.against,
                    })
                });
                json!({
                    "text": finding.text, "priority": finding.priority, "time": time(finding),
                    "origin": finding.origin, "messages": finding.messages, "kind": finding.kind,
                    "strength": finding.strength, "sentiment": finding.sentiment, "gate": gate,
                })
            })
            .collect();
        let mut whole = json!({"session": self.session, "observations": findings});
        if let Some(fields) = whole.as_object_mut() {
            fields.extend(self.lists.iter().map(|(name, list)| ((*name).to_owned(), json!(list))));
            fields.extend(self.word.iter().map(|word| ("note".to_owned(), json!(word))));
        }
        whole
    }

    fn show(&self, context: &CommandContext<'_>) -> Result<(), CliError> {
        let out = context.out;
        for finding in &self.findings {
            let when = finding.when.map_or_else(String::new, |when| format!("{when} "));
            let whose = format!("[{}]", finding.origin);
            out.line(format!("{} {when}{} {whose}", finding.priority.emoji(), finding.text))?;
        }
        for (name, list) in self.lists.iter().filter(|(_, list)| !list.is_empty()) {
            out.line(format!("{name}: {}", list.join(", ")))?;
        }
        if let Some(word) = &self.word {
            out.note(format!("Note: {word}."));
        }
        inbox::remind_if_full(context, &context.vault()?.inbox()?);
        Ok(())
    }
}
