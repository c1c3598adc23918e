//! A decision that the person takes back: the proposal waits again, and what followed from the decision is undone. An end
//! that is taken back has its receipt, and so has the taking back: each proposal has one end more than was taken back.

use rekindle_core::journal::Actor;
use rekindle_core::proposal::Status;
use rekindle_core::time::Timestamp;
use rekindle_core::vault::daily_log::End;
use rekindle_core::vault::review::Id;

use super::{NAME, log, promotions, refresh, take_back};
use crate::proposals::{self, Standing};
use crate::queue::StepError;
use crate::stages::{REGISTRY, World};
use crate::worker::{Post, do_now};

/// Why a proposal waits again whose decision was taken back.
const RECONSIDERED: &str = "the decision on it was taken back";

/// What came of taking a decision back.
#[derive(Clone, Debug, PartialEq)]
pub enum Reconsidered {
    /// It waits again.
    Waiting,
    /// It stands otherwise than whoever asks thinks; nothing changed.
    Otherwise(Box<Standing>),
    /// There is no such proposal.
    Unknown,
}

/// Takes the decision on a proposal back; only the one of `decided`, if that is given. No worker may be at it, which the
/// post stands for.
pub fn reconsider(
    post: &Post,
    world: &World,
    id: Id,
    decided: Option<Timestamp>,
) -> Result<Reconsidered, StepError> {
    // First what was decided is done, so that nothing is left that could do it afterwards.
    do_now(post, world, &REGISTRY, NAME, &id.to_string()).map_err(StepError::passing)?;
    let mut db = world.db()?;
    let Some(standing) = proposals::standing(&db, id)? else { return Ok(Reconsidered::Unknown) };
    let status = standing.proposal.status;
    let is_decision =
        matches!(status, Status::Rejected | Status::Approved | Status::Edited | Status::Promoted);
    if !is_decision || decided.is_some_and(|at| standing.decided != Some(at)) {
        return Ok(Reconsidered::Otherwise(Box::new(standing)));
    }
    let now = world.now();
    let vault = world.vault()?;
    let promoted = promotions(&vault).map_err(StepError::passing)?.remove(&id);
    match promoted.filter(|(_, in_force)| *in_force && status == Status::Promoted) {
        Some((change, _)) => {
            vault.undo(Some(change.as_str()), Actor::User, &now).map_err(StepError::passing)?;
            take_back(world)?;
        }
        None => {
            proposals::reopen(&mut db, id, &[status], RECONSIDERED, now.timestamp())?;
            // One that was only on its way has no receipt to be taken back.
            if matches!(status, Status::Rejected | Status::Promoted) {
                log(&[id], End::Undone, world)?;
            }
        }
    }
    refresh(world)?;
    Ok(Reconsidered::Waiting)
}
