//! Injection log: the memories that each session received and their outcome, one file of lines per session.
//! Hooks append what they injected; the worker appends the outcome of the turn (FBK-01). The log prevents
//! repetition and serves feedback and `rekindle inspect --session`. It holds names of memories, and of their
//! text only the few words that a verdict rests on.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

use rekindle_core::base::agent::Agent;
use rekindle_core::base::hash::ContentHash;
use rekindle_core::base::time::Timestamp;
use rekindle_core::knowledge::feedback::JudgedMemory;
use serde::{Deserialize, Serialize};

use crate::platform::disk::{self, LineFile};
use crate::platform::home::DataPaths;

/// The age in days at which the log of an inactive session is deleted.
const KEEP_DAYS: u64 = 90;
/// The size limit of a log; a longer file is not read.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// The event at which context was injected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InjectionMoment {
    /// The session started: the briefing.
    Start,
    /// The person sent a prompt.
    Prompt,
    /// The agent was about to change a file or run a command.
    Tool,
    /// The agent compacted the session: earlier context may be gone.
    LetGo,
}

/// The context injected at one event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Injection {
    /// The time of the event.
    pub at: Timestamp,
    /// The event that caused it.
    pub what: InjectionMoment,
    /// The agent of the session.
    pub agent: Agent,
    /// The id of the session.
    pub session: String,
    /// The id of the turn that begins here.
    pub turn: String,
    /// The fingerprint of the prompt, which finds it in the transcript.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// The memories that recall chose.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub chosen: Vec<String>,
    /// The chosen memories that the agent received: within the block, and in time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shown: Vec<String>,
    /// The estimated number of injected tokens.
    #[serde(default)]
    pub tokens: u64,
    /// True if the briefing held everything that always loads.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub whole: bool,
    /// True if the session belongs to the control group without recall.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub held_out: bool,
    /// True if the prompt looks like a correction.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub corrects: bool,
    /// True if the prompt asks for something to be remembered.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub asks: bool,
}

impl Injection {
    /// Creates a record of an event without any memories.
    pub fn new(what: InjectionMoment, agent: Agent, session: &str, at: Timestamp) -> Self {
        let moment = at.as_nanosecond().to_string();
        let turn = ContentHash::of_parts(&[b"turn", session.as_bytes(), moment.as_bytes()]).short_hex(16);
        Self {
            at,
            what,
            agent,
            session: session.to_owned(),
            turn,
            prompt: None,
            chosen: Vec::new(),
            shown: Vec::new(),
            tokens: 0,
            whole: false,
            held_out: false,
            corrects: false,
            asks: false,
        }
    }
}

/// The outcome of a turn.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TurnOutcome {
    /// The id of the turn.
    pub turn: String,
    /// The verdict on each memory injected before it.
    pub judged: Vec<JudgedMemory>,
    /// The number of corrections in its prompt.
    pub corrections: u32,
    /// Memories that state what the person had to repeat, and that were not injected.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missed: Vec<String>,
    /// Memories injected in the turn before that state the opposite.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub misled: Vec<String>,
    /// Proposals created from the turn.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lessons: Vec<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum InjectionLogLine {
    Told(Injection),
    Came(TurnOutcome),
}

/// The log of one session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InjectionRecord {
    /// The injections, in order.
    pub injections: Vec<Injection>,
    /// The outcomes, by turn.
    pub outcomes: Vec<TurnOutcome>,
}

/// A prompt, and the injections until the next prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InjectedTurn<'a> {
    /// The injection at the prompt.
    pub prompt: &'a Injection,
    /// The injections before tool calls.
    pub tools: Vec<&'a Injection>,
}

impl InjectedTurn<'_> {
    /// The memories injected in the turn.
    pub fn shown_ids(&self) -> impl Iterator<Item = &str> {
        let tools = self.tools.iter().flat_map(|told| &told.shown);
        self.prompt.shown.iter().chain(tools).map(String::as_str)
    }
}

impl InjectionRecord {
    fn parse(text: &str) -> Self {
        let mut record = Self::default();
        for line in text.lines().filter_map(|line| serde_json::from_str(line).ok()) {
            match line {
                InjectionLogLine::Told(told) => record.injections.push(told),
                // A second outcome of the same turn comes from a repeated run.
                InjectionLogLine::Came(came)
                    if record.outcomes.iter().any(|known| known.turn == came.turn) => {}
                InjectionLogLine::Came(came) => record.outcomes.push(came),
            }
        }
        record
    }

    /// The memories injected since the last compaction.
    pub fn held_ids(&self) -> HashSet<String> {
        self.since_compaction().flat_map(|told| told.shown.iter().cloned()).collect()
    }

    /// True if the session has everything that always loads.
    pub fn has_briefing(&self) -> bool {
        self.since_compaction().any(|told| told.whole)
    }

    fn since_compaction(&self) -> impl Iterator<Item = &Injection> {
        let from = self
            .injections
            .iter()
            .rposition(|told| told.what == InjectionMoment::LetGo)
            .map_or(0, |at| at + 1);
        self.injections[from..].iter()
    }

    /// The turns in order.
    pub fn turns(&self) -> Vec<InjectedTurn<'_>> {
        let mut turns: Vec<InjectedTurn<'_>> = Vec::new();
        for injection in &self.injections {
            match (injection.what, turns.last_mut()) {
                (InjectionMoment::Prompt, _) => {
                    turns.push(InjectedTurn { prompt: injection, tools: Vec::new() });
                }
                (InjectionMoment::Tool, Some(turn)) => turn.tools.push(injection),
                _ => {}
            }
        }
        turns
    }

    /// The outcome of a turn.
    pub fn turn_outcome(&self, turn: &str) -> Option<&TurnOutcome> {
        self.outcomes.iter().find(|came| came.turn == turn)
    }

    /// The turns that need an outcome and have none yet, as indices into [`turns`](Self::turns).
    pub fn unjudged_turns(&self) -> Vec<usize> {
        let turns = self.turns();
        let waits = |turn: &InjectedTurn<'_>| {
            (turn.prompt.corrects || turn.prompt.asks || turn.shown_ids().next().is_some())
                && self.turn_outcome(&turn.prompt.turn).is_none()
        };
        turns.iter().enumerate().filter(|(_, turn)| waits(turn)).map(|(at, _)| at).collect()
    }

    /// True if the session belongs to the control group without recall.
    pub fn is_held_out(&self) -> bool {
        self.injections.iter().any(|told| told.held_out)
    }
}

fn folder(places: &DataPaths) -> PathBuf {
    places.sessions().join("told")
}

fn file(places: &DataPaths, session: &str) -> PathBuf {
    folder(places).join(format!("{}.jsonl", ContentHash::of_bytes(session.as_bytes()).short_hex(24)))
}

fn read_file(path: &Path) -> Option<InjectionRecord> {
    let fits = std::fs::metadata(path).ok()?.len() <= MAX_BYTES;
    let text = fits.then(|| std::fs::read(path).ok()).flatten()?;
    Some(InjectionRecord::parse(&String::from_utf8_lossy(&text)))
}

/// Reads the log of a session; empty if there is none.
pub fn read(places: &DataPaths, session: &str) -> InjectionRecord {
    read_file(&file(places, session)).unwrap_or_default()
}

/// Reads the logs of all sessions.
pub fn all_records(places: &DataPaths) -> Vec<InjectionRecord> {
    let files = std::fs::read_dir(folder(places)).into_iter().flatten().flatten();
    files.filter_map(|file| read_file(&file.path())).collect()
}

/// Lists the ids of the sessions with a log.
pub fn sessions(places: &DataPaths) -> Vec<String> {
    all_records(places).iter().filter_map(|record| Some(record.injections.first()?.session.clone())).collect()
}

/// Appends an injection without a sync: a lost line costs a repetition at worst.
pub fn note(places: &DataPaths, injection: Injection) -> io::Result<()> {
    let (session, line) = (injection.session.clone(), InjectionLogLine::Told(injection));
    add(places, &session, &line, false)
}

/// Appends a compaction: earlier injections may be gone from the agent's context.
pub fn record_compaction(places: &DataPaths, agent: Agent, session: &str, at: Timestamp) -> io::Result<()> {
    if !file(places, session).exists() {
        return Ok(());
    }
    note(places, Injection::new(InjectionMoment::LetGo, agent, session, at))
}

/// Appends the outcome of a turn, once.
pub fn record_outcome(places: &DataPaths, session: &str, outcome: &TurnOutcome) -> io::Result<()> {
    if read(places, session).turn_outcome(&outcome.turn).is_some() {
        return Ok(());
    }
    add(places, session, &InjectionLogLine::Came(outcome.clone()), true)
}

fn add(places: &DataPaths, session: &str, line: &InjectionLogLine, durable: bool) -> io::Result<()> {
    disk::create_private_folder(&folder(places))?;
    let text = serde_json::to_string(line)?;
    LineFile::open(&file(places, session))?.append(&format!("{text}\n"), durable)
}

/// Deletes the logs of inactive sessions and returns their number.
pub fn remove_old_files(places: &DataPaths, now: Timestamp) -> io::Result<u64> {
    let mut swept = 0;
    for file in std::fs::read_dir(folder(places)).into_iter().flatten() {
        let file = file?;
        let written = file.metadata()?.modified()?;
        let since = written.duration_since(std::time::UNIX_EPOCH).unwrap_or_default().as_secs();
        let now = u64::try_from(now.as_second()).unwrap_or(0);
        if now.saturating_sub(since) > KEEP_DAYS * 86_400 {
            disk::remove(&file.path())?;
            swept += 1;
        }
    }
    Ok(swept)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(what: InjectionMoment, second: i64, shown: &[&str]) -> Injection {
        let at = Timestamp::from_second(second).unwrap();
        let shown = shown.iter().map(|id| (*id).to_owned()).collect();
        Injection { shown, ..Injection::new(what, Agent::Claude, "s", at) }
    }

    #[test]
    fn a_sessions_context_restarts_after_a_compaction() {
        let record = InjectionRecord {
            injections: vec![
                told(InjectionMoment::Prompt, 1, &["a"]),
                told(InjectionMoment::LetGo, 2, &[]),
                told(InjectionMoment::Prompt, 3, &["b"]),
                told(InjectionMoment::Tool, 4, &["c"]),
            ],
            outcomes: Vec::new(),
        };
        assert_eq!(record.held_ids(), HashSet::from(["b".to_owned(), "c".to_owned()]));
        assert_eq!(record.unjudged_turns(), [0, 1], "what is gone from the session is judged all the same");
        assert_eq!(record.turns()[1].shown_ids().collect::<Vec<_>>(), ["b", "c"]);
    }

    #[test]
    fn a_line_that_is_none_harms_no_other() {
        let line =
            serde_json::to_string(&InjectionLogLine::Told(told(InjectionMoment::Prompt, 1, &["a"]))).unwrap();
        let came = serde_json::to_string(&InjectionLogLine::Came(TurnOutcome {
            turn: told(InjectionMoment::Prompt, 1, &[]).turn,
            ..TurnOutcome::default()
        }));
        let text = format!("m-old-line\n{line}\n{{\n{0}\n{0}\n", came.unwrap());
        let record = InjectionRecord::parse(&text);
        assert_eq!(
            (record.injections.len(), record.outcomes.len(), record.unjudged_turns().len()),
            (1, 1, 0)
        );
    }
}
