//! Times of day as observation logs write them.

use std::fmt;
use std::str::FromStr;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// A time of day such as `14:05`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TimeOfDay {
    hour: u8,
    minute: u8,
}

/// The text is not a time of day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a time of day looks like 14:05")]
pub struct TimeOfDayError;

impl TimeOfDay {
    /// The local time of `at`, in its own zone.
    pub fn from_zoned(at: &Zoned) -> Self {
        let part = |value: i8| u8::try_from(value).unwrap_or(0);
        Self { hour: part(at.hour()), minute: part(at.minute()) }
    }

    /// The instant at which a clock in `zone` shows this time on `date`.
    pub fn on_date(self, date: Date, zone: &TimeZone) -> Option<Timestamp> {
        let part = |value: u8| i8::try_from(value).unwrap_or(0);
        let at = date.at(part(self.hour), part(self.minute), 0, 0);
        Some(at.to_zoned(zone.clone()).ok()?.timestamp())
    }
}

impl fmt::Display for TimeOfDay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}:{:02}", self.hour, self.minute)
    }
}

impl FromStr for TimeOfDay {
    type Err = TimeOfDayError;

    fn from_str(text: &str) -> Result<Self, TimeOfDayError> {
        let two = |text: &str| (text.len() == 2).then(|| text.parse().ok()).flatten();
        let read = || {
            let (hour, minute) = text.split_once(':')?;
            Some(Self { hour: two(hour)?, minute: two(minute)? })
        };
        read()
            .filter(|clock| clock.hour < 24 && clock.minute < 60 && clock.to_string() == text)
            .ok_or(TimeOfDayError)
    }
}

impl TryFrom<String> for TimeOfDay {
    type Error = TimeOfDayError;

    fn try_from(text: String) -> Result<Self, TimeOfDayError> {
        text.parse()
    }
}

impl From<TimeOfDay> for String {
    fn from(clock: TimeOfDay) -> Self {
        clock.to_string()
    }
}

/// The time at which a fact was said. If the transcript has no times, none is invented (OBS-07).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FactTime {
    /// At a known time of day.
    At(TimeOfDay),
    /// Near the beginning of the session.
    EarlyInSession,
    /// Near the end of the session.
    NearEnd,
}

const EARLY_IN_SESSION: &str = "early in session";
const NEAR_END: &str = "near end";

impl FactTime {
    /// Parses `(14:05)` or one of the phrases at the start of `text`, and returns the rest of the text with
    /// it.
    pub fn strip_time(text: &str) -> Option<(Self, &str)> {
        let (inside, rest) = text.strip_prefix('(')?.split_once(')')?;
        let when = match inside {
            EARLY_IN_SESSION => Self::EarlyInSession,
            NEAR_END => Self::NearEnd,
            clock => Self::At(clock.parse().ok()?),
        };
        Some((when, rest))
    }
}

impl fmt::Display for FactTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::At(clock) => write!(f, "({clock})"),
            Self::EarlyInSession => write!(f, "({EARLY_IN_SESSION})"),
            Self::NearEnd => write!(f, "({NEAR_END})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn obs_07_times_read_back_and_others_do_not() {
        for text in ["(00:00)", "(23:59)", "(early in session)", "(near end)"] {
            let line = format!("{text} x");
            let (when, rest) = FactTime::strip_time(&line).unwrap();
            assert_eq!((when.to_string().as_str(), rest), (text, " x"));
        }
        for text in ["(24:00)", "(9:05)", "(+9:05)", "(later)", "14:05"] {
            assert_eq!(FactTime::strip_time(text), None, "{text}");
        }
        let at: Zoned = "2026-02-14T17:05:50+01:00[+01:00]".parse().unwrap();
        assert_eq!(TimeOfDay::from_zoned(&at).to_string(), "17:05");
        let instant = TimeOfDay::from_zoned(&at).on_date(at.date(), at.time_zone());
        assert_eq!(instant.map(crate::base::time::format_utc).as_deref(), Some("2026-02-14T16:05:00Z"));
    }
}
