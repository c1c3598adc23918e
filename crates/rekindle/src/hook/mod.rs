//! `rekindle hook`: the command that agents call; it always exits 0, within a deadline.
//!
//! It prints only what the agent should see. A capture hook reads nothing but the settings and the agent's input.
//! [`deadline`] ends a hook in time.

mod deadline;

use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use clap::Args;
use rekindle_core::base::agent::Agent;
use rekindle_core::base::id::ChangeId;
use rekindle_core::base::ignore_failure::IgnoreFailure as _;
use rekindle_core::base::time::{TimeZone, format_utc};
use rekindle_core::config::LoadedConfig;
use rekindle_core::context::briefing::{Briefing, BriefingMoment};
use rekindle_core::context::inject::prompt_fingerprint;
use rekindle_core::hosts::hook;
use rekindle_core::hosts::hook::{GUARD_VARIABLE, HookKind, HookSignal, PROBE_VARIABLE};
use rekindle_core::knowledge::feedback::correction;
use rekindle_core::recall::rewrite::RewriteOutcome;
use rekindle_core::session::remember_requests;
use rekindle_core::telemetry::log_lines::{HitCounts, hook_event};
use rekindle_core::text::{clean_and_redact, fence, tokens};
use rekindle_engine::agents::hook_log;
use rekindle_engine::config;
use rekindle_engine::context::alerts;
use rekindle_engine::context::inject::{self, InjectionContext, RecallDepth};
use rekindle_engine::context::injection_log::{self, Injection, InjectionMoment};
use rekindle_engine::context::notices;
use rekindle_engine::jobs::hooks::{self, HookOutcome};
use rekindle_engine::platform::background;
use rekindle_engine::platform::clock;
use rekindle_engine::platform::environment;
use rekindle_engine::platform::home::{DataPaths, HomeFolder};
use rekindle_engine::platform::random;
use rekindle_engine::project;
use rekindle_engine::project::IdentifiedProject;
use rekindle_engine::recall::log::RecallLog;
use rekindle_engine::telemetry::ring::WarningRing;
use serde_json::{Map, Value, json};

use self::deadline::HookDeadline;
use crate::app::recall::recall_report;
use crate::options::GlobalOptions;

#[derive(Args)]
#[command(after_help = "\
Reads the agent's JSON from stdin and always exits 0, so that it never blocks the agent. Errors go to logs/hooks.jsonl in
the state folder.

Examples:
  echo '{\"session_id\":\"s1\",\"transcript_path\":\"/tmp/s1.jsonl\",\"reason\":\"exit\"}' | rekindle hook claude SessionEnd")]
pub(crate) struct HookArgs {
    /// The agent: claude, codex, gemini or pi
    agent: String,
    /// The event, as the agent calls it, such as SessionEnd
    event: String,
    /// Write down what a hook that ran out of time was sent, under this id
    #[arg(long, hide = true)]
    late: Option<String>,
}

/// Outcome of a hook, for the log.
struct HookReport {
    result: &'static str,
    detail: Option<String>,
    session: Option<String>,
    injected: usize,
    tokens: u64,
    hits: Option<HitCounts>,
}

impl HookReport {
    fn with_result(result: &'static str) -> Self {
        Self { result, detail: None, session: None, injected: 0, tokens: 0, hits: None }
    }

    fn failed(detail: impl std::fmt::Display) -> Self {
        Self { detail: Some(detail.to_string()), ..Self::with_result("error") }
    }
}

/// The text injected into the agent's context.
#[derive(Default)]
struct HookContext {
    context: String,
    /// One line for the person.
    line: String,
    /// The line for the person if there is nothing to inject.
    nudge: String,
    entries: usize,
    /// The ids that recall chose, and those in the context.
    chosen: Vec<String>,
    shown_ids: Vec<String>,
    /// True if a briefing contains every always-loaded entry.
    whole: bool,
    /// The arms that found the memories (O11-12).
    hits: Option<HitCounts>,
    /// The entry for the recall log.
    report: Option<Value>,
    failed: Option<String>,
}

type HookWork = Box<dyn FnOnce() -> HookContext + Send>;

/// A running lookup with its deadline.
struct DeferredLookup {
    receiver: Receiver<HookContext>,
    /// A smaller lookup to run if the first is slow.
    instead: Option<HookWork>,
    from: Instant,
    limit: Duration,
}

impl DeferredLookup {
    fn start(
        limit: Duration,
        work: impl FnOnce() -> HookContext + Send + 'static,
        instead: Option<HookWork>,
    ) -> Self {
        Self { receiver: begin(work), instead, from: Instant::now(), limit }
    }

    /// Waits for the result. After half of the time the smaller lookup starts beside the first; at the
    /// deadline the best available result is used.
    fn finish(self) -> HookContext {
        let left = |share: u32| (self.limit / share).saturating_sub(self.from.elapsed());
        let late =
            || HookContext { failed: Some("nothing was found in time".to_owned()), ..HookContext::default() };
        let Some(instead) = self.instead else {
            return self.receiver.recv_timeout(left(1)).unwrap_or_else(|_| late());
        };
        if let Ok(given) = self.receiver.recv_timeout(left(2)) {
            return given;
        }
        let smaller = begin(instead);
        if let Ok(given) = self.receiver.recv_timeout(left(1)) {
            return given;
        }
        match smaller.try_recv() {
            Ok(given) if given.failed.is_none() => {
                let failed = Some("there was time for the words of the notes only".to_owned());
                HookContext { failed, ..given }
            }
            _ => late(),
        }
    }
}

fn begin(work: impl FnOnce() -> HookContext + Send + 'static) -> Receiver<HookContext> {
    let (sender, found) = mpsc::channel();
    std::thread::spawn(move || sender.send(work()).unwrap_or_default());
    found
}

/// The folder of the log of hooks, and the line to append there.
type LogLine = (PathBuf, HookReport);

impl HookArgs {
    pub(crate) fn run(self, global: &GlobalOptions) {
        let began = Instant::now();
        // The agent runs on our behalf, so its hooks do nothing (B-04).
        if environment::raw_variable(GUARD_VARIABLE).is_some_and(|value| !value.is_empty()) {
            return;
        }
        let Ok(home) = HomeFolder::find(global.home.as_deref()) else { return };
        let done = match self.late.as_deref().map(ChangeId::parse) {
            Some(None) => return,
            Some(Some(id)) => self.guarded(&home, || self.finish_late(&home, global, &id)),
            None => {
                let Ok(id) = random::change_id(clock::now(TimeZone::UTC).timestamp()) else { return };
                let deadline = Arc::new(HookDeadline::start(&self.agent, &self.event, began, &id));
                let done = self.guarded(&home, || self.answer(&home, global, &deadline, &id));
                deadline.disarm();
                done
            }
        };
        let Some((logs, done)) = done else { return };
        let now = clock::now(TimeZone::UTC);
        let mut line = json!({
            "ts": format_utc(now.timestamp()),
            "hook": format!("{} {}", self.agent, self.event),
            "duration_ms": (began.elapsed().as_secs_f64() * 1e5).round() / 100.0,
            "result": done.result,
            "entries_injected": done.injected,
            "tokens_injected": done.tokens,
        });
        if let Value::Object(fields) = &mut line {
            if let Some(HitCounts { vec_hits, grep_hits, deduped_count }) = done.hits {
                let counts =
                    [("vec_hits", vec_hits), ("grep_hits", grep_hits), ("deduped_count", deduped_count)];
                fields.extend(counts.map(|(name, count)| (name.to_owned(), json!(count))));
            }
            fields.extend(done.session.map(|session| ("session".to_owned(), json!(session))));
            fields.extend(done.detail.map(|detail| ("detail".to_owned(), json!(detail))));
        }
        hook_log::append(&logs, &line).ignore_failure("the log is the place where it would be reported");
        // The worker folds the log into the table. A failure is also where a broken database cannot hide it.
        if let Some(event) = hook_event(&line).filter(|event| event.level.is_mirrored()) {
            WarningRing::in_folder(&logs).append(&event).ignore_failure("the hook log has it");
        }
    }

    /// Runs `work` and turns a panic into a log line.
    fn guarded(&self, home: &HomeFolder, work: impl FnOnce() -> Option<LogLine>) -> Option<LogLine> {
        catch_unwind(AssertUnwindSafe(work))
            .unwrap_or_else(|_| Some((home.root().join("state").join("logs"), panicked())))
    }

    /// Finds the folders and the settings. `Err` holds the log line instead, or `None` if nothing may be
    /// written.
    fn set_up(
        &self,
        home: &HomeFolder,
        global: &GlobalOptions,
    ) -> Result<(DataPaths, LoadedConfig), Option<Box<LogLine>>> {
        let cwd = std::env::current_dir().ok();
        let person = environment::home_folder();
        let place = cwd.as_deref().and_then(|cwd| project::locate(cwd, person.as_deref()));
        let root = place.as_ref().map(|place| place.root.as_path());
        let fallback = home.root().join("state").join("logs");
        let settings = match config::read(home, root, &global.settings) {
            Ok(settings) => settings,
            Err(error) => return Err(Some(Box::new((fallback, HookReport::failed(error))))),
        };
        let places = match home.data_paths(&settings.config) {
            Ok(places) => places,
            Err(error) => return Err(Some(Box::new((fallback, HookReport::failed(error))))),
        };
        // The kill switches forbid even a log line (OPS-03, EXE-16).
        match !settings.config.memory.enabled || places.stop_file().exists() {
            true => Err(None),
            false => Ok((places, settings)),
        }
    }

    /// Parses the agent's input; `Err` holds the log line instead.
    fn signal(&self, input: &[u8]) -> Result<HookSignal, HookReport> {
        let Ok(agent) = self.agent.parse::<Agent>() else {
            return Err(HookReport::failed(format!("`{}` is not an agent", self.agent)));
        };
        let Some(kind) = HookKind::from_event(agent, &self.event) else {
            return Err(HookReport::with_result("ignored"));
        };
        hook::read(agent, kind, input).map_err(HookReport::failed)
    }

    /// Writes the input of a hook that ran out of time.
    fn finish_late(&self, home: &HomeFolder, global: &GlobalOptions, id: &ChangeId) -> Option<LogLine> {
        background::detach();
        let input = deadline::read_value(&mut std::io::stdin().lock());
        let (places, settings) = match self.set_up(home, global) {
            Ok(found) => found,
            Err(instead) => return instead.map(|line| *line),
        };
        let logs = places.logs_folder();
        let signal = match input.map_err(HookReport::failed).and_then(|input| self.signal(&input)) {
            Ok(signal) => signal,
            Err(result) => return Some((logs, result)),
        };
        if environment::raw_variable(PROBE_VARIABLE).is_some_and(|value| !value.is_empty()) {
            return None;
        }
        let written = write_down(home, &places, &settings, signal, id);
        let late = || "the disk was slow: written after the agent went on".to_owned();
        let result = match written.result {
            "success" => HookReport { result: "partial", detail: Some(late()), ..written },
            _ => written,
        };
        Some((logs, result))
    }

    /// Handles the event and returns its log line; `None` if nothing may be written.
    fn answer(
        &self,
        home: &HomeFolder,
        global: &GlobalOptions,
        deadline: &Arc<HookDeadline>,
        id: &ChangeId,
    ) -> Option<LogLine> {
        let input = deadline.input();
        let (places, settings) = match self.set_up(home, global) {
            Ok(found) => found,
            Err(instead) => return instead.map(|line| *line),
        };
        let logs = places.logs_folder();
        let input = match input.recv_timeout(deadline.remaining()) {
            Ok(Ok(input)) => input,
            Ok(Err(error)) => return Some((logs, HookReport::failed(error))),
            Err(_) => return Some((logs, HookReport::failed("the agent sent no whole JSON in time"))),
        };
        let signal = match self.signal(&input) {
            Ok(signal) => signal,
            Err(result) => return Some((logs, result)),
        };
        if environment::raw_variable(PROBE_VARIABLE).is_some_and(|value| !value.is_empty()) {
            return None;
        }
        let (agent, session) = (signal.agent, signal.session.clone());
        let now = clock::now(TimeZone::UTC).timestamp();
        if !hooks::is_first_call(&places, &signal, now) {
            let detail = Some("another hook of ours was called for the same".to_owned());
            return Some((
                logs,
                HookReport { session: Some(session), detail, ..HookReport::with_result("ignored") },
            ));
        }
        let (lookup, injection) = start_lookup(&signal, home, &places, &settings, deadline.remaining());
        let notices = [
            notices::take_notice(&places, &signal, &input),
            notices::claim(&places, &signal, &input),
            alerts::take_line(&places, &signal, &input, now),
        ];
        let notice = notices.into_iter().flatten().reduce(|all, next| format!("{all}\n{next}"));
        let write = {
            let (home, places, settings) = (home.clone(), places.clone(), settings.clone());
            let (deadline, id) = (Arc::clone(deadline), id.clone());
            move || {
                let written = write_down(&home, &places, &settings, signal, &id);
                deadline.disarm();
                written
            }
        };
        let Some(lookup) = lookup else {
            self.print_context(agent, &HookContext::default(), notice.as_deref());
            if let Some(injection) = injection {
                note(&places, HookContext::default(), Some(injection), 0);
            }
            return Some((logs, write()));
        };
        // A slow write must not delay the answer.
        let writing = std::thread::spawn(write);
        let given = lookup.finish();
        let (injected, tokens) = (given.entries, tokens::estimate_tokens(&given.context));
        let hits = given.hits;
        let missed = given.failed.clone();
        self.print_context(agent, &given, notice.as_deref());
        note(&places, given, injection, tokens);
        let mut result =
            HookReport { injected, tokens, hits, ..writing.join().unwrap_or_else(|_| panicked()) };
        if let Some(why) = missed.filter(|_| result.result == "success") {
            (result.result, result.detail) = ("partial", Some(why));
        }
        Some((logs, result))
    }

    /// Prints the answer for the agent and the message for the person: every agent shows `systemMessage` on
    /// the screen and keeps it from its model. A failed write is ignored, because then nobody reads the
    /// output.
    fn print_context(&self, agent: Agent, given: &HookContext, notice: Option<&str>) {
        let mut answer = Map::new();
        if !given.context.is_empty() {
            let specific = json!({"hookEventName": self.event, "additionalContext": given.context});
            answer.insert("hookSpecificOutput".to_owned(), specific);
        }
        // Codex shows it as a warning, so a loading line or a nudge is left out there (BRF-07).
        let loaded = if given.context.is_empty() { &given.nudge } else { &given.line };
        let loaded = (agent != Agent::Codex).then_some(loaded.as_str());
        let lines = loaded.into_iter().chain(notice).filter(|line| !line.is_empty());
        // The line names memories. It goes to a terminal, and a later version of a host may pass it to its
        // model, so it is redacted and fenced.
        let lines: Vec<String> =
            lines.map(|line| fence::neutralise(&clean_and_redact(line).text).into_owned()).collect();
        if !lines.is_empty() {
            answer.insert("systemMessage".to_owned(), json!(lines.join("\n")));
        }
        if answer.is_empty() {
            return;
        }
        let answer = Value::Object(answer);
        let mut out = std::io::stdout().lock();
        writeln!(out, "{answer}").and_then(|()| out.flush()).ignore_failure("the agent has stopped reading");
    }
}

/// Writes a signal to the spool and starts a worker.
fn write_down(
    home: &HomeFolder,
    places: &DataPaths,
    settings: &LoadedConfig,
    signal: HookSignal,
    id: &ChangeId,
) -> HookReport {
    let session = Some(signal.session.clone());
    let woken = match hooks::spool_signal(places, signal, id) {
        Ok(HookOutcome::Spooled) if settings.config.capture.background => hooks::wake_worker(home, places),
        Ok(HookOutcome::Spooled | HookOutcome::Nothing) => Ok(()),
        Err(error) => return HookReport { session, ..HookReport::failed(error) },
    };
    match woken {
        // The signal is on the disk; the next hook starts a worker again.
        Err(error) => {
            let detail = Some(format!("no worker could be started: {error}"));
            HookReport { session, detail, ..HookReport::with_result("partial") }
        }
        Ok(()) => HookReport { session, ..HookReport::with_result("success") },
    }
}

fn panicked() -> HookReport {
    HookReport::failed("a panic; this is a bug")
}

/// Records the injected memories and their tokens once the answer is printed.
fn note(places: &DataPaths, hook_context: HookContext, injection: Option<Injection>, tokens: u64) {
    if let Some(report) = &hook_context.report {
        RecallLog::in_folder(&places.logs_folder())
            .append(report)
            .ignore_failure("the answer is printed already");
    }
    let Some(injection) = injection else { return };
    // An empty briefing and an empty tool lookup are not recorded; a prompt always counts as a turn.
    if hook_context.context.is_empty() && injection.what != InjectionMoment::Prompt && !injection.held_out {
        return;
    }
    let HookContext { chosen, shown_ids: shown, whole, .. } = hook_context;
    injection_log::note(places, Injection { tokens, chosen, shown, whole, ..injection })
        .ignore_failure("a memory is injected twice at worst");
}

/// Starts the lookup for a session start, a prompt or a tool call; capture hooks have none. Also returns the
/// record for the injection log.
fn start_lookup(
    signal: &HookSignal,
    home: &HomeFolder,
    places: &DataPaths,
    settings: &LoadedConfig,
    limit: Duration,
) -> (Option<DeferredLookup>, Option<Injection>) {
    let recall = &settings.config.recall;
    let what = match signal.kind {
        HookKind::Start => InjectionMoment::Start,
        HookKind::Prompt if signal.prompt.is_some() => InjectionMoment::Prompt,
        HookKind::BeforeTool if signal.prompt.is_some() && recall.before_tools => InjectionMoment::Tool,
        _ => return (None, None),
    };
    // The transcript of a resumed session has the briefing already.
    let goes_on = matches!(signal.reason.as_deref(), Some("resume" | "reload" | "fork"));
    let Ok(zone) = config::zone(settings) else { return (None, None) };
    if signal.subagent || (what == InjectionMoment::Start && goes_on) {
        return (None, None);
    }
    let folder = signal.cwd.as_ref().map(PathBuf::from).or_else(|| std::env::current_dir().ok());
    let person = environment::home_folder();
    let place = folder.as_deref().and_then(|folder| project::locate(folder, person.as_deref()));
    let found = place.map(|place| project::identify_folder(&place, &project::load(&places.projects_file())));
    if let Some(found) = &found {
        remember(places, found);
    }
    let project = found.map(|found| found.project.id);
    let (agent, session) = (signal.agent, signal.session.clone());
    let here = InjectionContext { agent, session, project, now: clock::now(zone) };
    let now = here.now.timestamp();
    let held_out = inject::is_held_out(places, &here.session, recall.holdout).unwrap_or(false);
    let injection = Injection { held_out, ..Injection::new(what, agent, &here.session, now) };
    let (home, places, config) = (home.clone(), places.clone(), settings.config.clone());
    let prompt = signal.prompt.clone().unwrap_or_default();
    // After half of the time a smaller lookup begins beside this one.
    let decide_by = Instant::now() + limit / 2;
    match what {
        InjectionMoment::Prompt => {
            let words = prompt.clone();
            let asks = move |how| {
                let (home, places, config) = (home.clone(), places.clone(), config.clone());
                let (here, prompt) = (here.clone(), prompt.clone());
                Box::new(move || recalled(&home, &places, &config, &here, &prompt, how, decide_by))
                    as HookWork
            };
            let lookup = (!held_out).then(|| {
                DeferredLookup::start(limit, asks(RecallDepth::Whole), Some(asks(RecallDepth::Words)))
            });
            let injection = Injection {
                prompt: Some(prompt_fingerprint(&words)),
                corrects: correction::looks_like_correction(&words),
                asks: !remember_requests::find(&words).is_empty(),
                ..injection
            };
            (lookup, Some(injection))
        }
        InjectionMoment::Tool if held_out => (None, None),
        InjectionMoment::Tool => {
            let work =
                move || recalled(&home, &places, &config, &here, &prompt, RecallDepth::Call, decide_by);
            (Some(DeferredLookup::start(limit, work, None)), Some(injection))
        }
        InjectionMoment::Start | InjectionMoment::LetGo => {
            let moment = match signal.reason.as_deref() {
                _ if held_out => BriefingMoment::HeldOut,
                Some("compact") => BriefingMoment::Compacted,
                _ => BriefingMoment::Fresh,
            };
            // A compaction dropped the injected text, and a new session of the same name never had it.
            injection_log::record_compaction(&places, agent, &here.session, now)
                .ignore_failure("the briefing matters more than the log");
            (
                Some(DeferredLookup::start(limit, move || briefing(&places, &here, moment), None)),
                Some(injection),
            )
        }
    }
}

/// Records a new project or worktree on a separate thread: its folder may be gone before a busy worker
/// handles this signal (B-05). If the hook ends first, the worker records it.
fn remember(places: &DataPaths, found: &IdentifiedProject) {
    if found.needs_saving() {
        let (file, found) = (places.projects_file(), found.clone());
        std::thread::spawn(move || project::remember(&file, &found).map(drop).unwrap_or_default());
    }
}

fn failed(error: impl std::fmt::Display) -> HookContext {
    HookContext { failed: Some(error.to_string()), ..HookContext::default() }
}

fn briefing(places: &DataPaths, here: &InjectionContext, moment: BriefingMoment) -> HookContext {
    match inject::start_briefing(places, here, moment) {
        Ok(briefing) => {
            let entries = briefing.entries + briefing.ids.len();
            let what = if entries == 1 { "memory" } else { "memories" };
            let line = if entries > 0 { format!("Rekindle: {entries} {what} loaded") } else { String::new() };
            let nudge = match briefing.waiting {
                0 => String::new(),
                1 => "Rekindle: 1 proposal to review (`rekindle review`)".to_owned(),
                count => format!("Rekindle: {count} proposals to review (`rekindle review`)"),
            };
            let whole = briefing.cut.is_empty() && !briefing.text.is_empty();
            let Briefing { text: context, ids: shown, .. } = briefing;
            HookContext { context, line, nudge, entries, whole, shown_ids: shown, ..HookContext::default() }
        }
        Err(error) => failed(error),
    }
}

fn recalled(
    home: &HomeFolder,
    places: &DataPaths,
    config: &rekindle_core::config::Config,
    here: &InjectionContext,
    prompt: &str,
    how: RecallDepth,
    decide_by: Instant,
) -> HookContext {
    let start = Instant::now();
    let recalled = match inject::prompt(home, places, config, here, prompt, how, Some(decide_by)) {
        Ok(Some(recalled)) => recalled,
        Ok(None) => return HookContext::default(),
        Err(error) => return failed(error),
    };
    let selection = &recalled.answer.selection;
    let parts = selection.hits.iter().map(|hit| (hit.ranked.parts.meaning, hit.ranked.parts.words));
    let hits = HitCounts::count(parts, selection.dropped.iter().map(|dropped| dropped.rule));
    // Every recall is logged (REC-23).
    let took = start.elapsed().as_secs_f64() * 1000.0;
    let mut line = recall_report(
        &recalled.question,
        &RewriteOutcome::Disabled,
        &Default::default(),
        &recalled.answer,
        took,
    );
    if let Value::Object(fields) = &mut line {
        fields.insert("at".to_owned(), json!(format_utc(here.now.timestamp())));
        fields.insert("project".to_owned(), json!(here.project));
        fields.insert("by".to_owned(), json!("hook"));
        fields.insert("session".to_owned(), json!(here.session));
        fields.insert("injected".to_owned(), json!(recalled.block.ids));
    }
    HookContext {
        context: recalled.block.text,
        line: recalled.block.line,
        entries: recalled.block.ids.len(),
        chosen: recalled.chosen,
        shown_ids: recalled.block.ids,
        hits: Some(hits),
        report: Some(line),
        ..HookContext::default()
    }
}
