//! `reflected`: deletes old entries from the hot list after a reflection (STO-01). The daily logs keep them
//! for good, and the valuable ones have been proposed.

use rekindle_core::event::Event;
use serde_json::json;

use crate::jobs::context::World;
use crate::jobs::queue::{Ended, Interrupt, Steps, StepsExt};
use crate::pipeline::observations;

pub(super) fn reflected(_: &Event, steps: &mut dyn Steps, world: &World) -> Result<Ended, Interrupt> {
    let removed = steps.run("tidy-observations", || {
        let removed = observations::tidy(&mut world.db()?, world.now().date())?;
        Ok(removed as u64)
    })?;
    Ok(Ended::Completed(json!({"removed": removed})))
}
