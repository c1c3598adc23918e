//! Adds a statement to a file that a person maintains, as a new line or in place of an old one. Every other
//! byte stays.

use std::ops::Range;

use thiserror::Error;

use super::escape::{self, EscapeStyle, normalise_line};
use super::lines::{
    self, BrokenDocument, LineInsertion, LineKind, MarkdownLine, heading_words, newline_of, splice,
};
use crate::text::normalise::normalise;

/// The section of an identity file for additions, created on demand.
pub const LEARNED_SECTION: &str = "Learned";

/// The reason why a file cannot take a statement.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum AmendError {
    /// The document's structure is ambiguous.
    #[error(transparent)]
    Broken(#[from] BrokenDocument),
    /// The line to replace no longer exists.
    #[error("the line it would replace no longer exists: {0}")]
    Gone(String),
    /// The line to replace exists more than once.
    #[error("the line it would replace occurs more than once: {0}")]
    Twice(String),
    /// The change would alter the meaning of the lines around it.
    #[error("it would change the meaning of the lines around it")]
    Around,
    /// The statement has no words.
    #[error("the text is empty")]
    Empty,
}

/// `text` with the statement in it, or `None` if it already says so. Without a line to replace, the statement
/// goes to `section`, or to the end.
pub fn amend(
    text: &str,
    statement: &str,
    supersedes: Option<&str>,
    section: Option<&str>,
) -> Result<Option<String>, AmendError> {
    let statement = normalise_line(statement);
    if normalise(&statement).is_empty() {
        return Err(AmendError::Empty);
    }
    let lines = lines::read(text)?;
    let units = units(&lines);
    let saying = |words: &str| -> Vec<&Range<usize>> {
        let target = normalise(words);
        units.iter().filter(|unit| statement_text(&lines, unit) == target).collect()
    };
    if !saying(&statement).is_empty() {
        return Ok(None);
    }
    match supersedes {
        None => add(text, &lines, &statement, section).map(Some),
        Some(old) => match saying(old)[..] {
            [unit] => replace(text, &lines, unit, &statement).map(Some),
            [] => Err(AmendError::Gone(old.to_owned())),
            _ => Err(AmendError::Twice(old.to_owned())),
        },
    }
}

/// The line ranges of a document's statements: a list item without its nested items, or a paragraph.
fn units(lines: &[MarkdownLine<'_>]) -> Vec<Range<usize>> {
    let mut units: Vec<Range<usize>> = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        match line.kind {
            LineKind::Item { .. } => units.push(at..at + 1),
            LineKind::Text { .. } => match units.last_mut().filter(|unit| unit.end == at) {
                Some(unit) => unit.end = at + 1,
                None => units.push(at..at + 1),
            },
            _ => {}
        }
    }
    units
}

/// The statements of a document, each as one line. Empty if the structure is ambiguous.
pub fn statements(text: &str) -> Vec<String> {
    let Ok(lines) = lines::read(text) else { return Vec::new() };
    units(&lines).iter().map(|unit| normalise_line(&statement_words(&lines, unit))).collect()
}

fn statement_text(lines: &[MarkdownLine<'_>], unit: &Range<usize>) -> String {
    normalise(&statement_words(lines, unit))
}

fn statement_words(lines: &[MarkdownLine<'_>], unit: &Range<usize>) -> String {
    let words = lines.get(unit.clone()).into_iter().flatten().map(|line| match line.kind {
        LineKind::Item { content, .. } => line.text.get(content..).unwrap_or_default(),
        _ => line.text,
    });
    words.collect::<Vec<_>>().join(" ")
}

fn replace(
    text: &str,
    lines: &[MarkdownLine<'_>],
    unit: &Range<usize>,
    statement: &str,
) -> Result<String, AmendError> {
    let (Some(first), Some(last)) = (lines.get(unit.start), lines.get(unit.end - 1)) else {
        return Err(AmendError::Around);
    };
    let head = match first.kind {
        LineKind::Item { content, .. } => first.text.get(..content).unwrap_or_default(),
        _ => "",
    };
    let words = if head.is_empty() { escape::line(statement) } else { escape::escape_inline(statement) };
    let changed = splice(text, first.text_start..last.text_end(), &format!("{head}{words}"));
    let walked = lines::parse_lines(&changed).lines;
    let behind = lines.len() - unit.end;
    let moved = walked.len().checked_sub(behind).ok_or(AmendError::Around)?;
    let same = |old: &[MarkdownLine<'_>], new: &[MarkdownLine<'_>]| {
        old.len() == new.len() && old.iter().zip(new).all(|(old, new)| old.has_same_structure(new))
    };
    let kept = moved == unit.start + 1
        && walked.get(..=unit.start).is_some_and(|new| same(&lines[..=unit.start], new))
        && walked.get(moved..).is_some_and(|new| same(&lines[unit.end..], new));
    kept.then_some(changed).ok_or(AmendError::Around)
}

fn add(
    text: &str,
    lines: &[MarkdownLine<'_>],
    statement: &str,
    section: Option<&str>,
) -> Result<String, AmendError> {
    let item = escape::item("- ", statement, "", EscapeStyle::Words);
    let is_heading = |at: &usize| matches!(lines[*at].kind, LineKind::Heading { .. });
    let found = section.and_then(|name| {
        (0..lines.len()).find(|at| {
            matches!(lines[*at].kind, LineKind::Heading { title, .. } if heading_words(title) == heading_words(name))
        })
    });
    let part = match found {
        Some(start) => start..(start + 1..lines.len()).find(is_heading).unwrap_or(lines.len()),
        None => 0..lines.len(),
    };
    let at = part.rev().find(|at| !lines[*at].is_blank()).map_or(lines.len(), |at| at + 1);
    let after_item =
        at.checked_sub(1).and_then(|before| lines.get(before)).is_some_and(|line| line.depth > 0);
    let insertion = match section.filter(|_| found.is_none()) {
        Some(name) => {
            let block = format!("## {}\n\n{item}", escape::heading(name));
            LineInsertion { at, block, blank_before: true, blank_behind: false }
        }
        None => LineInsertion { at, block: item, blank_before: !after_item, blank_behind: true },
    };
    let mut changed = insertion.apply(text, lines).ok_or(AmendError::Around)?;
    // A new last line gets a line end.
    if !changed.ends_with(['\n', '\r']) {
        changed.push_str(newline_of(text));
    }
    Ok(changed)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::escape::tests::hostile;
    use super::*;

    const FILE: &str = "# Agents\n\nBe brief.\nAlways.\n\n- Use npm.\n  - Only here.\n- Deploy on Fridays.\n\n\
        ```\n- Use npm.\n```\n\n## Learned\n\n- Ask first.\n\n## Last\n\nWords.\n";

    fn to_agents(text: &str, statement: &str, old: Option<&str>) -> Result<Option<String>, AmendError> {
        amend(text, statement, old, Some(LEARNED_SECTION))
    }

    #[test]
    fn idn_05_a_line_joins_its_section_and_everything_else_stays() {
        let after = to_agents(FILE, "Run the tests\nbefore you say it is done.", None).unwrap().unwrap();
        assert_eq!(
            after,
            FILE.replace("- Ask first.\n", "- Ask first.\n- Run the tests before you say it is done.\n")
        );
        assert_eq!(
            to_agents(&after, "run the tests before you say it is done", None),
            Ok(None),
            "once is enough"
        );
        let bare = to_agents("# Agents\r\n\r\nBe brief.", "Use tabs.", None).unwrap().unwrap();
        assert_eq!(bare, "# Agents\r\n\r\nBe brief.\r\n\r\n## Learned\r\n\r\n- Use tabs.\r\n");
        assert_eq!(to_agents("", "Use tabs.", None).unwrap().unwrap(), "## Learned\n\n- Use tabs.\n");
        let entry = amend("The pump is blue.\n", "It is on floor two.", None, None).unwrap().unwrap();
        assert_eq!(entry, "The pump is blue.\n\n- It is on floor two.\n");
    }

    #[test]
    fn idn_05_a_line_takes_the_place_of_another_or_says_why_not() {
        let after = to_agents(FILE, "Use pnpm.", Some("use npm")).unwrap().unwrap();
        assert_eq!(after, FILE.replacen("- Use npm.", "- Use pnpm.", 1), "code is no line");
        let after = to_agents(FILE, "# Be long.", Some("Be brief. Always.")).unwrap().unwrap();
        assert_eq!(after, FILE.replace("Be brief.\nAlways.\n", "\\# Be long.\n"), "words stay words");
        assert_eq!(
            to_agents(FILE, "Use pnpm.", Some("Use yarn.")),
            Err(AmendError::Gone("Use yarn.".to_owned()))
        );
        let twice = format!("{FILE}\n- deploy on **Fridays**\n");
        let answer = to_agents(&twice, "Deploy on Mondays.", Some("Deploy on Fridays."));
        assert_eq!(answer, Err(AmendError::Twice("Deploy on Fridays.".to_owned())));
        assert!(matches!(to_agents("```\nopen\n", "Use tabs.", None), Err(AmendError::Broken(_))));
        assert_eq!(to_agents(FILE, " \n", None), Err(AmendError::Empty));
    }

    proptest! {
        #[test]
        fn rev_13_whatever_is_added_no_line_is_lost(text in hostile(), statement in hostile()) {
            if let Ok(Some(after)) = to_agents(&text, &statement, None) {
                let mut rest = after.as_str();
                for line in text.lines().filter(|line| !line.trim().is_empty()) {
                    let at = rest.find(line);
                    prop_assert!(at.is_some(), "{line:?} in {after:?}");
                    rest = &rest[at.unwrap() + line.len()..];
                }
                prop_assert!(after.len() > text.len());
            }
        }
    }
}
