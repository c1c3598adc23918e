//! A fingerprint of everything that a page about memory depends on, to notice changes by others.

use std::time::UNIX_EPOCH;

use rekindle_core::base::hash::ContentHash;
use rekindle_core::vault::layout;

use super::CommandContext;

/// The stamp of the journal, the database and the files that people edit. Equal stamps mean that nothing changed.
pub(crate) fn change_stamp(context: &CommandContext<'_>) -> String {
    let places = &context.places;
    let database = places.database();
    let beside = |suffix: &str| {
        let mut name = database.clone().into_os_string();
        name.push(suffix);
        name.into()
    };
    let files = [
        places.journal_file(),
        database.clone(),
        beside("-wal"),
        places.vault().join(layout::REVIEW),
        places.vault().join(layout::MEMORY),
        places.notes().join(layout::IDEAS),
        context.home.config_file(),
    ];
    let stamp = |file: &std::path::PathBuf| {
        // An empty write-ahead log comes and goes with readers.
        let metadata = std::fs::metadata(file).ok().filter(|data| data.len() > 0);
        let modified = metadata.as_ref().and_then(|data| data.modified().ok());
        let nanos =
            modified.and_then(|at| at.duration_since(UNIX_EPOCH).ok()).map_or(0, |since| since.as_nanos());
        format!("{} {nanos}", metadata.map_or(0, |data| data.len()))
    };
    let stamps: Vec<String> = files.iter().map(stamp).collect();
    ContentHash::of_bytes(stamps.join("\n").as_bytes()).short_hex(16)
}
