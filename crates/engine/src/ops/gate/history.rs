//! The results of past gates: one JSON line each in `gate.jsonl`, the oldest first, at most a year.

use std::io;

use rekindle_core::telemetry::gate::GateRecord;

use crate::platform::disk::{self, FileContent};
use crate::platform::home::DataPaths;

/// The most gates that are kept: one a week for a year.
const MAX_RECORDS: usize = 52;
/// The maximum size of the file, far above its real one.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// Reads the past gates, the oldest first. Unreadable lines are left out.
pub fn read(places: &DataPaths) -> Vec<GateRecord> {
    match disk::read(&places.gate_history(), MAX_BYTES) {
        Ok(FileContent::Bytes(bytes)) => {
            bytes.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect()
        }
        _ => Vec::new(),
    }
}

/// Adds a gate, and drops the oldest of too many.
pub fn append(places: &DataPaths, record: GateRecord) -> io::Result<()> {
    let mut records = read(places);
    records.push(record);
    let kept = records.len().saturating_sub(MAX_RECORDS);
    let lines = records[kept..].iter().map(|record| Ok(serde_json::to_string(record)? + "\n"));
    disk::write_atomic(&places.gate_history(), lines.collect::<io::Result<String>>()?.as_bytes())
}
