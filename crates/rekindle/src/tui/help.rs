//! The keys and their actions.

use super::card::{CardRow, RowTone};

/// Lists the keys and the letters of the list, for the screen.
pub(crate) fn help() -> Vec<CardRow> {
    let lines = [
        (RowTone::Head, "Deciding"),
        (RowTone::Plain, "a          approve; a line that it names stays as it is"),
        (RowTone::Plain, "S          approve instead of the line that it names, which is struck"),
        (RowTone::Plain, "e          approve in your own words, in $VISUAL or $EDITOR"),
        (RowTone::Plain, "w          where it holds: everywhere, or only in the project where it was said"),
        (RowTone::Plain, "r          reject; a reason may be given"),
        (RowTone::Plain, "s          skip: it waits"),
        (RowTone::Plain, "u          take the last decision of this sitting back"),
        (RowTone::Head, "Looking"),
        (RowTone::Plain, "j k Up Down        the next, the one before; g G the first, the last"),
        (RowTone::Plain, "PgUp PgDn b Space  scroll what is known about it"),
        (RowTone::Plain, "m          today's share, or all that wait"),
        (RowTone::Plain, "q Ctrl-C   end; what is decided stays decided"),
        (RowTone::Head, "Letters in the list"),
        (RowTone::Plain, "[ ] waits  [s] skipped  [a] approved  [S] superseding  [e] edited"),
        (RowTone::Plain, "[r] rejected  [x] decided elsewhere"),
        (RowTone::Dim, "Any other key goes back."),
    ];
    lines.into_iter().map(|(tone, text)| CardRow { tone, text: text.to_owned() }).collect()
}
