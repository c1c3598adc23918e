//! The map of memory: names that memories speak of, linked where they occur together.

use maud::{Markup, html};

use super::request::encode;
use crate::app::entities::EntityMap;

const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 520.0;
/// The room around the names.
const MARGIN: f64 = 60.0;
const ROUNDS: usize = 220;
/// The room that a name takes with its words.
const NAME_WIDTH: f64 = 84.0;
const NAME_HEIGHT: f64 = 38.0;

/// Draws the map. Every name is a link to a search for it.
pub(super) fn map(entities: &EntityMap) -> Markup {
    let places = layout(entities);
    let most = entities.entities.iter().map(|one| one.memories).max().unwrap_or(1) as f64;
    let strongest = entities.pairs.iter().map(|(_, _, count)| *count).max().unwrap_or(1) as f64;
    html! {
        svg.map viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } role="group" aria-label="Map of what memories speak of" {
            @for (first, second, count) in &entities.pairs {
                line.link x1=(px(places[*first].0)) y1=(px(places[*first].1)) x2=(px(places[*second].0)) y2=(px(places[*second].1))
                    stroke-width=(px(0.6 + 2.4 * *count as f64 / strongest)) {}
            }
            @for (entity, (x, y)) in entities.entities.iter().zip(&places) {
                @let size = 4.0 + 9.0 * (entity.memories as f64 / most).sqrt();
                a href={ "search?q=" (encode(&entity.name)) "&anyway=1" } aria-label={ (entity.name) ", " (entity.memories) " memories" } {
                    circle cx=(px(*x)) cy=(px(*y)) r=(px(size)) {}
                    text x=(px(*x)) y=(px(*y - size - 5.0)) text-anchor="middle" { (entity.name) }
                }
            }
        }
    }
}

/// Places that keep linked names close and all names apart. The same map always has the same places.
fn layout(entities: &EntityMap) -> Vec<(f64, f64)> {
    let count = entities.entities.len();
    // A golden spiral spreads the first places evenly, the most frequent names in the middle.
    let mut places: Vec<(f64, f64)> = (0..count)
        .map(|at| {
            let (radius, angle) = ((at as f64 + 0.5).sqrt() / (count as f64).sqrt(), at as f64 * 2.399_963);
            (radius * angle.cos(), radius * angle.sin())
        })
        .collect();
    let ideal = 1.3 / (count.max(1) as f64).sqrt();
    for round in 0..ROUNDS {
        let step = 0.06 * (1.0 - round as f64 / ROUNDS as f64);
        let mut moves = vec![(0.0, 0.0); count];
        for first in 0..count {
            for second in first + 1..count {
                push(&mut moves, &places, (first, second), |far| ideal * ideal / far);
            }
        }
        for (first, second, times) in &entities.pairs {
            let pull = (*times as f64).sqrt();
            push(&mut moves, &places, (*first, *second), |far| -0.5 * pull * far * far / ideal);
        }
        for (place, (dx, dy)) in places.iter_mut().zip(moves) {
            // A little gravity keeps unlinked names on the map.
            let (dx, dy) = (dx - 0.35 * place.0, dy - 0.35 * place.1);
            let length = dx.hypot(dy).max(1e-9);
            let far = length.min(step);
            *place = (place.0 + dx / length * far, place.1 + dy / length * far);
        }
    }
    fit(&places)
}

fn push(
    moves: &mut [(f64, f64)],
    places: &[(f64, f64)],
    (first, second): (usize, usize),
    force: impl Fn(f64) -> f64,
) {
    let (dx, dy) = (places[first].0 - places[second].0, places[first].1 - places[second].1);
    let far = dx.hypot(dy).max(1e-3);
    let strength = force(far);
    let (x, y) = (dx / far * strength, dy / far * strength);
    moves[first] = (moves[first].0 + x, moves[first].1 + y);
    moves[second] = (moves[second].0 - x, moves[second].1 - y);
}

/// Scales the places to the drawing.
fn fit(places: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let range = |values: &dyn Fn(&(f64, f64)) -> f64| {
        let all = places.iter().map(values);
        let (low, high) = all.fold((f64::MAX, f64::MIN), |(low, high), at| (low.min(at), high.max(at)));
        (low, (high - low).max(1e-9))
    };
    let (left, width) = range(&|place| place.0);
    let (top, height) = range(&|place| place.1);
    let scaled = |at: f64, low: f64, span: f64, room: f64| MARGIN + (at - low) / span * (room - 2.0 * MARGIN);
    let fitted =
        places.iter().map(|(x, y)| (scaled(*x, left, width, WIDTH), scaled(*y, top, height, HEIGHT)));
    separate(fitted.collect())
}

/// Moves names apart whose words would lie on top of each other.
fn separate(mut places: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    for _ in 0..ROUNDS {
        for first in 0..places.len() {
            for second in first + 1..places.len() {
                let (dx, dy) = (places[second].0 - places[first].0, places[second].1 - places[first].1);
                let (over_x, over_y) = (NAME_WIDTH - dx.abs(), NAME_HEIGHT - dy.abs());
                if over_x <= 0.0 || over_y <= 0.0 {
                    continue;
                }
                // The shorter way, in small steps, so that groups keep their shape.
                let (x, y) = match over_x / NAME_WIDTH < over_y / NAME_HEIGHT {
                    true => (over_x.copysign(dx) * 0.25, 0.0),
                    false => (0.0, over_y.copysign(dy) * 0.25),
                };
                places[first] = inside(places[first].0 - x, places[first].1 - y);
                places[second] = inside(places[second].0 + x, places[second].1 + y);
            }
        }
    }
    places
}

fn inside(x: f64, y: f64) -> (f64, f64) {
    (x.clamp(MARGIN, WIDTH - MARGIN), y.clamp(MARGIN / 2.0, HEIGHT - MARGIN / 2.0))
}

fn px(value: f64) -> String {
    format!("{value:.1}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::entities::Entity;

    #[test]
    fn b_11_the_map_stays_on_the_page_keeps_names_apart_and_repeats_itself() {
        let named = |at: usize| Entity { name: format!("name-{at}<"), memories: at + 1 };
        let map_of = EntityMap {
            entities: (0..30).map(named).collect(),
            pairs: (1..30).map(|at| (0, at, 1)).collect(),
        };
        let places = layout(&map_of);
        assert_eq!(places, layout(&map_of));
        for (number, (x, y)) in places.iter().enumerate() {
            assert!((0.0..=WIDTH).contains(x) && (0.0..=HEIGHT).contains(y), "{x} {y}");
            for (a, b) in &places[number + 1..] {
                assert!((x - a).hypot(y - b) > 10.0, "{number} is on top of another");
            }
        }
        let page = map(&map_of).into_string();
        assert!(page.contains("name-3&lt;") && page.contains("search?q=name-3%3C"), "{page}");
        assert!(map(&EntityMap::default()).into_string().contains("<svg"));
    }
}
