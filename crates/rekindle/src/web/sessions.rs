//! Sessions and runs: what was said, what was kept and what was not, what was injected, and what it took.

use maud::{Markup, html};
use rekindle_core::run::RunStatus;
use rekindle_core::session::outcome::SessionOutcome;
use rekindle_core::text::clean::one_line;
use rekindle_engine::jobs::queue::{RunRecord, StepRecord};
use serde_json::Value;

use super::layout::PageSection;
use super::memory::{shorten, speaker};
use super::parts::{counted, day_words, figure, grouped, memory_address, when};
use super::request::{PageAnswer, PageContent, PageRequest, encode};
use crate::app::CommandContext;
use crate::app::explain;
use crate::app::sessions::{SessionView, agent_name, list, runs, took_ms, view};
use crate::error::CliError;

/// The most sessions on the page.
const MAX_SESSIONS: usize = 200;
/// The most messages of a conversation.
const MAX_MESSAGES: usize = 400;
/// The most characters of a message.
const MAX_MESSAGE_CHARS: usize = 2_000;
/// The most characters of a step's result.
const MAX_RESULT_CHARS: usize = 600;

pub(super) fn show(request: &PageRequest<'_>) -> Result<PageAnswer, CliError> {
    let context = request.context;
    let sessions = list(context)?;
    let shown = sessions.get(..MAX_SESSIONS).unwrap_or(&sessions);
    let days = shown.chunk_by(|a, b| day_words(context, a.0.last_seen) == day_words(context, b.0.last_seen));
    let body = html! {
        h1 { "Sessions" }
        p.lead { (counted(sessions.len() as u64, "session", "sessions")) " in 30 days. " a href="runs" { "Background runs" } }
        @if sessions.is_empty() { p.empty { "None yet. " code { "rekindle install" } " connects your agents." } }
        @for day in days {
            h2.day { (day_words(context, day[0].0.last_seen)) }
            ul.rows {
                @for (session, injected) in day {
                    li.row.session {
                        a.title href={ "session?id=" (encode(&session.id)) } {
                            (agent_name(&session.agent)) " " span.soft { (when(context, session.last_seen)) }
                        }
                        p.about {
                            (outcome(&session.outcome))
                            @if injected.turns > 0 { span { (counted(injected.turns as u64, "turn", "turns")) } }
                            @if injected.memories > 0 { span { (counted(injected.memories as u64, "memory", "memories")) " shown" } }
                            @if injected.tokens > 0 { span { (grouped(injected.tokens)) " tokens" } }
                            code { (one_line(&session.id, 36)) }
                        }
                    }
                }
            }
        }
    };
    Ok(PageContent::new("Sessions", PageSection::Sessions, body).live().into())
}

fn outcome(outcome: &SessionOutcome) -> Markup {
    html! {
        @match outcome {
            SessionOutcome::Learnt => span.chip.good { "learnt from" },
            SessionOutcome::Skipped(why) => span { "nothing kept: " (one_line(why, 120)) },
            SessionOutcome::Waiting => span.chip { "not processed yet" },
            SessionOutcome::GivenUp => span.chip.warn { "failed" },
        }
    }
}

pub(super) fn session(request: &PageRequest<'_>) -> Result<PageAnswer, CliError> {
    let view = view(request.context, request.fields.require("id")?)?;
    let body = html! {
        p.crumbs { a href="sessions" { "Sessions" } " / " (one_line(&view.id, 12)) }
        h1 {
            @match &view.summary { Some(summary) => (agent_name(&summary.agent)), None => "A session" }
        }
        p.about {
            @if let Some(summary) = &view.summary { (when(request.context, summary.last_seen)) (outcome(&summary.outcome)) }
            code { (one_line(&view.id, 60)) }
        }
        @if let Some(report) = &view.injected { (numbers(report)) }
        div.columns {
            div {
                (kept(&view))
                (conversation(request.context, &view))
            }
            div.aside {
                @if let Some(report) = &view.injected { (injected(&view, report)) }
                section aria-labelledby="runs" {
                    h2 #runs { "Runs" }
                    @if view.runs.is_empty() { p.empty { "None are kept." } }
                    (run_list(request.context, &view.runs))
                }
            }
        }
    };
    Ok(PageContent::new("Session", PageSection::Sessions, body).into())
}

fn numbers(report: &Value) -> Markup {
    let tokens = &report["tokens"];
    let number = |value: &Value| grouped(value.as_u64().unwrap_or(0));
    html! {
        div.figures {
            (figure(number(&report["turns"]), "turns"))
            (figure(number(&tokens["injected"]), "tokens injected"))
            (figure(number(&report["corrections"]), "corrections by you"))
            @if let Some(share) = tokens["share"].as_f64() { (figure(format!("{:.1} %", share * 100.0), "of the session")) }
        }
        @if report["heldOut"] == Value::Bool(true) {
            p.notice { "Recall was off in this session, for comparison (recall.holdout)." }
        }
    }
}

/// What was kept of the session.
fn kept(view: &SessionView) -> Markup {
    html! {
        section aria-labelledby="kept" {
            h2 #kept { "What was kept" }
            @if view.observations.is_empty() { p.empty { "Nothing." } }
            ul.rows {
                @for finding in view.observations.iter().flat_map(|record| record.observed.findings()) {
                    li.row {
                        p.title { (shorten(&finding.text, 400)) }
                        p.about {
                            span.kind { (finding.priority.as_str()) " priority" }
                            span { (finding.origin) }
                            @if let Some(verdict) = finding.gate.as_ref().filter(|verdict| !verdict.is_passing()) {
                                span.chip.warn { "doubted" }
                                @if let Some(against) = &verdict.against { a href=(memory_address(against)) { "against another memory" } }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn conversation(context: &CommandContext<'_>, view: &SessionView) -> Markup {
    let messages = &view.conversation.messages;
    html! {
        section aria-labelledby="said" {
            h2 #said { "What was said" }
            @if messages.is_empty() { p.empty { "The messages of this session were not kept." } }
            div.talk {
                @for said in messages.iter().take(MAX_MESSAGES) {
                    div.said {
                        p.who { (speaker(said.role)) @if let Some(at) = said.at { " · " (when(context, at)) } }
                        p.words { (shorten(&said.text, MAX_MESSAGE_CHARS)) }
                    }
                }
            }
            @if messages.len() > MAX_MESSAGES { p.soft { (messages.len() - MAX_MESSAGES) " messages more" } }
        }
    }
}

/// What was injected where, and what became of it.
fn injected(view: &SessionView, report: &Value) -> Markup {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let blocks = report["blocks"].as_array().into_iter().flatten();
    html! {
        section aria-labelledby="told" {
            h2 #told { "What the agent was shown" }
            @for block in blocks {
                div.block {
                    p.about {
                        strong { (text(&block["what"])) }
                        span { (grouped(block["tokens"].as_u64().unwrap_or(0))) " tokens" }
                        @if block["corrected"] == Value::Bool(true) { span.chip.warn { "you corrected this turn" } }
                    }
                    @if let Some(query) = block["query"].as_str() { p.soft { "“" (one_line(query, 120)) "”" } }
                    ul.plain {
                        @for memory in block["memories"].as_array().into_iter().flatten() {
                            @let (id, became) = (text(&memory["id"]), text(&memory["became"]));
                            li {
                                a href=(memory_address(&id)) { (one_line(view.titles.get(&id).map(String::as_str).or(memory["title"].as_str()).unwrap_or(&id), 90)) }
                                @if text(&block["what"]) != "briefing" {
                                    " " span.chip.good[became == "used"].warn[became == "corrected"] title=(explain::outcome(&became)) { (became) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

pub(super) fn all_runs(request: &PageRequest<'_>) -> Result<PageAnswer, CliError> {
    let failed = request.fields.get("failed").is_some();
    let runs = runs(request.context, failed)?;
    let body = html! {
        p.crumbs { a href="sessions" { "Sessions" } " / runs" }
        h1 { "Background runs" }
        p.lead {
            "What Rekindle did with your sessions, the newest first. "
            @if failed { a href="runs" { "Show all" } } @else { a href="runs?failed=1" { "Show failed ones" } }
        }
        @if runs.is_empty() { p.empty { "None." } }
        (run_list(request.context, &runs))
    };
    Ok(PageContent::new("Runs", PageSection::Sessions, body).live().into())
}

fn run_list(context: &CommandContext<'_>, runs: &[RunRecord]) -> Markup {
    html! {
        ul.rows.runs {
            @for run in runs {
                li.row {
                    details id={ "run-" (run.id) } {
                        summary {
                            strong { (run.function) } " "
                            span.chip.good[run.status == RunStatus::Completed].warn[run.status == RunStatus::Dead] { (run.status.as_str().to_lowercase()) }
                            " " span.soft { (when(context, run.created)) @if let Some(took) = took_ms(run.started, run.ended) { ", " (took) " ms" } }
                        }
                        @if let Some(why) = run.reason.as_ref().or(run.error.as_ref()) { p.soft { (one_line(why, 300)) } }
                        p.soft { "because of " code { (run.trigger) } ", " (counted(u64::from(run.attempts), "attempt", "attempts")) }
                        @if run.status == RunStatus::Dead { p { "Retry it with " code { "rekindle retry " (run.id) } } }
                        ol.plain.steps { @for step in &run.steps { (step_row(step)) } }
                    }
                }
            }
        }
    }
}

fn step_row(step: &StepRecord) -> Markup {
    html! {
        li {
            strong { (step.name) }
            span.soft { @match took_ms(Some(step.started), step.ended) { Some(took) => { " " (took) " ms" }, None => " not over" } }
            @if let Some(error) = &step.error { p.soft { "failed: " (one_line(error, 300)) } }
            @if let Some(result) = step.result.as_ref().filter(|result| !result.is_null()) {
                pre.result { (shorten(&result.to_string(), MAX_RESULT_CHARS)) }
            }
        }
    }
}
