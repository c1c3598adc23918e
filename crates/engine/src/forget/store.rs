//! What `forget` asks of whatever keeps text.

use std::path::PathBuf;

use rekindle_core::vault::erase::Target;

use super::Going;
use crate::vault::Error;

/// Something that keeps text and has to be able to let go of it.
pub(super) trait Store {
    /// What a report calls it.
    fn name(&self) -> &'static str;
    /// Takes the text out. Says how many places it was in.
    fn erase(&self, going: &Going, target: &Target) -> Result<usize, Error>;
    /// Where the text still is.
    fn holds(&self, target: &Target) -> Result<Vec<PathBuf>, Error>;
}
