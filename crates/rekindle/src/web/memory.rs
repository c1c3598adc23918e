//! One memory: its text, its versions, where it came from, where it was shown, and its links; edit, move, forget.

use maud::{Markup, html};
use rekindle_core::base::scope::{ProjectId, Scope};
use rekindle_core::recall::document::Document;
use rekindle_core::recall::filter::RecallFilters;
use rekindle_core::session::MessageRole;
use rekindle_core::text::clean::{clean, one_line};
use rekindle_core::vault::entry::EntryStatus;
use rekindle_core::vault::layout::VaultShelf;
use rekindle_core::vault::path::VaultPath;

use super::inbox;
use super::layout::{PageSection, form_key};
use super::parts::{
    MAX_TITLE_CHARS, diff, figure, memory_address, memory_row, origin_words, scope_chip, when,
};
use super::request::{PageAnswer, PageContent, PageNotice, PageRequest, encode};
use crate::app::browse::list;
use crate::app::explain;
use crate::app::forget::lines;
use crate::app::memory::change::{self, EditOutcome, redaction_words};
use crate::app::memory::{MemoryView, NamedMemory, find_path, look_up};
use crate::error::CliError;

/// The longest text that the page shows; the file has the rest.
const MAX_SHOWN_CHARS: usize = 200_000;
/// The largest note that can be edited here.
const MAX_EDITED_BYTES: usize = 1024 * 1024;
/// The number of messages shown before and after those that a memory was made from.
const CONVERSATION_CONTEXT: usize = 2;
/// The most characters of a message in a conversation.
const MAX_MESSAGE_CHARS: usize = 1_500;
/// The most injections that are listed.
const MAX_INJECTIONS: usize = 30;

pub(super) fn show(request: &PageRequest<'_>) -> Result<PageAnswer, CliError> {
    let page = match look_up(request.context, request.fields.require("id")?)? {
        NamedMemory::Entry(view) => entry_page(request, &view)?,
        NamedMemory::Document(document) => document_page(request, &document),
    };
    Ok(page.into())
}

fn entry_page(request: &PageRequest<'_>, view: &MemoryView) -> Result<PageContent, CliError> {
    let context = request.context;
    let entry = &view.found.entry;
    let body = html! {
        p.crumbs { a href="search" { "Memories" } " / " (one_line(&entry.kind, 40)) }
        article.memory {
            h1 { (one_line(&view.found.title, MAX_TITLE_CHARS)) }
            p.about {
                span.kind { (one_line(&entry.kind, 40)) }
                (scope_chip(entry.scope.project()))
                @if view.is_reviewed { span.chip.good { "reviewed" } } @else { span.chip.warn { "not reviewed" } }
                @if view.found.shelf == VaultShelf::Inbox { span.chip { "inbox" } }
                @if entry.always_load { span.chip.good { "loaded at every start" } }
                @if entry.status != EntryStatus::Active { span.chip.warn { (one_line(entry.status.as_str(), 30)) } }
                @for tag in &entry.tags { span.chip { "#" (one_line(tag, 40)) } }
                @if let Some(at) = entry.created { span { "since " (when(context, at)) } }
            }
            @if let Some(next) = &view.successor {
                p.notice.problem { span { "A newer version took its place: " a href=(memory_address(next.path.as_str())) { (one_line(&next.title, 90)) } } }
            }
            @if one_line(&view.body, MAX_TITLE_CHARS) != one_line(&view.found.title, MAX_TITLE_CHARS) { div.prose { (text(&view.body)) } }
        }
        @if !request.server.read_only { (actions(request, view)?) }
        div.columns {
            div {
                (contradictions(view))
                (origin(request, view))
                (history(request, view))
            }
            div.aside {
                (used(view))
                (injections(request, view))
                (links(view))
            }
        }
        p.soft.file { "File: " code { (context.file(view.found.path.as_str()).display()) } }
    };
    Ok(PageContent::new(one_line(&view.found.title, 60), PageSection::Search, body))
}

/// The text of a memory: paragraphs, lists and code as they were written, and never interpreted.
fn text(body: &str) -> Markup {
    let whole = clean(body.trim_end());
    let shown: String = whole.chars().take(MAX_SHOWN_CHARS).collect();
    html! {
        (shown)
        @if shown.len() < whole.len() { "\n\n… " span.soft { "(the rest is in the file)" } }
    }
}

fn actions(request: &PageRequest<'_>, view: &MemoryView) -> Result<Markup, CliError> {
    let address = encode(view.found.path.as_str());
    let is_current = view.found.shelf.holds_memories();
    let own = view.found.entry.scope.project();
    let mut projects = list(request.context, &RecallFilters::default(), None)?.values.projects;
    projects.extend(request.context.project_id().cloned());
    Ok(html! {
        div.actions.no-print {
            @if is_current {
                a.button href={ "edit?id=" (address) } { "Edit" }
                form.scope method="post" action="scope" {
                    (form_key(request.server))
                    input type="hidden" name="id" value=(view.found.path);
                    label.unseen for="scope" { "Holds in" }
                    select #scope name="project" {
                        option value="" selected[own.is_none()] { "Everywhere" }
                        @for project in &projects {
                            option value=(project) selected[own == Some(project)] { "Only " (one_line(project.as_str(), 50)) }
                        }
                    }
                    button type="submit" { "Move" }
                }
            }
            @if view.found.shelf == VaultShelf::Inbox { (inbox::buttons(request, &view.found, "memory")) }
            a.button.quiet href={ "forget?id=" (address) } { "Forget…" }
        }
    })
}

fn contradictions(view: &MemoryView) -> Markup {
    html! {
        @if !view.contradictions.is_empty() {
            section aria-labelledby="against" {
                h2 #against { "What it contradicts" }
                ul.rows {
                    @for one in &view.contradictions {
                        li.row {
                            a.title href=(memory_address(&one.id)) { (one_line(&one.title, MAX_TITLE_CHARS)) }
                            p.about {
                                @if one.prevails { span.chip.warn { "counts instead of this one" } } @else { span.chip { "this one counts" } }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn origin(request: &PageRequest<'_>, view: &MemoryView) -> Markup {
    let provenance = &view.found.entry.provenance;
    let excerpts = view.conversation.excerpts(&provenance.messages, CONVERSATION_CONTEXT);
    html! {
        section aria-labelledby="origin" {
            h2 #origin { "Where it came from" }
            p {
                "These are " strong { (origin_words(provenance.origin)) }
                @if let Some(session) = &provenance.session {
                    ", from " a href={ "session?id=" (encode(session)) } { "a session" }
                } @else { ", saved by hand" }
                "."
            }
            @if provenance.session.is_some() && excerpts.is_empty() {
                p.soft { "The conversation around them was not kept." }
            }
            @for part in excerpts {
                div.talk {
                    @for said in part {
                        div.said.cited[provenance.messages.contains(&said.id)] {
                            p.who {
                                (speaker(said.role))
                                @if let Some(at) = said.at { " · " (when(request.context, at)) }
                            }
                            p.words { (shorten(&said.text, MAX_MESSAGE_CHARS)) }
                        }
                    }
                }
            }
        }
    }
}

/// Who said a message.
pub(super) fn speaker(role: MessageRole) -> &'static str {
    match role {
        MessageRole::User => "You",
        MessageRole::Assistant => "Agent",
        MessageRole::Tool => "Tool",
        MessageRole::Summary => "Summary",
    }
}

/// The beginning of a text, without control characters.
pub(super) fn shorten(text: &str, most: usize) -> String {
    let whole = clean(text.trim());
    match whole.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", whole.get(..at).unwrap_or_default()),
        None => whole.into_owned(),
    }
}

fn history(request: &PageRequest<'_>, view: &MemoryView) -> Markup {
    html! {
        section aria-labelledby="history" {
            h2 #history { "History" }
            @if view.versions.is_empty() { p.empty { "Nothing is recorded: the file was not written by Rekindle on this machine." } }
            ol.timeline {
                @for (number, version) in view.versions.iter().enumerate() {
                    li {
                        div.about {
                            strong { (one_line(&version.verb, 30)) }
                            span { "by " (version.by.as_str()) }
                            @if let Some(at) = version.at { (when(request.context, at)) }
                            @if version.can_be_undone && !request.server.read_only {
                                form method="post" action="undo" {
                                    (form_key(request.server))
                                    input type="hidden" name="id" value=(version.change);
                                    input type="hidden" name="from" value=(view.found.path);
                                    button.quiet type="submit" { "Undo" span.unseen { " this change" } }
                                }
                            }
                        }
                        @if let Some(from) = &version.moved_from { p.soft { "moved from " code { (from) } } }
                        @if let Some(change) = version.diff.as_ref().filter(|change| !change.is_empty()) {
                            details #{ "v" (number) } { summary { "What changed" } (diff(change)) }
                        } @else if version.moved_from.is_none() {
                            p.soft { "The file was changed outside of Rekindle since, so the text before is not known." }
                        }
                    }
                }
            }
            @if !view.archived.is_empty() {
                h3 { "Earlier versions in the archive" }
                ul.rows { @for one in &view.archived { (memory_row(request.context, one, one.entry.updated)) } }
            }
        }
    }
}

fn used(view: &MemoryView) -> Markup {
    let usage = &view.usage;
    html! {
        section aria-labelledby="used" {
            h2 #used { "Its use" }
            div.figures {
                (figure(usage.recall_count, "found"))
                (figure(usage.used, "used"))
                (figure(usage.ignored, "ignored"))
                (figure(usage.missed, "said again"))
            }
            p.soft { "Strength " (format!("{:+.2}", usage.strength())) ", from −1 (misleads) to +1 (helps)." }
        }
    }
}

fn injections(request: &PageRequest<'_>, view: &MemoryView) -> Markup {
    html! {
        section aria-labelledby="shown" {
            h2 #shown { "Shown to agents" }
            @if view.injections.is_empty() { p.empty { "Not in the last 90 days." } }
            ul.plain {
                @for one in view.injections.iter().take(MAX_INJECTIONS) {
                    li {
                        a href={ "session?id=" (encode(&one.session)) } { (when(request.context, one.at)) }
                        " " span.soft { (one.agent.name()) ", " (one.moment) }
                        @if let Some(outcome) = one.outcome {
                            " " span.chip.good[outcome == "used"].warn[outcome == "corrected"] title=(explain::outcome(outcome)) { (outcome) }
                        }
                    }
                }
            }
            @if view.injections.len() > MAX_INJECTIONS { p.soft { "and " (view.injections.len() - MAX_INJECTIONS) " times more" } }
        }
    }
}

fn links(view: &MemoryView) -> Markup {
    html! {
        section aria-labelledby="links" {
            h2 #links { "Links" }
            @if view.links.is_empty() && view.backlinks.is_empty() { p.empty { "None to it or from it." } }
            @if !view.links.is_empty() {
                h3 { "To" }
                ul.plain {
                    @for link in &view.links {
                        li {
                            @match &link.to {
                                Some(to) => a href=(memory_address(to.path.as_str())) { (one_line(&to.title, 90)) },
                                None => span.soft { (one_line(&link.target, 90)) },
                            }
                        }
                    }
                }
            }
            @if !view.backlinks.is_empty() {
                h3 { "From" }
                ul.plain {
                    @for document in &view.backlinks {
                        li { a href=(memory_address(&document.id)) { (one_line(if document.title.is_empty() { &document.path } else { &document.title }, 90)) } }
                    }
                }
            }
        }
    }
}

/// A line of a document, a section of a note or a message: what the index has of it.
fn document_page(request: &PageRequest<'_>, document: &Document) -> PageContent {
    let title = if document.title.trim().is_empty() { &document.path } else { &document.title };
    let body = html! {
        p.crumbs { a href="search" { "Memories" } " / " (document.source.as_str()) }
        article.memory {
            h1 { (one_line(title, MAX_TITLE_CHARS)) }
            p.about {
                span.kind { (document.source.as_str()) }
                (scope_chip(document.project.as_ref()))
                span { (origin_words(document.origin)) }
                @if let Some(at) = document.created { (when(request.context, at)) }
            }
            div.prose { (text(&document.text)) }
        }
        p.soft.file { "From " code { (document.path) @if let Some((first, _)) = document.lines { ":" (first) } } ". Change it in its file." }
    };
    PageContent::new(one_line(title, 60), PageSection::Search, body)
}

/// The form to edit a memory.
pub(super) fn edit_form(request: &PageRequest<'_>) -> Result<PageAnswer, CliError> {
    let path = find_path(request.context, request.fields.require("id")?)?;
    let note = request.context.vault()?.read_entry(&path)?;
    if note.text.len() > MAX_EDITED_BYTES {
        return Err(CliError::usage("this memory is too large to edit here")
            .hint(format!("edit it in your editor: `rekindle edit {path}`")));
    }
    // A form field cannot hold these, so saving would change them.
    if note.text.contains(|c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t')) {
        return Err(CliError::usage("this memory holds control characters, which a page cannot edit")
            .hint(format!("edit it in your editor: `rekindle edit {path}`")));
    }
    Ok(editor(request, &path, &note.text, &note.hash.to_string(), None).into())
}

fn editor(
    request: &PageRequest<'_>,
    path: &VaultPath,
    text: &str,
    hash: &str,
    problem: Option<&Markup>,
) -> PageContent {
    let body = html! {
        p.crumbs { a href=(memory_address(path.as_str())) { (path.stem()) } " / edit" }
        h1 { "Edit" }
        @if let Some(problem) = problem { (problem) }
        form method="post" action="edit" {
            (form_key(request.server))
            input type="hidden" name="id" value=(path);
            input type="hidden" name="hash" value=(hash);
            label for="text" { "The note with its properties, as it is in the file" }
            // A browser drops the first line break of the field.
            textarea #text name="text" spellcheck="true" autofocus { "\n" (text) }
            div.actions {
                button.main type="submit" { "Save" }
                a.button.quiet href=(memory_address(path.as_str())) { "Cancel" }
                span.soft { "You can undo it." }
            }
        }
    };
    PageContent::new("Edit", PageSection::Search, body)
}

/// Saves an edit, unless the memory has changed since; then nothing of either text is lost.
pub(super) fn save(request: &PageRequest<'_>) -> Result<PageAnswer, CliError> {
    let path = find_path(request.context, request.fields.require("id")?)?;
    let (hash, sent) = (request.fields.require("hash")?, request.fields.raw("text").unwrap_or_default());
    let current = request.context.vault()?.read_entry(&path)?;
    // Forms send `\r\n`, whatever the file has.
    let mut text = sent.replace("\r\n", "\n");
    if current.text.contains("\r\n") {
        text = text.replace('\n', "\r\n");
    }
    let page = memory_address(path.as_str());
    match change::edit(request.context, &path, hash, &text) {
        Ok(EditOutcome::Saved(edited)) => {
            let copies: String = edited
                .conflicts
                .iter()
                .map(|copy| format!(" The other version is {}.", copy.display()))
                .collect();
            let words = format!("Saved.{}{copies}", redaction_words(&edited.redacted));
            Ok(request.see(&page, PageNotice::done(words).with_undo(edited.change)))
        }
        Ok(EditOutcome::Unchanged) => Ok(request.see(&page, PageNotice::done("No changes."))),
        Ok(EditOutcome::Conflict(now)) => {
            let problem = html! {
                div.notice.problem role="alert" {
                    p { strong { "The memory has changed since you opened it, so nothing was saved. " }
                        "Your text is below; saving it now replaces the version that came meanwhile." }
                    details #meanwhile { summary { "The version that came meanwhile" } pre.quote { (clean(&now.text)) } }
                }
            };
            Ok(editor(request, &path, &text, &now.hash.to_string(), Some(&problem)).into())
        }
        // The text is shown again with the reason, so that nothing typed is lost.
        Err(failure) => {
            let problem = html! {
                div.notice.problem role="alert" {
                    p { strong { "Not saved: " } (failure.message) "." @if let Some(hint) = &failure.hint { " " (hint) "." } }
                }
            };
            Ok(editor(request, &path, &text, hash, Some(&problem)).into())
        }
    }
}

/// Moves a memory between a project and everywhere.
pub(super) fn set_scope(request: &PageRequest<'_>) -> Result<PageAnswer, CliError> {
    let path = find_path(request.context, request.fields.require("id")?)?;
    let scope = request
        .fields
        .get("project")
        .map_or(Scope::Global, |project| Scope::Project(ProjectId::new(project)));
    let words = scope.project().map_or_else(
        || "It holds everywhere now.".to_owned(),
        |project| format!("It holds only in {project} now."),
    );
    let notice = match change::set_scope(request.context, &path, &scope)? {
        EditOutcome::Saved(edited) => PageNotice::done(words).with_undo(edited.change),
        EditOutcome::Unchanged | EditOutcome::Conflict(_) => PageNotice::done("It was there already."),
    };
    Ok(request.see(&memory_address(path.as_str()), notice))
}

/// Asks before a memory is forgotten, and lists what would go.
pub(super) fn forget_form(request: &PageRequest<'_>) -> Result<PageAnswer, CliError> {
    let path = find_path(request.context, request.fields.require("id")?)?;
    let hash = request.context.vault()?.read_entry(&path)?.hash;
    let plan = change::plan_forget(request.context, &path)?;
    let body = html! {
        p.crumbs { a href=(memory_address(path.as_str())) { (path.stem()) } " / forget" }
        h1 { "Forget this for good?" }
        p.lead { "The memory and every copy of its text are deleted, here and in its history. This cannot be undone." }
        ul { @for line in lines(&plan, "would go") { li { (line) } } }
        @for file in &plan.also_in {
            p.notice.problem { (file.display()) " says the same. It is your own note, and is not changed." }
        }
        form method="post" action="forget" {
            (form_key(request.server))
            input type="hidden" name="id" value=(path);
            input type="hidden" name="hash" value=(hash);
            div.actions {
                button.danger type="submit" { "Forget for good" }
                a.button.quiet href=(memory_address(path.as_str())) { "Keep it" }
            }
        }
    };
    Ok(PageContent::new("Forget", PageSection::Search, body).into())
}

pub(super) fn forget(request: &PageRequest<'_>) -> Result<PageAnswer, CliError> {
    let path = find_path(request.context, request.fields.require("id")?)?;
    let gone = change::forget(request.context, &path, request.fields.require("hash")?)?;
    Ok(request.see("search", PageNotice::done(format!("Forgotten. {}.", lines(&gone, "gone").join("; ")))))
}
