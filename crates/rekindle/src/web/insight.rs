//! Insight: plots of memory over time, each with its numbers, and the map of memory.

use maud::{Markup, html};
use rekindle_core::text::clean::one_line;

use super::layout::PageSection;
use super::map::map;
use super::parts::{counted, memory_address};
use super::plot::{PlotShape, plot};
use super::request::{PageAnswer, PageContent, PageRequest};
use crate::app::entities::entity_map;
use crate::app::insight::{InsightReport, PlotData, gather};
use crate::error::CliError;

/// The periods that can be chosen, in days.
const PERIODS: [u32; 3] = [14, 30, 90];
/// The most repeated memories that are listed.
const MAX_REPEATED: usize = 10;

/// A plot with its heading and its explanation.
struct PlotSection<'a> {
    id: &'static str,
    title: &'static str,
    words: &'static str,
    data: &'a PlotData,
    shape: PlotShape,
    unit: &'static str,
}

pub(super) fn show(request: &PageRequest<'_>) -> Result<PageAnswer, CliError> {
    let wanted = request.fields.get("days").and_then(|days| days.parse().ok());
    let days = wanted.filter(|days| PERIODS.contains(days)).unwrap_or(30);
    let report = gather(request.context, days)?;
    let entities = entity_map(request.context)?;
    let body = html! {
        h1 { "Insight" }
        p.periods.no-print {
            "The last "
            @for period in PERIODS {
                a.chip href={ "insight?days=" (period) } aria-current=[(period == days).then_some("true")] { (period) " days" } " "
            }
        }
        div.plots {
            @for section in sections(&report) { (plot_section(&section)) }
            (repeated(&report))
        }
        section aria-labelledby="map" {
            h2 #map { "What memories speak of" }
            @if entities.entities.is_empty() {
                p.empty { "A name appears here once two memories speak of it." }
            } @else {
                p.soft { "Names that occur in the same memory are linked. Choose one to search for it." }
                (map(&entities))
                details #map-numbers {
                    summary { "As a list" }
                    ul.names {
                        @for one in &entities.entities {
                            li { a href={ "search?q=" (super::request::encode(&one.name)) "&anyway=1" } { (one.name) } " " span.soft { (one.memories) } }
                        }
                    }
                }
            }
        }
    };
    Ok(PageContent::new("Insight", PageSection::Insight, body).into())
}

fn sections(report: &InsightReport) -> [PlotSection<'_>; 7] {
    let section = |id, title, words, data, shape, unit| PlotSection { id, title, words, data, shape, unit };
    [
        section(
            "memories",
            "Memories by kind",
            "All memories at the end of each day.",
            &report.memories,
            PlotShape::Bars,
            "Day",
        ),
        section(
            "outcomes",
            "Used or ignored",
            "What became of the memories that agents were shown; corrected are those that you contradicted.",
            &report.outcomes,
            PlotShape::Bars,
            "Day",
        ),
        section(
            "answers",
            "Answered or silent",
            "Searches that found something, and those that said nothing because no memory answered.",
            &report.answers,
            PlotShape::Bars,
            "Day",
        ),
        section(
            "tokens",
            "Tokens given to agents",
            "The estimated size of everything injected.",
            &report.tokens,
            PlotShape::Bars,
            "Day",
        ),
        section(
            "latency",
            "Time of a search",
            "Milliseconds within which half and 95 of 100 searches ended.",
            &report.latency,
            PlotShape::Lines,
            "Day",
        ),
        section(
            "ages",
            "Age of what waits",
            "Proposals by how long they have waited for you.",
            &report.ages,
            PlotShape::Bars,
            "Waiting since",
        ),
        section(
            "quality",
            "Quality of recall",
            "Each run of rekindle eval: the share of questions that found their memory, and how far up.",
            &report.quality,
            PlotShape::Lines,
            "Run",
        ),
    ]
}

fn plot_section(section: &PlotSection<'_>) -> Markup {
    html! {
        section aria-labelledby=(section.id) {
            h2 id=(section.id) { (section.title) }
            p.soft { (section.words) }
            (plot(section.id, section.words, section.data, section.shape, section.unit))
        }
    }
}

fn repeated(report: &InsightReport) -> Markup {
    html! {
        section aria-labelledby="repeated" {
            h2 #repeated { "Said again" }
            p.soft { "Memories that you had to repeat because the agent was not shown them." }
            @if report.repeated.is_empty() { p.empty { "None in this time." } }
            ol.plain {
                @for one in report.repeated.iter().take(MAX_REPEATED) {
                    li { a href=(memory_address(&one.id)) { (one_line(&one.title, 110)) } " " span.soft { "told " (counted(one.times + 1, "time", "times")) } }
                }
            }
        }
    }
}
