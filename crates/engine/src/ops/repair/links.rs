//! Links to the shared identity file (BRF-12). A link that leads nowhere, or a copy with the same text, is replaced by
//! a link; another text is the person's and stays.

use std::path::Path;

use rekindle_core::vault::identity::SHARED_DOCUMENT;

use super::RepairResult;
use crate::agents::identity::{self, IdentityLink};
use crate::platform::disk::{self, FileContent};
use crate::platform::home::DataPaths;

/// The maximum size of an identity file.
const MAX_BYTES: u64 = 8 * 1024 * 1024;

pub(super) fn repair(places: &DataPaths) -> Vec<RepairResult> {
    let shared = places.identity().join(SHARED_DOCUMENT);
    let diverged =
        identity::check(places).links.into_iter().filter(|(_, link)| *link == IdentityLink::Differs);
    let repaired = diverged.map(|(path, _)| {
        let what = format!("{} is not the shared {SHARED_DOCUMENT}", path.display());
        if !may_go(&path, &shared) {
            let next = "move its content into the shared file and remove it, then run `rekindle identity link` on its folder";
            return RepairResult::left("identity", what, next);
        }
        let folder = path.parent().unwrap_or(&path);
        let linked = disk::remove(&path)
            .map_err(|error| error.to_string())
            .and_then(|()| identity::link(places, folder).map_err(|error| error.to_string()));
        match linked {
            Ok(_) => RepairResult::fixed("identity", format!("{} is a link to the shared file again", path.display())),
            Err(error) => RepairResult::left("identity", format!("{what}: {error}"), "`rekindle identity link`"),
        }
    });
    repaired.collect()
}

/// True for a link that leads nowhere, and for a file with the text of the shared one: nothing would be lost.
fn may_go(path: &Path, shared: &Path) -> bool {
    let is_dangling = path.symlink_metadata().is_ok_and(|metadata| metadata.is_symlink()) && !path.exists();
    let text = |path: &Path| match disk::read(path, MAX_BYTES) {
        Ok(FileContent::Bytes(bytes)) => Some(bytes),
        _ => None,
    };
    is_dangling || text(path).is_some_and(|theirs| text(shared) == Some(theirs))
}
