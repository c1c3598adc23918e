//! An approved change of an identity file, applied by the person (IDN-05): nothing else ever does it.

use rekindle_core::vault::review::Id;

use super::{NAME, found_promoted, refresh, with_followers};
use crate::jobs::context::World;
use crate::jobs::queue::StepError;
use crate::jobs::worker_lock::{Post, do_now};
use crate::pipeline::stages::REGISTRY;
use crate::review::patches::{self, Waiting, amendment, is_patch};
use crate::review::proposals::{self, Standing};
use crate::vault::{self, Amended};

/// A patch as the person is shown it.
#[derive(Clone, Debug)]
pub struct Patch {
    /// The proposal.
    pub standing: Standing,
    /// What applying it does.
    pub amended: Amended,
}

/// What there is to apply.
#[derive(Debug)]
pub enum Look {
    /// This.
    Patch(Box<Patch>),
    /// It is approved, and does not fit the file any more.
    Unfit(vault::Error),
    /// It is not a patch that waits.
    Otherwise(Box<Standing>),
    /// There is no such proposal.
    Unknown,
}

/// Looks at what applying a proposal would do, after what its decision asked for is done. No worker may be at it.
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

/// Applies a patch exactly as it was looked at. What is done twice by a kill in between is done once.
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

/// It is where it belongs, with those that ended with it.
fn applied(world: &World, id: Id) -> Result<(), StepError> {
    found_promoted(&with_followers(&world.db()?, id)?, world)?;
    refresh(world)?;
    Ok(())
}

/// Tells the store which patches are in their files, whoever put them there and whether they lived to say so (REV-14).
pub(super) fn know_applied(world: &World) -> Result<(), StepError> {
    for Waiting { standing, fits } in patches::waiting(&world.db()?, &world.vault()?)? {
        if fits.is_ok_and(|amended| amended.is_there()) {
            applied(world, standing.proposal.id)?;
        }
    }
    Ok(())
}
