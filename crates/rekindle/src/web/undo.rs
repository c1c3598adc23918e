//! Takes back a change, or a decision on a proposal.

use rekindle_core::vault::review::ProposalId;
use rekindle_engine::pipeline::stages::promote::ReconsiderOutcome;

use super::parts::memory_address;
use super::request::{PageAnswer, PageNotice, PageRequest};
use crate::app::memory::find_path;
use crate::app::memory::history::changed_files;
use crate::app::review::describe::outcome_with_author;
use crate::app::review::undo_decision;
use crate::app::undo::undo_change;
use crate::error::CliError;

pub(super) fn undo(request: &PageRequest<'_>) -> Result<PageAnswer, CliError> {
    let id = request.fields.require("id")?;
    if let Ok(proposal) = id.parse::<ProposalId>() {
        return decision(request, proposal);
    }
    request.context.require_person("undo a change of the user")?;
    let (undone, waiting) = undo_change(request.context, Some(id))?;
    let mut words = format!("Undone: {} ({}).", undone.change.verb, changed_files(&undone.change).join(", "));
    for id in &waiting {
        words.push_str(&format!(" {id} is back in your review."));
    }
    // The file may have another name now, or none.
    let from = request.fields.get("from").filter(|from| find_path(request.context, from).is_ok());
    let page = from.map_or_else(|| "today".to_owned(), memory_address);
    Ok(request.see(&page, PageNotice::done(words).with_undo(undone.by.change)))
}

fn decision(request: &PageRequest<'_>, id: ProposalId) -> Result<PageAnswer, CliError> {
    request.context.require_person("undo the decision on a proposal")?;
    let notice = match undo_decision(request.context, id, None)? {
        ReconsiderOutcome::Waiting => PageNotice::done(format!("{id} is back in your review.")),
        ReconsiderOutcome::Otherwise(record) if record.proposal.status.is_open() => {
            PageNotice::problem(format!("{id} is not decided yet."))
        }
        ReconsiderOutcome::Otherwise(record) => {
            PageNotice::problem(outcome_with_author(request.context, &record))
        }
        ReconsiderOutcome::Unknown => PageNotice::problem(format!("There is no proposal {id}.")),
    };
    Ok(request.see(&format!("review#{id}"), notice))
}
