//! The inbox: memories that were seen only once, kept or dropped.

use maud::{Markup, html};
use rekindle_core::text::clean::one_line;
use rekindle_engine::vault::{KeepRequest, ScannedEntry};

use super::layout::form_key;
use super::parts::{MAX_TITLE_CHARS, counted, memory_address, reference, scope_chip, when};
use super::request::{PageAnswer, PageNotice, PageRequest};
use crate::app::inbox;
use crate::error::CliError;

/// The most guesses that are listed.
const MAX_LISTED: usize = 20;
/// The kind of a note without one: the name of its folder.
const NO_KIND: &str = "inbox";

/// The list on the page of the review.
pub(super) fn list(request: &PageRequest<'_>, waiting: &[ScannedEntry]) -> Markup {
    html! {
        @if !waiting.is_empty() {
            section aria-labelledby="inbox" {
                h2 #inbox { "Inbox" }
                p.soft { "Guesses from single sessions. They are searched, rank lower, and need no decision." }
                ul.rows {
                    @for found in waiting.iter().take(MAX_LISTED) {
                        li.row {
                            a.title href=(memory_address(&reference(found))) { (one_line(&found.title, MAX_TITLE_CHARS)) }
                            div.about {
                                @if found.entry.kind != NO_KIND { span.kind { (one_line(&found.entry.kind, 40)) } }
                                (scope_chip(found.entry.scope.project()))
                                span { (inbox::origin_phrase(found)) }
                                @if let Some(at) = found.entry.created { (when(request.context, at)) }
                                (buttons(request, found, "review"))
                            }
                        }
                    }
                }
                @if waiting.len() > MAX_LISTED { p { a href="search?reviewed=no" { (waiting.len() - MAX_LISTED) " more" } } }
            }
        }
    }
}

/// The buttons that keep and drop a memory. `back` is the page that follows.
pub(super) fn buttons(request: &PageRequest<'_>, found: &ScannedEntry, back: &str) -> Markup {
    let needs_kind = found.entry.kind == NO_KIND;
    let title = one_line(&found.title, 60);
    html! {
        @if !request.server.read_only {
            form.inline.no-print method="post" action="inbox" {
                (form_key(request.server))
                input type="hidden" name="id" value=(found.path);
                input type="hidden" name="back" value=(back);
                @if needs_kind {
                    input.kind-field type="text" name="kind" placeholder="fix, preference, …" aria-label={ "Kind of " (title) };
                }
                button.quiet type="submit" name="verdict" value="keep" { "Keep" span.unseen { " " (title) } }
                button.quiet type="submit" name="verdict" value="drop" { "Drop" span.unseen { " " (title) } }
            }
        }
    }
}

/// Keeps or drops the memories of a form.
pub(super) fn decide(request: &PageRequest<'_>) -> Result<PageAnswer, CliError> {
    let context = request.context;
    let names: Vec<String> = request.fields.all("id").map(str::to_owned).collect();
    if names.is_empty() {
        return Ok(request.see("review#inbox", PageNotice::problem("Nothing was selected.")));
    }
    let (done, word) = match request.fields.require("verdict")? {
        "keep" => {
            let kind = request.fields.get("kind").map(str::to_owned);
            let kept = inbox::keep(context, &names, &KeepRequest { kind, always_load: false })?;
            (kept, "kept; it counts as reviewed now")
        }
        "drop" => (inbox::drop_entries(context, &names)?, "dropped; it is in the archive"),
        _ => return Err(CliError::usage("there is no such decision, so nothing was changed")),
    };
    let mut words = format!("{} {word}.", counted(done.entries.len() as u64, "memory", "memories"));
    for copy in &done.conflicts {
        words.push_str(&format!(" Another version that came meanwhile is {}.", copy.display()));
    }
    let back = match (request.fields.get("back"), done.entries.first()) {
        (Some("memory"), Some(moved)) => memory_address(moved.path.as_str()),
        _ => "review#inbox".to_owned(),
    };
    Ok(request.see(&back, PageNotice::done(words).with_undo(done.change)))
}
