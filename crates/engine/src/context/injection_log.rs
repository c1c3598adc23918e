//! What a session was told, and what came of it: a file of lines per session. Hooks add what they put in front of the agent,
//! the worker adds what the turn made of it (FBK-01). It serves "not twice", feedback and `rekindle inspect --session`;
//! names of memories are in it, and no text of theirs beyond the few words that a verdict rests on.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

use rekindle_core::base::agent::Agent;
use rekindle_core::base::hash::ContentHash;
use rekindle_core::base::time::Timestamp;
use rekindle_core::knowledge::feedback::Judged;
use serde::{Deserialize, Serialize};

use crate::platform::disk::{self, Lines};
use crate::platform::home::Places;

/// Files of sessions that nothing was added to for so many days go.
const KEEP_DAYS: u64 = 90;
/// A longer file is not one of ours.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// At which moment something was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum What {
    /// The session began: the briefing.
    Start,
    /// The person said something.
    Prompt,
    /// The agent was about to change a file or run a command.
    Tool,
    /// The session was summarised: what it was told so far may be gone.
    LetGo,
}

/// What was told at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Told {
    /// When.
    pub at: Timestamp,
    /// At which moment.
    pub what: What,
    /// Whose session.
    pub agent: Agent,
    /// Which.
    pub session: String,
    /// Names the turn that begins here.
    pub turn: String,
    /// The prompt's fingerprint, by which it is found in the transcript.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// The memories that recall chose.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub chosen: Vec<String>,
    /// Those of them that the agent was shown: in the block, and in time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shown: Vec<String>,
    /// About how many tokens that were.
    #[serde(default)]
    pub tokens: u64,
    /// Whether a briefing held everything that always loads.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub whole: bool,
    /// Whether the session is one of those that are left without recall, to compare.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub held_out: bool,
    /// Whether the prompt sounds as if it puts something right.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub corrects: bool,
    /// True if the prompt asks for something to be remembered.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub asks: bool,
}

impl Told {
    /// Nothing yet, at this moment of a session.
    pub fn new(what: What, agent: Agent, session: &str, at: Timestamp) -> Self {
        let moment = at.as_nanosecond().to_string();
        let turn = ContentHash::of_parts(&[b"turn", session.as_bytes(), moment.as_bytes()]).short(16);
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

/// What a turn made of what it was told.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Outcome {
    /// Which turn.
    pub turn: String,
    /// About each memory that stood in front of it.
    pub judged: Vec<Judged>,
    /// How many things the person put right with its prompt.
    pub corrections: u32,
    /// Memories that say what had to be said again, and were not there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missed: Vec<String>,
    /// Memories that stood in front of the turn before and say the opposite.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub misled: Vec<String>,
    /// The proposals that came of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lessons: Vec<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Line {
    Told(Told),
    Came(Outcome),
}

/// Everything that a session was told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// In the order in which it was told.
    pub told: Vec<Told>,
    /// What came of it, by turn.
    pub came: Vec<Outcome>,
}

/// A prompt, and what was told until the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn<'a> {
    /// The prompt.
    pub prompt: &'a Told,
    /// What was told before tools ran.
    pub tools: Vec<&'a Told>,
}

impl Turn<'_> {
    /// The memories that were shown in it.
    pub fn shown(&self) -> impl Iterator<Item = &str> {
        let tools = self.tools.iter().flat_map(|told| &told.shown);
        self.prompt.shown.iter().chain(tools).map(String::as_str)
    }
}

impl Record {
    fn parse(text: &str) -> Self {
        let mut record = Self::default();
        for line in text.lines().filter_map(|line| serde_json::from_str(line).ok()) {
            match line {
                Line::Told(told) => record.told.push(told),
                // The same turn again is the same run again.
                Line::Came(came) if record.came.iter().any(|known| known.turn == came.turn) => {}
                Line::Came(came) => record.came.push(came),
            }
        }
        record
    }

    /// What the session has: the memories since it was last summarised.
    pub fn held(&self) -> HashSet<String> {
        self.since_let_go().flat_map(|told| told.shown.iter().cloned()).collect()
    }

    /// Whether it has everything that always loads.
    pub fn is_briefed(&self) -> bool {
        self.since_let_go().any(|told| told.whole)
    }

    fn since_let_go(&self) -> impl Iterator<Item = &Told> {
        let from = self.told.iter().rposition(|told| told.what == What::LetGo).map_or(0, |at| at + 1);
        self.told[from..].iter()
    }

    /// The turns, in order.
    pub fn turns(&self) -> Vec<Turn<'_>> {
        let mut turns: Vec<Turn<'_>> = Vec::new();
        for told in &self.told {
            match (told.what, turns.last_mut()) {
                (What::Prompt, _) => turns.push(Turn { prompt: told, tools: Vec::new() }),
                (What::Tool, Some(turn)) => turn.tools.push(told),
                _ => {}
            }
        }
        turns
    }

    /// What came of a turn.
    pub fn outcome(&self, turn: &str) -> Option<&Outcome> {
        self.came.iter().find(|came| came.turn == turn)
    }

    /// The turns that something is to be said about, and nothing was said yet: places in [`turns`](Self::turns).
    pub fn waiting(&self) -> Vec<usize> {
        let turns = self.turns();
        let waits = |turn: &Turn<'_>| {
            (turn.prompt.corrects || turn.prompt.asks || turn.shown().next().is_some())
                && self.outcome(&turn.prompt.turn).is_none()
        };
        turns.iter().enumerate().filter(|(_, turn)| waits(turn)).map(|(at, _)| at).collect()
    }

    /// Whether recall was off in it, to compare.
    pub fn held_out(&self) -> bool {
        self.told.iter().any(|told| told.held_out)
    }
}

fn folder(places: &Places) -> PathBuf {
    places.sessions().join("told")
}

fn file(places: &Places, session: &str) -> PathBuf {
    folder(places).join(format!("{}.jsonl", ContentHash::of(session.as_bytes()).short(24)))
}

fn read_file(path: &Path) -> Option<Record> {
    let fits = std::fs::metadata(path).ok()?.len() <= MAX_BYTES;
    let text = fits.then(|| std::fs::read(path).ok()).flatten()?;
    Some(Record::parse(&String::from_utf8_lossy(&text)))
}

/// What a session was told; nothing if it was told nothing.
pub fn read(places: &Places, session: &str) -> Record {
    read_file(&file(places, session)).unwrap_or_default()
}

/// What every session was told that is still known.
pub fn all(places: &Places) -> Vec<Record> {
    let files = std::fs::read_dir(folder(places)).into_iter().flatten().flatten();
    files.filter_map(|file| read_file(&file.path())).collect()
}

/// The ids of these sessions.
pub fn sessions(places: &Places) -> Vec<String> {
    all(places).iter().filter_map(|record| Some(record.told.first()?.session.clone())).collect()
}

/// Notes what was told. Not synced: what is lost is said twice at worst.
pub fn note(places: &Places, told: Told) -> io::Result<()> {
    let (session, line) = (told.session.clone(), Line::Told(told));
    add(places, &session, &line, false)
}

/// Notes that what the session was told may be gone.
pub fn let_go(places: &Places, agent: Agent, session: &str, at: Timestamp) -> io::Result<()> {
    if !file(places, session).exists() {
        return Ok(());
    }
    note(places, Told::new(What::LetGo, agent, session, at))
}

/// Notes what came of a turn, once.
pub fn came(places: &Places, session: &str, outcome: &Outcome) -> io::Result<()> {
    if read(places, session).outcome(&outcome.turn).is_some() {
        return Ok(());
    }
    add(places, session, &Line::Came(outcome.clone()), true)
}

fn add(places: &Places, session: &str, line: &Line, durable: bool) -> io::Result<()> {
    disk::make_folder(&folder(places))?;
    let text = serde_json::to_string(line)?;
    Lines::open(&file(places, session))?.append(&format!("{text}\n"), durable)
}

/// Removes what sessions were told long ago. Says how many.
pub fn sweep(places: &Places, now: Timestamp) -> io::Result<u64> {
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

    fn told(what: What, second: i64, shown: &[&str]) -> Told {
        let at = Timestamp::from_second(second).unwrap();
        let shown = shown.iter().map(|id| (*id).to_owned()).collect();
        Told { shown, ..Told::new(what, Agent::Claude, "s", at) }
    }

    #[test]
    fn what_a_session_has_is_what_it_was_told_since_it_was_summarised() {
        let record = Record {
            told: vec![
                told(What::Prompt, 1, &["a"]),
                told(What::LetGo, 2, &[]),
                told(What::Prompt, 3, &["b"]),
                told(What::Tool, 4, &["c"]),
            ],
            came: Vec::new(),
        };
        assert_eq!(record.held(), HashSet::from(["b".to_owned(), "c".to_owned()]));
        assert_eq!(record.waiting(), [0, 1], "what is gone from the session is judged all the same");
        assert_eq!(record.turns()[1].shown().collect::<Vec<_>>(), ["b", "c"]);
    }

    #[test]
    fn a_line_that_is_none_harms_no_other() {
        let line = serde_json::to_string(&Line::Told(told(What::Prompt, 1, &["a"]))).unwrap();
        let came = serde_json::to_string(&Line::Came(Outcome {
            turn: told(What::Prompt, 1, &[]).turn,
            ..Outcome::default()
        }));
        let text = format!("m-old-line\n{line}\n{{\n{0}\n{0}\n", came.unwrap());
        let record = Record::parse(&text);
        assert_eq!((record.told.len(), record.came.len(), record.waiting().len()), (1, 1, 0));
    }
}
