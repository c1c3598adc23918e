//! Approved changes of identity files: the exact change, applied or discarded by the person (IDN-05).

use maud::{Markup, html};
use rekindle_core::base::decided_by::DecidedBy;
use rekindle_core::base::hash::ContentHash;
use rekindle_core::hosts::install::diff::unified_diff;
use rekindle_core::text::clean::clean;
use rekindle_core::vault::review::ProposalId;
use rekindle_engine::review::patches::PendingPatch;
use rekindle_engine::vault::AmendedFile;

use super::layout::form_key;
use super::parts::diff;
use super::request::{PageAnswer, PageNotice, PageRequest};
use crate::app::review::describe::outcome_with_author;
use crate::app::review::patches::{ApplicablePatch, apply_patch, discard_patch, preview_patch};
use crate::error::CliError;

/// The patches on the page of the review.
pub(super) fn list(request: &PageRequest<'_>, waiting: &[PendingPatch]) -> Markup {
    html! {
        @if !waiting.is_empty() {
            section aria-labelledby="patches" {
                h2 #patches { "Approved, to be applied by you" }
                p.soft { "These change files that every agent reads. Rekindle changes them only when you say so here or with " code { "rekindle review apply" } "." }
                @for patch in waiting { (card(request, patch)) }
            }
        }
    }
}

fn card(request: &PageRequest<'_>, patch: &PendingPatch) -> Markup {
    let proposal = &patch.record.proposal;
    html! {
        article.card.proposal id={ "patch-" (proposal.id) } aria-labelledby={ "pt-" (proposal.id) } {
            header {
                span.kind { "Changes " (proposal.file()) }
                span.soft.id { (proposal.id) }
            }
            p.statement id={ "pt-" (proposal.id) } { (clean(patch.record.text())) }
            @match &patch.fits {
                Ok(amended) if amended.is_there() => p.soft { "The file says so already." },
                Ok(amended) => (diff(&change(proposal.file(), amended))),
                Err(why) => p.notice.problem { "It no longer fits the file: " (why) },
            }
            @if !request.server.read_only {
                form method="post" action="patch" {
                    (form_key(request.server))
                    input type="hidden" name="id" value=(proposal.id);
                    @if let Ok(amended) = &patch.fits {
                        input type="hidden" name="seen" value=(seen(proposal.file(), amended));
                    }
                    div.actions {
                        @if patch.fits.is_ok() { button.main type="submit" name="verdict" value="apply" { "Apply to " (proposal.file()) } }
                        button.danger type="submit" name="verdict" value="discard" { "Discard" }
                    }
                }
            }
        }
    }
}

fn change(name: &str, amended: &AmendedFile) -> String {
    unified_diff(name, amended.before.as_deref(), Some(&amended.after))
}

/// The fingerprint of the change that the person sees.
fn seen(name: &str, amended: &AmendedFile) -> String {
    ContentHash::of_bytes(change(name, amended).as_bytes()).short_hex(32)
}

/// Applies or discards one patch.
pub(super) fn decide(request: &PageRequest<'_>) -> Result<PageAnswer, CliError> {
    let context = request.context;
    let id: ProposalId =
        request.fields.require("id")?.parse().map_err(|_| CliError::usage("this is no id of a proposal"))?;
    match request.fields.require("verdict")? {
        "apply" => {}
        "discard" => {
            discard_patch(context, id, DecidedBy::Web)?;
            let words = format!("{id} was discarded. No file was changed.");
            return Ok(request.see("review", PageNotice::done(words).with_undo(Some(id))));
        }
        _ => return Err(CliError::usage("there is no such decision, so nothing was changed")),
    }
    let patch = match preview_patch(context, id)? {
        ApplicablePatch::Patch(patch) => patch,
        ApplicablePatch::Applied(record) => {
            let words = format!("{}; nothing was left to apply.", outcome_with_author(context, &record));
            return Ok(request.see("review", PageNotice::done(words)));
        }
    };
    let name = patch.record.proposal.file();
    if seen(name, &patch.amended) != request.fields.get("seen").unwrap_or_default() {
        let words =
            format!("{name} has changed since you looked, so nothing was applied. This is the change now.");
        return Ok(request.see(&format!("review#patch-{id}"), PageNotice::problem(words)));
    }
    apply_patch(context, &patch)?;
    let words = format!("Applied {id} to {}.", patch.amended.file.display());
    Ok(request.see("review", PageNotice::done(words).with_undo(Some(id))))
}
