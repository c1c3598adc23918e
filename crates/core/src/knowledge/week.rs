//! A week of memory on one page: what was learnt, used and repeated, what waits, and what it cost (O11-16).

use serde::Serialize;

use crate::base::time::{Date, day};
use crate::llm::Cost;
use crate::text::clean::one_line;

/// The number of memories that each part of the page names.
const NAMED_MEMORIES: usize = 10;
const MAX_TITLE_CHARS: usize = 120;

/// The facts of seven days.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WeekFacts {
    /// The first day.
    pub first: Date,
    /// The last day.
    pub last: Date,
    /// The memories that sessions led to, the newest first.
    pub learnt: Vec<LearntMemory>,
    /// The number of sessions.
    pub sessions: u64,
    /// The number of memories that agents were shown.
    pub shown: u64,
    /// The number of them that the agent used.
    pub used: u64,
    /// The number of them that the agent did not use.
    pub ignored: u64,
    /// The memories that were used most, with their counts.
    pub most_used: Vec<(String, u64)>,
    /// What the person had to say again although a memory says it.
    pub repeated: Vec<String>,
    /// The number of memories that misled an agent.
    pub misled: u64,
    /// The number of recalls.
    pub recalls: u64,
    /// The number of recalls that found something.
    pub recalls_with_hits: u64,
    /// The sessions with recall.
    pub with_recall: SessionGroup,
    /// The sessions that were left without it, to compare.
    pub without_recall: SessionGroup,
    /// What waits for the person.
    pub waiting: WaitingItems,
    /// What it cost.
    pub cost: WeekCost,
    /// The number of exchanges with Todoist and Telegram, and of failures among them.
    pub surface_ends: (u64, u64),
}

/// A memory that a session led to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LearntMemory {
    /// The day.
    pub day: Date,
    /// The title.
    pub title: String,
    /// The project; `None` for one that holds everywhere.
    pub project: Option<String>,
}

/// A group of sessions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SessionGroup {
    /// The number of sessions.
    pub sessions: u64,
    /// The number of prompts in them.
    pub turns: u64,
    /// The number of corrections by the person.
    pub corrections: u64,
}

/// What waits for the person.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct WaitingItems {
    /// The number of proposals.
    pub proposals: u64,
    /// The number of memories in the inbox.
    pub inbox: u64,
    /// The number of open ideas.
    pub ideas: u64,
}

/// What a week cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WeekCost {
    /// The tokens that language models read and wrote.
    pub model_tokens: u64,
    /// The money for them in millionths of a dollar, as far as providers report it.
    pub micro_dollars: u64,
    /// The tokens that hooks put in front of agents.
    pub injected_tokens: u64,
}

/// A count with its unit.
fn count(number: u64, unit: &str) -> String {
    let many = match unit.strip_suffix('y') {
        Some(stem) => format!("{stem}ies"),
        None => format!("{unit}s"),
    };
    if number == 1 { format!("1 {unit}") } else { format!("{number} {many}") }
}

fn title(text: &str) -> String {
    one_line(text, MAX_TITLE_CHARS)
}

/// Renders the page as Markdown.
pub fn page(week: &WeekFacts) -> String {
    let mut page = format!("# Week from {} to {}\n", day(week.first), day(week.last));
    let mut paragraph = |text: String| page.extend(["\n", &text, "\n"]);
    paragraph(format!(
        "{} learnt from {}. {} shown to agents, {} used.",
        count(week.learnt.len() as u64, "memory"),
        count(week.sessions, "session"),
        week.shown,
        week.used
    ));
    paragraph("## Learnt".to_owned());
    paragraph(learnt(week));
    paragraph("## Used".to_owned());
    let unclear = week.shown.saturating_sub(week.used + week.ignored);
    paragraph(format!("{} used, {} ignored, {unclear} unclear.", week.used, week.ignored));
    if !week.most_used.is_empty() {
        let line = |(name, times): &(String, u64)| format!("- {} ({})", title(name), count(*times, "time"));
        paragraph(week.most_used.iter().take(NAMED_MEMORIES).map(line).collect::<Vec<_>>().join("\n"));
    }
    paragraph("## Said again".to_owned());
    paragraph(repeated(week));
    paragraph("## Recall".to_owned());
    paragraph(recall(week));
    paragraph("## Waiting".to_owned());
    paragraph(waiting(week));
    paragraph("## Cost".to_owned());
    paragraph(cost(week));
    page
}

fn named(lines: &[String]) -> String {
    let mut shown: Vec<String> = lines.iter().take(NAMED_MEMORIES).map(|line| format!("- {line}")).collect();
    if let more @ 1.. = lines.len().saturating_sub(NAMED_MEMORIES) {
        shown.push(format!("- and {more} more"));
    }
    shown.join("\n")
}

fn learnt(week: &WeekFacts) -> String {
    let line = |memory: &LearntMemory| {
        let project = memory.project.as_deref().unwrap_or("everywhere");
        format!("{}  {}  ({project})", day(memory.day), title(&memory.title))
    };
    match week.learnt.is_empty() {
        true => "Nothing this week.".to_owned(),
        false => named(&week.learnt.iter().map(line).collect::<Vec<_>>()),
    }
}

fn repeated(week: &WeekFacts) -> String {
    let corrections = week.with_recall.corrections + week.without_recall.corrections;
    let corrected = format!("You corrected an agent {}.", count(corrections, "time"));
    let misled = match week.misled {
        0 => String::new(),
        misled => format!(" {} misled it.", count(misled, "memory")),
    };
    if week.repeated.is_empty() {
        return format!("Nothing that Rekindle knew. {corrected}{misled}");
    }
    let titles: Vec<String> = week.repeated.iter().map(|text| title(text)).collect();
    format!("You had to say again, although a memory says it:\n\n{}\n\n{corrected}{misled}", named(&titles))
}

fn recall(week: &WeekFacts) -> String {
    let mut text =
        format!("{}, {} of them found something.", count(week.recalls, "recall"), week.recalls_with_hits);
    let each = |group: SessionGroup| {
        let rate = group.corrections as f64 / group.turns.max(1) as f64 * 100.0;
        format!("{rate:.1} corrections in 100 prompts ({})", count(group.sessions, "session"))
    };
    if week.without_recall.sessions > 0 {
        let (with, without) = (each(week.with_recall), each(week.without_recall));
        text += &format!(" With recall {with}, without it {without}.");
    }
    if let (ends @ 1.., failed) = week.surface_ends {
        text += &format!(" Todoist and Telegram: {}, {failed} failed.", count(ends, "exchange"));
    }
    text
}

fn waiting(week: &WeekFacts) -> String {
    let WaitingItems { proposals, inbox, ideas } = week.waiting;
    let all = [
        (proposals, "proposal", "`rekindle review`"),
        (inbox, "unreviewed memory", "`rekindle inbox`"),
        (ideas, "open idea", "`rekindle ideas`"),
    ];
    let lines = all.iter().filter(|(number, ..)| *number > 0);
    let lines: Vec<String> =
        lines.map(|(number, unit, command)| format!("- {} ({command})", count(*number, unit))).collect();
    if lines.is_empty() { "Nothing.".to_owned() } else { lines.join("\n") }
}

fn cost(week: &WeekFacts) -> String {
    let WeekCost { model_tokens, micro_dollars, injected_tokens } = week.cost;
    let models = match model_tokens {
        0 => "No language model was called.".to_owned(),
        tokens => format!("Language models: {tokens} tokens, {}.", Cost { micro_dollars }),
    };
    format!("{models} Hooks put {injected_tokens} tokens in front of agents.")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn week() -> WeekFacts {
        let memory = |number: i8| LearntMemory {
            day: Date::constant(2026, 11, number),
            title: format!("Rule {number}"),
            project: (number > 13).then(|| "github.com/acme/pumps".to_owned()),
        };
        WeekFacts {
            first: Date::constant(2026, 11, 12),
            last: Date::constant(2026, 11, 18),
            learnt: vec![memory(14), memory(13)],
            sessions: 9,
            shown: 34,
            used: 12,
            ignored: 15,
            most_used: vec![("Use pnpm".to_owned(), 4), ("Deploy on Mondays".to_owned(), 1)],
            repeated: vec!["Run the linter\nbefore a push".to_owned()],
            misled: 1,
            recalls: 120,
            recalls_with_hits: 40,
            with_recall: SessionGroup { sessions: 8, turns: 100, corrections: 2 },
            without_recall: SessionGroup { sessions: 1, turns: 10, corrections: 1 },
            waiting: WaitingItems { proposals: 3, inbox: 1, ideas: 0 },
            cost: WeekCost { model_tokens: 1200, micro_dollars: 30_000, injected_tokens: 4300 },
            surface_ends: (4, 1),
        }
    }

    /// O11-16: the page says what was learnt, used and repeated, what waits and what it cost.
    #[test]
    fn o11_16_a_week_is_one_page() {
        let page = page(&week());
        for line in [
            "# Week from 2026-11-12 to 2026-11-18",
            "2 memories learnt from 9 sessions. 34 shown to agents, 12 used.",
            "- 2026-11-14  Rule 14  (github.com/acme/pumps)",
            "- 2026-11-13  Rule 13  (everywhere)",
            "12 used, 15 ignored, 7 unclear.",
            "- Use pnpm (4 times)",
            "- Deploy on Mondays (1 time)",
            "- Run the linter before a push",
            "You corrected an agent 3 times. 1 memory misled it.",
            "120 recalls, 40 of them found something. With recall 2.0 corrections in 100 prompts (8 sessions), without it \
             10.0 corrections in 100 prompts (1 session). Todoist and Telegram: 4 exchanges, 1 failed.",
            "- 3 proposals (`rekindle review`)",
            "- 1 unreviewed memory (`rekindle inbox`)",
        ] {
            assert!(page.lines().any(|written| written == line), "{line}\nis not in\n{page}");
        }
        assert!(!page.contains("open idea") && page.contains("Language models: 1200 tokens"), "{page}");
    }

    #[test]
    fn an_empty_week_is_a_page_too() {
        let empty = WeekFacts {
            learnt: Vec::new(),
            most_used: Vec::new(),
            repeated: Vec::new(),
            shown: 0,
            used: 0,
            ignored: 0,
            waiting: WaitingItems::default(),
            cost: WeekCost::default(),
            ..week()
        };
        let page = page(&empty);
        assert!(page.contains("Nothing this week.") && page.contains("\nNothing.\n"), "{page}");
        assert!(page.contains("No language model was called."), "{page}");
    }

    #[test]
    fn a_long_list_is_counted() {
        let mut long = week();
        long.learnt = vec![long.learnt[0].clone(); 15];
        assert!(page(&long).contains("- and 5 more"));
    }
}
