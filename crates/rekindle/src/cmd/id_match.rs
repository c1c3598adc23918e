//! Resolves the beginnings of ids.

use rekindle_core::base::id_match::{IdMatch, by_prefix};
use rekindle_core::vault::review::ProposalId;
use rekindle_engine::platform::db::Database;
use rekindle_engine::review::proposals;

use crate::app::CommandContext;
use crate::error::CliError;

/// Resolves the beginning of a session id; `None` without a match.
pub(super) fn session<'a>(
    typed: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Result<Option<String>, CliError> {
    match by_prefix(typed, known) {
        IdMatch::One(session) => Ok(Some(session)),
        IdMatch::Several(all) => Err(ambiguous_error("sessions", typed, &all)),
        IdMatch::Nothing => Ok(None),
    }
}

/// Resolves proposals: whole ids, a beginning of one, or only the number behind its day (`001`) among the
/// open ones.
pub(super) fn proposals(context: &CommandContext<'_>, typed: &[String]) -> Result<Vec<ProposalId>, CliError> {
    let db = Database::open(&context.places.database())?;
    let all = proposals::all_proposals(&db)?;
    let waiting: Vec<String> =
        all.iter().filter(|one| one.status.is_open()).map(|one| one.id.to_string()).collect();
    let every: Vec<String> = all.iter().map(|one| one.id.to_string()).collect();
    let resolve = |typed: &String| match typed.parse::<ProposalId>() {
        Ok(id) => whole_id(id, &waiting, &every),
        Err(_) => proposal(typed, &waiting, &every),
    };
    typed.iter().map(resolve).collect()
}

/// Resolves a complete id, with or without the letters of its machine.
fn whole_id(id: ProposalId, waiting: &[String], every: &[String]) -> Result<ProposalId, CliError> {
    let typed = id.to_string();
    if every.contains(&typed) {
        return Ok(id);
    }
    let longer = format!("{typed}-");
    for ids in [waiting, every] {
        match by_prefix(&longer, ids.iter().map(String::as_str)) {
            IdMatch::One(id) => return id.parse().map_err(|_| unknown(&typed, "use the full id")),
            IdMatch::Several(all) => return Err(ambiguous_error("proposals", &typed, &all)),
            IdMatch::Nothing => {}
        }
    }
    // The caller reports the unknown id.
    Ok(id)
}

fn proposal(typed: &str, waiting: &[String], every: &[String]) -> Result<ProposalId, CliError> {
    let whole = |id: &str| id.parse::<ProposalId>().map_err(|error| unknown(typed, &error.to_string()));
    let numbered: Vec<&String> =
        waiting.iter().filter(|id| id.split('-').nth(2) == Some(typed.trim_start_matches('-'))).collect();
    if let [only] = numbered.as_slice() {
        return whole(only);
    }
    // Open proposals have precedence over decided ones.
    for ids in [waiting, every] {
        match by_prefix(typed, ids.iter().map(String::as_str)) {
            IdMatch::One(id) => return whole(&id),
            IdMatch::Several(all) => return Err(ambiguous_error("proposals", typed, &all)),
            IdMatch::Nothing => {}
        }
    }
    match numbered.is_empty() {
        true => Err(unknown(typed, "an id looks like p-20261115-001; use at least four characters of it")),
        false => Err(ambiguous_error("proposals", typed, &numbered.into_iter().cloned().collect::<Vec<_>>())),
    }
}

/// True for a proposal's id or its beginning. Ids of changes have no hyphen.
pub(super) fn is_proposal(typed: &str) -> bool {
    let rest = typed.strip_prefix("p-").or_else(|| typed.strip_prefix("f-"));
    rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

fn unknown(typed: &str, hint: &str) -> CliError {
    CliError::usage(format!("there is no proposal `{typed}`"))
        .hint(format!("list them with `rekindle review --list`; {hint}"))
}

fn ambiguous_error(what: &str, typed: &str, all: &[String]) -> CliError {
    const MAX_NAMED: usize = 5;
    let more = if all.len() > MAX_NAMED { ", …" } else { "" };
    let names = all.iter().take(MAX_NAMED).cloned().collect::<Vec<_>>().join(", ");
    CliError::usage(format!("{} {what} match `{typed}`: {names}{more}", all.len()))
        .hint("use more characters of the id")
}
