//! The interface of `forget` to everything that stores text.

use std::path::PathBuf;

use rekindle_core::vault::erase::ErasureTarget;

use super::PendingForget;
use crate::vault::Error;

/// A store of text that can erase some of it.
pub(super) trait ErasableStore {
    /// The name of the store in reports.
    fn name(&self) -> &'static str;
    /// Erases the text. Returns the number of matches.
    fn erase(&self, going: &PendingForget, target: &ErasureTarget) -> Result<usize, Error>;
    /// The files that still contain the text.
    fn files_with(&self, target: &ErasureTarget) -> Result<Vec<PathBuf>, Error>;
}
