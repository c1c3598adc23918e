//! Formats and parses times: ISO 8601, independent of the locale (LOG-08). `engine` reads the clock.

pub use jiff::civil::Date;
pub use jiff::tz::TimeZone;
pub use jiff::{Timestamp, Zoned};

mod typed;

pub use typed::{TypedTime, TypedTimeError};

/// Formats an instant as `2026-11-15T02:13:08Z`, in UTC, for frontmatter, logs and JSON.
pub fn format_utc(at: Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Formats a day as `2026-11-15`. Daily logs and dated lines use the person's own day.
pub fn day(date: Date) -> String {
    date.strftime("%Y-%m-%d").to_string()
}

/// Formats a day as `20261115`, for file names and ids.
pub fn compact_day(date: Date) -> String {
    date.strftime("%Y%m%d").to_string()
}

/// Formats the local time as `14:05`, for observations.
pub fn format_clock(at: &Zoned) -> String {
    at.strftime("%H:%M").to_string()
}

/// Parses a timestamp. A bare date, as people type it into frontmatter, is its midnight in UTC.
pub fn parse(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    text.parse().ok().or_else(|| {
        let date: Date = text.parse().ok()?;
        Some(date.to_zoned(TimeZone::UTC).ok()?.timestamp())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_08_times_are_iso_and_read_back() {
        let at: Timestamp = "2026-02-14T17:05:50.648Z".parse().unwrap();
        assert_eq!(format_utc(at), "2026-02-14T17:05:50Z");
        assert_eq!(parse(&format_utc(at)).map(format_utc), Some(format_utc(at)));
        assert_eq!(parse("2026-02-14").map(format_utc).as_deref(), Some("2026-02-14T00:00:00Z"));
        assert_eq!(parse("last tuesday"), None);
    }
}
