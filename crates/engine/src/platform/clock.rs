//! The one place that reads the clock and the time zone.
//!
//! Zone files are read directly. jiff's own lookup first walks the whole zone database (a hundred system calls, more
//! than everything else a cold `rekindle save` does), and a hook is a cold process on every prompt.

use std::time::SystemTime;

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

use crate::platform::disk::{self, FileContent};
use crate::platform::environment;

/// The folders that hold zone files on Unix.
const ZONEINFO_FOLDERS: [&str; 3] = ["/usr/share/zoneinfo", "/usr/lib/zoneinfo", "/etc/zoneinfo"];
const LOCALTIME_PATH: &str = "/etc/localtime";
/// The maximum size of a zone file, far above any real one.
const MAX_ZONE_BYTES: u64 = 256 * 1024;

/// The timestamp for a clock set beyond all calendars: 9998-01-01, which leaves room for additions.
const MAX_UNIX_SECONDS: i64 = 253_339_228_800;

/// The current time in a zone.
#[expect(clippy::disallowed_methods, reason = "this is the room that may")]
pub fn now(zone: TimeZone) -> Zoned {
    clamp_to_timestamp(SystemTime::now()).to_zoned(zone)
}

/// Converts a clock's time, clamped to the range of a timestamp.
fn clamp_to_timestamp(clock: SystemTime) -> Timestamp {
    let latest = Timestamp::from_second(MAX_UNIX_SECONDS).unwrap_or(Timestamp::UNIX_EPOCH);
    match Timestamp::try_from(clock) {
        Ok(at) => at.min(latest),
        Err(_) if clock > SystemTime::UNIX_EPOCH => latest,
        Err(_) => Timestamp::UNIX_EPOCH,
    }
}

/// The system's zone: from `TZ`, else from `/etc/localtime`, else UTC.
pub fn system_zone() -> TimeZone {
    if cfg!(not(unix)) {
        return TimeZone::system();
    }
    let chosen = environment::variable("TZ").filter(|text| !text.is_empty());
    let by_name = |text: String| {
        let text = text.strip_prefix(':').unwrap_or(&text);
        named_zone(text).or_else(|| TimeZone::posix(text).ok()).unwrap_or(TimeZone::UTC)
    };
    chosen.map(by_name).or_else(|| read("Local", LOCALTIME_PATH)).unwrap_or(TimeZone::UTC)
}

/// The zone with an IANA name, if this system has it.
pub fn named_zone(name: &str) -> Option<TimeZone> {
    if name == "UTC" {
        return Some(TimeZone::UTC);
    }
    let is_name = |part: &str| !part.is_empty() && !part.starts_with('.');
    if cfg!(not(unix)) || !name.split('/').all(is_name) {
        return TimeZone::get(name).ok();
    }
    ZONEINFO_FOLDERS.iter().find_map(|folder| read(name, &format!("{folder}/{name}")))
}

fn read(name: &str, path: &str) -> Option<TimeZone> {
    match disk::read(path.as_ref(), MAX_ZONE_BYTES) {
        Ok(FileContent::Bytes(bytes)) => TimeZone::tzif(name, &bytes).ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_clock_beyond_the_year_9999_does_not_panic() {
        let beyond = SystemTime::UNIX_EPOCH + Duration::from_secs(300_000_000_000);
        assert_eq!(clamp_to_timestamp(beyond).to_string(), "9998-01-01T00:00:00Z");
        let today = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
        assert_eq!(clamp_to_timestamp(today).as_second(), 1_700_000_000);
    }

    #[test]
    fn exe_08_named_zones_are_found_and_strange_names_are_not() {
        assert!(named_zone("UTC").is_some());
        assert!(named_zone("Nowhere/Land").is_none() && named_zone("../../etc/passwd").is_none());
        assert!(named_zone("").is_none());
    }

    #[cfg(unix)]
    #[test]
    fn a_zone_file_read_directly_says_what_jiff_says() {
        let Some(ours) = named_zone("Europe/Berlin") else {
            rekindle_testkit::skipped("this system has no zone files");
            return;
        };
        let theirs = TimeZone::get("Europe/Berlin").unwrap();
        for time in ["2026-01-15T12:00:00Z", "2026-07-15T12:00:00Z", "2031-03-30T01:30:00Z"] {
            let at: Timestamp = time.parse().unwrap();
            assert_eq!(ours.to_offset(at), theirs.to_offset(at), "{time}");
        }
    }
}
