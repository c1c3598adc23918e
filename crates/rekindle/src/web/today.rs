//! Today: agents, what was learnt and used, what waits, and health in one line.

use maud::{Markup, html};
use rekindle_core::base::time::Timestamp;
use rekindle_core::text::clean::one_line;
use rekindle_engine::vault::ScannedEntry;

use super::layout::PageSection;
use super::parts::{counted, day_words, figure, grouped, memory_row, when};
use super::request::{PageAnswer, PageContent, PageRequest};
use crate::app::CommandContext;
use crate::app::today::{TodayReport, gather};
use crate::error::CliError;

/// The most memories in the list of the last days.
const MAX_LEARNT: usize = 24;
/// The health check about what waits, which has a place of its own here.
const QUEUE_CHECK: &str = "queueAge";
/// The most titles in the lists beside it.
const MAX_LISTED: usize = 5;

pub(super) fn show(request: &PageRequest<'_>) -> Result<PageAnswer, CliError> {
    let context = request.context;
    let report = gather(context)?;
    let body = html! {
        h1 { (context.now.strftime("%A, %-d %B")) }
        (health(&report))
        (waiting(&report))
        div.columns {
            section aria-labelledby="learnt" {
                h2 #learnt { "Learnt in the last days" }
                (learnt(context, &report))
            }
            div.aside {
                (agents(context, &report))
                (used(&report))
                (sessions(&report))
            }
        }
    };
    Ok(PageContent::new("Today", PageSection::Today, body).live().into())
}

fn health(report: &TodayReport) -> Markup {
    html! {
        @let alerts: Vec<_> = report.alerts.iter().filter(|alert| alert.check != QUEUE_CHECK).collect();
        @match alerts.as_slice() {
            [] => p.lead {
                span.dot.good aria-hidden="true" {}
                "Everything works. " (counted(report.memories as u64, "memory", "memories")) "."
            },
            alerts => p.lead {
                span.dot.bad aria-hidden="true" {}
                (one_line(&alerts[0].text, 200)) " "
                @if alerts.len() > 1 { "And " (counted(alerts.len() as u64 - 1, "other problem", "other problems")) ". " }
                a href="settings#health" { "See what to do" }
            },
        }
        @if report.unreadable > 0 {
            p.notice.problem { (counted(report.unreadable as u64, "note", "notes")) " could not be read; " code { "rekindle doctor" } " says which." }
        }
    }
}

fn waiting(report: &TodayReport) -> Markup {
    let waiting = &report.week.waiting;
    html! {
        @if waiting.proposals + waiting.inbox > 0 {
            a.call href="review" {
                strong {
                    @if waiting.proposals > 0 { (counted(waiting.proposals, "proposal", "proposals")) " to review" }
                    @else { (counted(waiting.inbox, "guess", "guesses")) " in the inbox" }
                }
                span {
                    @if waiting.proposals > 0 && waiting.inbox > 0 {
                        (waiting.inbox) " more in the inbox. "
                    }
                    "You can ignore them; nothing is lost."
                }
            }
        }
    }
}

fn learnt(context: &CommandContext<'_>, report: &TodayReport) -> Markup {
    let shown: Vec<&(Timestamp, ScannedEntry)> = report.learnt.iter().take(MAX_LEARNT).collect();
    let days = shown.chunk_by(|a, b| day_words(context, a.0) == day_words(context, b.0));
    html! {
        @if shown.is_empty() {
            p.empty { "Nothing from your sessions this week. What you tell an agent to remember appears here." }
        }
        @for day in days {
            h3 { (day_words(context, day[0].0)) }
            ul.rows {
                @for (_, found) in day { (memory_row(context, found, None)) }
            }
        }
        @if report.learnt.len() > shown.len() {
            p { a href="search?since=7d" { (report.learnt.len() - shown.len()) " more this week" } }
        }
    }
}

fn agents(context: &CommandContext<'_>, report: &TodayReport) -> Markup {
    html! {
        section aria-labelledby="agents" {
            h2 #agents { "Agents" }
            @if !report.agents.iter().any(|agent| agent.is_connected) {
                p.empty { "No agent is connected. " code { "rekindle install" } " connects yours." }
            }
            ul.plain {
                @for agent in report.agents.iter().filter(|agent| agent.is_connected || agent.is_found) {
                    li {
                        span.dot.good[agent.is_connected] aria-hidden="true" {}
                        (agent.words)
                        span.soft {
                            @match report.heard.get(agent.agent.as_str()) {
                                Some(at) => { " heard " (when(context, *at)) },
                                None if agent.is_connected => " not heard yet",
                                None => " not connected",
                            }
                        }
                    }
                }
            }
        }
    }
}

fn used(report: &TodayReport) -> Markup {
    let week = &report.week;
    html! {
        section aria-labelledby="used" {
            h2 #used { "This week" }
            div.figures {
                (figure(week.shown, "times shown"))
                (figure(week.used, "times used"))
                (figure(week.repeated.len(), "said again by you"))
                (figure(grouped(week.cost.injected_tokens), "tokens given"))
            }
            @if week.used > 0 {
                p.soft { "You did not have to say " @if week.used == 1 { "that once again." } @else { "those " (week.used) " things again." } }
            }
            @if !week.most_used.is_empty() {
                h3 { "Used most" }
                ol.plain {
                    @for (title, times) in week.most_used.iter().take(MAX_LISTED) {
                        li { (one_line(title, 90)) " " span.soft { (times) "×" } }
                    }
                }
            }
            p { a href="insight" { "More in Insight" } }
        }
    }
}

fn sessions(report: &TodayReport) -> Markup {
    let counts = &report.sessions;
    html! {
        section aria-labelledby="sessions" {
            h2 #sessions { "Sessions" }
            @if counts.seen_sessions == 0 {
                p.empty { "None in 30 days." }
            } @else {
                p {
                    (counted(counts.seen_sessions, "session", "sessions")) " in 30 days: " (counts.learnt)
                    " learnt from, " (counts.skipped_sessions()) " with nothing to learn"
                    @if counts.waiting > 0 { ", " (counts.waiting) " not processed yet" }
                    @if counts.given_up > 0 { ", " (counts.given_up) " failed" }
                    "."
                }
            }
            p { a href="sessions" { "All sessions" } }
        }
    }
}
