//! Settings with their explanation, what is read and what leaves the machine, the agents' connections, and health.

use maud::{Markup, html};
use rekindle_core::config::{Config, KeyDoc, LlmProvider, ReadNotes, keys};
use rekindle_core::telemetry::health::{CheckOutcome, HealthCheck, HealthReport, thresholds};
use rekindle_core::text::clean::one_line;
use rekindle_engine::ops::doctor::FindingSeverity;
use rekindle_engine::platform::db::Database;

use super::layout::{PageSection, form_key};
use super::parts::when;
use super::request::{PageAnswer, PageContent, PageNotice, PageRequest};
use super::setting;
use crate::app::health;
use crate::app::probe::probe_agents;
use crate::app::status::LearningReport;
use crate::app::today::last_heard;
use crate::error::CliError;

pub(super) fn show(request: &PageRequest<'_>) -> Result<PageAnswer, CliError> {
    let context = request.context;
    let report = health::look(context, thresholds::WINDOW_HOURS, thresholds::STALL_MINUTES);
    let body = html! {
        h1 { "Settings" }
        p.lead { "Everything is on this machine. A change goes to " code { (context.home.config_file().display()) } "." }
        (health_section(&report))
        (agents(request)?)
        (reading(&context.settings.config))
        (leaving(&context.settings.config))
        (places(request))
        (all(request)?)
    };
    Ok(PageContent::new("Settings", PageSection::Settings, body).into())
}

fn health_section(report: &HealthReport) -> Markup {
    let (mut checks, mut rest): (Vec<&HealthCheck>, Vec<&HealthCheck>) =
        report.checks.iter().partition(|check| check.outcome == CheckOutcome::Fail);
    let failing = checks.len();
    checks.append(&mut rest);
    html! {
        section aria-labelledby="health" {
            h2 #health { "Health" }
            p {
                @match failing { 0 => { span.dot.good aria-hidden="true" {} "All checks pass." }, count => { span.dot.bad aria-hidden="true" {} (count) " of " (report.checks.len()) " checks fail." } }
            }
            details #checks open[failing > 0] {
                summary { "Every check" }
                div.scroll tabindex="0" role="group" aria-label="Every health check" {
                    table {
                        thead { tr { th { "Check" } th { "Result" } th { "Evidence" } th { "What to do" } } }
                        tbody {
                            @for check in &checks {
                                tr {
                                    th scope="row" { (check.check) }
                                    td { span.chip.good[check.outcome == CheckOutcome::Pass].warn[check.outcome == CheckOutcome::Fail] { (outcome(check.outcome)) } }
                                    td { (one_line(&check.evidence, 240)) }
                                    td.soft { @if let Some(next) = &check.next { (one_line(next, 240)) } }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn outcome(outcome: CheckOutcome) -> &'static str {
    match outcome {
        CheckOutcome::Pass => "passes",
        CheckOutcome::Fail => "fails",
        CheckOutcome::Unmeasured => "too little to measure",
    }
}

fn agents(request: &PageRequest<'_>) -> Result<Markup, CliError> {
    let context = request.context;
    let db = Database::open_existing(&context.places.database())?;
    let states = LearningReport::read(context, db.as_ref(), &[])?.agent_states();
    let heard = last_heard(context);
    Ok(html! {
        section aria-labelledby="agents" {
            h2 #agents { "Agents" }
            ul.plain {
                @for state in &states {
                    li {
                        span.dot.good[state.is_connected] aria-hidden="true" {}
                        (state.words) " "
                        span.soft {
                            @match (state.is_found, state.is_connected) {
                                (_, true) => "connected",
                                (true, false) => { "on this machine, not connected: " code { "rekindle install " (state.agent.as_str()) } },
                                (false, false) => "not on this machine",
                            }
                            @if let Some(at) = heard.get(state.agent.as_str()) { ", heard " (when(context, *at)) }
                        }
                    }
                }
            }
            (probe_results(request))
        }
    })
}

/// The last call of every hook, and the button for the next.
fn probe_results(request: &PageRequest<'_>) -> Markup {
    let last = request.server.last_probe();
    html! {
        @if let Some((at, reports)) = &last {
            div #probe role="status" {
                h3 { "Hooks called " (when(request.context, *at)) }
                @if reports.is_empty() { p.empty { "No agent is connected. " code { "rekindle install" } " connects yours." } }
                ul.plain {
                    @for report in reports {
                        @for finding in &report.findings {
                            li {
                                span.dot.good[finding.level == FindingSeverity::Ok].bad[finding.level == FindingSeverity::Error] aria-hidden="true" {}
                                strong { (report.check) } ": " (one_line(&finding.what, 300))
                                @if let Some(hint) = &finding.hint { " " span.soft { (one_line(hint, 300)) } }
                            }
                        }
                    }
                }
            }
        }
        @if request.server.read_only {
            p.soft { code { "rekindle doctor" } " calls every installed hook and checks its answer." }
        } @else {
            form method="post" action="probe" {
                (form_key(request.server))
                div.actions {
                    button type="submit" { "Call every hook now" }
                    span.soft { "With a sample that leaves no trace." }
                }
            }
        }
    }
}

/// Calls the hooks of every connected agent, as `rekindle doctor` does.
pub(super) fn probe(request: &PageRequest<'_>) -> Result<PageAnswer, CliError> {
    let context = request.context;
    let reports = probe_agents(&context.home, &context.places, &context.settings.config)?;
    let failed =
        reports.iter().flat_map(|report| &report.findings).any(|one| one.level == FindingSeverity::Error);
    request.server.keep_probe(context.now.timestamp(), reports);
    let notice = match failed {
        false => PageNotice::done("Every installed hook was called."),
        true => PageNotice::problem("A hook does not answer as it should; see below."),
    };
    Ok(request.see("settings#agents", notice))
}

fn reading(config: &Config) -> Markup {
    html! {
        section aria-labelledby="read" {
            h2 #read { "What is read" }
            ul {
                li { "The memories in your vault, always." }
                li {
                    "Your other notes: "
                    @match &config.recall.notes {
                        ReadNotes::All => "all of them (recall.notes).",
                        ReadNotes::Folders(folders) if folders.is_empty() => "none. `rekindle config set recall.notes all` lets recall read them.",
                        ReadNotes::Folders(folders) => { "only " (folders.iter().map(|folder| one_line(folder, 60)).collect::<Vec<_>>().join(", ")) " (recall.notes)." },
                    }
                }
                li { "The transcripts of connected agents, once a session ends or pauses. Secrets are removed before anything is kept." }
            }
        }
    }
}

fn leaving(config: &Config) -> Markup {
    let (llm, review, otlp) = (&config.llm, &config.review, &config.telemetry.otlp);
    let model = match llm.provider {
        LlmProvider::Offline => None,
        LlmProvider::Command => Some(
            "A language model, through a program of yours (llm.provider = command): parts of sessions, without secrets.",
        ),
        LlmProvider::Anthropic => {
            Some("The Anthropic API (llm.provider): parts of sessions, without secrets.")
        }
        LlmProvider::Openai => {
            Some("A server with the OpenAI API (llm.provider): parts of sessions, without secrets.")
        }
    };
    let going = [
        model,
        review.todoist.enabled.then_some("Todoist: the text of proposals that wait."),
        review.telegram.enabled.then_some("Telegram: the text of proposals that wait."),
        otlp.enabled.then_some("An OpenTelemetry collector: numbers and ids, never words of yours."),
    ];
    let going: Vec<&str> = going.into_iter().flatten().collect();
    html! {
        section aria-labelledby="leaves" {
            h2 #leaves { "What leaves this machine" }
            @if going.is_empty() {
                p { span.dot.good aria-hidden="true" {} "Nothing. No language model, no task service and no collector is connected." }
            } @else {
                ul { @for one in going { li { (one) } } }
            }
            p.soft { "Your agents send what they are shown to their own models, as they send your prompts." }
        }
    }
}

fn places(request: &PageRequest<'_>) -> Markup {
    let context = request.context;
    let rows = [
        ("Memories", context.places.vault().display().to_string()),
        ("Local state", context.places.state().display().to_string()),
        ("Settings", context.home.config_file().display().to_string()),
    ];
    html! {
        section aria-labelledby="places" {
            h2 #places { "Where things are" }
            table.narrow { tbody { @for (name, place) in rows { tr { th scope="row" { (name) } td { code { (place) } } } } } }
        }
    }
}

/// Every setting by its table, those that differ from the default first in sight.
fn all(request: &PageRequest<'_>) -> Result<Markup, CliError> {
    let settings = &request.context.settings;
    let mut rows: Vec<(KeyDoc, String, Option<String>)> = Vec::new();
    for key in keys() {
        let setting = settings.get(key.name)?;
        let is_default = setting.place.source.as_str() == "default";
        let place = (!is_default).then(|| setting.place.to_string());
        rows.push((key, setting::value_words(&setting.value), place));
    }
    let table = |name: &str| name.split('.').next().unwrap_or_default().to_owned();
    Ok(html! {
        section aria-labelledby="all" {
            h2 #all { "Every setting" }
            @for group in rows.chunk_by(|a, b| table(a.0.name) == table(b.0.name)) {
                details id={ "s-" (table(group[0].0.name)) } open[group.iter().any(|(_, _, place)| place.is_some())] {
                    summary {
                        strong { (table(group[0].0.name)) }
                        span.soft { " " (group.len()) @match group.iter().filter(|(_, _, place)| place.is_some()).count() { 0 => {}, set => { ", " (set) " set by you" } } }
                    }
                    dl.settings {
                        @for (key, value, place) in group {
                            dt {
                                a href=(setting::address(key.name)) { code { (key.name) } } " " span.value { (one_line(value, 120)) }
                                @if let Some(place) = place { " " span.chip.good title=(place) { (one_line(place, 80)) } }
                            }
                            dd { (key.doc) }
                        }
                    }
                }
            }
        }
    })
}
