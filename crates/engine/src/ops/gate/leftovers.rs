//! Looks for traces of a gate in the real home: there must be none.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use rekindle_core::base::time::Timestamp;
use rekindle_core::telemetry::gate::{GateFailure, GatePart, GateStep};

use super::round_trip::RandomFact;
use crate::platform::home::DataPaths;

/// The name of the step.
const STEP: &str = "clean";
/// The number of bytes that are read at a time.
const BLOCK_BYTES: usize = 64 * 1024;
/// A file that was last written this many seconds before the gate began cannot hold a trace. Some file systems
/// have coarse times.
const CLOCK_GRAIN_SECONDS: i64 = 3;

/// Searches every file of the vault and the state folder that was written since the gate began.
pub(super) fn check(places: &DataPaths, facts: &[RandomFact], began: Timestamp) -> GateStep {
    let since = began.as_second() - CLOCK_GRAIN_SECONDS;
    let needles: Vec<&[u8]> = facts.iter().flat_map(RandomFact::needles).collect();
    let found = [places.vault(), places.state(), places.identity()]
        .into_iter()
        .find_map(|folder| find_in(folder, since, &needles));
    match found {
        None => GateStep::passed(GatePart::E2e, STEP, "the real home holds no trace of it"),
        Some(path) => {
            let what = format!("{} holds a trace of the gate", path.display());
            let next = "run `rekindle gate` again and report this as a bug if it stays".to_owned();
            GateStep::failed(GatePart::E2e, STEP, GateFailure { what, hook: None, next })
        }
    }
}

/// The first file below a folder, written since this second, that holds one of the needles. What is gone meanwhile
/// holds nothing.
pub(super) fn find_in(folder: &Path, since: i64, needles: &[&[u8]]) -> Option<PathBuf> {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for item in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let (path, Ok(metadata)) = (item.path(), item.metadata()) else { continue };
            if metadata.is_dir() {
                folders.push(path);
                continue;
            }
            let written: Option<Timestamp> = metadata.modified().ok().and_then(|at| at.try_into().ok());
            let is_new = written.is_none_or(|at| at.as_second() >= since);
            if metadata.is_file() && is_new && holds(&path, needles) {
                return Some(path);
            }
        }
    }
    None
}

/// True if a file holds one of the needles.
fn holds(path: &Path, needles: &[&[u8]]) -> bool {
    let Ok(mut file) = File::open(path) else { return false };
    let longest = needles.iter().map(|needle| needle.len()).max().unwrap_or(0);
    let (mut window, mut block) = (Vec::new(), vec![0; BLOCK_BYTES]);
    loop {
        let Ok(read @ 1..) = file.read(&mut block) else { return false };
        window.extend_from_slice(&block[..read]);
        if needles.iter().any(|needle| window.windows(needle.len()).any(|part| part == *needle)) {
            return true;
        }
        // A needle may lie on the border of two blocks.
        window.drain(..window.len().saturating_sub(longest));
    }
}
