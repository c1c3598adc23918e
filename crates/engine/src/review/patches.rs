//! Approved changes of identity files as patches in a folder of the state (IDN-05): a view of the store. The
//! person applies them with `rekindle review apply` or with tools of their own.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

use rekindle_core::hosts::install::diff;
use rekindle_core::knowledge::proposal::ProposalStatus;
use rekindle_core::vault::review::ProposalId;
use thiserror::Error;

use crate::platform::db::{self, Database};
use crate::platform::disk;
use crate::review::proposals::{self, ProposalRecord};
use crate::vault::{self, AmendedFile, Amendment, Vault};

/// The file extension of a patch.
const PATCH_EXTENSION: &str = "patch";

/// The reason the folder could not be updated.
#[derive(Debug, Error)]
pub enum Error {
    /// The store could not be read.
    #[error(transparent)]
    Db(#[from] db::Error),
    /// A file of the folder could not be written.
    #[error("could not write {}: {cause}", .path.display())]
    Folder {
        /// The path of the file.
        path: PathBuf,
        /// The error of the system.
        cause: io::Error,
    },
}

/// A patch to be applied.
#[derive(Debug)]
pub struct PendingPatch {
    /// The proposal that was approved.
    pub record: ProposalRecord,
    /// The change, or the reason it does not apply any more.
    pub fits: Result<AmendedFile, vault::Error>,
}

/// Converts a proposal to an amendment.
pub fn amendment(record: &ProposalRecord) -> Amendment<'_> {
    Amendment { proposal: &record.proposal, statement: record.text(), supersedes: record.superseded_line() }
}

/// True if the proposal is approved and its patch is not yet applied.
pub fn is_patch(record: &ProposalRecord) -> bool {
    let approved = matches!(record.proposal.status, ProposalStatus::Approved | ProposalStatus::Edited);
    approved && record.proposal.identity().is_some()
}

/// Lists the patches to be applied, the oldest first. A proposal that was decided together with another has
/// none.
pub fn pending_patches(db: &Database, vault: &Vault) -> Result<Vec<PendingPatch>, db::Error> {
    let all = proposals::list_proposals(db, false)?.into_iter();
    let patches = all.filter(|record| is_patch(record) && record.decided_with.is_none());
    Ok(patches
        .map(|record| PendingPatch { fits: vault.preview_amendment(&amendment(&record)), record })
        .collect())
}

/// The path of a proposal's patch.
pub fn path(folder: &Path, id: ProposalId) -> PathBuf {
    folder.join(format!("{id}.{PATCH_EXTENSION}"))
}

/// Renders the change as a patch that `git apply` and `patch -p1` accept in the identity folder.
pub fn text(record: &ProposalRecord, amended: &AmendedFile) -> String {
    diff::git_patch(record.proposal.file(), amended.before.as_deref(), Some(&amended.after))
}

/// Rewrites the folder to match the waiting patches. A change that does not apply any more has no file;
/// `rekindle review` reports it.
pub fn refresh_folder(db: &Database, vault: &Vault, folder: &Path) -> Result<(), Error> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |cause| Error::Folder { path, cause }
    };
    let mut names = HashSet::new();
    for PendingPatch { record, fits } in pending_patches(db, vault)? {
        let Some(amended) = fits.ok().filter(|amended| !amended.is_there()) else { continue };
        let path = path(folder, record.proposal.id);
        let text = text(&record, &amended);
        if std::fs::read_to_string(&path).ok().as_ref() != Some(&text) {
            disk::create_private_folder(folder).map_err(failed(folder))?;
            disk::write_atomic(&path, text.as_bytes()).map_err(failed(&path))?;
        }
        names.insert(path);
    }
    let Ok(there) = std::fs::read_dir(folder) else { return Ok(()) };
    for file in there.filter_map(Result::ok).map(|file| file.path()) {
        let ours = file.extension().is_some_and(|ending| ending == PATCH_EXTENSION);
        if ours && !names.contains(&file) {
            disk::remove(&file).map_err(failed(&file))?;
        }
    }
    Ok(())
}
