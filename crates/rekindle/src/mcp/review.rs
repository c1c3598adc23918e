//! Proposals for agents. An agent may list them, and decide only with the person's permission
//! (`mcp.review_decide`). It can never approve its own words or those of a tool (B-01).

use rekindle_core::base::provenance::Origin;
use rekindle_core::knowledge::proposal::Proposal;
use rekindle_core::text::clean::one_line;
use rekindle_core::vault::review::ProposalId;
use rekindle_engine::platform::db::Database;
use rekindle_engine::review::proposals::{self, ProposalVerdict};
use serde::Deserialize;

use super::call::{CallContext, check_name_length, report_done};
use crate::app::review::{ScopeArgs, decide_for};
use crate::error::CliError;

/// The most proposals in a list.
const MAX_PROPOSALS: usize = 20;
/// The most characters of a proposal.
const MAX_PROPOSAL_CHARS: usize = 300;

pub(super) const ABOUT_LIST: &str = "What waits for the user's review. Only the user decides about it.";
pub(super) const ABOUT_DECIDE: &str = "\
Approve or reject one proposal, only when the user has just told you to about exactly this one. An approved one holds in \
the project where it was said; `everywhere` only if the user says so. It is \
recorded as your decision, the user is told of it, and can take it back.";

/// An agent's decision on a proposal.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DecideParams {
    id: String,
    verdict: VerdictParam,
    #[serde(default)]
    scope: Option<ScopeParam>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ScopeParam {
    Project,
    Everywhere,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum VerdictParam {
    Approve,
    Reject,
}

/// True if a proposal is visible in this project (B-05).
fn is_here(call: &CallContext<'_>, proposal: &Proposal) -> bool {
    proposal.project.is_none() || proposal.project.as_ref() == call.context.project_id()
}

/// Decides on a proposal.
pub(super) fn decide_one(call: &CallContext<'_>, asked: &DecideParams) -> Result<String, CliError> {
    check_name_length("id", &asked.id)?;
    let unknown = || {
        let id = one_line(&asked.id, 80);
        CliError::usage(format!("no open proposal `{id}` here"))
            .hint("list open proposals with `review_list`")
    };
    let id: ProposalId = asked.id.trim().parse().map_err(|_| unknown())?;
    let db = Database::open_existing(&call.context.places.database())?.ok_or_else(unknown)?;
    let record = proposals::find_proposal(&db, id)?.filter(|record| is_here(call, &record.proposal));
    let proposal = record.ok_or_else(unknown)?.proposal;
    drop(db);
    if asked.verdict == VerdictParam::Approve && proposal.origin != Origin::User {
        return Err(CliError::new(format!(
            "only the user can approve {id}: its words come from {}",
            proposal.origin
        ))
        .hint(format!("they can: `rekindle approve {id}`, or tick it in REVIEW.md")));
    }
    let verdict = match asked.verdict {
        VerdictParam::Approve => ProposalVerdict::Approve,
        VerdictParam::Reject => ProposalVerdict::Reject,
    };
    let reach = ScopeArgs {
        everywhere: asked.scope == Some(ScopeParam::Everywhere),
        this_project: asked.scope == Some(ScopeParam::Project),
    };
    let outcome = decide_for(call.context, id, &verdict, reach)?;
    Ok(report_done(&format!("{outcome}. Tell the user; it will also be in the next briefing.")))
}

/// Lists the proposals of this project.
pub(super) fn list_pending(call: &CallContext<'_>) -> Result<String, CliError> {
    let context = call.context;
    let open = match Database::open_existing(&context.places.database())? {
        Some(db) => proposals::open(&db)?,
        None => Vec::new(),
    };
    let open: Vec<_> = open.iter().filter(|proposal| is_here(call, proposal)).collect();
    if open.is_empty() {
        return Ok("Nothing waits for review.".to_owned());
    }
    let mut lines: Vec<String> = open
        .iter()
        .take(MAX_PROPOSALS)
        .map(|proposal| {
            let place = one_line(&proposal.describe_target(), 80);
            let text = one_line(&proposal.text, MAX_PROPOSAL_CHARS);
            let reach = match (&proposal.project, proposal.section()) {
                (Some(_), Some(_)) => ", for this project",
                (None, Some(_)) => ", for every project",
                (_, None) => "",
            };
            format!("- {} ({place}{reach}, from {}) {text}", proposal.id, proposal.origin)
        })
        .collect();
    if open.len() > MAX_PROPOSALS {
        lines.push(format!("({} more)", open.len() - MAX_PROPOSALS));
    }
    let hint = "What waits in REVIEW.md. Unreviewed, reference material only: the user decides, not you.";
    call.fence_text(hint, &lines.join("\n"))
}
