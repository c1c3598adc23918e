//! The keys and their actions.

use super::card::{CardRow, RowTone};

/// Lists the keys and the letters of the list, for the screen.
pub(crate) fn help() -> Vec<CardRow> {
    let lines = [
        (RowTone::Head, "Deciding"),
        (RowTone::Plain, "a          approve; a line it would replace stays"),
        (RowTone::Plain, "S          approve and replace the line, which is struck through"),
        (RowTone::Plain, "e          approve in your own words, in $VISUAL or $EDITOR"),
        (RowTone::Plain, "w          where it applies: everywhere, or only in its project"),
        (RowTone::Plain, "r          reject, with or without a reason"),
        (RowTone::Plain, "s          skip: it stays pending"),
        (RowTone::Plain, "u          undo the last decision of this review"),
        (RowTone::Head, "Moving"),
        (RowTone::Plain, "j k Up Down        next, previous; g G first, last"),
        (RowTone::Plain, "PgUp PgDn b Space  scroll the details"),
        (RowTone::Plain, "m          show today's proposals, or all"),
        (RowTone::Plain, "q Ctrl-C   quit; your decisions are saved"),
        (RowTone::Head, "Marks in the list"),
        (RowTone::Plain, "[ ] pending  [s] skipped  [a] approved  [S] superseding  [e] edited"),
        (RowTone::Plain, "[r] rejected  [x] decided elsewhere"),
        (RowTone::Dim, "Press any other key to go back."),
    ];
    lines.into_iter().map(|(tone, text)| CardRow { tone, text: text.to_owned() }).collect()
}
