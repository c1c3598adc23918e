//! Text for a grid of cells: without control sequences, and measured by its displayed width.

use ratatui::text::Span;
use rekindle_core::text::clean::clean;

/// Removes escape sequences, control and invisible characters; tabs become spaces.
pub(crate) fn sanitise(text: &str) -> String {
    clean(text).replace('\t', "    ")
}

/// The number of columns of a text.
pub(crate) fn width(text: &str) -> usize {
    Span::raw(text).width()
}

/// Shortens `text` to at most `columns`, with `…` at a cut.
pub(crate) fn truncate_columns(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut kept = fitting_prefix(text, columns.saturating_sub(1)).to_owned();
    if columns > 0 {
        kept.push('…');
    }
    kept
}

/// The longest prefix of a text that fits.
fn fitting_prefix(text: &str, columns: usize) -> &str {
    let ends = text.char_indices().map(|(at, c)| at + c.len_utf8());
    let fits = |end: &usize| text.get(..*end).is_some_and(|start| width(start) <= columns);
    text.get(..ends.take_while(fits).last().unwrap_or(0)).unwrap_or_default()
}

/// Wraps a line to at most `columns`, between words if possible. Continuation lines are indented like the
/// first, plus two spaces.
pub(crate) fn wrap_line(line: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(1);
    let spaces = line.len() - line.trim_start_matches(' ').len();
    let hanging = " ".repeat((spaces + 2).min(columns / 2));
    let mut lines = Vec::new();
    let mut rest = line.to_owned();
    while width(&rest) > columns {
        let head = fitting_prefix(&rest, columns);
        // A single character wider than the window still has to be consumed.
        let head = if head.is_empty() { first(&rest) } else { head };
        let words = head.rfind(' ').filter(|space| !head[..*space].trim().is_empty());
        let follows_space = rest[head.len()..].starts_with(' ');
        let end = if follows_space { head.len() } else { words.unwrap_or(head.len()) };
        let tail = rest[end..].trim_start_matches(' ').to_owned();
        lines.push(rest[..end].trim_end().to_owned());
        rest = if tail.is_empty() { tail } else { format!("{hanging}{tail}") };
        // A character that fits only without the indentation is placed without it.
        if width(&hanging) + width(first(tail_of(&rest))) > columns {
            rest = rest.trim_start_matches(' ').to_owned();
        }
    }
    if !rest.is_empty() || lines.is_empty() {
        lines.push(rest);
    }
    lines
}

fn tail_of(text: &str) -> &str {
    text.trim_start_matches(' ')
}

fn first(text: &str) -> &str {
    text.chars().next().and_then(|c| text.get(..c.len_utf8())).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn nothing_that_a_terminal_would_act_on_is_shown() {
        let nasty = "a\x1b]0;pwned\x07b\x1b[2Jc\u{9b}31md\re\u{202e}f\tg\x00";
        assert_eq!(sanitise(nasty), "abc31md\nef    g".replace("31m", &sanitise("\u{9b}31m")));
        assert!(!sanitise(nasty).chars().any(|c| c.is_control() && c != '\n'));
    }

    #[test]
    fn wide_characters_count_twice() {
        assert_eq!(width("日本"), 4);
        assert_eq!(truncate_columns("日本語", 5), "日本…");
        assert_eq!(truncate_columns("abc", 3), "abc");
        assert_eq!(truncate_columns("abcd", 3), "ab…");
        assert_eq!(truncate_columns("abcd", 0), "");
    }

    #[test]
    fn lines_break_between_words_and_hang() {
        assert_eq!(wrap_line("  one two three", 10), ["  one two", "    three"]);
        assert_eq!(wrap_line("", 10), [""]);
        assert_eq!(wrap_line("abcdefghij", 4), ["abcd", "  ef", "  gh", "  ij"]);
    }

    proptest! {
        #[test]
        fn every_word_is_shown_in_every_width(line in "[ a-z日é🦀]{0,60}", columns in 2..30usize) {
            let lines = wrap_line(&line, columns);
            prop_assert!(lines.iter().all(|line| width(line) <= columns), "{lines:?}");
            let letters = |text: &str| text.chars().filter(|c| *c != ' ').collect::<String>();
            prop_assert_eq!(letters(&lines.concat()), letters(&line));
        }
    }
}
