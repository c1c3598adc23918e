//! Times as we write them: ISO 8601, locale-neutral (LOG-08). The clock itself is in `engine`.

pub use jiff::civil::Date;
pub use jiff::tz::TimeZone;
pub use jiff::{Timestamp, Zoned};

mod typed;

pub use typed::{NotATime, Typed};

/// `2026-11-15T02:13:08Z`: an instant to the second, in UTC, for frontmatter, logs and JSON.
pub fn iso(at: Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// `2026-11-15`: the person's own day, for daily logs and dated lines.
pub fn day(date: Date) -> String {
    date.strftime("%Y-%m-%d").to_string()
}

/// `20261115`: the same day inside a file name or an id.
pub fn compact_day(date: Date) -> String {
    date.strftime("%Y%m%d").to_string()
}

/// `14:05`: the wall clock beside an observation.
pub fn clock(at: &Zoned) -> String {
    at.strftime("%H:%M").to_string()
}

/// Reads a timestamp, or a bare date as its midnight in UTC: people type dates into frontmatter by hand.
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
        assert_eq!(iso(at), "2026-02-14T17:05:50Z");
        assert_eq!(parse(&iso(at)).map(iso), Some(iso(at)));
        assert_eq!(parse("2026-02-14").map(iso).as_deref(), Some("2026-02-14T00:00:00Z"));
        assert_eq!(parse("last tuesday"), None);
    }
}
