//! The keys and their actions.

use super::card::{Row, Tone};

/// Lists the keys and the letters of the list, for the screen.
pub(crate) fn help() -> Vec<Row> {
    let lines = [
        (Tone::Head, "Deciding"),
        (Tone::Plain, "a          approve; a line that it names stays as it is"),
        (Tone::Plain, "S          approve instead of the line that it names, which is struck"),
        (Tone::Plain, "e          approve in your own words, in $VISUAL or $EDITOR"),
        (Tone::Plain, "w          where it holds: everywhere, or only in the project where it was said"),
        (Tone::Plain, "r          reject; a reason may be given"),
        (Tone::Plain, "s          skip: it waits"),
        (Tone::Plain, "u          take the last decision of this sitting back"),
        (Tone::Head, "Looking"),
        (Tone::Plain, "j k Up Down        the next, the one before; g G the first, the last"),
        (Tone::Plain, "PgUp PgDn b Space  scroll what is known about it"),
        (Tone::Plain, "m          today's share, or all that wait"),
        (Tone::Plain, "q Ctrl-C   end; what is decided stays decided"),
        (Tone::Head, "Letters in the list"),
        (Tone::Plain, "[ ] waits  [s] skipped  [a] approved  [S] superseding  [e] edited"),
        (Tone::Plain, "[r] rejected  [x] decided elsewhere"),
        (Tone::Dim, "Any other key goes back."),
    ];
    lines.into_iter().map(|(tone, text)| Row { tone, text: text.to_owned() }).collect()
}
