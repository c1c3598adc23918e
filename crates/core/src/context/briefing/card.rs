//! The project card, shown at session start: all live statements of the user about this project and about
//! their work everywhere. The same statements give the same bytes, so prompt caches hold from session to
//! session.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::{BriefingPart, MAX_LINE_CHARS};
use crate::base::time::{Date, day};
use crate::text::clean::one_line;
use crate::text::specific_terms::specifics;

/// The maximum length of the card, in characters: about forty statements.
pub(super) const MAX_CARD_CHARS: usize = 3_000;
/// The length at which a statement is cut at its next sentence end, in characters.
const MAX_STATEMENT_CHARS: usize = 190;
/// A shorter first part of a statement may only introduce the rest.
const MAX_LEAD_CHARS: usize = 60;
/// The number of characters of an id that the command line needs.
const ID_CHARS: usize = 6;

/// A statement on the card.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CardLine {
    /// The id of the entry.
    pub id: String,
    /// The text of the statement.
    pub text: String,
    /// The kind of the entry.
    pub kind: String,
    /// The day on which the user said it.
    pub said_on: Option<Date>,
    /// True if it holds in this project only.
    pub is_project_only: bool,
    /// The number of uses, less the number of times it was ignored.
    pub uses: i64,
}

impl CardLine {
    /// True if the statement gives an instruction rather than a fact.
    fn instructs(&self) -> bool {
        matches!(self.kind.as_str(), "rule" | "preference" | "convention" | "correction" | "workflow")
    }

    /// Renders the line. The day omits the year if it is `year`, to save room.
    fn render(&self, year: i16) -> String {
        let date = self.said_on.map(|date| match day(date) {
            full if date.year() == year => full.chars().skip(5).collect(),
            full => full,
        });
        let date = date.map(|date| format!("{date} ")).unwrap_or_default();
        let id = match self.id.starts_with("o-") {
            true => self.id.as_str(),
            false => {
                self.id.char_indices().nth(ID_CHARS).map_or(self.id.as_str(), |(end, _)| &self.id[..end])
            }
        };
        format!("- {date}{} [{id}]", one_line(shortened(&self.text), MAX_LINE_CHARS))
    }
}

/// Shortens a statement to the sentences that fit on one line of the card; recall shows the rest. It keeps
/// the first sentences, unless they only introduce the statement.
fn shortened(text: &str) -> &str {
    if text.chars().count() <= MAX_STATEMENT_CHARS {
        return text;
    }
    let starts: Vec<usize> = [0].into_iter().chain(text.match_indices(". ").map(|(at, _)| at + 2)).collect();
    let ends: Vec<usize> = starts.iter().skip(1).map(|start| start - 1).chain([text.len()]).collect();
    let from = |start: usize| {
        let runs = ends.iter().filter(|end| **end > start).map(|end| &text[start..*end]);
        runs.take_while(|run| run.chars().count() <= MAX_STATEMENT_CHARS).last()
    };
    let first = from(0);
    if first.is_some_and(|first| first.chars().count() > MAX_LEAD_CHARS) {
        return first.unwrap_or(text);
    }
    starts.iter().filter_map(|start| from(*start)).max_by_key(|run| run.len()).unwrap_or(text)
}

/// Renders agents' findings in this project, up to `room` characters: the newest sessions first, in turns, so
/// that no session takes all the room; within a session, the findings with the most names first. They are
/// reference data, since no user said them (B-01).
pub(super) fn render_findings(
    lines: &[CardLine],
    room: usize,
    cut: &mut Vec<String>,
) -> (String, Vec<String>) {
    let mut sessions: BTreeMap<(Reverse<Option<Date>>, &str), Vec<&CardLine>> = BTreeMap::new();
    for line in lines {
        let session = line.id.rsplit_once('-').map_or("", |(session, _)| session);
        sessions.entry((Reverse(line.said_on), session)).or_default().push(line);
    }
    for found in sessions.values_mut() {
        found.sort_by_key(|line| (Reverse(line.uses), Reverse(specifics(&line.text).len()), line.id.clone()));
    }
    let longest = sessions.values().map(Vec::len).max().unwrap_or(0);
    let in_turns = (0..longest).flat_map(|turn| sessions.values().filter_map(move |found| found.get(turn)));
    let year = lines.iter().filter_map(|line| line.said_on).max().map_or(0, Date::year);
    let mut left = room;
    let mut chosen: Vec<&CardLine> = in_turns
        .copied()
        .filter(|line| {
            let length = line.render(year).chars().count() + 1;
            let fits = length <= left;
            left -= if fits { length } else { 0 };
            fits
        })
        .collect();
    chosen.sort_by(|a, b| (a.said_on, &a.id).cmp(&(b.said_on, &b.id)));
    let mut part = BriefingPart::new(room);
    chosen.iter().for_each(|line| part.line(&line.render(year)));
    (part.titled("What agents found here", cut), chosen.iter().map(|line| line.id.clone()).collect())
}

/// A predicate: true if a line belongs to a section.
type CardSectionFilter = fn(&CardLine) -> bool;

/// Renders the sections of the card and returns the ids on it. If the card is full, use and then age decide;
/// recall brings the rest.
pub(super) fn render(lines: &[CardLine], cut: &mut Vec<String>) -> (String, Vec<String>) {
    let mut chosen: Vec<&CardLine> = lines.iter().collect();
    let year = lines.iter().filter_map(|line| line.said_on).max().map_or(0, Date::year);
    chosen.sort_by_key(|line| (!line.instructs(), -line.uses, Reverse(line.said_on), line.id.clone()));
    let mut room = MAX_CARD_CHARS;
    let mut left_out = 0;
    chosen.retain(|line| {
        let length = line.render(year).chars().count() + 1;
        let fits = length <= room;
        if fits {
            room -= length;
        }
        left_out += usize::from(!fits);
        fits
    });
    // Sort by the time of the statement, not by rank, so that a new line does not move the others.
    chosen.sort_by(|a, b| (a.said_on, &a.text).cmp(&(b.said_on, &b.text)));
    let sections: [(&str, CardSectionFilter); 3] = [
        ("The user's standing instructions for this project", |line| {
            line.is_project_only && line.instructs()
        }),
        ("The user's standing instructions everywhere", |line| !line.is_project_only && line.instructs()),
        ("What the user has said about this work", |line| !line.instructs()),
    ];
    let mut text = String::new();
    for (title, belongs) in sections {
        let mut part = BriefingPart::new(MAX_CARD_CHARS);
        chosen.iter().filter(|line| belongs(line)).for_each(|line| part.line(&line.render(year)));
        text.push_str(&part.titled(title, cut));
    }
    if left_out > 0 {
        cut.push(format!("{left_out} older statements"));
    }
    (text, chosen.iter().map(|line| line.id.clone()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(number: usize, kind: &str, here: bool) -> CardLine {
        CardLine {
            id: format!("m-{number:08}"),
            text: format!("Statement {number}"),
            kind: kind.to_owned(),
            said_on: "2026-10-05".parse().ok(),
            is_project_only: here,
            uses: 0,
        }
    }

    #[test]
    fn a_long_statement_is_cut_at_its_sentences_and_not_to_its_lead() {
        let (lead, middle, end) = (
            "Take drf out again please, we really do not need it.",
            "The kiosk is the only client, ".repeat(5),
            "It has three urls.",
        );
        let statement = format!("{lead} {}. {end}", middle.trim_end_matches(", "));
        assert!(shortened(&statement).starts_with("The kiosk") && shortened(&statement).ends_with(end));
        let first = format!("{}. {}", "word ".repeat(20).trim_end(), "more ".repeat(40));
        assert!(shortened(&first).ends_with("word."));
        assert_eq!(shortened(lead), lead);
        let endless = "word ".repeat(60);
        assert_eq!(shortened(&endless), endless);
    }

    #[test]
    fn r_14_user_statements_are_injected_as_instructions() {
        let lines = [line(1, "rule", true), line(2, "fact", true), line(3, "preference", false)];
        let (text, ids) = render(&lines, &mut Vec::new());
        assert_eq!(
            text,
            "## The user's standing instructions for this project\n- 10-05 Statement 1 [m-0000]\n\n\
             ## The user's standing instructions everywhere\n- 10-05 Statement 3 [m-0000]\n\n\
             ## What the user has said about this work\n- 10-05 Statement 2 [m-0000]\n\n"
        );
        assert_eq!(ids.len(), 3);
    }

    #[test]
    fn the_card_keeps_its_limit_and_counts_omissions() {
        let mut lines: Vec<CardLine> = (0..200).map(|number| line(number, "fact", true)).collect();
        lines.push(CardLine { uses: 5, ..line(500, "fact", true) });
        let mut cut = Vec::new();
        let (text, ids) = render(&lines, &mut cut);
        assert!(text.chars().count() <= MAX_CARD_CHARS + 200 && ids.len() < 200);
        assert!(ids.contains(&"m-00000500".to_owned()), "what is used stays");
        assert!(cut[0].ends_with("older statements"), "{cut:?}");
    }

    #[test]
    fn brf_02_findings_of_agents_take_turns_within_their_room() {
        let found = |session: &str, number: usize, day: &str, text: &str| CardLine {
            id: format!("o-{session}-{number}"),
            text: text.to_owned(),
            said_on: day.parse().ok(),
            ..CardLine::default()
        };
        let lines = [
            found("aa", 1, "2026-10-05", "The cache is cleared twice"),
            found("bb", 1, "2026-10-06", "This is a sentence about nothing in particular"),
            found("bb", 2, "2026-10-06", "`load()` in src/cache.rs reads the old key"),
            found("bb", 3, "2026-10-06", "It fails on Windows"),
        ];
        let (text, ids) = render_findings(&lines, 110, &mut Vec::new());
        assert_eq!(
            text,
            "## What agents found here\n- 10-05 The cache is cleared twice [o-aa-1]\n\
             - 10-06 `load()` in src/cache.rs reads the old key [o-bb-2]\n\n"
        );
        assert_eq!(ids, ["o-aa-1", "o-bb-2"]);
        assert_eq!(render_findings(&lines, 10, &mut Vec::new()), (String::new(), Vec::new()));
    }

    #[test]
    fn unchanged_statements_give_unchanged_bytes() {
        let lines: Vec<CardLine> = (0..20).map(|number| line(number, "rule", true)).collect();
        let mut turned = lines.clone();
        turned.reverse();
        assert_eq!(render(&lines, &mut Vec::new()), render(&turned, &mut Vec::new()));
    }
}
