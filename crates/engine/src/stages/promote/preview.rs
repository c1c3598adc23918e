//! What an approval would do to MEMORY.md, before anybody approves.

use rekindle_core::install::diff;
use rekindle_core::vault::layout;

use super::{mark, section, where_now};
use crate::proposals::Standing;
use crate::queue::StepError;
use crate::stages::World;
use crate::vault::{Promoted, Promotion};

/// What approving a proposal would do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preview {
    /// The change of MEMORY.md, as `diff -u` shows it.
    pub diff: String,
    /// What would become of the statement.
    pub outcome: Promoted,
}

/// What approving would do to MEMORY.md: instead of the line that it names if `superseding`, else beside it. The error says
/// why MEMORY.md cannot take it.
pub fn preview(world: &World, standing: &Standing, superseding: bool) -> Result<Preview, StepError> {
    let mark = mark(standing);
    let supersedes = standing.proposal.supersedes.as_deref().filter(|_| superseding);
    let vault = world.vault()?;
    let place = where_now(standing, &vault, world)?;
    let new = Promotion { section: section(&place), statement: standing.text(), supersedes, mark: &mark };
    let previewed = vault.preview(&world.config.user.name, &new, &world.now());
    let previewed = previewed.map_err(StepError::passing)?;
    let diff = diff::unified(layout::MEMORY, Some(&previewed.before), Some(&previewed.after));
    Ok(Preview { diff, outcome: previewed.outcome })
}
