//! Applies an approved change of an identity file at the person's command (IDN-05). Nothing else may do that.

use rekindle_core::vault::review::Id;

use super::{NAME, found_promoted, refresh, with_followers};
use crate::jobs::context::World;
use crate::jobs::queue::StepError;
use crate::jobs::worker_lock::{Post, do_now};
use crate::pipeline::stages::REGISTRY;
use crate::review::patches::{self, Waiting, amendment, is_patch};
use crate::review::proposals::{self, Standing};
use crate::vault::{self, Amended};

/// A patch as shown to the person.
#[derive(Clone, Debug)]
pub struct Patch {
    /// The proposal and its status.
    pub standing: Standing,
    /// The change of the file.
    pub amended: Amended,
}

/// The result of looking up a patch.
#[derive(Debug)]
pub enum Look {
    /// The patch can be applied.
    Patch(Box<Patch>),
    /// It is approved and does not fit the file any more.
    Unfit(vault::Error),
    /// The proposal is not a patch to be applied.
    Otherwise(Box<Standing>),
    /// The proposal does not exist.
    Unknown,
}

/// Looks up the patch of a proposal, after its decision is carried out. It requires the worker's lock.
pub fn look_at_patch(post: &Post, world: &World, id: Id) -> Result<Look, StepError> {
    let id = proposals::now_called(&world.db()?, id)?;
    do_now(post, world, &REGISTRY, NAME, &id.to_string()).map_err(StepError::passing)?;
    let Some(standing) = proposals::standing(&world.db()?, id)? else { return Ok(Look::Unknown) };
    if !is_patch(&standing) || standing.with.is_some() {
        return Ok(Look::Otherwise(Box::new(standing)));
    }
    Ok(match world.vault()?.amended(&amendment(&standing)) {
        Ok(amended) => Look::Patch(Box::new(Patch { standing, amended })),
        Err(error) => Look::Unfit(error),
    })
}

/// Applies a patch exactly as shown. It is idempotent: a repetition after a crash changes nothing.
pub fn apply(_post: &Post, world: &World, patch: &Patch) -> Result<(), StepError> {
    let Patch { standing, amended } = patch;
    let id = standing.proposal.id;
    let now = proposals::standing(&world.db()?, id)?.filter(is_patch);
    if now.is_none_or(|now| now.decided != standing.decided) {
        return Err(StepError::fatal(format!("{id} was decided on otherwise meanwhile")));
    }
    world.vault()?.apply(&amendment(standing), amended, &world.now()).map_err(StepError::passing)?;
    applied(world, id)
}

/// Marks a proposal and its duplicates as promoted.
fn applied(world: &World, id: Id) -> Result<(), StepError> {
    found_promoted(&with_followers(&world.db()?, id)?, world)?;
    refresh(world)?;
    Ok(())
}

/// Marks the patches that are in their files as applied, whoever applied them, also after a crash (REV-14).
pub(super) fn know_applied(world: &World) -> Result<(), StepError> {
    for Waiting { standing, fits } in patches::waiting(&world.db()?, &world.vault()?)? {
        if fits.is_ok_and(|amended| amended.is_there()) {
            applied(world, standing.proposal.id)?;
        }
    }
    Ok(())
}
