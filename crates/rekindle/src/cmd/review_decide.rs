//! Decides on proposals for a command and prints the outcome.

use std::collections::HashMap;

use rekindle_core::base::decided_by::DecidedBy;
use rekindle_core::knowledge::proposal::ProposalStatus;
use rekindle_core::vault::review::ProposalId;
use rekindle_engine::platform::db::Database;
use rekindle_engine::review::patches::is_patch;
use rekindle_engine::review::proposals::{self, ProposalVerdict};
use serde_json::{Value, json};

use super::review_show::json;
use crate::app::CommandContext;
use crate::app::review::describe::{describe_outcome, waits_for_server};
use crate::app::review::{DecideReport, ScopeArgs, settle};
use crate::error::CliError;

/// Decides on proposals, carries the decision out and prints the outcome.
pub(crate) fn decide(
    context: &CommandContext<'_>,
    ids: &[ProposalId],
    verdict: &ProposalVerdict,
    reach: ScopeArgs,
    as_json: bool,
) -> Result<(), CliError> {
    context.require_person("decide on proposals with a command")?;
    let DecideReport { decided: open, mut wrong, busy } =
        settle(context, ids, verdict, reach, DecidedBy::Command)?;
    let db = Database::open(&context.places.database())?;
    let mut answers = Vec::new();
    for id in open {
        let Some(record) = proposals::find_proposal(&db, id)? else { continue };
        let status = record.proposal.status;
        if let Some(note) = record.note.as_ref().filter(|_| status.is_open()) {
            wrong.push((id, format!("{id} could not be promoted and is pending again: {note}")));
        }
        let seen_to = !matches!(status, ProposalStatus::Approved | ProposalStatus::Edited)
            || is_patch(&record)
            || waits_for_server(context, id);
        if !seen_to && !busy {
            wrong.push((id, format!("{id} is {}, but could not be written yet", status.as_str())));
        }
        match as_json {
            true => answers.push(json(context, &record, &[], &HashMap::new())),
            false if seen_to && !status.is_open() => context.out.line(describe_outcome(context, &record))?,
            false if busy => {
                context.out.line(format!("{id} {}; a running worker will write it", status.as_str()))?;
            }
            false => {}
        }
    }
    if as_json {
        let wrong: Vec<Value> = wrong.iter().map(|(id, why)| json!({"id": id, "error": why})).collect();
        context.out.json(&json!({"decided": answers, "failed": wrong}))?;
    }
    let Some((_, first)) = wrong.first() else { return Ok(()) };
    let rest: Vec<&str> = wrong.iter().skip(1).map(|(_, why)| why.as_str()).collect();
    let message = [&[first.as_str()], &rest[..]].concat().join("\n");
    Err(CliError::new(message)
        .hint("list open proposals with `rekindle review`; see the outcome of one with `rekindle review ID`"))
}
