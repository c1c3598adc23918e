//! The interface of `forget` to everything that stores text.

use std::path::PathBuf;

use rekindle_core::vault::erase::Target;

use super::Going;
use crate::vault::Error;

/// A store of text that can erase some of it.
pub(super) trait Store {
    /// The name of the store in reports.
    fn name(&self) -> &'static str;
    /// Erases the text. Returns the number of matches.
    fn erase(&self, going: &Going, target: &Target) -> Result<usize, Error>;
    /// The files that still contain the text.
    fn holds(&self, target: &Target) -> Result<Vec<PathBuf>, Error>;
}
