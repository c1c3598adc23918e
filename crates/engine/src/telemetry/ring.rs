//! Warnings and errors in a small file (O11-03). It needs no database, so it can say why there is none. When
//! the file is full it becomes the old one, and the previous old one is gone.

use std::io;
use std::path::{Path, PathBuf};

use rekindle_core::telemetry::TelemetryEvent;

use crate::platform::disk::{self, BackwardLines, LineFile};

/// The size in bytes at which the file becomes the old one.
const MAX_FILE_BYTES: u64 = 128 * 1024;

/// The ring of warnings in a folder of logs.
#[derive(Clone, Debug)]
pub struct WarningRing {
    path: PathBuf,
}

/// The events of a ring, and what could not be read.
#[derive(Debug, Default)]
pub struct RingContent {
    /// The events, newest first.
    pub events: Vec<TelemetryEvent>,
    /// The number of lines that are no events.
    pub damaged: u64,
}

impl WarningRing {
    /// The ring in the folder of logs.
    pub fn in_folder(logs: &Path) -> Self {
        Self { path: logs.join("warnings.jsonl") }
    }

    /// The current file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn old(&self) -> PathBuf {
        self.path.with_extension("old.jsonl")
    }

    /// Appends an event. It is not synced: a warning lost in a power cut comes again if its cause stays.
    pub fn append(&self, event: &TelemetryEvent) -> io::Result<()> {
        if let Some(folder) = self.path.parent() {
            disk::create_private_folder(folder)?;
        }
        if std::fs::metadata(&self.path).is_ok_and(|file| file.len() > MAX_FILE_BYTES) {
            disk::move_aside(&self.path, &self.old())?;
        }
        LineFile::open(&self.path)?.append(&format!("{}\n", serde_json::to_string(event)?), false)
    }

    /// Reads the events, newest first. A damaged line is counted and skipped.
    pub fn read(&self) -> io::Result<RingContent> {
        let mut content = RingContent::default();
        for path in [self.path.clone(), self.old()] {
            for line in BackwardLines::open(&path)?.into_iter().flatten() {
                match serde_json::from_slice(&line?) {
                    Ok(event) => content.events.push(event),
                    Err(_) => content.damaged += 1,
                }
            }
        }
        Ok(content)
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "a test plays the other programs")]

    use rekindle_core::base::time::Timestamp;
    use rekindle_core::telemetry::{EventLevel, EventPhase};

    use super::*;

    fn event(second: i64) -> TelemetryEvent {
        let at = Timestamp::from_second(second).unwrap();
        TelemetryEvent::new(format!("e{second}"), at, "observe", EventPhase::Failed, EventLevel::Warn)
    }

    /// O11-03: the ring keeps the newest warnings and never grows.
    #[test]
    fn o11_03_the_ring_keeps_the_newest_and_stays_small() {
        let logs = tempfile::tempdir().unwrap();
        let ring = WarningRing::in_folder(&logs.path().join("logs"));
        assert_eq!(ring.read().unwrap().events, []);
        for second in 0..5_000 {
            ring.append(&event(second)).unwrap();
        }
        let content = ring.read().unwrap();
        assert_eq!((content.events[0].clone(), content.damaged), (event(4_999), 0));
        assert!(content.events.len() > 500, "{}", content.events.len());
        let size = |path: &Path| std::fs::metadata(path).unwrap().len();
        assert!(size(ring.path()) + size(&ring.old()) <= 2 * (MAX_FILE_BYTES + 1_000));
    }

    #[test]
    fn o11_03_a_damaged_line_costs_only_itself() {
        let logs = tempfile::tempdir().unwrap();
        let ring = WarningRing::in_folder(logs.path());
        ring.append(&event(1)).unwrap();
        let mut text = std::fs::read(ring.path()).unwrap();
        text.extend(b"\x00\xff{ rubbish\n{\"id\":");
        std::fs::write(ring.path(), text).unwrap();
        ring.append(&event(2)).unwrap();
        let content = ring.read().unwrap();
        assert_eq!((content.events, content.damaged), (vec![event(2), event(1)], 1));
        // A folder in its place fails, and nothing else happens.
        std::fs::remove_file(ring.path()).unwrap();
        std::fs::create_dir(ring.path()).unwrap();
        assert!(ring.append(&event(3)).is_err());
    }
}
