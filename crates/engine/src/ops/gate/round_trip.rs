//! The way of a random fact through the hooks of one agent: captured, distilled, recalled in the next session,
//! superseded by a new value, and forgotten (O11-09).

use std::ffi::OsStr;
use std::io;
use std::time::{Duration, Instant};

use jiff::SignedDuration;
use rekindle_core::base::agent::Agent;
use rekindle_core::base::time::TimeZone;
use rekindle_core::hosts::hook::HookKind;
use rekindle_core::hosts::rehearsal::RehearsedSession;
use rekindle_core::run::RunStatus;
use rekindle_core::telemetry::gate::{GateFailure, GatePart, GateStep};
use rekindle_core::vault::layout::VaultShelf;
use rekindle_core::vault::path::VaultPath;
use serde_json::{Value, json};

use super::scratch::ScratchHome;
use super::{GateRequest, leftovers, poll_until};
use crate::agents::hook_log;
use crate::agents::install::InstalledCommand;
use crate::jobs::queue::{RunFilter, RunQueue, RunRecord};
use crate::jobs::spool::Spool;
use crate::platform::clock;
use crate::platform::db::Database;
use crate::platform::disk;
use crate::platform::random;
use crate::vault::Vault;

/// The longest wait for a command that the gate runs itself.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(60);
/// The number of syllables of a random word: a billion words, none of them in a note.
const SYLLABLES: usize = 4;
const CONSONANTS: &[u8] = b"bdfgklmnprstvz";
const VOWELS: &[u8] = b"aeiou";

/// A fact that nobody else knows, with its first and its second value.
#[derive(Clone, Debug)]
pub(super) struct RandomFact {
    /// The name of the thing that it is about.
    subject: String,
    old: String,
    new: String,
}

impl RandomFact {
    pub(super) fn new() -> io::Result<Self> {
        let [number, other, ..] = random::bytes::<2>()?;
        // A value needs a number, so that a newer one is known to be another value of the same thing.
        let value = |number: u8| Ok::<_, io::Error>(format!("{}-{}", word()?, 10 + number % 90));
        let mut subject = word()?;
        subject[..1].make_ascii_uppercase();
        Ok(Self { subject, old: value(number)?, new: value(other)? })
    }

    /// The bytes that show a trace of it.
    pub(super) fn needles(&self) -> [&[u8]; 2] {
        [self.old.as_bytes(), self.new.as_bytes()]
    }

    fn statement(&self) -> String {
        format!("Remember that the {} database runs on host {}.", self.subject, self.old)
    }

    fn correction(&self) -> String {
        format!("The {} database runs on host {} now.", self.subject, self.new)
    }

    fn question(&self) -> String {
        format!("Which host does the {} database run on?", self.subject)
    }
}

fn word() -> io::Result<String> {
    let random = random::bytes::<{ 2 * SYLLABLES }>()?;
    let letter = |letters: &[u8], byte: u8| char::from(letters[usize::from(byte) % letters.len()]);
    Ok(random.chunks(2).flat_map(|pair| [letter(CONSONANTS, pair[0]), letter(VOWELS, pair[1])]).collect())
}

/// What a session was told, and at which hook.
#[derive(Default)]
struct Told {
    text: String,
    at: Vec<String>,
}

/// The round trip of one agent.
pub(super) struct RoundTrip<'a> {
    agent: Agent,
    hooks: Vec<InstalledCommand>,
    fact: RandomFact,
    scratch: &'a ScratchHome,
    request: &'a GateRequest<'a>,
    sessions: usize,
    /// The id of the first run that captured the session.
    run: Option<String>,
    entries_before: usize,
    entries_after: usize,
    recall: Option<(bool, usize)>,
}

impl<'a> RoundTrip<'a> {
    pub(super) fn new(
        agent: Agent,
        hooks: Vec<InstalledCommand>,
        fact: RandomFact,
        scratch: &'a ScratchHome,
        request: &'a GateRequest<'a>,
    ) -> Self {
        Self {
            agent,
            hooks,
            fact,
            scratch,
            request,
            sessions: 0,
            run: None,
            entries_before: 0,
            entries_after: 0,
            recall: None,
        }
    }

    /// Takes the steps until one fails, and returns them with the numbers.
    pub(super) fn run(mut self) -> (Vec<GateStep>, Option<Value>) {
        type Step = (&'static str, fn(&mut RoundTrip<'_>) -> Result<String, GateFailure>);
        const STEPS: [Step; 5] = [
            ("captured", |trip| trip.capture()),
            ("distilled", |trip| trip.distil()),
            ("recalled", |trip| trip.recall()),
            ("superseded", |trip| trip.supersede()),
            ("forgotten", |trip| trip.forget()),
        ];
        let began = Instant::now();
        let mut steps = Vec::new();
        for (step, take) in STEPS {
            let began = Instant::now();
            let outcome = match take(&mut self) {
                Ok(evidence) => GateStep::passed(GatePart::E2e, step, evidence),
                Err(failure) => GateStep::failed(GatePart::E2e, step, failure),
            };
            let failed = outcome.failure.is_some();
            steps.push(GateStep { seconds: seconds(began), ..outcome });
            if failed {
                break;
            }
        }
        let numbers = json!({
            "agent": self.agent,
            "ok": steps.iter().all(|step| step.failure.is_none()),
            "runId": self.run,
            "countBefore": self.entries_before,
            "countAfter": self.entries_after,
            "hitCount": self.recall.map(|(_, hits)| hits),
            "recallExitCode": self.recall.map(|(ok, _)| if ok { 0 } else { 1 }),
            "seconds": seconds(began),
        });
        (steps, Some(numbers))
    }

    fn capture(&mut self) -> Result<String, GateFailure> {
        self.entries_before = self.statements().len();
        let statement = self.fact.statement();
        let session = self.play(&statement)?;
        self.run_worker_by_hand()?;
        let captured = |run: &RunRecord| run.function == "capture" && run.status == RunStatus::Completed;
        let found = poll_until(self.request, || self.runs(&session).into_iter().find(captured));
        let Some(run) = found else {
            return Err(self.stuck("the session was not captured", &session));
        };
        let evidence = format!("a session of {} hooks, run {}", self.hooks.len(), run.id);
        self.run = Some(run.id);
        Ok(evidence)
    }

    fn distil(&mut self) -> Result<String, GateFailure> {
        let found = poll_until(self.request, || self.statement_with(&self.fact.old));
        let Some(path) = found else {
            let session = self.session_id(self.sessions);
            return Err(self.stuck("no memory was made of it", &session));
        };
        self.entries_after = self.statements().len();
        Ok(format!("{} before, {} after, as {}", self.entries_before, self.entries_after, kind_of(&path)))
    }

    fn recall(&mut self) -> Result<String, GateFailure> {
        let (old, new) = (self.fact.old.clone(), self.fact.new.clone());
        let at = self
            .ask_until("the next session was not told", |told| told.contains(&old) && !told.contains(&new))?;
        let question = self.fact.question();
        let answer = self.command(&["recall", &question, "--json"])?;
        let hits = answer["results"].as_array().map_or(0, Vec::len);
        self.recall = Some((true, hits));
        Ok(format!("at {at}; `rekindle recall` finds {hits}"))
    }

    fn supersede(&mut self) -> Result<String, GateFailure> {
        let correction = self.fact.correction();
        let session = self.play(&correction)?;
        self.run_worker_by_hand()?;
        let replaced =
            || self.statement_with(&self.fact.new).filter(|_| self.statement_with(&self.fact.old).is_none());
        if poll_until(self.request, replaced).is_none() {
            return Err(self.stuck("the new value did not take the place of the old one", &session));
        }
        let (old, new) = (self.fact.old.clone(), self.fact.new.clone());
        let what = "the next session was not told the new value alone";
        let at = self.ask_until(what, |told| told.contains(&new) && !told.contains(&old))?;
        Ok(format!("the new value comes back at {at}, the old one does not"))
    }

    fn forget(&mut self) -> Result<String, GateFailure> {
        let at_rest = || (!self.scratch.is_busy() && self.spool_is_empty()).then_some(());
        if self.request.config.capture.background {
            poll_until(self.request, at_rest);
        }
        let Some(path) = self.statement_with(&self.fact.new) else {
            return Err(self.failure("the memory is gone before it was forgotten", None));
        };
        self.command(&["forget", path.as_str(), "--yes", "--json"])?;
        let (old, new) = (self.fact.old.clone(), self.fact.new.clone());
        let told = self.ask()?;
        if told.text.contains(&old) || told.text.contains(&new) {
            return Err(self.failure("a session after it is still told", told.at.first().map(String::as_str)));
        }
        let folders =
            [self.scratch.places.notes(), self.scratch.places.state(), self.scratch.places.identity()];
        let trace =
            folders.into_iter().find_map(|folder| leftovers::find_in(folder, 0, &self.fact.needles()));
        match trace {
            None => Ok("no session is told, and no file holds it".to_owned()),
            Some(file) => {
                let name =
                    file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
                Err(self.failure(&format!("{name} still holds it"), None))
            }
        }
    }

    /// Plays a session in which the person says this, with as many prompts as the settings ask for.
    fn play(&mut self, words: &str) -> Result<String, GateFailure> {
        let mut session = self.next_session();
        let transcript = self.scratch.transcript(&session.id);
        self.call(HookKind::Start, &session)?;
        // Nothing of it may reach the real home, should a hook not heed where it is sent.
        let logs = self.scratch.places.logs_folder();
        if !hook_log::read(&logs).is_ok_and(|mut lines| lines.next().is_some()) {
            let event = self.event(HookKind::Start);
            let what = format!("the hook for {event} did nothing: no log line of it is where it was sent");
            return Err(GateFailure { what, hook: Some(event), next: self.install() });
        }
        // A single short prompt is dropped as a look-up unless the classifier finds a statement in it.
        let others = self.scratch.config.capture.min_user_messages.saturating_sub(1).max(1);
        let other = |number| {
            (format!("Please rename the file draft-{number}."), format!("Draft {number} has its new name."))
        };
        let prompts = (1..=others).map(other).chain(std::iter::once((words.to_owned(), "Noted.".to_owned())));
        for (prompt, answer) in prompts {
            session.add_turn(prompt, answer);
            self.call(HookKind::Prompt, &session)?;
            disk::write_atomic(&transcript, session.transcript().as_bytes()).map_err(|error| {
                self.failure(&format!("the transcript could not be written: {error}"), None)
            })?;
            self.call(HookKind::Stop, &session)?;
        }
        self.call(HookKind::End, &session)?;
        Ok(session.id)
    }

    /// Begins sessions and asks, until `is_right` holds for what they are told. Returns the hook.
    fn ask_until(&mut self, what: &str, is_right: impl Fn(&str) -> bool) -> Result<String, GateFailure> {
        let deadline = Instant::now() + self.request.wait;
        loop {
            let told = self.ask()?;
            if is_right(&told.text) {
                return Ok(told.at.join(" and "));
            }
            if Instant::now() >= deadline {
                let session = self.session_id(self.sessions);
                let prompt = self.event(HookKind::Prompt);
                let failure = self.failure(&format!("{what}{}", self.hook_detail(&session)), Some(&prompt));
                return Err(failure);
            }
            std::thread::sleep(self.request.poll);
        }
    }

    /// Begins a session and asks for the fact.
    fn ask(&mut self) -> Result<Told, GateFailure> {
        let mut session = self.next_session();
        let mut told = Told::default();
        self.hear(HookKind::Start, &session, &mut told)?;
        session.add_turn(self.fact.question(), "");
        self.hear(HookKind::Prompt, &session, &mut told)?;
        Ok(told)
    }

    fn hear(&self, kind: HookKind, session: &RehearsedSession, told: &mut Told) -> Result<(), GateFailure> {
        let answer = self.call(kind, session)?;
        let context = answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default();
        if self.fact.needles().iter().any(|value| context.contains(&*String::from_utf8_lossy(value))) {
            told.at.push(self.event(kind));
        }
        told.text.push_str(context);
        told.text.push('\n');
        Ok(())
    }

    /// Calls the hook of an event, and returns what it printed.
    fn call(&self, kind: HookKind, session: &RehearsedSession) -> Result<Value, GateFailure> {
        let event = self.event(kind);
        let Some(hook) = self.hooks.iter().find(|hook| hook.event == event) else {
            let what = format!("there is no hook for {event}");
            return Err(GateFailure { what, hook: Some(event), next: self.install() });
        };
        let transcript = self.scratch.transcript(&session.id);
        let input = session.hook_input(&event, &transcript.to_string_lossy());
        let answer = hook.call(&input.to_string(), self.scratch.environment());
        match answer.problem {
            None => Ok(answer.output),
            Some(problem) => {
                let what = format!("the hook for {event}: {problem}");
                Err(GateFailure { what, hook: Some(event), next: self.install() })
            }
        }
    }

    /// Runs a command of the program that the hooks call.
    fn command(&self, arguments: &[&str]) -> Result<Value, GateFailure> {
        let program = self.hooks.first().map_or(self.request.program, |hook| hook.program.as_str());
        let command = InstalledCommand::of_program(program, self.request.home.root(), arguments);
        let answer = command.call_within(COMMAND_TIMEOUT, "", self.scratch.environment());
        match answer.problem {
            None => Ok(answer.output),
            Some(problem) => {
                Err(self
                    .failure(&format!("`rekindle {}`: {problem}", arguments.first().unwrap_or(&"")), None))
            }
        }
    }

    /// With `capture.background = false` the person runs the worker.
    fn run_worker_by_hand(&self) -> Result<(), GateFailure> {
        match self.request.config.capture.background {
            true => Ok(()),
            false => self.command(&["worker", "--once", "--json"]).map(drop),
        }
    }

    fn next_session(&mut self) -> RehearsedSession {
        self.sessions += 1;
        // The last answer of a session must not lie in the future.
        let turns = i64::from(self.scratch.config.capture.min_user_messages.max(2));
        let started = clock::now(TimeZone::UTC).timestamp() - SignedDuration::from_secs(2 * turns);
        let project = self.scratch.project.to_string_lossy().into_owned();
        RehearsedSession::new(self.agent, self.session_id(self.sessions), project, started)
    }

    fn session_id(&self, number: usize) -> String {
        let subject = self.fact.subject.to_lowercase();
        format!("gate-{}-{subject}-{number}", self.agent)
    }

    /// The agent's own name of an event.
    fn event(&self, kind: HookKind) -> String {
        let is_it = |hook: &&InstalledCommand| HookKind::from_event(self.agent, &hook.event) == Some(kind);
        self.hooks.iter().find(is_it).map_or_else(|| format!("{kind:?}"), |hook| hook.event.clone())
    }

    /// The memories of the scratch vault that the person said, without the inbox and the archive.
    fn statements(&self) -> Vec<VaultPath> {
        let Ok(scan) = Vault::open(&self.scratch.places).and_then(|vault| vault.scan(false)) else {
            return Vec::new();
        };
        let entries = scan.entries.into_iter();
        entries.filter(|found| matches!(found.shelf, VaultShelf::Entry(_))).map(|found| found.path).collect()
    }

    fn statement_with(&self, value: &str) -> Option<VaultPath> {
        let vault = Vault::open(&self.scratch.places).ok()?;
        let says =
            |path: &VaultPath| vault.read_entry(path).is_ok_and(|note| body(&note.text).contains(value));
        self.statements().into_iter().find(says)
    }

    fn runs(&self, session: &str) -> Vec<RunRecord> {
        let filter = RunFilter { session: Some(session.to_owned()), ..RunFilter::default() };
        let Ok(Some(db)) = Database::open_existing(&self.scratch.places.database()) else {
            return Vec::new();
        };
        RunQueue::new(db).history(&filter).unwrap_or_default()
    }

    fn spool_is_empty(&self) -> bool {
        let spool = Spool::in_folder(self.scratch.places.spool_folder());
        spool.oldest_files(1).is_ok_and(|files| files.is_empty())
    }

    /// The failure of a stage after the hooks, with what is known about it.
    fn stuck(&self, what: &str, session: &str) -> GateFailure {
        let waited = format!(" within {:.0} s", self.request.wait.as_secs_f64());
        let mut runs = self.runs(session);
        runs.reverse();
        let failed = runs.iter().find_map(|run| {
            let error = run.error.as_ref().or(run.reason.as_ref())?;
            Some(format!(": {} says {error}", run.function))
        });
        let unread =
            (!self.spool_is_empty()).then(|| ": no worker took in what the hooks reported".to_owned());
        let detail = unread.or(failed).unwrap_or_else(|| self.hook_detail(session));
        let event = self.event(HookKind::End);
        let next = "`rekindle worker` says what stops it".to_owned();
        GateFailure { what: format!("{what}{waited}{detail}"), hook: Some(event), next }
    }

    /// What a hook of a session wrote about its own failure, as the end of a sentence.
    fn hook_detail(&self, session: &str) -> String {
        let logs = self.scratch.places.logs_folder();
        let Ok(mut lines) = hook_log::read(&logs) else { return String::new() };
        let detail = lines.find_map(|line| {
            let is_of_session = line["session"] == session && line["result"] != "success";
            Some((line["hook"].as_str()?.to_owned(), line["detail"].as_str()?.to_owned()))
                .filter(|_| is_of_session)
        });
        detail.map_or_else(String::new, |(hook, detail)| format!(": {hook} says {detail}"))
    }

    fn failure(&self, what: &str, hook: Option<&str>) -> GateFailure {
        let next = "`rekindle doctor` checks the installation".to_owned();
        GateFailure { what: what.to_owned(), hook: hook.map(str::to_owned), next }
    }

    fn install(&self) -> String {
        format!("`rekindle install {}`", self.agent)
    }
}

/// The text of a note without its properties, whose links name older versions.
fn body(note: &str) -> &str {
    note.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n")).map_or(note, |(_, body)| body)
}

/// The kind folder of a memory.
fn kind_of(path: &VaultPath) -> &str {
    let mut folders = std::path::Path::new(path.as_str()).iter().rev().filter_map(OsStr::to_str);
    folders.nth(1).unwrap_or("memory")
}

fn seconds(since: Instant) -> f64 {
    (since.elapsed().as_secs_f64() * 1e3).round() / 1e3
}
