//! Parses a reflector's answer (REF-11). A model may add a fence, forget a tag, number its lines or be
//! truncated; every recognisable line becomes a claim, and every claim is checked.

use serde::{Deserialize, Serialize};

use super::MAX_SUMMARY_CHARS;
use crate::base::time::{Date, day};
use crate::text::clean::one_line;
use crate::vault::priority::Priority;

const PROPOSALS_TAG: &str = "proposals";
const SUMMARY_TAG: &str = "summary";
const PROPOSED_FOR_LABEL: &str = "Proposed for:";
/// The maximum number of claims that are read.
const MAX_CLAIMS: usize = 60;

/// The parsed answer of a reflector.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReflectorAnswer {
    /// The proposals before any check.
    pub claims: Vec<ReflectorClaim>,
    /// The unchecked summary of one or two sentences.
    pub summary: Option<String>,
}

/// A proposal as the model wrote it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReflectorClaim {
    /// The heading above it; empty if there is none.
    pub section: String,
    /// The day that the model gave it.
    pub date: Option<Date>,
    /// The text, on one line.
    pub text: String,
}

/// Parses an answer; `None` if it is unreadable. `whole` is false for a truncated answer, whose last line may
/// be incomplete and is dropped.
pub fn parse(text: &str, whole: bool) -> Option<ReflectorAnswer> {
    let part = tagged_text(text, PROPOSALS_TAG);
    let summary = tagged_text(text, SUMMARY_TAG);
    let (body, closed) = match part {
        Some((body, closed)) => (body, closed),
        None => (text_before_tag(text, SUMMARY_TAG), summary.is_some()),
    };
    let mut claims = claims(body);
    if part.is_none() && claims.is_empty() {
        return None;
    }
    if !whole && !closed {
        claims.pop();
    }
    let summary =
        summary.filter(|(_, closed)| whole || *closed).map(|(text, _)| one_line(text, MAX_SUMMARY_CHARS));
    Some(ReflectorAnswer { claims, summary: summary.filter(|text| !text.is_empty()) })
}

/// The answer in normal form, without tags, for measuring its length (REF-12).
pub fn render(answer: &ReflectorAnswer) -> String {
    let mut out = String::new();
    let mut section = None;
    for claim in &answer.claims {
        if section != Some(&claim.section) {
            out.push_str(&format!("## {PROPOSED_FOR_LABEL} {}\n", claim.section));
            section = Some(&claim.section);
        }
        let date = claim.date.map(|date| format!("({}) ", day(date))).unwrap_or_default();
        out.push_str(&format!("- {date}{}\n", claim.text));
    }
    if let Some(summary) = &answer.summary {
        out.push_str(summary);
        out.push('\n');
    }
    out
}

fn claims(body: &str) -> Vec<ReflectorClaim> {
    let mut claims: Vec<ReflectorClaim> = Vec::new();
    let mut section = String::new();
    let mut open = false;
    for line in body.lines() {
        let trimmed = line.trim();
        if trimmed.is_empty() || trimmed.starts_with("```") {
            open = false;
        } else if let Some(heading) = heading(trimmed) {
            section = one_line(heading, 80);
            open = false;
        } else if let Some(words) = bullet(trimmed) {
            let (date, words) = parse_date(words);
            open = !is_none(words);
            if open && claims.len() < MAX_CLAIMS {
                claims.push(ReflectorClaim { section: section.clone(), date, text: single_line(words) });
            }
        } else if open && line.starts_with([' ', '\t']) {
            // A continuation of the line before.
            if let Some(last) = claims.last_mut() {
                last.text = single_line(&format!("{} {trimmed}", last.text));
            }
        }
    }
    claims.retain(|claim| !claim.text.is_empty());
    claims
}

/// The section in `## Proposed for: Patterns`, or in a heading without that prefix.
fn heading(line: &str) -> Option<&str> {
    let words = line.strip_prefix('#')?.trim_start_matches('#').trim();
    Some(after_label(words).unwrap_or(words))
}

fn after_label(words: &str) -> Option<&str> {
    let label = words.get(..PROPOSED_FOR_LABEL.len())?;
    label.eq_ignore_ascii_case(PROPOSED_FOR_LABEL).then(|| words[PROPOSED_FOR_LABEL.len()..].trim())
}

fn bullet(line: &str) -> Option<&str> {
    let rest = line.strip_prefix(['-', '*', '•', '+']).or_else(|| {
        let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
        (rest.len() < line.len()).then(|| rest.strip_prefix(['.', ')'])).flatten()
    })?;
    let rest = rest.strip_prefix([' ', '\t'])?.trim_start();
    Some(Priority::strip_emoji(rest).map_or(rest, |(_, rest)| rest.trim_start()))
}

/// Splits `(2026-11-14) …` into date and text; the brackets may be missing.
fn parse_date(words: &str) -> (Option<Date>, &str) {
    let inner = words.strip_prefix('(').unwrap_or(words);
    let Some(date) = inner.get(..10).and_then(|date| date.parse::<Date>().ok()) else { return (None, words) };
    let rest = &inner[10..];
    match (words.starts_with('('), rest.strip_prefix(')')) {
        (true, Some(rest)) => (Some(date), rest.trim_start()),
        (false, _) if rest.starts_with([':', ' ']) => (Some(date), rest.trim_start_matches(':').trim_start()),
        _ => (None, words),
    }
}

/// True for the ways in which models say that there is nothing.
fn is_none(words: &str) -> bool {
    let words = words.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    matches!(words.as_str(), "" | "none" | "n/a" | "nothing" | "no proposals" | "keine" | "ninguno" | "aucun")
}

fn single_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn find(text: &str, tag: &str) -> Vec<usize> {
    let (bytes, tag) = (text.as_bytes(), tag.as_bytes());
    let last = bytes.len().saturating_sub(tag.len() - 1);
    (0..last).filter(|at| bytes[*at..*at + tag.len()].eq_ignore_ascii_case(tag)).collect()
}

fn text_before_tag<'a>(text: &'a str, name: &str) -> &'a str {
    find(text, &format!("<{name}>")).first().map_or(text, |at| &text[..*at])
}

/// The text between the last pair of tags, and true if it was closed: some models think aloud before the
/// answer. Without the end tag it extends to our next tag, or to the end.
fn tagged_text<'a>(text: &'a str, name: &str) -> Option<(&'a str, bool)> {
    let open = format!("<{name}>");
    let body = &text[*find(text, &open).last()? + open.len()..];
    let end = |tag: &str| find(body, tag).first().copied();
    match end(&format!("</{name}>")) {
        Some(at) => Some((&body[..at], true)),
        None => {
            let next =
                [PROPOSALS_TAG, SUMMARY_TAG].into_iter().filter_map(|name| end(&format!("<{name}>"))).min();
            Some((next.map_or(body, |at| &body[..at]), next.is_some()))
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const WHOLE: &str = "Here you are.
<proposals>
## Proposed for: Hard Rules
- (2026-11-14) Never amend a pushed commit.

## Proposed for: Patterns
- (2026-11-13) The pump stalls when fuse 7 is
  wired backwards; swap the leads.
- (2026-11-14) Tests need DATABASE_URL.
</proposals>
<summary>
Two days of pumps,
one rule.
</summary>";

    fn texts(answer: &str) -> Vec<String> {
        parse(answer, true).unwrap().claims.into_iter().map(|claim| claim.text).collect()
    }

    #[test]
    fn ref_11_sections_days_and_the_summary_are_read() {
        let answer = parse(WHOLE, true).unwrap();
        let [rule, pump, tests] = answer.claims.as_slice() else { panic!("{answer:?}") };
        assert_eq!(
            (rule.section.as_str(), rule.text.as_str()),
            ("Hard Rules", "Never amend a pushed commit.")
        );
        assert_eq!(rule.date.unwrap().to_string(), "2026-11-14");
        assert_eq!(pump.text, "The pump stalls when fuse 7 is wired backwards; swap the leads.");
        assert_eq!(tests.section, "Patterns");
        assert_eq!(answer.summary.as_deref(), Some("Two days of pumps, one rule."));
    }

    #[test]
    fn fences_other_bullets_and_missing_tags_are_forgiven() {
        let wanted = texts(WHOLE);
        let fenced = WHOLE
            .replace("<proposals>\n", "<proposals>\n```markdown\n")
            .replace("</proposals>", "```\n</proposals>");
        let starred = WHOLE.replace("\n- ", "\n* ").replace("<proposals>", "<PROPOSALS>");
        let unclosed = WHOLE.replace("</proposals>", "");
        let untagged = WHOLE.replace("<proposals>", "").replace("</proposals>", "");
        let thinking = format!("<proposals>\n- (2026-11-01) Not this.\n</proposals>\nWait.\n{WHOLE}");
        for other in [fenced, starred, unclosed, untagged, thinking] {
            assert_eq!(texts(&other), wanted, "{other}");
        }
        assert_eq!(texts("<proposals>\n1. 2026-11-14: One\n2) 🔴 Two\n- none\n</proposals>"), ["One", "Two"]);
    }

    #[test]
    fn of_half_an_answer_only_whole_lines_count() {
        let cut = WHOLE.split("DATABASE").next().unwrap();
        let answer = parse(cut, false).unwrap();
        assert_eq!((answer.claims.len(), answer.summary), (2, None));
        let cut = WHOLE.split("one rule").next().unwrap();
        let answer = parse(cut, false).unwrap();
        assert_eq!((answer.claims.len(), answer.summary), (3, None));
    }

    #[test]
    fn nonsense_is_no_answer_and_nothing_is_one() {
        assert_eq!(parse("I'm sorry, I cannot help with that.", true), None);
        assert_eq!(parse("", true), None);
        assert_eq!(parse("<proposals></proposals><summary>Quiet.</summary>", true).unwrap().claims, []);
    }

    fn claim() -> impl Strategy<Value = ReflectorClaim> {
        let section = prop_oneof![Just("Patterns"), Just("Hard Rules"), Just("Ada Lovelace")];
        let date = prop::option::of((1i8..=28).prop_map(|day| Date::constant(2026, 11, day)));
        (section, date, "[a-zA-Zäé日][a-zA-Z0-9äé日本 ,;/_.`]{0,60}[a-z.]").prop_map(
            |(section, date, text)| ReflectorClaim {
                section: section.to_owned(),
                date,
                text: single_line(&text),
            },
        )
    }

    proptest! {
        #[test]
        fn ref_11_what_is_rendered_reads_back(
            claims in prop::collection::vec(claim().prop_filter("a word for nothing", |claim| !is_none(&claim.text)), 0..8),
            summary in prop::option::of("[a-zA-Z ]{0,40}[a-z]"),
        ) {
            let summary = summary.map(|text| single_line(&text));
            let list = render(&ReflectorAnswer { claims: claims.clone(), summary: None });
            let tail = summary.as_ref().map(|text| format!("<summary>{text}</summary>")).unwrap_or_default();
            let read = parse(&format!("<proposals>\n{list}</proposals>\n{tail}"), true).unwrap();
            prop_assert_eq!(read, ReflectorAnswer { claims, summary });
        }

        #[test]
        fn parsing_arbitrary_text_never_panics(text in "(?s).{0,200}|(<proposals>|<summary>|</proposals>|## |- |\\(2026-11-14\\)|é|\n){0,20}") {
            for whole in [true, false] {
                if let Some(answer) = parse(&text, whole) {
                    prop_assert!(answer.claims.iter().all(|claim| !claim.text.contains('\n')));
                }
            }
        }

        #[test]
        fn no_cut_of_a_good_answer_makes_up_a_claim(at in 0..WHOLE.len()) {
            let Some(cut) = WHOLE.get(..at) else { return Ok(()) };
            let whole = texts(WHOLE);
            for claim in parse(cut, false).map(|answer| answer.claims).unwrap_or_default() {
                prop_assert!(whole.contains(&claim.text), "{}", claim.text);
            }
        }
    }
}
