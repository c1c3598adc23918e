//! Plots as SVG, drawn by us, printable, each with a table behind it.

use maud::{Markup, html};

use super::parts::grouped;
use crate::app::insight::PlotData;

/// The size of a plot in its own units.
const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 200.0;
/// The room for the axes.
const LEFT: f64 = 44.0;
const BOTTOM: f64 = 24.0;
const TOP: f64 = 8.0;
/// The number of lines across a plot.
const LINES: usize = 4;
/// The most labels below a plot.
const MAX_LABELS: usize = 6;

/// The shape of a plot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PlotShape {
    /// Bars on top of each other.
    Bars,
    /// Lines, which stop at gaps.
    Lines,
}

/// A bar beside a number: `value` of `most`.
pub(super) fn bar(value: f64, most: f64) -> Markup {
    let share = if most > 0.0 { (value.abs() / most).clamp(0.0, 1.0) } else { 0.0 };
    html! {
        svg.bar.minus[value < 0.0] viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true" {
            rect.track width="100" height="8" {}
            rect.fill width=(format!("{:.1}", share * 100.0)) height="8" {}
        }
    }
}

/// A plot with its legend and its table. `words` says what it shows, also to those who do not see it.
pub(super) fn plot(id: &str, words: &str, data: &PlotData, shape: PlotShape, unit: &str) -> Markup {
    html! {
        figure.plot {
            @if data.is_empty() {
                p.empty { "Nothing yet." }
            } @else {
                (drawing(id, words, data, shape))
                @if data.series.len() > 1 {
                    p.legend aria-hidden="true" {
                        @for (number, series) in data.series.iter().enumerate() {
                            span { i class={ "key c" (number) } {} (series.name) }
                        }
                    }
                }
                (table(id, data, unit))
            }
        }
    }
}

fn drawing(id: &str, words: &str, data: &PlotData, shape: PlotShape) -> Markup {
    let top = nice_top(most(data, shape));
    let y = |value: f64| TOP + (HEIGHT - TOP - BOTTOM) * (1.0 - value / top);
    let step = (WIDTH - LEFT) / data.labels.len().max(1) as f64;
    let every = data.labels.len().div_ceil(MAX_LABELS).max(1);
    html! {
        svg.chart viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } role="img" aria-labelledby={ "d-" (id) } {
            title id={ "d-" (id) } { (words) }
            @for line in 0..=LINES {
                @let value = top * line as f64 / LINES as f64;
                line.grid x1=(LEFT) x2=(WIDTH) y1=(px(y(value))) y2=(px(y(value))) {}
                text.tick x=(LEFT - 8.0) y=(px(y(value) + 4.0)) text-anchor="end" { (short(value)) }
            }
            @for (number, label) in data.labels.iter().enumerate().step_by(every) {
                text.tick x=(px(LEFT + step * (number as f64 + 0.5))) y=(HEIGHT - 6.0) text-anchor="middle" { (short_label(label)) }
            }
            @match shape {
                PlotShape::Bars => (bars(data, step, &y)),
                PlotShape::Lines => (lines(data, step, &y)),
            }
        }
    }
}

fn bars(data: &PlotData, step: f64, y: &dyn Fn(f64) -> f64) -> Markup {
    let width = (step * 0.72).max(1.0);
    html! {
        @for number in 0..data.labels.len() {
            @let x = LEFT + step * number as f64 + (step - width) / 2.0;
            @for (series, below) in stacked(data, number) {
                @let value = value_at(data, series, number);
                @if value > 0.0 {
                    rect class={ "c" (series) } x=(px(x)) width=(px(width)) y=(px(y(below + value))) height=(px(y(below) - y(below + value))) {
                        title { (data.labels[number]) ": " (data.series[series].name) " " (short(value)) }
                    }
                }
            }
        }
    }
}

/// The series at one place, each with the sum of those below it.
fn stacked(data: &PlotData, number: usize) -> Vec<(usize, f64)> {
    let mut below = 0.0;
    let mut stack = Vec::new();
    for series in 0..data.series.len() {
        stack.push((series, below));
        below += value_at(data, series, number);
    }
    stack
}

fn value_at(data: &PlotData, series: usize, number: usize) -> f64 {
    data.series[series].values.get(number).copied().flatten().unwrap_or(0.0)
}

fn lines(data: &PlotData, step: f64, y: &dyn Fn(f64) -> f64) -> Markup {
    html! {
        @for (series, row) in data.series.iter().enumerate() {
            @let points: Vec<(f64, f64, usize)> = row.values.iter().enumerate()
                .filter_map(|(at, value)| Some((LEFT + step * (at as f64 + 0.5), y((*value)?), at))).collect();
            polyline class={ "line c" (series) } points=(points.iter().map(|(x, y, _)| format!("{x:.1},{y:.1}")).collect::<Vec<_>>().join(" ")) {}
            @for (x, y, at) in &points {
                circle class={ "c" (series) } cx=(px(*x)) cy=(px(*y)) r="2.5" {
                    title { (data.labels[*at]) ": " (row.name) " " (short(value_at(data, series, *at))) }
                }
            }
        }
    }
}

fn table(id: &str, data: &PlotData, unit: &str) -> Markup {
    html! {
        details id={ "n-" (id) } {
            summary { "Numbers" }
            div.scroll tabindex="0" role="group" aria-labelledby={ "d-" (id) } {
                table {
                    thead { tr { th { (unit) } @for series in &data.series { th.number { (series.name) } } } }
                    tbody {
                        @for (number, label) in data.labels.iter().enumerate().rev() {
                            tr {
                                th scope="row" { (label) }
                                @for series in &data.series {
                                    td.number { @match series.values.get(number).copied().flatten() { Some(value) => (short(value)), None => "–" } }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn most(data: &PlotData, shape: PlotShape) -> f64 {
    let tops = (0..data.labels.len()).map(|number| {
        let values = (0..data.series.len()).map(|series| value_at(data, series, number));
        match shape {
            PlotShape::Bars => values.sum::<f64>(),
            PlotShape::Lines => values.fold(0.0, f64::max),
        }
    });
    tops.fold(0.0, f64::max)
}

/// The smallest round number that is not below `value`.
fn nice_top(value: f64) -> f64 {
    let scale = 10_f64.powf(value.max(1e-9).log10().floor());
    let top = [1.0, 2.0, 4.0, 5.0, 8.0, 10.0].into_iter().map(|step| step * scale).find(|top| *top >= value);
    let top = top.unwrap_or(10.0 * scale);
    // Counts have no quarters.
    if (1.0..4.0).contains(&top) && value.fract() == 0.0 { 4.0 } else { top }
}

fn short(value: f64) -> String {
    match value {
        value if value >= 1_000.0 => grouped(value.round() as u64),
        value if value.fract().abs() < 1e-9 => format!("{value:.0}"),
        value if value >= 10.0 => format!("{value:.0}"),
        value if value >= 1.0 => format!("{value:.1}"),
        value => format!("{value:.2}"),
    }
}

/// A day without its year.
fn short_label(label: &str) -> &str {
    label.get(5..).filter(|_| label.len() == 10 && label.is_ascii()).unwrap_or(label)
}

fn px(value: f64) -> String {
    format!("{value:.1}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::insight::PlotSeries;

    #[test]
    fn the_top_of_an_axis_is_round_and_never_too_low() {
        for (value, top) in [(3.0, 4.0), (5.0, 5.0), (7.0, 8.0), (9.0, 10.0), (1234.0, 2000.0), (0.37, 0.4)] {
            assert!((nice_top(value) - top).abs() < 1e-9, "{value}: {}", nice_top(value));
        }
    }

    #[test]
    fn b_11_a_plot_has_a_table_with_every_number_and_words_for_it() {
        let series = |name: &str, values: [Option<f64>; 2]| PlotSeries {
            name: name.to_owned(),
            values: values.to_vec(),
        };
        let data = PlotData {
            labels: vec!["2026-11-18".to_owned(), "2026-11-19".to_owned()],
            series: vec![series("used", [Some(3.0), None]), series("<b>", [Some(1.5), Some(2.0)])],
        };
        for shape in [PlotShape::Bars, PlotShape::Lines] {
            let page = plot("x", "What it shows", &data, shape, "Day").into_string();
            assert!(page.contains("<title id=\"d-x\">What it shows</title>"), "{page}");
            assert!(
                page.contains("<td class=\"number\">1.5</td>")
                    && page.contains("<td class=\"number\">–</td>")
            );
            assert!(page.contains("11-18") && page.contains("&lt;b&gt;") && !page.contains("<b>"), "{page}");
        }
        let empty = plot("x", "w", &PlotData::default(), PlotShape::Bars, "Day").into_string();
        assert!(empty.contains("Nothing yet"), "{empty}");
    }
}
