//! The subcommands of `rekindle review`: decisions, Todoist and Telegram, and patches of identity files.

use std::io::Read;

use clap::{Args, Subcommand, ValueEnum};
use rekindle_core::base::hash::ContentHash;
use rekindle_core::base::time::format_utc;
use rekindle_core::config::ReviewSettings as Settings;
use rekindle_core::event::names;
use rekindle_core::knowledge::surface::{ReviewSurface, signature, telegram, todoist};
use rekindle_core::text::plural::count_phrase;
use rekindle_engine::config;
use rekindle_engine::jobs::hooks;
use rekindle_engine::platform::db::Database;
use rekindle_engine::platform::environment;
use rekindle_engine::review::surfaces;
use serde_json::{Value, json};

use super::review_apply::ApplyArgs;
use super::{ApproveArgs, FrictionArgs, InboxArgs, RejectArgs};
use crate::app::{CommandContext, events};
use crate::dialog;
use crate::error::CliError;

/// The largest webhook payload, in bytes.
const MAX_PAYLOAD_BYTES: u64 = 1024 * 1024;
/// The variable with the value of the signature header. Telegram's is the secret itself, and every user of
/// the machine can read the arguments of a process.
const SIGNATURE_VARIABLE: &str = "REKINDLE_WEBHOOK_SIGNATURE";

#[derive(Subcommand)]
pub(crate) enum ReviewCommand {
    /// Approve proposals
    Approve(ApproveArgs),
    /// Reject proposals; they won't come up again
    Reject(RejectArgs),
    /// Decide about memories that were seen only once
    Inbox(InboxArgs),
    /// Find recurring problems, and propose fixes
    Friction(FrictionArgs),
    /// Show proposals in Todoist or Telegram as well
    #[command(after_help = "\
The key is read from the environment (TODOIST_API_TOKEN, TELEGRAM_BOT_TOKEN) and never stored. docs/surfaces.md
explains how to get one and what each button does.

Examples:
  rekindle review connect todoist
  rekindle review connect telegram --chat 123456789")]
    Connect(ConnectArgs),
    /// Apply approved changes to your identity files
    #[command(after_help = "\
AGENTS.md, SOUL.md, USER.md and IDENTITY.md are yours, so approving a change to one of them only creates a patch. This
command shows the patch, asks, and applies it. `git apply` works as well (docs/review.md).

Examples:
  rekindle review apply                    # every approved change, one by one
  rekindle review apply f-20261115-001
  rekindle review apply f-20261115-001 --yes")]
    Apply(ApplyArgs),
    /// Disconnect Todoist or Telegram
    #[command(after_help = "\
Examples:
  rekindle review disconnect todoist")]
    Disconnect {
        /// The service
        #[arg(value_enum)]
        place: SurfaceChoice,
    },
    /// Process the body of a webhook from stdin
    #[command(after_help = "\
Your receiver passes on the unchanged body and the value of the header X-Todoist-Hmac-SHA256 or
X-Telegram-Bot-Api-Secret-Token. Rekindle checks it against TODOIST_CLIENT_SECRET or TELEGRAM_WEBHOOK_SECRET; a body
without a valid signature changes nothing.

Examples:
  rekindle review webhook todoist --signature \"$HEADER\" < body.json
  REKINDLE_WEBHOOK_SIGNATURE=\"$TOKEN\" rekindle review webhook telegram < body.json")]
    Webhook {
        /// The service
        #[arg(value_enum)]
        place: SurfaceChoice,
        /// The value of the signature header; for `telegram`, set REKINDLE_WEBHOOK_SIGNATURE instead
        #[arg(long, value_name = "VALUE")]
        signature: Option<String>,
        /// Answer as JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Args)]
pub(crate) struct ConnectArgs {
    /// The service
    #[arg(value_enum)]
    place: SurfaceChoice,
    /// The URL of its API, if it differs from the default
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// With `telegram`: the id of the chat
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    chat: Option<i64>,
    /// Connect without asking
    #[arg(long)]
    yes: bool,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum SurfaceChoice {
    Todoist,
    Telegram,
}

impl From<SurfaceChoice> for ReviewSurface {
    fn from(choice: SurfaceChoice) -> Self {
        match choice {
            SurfaceChoice::Todoist => Self::Todoist,
            SurfaceChoice::Telegram => Self::Telegram,
        }
    }
}

impl ReviewCommand {
    pub(crate) fn run(self, context: &CommandContext<'_>) -> Result<(), CliError> {
        match self {
            Self::Connect(connect) => connect.run(context),
            Self::Apply(apply) => apply.run(context),
            Self::Approve(approve) => approve.run(context),
            Self::Reject(reject) => reject.run(context),
            Self::Inbox(inbox) => inbox.run(context),
            Self::Friction(friction) => friction.run(context),
            Self::Disconnect { place } => disconnect(context, place.into()),
            Self::Webhook { place, signature, json } => webhook(context, place.into(), signature, json),
        }
    }
}

impl ConnectArgs {
    fn run(self, context: &CommandContext<'_>) -> Result<(), CliError> {
        context.require_person("choose where proposals are decided")?;
        let surface = ReviewSurface::from(self.place);
        let mut changes = Vec::new();
        let table = format!("review.{}", surface.as_str());
        changes.extend(self.url.map(|url| (format!("{table}.url"), url)));
        match (surface, self.chat) {
            (ReviewSurface::Telegram, Some(chat)) => {
                changes.push((format!("{table}.chat"), chat.to_string()));
            }
            (ReviewSurface::Todoist, Some(_)) => {
                return Err(CliError::usage("--chat does not apply to todoist"));
            }
            _ => {}
        }
        // The settings after the change, validated before anything is written.
        let settings = config::read(&context.home, None, &changes)?.config.review;
        if surface == ReviewSurface::Telegram && settings.telegram.chat == 0 {
            return Err(CliError::usage("which chat?")
                .hint("use `--chat NUMBER`; docs/surfaces.md explains how to find it"));
        }
        if !self.yes {
            if !dialog::is_possible() {
                return Err(CliError::usage(format!(
                    "{}; nothing was changed",
                    describe_egress(&settings, surface)
                ))
                .hint("to agree, add `--yes`"));
            }
            context.out.line(describe_egress(&settings, surface))?;
            if !dialog::yes("Connect it?", false)? {
                context.out.note(dialog::CANCELLED_TEXT);
                return Ok(());
            }
        }
        let who = surfaces::account_name(&settings, surface)
            .map_err(|trouble| CliError::new(trouble.message).hint("nothing was changed"))?;
        // The switch is set last, so that nothing is sent before the rest is written.
        changes.push((format!("{table}.enabled"), "true".to_owned()));
        for (key, value) in &changes {
            config::set(&context.home, key, value)?;
        }
        let counts = config::read(&context.home, None, &[])?;
        if !surfaces::is_enabled(&counts.config.review, surface) {
            let place = &counts.get(&format!("{table}.enabled"))?.place;
            context.out.warn(format!("the change is saved, but {place} overrides it"));
        }
        context.out.line(format!(
            "{} is connected as {who}. {}.",
            surface.name(),
            describe_egress(&settings, surface)
        ))?;
        if surface == ReviewSurface::Telegram && settings.telegram.chat < 0 && settings.telegram.user == 0 {
            context.out.warn(
                "a negative chat id is a group, and buttons in a group decide nothing until you name yourself: `rekindle config set review.telegram.user NUMBER`",
            );
        }
        context.out.note(format!("Disconnect it with `rekindle review disconnect {}`.", surface.as_str()));
        if context.settings.config.capture.background {
            hooks::wake_worker(&context.home, &context.places)?;
        }
        Ok(())
    }
}

fn disconnect(context: &CommandContext<'_>, surface: ReviewSurface) -> Result<(), CliError> {
    context.require_person("choose where proposals are decided")?;
    config::set(&context.home, &format!("review.{}.enabled", surface.as_str()), "false")?;
    let open = match Database::open_existing(&context.places.database())? {
        Some(db) => surfaces::surface_status(&db, surface)?.open,
        None => 0,
    };
    let name = surface.name();
    context
        .out
        .line(format!("Disconnected {name}. Rekindle sends nothing there and ignores what happens there."))?;
    if open > 0 {
        context.out.note(format!(
            "{} stay unchanged there. To close them, connect it again.",
            count_phrase(open, "open question")
        ));
    }
    Ok(())
}

fn webhook(
    context: &CommandContext<'_>,
    surface: ReviewSurface,
    given: Option<String>,
    as_json: bool,
) -> Result<(), CliError> {
    let settings = &context.settings.config.review;
    let variable = match surface {
        ReviewSurface::Todoist => &settings.todoist.secret_variable,
        ReviewSurface::Telegram => &settings.telegram.secret_variable,
    };
    let Some(secret) = environment::variable(variable).filter(|secret| !secret.trim().is_empty()) else {
        return Err(CliError::new(format!("the signature cannot be checked: {variable} is not set"))
            .hint("set it to the secret of your webhook; nothing was changed"));
    };
    if surface == ReviewSurface::Telegram && given.is_some() {
        return Err(CliError::usage(
            "Telegram's header is a secret, and other users can read command-line arguments",
        )
        .hint(format!("pass it in {SIGNATURE_VARIABLE}; nothing was changed")));
    }
    let Some(given) = given.or_else(|| environment::variable(SIGNATURE_VARIABLE)) else {
        return Err(CliError::usage("the payload is not signed; nothing was changed")
            .hint(format!("pass the value of the signature header in {SIGNATURE_VARIABLE}")));
    };
    let mut body = Vec::new();
    std::io::stdin().lock().take(MAX_PAYLOAD_BYTES + 1).read_to_end(&mut body)?;
    if body.len() as u64 > MAX_PAYLOAD_BYTES {
        return Err(CliError::usage("the payload is too large for a webhook; nothing was changed"));
    }
    let genuine = match surface {
        ReviewSurface::Todoist => signature::verify_signature(&body, secret.trim(), &given),
        ReviewSurface::Telegram => {
            signature::constant_time_eq(secret.trim().as_bytes(), given.trim().as_bytes())
        }
    };
    if !genuine {
        return Err(CliError::new(format!(
            "the signature is invalid, so the payload is not from {}",
            surface.name()
        ))
        .hint("nothing was changed"));
    }
    let event = read(surface, &String::from_utf8_lossy(&body)).map_err(|problem| {
        CliError::usage(format!("this is not a payload of {}: {problem}", surface.name()))
    })?;
    let Some((name, data)) = event else {
        return match as_json {
            true => context.out.json(&json!({"event": null})),
            false => context.out.line("The payload contains no decision."),
        };
    };
    // A repeated delivery has the same event id.
    let id = format!("webhook-{}", ContentHash::of_bytes(&body).short_hex(32));
    events::leave_as(context, &id, name, data)?;
    match as_json {
        true => context.out.json(&json!({"id": id, "event": name})),
        false => context.out.line(format!("Sent {name} ({id})")),
    }
}

/// The decision in a payload, if it contains one.
fn read(surface: ReviewSurface, body: &str) -> Result<Option<(&'static str, Value)>, String> {
    let value = |data: serde_json::Result<Value>| data.map_err(|error| error.to_string());
    match surface {
        ReviewSurface::Todoist => match todoist::webhook(body)? {
            Some((name, task)) => Ok(Some((name, value(serde_json::to_value(task))?))),
            None => Ok(None),
        },
        ReviewSurface::Telegram => {
            let update: Value = serde_json::from_str(body).map_err(|error| error.to_string())?;
            match telegram::update(&update).ok_or("it has no update_id")?.pressed {
                Some(pressed) => Ok(Some((names::BUTTON_PRESSED, value(serde_json::to_value(pressed))?))),
                None => Ok(None),
            }
        }
    }
}

/// Describes the data that leaves the machine.
fn describe_egress(settings: &Settings, surface: ReviewSurface) -> String {
    format!(
        "Each proposal you are asked about goes, without secrets, to {}: its text, section and id, and a few short quotations as evidence",
        surfaces::host(settings, surface)
    )
}

/// The state of the connected services, for `rekindle status`.
pub(super) fn lines(context: &CommandContext<'_>) -> Result<Vec<String>, CliError> {
    let mut lines = Vec::new();
    for (surface, condition) in connected(context)? {
        let problem = condition.problem.map_or_else(String::new, |problem| format!("; {problem}"));
        lines.push(format!("{}: {} open{problem}", surface.name(), condition.open));
    }
    Ok(lines)
}

/// Renders the state of the connected services as JSON.
pub(super) fn object(context: &CommandContext<'_>) -> Result<Value, CliError> {
    let mut object = json!({});
    for (surface, condition) in connected(context)? {
        object[surface.as_str()] = json!({"open": condition.open, "problem": condition.problem, "synced": condition.synced.map(format_utc)});
    }
    Ok(object)
}

fn connected(
    context: &CommandContext<'_>,
) -> Result<Vec<(ReviewSurface, surfaces::SurfaceStatus)>, CliError> {
    let settings = &context.settings.config.review;
    let Some(db) = Database::open_existing(&context.places.database())? else { return Ok(Vec::new()) };
    let mut connected = Vec::new();
    for surface in ReviewSurface::ALL.into_iter().filter(|surface| surfaces::is_enabled(settings, *surface)) {
        connected.push((surface, surfaces::surface_status(&db, surface)?));
    }
    Ok(connected)
}
