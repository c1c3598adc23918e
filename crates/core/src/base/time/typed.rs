//! Times as people type them into an option: `2026-11-15`, `yesterday`, `2w`, `3 days ago`. A day is the
//! person's own day, so it becomes an instant only once the current time and zone are known.

use std::str::FromStr;

use jiff::Span;

use super::{Date, Timestamp, Zoned};

/// A parsed time, not yet resolved against the current time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypedTime {
    /// An exact instant in time.
    At(Timestamp),
    /// A whole calendar day.
    Day(Date),
    /// A distance before now. From days upwards it means the whole day.
    Ago(u32, TimeUnit),
}

/// The unit of a distance before now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeUnit {
    /// Hours, counted back from the current instant.
    Hour,
    /// A day of the calendar.
    Day,
    /// A week, seven calendar days.
    Week,
    /// A month of the calendar.
    Month,
    /// A year of the calendar.
    Year,
}

/// The maximum number of units in a distance. Anything further back means "from the beginning" anyway.
const MAX_UNITS: u32 = 9_999;

/// The text is not a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("use a date such as 2026-11-15, yesterday, 2w or \"3 days ago\"")]
pub struct TypedTimeError;

impl FromStr for TypedTime {
    type Err = TypedTimeError;

    fn from_str(text: &str) -> Result<Self, TypedTimeError> {
        let text = text.trim().to_lowercase();
        match text.as_str() {
            "today" => return Ok(Self::Ago(0, TimeUnit::Day)),
            "yesterday" => return Ok(Self::Ago(1, TimeUnit::Day)),
            _ => {}
        }
        if let Ok(at) = text.to_uppercase().parse() {
            return Ok(Self::At(at));
        }
        if let Ok(day) = text.parse() {
            return Ok(Self::Day(day));
        }
        distance(&text).ok_or(TypedTimeError)
    }
}

/// Parses `2w`, `2 weeks` or `2 weeks ago`.
fn distance(text: &str) -> Option<TypedTime> {
    let text = text.strip_suffix("ago").map_or(text, str::trim_end);
    let end = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = text.split_at(end);
    let number: u32 = number.parse().ok().filter(|number| *number <= MAX_UNITS)?;
    let unit = match unit.trim_start() {
        "h" | "hour" | "hours" => TimeUnit::Hour,
        "d" | "day" | "days" => TimeUnit::Day,
        "w" | "week" | "weeks" => TimeUnit::Week,
        "month" | "months" => TimeUnit::Month,
        "y" | "year" | "years" => TimeUnit::Year,
        _ => return None,
    };
    Some(TypedTime::Ago(number, unit))
}

impl TypedTime {
    /// The calendar day, in the zone of `now`.
    pub fn day(self, now: &Zoned) -> Date {
        match self {
            Self::At(at) => at.to_zoned(now.time_zone().clone()).date(),
            Self::Day(day) => day,
            Self::Ago(number, TimeUnit::Hour) => hours_before(now, number).date(),
            Self::Ago(number, unit) => {
                let number = i64::from(number);
                let back = match unit {
                    TimeUnit::Week => Span::new().weeks(number),
                    TimeUnit::Month => Span::new().months(number),
                    TimeUnit::Year => Span::new().years(number),
                    TimeUnit::Day | TimeUnit::Hour => Span::new().days(number),
                };
                now.date().saturating_sub(back)
            }
        }
    }

    /// The first instant of this time.
    pub fn start(self, now: &Zoned) -> Timestamp {
        match self {
            Self::At(at) => at,
            Self::Ago(number, TimeUnit::Hour) => hours_before(now, number).timestamp(),
            Self::Day(_) | Self::Ago(..) => midnight(self.day(now), now).unwrap_or(Timestamp::MIN),
        }
    }

    /// The last instant of this time: for a day, the end of that day.
    pub fn end(self, now: &Zoned) -> Timestamp {
        match self {
            Self::At(_) | Self::Ago(_, TimeUnit::Hour) => self.start(now),
            Self::Day(_) | Self::Ago(..) => {
                let next = self.day(now).tomorrow().ok().and_then(|next| midnight(next, now));
                next.and_then(|next| next.checked_sub(Span::new().nanoseconds(1)).ok())
                    .unwrap_or(Timestamp::MAX)
            }
        }
    }
}

fn hours_before(now: &Zoned, hours: u32) -> Zoned {
    now.saturating_sub(Span::new().hours(i64::from(hours)))
}

fn midnight(day: Date, now: &Zoned) -> Option<Timestamp> {
    Some(day.to_zoned(now.time_zone().clone()).ok()?.timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::time::format_utc;

    fn now() -> Zoned {
        "2026-11-18T01:30:00+01:00[Europe/Vienna]".parse().unwrap()
    }

    fn typed(text: &str) -> TypedTime {
        text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn r_17_a_typed_day_is_the_day_of_the_person() {
        for (text, day) in [
            ("today", "2026-11-18"),
            ("Yesterday", "2026-11-17"),
            ("2w", "2026-11-04"),
            ("3d", "2026-11-15"),
            ("3 days ago", "2026-11-15"),
            ("1 month ago", "2026-10-18"),
            ("1y", "2025-11-18"),
            ("2026-10-01", "2026-10-01"),
            ("2026-10-01T23:30:00Z", "2026-10-02"),
            ("2h", "2026-11-17"),
        ] {
            assert_eq!(typed(text).day(&now()).to_string(), day, "{text}");
        }
        // Midnight in Vienna, not in UTC.
        assert_eq!(format_utc(typed("yesterday").start(&now())), "2026-11-16T23:00:00Z");
        assert_eq!(format_utc(typed("yesterday").end(&now())), "2026-11-17T22:59:59Z");
        assert_eq!(format_utc(typed("2h").start(&now())), "2026-11-17T22:30:00Z");
        assert_eq!(format_utc(typed("2026-10-01T23:30:00Z").start(&now())), "2026-10-01T23:30:00Z");
    }

    #[test]
    fn an_invalid_time_names_the_accepted_formats() {
        for text in ["", "nope", "w", "2", "ago", "2 fortnights", "99999w", "-3d", "2026-13-01", "tomorrow"] {
            assert_eq!(text.parse::<TypedTime>(), Err(TypedTimeError), "{text}");
        }
        assert!(typed("9999 years ago").start(&now()) < typed("1y").start(&now()));
    }
}
