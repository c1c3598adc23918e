//! Plots time against the number of memories, both on logarithmic axes.

use super::program::{MeasuredProgram, thousands};
use super::rounds::ColdRuns;

const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 520.0;
const LEFT: f64 = 80.0;
const RIGHT: f64 = 200.0;
const TOP: f64 = 50.0;
const BOTTOM: f64 = 60.0;

/// One line of the plot: its name, colour and points (memories, p50, p95).
struct PlotLine {
    name: &'static str,
    colour: &'static str,
    points: Vec<(f64, f64, f64)>,
}

/// Draws the plot as SVG, or returns `None` for fewer than two sizes.
pub fn svg(colds: &[ColdRuns]) -> Option<String> {
    let point = |cold: &ColdRuns| Some((cold.program.size()? as f64, cold.p50(), cold.p95()));
    let fts5: Vec<_> =
        colds.iter().filter(|c| matches!(c.program, MeasuredProgram::Fts5(_))).filter_map(point).collect();
    let tantivy: Vec<_> =
        colds.iter().filter(|c| matches!(c.program, MeasuredProgram::Tantivy(_))).filter_map(point).collect();
    let ours: Vec<_> =
        colds.iter().filter(|c| matches!(c.program, MeasuredProgram::Recall(_))).filter_map(point).collect();
    let made_up: Vec<_> =
        colds.iter().filter(|c| matches!(c.program, MeasuredProgram::Query(_))).filter_map(point).collect();
    let (least, most) = (fts5.first()?.0, fts5.last()?.0);
    let empty = colds.iter().find(|cold| cold.program == MeasuredProgram::Empty)?;
    let floor = [least, most].map(|size| (size, empty.p50(), empty.p95()));
    if least >= most {
        return None;
    }
    let lines = [
        PlotLine { name: "FTS5", colour: "#b4552d", points: fts5 },
        PlotLine { name: "tantivy", colour: "#6b8e23", points: tantivy },
        PlotLine { name: "rekindle recall", colour: "#1f6f8b", points: ours },
        PlotLine { name: "made-up vectors", colour: "#7fb3c6", points: made_up },
        PlotLine { name: "empty program", colour: "#8a8a8a", points: floor.to_vec() },
    ];
    Some(draw(&lines, least, most))
}

fn draw(lines: &[PlotLine], least: f64, most: f64) -> String {
    let times = || lines.iter().flat_map(|line| line.points.iter().flat_map(|(_, p50, p95)| [*p50, *p95]));
    let low = times().fold(f64::INFINITY, f64::min).log10().floor();
    let high = times().fold(0.0, f64::max).log10().ceil().max(low + 1.0);
    let (from, to) = (least.log10(), most.log10());
    let x = |size: f64| LEFT + (size.log10() - from) / (to - from) * (WIDTH - LEFT - RIGHT);
    let y = |time: f64| HEIGHT - BOTTOM - (time.log10() - low) / (high - low) * (HEIGHT - TOP - BOTTOM);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" \
         font-size=\"13\" fill=\"#333\">\n<rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#fff\"/>\n\
         <text x=\"{LEFT}\" y=\"28\" font-size=\"16\">Cold process to ranked memories: p50 (line) and p95 (rings)</text>\n"
    );
    let right = WIDTH - RIGHT;
    for power in low as i32..=high as i32 {
        for step in 1..10 {
            let time = f64::from(step) * 10f64.powi(power);
            if time > 10f64.powf(high) * 1.0001 {
                break;
            }
            let (at, strong) = (y(time), if step == 1 { "#bbb" } else { "#eee" });
            text += &format!("<path d=\"M{LEFT} {at:.1}H{right}\" stroke=\"{strong}\"/>\n");
            if step == 1 {
                let label = if power < 0 { format!("{time:.1}") } else { format!("{time:.0}") };
                text += &format!(
                    "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{label} ms</text>\n",
                    LEFT - 8.0,
                    at + 4.0
                );
            }
        }
    }
    let mut sizes: Vec<f64> = lines.iter().flat_map(|line| line.points.iter().map(|point| point.0)).collect();
    sizes.sort_unstable_by(f64::total_cmp);
    sizes.dedup();
    let bottom = HEIGHT - BOTTOM;
    for size in sizes {
        let at = x(size);
        text += &format!("<path d=\"M{at:.1} {TOP}V{bottom}\" stroke=\"#eee\"/>\n");
        text += &format!(
            "<text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\n",
            bottom + 20.0,
            thousands(size as usize)
        );
    }
    text += &format!(
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">memories of 60 to 120 words</text>\n",
        (LEFT + right) / 2.0,
        bottom + 44.0
    );
    for line in lines.iter().filter(|line| !line.points.is_empty()) {
        let path: Vec<String> =
            line.points.iter().map(|(size, p50, _)| format!("{:.1} {:.1}", x(*size), y(*p50))).collect();
        let colour = line.colour;
        text += &format!(
            "<path d=\"M{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2.5\"/>\n",
            path.join("L")
        );
        for (size, p50, p95) in &line.points {
            let at = x(*size);
            text += &format!("<circle cx=\"{at:.1}\" cy=\"{:.1}\" r=\"4\" fill=\"{colour}\"/>\n", y(*p50));
            text += &format!(
                "<circle cx=\"{at:.1}\" cy=\"{:.1}\" r=\"2.5\" fill=\"none\" stroke=\"{colour}\"/>\n",
                y(*p95)
            );
        }
        if let Some((_, p50, _)) = line.points.last() {
            text += &format!(
                "<text x=\"{:.1}\" y=\"{:.1}\" fill=\"{colour}\">{}, {p50:.1} ms</text>\n",
                right + 10.0,
                y(*p50) + 4.0,
                line.name
            );
        }
    }
    text + "</svg>\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::run::RunSample;

    fn cold(program: MeasuredProgram, wall: f64) -> ColdRuns {
        ColdRuns { samples: vec![RunSample { wall, ..RunSample::default() }], ..ColdRuns::of(program) }
    }

    #[test]
    fn growth_needs_two_sizes_and_every_point_is_inside() {
        let mut colds = vec![cold(MeasuredProgram::Empty, 0.7), cold(MeasuredProgram::Fts5(1000), 5.0)];
        assert!(svg(&colds).is_none());
        colds.extend([
            cold(MeasuredProgram::Fts5(1_000_000), 3210.0),
            cold(MeasuredProgram::Recall(1000), 9.0),
        ]);
        let picture = svg(&colds).unwrap();
        assert_eq!(picture.matches("<circle").count(), 2 * (2 + 2 + 1));
        for (name, most) in [("cx=\"", WIDTH - RIGHT), ("cy=\"", HEIGHT - BOTTOM)] {
            for part in picture.split(name).skip(1) {
                let at: f64 = part.split('"').next().unwrap().parse().unwrap();
                assert!((40.0..=most + 0.1).contains(&at), "{name}{at}");
            }
        }
    }
}
