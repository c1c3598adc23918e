//! The one place that reads the clock and the time zone.
//!
//! Zone files are read directly. jiff's own lookup first walks the whole zone database (a hundred system calls, more
//! than everything else a cold `rekindle save` does), and a hook is a cold process on every prompt.

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

use crate::disk::{self, Content};
use crate::environment;

/// Where Unix systems keep zone files.
const DATABASES: [&str; 3] = ["/usr/share/zoneinfo", "/usr/lib/zoneinfo", "/etc/zoneinfo"];
const LOCAL: &str = "/etc/localtime";
/// Far above any zone file.
const MAX_ZONE_BYTES: u64 = 256 * 1024;

/// Now, in a zone.
#[expect(clippy::disallowed_methods, reason = "this is the room that may")]
pub fn now(zone: TimeZone) -> Zoned {
    Timestamp::now().to_zoned(zone)
}

/// The system's zone: `TZ`, else what `/etc/localtime` says, else UTC.
pub fn system_zone() -> TimeZone {
    if cfg!(not(unix)) {
        return TimeZone::system();
    }
    let chosen = environment::variable("TZ").filter(|text| !text.is_empty());
    let by_name = |text: String| {
        let text = text.strip_prefix(':').unwrap_or(&text);
        named_zone(text).or_else(|| TimeZone::posix(text).ok()).unwrap_or(TimeZone::UTC)
    };
    chosen.map(by_name).or_else(|| read("Local", LOCAL)).unwrap_or(TimeZone::UTC)
}

/// The zone of an IANA name, if this system knows it.
pub fn named_zone(name: &str) -> Option<TimeZone> {
    if name == "UTC" {
        return Some(TimeZone::UTC);
    }
    let is_name = |part: &str| !part.is_empty() && !part.starts_with('.');
    if cfg!(not(unix)) || !name.split('/').all(is_name) {
        return TimeZone::get(name).ok();
    }
    DATABASES.iter().find_map(|folder| read(name, &format!("{folder}/{name}")))
}

fn read(name: &str, path: &str) -> Option<TimeZone> {
    match disk::read(path.as_ref(), MAX_ZONE_BYTES) {
        Ok(Content::Bytes(bytes)) => TimeZone::tzif(name, &bytes).ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            eprintln!("skipped: this system has no zone files");
            return;
        };
        let theirs = TimeZone::get("Europe/Berlin").unwrap();
        for time in ["2026-01-15T12:00:00Z", "2026-07-15T12:00:00Z", "2031-03-30T01:30:00Z"] {
            let at: Timestamp = time.parse().unwrap();
            assert_eq!(ours.to_offset(at), theirs.to_offset(at), "{time}");
        }
    }
}
