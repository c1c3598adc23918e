//! `rekindle engines`: the servers that several machines share.

use clap::{Args, Subcommand};
use rekindle_core::base::time::format_utc;
use rekindle_core::text::plural::count_phrase;
use rekindle_engine::jobs::shared::redis::{RedisInfo, RedisServer};
use rekindle_engine::jobs::shared::servers::{self, ServerState};
use rekindle_engine::pipeline::observations::elsewhere;
use rekindle_engine::pipeline::stages::share;
use rekindle_engine::platform::db::Database;
use rekindle_engine::review::proposals::{self, SharedDecisionState};
use serde_json::{Value, json};

use crate::app::CommandContext;
use crate::app::review::run_promotions;
use crate::error::CliError;
use crate::output::TextStyle;

#[derive(Args)]
#[command(after_help = "\
Without a server, everything is on this machine. A Redis server of yours lets several machines share the hot list of
observations, locks, and the decisions on proposals; docs/engines.md says how to set it up, what is stored there, and what
happens while it is away.

Examples:
  rekindle config set engines.redis.url rediss://redis.example:6379/0
  rekindle config set engines.shared redis
  rekindle engines --check
  rekindle engines share")]
pub(crate) struct EnginesArgs {
    #[command(subcommand)]
    verb: Option<EnginesVerb>,
    /// Ask the server now instead of showing the last answer
    #[arg(long)]
    check: bool,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Subcommand)]
enum EnginesVerb {
    /// Exchange everything with the other machines now
    #[command(after_help = "\
A running worker does this every five minutes, and at once when something waits to be sent.

Examples:
  rekindle engines share
  rekindle engines share --json | jq .proposalsReceived")]
    Share(ShareArgs),
    /// Remove everything of Rekindle from a server, for all machines
    #[command(after_help = "\
The observations and proposals stay on every machine that has them. Decisions that only the server knows are lost, so let
every machine share once before.

Examples:
  rekindle engines clear redis://127.0.0.1:6379/0 --yes")]
    Clear(ClearArgs),
}

#[derive(Args)]
struct ShareArgs {
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
struct ClearArgs {
    /// The address of the server, as `rekindle engines` shows it
    url: String,
    /// Do it without asking
    #[arg(long)]
    yes: bool,
}

impl EnginesArgs {
    pub(crate) fn run(self, context: &CommandContext<'_>) -> Result<(), CliError> {
        match self.verb {
            None => list(context, self.check, self.json),
            Some(EnginesVerb::Share(share)) => share_now(context, share.json),
            Some(EnginesVerb::Clear(clear)) => clear_server(context, &clear),
        }
    }
}

/// A server with its state, and its answer if it was asked.
struct ShownServer {
    state: ServerState,
    is_configured: bool,
    /// The number of observations that are not there yet.
    unsent: u64,
    answer: Option<Result<RedisInfo, String>>,
}

fn list(context: &CommandContext<'_>, check: bool, as_json: bool) -> Result<(), CliError> {
    let settings = &context.settings.config.engines;
    let configured = servers::configured(settings);
    let db = Database::open_existing(&context.places.database())?;
    let mut states = db.as_ref().map_or_else(|| Ok(Vec::new()), servers::known)?;
    if let Some(own) = configured.filter(|own| !states.iter().any(|state| state.settings.url == own.url)) {
        states.push(ServerState::unknown(own));
    }
    let waiting = match &db {
        Some(db) => proposals::decisions_in(db, SharedDecisionState::Waiting)?.len(),
        None => 0,
    };
    let ask = |state: &ServerState| {
        let answer = RedisServer::open(&state.settings).and_then(|server| server.info());
        answer.map_err(|error| format!("{}; {}", error.what, error.hint))
    };
    let mut shown = Vec::new();
    for state in states {
        shown.push(ShownServer {
            is_configured: configured.is_some_and(|own| own.url == state.settings.url),
            unsent: unsent(db.as_ref(), &state)?,
            answer: check.then(|| ask(&state)),
            state,
        });
    }
    if as_json {
        let servers: Vec<Value> = shown.iter().map(object).collect();
        context
            .out
            .json(&json!({"shared": settings.shared, "waitingDecisions": waiting, "servers": servers}))?;
    } else {
        print_servers(context, &shown, waiting)?;
    }
    let is_away = |one: &ShownServer| one.is_configured && matches!(one.answer, Some(Err(_)));
    if shown.iter().any(is_away) { Err(CliError::reported()) } else { Ok(()) }
}

fn unsent(db: Option<&Database>, state: &ServerState) -> Result<u64, CliError> {
    Ok(db.map_or(Ok(0), |db| elsewhere::unsent(db, state.pushed))?)
}

fn object(shown: &ShownServer) -> Value {
    let ShownServer { state, is_configured, unsent, answer } = shown;
    json!({
        "engine": "redis",
        "url": state.settings.url,
        "inUse": is_configured,
        "unsentObservations": unsent,
        "lastExchange": state.reached.map(format_utc),
        "problem": state.problem,
        "version": state.version,
        "answer": answer.as_ref().map(|answer| match answer {
            Ok(info) => json!({"version": info.version, "usedBytes": info.used_bytes, "appends": info.appends,
                "fullPolicy": info.full_policy}),
            Err(error) => json!({"error": error}),
        }),
    })
}

fn print_servers(
    context: &CommandContext<'_>,
    shown: &[ShownServer],
    waiting: usize,
) -> Result<(), CliError> {
    if shown.is_empty() {
        context.out.line("Nothing is shared: everything is on this machine (docs/engines.md).")?;
        return Ok(());
    }
    for ShownServer { state, is_configured, unsent, answer } in shown {
        let used = if *is_configured {
            ""
        } else {
            ", not used any more (`rekindle engines clear` removes our data)"
        };
        context.out.line(format!("redis  {}{used}", state.settings.url))?;
        let last = state
            .reached
            .map_or_else(|| "no exchange yet".to_owned(), |at| format!("last exchange {}", format_utc(at)));
        let behind = match unsent {
            0 => String::new(),
            count => format!(", {} to send", count_phrase(*count, "observation")),
        };
        context.out.line(format!("       {last}{}", if *is_configured { behind } else { String::new() }))?;
        match answer {
            Some(Ok(info)) => {
                let kept = if info.appends { "appends to disk" } else { "keeps its data in memory" };
                let size = info.used_bytes / 1024;
                context
                    .out
                    .line(format!("       answers: Redis {}, {size} KiB used, {kept}", info.version))?;
                for advice in info.advice() {
                    context.out.line(format!("       {}", context.out.styled(TextStyle::Warn, advice)))?;
                }
            }
            Some(Err(error)) => {
                context.out.line(format!("       {}", context.out.styled(TextStyle::Bad, error)))?;
            }
            None => {
                if let Some(problem) = &state.problem {
                    context.out.line(format!("       {}", context.out.styled(TextStyle::Warn, problem)))?;
                }
            }
        }
    }
    if waiting > 0 {
        context.out.line(format!("Waiting for the server: {}.", count_phrase(waiting, "decision")))?;
    }
    Ok(())
}

/// The server that is in use, with what is known of it.
fn in_use(context: &CommandContext<'_>) -> Result<Option<ServerState>, CliError> {
    let Some(own) = servers::configured(&context.settings.config.engines) else { return Ok(None) };
    let db = Database::open_existing(&context.places.database())?;
    let state = db.map_or(Ok(None), |db| servers::state(&db, own))?;
    Ok(Some(state.unwrap_or_else(|| ServerState::unknown(own))))
}

/// The server in use, as JSON for `rekindle status`; null if nothing is shared.
pub(super) fn summary(context: &CommandContext<'_>) -> Result<Value, CliError> {
    let Some(state) = in_use(context)? else { return Ok(Value::Null) };
    let db = Database::open_existing(&context.places.database())?;
    let unsent = unsent(db.as_ref(), &state)?;
    Ok(object(&ShownServer { state, is_configured: true, unsent, answer: None }))
}

/// The server in use, in a line of `rekindle status`.
pub(super) fn line(context: &CommandContext<'_>) -> Result<Option<String>, CliError> {
    Ok(in_use(context)?.map(|state| match (state.problem, state.reached) {
        (Some(problem), _) => format!("{problem} (`rekindle engines --check`)"),
        (None, Some(at)) => format!("{}, last exchange {}", state.settings.url, format_utc(at)),
        (None, None) => format!("{}, no exchange yet", state.settings.url),
    }))
}

fn share_now(context: &CommandContext<'_>, as_json: bool) -> Result<(), CliError> {
    if servers::configured(&context.settings.config.engines).is_none() {
        return Err(CliError::usage("nothing is shared")
            .hint("`rekindle config set engines.shared redis` uses a Redis server (docs/engines.md)"));
    }
    context.writable_vault()?;
    let report = share::exchange(&context.stage_context()).map_err(CliError::new)?;
    if let Some(away) = report.away {
        return Err(CliError::new(away).hint("this machine works alone until it answers; nothing is lost"));
    }
    run_promotions(context, &report.won)?;
    if as_json {
        return context.out.json(&report);
    }
    let both = |observations: usize, proposals: usize| {
        let (observations, proposals) =
            (count_phrase(observations, "observation"), count_phrase(proposals, "proposal"));
        format!("{observations} and {proposals}")
    };
    context.out.line(format!("Sent {}.", both(report.observations_sent, report.proposals_sent)))?;
    let received = both(report.observations_received, report.proposals_received.len());
    context.out.line(format!("Received {received}."))?;
    if !report.settled.is_empty() {
        let settled = count_phrase(report.settled.len(), "proposal");
        context.out.line(format!("Decided on another machine: {settled}."))?;
    }
    for id in &report.conflicts {
        context.out.warn(format!(
            "{id} was decided here and on another machine, because the server lost the first decision; \
             let it append to disk (docs/engines.md)"
        ));
    }
    Ok(())
}

fn clear_server(context: &CommandContext<'_>, clear: &ClearArgs) -> Result<(), CliError> {
    context.require_person("clear a server")?;
    let mut db = Database::open(&context.places.database())?;
    let Some(state) = servers::known(&db)?.into_iter().find(|state| state.settings.url == clear.url) else {
        return Err(CliError::usage(format!("no server {} is known", clear.url))
            .hint("`rekindle engines` lists the servers"));
    };
    if !clear.yes {
        return Err(CliError::usage(format!("this removes the data of all machines from {}", clear.url))
            .hint("add --yes to do it"));
    }
    let failed =
        |error: rekindle_engine::jobs::shared::SharedError| CliError::new(error.what).hint(error.hint);
    let removed = RedisServer::open(&state.settings).and_then(|server| server.clear()).map_err(failed)?;
    if servers::configured(&context.settings.config.engines).is_none_or(|own| own.url != clear.url) {
        servers::drop_server(&mut db, &clear.url)?;
    }
    context.out.line(format!("Removed {} from {}.", count_phrase(removed, "key"), clear.url))
}
