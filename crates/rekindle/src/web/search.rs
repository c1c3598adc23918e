//! Search: the real recall with filters, and the reasons for every hit. Without a question, all memories.

use maud::{Markup, html};
use rekindle_core::base::provenance::Origin;
use rekindle_core::base::time::TypedTime;
use rekindle_core::recall::document::Document;
use rekindle_core::recall::filter::RecallFilters;
use rekindle_core::recall::relevance_gate::RelevanceDecision;
use rekindle_core::recall::select::{MAX_LISTED_RESULTS, RecallHit};
use rekindle_core::recall::trust::TrustDoubt;
use rekindle_core::text::clean::{clean, one_line};
use rekindle_engine::recall::ask::{RecallAnswer, ShownPassage};
use serde_json::json;

use super::layout::PageSection;
use super::parts::{MAX_TITLE_CHARS, counted, memory_address, memory_row, origin_words, scope_chip, when};
use super::plot::bar;
use super::request::{PageAnswer, PageContent, PageRequest, RequestFields, encode};
use crate::app::browse::{FilterValues, list};
use crate::app::explain::{self, ScoreRow, gate, rule, score_rows};
use crate::app::recall::{RecallQuestion, hit_location, recall, recall_and_log, result};
use crate::app::{CommandContext, status};
use crate::error::CliError;

/// The number of memories on a page of the list.
const PAGE_LENGTH: usize = 50;
/// The most characters of a question.
const MAX_QUERY_CHARS: usize = 2_000;
/// The most memories in the list of those that were left out.
const MAX_LEFT_OUT: usize = 100;
/// The fields of the form, in the order of the address.
const FIELDS: [&str; 7] = ["q", "project", "kind", "origin", "reviewed", "since", "anyway"];

pub(super) fn show(request: &PageRequest<'_>) -> Result<PageAnswer, CliError> {
    let (context, fields) = (request.context, request.fields);
    let is_live = fields.get("live").is_some();
    let filters = filters(context, fields);
    let query: String = fields.get("q").unwrap_or_default().chars().take(MAX_QUERY_CHARS).collect();
    let answer = match &filters {
        Ok(filters) if !query.is_empty() => hits(context, fields, filters, &query, is_live)?,
        Ok(filters) => browse(context, fields, filters)?,
        Err(failure) => html! { p.notice.problem role="alert" { (failure.message) } },
    };
    if is_live {
        return Ok(PageAnswer::Fragment(answer));
    }
    let values = list(context, &RecallFilters::default(), None)?.values;
    let body = html! {
        h1 { "Search" }
        (form(fields, &values))
        div #results aria-live="polite" { (answer) }
    };
    let title =
        if query.is_empty() { "Search".to_owned() } else { format!("{} – Search", one_line(&query, 60)) };
    Ok(PageContent::new(title, PageSection::Search, body).into())
}

fn filters(context: &CommandContext<'_>, fields: &RequestFields) -> Result<RecallFilters, CliError> {
    let mut filters = RecallFilters::default();
    filters.kinds.extend(fields.get("kind").map(str::to_owned));
    if let Some(origin) = fields.get("origin") {
        let origin: Origin = origin.parse().map_err(|_| CliError::usage("there is no such author"))?;
        filters.origins.push(origin);
    }
    filters.reviewed = fields.get("reviewed").map(|reviewed| reviewed == "yes");
    if let Some(since) = fields.get("since") {
        let since: TypedTime = since.parse().map_err(CliError::usage)?;
        filters.since = Some(since.start(&context.now));
    }
    Ok(filters)
}

fn form(fields: &RequestFields, values: &FilterValues) -> Markup {
    let chosen = |name: &str, value: &str| fields.get(name).unwrap_or_default() == value;
    html! {
        form #search-form action="search" method="get" role="search" {
            div.search-line {
                label.unseen for="q" { "Question or keywords" }
                input #q type="search" name="q" value=[fields.get("q").map(clean)] autocomplete="off" spellcheck="false"
                    placeholder="What do you want to know?" autofocus[fields.get("q").is_none()];
                button.main type="submit" { "Search" }
            }
            div.filters {
                label { "Project"
                    select name="project" {
                        option value="" selected[chosen("project", "")] { "All projects" }
                        @for project in &values.projects {
                            option value=(project) selected[chosen("project", project.as_str())] { (one_line(project.as_str(), 60)) }
                        }
                    }
                }
                label { "Kind"
                    select name="kind" {
                        option value="" { "Any kind" }
                        @for (kind, count) in &values.kinds {
                            option value=(kind) selected[chosen("kind", kind)] { (one_line(kind, 40)) " (" (count) ")" }
                        }
                    }
                }
                label { "Who said it"
                    select name="origin" {
                        option value="" { "Anyone" }
                        @for origin in Origin::ALL {
                            option value=(origin) selected[chosen("origin", &origin.to_string())] { (origin_words(origin)) }
                        }
                    }
                }
                label { "Reviewed"
                    select name="reviewed" {
                        option value="" { "Either" }
                        option value="yes" selected[chosen("reviewed", "yes")] { "Reviewed" }
                        option value="no" selected[chosen("reviewed", "no")] { "Not reviewed" }
                    }
                }
                label { "Since"
                    input type="text" name="since" value=[fields.get("since").map(clean)] placeholder="7d, 2026-11-01";
                }
            }
            label.check {
                input type="checkbox" name="anyway" value="1" checked[fields.get("anyway").is_some()];
                " Show the closest even if nothing answers the question"
            }
        }
    }
}

/// Answers a question. One that is still being typed leaves no trace in the log.
fn hits(
    context: &CommandContext<'_>,
    fields: &RequestFields,
    filters: &RecallFilters,
    query: &str,
    is_live: bool,
) -> Result<Markup, CliError> {
    if let Some(why) = status::switched_off(context)? {
        return Ok(html! { p.empty { "Nothing is searched while memory is off: " (why) } });
    }
    let question = RecallQuestion {
        query,
        k: MAX_LISTED_RESULTS,
        filters: filters.clone(),
        project: Some(fields.get("project").unwrap_or("all").to_owned()),
        include_inbox: false,
        anyway: fields.get("anyway").is_some(),
    };
    let (answer, report) =
        if is_live { recall(context, &question)? } else { recall_and_log(context, &question, "page")? };
    let best = answer.selection.hits.first().map_or(0.0, |hit| f64::from(hit.ranked.score));
    Ok(html! {
        p.soft.summary role="status" {
            (counted(answer.selection.hits.len() as u64, "memory", "memories")) " of "
            (counted(answer.documents as u64, "document", "documents")) " in " (report["tookMs"].as_f64().unwrap_or_default().round()) " ms"
        }
        @for degraded in &answer.degraded {
            p.notice.problem {
                span {
                    (degraded.explain()) "."
                    @if let Some(next) = explain::degraded_next(*degraded) { " " code { (next) } " mends it." }
                }
            }
        }
        @if answer.selection.hits.is_empty() { (nothing(&answer, fields)) }
        ol.rows.hits {
            @for (hit, shown) in answer.selection.hits.iter().zip(&answer.passages) {
                (hit_row(context, hit, shown, best))
            }
        }
        (left_out(&answer))
    })
}

fn nothing(answer: &RecallAnswer, fields: &RequestFields) -> Markup {
    html! {
        p.lead {
            @match answer.decision.filter(|_| answer.abstained) {
                Some(decision) => (decision.reason.explain()),
                None => "Nothing found.",
            }
        }
        @if answer.abstained && fields.get("anyway").is_none() {
            p { a href={ "search?" (address(fields)) "&anyway=1" } { "Show the closest" } }
        }
    }
}

/// The fields of the form as a part of an address.
fn address(fields: &RequestFields) -> String {
    let given = FIELDS.into_iter().filter_map(|name| Some((name, fields.get(name)?)));
    given.map(|(name, value)| format!("{name}={}", encode(value))).collect::<Vec<_>>().join("&")
}

fn hit_row(context: &CommandContext<'_>, hit: &RecallHit, shown: &ShownPassage, best: f64) -> Markup {
    let document = &hit.document;
    let score = f64::from(hit.ranked.score);
    let (title, text) = (hit_title(document), clean(shown.text.trim()).into_owned());
    html! {
        li.row {
            a.title href=(memory_address(&document.id)) { (title) }
            @if one_line(&text, MAX_TITLE_CHARS) != title { p.passage { (text) } }
            p.about {
                span.kind { (one_line(&document.kind, 40)) }
                (scope_chip(document.project.as_ref()))
                @if let Some(at) = document.created { (when(context, at)) }
                (marks(hit, shown))
            }
            details {
                summary { "Why" span.unseen { " this memory" } (bar(score, best.max(score))) span.score { (format!("{score:.3}")) } }
                (reasons(hit, shown))
            }
        }
    }
}

fn hit_title(document: &Document) -> String {
    match document.title.trim() {
        "" => one_line(&document.text, MAX_TITLE_CHARS),
        title => one_line(title, MAX_TITLE_CHARS),
    }
}

fn marks(hit: &RecallHit, shown: &ShownPassage) -> Markup {
    let document = &hit.document;
    let marks = [
        (!document.reviewed, "unreviewed"),
        (document.inbox, "inbox"),
        (document.stale, "may be outdated"),
        (!document.active, "no longer holds"),
        (hit.doubts.iter().any(|doubt| matches!(doubt, TrustDoubt::Contradicted { .. })), "contradicted"),
        (shown.refreshed, "changed since it was indexed"),
    ];
    html! {
        @for (_, mark) in marks.into_iter().filter(|(holds, _)| *holds) {
            // Most captured memories are unreviewed, so that is no warning.
            span.chip.warn[mark != "unreviewed" && mark != "inbox"] { (mark) }
        }
        @if hit.lineage.len() > 1 { span.chip { "observed " (hit.lineage.len()) " times" } }
    }
}

fn reasons(hit: &RecallHit, shown: &ShownPassage) -> Markup {
    let report = result(hit, shown);
    let (parts, factors) = score_rows(&report);
    let most = parts.iter().map(|row| row.value.abs()).fold(0.01, f64::max);
    let rows = |rows: &[ScoreRow], most: f64, sign: &str| {
        html! {
            @for row in rows {
                tr {
                    th scope="row" { (row.name) }
                    td.number { (sign) (format!("{:.3}", row.value + 0.0)) }
                    td { (bar(row.value, most)) }
                    td.soft { (row.meaning) }
                }
            }
        }
    };
    html! {
        div.scroll tabindex="0" role="group" aria-label="Parts of the score" {
            table.reasons {
                tbody { (rows(&parts, most, "")) }
                tbody { (rows(&factors, 1.0, "× ")) }
            }
        }
        @for doubt in &hit.doubts {
            p.soft {
                (explain::doubt(doubt))
                @if let TrustDoubt::Contradicted { by } = doubt { " " a href=(memory_address(by)) { "Show it" } }
            }
        }
        p.soft { "In " code { (hit_location(&hit.document, shown)) } }
    }
}

fn left_out(answer: &RecallAnswer) -> Markup {
    let dropped = &answer.selection.dropped;
    html! {
        @if let Some(decision) = &answer.decision { (gate_line(decision)) }
        @if !dropped.is_empty() {
            details #left-out {
                summary { "Left out (" (dropped.len()) ")" }
                div.scroll tabindex="0" role="group" aria-label="Memories that were left out" {
                    table {
                        thead { tr { th.number { "Score" } th { "Memory" } th { "Why it was left out" } } }
                        tbody {
                            @for one in dropped.iter().take(MAX_LEFT_OUT) {
                                tr {
                                    td.number { (format!("{:.3}", one.score)) }
                                    td { a href=(memory_address(&one.id)) { (one_line(&one.title, 90)) } }
                                    td.soft { (rule(json!(one.rule).as_str().unwrap_or_default())) }
                                }
                            }
                        }
                    }
                }
                @if dropped.len() > MAX_LEFT_OUT { p.soft { "and " (dropped.len() - MAX_LEFT_OUT) " further down" } }
            }
        }
    }
}

fn gate_line(decision: &RelevanceDecision) -> Markup {
    html! {
        details #gate {
            summary {
                "Relevance gate "
                (bar(decision.probability, 1.0))
                span.score { (format!("{:.0} %", decision.probability * 100.0)) }
            }
            p.soft { (gate(decision)) }
        }
    }
}

/// All memories that pass the filters, the newest first.
fn browse(
    context: &CommandContext<'_>,
    fields: &RequestFields,
    filters: &RecallFilters,
) -> Result<Markup, CliError> {
    let listing = list(context, filters, fields.get("project"))?;
    let page: usize = fields.get("page").and_then(|page| page.parse().ok()).unwrap_or(1).max(1);
    let from = (page - 1).saturating_mul(PAGE_LENGTH);
    let shown = listing.found.iter().skip(from).take(PAGE_LENGTH);
    let has_more = listing.found.len() > from.saturating_add(PAGE_LENGTH);
    let to_page = |number: usize| format!("search?{}&page={number}", address(fields));
    Ok(html! {
        p.soft.summary role="status" { (counted(listing.found.len() as u64, "memory", "memories")) ", the newest first" }
        @if listing.found.is_empty() {
            p.empty { "No memory matches. What you tell an agent to remember appears here; " code { "rekindle save" } " adds one by hand." }
        }
        ul.rows {
            @for found in shown { (memory_row(context, found, found.entry.updated.or(found.entry.created))) }
        }
        @if page > 1 || has_more {
            nav.pages aria-label="Pages of the list" {
                @if page > 1 { a.button href=(to_page(page - 1)) { "Newer" } }
                @if has_more { a.button href=(to_page(page + 1)) { "Older" } }
            }
        }
    })
}
