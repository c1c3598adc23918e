//! Parses times that a question names: "last week", "in May 2026", "two months ago". Documents from around
//! such a time score higher. Other documents are not excluded, because people remember times badly.

use jiff::civil::{Date, DateTime, Weekday, date};
use jiff::tz::TimeZone;

/// A time span, in seconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeSpan {
    /// The start of the span.
    pub from: i64,
    /// The end of the span.
    pub to: i64,
}

const DAY_SECONDS: f64 = 86_400.0;
const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
const WEEKDAYS: [(&str, Weekday); 7] = [
    ("monday", Weekday::Monday),
    ("tuesday", Weekday::Tuesday),
    ("wednesday", Weekday::Wednesday),
    ("thursday", Weekday::Thursday),
    ("friday", Weekday::Friday),
    ("saturday", Weekday::Saturday),
    ("sunday", Weekday::Sunday),
];
/// Words that mark a following month name as a time: "may" alone is mostly a verb.
const MONTH_PREPOSITIONS: [&str; 17] = [
    "in", "during", "of", "since", "by", "until", "from", "to", "and", "early", "mid", "late", "between",
    "last", "this", "for", "on",
];
const YEAR_PREPOSITIONS: [&str; 5] = ["in", "during", "of", "since", "by"];
/// The maximum number of words of a question to parse.
const MAX_WORDS: usize = 400;

/// Parses the times that a question names, relative to `now` (seconds since 1970).
pub fn spans(question: &str, now: i64) -> Vec<TimeSpan> {
    let lower = question.to_lowercase();
    let words: Vec<&str> = lower
        .split(|c: char| c.is_whitespace() || matches!(c, ',' | '?' | '!' | ';' | '(' | ')' | '"'))
        .map(|word| word.trim_matches(['.', ':', '\'', '’']))
        .filter(|word| !word.is_empty())
        .take(MAX_WORDS)
        .collect();
    let reader = TimeParser { words: &words, now };
    let (mut found, mut at) = (Vec::new(), 0);
    while at < words.len() {
        match reader.read(at) {
            Some((span, used)) => {
                found.push(span);
                at += used;
            }
            None => at += 1,
        }
    }
    found
}

/// The fit of a time to the named spans: 1 inside, decreasing with distance; 0 without spans.
pub fn time_fit(at: i64, spans: &[TimeSpan]) -> f32 {
    let fit = |span: &TimeSpan| {
        let length = (span.to - span.from) as f64 / DAY_SECONDS;
        // The tolerance is larger after the span, because people write things down after they happen.
        let (before, after) = ((length / 6.0).max(1.5), (length / 3.0).max(3.0));
        let away = if at > span.to {
            (at - span.to) as f64 / DAY_SECONDS / after
        } else if at < span.from {
            (span.from - at) as f64 / DAY_SECONDS / before
        } else {
            0.0
        };
        (-away).exp() as f32
    };
    spans.iter().map(fit).fold(0.0, f32::max)
}

struct TimeParser<'a> {
    words: &'a [&'a str],
    now: i64,
}

impl TimeParser<'_> {
    fn word_at(&self, at: usize) -> &str {
        self.words.get(at).copied().unwrap_or_default()
    }

    /// Parses a time that begins at a word; also returns the number of its words.
    fn read(&self, at: usize) -> Option<(TimeSpan, usize)> {
        self.date(at)
            .or_else(|| self.month_or_year(at))
            .or_else(|| self.distance(at))
            .or_else(|| self.parse_at(at))
    }

    fn date(&self, at: usize) -> Option<(TimeSpan, usize)> {
        let first = self.word_at(at);
        if let Some(day) = iso(first) {
            return Some((days(day, 1)?, 1));
        }
        if let Some(month) = month(first) {
            let day = ordinal(self.word_at(at + 1))?;
            return match year(self.word_at(at + 2)) {
                Some(year) => Some((days(Date::new(year, month, day).ok()?, 1)?, 3)),
                None => Some((days(self.latest(month, day)?, 1)?, 2)),
            };
        }
        let day = ordinal(first)?;
        let of = usize::from(self.word_at(at + 1) == "of");
        let month = month(self.word_at(at + 1 + of))?;
        match year(self.word_at(at + 2 + of)) {
            Some(year) => Some((days(Date::new(year, month, day).ok()?, 1)?, 3 + of)),
            None => Some((days(self.latest(month, day)?, 1)?, 2 + of)),
        }
    }

    fn month_or_year(&self, at: usize) -> Option<(TimeSpan, usize)> {
        let before = at.checked_sub(1).map(|before| self.word_at(before)).unwrap_or_default();
        let before = before.rsplit('-').next().unwrap_or_default();
        if let Some(month) = month(self.word_at(at)) {
            if let Some(year) = year(self.word_at(at + 1)) {
                return Some((whole_month(year, month)?, 2));
            }
            let first = self.latest(month, 1).filter(|_| MONTH_PREPOSITIONS.contains(&before))?;
            return Some((whole_month(first.year(), month)?, 1));
        }
        let year = year(self.word_at(at)).filter(|_| YEAR_PREPOSITIONS.contains(&before))?;
        let (from, to) = (date(year, 1, 1), Date::new(year + 1, 1, 1).ok()?);
        Some((TimeSpan { from: day_start_second(from)?, to: day_start_second(to)? }, 1))
    }

    /// Parses a relative time: "two weeks ago", "the past three days", "last month".
    fn distance(&self, at: usize) -> Option<(TimeSpan, usize)> {
        if let Some((count, used)) = self.number(at) {
            let (unit, around) = unit(self.word_at(at + used))?;
            if self.word_at(at + used + 1) != "ago" {
                return None;
            }
            let centre = self.days_ago(count * unit);
            let around = (around * DAY_SECONDS) as i64;
            return Some((TimeSpan { from: centre - around, to: centre + around }, used + 2));
        }
        let word = self.word_at(at);
        if !["past", "last", "previous"].contains(&word) {
            return None;
        }
        if let Some((count, used)) = self.number(at + 1) {
            let (unit, _) = unit(self.word_at(at + 1 + used))?;
            return Some((TimeSpan { from: self.days_ago(count * unit), to: self.now }, used + 2));
        }
        let next = self.word_at(at + 1);
        let after_the = at.checked_sub(1).is_some_and(|before| self.word_at(before) == "the");
        if next == "weekend" {
            return Some((TimeSpan { from: self.days_ago(9.0), to: self.days_ago(0.5) }, 2));
        }
        if let Some((_, weekday)) = WEEKDAYS.iter().find(|(name, _)| *name == next) {
            let today = self.today()?;
            let back = match (today.weekday().to_monday_zero_offset() - weekday.to_monday_zero_offset())
                .rem_euclid(7)
            {
                0 => 7,
                back => back,
            };
            let day = today.checked_sub(jiff::Span::new().days(i64::from(back))).ok()?;
            return Some((days(day, 1)?, 2));
        }
        let (length, _) = unit(next)?;
        let running = word == "past" || after_the;
        let span = if running {
            TimeSpan { from: self.days_ago(length + 1.0), to: self.now }
        } else {
            TimeSpan {
                from: self.days_ago(2.0 * length),
                to: self.days_ago(if length > 1.0 { length * 0.5 } else { 0.0 }),
            }
        };
        Some((span, 2))
    }

    fn parse_at(&self, at: usize) -> Option<(TimeSpan, usize)> {
        let to_now =
            |days: f64, used: usize| Some((TimeSpan { from: self.days_ago(days), to: self.now }, used));
        match (self.word_at(at), self.word_at(at + 1)) {
            ("yesterday", _) => Some((TimeSpan { from: self.days_ago(2.0), to: self.days_ago(0.5) }, 1)),
            ("today" | "tonight", _) => to_now(1.0, 1),
            ("this", "morning") | ("earlier", "today") => to_now(1.0, 2),
            ("this", next) => {
                unit(next).filter(|(days, _)| *days > 1.0).and_then(|(days, _)| to_now(days, 2))
            }
            _ => None,
        }
    }

    fn number(&self, at: usize) -> Option<(f64, usize)> {
        let skipped =
            usize::from(self.word_at(at) == "a" && ["couple", "few"].contains(&self.word_at(at + 1)));
        let count = match self.word_at(at + skipped) {
            "a" | "an" | "one" => 1.0,
            "two" | "couple" => 2.0,
            "three" | "few" => 3.0,
            "four" | "several" => 4.0,
            "five" => 5.0,
            "six" => 6.0,
            "seven" => 7.0,
            "eight" => 8.0,
            "nine" => 9.0,
            "ten" => 10.0,
            digits if digits.len() <= 3 => digits.parse::<u16>().ok().map(f64::from)?,
            _ => return None,
        };
        let of =
            usize::from(self.word_at(at + skipped) == "couple" && self.word_at(at + skipped + 1) == "of");
        Some((count, skipped + 1 + of))
    }

    fn days_ago(&self, days: f64) -> i64 {
        self.now.saturating_sub((days * DAY_SECONDS) as i64)
    }

    fn today(&self) -> Option<Date> {
        let at = jiff::Timestamp::from_second(self.now).ok()?;
        Some(at.to_zoned(TimeZone::UTC).date())
    }

    /// The latest date with this month and day that is not in the future.
    fn latest(&self, month: i8, day: i8) -> Option<Date> {
        let today = self.today()?;
        let this_year = Date::new(today.year(), month, day).ok();
        this_year.filter(|date| *date <= today).or_else(|| Date::new(today.year() - 1, month, day).ok())
    }
}

fn iso(word: &str) -> Option<Date> {
    (word.len() == 10).then(|| word.parse().ok()).flatten()
}

fn month(word: &str) -> Option<i8> {
    let short = if word == "sept" { "sep" } else { word };
    let is = |name: &str| name == word || (short.len() == 3 && name.starts_with(short));
    let place = MONTHS.iter().position(|name| is(name))?;
    Some(place as i8 + 1)
}

/// Parses an ordinal: `7`, `7th`, `22nd`.
fn ordinal(word: &str) -> Option<i8> {
    let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let ending = &word[digits.len()..];
    let day: i8 = digits.parse().ok()?;
    ((1..=31).contains(&day) && ["", "st", "nd", "rd", "th"].contains(&ending)).then_some(day)
}

fn year(word: &str) -> Option<i16> {
    word.parse().ok().filter(|year| word.len() == 4 && (1970..2200).contains(year))
}

/// The days of a unit, and the tolerance in days of a distance in that unit.
fn unit(word: &str) -> Option<(f64, f64)> {
    Some(match word.trim_end_matches('s') {
        "day" => (1.0, 1.0),
        "week" => (7.0, 3.5),
        "month" => (30.4, 10.0),
        "year" => (365.0, 60.0),
        _ => return None,
    })
}

fn day_start_second(date: Date) -> Option<i64> {
    Some(DateTime::from(date).to_zoned(TimeZone::UTC).ok()?.timestamp().as_second())
}

fn days(from: Date, count: i64) -> Option<TimeSpan> {
    let from = day_start_second(from)?;
    Some(TimeSpan { from, to: from + count * DAY_SECONDS as i64 })
}

fn whole_month(year: i16, month: i8) -> Option<TimeSpan> {
    let first = Date::new(year, month, 1).ok()?;
    days(first, i64::from(first.days_in_month()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::base::time::{Timestamp, format_utc, parse};

    fn read(question: &str) -> Vec<String> {
        let now = parse("2026-11-15T12:00:00Z").unwrap().as_second();
        let day = |at: i64| format_utc(Timestamp::from_second(at).unwrap())[..10].to_owned();
        spans(question, now).iter().map(|span| format!("{}..{}", day(span.from), day(span.to))).collect()
    }

    #[test]
    fn times_are_found_as_people_write_them() {
        for (question, expected) in [
            ("what broke on 2026-03-05?", "2026-03-05..2026-03-06"),
            ("the outage of March 5th, 2025", "2025-03-05..2025-03-06"),
            ("what did we decide on 5 March", "2026-03-05..2026-03-06"),
            ("the 22nd of December", "2025-12-22..2025-12-23"),
            ("releases in May 2024", "2024-05-01..2024-06-01"),
            ("what changed in december?", "2025-12-01..2026-01-01"),
            ("since 2024", "2024-01-01..2025-01-01"),
            ("what failed two weeks ago", "2026-10-29..2026-11-05"),
            ("a couple of days ago", "2026-11-12..2026-11-14"),
            ("in the past 3 months", "2026-08-16..2026-11-15"),
            ("the flaky test last week", "2026-11-01..2026-11-12"),
            ("last friday", "2026-11-13..2026-11-14"),
            ("last sunday", "2026-11-08..2026-11-09"),
            ("yesterday", "2026-11-13..2026-11-15"),
            ("what did I say this morning", "2026-11-14..2026-11-15"),
        ] {
            assert_eq!(read(question), [expected], "{question}");
        }
    }

    #[test]
    fn what_is_no_time_is_none() {
        for question in [
            "you may go on",
            "the last test",
            "two days of work",
            "version 2024.1",
            "port 5433",
            "march on",
            "a few bugs",
        ] {
            assert_eq!(read(question), Vec::<String>::new(), "{question}");
        }
    }

    #[test]
    fn near_a_time_fits_better_than_far_from_it() {
        let span = [TimeSpan { from: 0, to: 86_400 * 7 }];
        let at = |day: i64| time_fit(day * 86_400, &span);
        assert_eq!(at(3), 1.0);
        assert!(at(8) > at(12) && at(12) > at(40) && at(-1) > at(-9));
        assert_eq!(time_fit(5, &[]), 0.0);
    }

    proptest! {
        #[test]
        fn any_question_at_any_time_is_read(question in "\\PC{0,80}", now in any::<i64>()) {
            for span in spans(&question, now) {
                prop_assert!(span.from <= span.to);
            }
        }

        #[test]
        fn words_of_time_in_any_order_are_read(
            words in prop::collection::vec(prop::sample::select(vec![
                "last", "past", "week", "a", "few", "days", "ago", "may", "31st", "of", "2026", "february", "30", "the",
                "yesterday", "this", "in", "sunday", "999", "years",
            ]), 0..12),
            now in -62_135_596_800_i64..253_402_300_799,
        ) {
            for span in spans(&words.join(" "), now) {
                prop_assert!(span.from <= span.to);
            }
        }
    }
}
